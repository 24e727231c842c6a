// The work behind the page, in a thread of its own that the page can stop at any time.

/**
 * @typedef {{path: string, file: Blob}} Entry
 * @typedef {{name: string, of: string, artifact: string, proves: string, note: string,
 *   total: number, count: number, places: string[]}} Shown A check and what it found; of: its quarter,
 *   or "" for all; artifact: its folder, "" where there is but one, "series" for what they show together.
 * @typedef {{passed: boolean, checks: Shown[], notRun: string[], notShown: string[],
 *   facts: [string, string][], warnings: string[], unprotected: string[], asked: Questions | null,
 *   why: string}} Verified
 * @typedef {Verified & {quarters: string, loaded: Quarter[] | null, parts: Manifest[]}} Opened
 *   loaded: null where not every row could be read, or is not as it was published.
 * @typedef {{quarters: string[], numbers: {name: string, unit: string}[],
 *   nodes: {name: string, nodes: string[]}[], columns: Group[]}} Questions
 * @typedef {{name: string, plain: Map<string, Blob>, strange: string[]}} Folder Of one artifact.
 */

/** Files of an artifact, and of all that are opened together, at most. */
const MOST_FILES = 1000, MOST_OF_ALL = 20_000;
/** The quarters that are open, oldest first. */
const open = {quarters: /** @type {Quarter[]} */ ([])};
const NO_ROWS_COUNTED = "only rows that are as they were published are counted: see what failed";

/** @param {string} words */
const say = words => postMessage({progress: words});

/** The folders that have an artifact in them, each with its files, and what is no plain file of it.
 *
 * @param {Entry[]} entries
 * @returns {{folders: Folder[], beside: string[]}} beside: what is in no such folder. */
function sorted(entries) {
  /** @param {string} path */
  const above = path => path.slice(0, Math.max(0, path.lastIndexOf("/")));
  /** @type {Map<string, Folder>} */
  const folders = new Map();
  for (const {path} of entries)
    if ([MANIFEST, SUMS].includes(path.slice(path.lastIndexOf("/") + 1)))
      folders.set(above(path), {name: above(path), plain: new Map(), strange: []});
  const beside = [];
  for (const {path, file} of entries) {
    let folder = above(path);
    while (folder && !folders.has(folder)) folder = above(folder);
    const artifact = folders.get(folder);
    if (!artifact) {
      beside.push(path);
      continue;
    }
    const name = folder ? path.slice(folder.length + 1) : path;
    if (!name.includes("/") && !artifact.plain.has(name)) artifact.plain.set(name, file);
    else artifact.strange.push(path);
  }
  for (const name of folders.keys()) {
    for (let outer = name; outer;) {
      outer = above(outer);
      folders.get(outer)?.strange.push(name);
    }
  }
  return {folders: [...folders.values()].sort((one, two) => byCodePoint(one.name, two.name)), beside};
}

/** Open one artifact or several and check each, and what they show together.
 *
 * @param {Entry[]} entries
 * @returns {Promise<Verified & {artifacts: {name: string, quarters: string, passed: boolean}[]}>} */
