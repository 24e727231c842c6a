// The work behind the page, in a thread of its own that the page can stop at any time.

/**
 * @typedef {{path: string, file: Blob}} Entry
 * @typedef {{name: string, of: string, proves: string, total: number, count: number,
 *   places: string[]}} Shown A check and what it found; of: its quarter, or "" for all.
 * @typedef {{passed: boolean, checks: Shown[], notRun: string[], notShown: string[],
 *   facts: [string, string][], asked: Questions | null, why: string}} Verified
 * @typedef {{quarters: string[], numbers: {name: string, unit: string}[],
 *   nodes: {name: string, nodes: string[]}[], columns: Group[]}} Questions
 */

/** Files of a folder, at most. */
const MOST_FILES = 1000;
/** The quarters of the artifact that is open, and their cases. */
const open = {quarters: /** @type {Quarter[]} */ ([]), cases: /** @type {Map<string, Cases>} */ (new Map())};

/** @param {string} words */
const say = words => postMessage({progress: words});

/** The files of the artifact's folder, and what is no plain file of it.
 *
 * @param {Entry[]} entries */
function sorted(entries) {
  const paths = entries.map(({path}) => path.split("/"));
  const top = paths.length && paths.every(path => path.length > 1 && path[0] === paths[0][0]) ? 1 : 0;
  const plain = new Map(), strange = [];
  for (const [n, {path, file}] of entries.entries())
    if (paths[n].length === top + 1 && !plain.has(paths[n][top])) plain.set(paths[n][top], file);
    else strange.push(path);
  return {plain, strange};
}

/** Open an artifact and check it.
 *
 * @param {Entry[]} entries
 * @returns {Promise<Verified>} */
async function opened(entries) {
  open.quarters = [];
  open.cases = new Map();
  const {plain, strange} = sorted(entries);
  if (!plain.has(MANIFEST) && !plain.has(SUMS))
    throw new Fault(`this is no artifact (no ${MANIFEST}, no ${SUMS}): give the folder that srsql `
      + "publish wrote");
  if (entries.length > MOST_FILES)
    throw new Fault(`the folder has more than ${MOST_FILES} files, which no artifact has: give the `
      + "folder that srsql publish wrote");
  /** @type {Map<string, Uint8Array>} */
  const bytes = new Map();
  /** @type {Map<string, string>} */
  const digests = new Map();
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
    return await checked(readManifest(bytes.get(MANIFEST) ?? new Uint8Array()), checks, bytes, digests);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const told = bytes.has(MANIFEST) ? error.message : `${MANIFEST} is missing`;
    return result([...checks, new Check("manifest", 1, [told])].map(check => shown(check)), OF_ROWS);
  }
}

/** @param {Check} check
 * @param {string} of Its quarter, where there are several.
 * @returns {Shown} */
function shown(check, of = "") {
  const {name, total, count, places} = check;
  return {name, of, proves: CHECKS.get(name) ?? "", total, count, places};
}

/** @param {Shown[]} checks
 * @param {string[]} notRun
 * @param {Partial<Verified>} [more]
 * @returns {Verified} */
function result(checks, notRun, more = {}) {
  const passed = !notRun.length && checks.every(check => !check.count);
  return {passed, checks, notRun, notShown: NEVER_SHOWN, facts: [], asked: null, why: "", ...more};
}

/** Check an artifact whose manifest can be read.
 *
 * @param {Artifact} artifact
 * @param {Check[]} checks
 * @param {Map<string, Uint8Array>} bytes
 * @param {Map<string, string>} digests */
async function checked(artifact, checks, bytes, digests) {
  const facts = factsOf(artifact), [first] = artifact.parts;
  checks.push(checkManifest(artifact, digests));
  const found = checks.map(check => shown(check));
  const why = "only rows that are as they were published are counted: see what failed";
  if (shapeFaults(artifact).length) return result(found, OF_ROWS, {facts, why});
  if (first.format !== "csv") {
    const other = `the tables are ${first.format} files, which this page does not read: ask the `
      + "publisher for the artifact as CSV (srsql publish --format csv), or check it with srsql verify";
    return result(found, OF_ROWS, {facts, why: other});
  }
  const columns = new Check("columns", first.tables.length);
  const tables = first.tables.map((table, place) => {
    say(`reading ${table.file}`);
    const content = bytes.get(table.file);
    bytes.delete(table.file);
    try {
      if (!content) throw new Fault(`${table.file} is missing`);
      const read = readTable(artifact, place, content);
      for (const fault of read.faults) columns.add(() => fault);
      return read.tables;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      columns.add(() => error.message);
      return [];
    }
  });
  found.push(shown(columns));
  if (columns.count) return result(found, OF_ROWS.slice(1), {facts, why});
  const notShown = [...NEVER_SHOWN];
  for (const [n, part] of artifact.parts.entries()) {
    const of = artifact.several ? part.quarter : "";
    const rows = new Map(part.tables.map((table, place) => [table.name, tables[place][n]]));
    found.push(...checkPart(artifact, part, rows, bytes, notShown).map(check => shown(check, of)));
  }
  const loaded = found.every(check => !check.count || !["files", "manifest", "rows", "content", "bounds",
    "ids", "one region"].includes(check.name));
  const refused = loaded
    ? open.quarters.map(each => refusal([each], open.cases)).find(Boolean) ?? "" : why;
  return result(found, [], {facts, notShown, why: refused,
    asked: refused ? null : questionsOf(artifact)});
}

