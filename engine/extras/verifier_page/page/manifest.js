// manifest.json: its shape, and what it must not say of the tables.

const MANIFEST = "manifest.json", SUMS = "SHA256SUMS", SIGNATURE = "SHA256SUMS.sig";
const THRESHOLDS = "value-thresholds.csv", HIERARCHIES = "value-hierarchies.csv";
const CATALOGUES = ["datapackage.json", "croissant.json", "dcat.jsonld", "prov.jsonld", "methods.md"];
/** Files that a computer's system puts into a folder that is looked at. They are not read, and whatever
 * lists one as a file of the artifact lists a file that is missing. */
const LEFT_BY_SYSTEMS = [".DS_Store", "Thumbs.db", "desktop.ini"];
const VERSION = 5, MOST_OF_MANIFEST = 2 ** 26;
const ROLES = ["report id", "case id", "period", "lower bound", "upper bound", "node", "sensitive",
  "quasi-sensitive", "term key", "serial number", "published as it is", "derived", "cluster", "records",
  "joint cluster", "chunk", "subrecord", "record", "term", "stratum", "cut", "counted column", "cases",
  "noisy cases", "noise"];
/** @type {Map<string, string[]>} Table of terms that are told apart -> its first columns. */
const TERM_TABLES = new Map([
  ["clusters", ["cluster", "records"]], ["joint_clusters", ["joint", "cluster"]],
  ["record_chunk", ["cluster", "chunk", "subrecord", "term"]],
  ["shared_chunk", ["joint", "chunk", "subrecord", "term"]],
  ["item_chunk", ["cluster", "term"]], ["reconstructed", ["record", "cluster", "term"]],
]);

/**
 * @typedef {{name: string, type: string, role: string, attribute?: string | null,
 *   max_length?: number | null}} Declared
 * @typedef {{name: string, file: string, rows: number, content_sha256: string,
 *   columns: Declared[]}} DeclaredTable
 * @typedef {{name: string, kind: "numeric" | "categorical", unit?: string,
 *   granularity?: string | number | null, low?: string | number | null,
 *   high?: string | number | null}} Attribute
 * @typedef {{artifact_version: number, software_version: string, dataset: string,
 *   dataset_version: number, series: string, quarter: string, earlier_releases: string[],
 *   format: string, case_ids: string, key_id: string | null, model: string, guarantee: string,
 *   perturbed: boolean, k: number, attacks: string[], parameters: Record<string, string | number>,
 *   counts: {released_cases: number, released_reports: number, withheld_cases?: number | null,
 *     withheld_reports?: number | null},
 *   report_table: string | null, terms?: {attributes: string[], cases?: number | null} | null,
 *   attributes: Attribute[], tables: DeclaredTable[], csv_safe?: boolean,
 *   derived?: unknown, noisy?: unknown, qid_sets?: {name: string, attributes: string[]}[] | null,
 *   counted?: CountsClaim | null}} Manifest
 * @typedef {{parts: Manifest[], several: boolean, files: Map<string, string>,
 *   ids: Map<string, Dictionary>}} Artifact
 */

/** @typedef {(value: any, path: string) => string} Shape The place that is wrong; empty: none. */

/** @param {(value: any) => boolean} right
 * @returns {Shape} */
const such = right => (value, path) => right(value) ? "" : path;
/** @param {RegExp} pattern */
const text = pattern => such(value => typeof value === "string" && pattern.test(value));
/** @param {number} low
 * @param {number} below */
const whole = (low, below) =>
  such(value => Number.isSafeInteger(value) && value >= low && value < below);
/** @param {...unknown} values */
const oneOf = (...values) => such(value => values.includes(value));
/** @param {Shape} shape
 * @returns {Shape} */
const orNull = shape => (value, path) => value === null ? "" : shape(value, path);
/** @param {Shape} shape
 * @param {number} [least]
 * @returns {Shape} */
const listOf = (shape, least = 0) => (value, path) => {
  if (!Array.isArray(value) || value.length < least || value.length > 10_000) return path;
  for (let n = 0; n < value.length; n++) {
    const wrong = shape(value[n], `${path}.${n}`);
    if (wrong) return wrong;
  }
  return "";
};
/** @param {RegExp} key
 * @param {Shape} shape
 * @returns {Shape} */
const mapOf = (key, shape) => (value, path) => {
  if (!isObject(value)) return path;
  for (const [name, inner] of Object.entries(value)) {
    const wrong = key.test(name) ? shape(inner, `${path}.${name}`) : `${path}.${name}`;
    if (wrong) return wrong;
  }
  return "";
};
/** An object with these keys and no other; those that end in "?" may be missing.
 * @param {Record<string, Shape>} shapes
 * @returns {Shape} */