async function opened(entries) {
  open.quarters = [];
  const {folders, beside} = sorted(entries);
  if (!folders.length)
    throw new Fault(`this is no artifact (no ${MANIFEST}, no ${SUMS}): give the folder that srsql `
      + "publish wrote");
  if (entries.length > MOST_OF_ALL)
    throw new Fault(`these are more than ${MOST_OF_ALL} files, which is too much for this page: open `
      + "fewer artifacts at once");
  const ids = new Map([["report id", new Dictionary()], ["case id", new Dictionary()]]);
  const several = folders.length > 1, found = /** @type {Opened[]} */ ([]);
  for (const folder of folders) found.push(await checkFolder(folder, ids));
  const checks = found.flatMap((each, n) => each.checks.map(check =>
    ({...check, artifact: several ? printable(folders[n].name) : ""})));
  const notRun = found.flatMap((each, n) => each.notRun.map(name =>
    several ? `${name} (${printable(folders[n].name)})` : name));
  const notShown = found.flatMap(each => each.notShown);
  const quarters = found.flatMap(each => each.loaded ?? []).sort(oldestFirst);
  const counted = found.every(each => each.loaded);
  let why = found.map(each => each.why).find(Boolean) ?? "";
  /** @type {[string, string][]} */
  let facts = several && found.every(each => each.parts.length)
    ? factsOf({parts: found.flatMap(each => each.parts).sort((one, two) =>
      byCodePoint(one.quarter, two.quarter))}) : found[0].facts;
  const withRows = quarters.filter(({part}) => part.report_table !== null);
  if (counted && withRows.length > 1) {
    say("checking what the quarters show together");
    const series = checkSeries(withRows);
    checks.push(...series.checks.map(check => ({...shown(check), artifact: several ? "series" : ""})));
    notShown.push(...series.notShown);
    facts = [...facts, ...seriesFacts(withRows)];
    const fault = series.checks.find(check => check.count && check.name === "series")?.places[0];
    why ||= fault ?? unlike(quarters);
  } else {
    notShown.push(ALONE);
    if (several) notRun.push(...OF_SERIES.map(name => `${name} (series)`));
  }
  for (const path of beside.slice(0, 5)) notShown.push(`what lies beside the artifacts: ${printable(path)}`);
  if (counted) open.quarters = quarters;
  const asked = counted && !why ? questionsOf(quarters) : null, parts = found.flatMap(each => each.parts);
  const unprotected = parts.length ? notProtected(parts, counted ? quarters : []) : [];
  const passed = !notRun.length && checks.every(check => !check.count);
  return {passed, checks, notRun, notShown: [...new Set(notShown)], facts, asked, why, unprotected,
    warnings: found.flatMap(each => each.warnings),
    artifacts: found.map((each, n) => ({name: printable(folders[n].name), quarters: each.quarters,
      passed: each.passed}))};
}

/** Check one artifact.
 *
 * @param {Folder} folder
 * @param {Map<string, Dictionary>} ids
 * @returns {Promise<Opened>} */
async function checkFolder({name: folder, plain, strange}, ids) {
  if (plain.size + strange.length > MOST_FILES)
    throw new Fault(`the folder has more than ${MOST_FILES} files, which no artifact has: give the `
      + "folder that srsql publish wrote");
  /** @type {Map<string, Uint8Array>} */
  const bytes = new Map();
  /** @type {Map<string, string>} */
  const digests = new Map();
  const warnings = LEFT_BY_SYSTEMS.filter(name => plain.delete(name)).map(name =>
    `${printable(folder ? `${folder}/${name}` : name)} was left by the system of a computer, is no part of `
      + "the artifact and was not read: delete it, srsql verify refuses it");
  for (const [name, file] of plain) {
    say(`hashing ${printable(name)} (${digests.size + 1} of ${plain.size})`);
    if (file.size > MOST_BYTES)
      throw new Fault(`${printable(name)} has more than ${MOST_BYTES / 2 ** 20} MB, which is too much `
        + "for this page: check the folder with srsql verify");
    const content = new Uint8Array(await file.arrayBuffer());
    digests.set(name, await digestOf(content));
    bytes.set(name, content);
  }
  const signature = bytes.get(SIGNATURE)?.length ?? 64;
  const checks = [checkFiles(digests, strange, bytes.get(SUMS), signature)];
  try {
    const artifact = readManifest(bytes.get(MANIFEST) ?? new Uint8Array(), ids);
    return {...checked(artifact, checks, bytes, digests), warnings};
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const told = bytes.has(MANIFEST) ? error.message : `${MANIFEST} is missing`;
    const made = [...checks, new Check("manifest", 1, [told])].map(check => shown(check));
    return result(made, OF_ROWS, {warnings});
  }
}

/** @param {Check} check
 * @param {string} of Its quarter, where there are several.
 * @returns {Shown} */
function shown(check, of = "") {
  const {name, total, note, count, places} = check;
  return {name, of, artifact: "", proves: CHECKS.get(name) ?? "", note, total, count, places};
}

/** @param {Shown[]} checks
 * @param {string[]} notRun
 * @param {Partial<Opened>} [more]
 * @returns {Opened} */
