// The checks: what files, claims and rows of an artifact show, from the folder alone.

/** What each check proves, in the order in which they are made. */
const CHECKS = new Map([
  ["files", "every file is there, as it was hashed, and no other"],
  ["manifest", "the manifest can be read and agrees with the files"],
  ["columns", "every table can be read and has the declared columns and no other"],
  ["rows", "every table has as many rows as the manifest says"],
  ["content", "the rows are those that were published, whatever their encoding"],
  ["ids", "a report has one row and one case; every other row belongs to one"],
  ["order", "rows stand in the order of their ids"],
  ["period", "every report is of the quarter of the release"],
  ["counts", "cases and reports are as many as the manifest says"],
  ["bounds", "regions lie in the declared domains, on the granularity, at nodes of hierarchies"],
  ["one region", "all reports of a case have the same region"],
  ["k", "at least k cases share every region"],
  ["theta", "no value is held by a larger share of a region's cases than its threshold"],
  ["thresholds", "thresholds are given of released values only, each once, as the parameters say"],
  ["declaration", "roles, domains and hierarchies are the dataset's, where it ships with srsql"],
]);
const OF_ROWS = [...CHECKS.keys()].slice(2);
/** Places that are named of each check. */
const MOST_PLACES = 5;
/** Reader's words for what no page can see, whatever the artifact. */
const NEVER_SHOWN = [
  "who made it: whoever can rewrite every file and every hash can make another artifact; compare "
    + "SHA256SUMS with a copy that you got another way, or check its signature with srsql verify "
    + "--public-key",
  "that the true values lie in the regions, and that nothing but what was withheld is missing: both "
    + "need the originals",
  "that rows were grouped as the model says: groups are not published, only their regions",
  "what an attacker knows from elsewhere, such as some of a patient's drugs, terms or a case id",
  "what joining releases tells: new cases, covers and presence over quarters (srsql verify checks "
    + "the artifacts of a series together)",
  "the public report, README, data dictionary and documents for catalogues beyond their hashes, the "
    + "wording of the guarantee, and the policy that thresholds follow (srsql verify checks them)",
];

/** Model -> the bounds that its regions keep, whether k counts cases, and whether values are drawn.
 * @type {Map<string, {bounds: string[], unit: string, perturbed: boolean, rows: boolean}>} */
const BOUNDS_OF_MODELS = new Map([
  ["ms", {"bounds": ["k", "theta"], "unit": "case", "perturbed": false, "rows": true}],
  ["ppms", {"bounds": ["k", "theta"], "unit": "case", "perturbed": false, "rows": true}],
  ["ppms-ear", {"bounds": ["k", "theta"], "unit": "case", "perturbed": false, "rows": true}],
  ["ppms++", {"bounds": ["k", "theta"], "unit": "case", "perturbed": false, "rows": true}],
  ["ppms-alpha", {"bounds": ["k", "theta"], "unit": "case", "perturbed": false, "rows": true}],
  ["ppms-stay", {"bounds": ["k", "theta"], "unit": "case", "perturbed": false, "rows": true}],
  ["ppms-dp-num", {"bounds": ["k", "theta"], "unit": "case", "perturbed": true, "rows": true}],
  ["ppms-dp-all", {"bounds": ["k", "theta"], "unit": "case", "perturbed": true, "rows": true}],
  ["msdp-num", {"bounds": ["k", "theta"], "unit": "case", "perturbed": true, "rows": true}],
  ["msdp-all", {"bounds": ["k", "theta"], "unit": "case", "perturbed": true, "rows": true}],
  ["k-anonymity", {"bounds": [], "unit": "report", "perturbed": false, "rows": true}],
  ["l-diversity", {"bounds": [], "unit": "report", "perturbed": false, "rows": true}],
  ["alpha-k", {"bounds": [], "unit": "report", "perturbed": false, "rows": true}],
  ["xy-anonymity", {"bounds": ["k"], "unit": "case", "perturbed": false, "rows": true}],
  ["disassociation", {"bounds": [], "unit": "case", "perturbed": false, "rows": false}],
  ["ipa", {"bounds": [], "unit": "case", "perturbed": false, "rows": false}],
  ["cba", {"bounds": [], "unit": "case", "perturbed": false, "rows": false}],
  ["full-domain", {"bounds": [], "unit": "case", "perturbed": false, "rows": false}],
  ["dp-histogram", {"bounds": [], "unit": "case", "perturbed": false, "rows": false}],
]);