const record = shapes => {
  const known = new Map(Object.entries(shapes).map(([key, shape]) => [key.replace("?", ""), shape]));
  const needed = Object.keys(shapes).filter(key => !key.endsWith("?"));
  return (value, path) => {
    if (!isObject(value)) return path;
    const entries = Object.entries(value);
    for (const [name, inner] of entries) {
      const shape = known.get(name);
      const wrong = shape ? shape(inner, `${path}.${name}`) : `${path}.${name}`;
      if (wrong) return wrong;
    }
    const missing = needed.find(name => !Object.hasOwn(value, name));
    return missing ? `${path}.${missing}` : "";
  };
};
/** @param {unknown} value */
const isObject = value => typeof value === "object" && value !== null && !Array.isArray(value);

const ANY_TEXT = text(/[^]*/), NAME = /^[a-z][a-z0-9_]*$/, DIGEST = text(/^[0-9a-f]{64}$/);
const COUNT = whole(0, 2 ** 53), WHOLE = whole(-(2 ** 53), 2 ** 53), FLAG = oneOf(true, false);
const DECIMAL = such(value => ["string", "number"].includes(typeof value)
  && Decimal.of(String(value)) !== null);
const ATTRIBUTED = text(/^[a-z][a-z0-9_]*(\/[a-z][a-z0-9_]*)?$/);
const FILES = mapOf(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, DIGEST);
/** What a publisher states, and what documents say: this page shows and checks nothing of it. */
const UNREAD = such(value => value === null || typeof value === "object");
/** @type {Record<string, Shape>} */
const QUARTER = {
  artifact_version: oneOf(1, 2, 3, 4, 5), software_version: ANY_TEXT, dataset: text(NAME),
  dataset_version: WHOLE, dataset_fingerprint: DIGEST, series: ANY_TEXT, quarter: ANY_TEXT,
  earlier_releases: listOf(ANY_TEXT), format: oneOf("parquet", "csv", "duckdb"),
  case_ids: oneOf("as released", "pseudonym"), key_id: orNull(DIGEST), model: ANY_TEXT,
  guarantee: ANY_TEXT, perturbed: FLAG, k: whole(2, 2 ** 31), attacks: listOf(ANY_TEXT),
  parameters: mapOf(/[^]*/, such(value => typeof value === "string" || Number.isSafeInteger(value))),
  counts: record({released_cases: COUNT, released_reports: COUNT, "withheld_cases?": orNull(COUNT),
    "withheld_reports?": orNull(COUNT)}),
  report_table: orNull(text(NAME)),
  "terms?": orNull(record({attributes: listOf(ATTRIBUTED), m: whole(1, 2 ** 53),
    diversity: whole(1, 2 ** 53), "k?": orNull(whole(2, 2 ** 31)), "cases?": orNull(whole(2, 2 ** 31)),
    "sensitive?": orNull(listOf(ATTRIBUTED))})),
  "every_term_published?": orNull(FLAG), "report_written_by?": orNull(ANY_TEXT),
  attributes: listOf(record({name: text(NAME), kind: oneOf("numeric", "categorical"),
    "unit?": ANY_TEXT, "granularity?": orNull(DECIMAL), "low?": orNull(DECIMAL),
    "high?": orNull(DECIMAL)})),
  tables: listOf(record({name: text(NAME), file: text(/^[A-Za-z0-9][A-Za-z0-9._-]*$/), rows: COUNT,
    content_sha256: DIGEST, columns: listOf(record({name: text(NAME),
      type: text(/^(BIGINT|VARCHAR|DECIMAL\(18, ([0-9]|1[0-8])\))$/), role: oneOf(...ROLES),
      "attribute?": orNull(text(NAME)), "max_length?": orNull(whole(1, 10 ** 7 + 1))}))})),
  "csv_safe?": FLAG, "stated?": UNREAD, "shown?": UNREAD,
  "derived?": UNREAD, "unprotected?": UNREAD, "noisy?": UNREAD,
  "qid_sets?": orNull(listOf(record({name: text(NAME), attributes: listOf(text(NAME), 1)}), 2)),
  "counted?": orNull(record({k: whole(2, 2 ** 31), attributes: listOf(text(NAME), 1),
    sensitive: listOf(text(NAME)), pairs: listOf(listOf(text(NAME), 2)),
    cuts: listOf(record({attribute: text(NAME), "value?": orNull(ANY_TEXT), "low?": orNull(DECIMAL),
      "below?": orNull(DECIMAL)}))})),
};
const ONE = record({...QUARTER, files: FILES});
const SEVERAL = record({artifact_version: oneOf(3, 4, 5), software_version: ANY_TEXT,
  dataset: text(NAME), series: ANY_TEXT, format: oneOf("parquet", "csv", "duckdb"),
  quarters: listOf(record({...QUARTER, "files?": FILES}), 2), "released_cases?": orNull(COUNT),
    files: FILES});