/** The checks of one quarter, which can be asked afterwards.
 *
 * @param {Artifact} artifact
 * @param {Manifest} part
 * @param {Map<string, Rows>} tables
 * @param {Map<string, Uint8Array>} bytes
 * @param {string[]} notShown What this quarter does not show is added. */
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
  const checks = [rows, content];
  say(`${place}checking regions and values`);
  /** @type {Quarter} */
  let quarter;
  try {
    const empty = new Uint8Array();
    const {trees, faults} = readTrees(part, bytes.get(HIERARCHIES) ?? empty);
    const thresholds = readThresholds(artifact, part, bytes.get(THRESHOLDS) ?? empty);
    quarter = {part, tables, thresholds, trees};
    if (part.report_table !== null) {
      const cases = casesOf(quarter);
      open.cases.set(part.quarter, cases);
      checks.push(...checkRows(quarter, cases, faults));
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    checks.push(new Check("bounds", 0, [error.message]));
    return checks;
  }
  open.quarters.push(quarter);
  const declaration = checkDeclaration(quarter);
  if (declaration) checks.push(declaration);
  else notShown.push(`${place}which columns are sensitive or identify, and the domains of these: this `
    + `page does not know version ${part.dataset_version} of dataset ${part.dataset}`);
  if (part.derived) notShown.push(`${place}what is claimed of derived columns, and that rows show no more `
    + "than their rules make (srsql verify checks it)");
  if (part.qid_sets) notShown.push(`${place}what the sets of quasi-identifiers single out together, which `
    + "the manifest tells (srsql verify checks it)");
  notShown.push(...notClaimed(part).map(([name, why]) => `${place}${name}: ${why}`));
  if (part.terms) notShown.push(`${place}that terms which are told apart from rows are k^m-anonymous: `
    + "check it with srsql verify");
  if (part.parameters.external_knowledge === "yes")
    notShown.push(`${place}thresholds with the external knowledge that the release took into account`);
  if (!BOUNDS_OF_MODELS.has(part.model))
    notShown.push(`${place}what the model ${printable(part.model)} promises, which this page does not `
      + "know");
  return checks;
}

/** What the manifest claims, as names and values.
 *
 * @param {Artifact} artifact
 * @returns {[string, string][]} */
function factsOf({parts}) {
  const [first] = parts, last = parts[parts.length - 1];
  /** @param {(part: Manifest) => number | null | undefined} of */
  const sum = of => parts.some(part => of(part) == null) ? "not told"
    : String(parts.reduce((total, part) => total + (of(part) ?? 0), 0));
  /** @type {[string, string][]} */
  const facts = [["dataset", `${first.dataset}, version ${first.dataset_version}`],
    ["series", first.series],
    ["quarter", first === last ? first.quarter : `${first.quarter} to ${last.quarter}`],
    ["model", [...new Set(parts.map(part => part.model))].join(", ")],
    ["k", [...new Set(parts.map(part => part.k))].join(", ")],
    ["theta", [...new Set(parts.map(part => part.parameters.theta ?? "not told"))].join(", ")],
    ["released", `${sum(part => part.counts.released_cases)} cases, `
      + `${sum(part => part.counts.released_reports)} reports`],
    ["withheld", `${sum(part => part.counts.withheld_cases)} cases`],
    ["format", `${first.format}, version ${first.artifact_version}, of srsql ${first.software_version}`],
    ["guarantee", first.guarantee]];
  return facts.map(([name, value]) => [name, printable(value, 2000)]);
}

/** What can be asked of an artifact.
 *
 * @param {Artifact} artifact
 * @returns {Questions} */
function questionsOf({parts}) {
  const [first] = parts, [{trees}] = open.quarters;
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
 * @param {{open?: Entry[], ask?: Question & {quarter: string},
 *   suggest?: Group & {typed: string}}} message */
async function handled({open: entries, ask, suggest}) {
  if (entries) return {opened: await opened(entries)};
  if (suggest) return {suggested: suggestions(open.quarters, suggest, suggest.typed, 50)};
  if (!ask) return {};
  const chosen = open.quarters.filter(({part}) => !ask.quarter || part.quarter === ask.quarter);
  if (!chosen.length) throw new Fault("no artifact is open: choose its folder first");
  return {answered: answer(chosen, open.cases, ask)};
}

addEventListener("message", async event => {
  try {
    postMessage(await handled(event.data));
  } catch (error) {
    const told = error instanceof Fault ? error.message
      : `this artifact is too large for the page, or unlike any other (${printable(error)}): check it `
        + "with srsql verify";
    postMessage({refused: told});
  }
});