/** One check: how many things it looked at, and where it fails. */
class Check {
  /** @param {string} name
   * @param {number} total
   * @param {string[]} faults */
  constructor(name, total, faults = []) {
    this.name = name;
    this.total = total;
    this.count = 0;
    /** @type {string[]} */
    this.places = [];
    for (const fault of faults) this.add(() => fault);
  }

  /** @param {() => string} place Asked for the first few only. */
  add(place) {
    if (this.count++ < MOST_PLACES) this.places.push(place());
  }
}

/** The check of the files against SHA256SUMS.
 *
 * @param {Map<string, string>} digests Name -> SHA-256 of its bytes.
 * @param {string[]} strange Entries that are no plain file of the folder.
 * @param {Uint8Array | undefined} sums
 * @param {number} signature Bytes of the signature; 64: as it should be, or none is there. */
function checkFiles(digests, strange, sums, signature) {
  const faults = strange.map(name => `${printable(name)} is not a plain file of the folder`);
  if (signature !== 64) faults.push(`${SIGNATURE} is no signature, which has 64 bytes`);
  const listed = new Map();
  if (!sums) faults.push(`${SUMS} is missing`);
  const lines = sums ? textOf(sums, SUMS).split("\n") : [""];
  if (lines.pop() !== "") faults.push(`${SUMS} does not end in a line end`);
  let before = "";
  for (const [n, line] of lines.entries()) {
    const found = /^([0-9a-f]{64})  ([^/\n]+)$/.exec(line);
    if (!found || byCodePoint(before, found[2]) >= 0) {
      faults.push(`${SUMS} line ${n + 1} is not a hash and a name, in the order of the names`);
      continue;
    }
    before = found[2];
    listed.set(found[2], found[1]);
  }
  const others = new Map([...digests].filter(([name]) => name !== SUMS && name !== SIGNATURE));
  return new Check("files", digests.size + strange.length,
    [...faults, ...differences(listed, others, SUMS)]);
}

/** @param {Map<string, string>} listed
 * @param {Map<string, string>} found
 * @param {string} where */
function* differences(listed, found, where) {
  for (const name of listed.keys()) if (!found.has(name)) yield `${printable(name)} is missing`;
  for (const [name, digest] of found)
    if (!listed.has(name)) yield `${printable(name)} is not listed in ${where}`;
    else if (listed.get(name) !== digest)
      yield `${printable(name)} was changed: its hash is not the one in ${where}`;
}

/** The check of the manifest against the files, and against itself.
 *
 * @param {Artifact} artifact
 * @param {Map<string, string>} digests */
function checkManifest(artifact, digests) {
  const own = [MANIFEST, SUMS, SIGNATURE], known = filesOf(artifact);
  const others = new Map([...digests].filter(([name]) => !own.includes(name)));
  const faults = [...shapeFaults(artifact), ...differences(artifact.files, others, MANIFEST)];
  for (const name of artifact.files.keys())
    if (!known.has(name)) faults.push(`${printable(name)} is no file of an artifact`);
  for (const name of known)
    if (!artifact.files.has(name) && !digests.has(name)) faults.push(`${name} is missing`);
  return new Check("manifest", 1, faults);
}

/**
 * @typedef {Map<string, string>} Tree Node -> its parent; "": it is the root.
 * @typedef {{values: Map<string, [bigint, bigint]>, faults: string[], total: number}} Thresholds
 * @typedef {{part: Manifest, tables: Map<string, Rows>, thresholds: Thresholds,
 *   trees: Map<string, Tree>}} Quarter One quarter with its rows.
 */

/** The thresholds of one quarter, by the normal form of their value.
 *
 * @param {Artifact} artifact
 * @param {Manifest} part
 * @param {Uint8Array} bytes
 * @returns {Thresholds} */