function result(checks, notRun, more = {}) {
  const passed = !notRun.length && checks.every(check => !check.count);
  return {passed, checks, notRun, notShown: NEVER_SHOWN, facts: [], asked: null, why: "",
    warnings: [], unprotected: [], quarters: "", loaded: null, parts: [], ...more};
}

/** Check an artifact whose manifest can be read.
 *
 * @param {Artifact} artifact
 * @param {Check[]} checks
 * @param {Map<string, Uint8Array>} bytes
 * @param {Map<string, string>} digests */
function checked(artifact, checks, bytes, digests) {
  const {parts} = artifact, facts = factsOf(artifact), [first] = parts;
  const about = {facts, parts, quarters: printable(parts.map(part => part.quarter).join(", "))};
  checks.push(checkManifest(artifact, digests));
  const found = checks.map(check => shown(check)), why = NO_ROWS_COUNTED;
  const due = [...OF_ROWS, ...(parts.some(part => part.qid_sets) ? [OF_SETS] : []),
    ...(parts.some(termKeyOf) ? [OF_KEYS] : []), ...(parts.some(part => part.counted) ? OF_COUNTS : [])];
  if (shapeFaults(artifact).length) return result(found, due, {...about, why});
  if (first.format === "duckdb") {
    const other = "the tables are in a DuckDB file, which this page does not read: ask the publisher "
      + "for the artifact as CSV (srsql publish --format csv), or check it with srsql verify";
    return result(found, due, {...about, why: other});
  }
  if (first.format === "parquet" && !parquetReader)
    return result(found, due, {...about, why: NO_PARQUET_READER});
  const read = first.format === "parquet" ? readParquet : readTable;
  const columns = new Check("columns", first.tables.length);
  const tables = first.tables.map((table, place) => {
    say(`reading ${table.file}`);
    const content = bytes.get(table.file);
    bytes.delete(table.file);
    try {
      if (!content) throw new Fault(`${table.file} is missing`);
      const {tables: rows, faults} = read(artifact, place, content);
      for (const fault of faults) columns.add(() => fault);
      return rows;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      columns.add(() => error.message);
      return [];
    }
  });
  found.push(shown(columns));
  if (columns.count) return result(found, due.slice(1), {...about, why});
  const notShown = [...NEVER_SHOWN], quarters = /** @type {Quarter[]} */ ([]);
  for (const [n, part] of artifact.parts.entries()) {
    const of = artifact.several ? part.quarter : "";
    const rows = new Map(part.tables.map((table, place) => [table.name, tables[place][n]]));
    const {checks: own, quarter} = checkPart(artifact, part, rows, bytes, notShown);
    found.push(...own.map(check => shown(check, of)));
    if (quarter) quarters.push(quarter);
  }
  const loaded = found.every(check => !check.count || !["files", "manifest", "rows", "content", "bounds",
    "ids", "one region"].includes(check.name));
  const whole = loaded && quarters.length === parts.length;
  const refused = whole ? quarters.map(each => refusal([each])).find(Boolean) ?? "" : why;
  return result(found, [], {...about, notShown, why: refused, loaded: whole ? quarters : null});
}

/** The checks of one quarter, which can be asked afterwards.
 *
 * @param {Artifact} artifact
 * @param {Manifest} part
 * @param {Map<string, Rows>} tables
 * @param {Map<string, Uint8Array>} bytes
 * @param {string[]} notShown What this quarter does not show is added.
 * @returns {{checks: Check[], quarter: Quarter | null}} */
