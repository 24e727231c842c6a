// The checks of files and claims: hashes, manifest, thresholds, hierarchies, declarations.

/** What each check proves, in the order in which they are made. */
const CHECKS = new Map([
  ["files", "every file is there, as it was hashed, and no other"],
  ["manifest", "the manifest can be read and agrees with the files"],
  ["columns", "every table can be read and has the declared columns and no other"],
  ["rows", "every table has as many rows as the manifest says"],
  ["content", "the rows are those that were published, whatever their encoding"],
  ["texts", "no text holds a line end or control character, is longer than its column may be, or holds "
    + "the id of another report or case"],
  ["ids", "a report has one row and one case; every other row belongs to one"],
  ["order", "rows stand in the order of their ids"],
  ["period", "every report is of the quarter of the release"],
  ["counts", "cases and reports are as many as the manifest says"],
  ["bounds", "regions lie in the declared domains, on the granularity, at nodes of hierarchies"],
  ["one region", "all reports of a case have the same region"],
  ["k", "at least k cases share every region"],
  ["theta", "no value is held by a larger share of a region's cases than its threshold"],
  ["thresholds", "thresholds are given of released values only, each once, as the parameters say"],
  ["term keys", "beside every term stands the key of its spelling, by which terms are compared"],
  ["regions", "every region counts k cases or more, once, and all of them are the released cases"],
  ["strata", "the strata of counts follow from the cuts that the manifest tells"],
  ["told units", "cases by stratum are those of the rows"],
  ["told counts", "no count is below k, told twice, of other columns, or of a stratum within another"],
  ["told shares", "no count is more of what it is part of than its threshold and k allow"],
  ["bridges", "no two known items force a third one on more than its threshold allows"],
  ["sets", "each quasi-identifier is in a protected set, and what all sets single out is as told"],
  ["declaration", "roles, domains and hierarchies are the dataset's, where it ships with srsql"],
  ["series", "the artifacts follow each other in one series, with ids that can be compared"],
  ["new k", "at least k cases of every region are in no earlier release"],
  ["new theta", "thresholds hold among the cases that are in no earlier release"],
  ["cover", "a later region of a case covers its first one"],
]);
/** Checks of several quarters together. */
const OF_SERIES = ["series", "new k", "new theta", "cover"];
/** The check of what is only claimed where sets of quasi-identifiers are protected each by itself. */
const OF_SETS = "sets";
/** The check of artifacts whose terms have keys. */
const OF_KEYS = "term keys";
const OF_ROWS = [...CHECKS.keys()].slice(2, -OF_SERIES.length)
  .filter(name => name !== OF_SETS && name !== OF_KEYS && name !== "regions" && !OF_COUNTS.includes(name));
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
  "the public report, README, data dictionary and documents for catalogues beyond their hashes, the "
    + "wording of the guarantee, and the policy that thresholds follow (srsql verify checks them)",
];
/** The same of one quarter alone. */
const ALONE = "what joining releases tells: new cases, covers and presence over quarters; open the "
  + "artifacts of the other quarters with it";

/** One check: how many things it looked at, and where it fails. */
class Check {
  /** @param {string} name
   * @param {number} total
   * @param {string[]} faults */
  constructor(name, total, faults = []) {
    this.name = name;
    this.total = total;
    this.count = 0;
    /** What the rows come closest to; empty: nothing is said of it. */
    this.note = "";
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
 *   trees: Map<string, Tree>, cases: Cases, counts?: CountTables}} Quarter One quarter with its rows.
 */

/** The thresholds of one quarter, by their value as terms are compared.
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
    const key = thresholdValue(part, value);
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
  if (part.counted) for (const name of ["theta", "thresholds"])
    skipped.push([name, "no row shows an item: see told shares"]);
  return skipped;
}

/** A number of the manifest; null: it is not told.
 * @param {string | number | null | undefined} told */
const decimal = told => told === null || told === undefined ? null : Decimal.of(String(told));

/** The check of roles, domains and hierarchies against the datasets that ship with srsql.
 *
 * @param {Quarter} quarter
 * @returns {Check | null} Null: the dataset is a user's, or of another version. */
function checkDeclaration({part, trees}) {
  const shipped = SHIPPED.find(dataset => dataset.name === part.dataset
    && (dataset.version === part.dataset_version || dataset.earlier.includes(part.dataset_version)));
  if (!shipped) return null;
  const check = new Check("declaration", 0), keyed = termKeyOf(part) > 0;
  const roles = new Map(shipped.columns.filter(([, role]) => keyed || role !== OF_KEY));
  if (shipped.version !== part.dataset_version) for (const name of shipped.optional) roles.delete(name);
  const apart = (part.terms?.attributes ?? []).map(name => name.split("/")[0]);
  for (const table of part.tables) {
    if (part.terms && TERM_TABLES.has(table.name)) continue;
    if (part.counted && (COUNT_TABLES.has(table.name) || table.name === REGION_COUNT)) continue;
    for (const column of table.columns) {
      const due = roles.get(`${table.name}.${column.name}`);
      check.total += 1;
      const most = shipped.lengths[`${table.name}.${column.name}`] ?? null;
      if ((column.max_length ?? null) !== most)
        check.add(() => `texts of ${table.name}.${column.name} may have another length than the dataset `
          + `${part.dataset} says`);
      if (due !== column.role && !(wholeRows(part) && column.role === "cluster"))
        check.add(() => `${table.name}.${column.name} is told as ${column.role}, and the dataset `
          + `${part.dataset} says ${due ?? "that it is not published"}`);
    }
  }
  const published = new Set(part.tables.flatMap(table =>
    table.columns.map(column => `${table.name}.${column.name}`)));
  for (const [name, role] of roles)
    if (role === "sensitive" && part.report_table !== null && !wholeRows(part) && !part.counted
        && !published.has(name) && !apart.includes(name.split(".")[1]))
      check.add(() => `${name}, which is sensitive, is not published`);
  /** @param {Attribute} attribute */
  const shape = ({name, kind, unit, granularity, low, high}) => JSON.stringify(
    [name, kind, unit ?? "", ...[granularity, low, high].map(told => {
      const number = decimal(told);
      return number ? [String(number.at(18))] : null;
    })]);
  const due = regionTable(part) ? shipped.attributes.map(shape) : [];
  const told = part.attributes.map(shape);
  check.total += due.length;
  if (due.join() !== told.join())
    check.add(() => `the quasi-identifiers are not as the dataset ${part.dataset} declares them`);
  if (part.qid_sets) check.add(() => `sets of quasi-identifiers are protected each by itself, and the `
    + `dataset ${part.dataset} declares none`);
  for (const [name, nodes] of regionTable(part) ? shipped.trees : []) {
    const found = JSON.stringify([...(trees.get(name) ?? [])].sort());
    if (found !== JSON.stringify([...nodes].sort()))
      check.add(() => `the hierarchy of ${name} is not that of the dataset ${part.dataset}`);
  }
  return check;
}