function readThresholds(artifact, part, bytes) {
  const header = [...(artifact.several ? ["quarter"] : []), "value", "theta_num", "theta_den"];
  const values = new Map(), faults = [], uniform = uniformTheta(part);
  let total = 0;
  for (const row of smallRows(THRESHOLDS, bytes, header, part.csv_safe ?? false)) {
    if (artifact.several && row.shift() !== part.quarter) continue;
    const [value, num, den] = row, told = `${printable(value)} has the threshold ${printable(num)}/`
      + printable(den);
    total += 1;
    if (![num, den].every(n => /^[0-9]{1,18}$/.test(n)) || BigInt(den) < 1n
        || BigInt(num) > BigInt(den)) {
      faults.push(`${told}, which is not between 0 and 1`);
      continue;
    }
    const theta = /** @type {[bigint, bigint]} */ ([BigInt(num), BigInt(den)]);
    if (uniform && theta[0] * uniform[1] !== theta[1] * uniform[0])
      faults.push(`${told}, the parameter theta is ${part.parameters.theta}`);
    const key = upper(value);
    if (values.has(key)) faults.push(`${printable(value)} has two thresholds`);
    values.set(key, theta);
  }
  if (uniform === undefined)
    faults.push(`the parameter theta is ${printable(part.parameters.theta)}, which is no policy`);
  return {values, faults, total};
}

/** The threshold of all values; null: they follow a policy; undefined: neither is told.
 *
 * @param {Manifest} part
 * @returns {[bigint, bigint] | null | undefined} */
function uniformTheta(part) {
  const theta = String(part.parameters.theta);
  if (["frequency", "levels", "not kept"].includes(theta)) return null;
  const found = /^([0-9]{1,18})(?:\/([0-9]{1,18}))?$/.exec(theta);
  return found && BigInt(found[2] ?? 1) > 0n ? [BigInt(found[1]), BigInt(found[2] ?? 1)] : undefined;
}

/** The hierarchies of an artifact.
 *
 * @param {Manifest} part
 * @param {Uint8Array} bytes
 * @returns {{trees: Map<string, Tree>, faults: string[]}} */
function readTrees(part, bytes) {
  /** @type {Map<string, Tree>} */
  const trees = new Map();
  const faults = [], rows = smallRows(HIERARCHIES, bytes, ["attribute", "node", "parent"],
    part.csv_safe ?? false);
  for (const [attribute, node, parent] of rows) {
    const tree = trees.get(attribute) ?? new Map();
    if (tree.has(node) || !node) faults.push(`hierarchy of ${printable(attribute)}: a node stands `
      + "there twice, or has no name");
    trees.set(attribute, tree.set(node, parent));
  }
  const categorical = part.attributes.filter(attribute => attribute.kind === "categorical");
  const declared = new Set(categorical.map(attribute => attribute.name));
  for (const name of declared) if (!trees.has(name)) faults.push(`${name} has no hierarchy`);
  for (const [name, tree] of trees) {
    if (!declared.has(name))
      faults.push(`hierarchy of ${printable(name)}, which is no categorical quasi-identifier`);
    if (!preorder(tree)) faults.push(`hierarchy of ${printable(name)}: it is not one tree`);
  }
  return {trees, faults};
}

/** The leaves of a tree, numbered in preorder, and the first and last of each node.
 *
 * @param {Tree} tree
 * @returns {{leaves: string[], ends: Map<string, [number, number]>} | null} Null: it is no tree. */
function preorder(tree) {
  /** @type {Map<string, string[]>} */
  const below = new Map();
  for (const [node, parent] of tree) {
    if (parent && !tree.has(parent)) return null;
    const children = below.get(parent);
    if (children) children.push(node);
    else below.set(parent, [node]);
  }
  const roots = below.get("") ?? [], leaves = /** @type {string[]} */ ([]), ends = new Map();
  if (roots.length !== 1) return null;
  const way = [{node: roots[0], next: 0}];
  ends.set(roots[0], [0, -1]);
  while (way.length) {
    const at = way[way.length - 1], children = below.get(at.node) ?? [];
    if (at.next < children.length) {
      const node = children[at.next++];
      ends.set(node, [leaves.length, -1]);
      way.push({node, next: 0});
      continue;
    }
    if (!children.length) leaves.push(at.node);
    ends.get(at.node)[1] = leaves.length - 1;
    way.pop();
  }
  return ends.size === tree.size ? {leaves, ends} : null;
}