function checkPart(artifact, part, tables, bytes, notShown) {
  const place = artifact.several ? `${printable(part.quarter)}: ` : "";
  const rows = new Check("rows", 0), content = new Check("content", 0);
  for (const {name, file, rows: told, content_sha256: digest} of part.tables) {
    say(`checking the rows of ${file}`);
    const table = /** @type {Rows} */ (tables.get(name));
    rows.total += told;
    content.total += table.rows;
    if (table.rows !== told) rows.add(() => `${file}: ${name} has ${table.rows} rows, not ${told}`);
    if (contentDigest(table) !== digest) content.add(() => `${file}: the rows of ${name} were changed`);
  }
  const checks = [rows, content, checkTexts(part, [...tables.values()])];
  say(`${place}checking regions and values`);
  /** @type {Quarter} */
  let quarter;
  try {
    const empty = new Uint8Array();
    const {trees, faults} = readTrees(part, bytes.get(HIERARCHIES) ?? empty);
    const thresholds = readThresholds(artifact, part, bytes.get(THRESHOLDS) ?? empty);
    const cases = countsAlone(part) ? countedRegions(part, tables)
      : part.report_table === null ? NOBODY : casesOf(part, tables);
    quarter = {part, tables, thresholds, trees, cases};
    if (part.report_table !== null) checks.push(...checkRows(quarter, cases, faults));
    if (countsAlone(part)) checks.push(checkRegionCounts(quarter), checkBounds(quarter, cases, faults));
    for (const more of [checkTermKeys(quarter), checkSets(quarter)]) if (more) checks.push(more);
    checks.push(...checkToldCounts(quarter, notShown));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    checks.push(new Check("bounds", 0, [error.message]));
    return {checks, quarter: null};
  }
  const declaration = checkDeclaration(quarter);
  if (declaration) checks.push(declaration);
  else notShown.push(`${place}which columns are sensitive or identify, and the domains of these: this `
    + `page does not know version ${part.dataset_version} of dataset ${part.dataset}`);
  const figures = figuresNotShown(quarter);
  if (figures) notShown.push(figures);
  if (part.derived) notShown.push(`${place}what is claimed of derived columns, and that rows show no more `
    + "than their rules make (srsql verify checks it)");
  notShown.push(...notClaimed(part).map(([name, why]) => `${place}${name}: ${why}`));
  if (acceptedWords(part).length) notShown.push(`${place}that numbers in texts, which are ids of other `
    + "reports or cases as well, stand for something else, as its publisher says");
  if (part.tables.some(table => table.columns.some(({role, type}) => role.endsWith(" id")
      && type === "VARCHAR")))
    notShown.push(`${place}whether texts hold ids of several words: check it with srsql verify`);
  if (part.terms) notShown.push(`${place}that terms which are told apart from rows are k^m-anonymous: `
    + "check it with srsql verify");
  if (part.parameters.external_knowledge === "yes")
    notShown.push(`${place}thresholds with the external knowledge that the release took into account`);
  if (!BOUNDS_OF_MODELS.has(part.model))
    notShown.push(`${place}what the model ${printable(part.model)} promises, which this page does not `
      + "know");
  return {checks, quarter};
}

/** What the manifest claims, as names and values.
 *
 * @param {{parts: Manifest[]}} artifact
 * @returns {[string, string][]} */
function factsOf({parts}) {
  const [first] = parts, last = parts[parts.length - 1];
  /** @param {(part: Manifest) => number | null | undefined} of */
  const sum = of => parts.some(part => of(part) == null) ? "not told"
    : parts.reduce((total, part) => total + (of(part) ?? 0), 0).toLocaleString("en");
  const each = parts.length > 1 ? ", counted once in each quarter" : "";
  /** @type {[string, string][]} */
  const facts = [["dataset", `${first.dataset}, version ${first.dataset_version}`],
    ["series", first.series],
    ["quarter", first === last ? first.quarter : `${first.quarter} to ${last.quarter}`],
    ["model", [...new Set(parts.map(part => part.model))].join(", ")],
    ["k", [...new Set(parts.map(part => part.k))].join(", ")],
    ["theta", [...new Set(parts.map(part => part.parameters.theta ?? "not told"))].join(", ")],
    ["released", `${sum(part => part.counts.released_cases)} cases, `
      + `${sum(part => part.counts.released_reports)} reports${each}`],
    ["withheld", `${sum(part => part.counts.withheld_cases)} cases${each}`],
    ["format", `${first.format}, version ${first.artifact_version}, of srsql ${first.software_version}`],
    ["guarantee", first.guarantee]];
  return facts.map(([name, value]) => [name, printable(value, 2000)]);
}

/** What the artifact leaves unprotected, by its manifest and its thresholds.
 *
 * @param {Manifest[]} parts
 * @param {Quarter[]} quarters Those whose rows were read.
 * @returns {string[]} */