/** Read manifest.json.
 *
 * @param {Uint8Array} bytes
 * @param {Map<string, Dictionary>} ids Codes of the ids, shared by artifacts that are opened together.
 * @returns {Artifact} */
function readManifest(bytes, ids) {
  if (bytes.length > MOST_OF_MANIFEST)
    throw new Fault(`${MANIFEST} has more than ${MOST_OF_MANIFEST} bytes`);
  let told;
  try {
    told = JSON.parse(textOf(bytes, MANIFEST));
  } catch (error) {
    throw error instanceof Fault ? error : new Fault(`${MANIFEST} is not JSON`);
  }
  const several = isObject(told) && Object.hasOwn(told, "quarters");
  const wrong = (several ? SEVERAL : ONE)(told, "");
  if (wrong) throw new Fault(`${MANIFEST} is not of version 1 to ${VERSION}: see the key `
    + printable(wrong.slice(1) || "document"));
  const parts = several ? told.quarters : [told];
  return {parts, several, files: new Map(Object.entries(told.files)), ids};
}

/** The columns that a table has in its file, which holds one quarter or several.
 *
 * @param {Artifact} artifact
 * @param {number} place Of the table.
 * @returns {Declared[]} */
function storedColumns(artifact, place) {
  const {columns} = artifact.parts[0].tables[place];
  if (!artifact.several || columns.some(column => column.role === "period")) return columns;
  return [{name: "quarter", type: "VARCHAR", role: "period"}, ...columns];
}

/** Where the public report of a quarter is.
 *
 * @param {Artifact} artifact
 * @param {Manifest} part */
const reportFile = (artifact, part) => artifact.several
  ? `report-${part.quarter.toLowerCase().replace(/[^a-z0-9._-]/g, "-")}.html` : "report.html";

/** Every file that an artifact has, but for a signature.
 *
 * @param {Artifact} artifact */
function filesOf(artifact) {
  const names = new Set([MANIFEST, SUMS, "README.md", "data-dictionary.csv", THRESHOLDS, HIERARCHIES]);
  for (const part of artifact.parts) {
    for (const table of part.tables) names.add(table.file);
    if (part.report_table !== null) names.add(reportFile(artifact, part));
    if (part.terms) names.add("term-counts.sql");
  }
  if (artifact.parts[0].artifact_version >= 4) for (const name of CATALOGUES) names.add(name);
  return names;
}

/** Whether rows of cases show region and cluster alone, and items are told of clusters.
 * @param {Manifest} part */
const wholeRows = part => Boolean(part.terms?.cases);

/** What a manifest must not say of tables, so that their rows can be read and checked.
 *
 * @param {Artifact} artifact
 * @returns {string[]} */
function shapeFaults(artifact) {
  const faults = artifact.parts.flatMap(part => partFaults(artifact, part));
  if (artifact.several) faults.push(...severalFaults(artifact));
  return faults.map(fault => `${MANIFEST}: ${fault}`);
}

/** @param {Artifact} artifact
 * @param {Manifest} part */
function partFaults(artifact, part) {
  const faults = [], names = part.tables.map(table => table.name), {report_table: reports} = part;
  if (new Set(names).size < names.length || (reports !== null && !names.includes(reports)))
    return ["the tables are not each there once, the report table among them"];
  if (reports === null && !part.counted && (!part.terms || names.some(name => !TERM_TABLES.has(name))))
    return ["there is no report table, nor the tables of terms or counts alone"];
  if (part.noisy) return ["counts with noise are not known to this page: ask srsql verify"];
  const of = part.tables.find(table => table.name === reports);
  for (const table of part.tables) faults.push(...tableFaults(artifact, part, table, of));
  const attributes = part.attributes.map(attribute => attribute.name);
  if ((of || part.counted) && (!attributes.length || new Set(attributes).size < attributes.length))
    faults.push("the quasi-identifiers are none, or not each there once");
  if (of && of.columns.filter(column => column.role === "period").length !== 1)
    faults.push("the report table has not one period");
  if (artifact.several && of && !of.columns.some(c => c.role === "period" && c.name === "quarter"))
    faults.push("the period of the report table is not called quarter");
  const grown = part.parameters.k_effective;
  if (typeof grown !== "number" || grown < part.k)
    faults.push(`k_effective is ${printable(grown)}, k is ${part.k}`);
  if ((part.case_ids === "pseudonym") !== (part.key_id !== null))
    faults.push("case_ids and key_id contradict each other");
  const known = BOUNDS_OF_MODELS.get(part.model);
  if (known && known.perturbed !== part.perturbed)
    faults.push(`perturbed is ${part.perturbed}, of ${printable(part.model)} it is not`);
  if (part.earlier_releases.some(quarter => byCodePoint(quarter, part.quarter) > 0))
    faults.push("earlier_releases names a later quarter");
  return [...faults, ...keyFaults(part), ...figureFaults(part), ...countedFaults(part)];
}