/** The cases of a quarter and their regions.
 *
 * @typedef {{caseOf: Int32Array, reports: Rows, cases: number[], regions: string[],
 *   regionRow: number[], pairs: number[][]}} Cases
 *   caseOf: code of a report id -> code of its case, -1: it has none; cases: their codes;
 *   regions: the text of each region; regionRow: a row with it; pairs: [region, case], each once. */

/** The ids of a report row.
 * @param {Rows} table */
const idsOf = table => {
  const report = /** @type {Column} */ (withRole(table, "report id"));
  return {report, patient: withRole(table, "case id") ?? report};
};

/** @param {Quarter} quarter
 * @returns {Cases} */
function casesOf({part, tables}) {
  const reports = /** @type {Rows} */ (tables.get(part.report_table ?? ""));
  const {report, patient} = idsOf(reports);
  const bounds = reports.columns.filter(column => column.attribute);
  const caseOf = new Int32Array(report.dictionary.values.length).fill(-1);
  const byText = new Map(), regionRow = [], regions = /** @type {string[]} */ ([]);
  const firstRegion = new Int32Array(patient.dictionary.values.length).fill(-1);
  const more = new Map(), pairs = [], cases = [];
  for (let row = 0; row < reports.rows; row++) {
    const [id, of] = [report.codes[row], patient.codes[row]];
    if (id >= 0) caseOf[id] = of;
    const key = bounds.map(column => column.codes[row]).join();
    let region = byText.get(key);
    if (region === undefined) {
      region = regions.length;
      byText.set(key, region);
      regionRow.push(row);
      regions.push(regionText(part, reports, row));
    }
    if (of < 0 || firstRegion[of] === region) continue;
    if (firstRegion[of] < 0) {
      firstRegion[of] = region;
      cases.push(of);
    } else {
      const others = more.get(of) ?? new Set();
      if (others.has(region)) continue;
      more.set(of, others.add(region));
    }
    pairs.push([region, of]);
  }
  return {caseOf, reports, cases, regions, regionRow, pairs};
}

/** A region in words.
 *
 * @param {Manifest} part
 * @param {Rows} reports
 * @param {number} row */
function regionText(part, reports, row) {
  return part.attributes.map(attribute => {
    const ends = regionColumns(reports.columns, attribute)
      .map(column => valueAt(/** @type {Column} */ (column), row));
    const [low, high] = ends.map(end => end === null ? "any" : printable(end));
    return `${attribute.name} ${high === undefined || low === high ? low : `${low} to ${high}`}`;
  }).join(", ");
}

/** Every check of the rows of one quarter that has a report table.
 *
 * @param {Quarter} quarter
 * @param {Cases} cases
 * @param {string[]} treeFaults
 * @returns {Check[]} */
function checkRows(quarter, cases, treeFaults) {
  const {part} = quarter, skipped = notClaimed(part).map(([name]) => name);
  const made = [() => checkIds(quarter, cases), () => checkOrder(quarter),
    () => checkPeriod(quarter, cases), () => checkCounts(part, cases),
    () => checkBounds(quarter, cases, treeFaults), () => checkOneRegion(cases),
    () => checkK(part, cases), () => checkTheta(quarter, cases),
    () => checkThresholds(quarter)];
  const names = OF_ROWS.slice(3, -1);
  return made.filter((_, n) => !skipped.includes(names[n])).map(make => make());
}

/** The checks of what an artifact does not claim of its regions, and why.
 *
 * @param {Manifest} part
 * @returns {[string, string][]} */