function notProtected(parts, quarters) {
  /** @param {(string | number)[]} told */
  const spread = told => {
    const [least, ...more] = [...new Set(told)].sort((one, two) => Number(one) - Number(two));
    return more.length ? `${least} to ${more[more.length - 1]}` : String(least);
  };
  /** @param {(part: Manifest) => string[]} of */
  const named = of => [...new Set(parts.flatMap(of))].join(", ") || "none";
  const roles = ["sensitive", "quasi-sensitive", "serial number", "published as it is"];
  const told = [`protected are the columns ${named(part => part.attributes.map(each => each.name))} alone`,
    `published as the reports have them: ${named(part => part.tables.flatMap(({name, columns}) => columns
      .filter(column => roles.includes(column.role)).map(column => `${name}.${column.name}`)))}`];
  const [{parameters}] = parts, items = parameters.known_items ?? "drugs or terms";
  for (const [count, key] of [["one", "1_item"], ["two", "2_items"], ["all", "all_items"]]) {
    const shares = parts.map(part => part.parameters[`one_candidate_percent_${key}`] ?? "");
    const other = parts.map(part => part.parameters[`one_candidate_percent_${key}_empty_is_anything`] ?? "");
    const beside = other.some(share => share !== "") // a quarter without it has one figure for both readings
      ? ` (${spread(other.map((share, n) => share === "" ? shares[n] : share))} % ` +
        "where an empty value may be anything)" : "";
    if (!shares.includes("")) told.push(`who knows the protected values of a patient and ${count} of the `
      + `patient's ${items} can be left with one candidate in ${spread(shares)} % of the cases${beside}`);
  }
  if (quarters.length) {
    const all = quarters.map(({thresholds}) => thresholds.values.size);
    const free = quarters.map(({thresholds}) =>
      [...thresholds.values.values()].filter(([num, den]) => num === den).length);
    // no value of a threshold that bounds nothing leaves nothing unprotected
    if (Math.max(...free)) told.push(`${spread(free)} of ${spread(all)} values have a threshold of 1: `
      + `everybody of a region may have them${quarters.length > 1 ? ", by quarter" : ""}`);
  }
  return told.map(each => printable(each, 2000));
}

/** What can be asked of quarters.
 *
 * @param {Quarter[]} quarters
 * @returns {Questions} */
function questionsOf(quarters) {
  const [{part: first, trees}] = quarters, parts = quarters.map(({part}) => part);
  const numbers = first.attributes.filter(attribute => attribute.kind === "numeric");
  const others = first.attributes.filter(attribute => attribute.kind === "categorical");
  return {quarters: parts.map(part => part.quarter),
    numbers: numbers.map(({name, unit}) => ({name, unit: unit ?? ""})),
    nodes: others.map(({name}) => ({name, nodes: [...(trees.get(name) ?? [])]
      .filter(([, parent]) => parent).map(([node]) => node).slice(0, 5000)})),
    columns: namedColumns(first)};
}

/** Answer one message of the page.
 *
 * @param {{open?: Entry[], ask?: Question & {quarter: string, ratio: boolean},
 *   suggest?: Group & {typed: string}}} message */
async function handled({open: entries, ask, suggest}) {
  if (entries) return {opened: await opened(entries)};
  if (suggest) return {suggested: suggestions(open.quarters, suggest, suggest.typed, 50)};
  if (!ask) return {};
  const chosen = open.quarters.filter(({part}) => !ask.quarter || part.quarter === ask.quarter);
  if (!chosen.length) throw new Fault("no artifact is open: choose its folder first");
  const question = withReleasedNames(chosen, ask);
  return ask.ratio ? {compared: disproportion(chosen, question)} : {answered: answer(chosen, question)};
}

addEventListener("message", async event => {
  try {
    postMessage(await handled(event.data));
  } catch (error) {
    const told = error instanceof Fault ? error.message
      : `this artifact is too large for the page, or unlike any other (${printable(error)}): check it `
        + "with srsql verify";
    postMessage({refused: told, question: Boolean(event.data.ask),
      fields: error instanceof Fault ? error.fields : []});
  }
});