/** @param {Artifact} artifact
 * @param {Manifest} part
 * @param {DeclaredTable} table
 * @param {DeclaredTable | undefined} reports */
function tableFaults(artifact, part, table, reports) {
  const faults = [], {name, columns} = table, names = columns.map(column => column.name);
  /** @param {string} role */
  const ids = role => columns.filter(column => column.role === role);
  const due = part.format === "duckdb" ? "release.duckdb" : `${name}.${part.format}`;
  if (table.file !== due || !artifact.files.has(due)) faults.push(`table ${name} is not in ${due}`);
  if (new Set(names).size < names.length) faults.push(`table ${name} has a column twice`);
  const counts = part.counted && (COUNT_TABLES.has(name) || (countsAlone(part) && name === REGION_COUNT));
  const first = part.terms ? TERM_TABLES.get(name) : counts ? [] : undefined;
  if (first) {
    if (first.some((column, n) => names[n] !== column) || ids("report id").length)
      faults.push(`table ${name} has not the columns of terms`);
  } else if (ids("report id").length !== 1 || ids("case id").length > 1) {
    faults.push(`table ${name} has not one report id`);
  } else {
    for (const role of ["report id", "case id"]) {
      const of = reports?.columns.find(column => column.role === role), own = ids(role)[0];
      if (own?.type !== of?.type || own?.name !== of?.name)
        faults.push(`table ${name} has not the ids of the report table`);
    }
  }
  const region = new Set(columns.flatMap(column => column.attribute ?? []));
  const shows = name === regionTable(part) || (name === "clusters" && part.terms && !wholeRows(part));
  const attributes = shows ? part.attributes.map(attribute => attribute.name) : [];
  if (region.size !== attributes.length || attributes.some(attribute => !region.has(attribute)))
    faults.push(`table ${name} does not have the region's columns`);
  for (const attribute of name === regionTable(part) ? part.attributes : [])
    if (regionColumns(columns, attribute).includes(undefined))
      faults.push(`${name} has not the bounds or the node of ${attribute.name}, each once`);
  return faults;
}

/** The columns of a quasi-identifier: its two bounds, or its node; undefined: not each there once.
 *
 * @template {{role: string, attribute?: string | null}} Of
 * @param {Of[]} columns
 * @param {Attribute} attribute
 * @returns {(Of | undefined)[]} */
function regionColumns(columns, attribute) {
  const own = columns.filter(column => column.attribute === attribute.name);
  const roles = attribute.kind === "numeric" ? ["lower bound", "upper bound"] : ["node"];
  if (own.length !== roles.length) return [undefined];
  return roles.map(role => own.find(column => column.role === role));
}

/** What the quarters of an artifact must not differ in, and which must be there.
 * @param {Artifact} artifact */
function severalFaults({parts}) {
  const faults = [], [first] = parts, names = parts.map(part => part.quarter);
  if (names.some((name, n) => n && byCodePoint(names[n - 1], name) >= 0))
    faults.push("the quarters are not each there once, oldest first");
  /** @param {Manifest} part */
  const shape = part => JSON.stringify([part.tables.map(({name, file, columns}) =>
    [name, file, columns.map(c => [c.name, c.type, c.role, c.attribute ?? null,
      c.max_length ?? null])]), part.report_table,
  !part.terms, part.counted ?? null, part.attributes, part.case_ids, part.csv_safe ?? false,
  part.artifact_version, termKeyOf(part),
  part.software_version, part.dataset, part.series, part.format]);
  for (const part of parts) {
    if (shape(part) !== shape(first))
      faults.push(`${printable(part.quarter)} has other tables, columns or facts than `
        + printable(first.quarter));
    const missing = part.earlier_releases.find(quarter =>
      byCodePoint(quarter, names[0]) > 0 && !names.includes(quarter));
    if (missing) faults.push(`${printable(missing)}, a release before ${printable(part.quarter)}, `
      + "is not in the artifact");
  }
  return faults;
}