function notClaimed(part) {
  const model = printable(part.model), known = BOUNDS_OF_MODELS.get(part.model);
  if (part.perturbed) {
    const why = `${model} draws what is published of a case at random: it holds for groups that `
      + "nobody can see";
    return [["k", why], ["theta", why]];
  }
  /** @type {[string, string][]} */
  const skipped = ["k", "theta"].filter(name => known && !known.bounds.includes(name))
    .map(name => [name, `${model} does not claim it`]);
  if (known?.unit === "report") skipped.push(["one region", `${model} counts reports`]);
  if (wholeRows(part)) skipped.push(["thresholds", "items are told of clusters, not of rows"]);
  return skipped;
}

/** @param {Quarter} quarter
 * @param {Cases} cases */
function checkIds({part, tables}, {caseOf, reports}) {
  const check = new Check("ids", 0), {report, patient} = idsOf(reports);
  const seen = new Uint8Array(report.dictionary.values.length);
  for (let row = 0; row < reports.rows; row++) {
    const id = report.codes[row];
    if (id < 0 || patient.codes[row] < 0 || seen[id]++)
      check.add(() => `report ${printable(valueAt(report, row) ?? "without id")} has more than one `
        + "row, or no case id");
  }
  for (const table of tables.values()) {
    const own = withRole(table, "report id") && idsOf(table);
    check.total += own ? table.rows : 0;
    if (!own || table.name === part.report_table) continue;
    for (let row = 0; row < table.rows; row++) {
      const id = own.report.codes[row], of = own.patient.codes[row];
      if (id < 0 || of < 0 || caseOf[id] !== of)
        check.add(() => `${table.name} row ${row + 1}: report ${printable(valueAt(own.report, row))} `
          + `of case ${printable(valueAt(own.patient, row))} is not in the report table`);
    }
  }
  return check;
}

/** @param {Quarter} quarter */
function checkOrder({tables}) {
  const check = new Check("order", 0);
  for (const table of tables.values()) {
    const id = withRole(table, "report id");
    if (!id) continue;
    check.total += table.rows;
    const numbers = id.type === "BIGINT" ? id.dictionary.values.map(value => BigInt(value)) : null;
    for (let row = 1; row < table.rows; row++) {
      const [one, two] = [id.codes[row - 1], id.codes[row]];
      if (one < 0 || two < 0 || one === two) continue;
      const after = numbers ? numbers[one] > numbers[two]
        : byCodePoint(id.dictionary.values[one], id.dictionary.values[two]) > 0;
      if (after) check.add(() => `${table.name} row ${row + 1}: report `
        + `${printable(valueAt(id, row))} stands after ${printable(valueAt(id, row - 1))}`);
    }
  }
  return check;
}

/** @param {Quarter} quarter
 * @param {Cases} cases */
function checkPeriod({part}, {reports}) {
  const check = new Check("period", reports.rows);
  const period = /** @type {Column} */ (withRole(reports, "period"));
  for (let row = 0; row < reports.rows; row++)
    if (valueAt(period, row) !== part.quarter)
      check.add(() => `report ${printable(valueAt(idsOf(reports).report, row))} is of `
        + printable(valueAt(period, row)));
  return check;
}

/** @param {Manifest} part
 * @param {Cases} cases */
function checkCounts({counts}, {cases, reports}) {
  const check = new Check("counts", 2);
  if (reports.rows !== counts.released_reports)
    check.add(() => `reports: ${reports.rows} in the rows, ${counts.released_reports} in ${MANIFEST}`);
  if (cases.length !== counts.released_cases)
    check.add(() => `cases: ${cases.length} in the rows, ${counts.released_cases} in ${MANIFEST}`);
  return check;
}

/** Each distinct interval or node of each quasi-identifier.
 *
 * @param {Quarter} quarter
 * @param {Cases} cases
 * @param {string[]} treeFaults */
function checkBounds({part, trees}, {reports, regionRow}, treeFaults) {
  const check = new Check("bounds", 0, treeFaults);
  for (const attribute of part.attributes) {
    const columns = /** @type {Column[]} */ (regionColumns(reports.columns, attribute));
    const seen = new Set();
    for (const row of regionRow) {
      const key = columns.map(column => column.codes[row]).join();
      if (seen.has(key)) continue;
      seen.add(key);
      const values = columns.map(column => valueAt(column, row));
      const fault = attribute.kind === "numeric" ? intervalFault(attribute, values[0], values[1])
        : trees.get(attribute.name)?.has(values[0] ?? "") ? "" : "is no node of its hierarchy";
      if (fault) check.add(() => `${attribute.name} ${values.map(v => printable(v ?? "any"))
        .join(" to ")} ${fault}`);
    }
    check.total += seen.size;
  }
  return check;
}

/** A number of the manifest; null: it is not told.
 * @param {string | number | null | undefined} told */
const decimal = told => told === null || told === undefined ? null : Decimal.of(String(told));

/** @param {Attribute} attribute
 * @param {string | null} low
 * @param {string | null} high */
function intervalFault(attribute, low, high) {
  if (low === null && high === null) return "";
  const [from, to] = [Decimal.of(low ?? ""), Decimal.of(high ?? "")];
  if (!from || !to) return "has no end, or one that is no number";
  if (from.compare(to) > 0) return "ends before it begins";
  const [first, last] = [decimal(attribute.low), decimal(attribute.high)];
  if (first && from.compare(first) < 0) return `begins below the domain, at ${attribute.low}`;
  if (last && to.compare(last) > 0) return `ends above the domain, at ${attribute.high}`;
  const unit = decimal(attribute.granularity);
  if (unit && unit.value > 0n && !(from.over(unit).exact && to.over(unit).exact))
    return `is finer than the granularity, ${attribute.granularity}`;
  return "";
}

/** @param {Cases} cases */
function checkOneRegion({cases, pairs, reports, regions}) {
  const check = new Check("one region", cases.length), {patient} = idsOf(reports);
  const seen = new Int32Array(patient.dictionary.values.length).fill(-1);
  for (const [region, of] of pairs) {
    if (seen[of] >= 0) check.add(() => `case ${printable(patient.dictionary.values[of])} has the `
      + `regions (${regions[seen[of]]}) and (${regions[region]})`);
    seen[of] = region;
  }
  return check;
}

/** Cases of each region.
 * @param {Cases} cases */
function regionSizes({regions, pairs}) {
  const sizes = new Int32Array(regions.length);
  for (const [region] of pairs) sizes[region] += 1;
  return sizes;
}

/** At least k cases share every region (Lin 2016, Definition 3 (1)).
 *
 * @param {Manifest} part
 * @param {Cases} cases */
function checkK({k}, cases) {
  const check = new Check("k", cases.regions.length);
  regionSizes(cases).forEach((size, region) => {
    if (size < k) check.add(() => `region (${cases.regions[region]}) is shared by ${size} case(s), `
      + `k is ${k}`);
  });
  return check;
}

/** The values of every case, each pair once, as case * values + value in ascending order.
 *
 * @param {Quarter} quarter
 * @returns {{values: string[], pairs: Float64Array}} */
function valuesOfCases({part, tables}) {
  const all = new Dictionary(), of = /** @type {number[]} */ ([]), held = [];
  for (const table of tables.values()) {
    const patient = withRole(table, "report id") && idsOf(table).patient;
    for (const column of patient ? table.columns : []) {
      if (column.role !== "sensitive" || !patient) continue;
      const codes = column.dictionary.values.map(spelling => {
        const value = normalForm(spelling, part.artifact_version);
        return value ? all.code(value) : -1;
      });
      for (let row = 0; row < table.rows; row++) {
        const value = column.codes[row] < 0 ? -1 : codes[column.codes[row]];
        if (value < 0 || patient.codes[row] < 0) continue;
        of.push(patient.codes[row]);
        held.push(value);
      }
    }
  }
  const size = all.values.length;
  const pairs = Float64Array.from(held, (value, n) => of[n] * size + value).sort();
  return {values: all.values, pairs: pairs.filter((pair, n) => !n || pair !== pairs[n - 1])};
}

/** No value is held by a larger share of a region's cases than its threshold; a value without one
 * is a breach (Lin 2016, Definition 3 (2)).
 *
 * @param {Quarter} quarter
 * @param {Cases} cases */
function checkTheta(quarter, cases) {
  const {values, pairs} = valuesOfCases(quarter), size = values.length, {thresholds} = quarter;
  const regionsOf = new Map();
  for (const [region, of] of cases.pairs) {
    const known = regionsOf.get(of);
    if (known) known.push(region);
    else regionsOf.set(of, [region]);
  }
  const held = [];
  for (const pair of pairs) {
    const value = pair % size, of = (pair - value) / size;
    for (const region of regionsOf.get(of) ?? []) held.push(region * size + value);
  }
  const sorted = Float64Array.from(held).sort(), sizes = regionSizes(cases);
  const check = new Check("theta", 0);
  for (let at = 0, end = 0; at < sorted.length; at = end) {
    while (end < sorted.length && sorted[end] === sorted[at]) end += 1;
    const value = sorted[at] % size, region = (sorted[at] - value) / size, count = end - at;
    const theta = thresholds.values.get(upper(values[value]));
    check.total += 1;
    if (theta && BigInt(count) * theta[1] <= theta[0] * BigInt(sizes[region])) continue;
    check.add(() => `region (${cases.regions[region]}): ${count} of ${sizes[region]} cases hold `
      + `${printable(values[value])}, ${theta ? `its threshold is ${theta[0]}/${theta[1]}`
        : "which has no threshold"}`);
  }
  return check;
}

/** Thresholds are only of values that a row shows.
 * @param {Quarter} quarter */
function checkThresholds(quarter) {
  const {thresholds} = quarter, {values} = valuesOfCases(quarter);
  const check = new Check("thresholds", thresholds.total, thresholds.faults);
  const known = new Set(values.map(upper));
  for (const value of thresholds.values.keys())
    if (!known.has(value)) check.add(() => `${printable(value)} is in no row`);
  return check;
}

/** The check of roles, domains and hierarchies against the datasets that ship with srsql.
 *
 * @param {Quarter} quarter
 * @returns {Check | null} Null: the dataset is a user's, or of another version. */
function checkDeclaration({part, trees}) {
  const shipped = SHIPPED.find(dataset => dataset.name === part.dataset
    && dataset.version === part.dataset_version);
  if (!shipped) return null;
  const check = new Check("declaration", 0), roles = new Map(shipped.columns);
  const apart = (part.terms?.attributes ?? []).map(name => name.split("/")[0]);
  for (const table of part.tables) {
    if (part.terms && TERM_TABLES.has(table.name)) continue;
    for (const column of table.columns) {
      const due = roles.get(`${table.name}.${column.name}`);
      check.total += 1;
      if (due !== column.role && !(wholeRows(part) && column.role === "cluster"))
        check.add(() => `${table.name}.${column.name} is told as ${column.role}, and the dataset `
          + `${part.dataset} says ${due ?? "that it is not published"}`);
    }
  }
  const published = new Set(part.tables.flatMap(table =>
    table.columns.map(column => `${table.name}.${column.name}`)));
  for (const [name, role] of roles)
    if (role === "sensitive" && part.report_table !== null && !wholeRows(part)
        && !published.has(name) && !apart.includes(name.split(".")[1]))
      check.add(() => `${name}, which is sensitive, is not published`);
  /** @param {Attribute} attribute */
  const shape = ({name, kind, unit, granularity, low, high}) => JSON.stringify(
    [name, kind, unit ?? "", ...[granularity, low, high].map(told => {
      const number = decimal(told);
      return number ? [String(number.at(18))] : null;
    })]);
  const due = shipped.attributes.map(shape), told = part.attributes.map(shape);
  check.total += due.length;
  if (due.join() !== told.join())
    check.add(() => `the quasi-identifiers are not as the dataset ${part.dataset} declares them`);
  for (const [name, nodes] of part.report_table === null ? [] : shipped.trees) {
    const found = JSON.stringify([...(trees.get(name) ?? [])].sort());
    if (found !== JSON.stringify([...nodes].sort()))
      check.add(() => `the hierarchy of ${name} is not that of the dataset ${part.dataset}`);
  }
  return check;
}
