// Counts that tell items in the place of rows: the rules by which they are told, and what they answer.

/** @type {Map<string, [string, string, string][]>} Table -> name, type and role of its columns. */
const COUNT_TABLES = new Map([
  ["stratum", [["stratum", "VARCHAR", "stratum"], ["parent", "VARCHAR", "stratum"],
    ["column", "VARCHAR", "cut"], ["value", "VARCHAR", "cut"], ["low", "DECIMAL(18, 6)", "cut"],
    ["below", "DECIMAL(18, 6)", "cut"], ["inside", "BIGINT", "cut"]]],
  ["case_count", [["stratum", "VARCHAR", "stratum"], ["cases", "BIGINT", "cases"]]],
  ["item_count", [["stratum", "VARCHAR", "stratum"], ["attribute", "VARCHAR", "counted column"],
    ["term", "VARCHAR", "term"], ["cases", "BIGINT", "cases"]]],
  ["pair_count", [["stratum", "VARCHAR", "stratum"], ["attribute", "VARCHAR", "counted column"],
    ["term", "VARCHAR", "term"], ["other_attribute", "VARCHAR", "counted column"],
    ["other_term", "VARCHAR", "term"], ["cases", "BIGINT", "cases"]]],
]);
const CELLS_OF = ["case_count", "item_count", "pair_count"], ROOT = "all", MOST_LEAVES = 1000;
const OF_COUNTS = ["strata", "told units", "told counts", "told shares", "bridges"];
/** Table of the cases of each region, in the place of the report table, and its last column. */
const REGION_COUNT = "region_count", OF_REGION = ["cases", "BIGINT", "cases"];
/** Cases of an artifact that this page counts one by one. */
const MOST_COUNTED = 20_000_000;

/**
 * @typedef {{attribute: string, value?: string | null, low?: string | number | null,
 *   below?: string | number | null}} Cut
 * @typedef {{k: number, attributes: string[], sensitive: string[], pairs: string[][],
 *   cuts: Cut[]}} CountsClaim
 * @typedef {{parent: string | null, cut: Cut | null, inside: boolean | null}} Stratum
 * @typedef {[string, string | null]} Item
 * @typedef {{items: Item[], told: Map<string, number>, sums: Map<string, number>}} Counted Of one key.
 * @typedef {{strata: Map<string, Stratum>, paths: Map<string, string[]>,
 *   children: Map<string, string[]>, keys: Map<string, Counted>}} CountTables
 */

/** Whether counts of regions stand in the place of rows of cases.
 * @param {Manifest} part */
const countsAlone = part => part.report_table === null && Boolean(part.counted);

/** The table that shows regions: the report table, or the counts of regions.
 * @param {Manifest} part */
const regionTable = part => part.report_table ?? (part.counted ? REGION_COUNT : "");

/** The cases of counts of regions, which have no id: as many as each region counts, by number.
 *
 * @param {Manifest} part
 * @param {Map<string, Rows>} tables
 * @returns {Cases} */
function countedRegions(part, tables) {
  const reports = /** @type {Rows} */ (tables.get(REGION_COUNT)), byText = new Map();
  const regions = /** @type {string[]} */ ([]), pairs = /** @type {number[][]} */ ([]);
  const regionRow = /** @type {number[]} */ ([]), cases = /** @type {number[]} */ ([]);
  for (let row = 0; row < reports.rows; row++) {
    const told = regionText(part, reports, row, null), number = Number(cell(reports, "cases", row) ?? 0);
    if (!(number >= 0 && cases.length + number <= MOST_COUNTED))
      throw new Fault(`${REGION_COUNT} counts more cases than this page can, or fewer than none`);
    if (!byText.has(told)) {
      byText.set(told, regions.length);
      regions.push(told);
      regionRow.push(row);
    }
    for (let n = 0; n < number; n++) {
      pairs.push([byText.get(told), cases.length]);
      cases.push(cases.length);
    }
  }
  return {caseOf: new Int32Array(0), reports, cases, regions, regionRow, pairs};
}

/** Every region counts k cases or more and is there once; together they are the released ones.
 *
 * @param {Quarter} quarter */
function checkRegionCounts({part, cases}) {
  const {reports, regions} = cases, check = new Check("regions", reports.rows), {counts} = part;
  for (let row = 0; row < reports.rows; row++) {
    const told = cell(reports, "cases", row);
    if (told === null || Number(told) < part.k) check.add(() => `${regionText(part, reports, row, null)} `
      + `counts ${told ?? "no"} cases, and k is ${part.k}`);
  }
  if (regions.length < reports.rows) check.add(() => "a region is there twice");
  if (cases.cases.length !== counts.released_cases || counts.released_cases !== counts.released_reports)
    check.add(() => `regions count ${cases.cases.length} cases, the manifest tells `
      + `${counts.released_cases} cases and ${counts.released_reports} reports, which are cases here`);
  if (part.parameters.k_effective !== part.k) check.add(() => `k_effective is not k, ${part.k}`);
  return check;
}

/** A number without zeros at its end.
 * @param {string | number} told */
const plain = told => String(told).replace(/([.][0-9]*?)0+$/, "$1").replace(/[.]$/, "");

/** What lies within a cut, in words.
 * @param {Cut} cut */
function cutWords({value, low, below}) {
  if (value != null) return value;
  if (low == null) return `under ${plain(below ?? "")}`;
  return below == null ? `${plain(low)}+` : `${plain(low)} to under ${plain(below)}`;
}

/** The tree that follows from cuts; null: it would be too large.
 *
 * @param {Cut[]} cuts
 * @returns {Map<string, Stratum> | null} */
function dueStrata(cuts) {
  /** @type {Map<string, Cut[]>} */
  const chains = new Map();
  for (const cut of cuts) chains.set(cut.attribute, [...chains.get(cut.attribute) ?? [], cut]);
  const sizes = [...chains.values()].map(chain => chain.length + 1);
  if (sizes.reduce((product, size) => product * size, 1) > MOST_LEAVES) return null;
  /** @type {Map<string, Stratum>} */
  const found = new Map([[ROOT, {parent: null, cut: null, inside: null}]]);
  let leaves = [{name: ROOT, before: ""}];
  for (const [attribute, chain] of chains)
    leaves = leaves.flatMap(({name, before}) => {
      const finer = [], passed = /** @type {string[]} */ ([]);
      let at = name;
      for (const cut of chain) {
        passed.push(cutWords(cut));
        const closing = chain.length > 1 && passed.length === chain.length;
        const inner = `${before}${attribute} ${passed[passed.length - 1]}`;
        const outer = `${before}${attribute} ${closing ? "other" : `not ${passed.join(" nor ")}`}`;
        found.set(inner, {parent: at, cut, inside: true});
        found.set(outer, {parent: at, cut, inside: false});
        finer.push({name: inner, before: `${inner}, `});
        at = outer;
      }
      return [...finer, {name: at, before: `${at}, `}];
    });
  return found;
}

/** A text of a table, in a row.
 * @param {Rows} table
 * @param {string} name
 * @param {number} row */
const cell = (table, name, row) =>
  valueAt(/** @type {Column} */ (table.columns.find(column => column.name === name)), row);

/** Whether two numbers are told alike, or both not.
 * @param {string | number | null | undefined} one
 * @param {string | number | null | undefined} other */
function sameNumber(one, other) {
  const [a, b] = [decimal(one), decimal(other)];
  return a && b ? a.compare(b) === 0 : a === b;
}

/** @param {Quarter} quarter
 * @param {Map<string, Stratum> | null} due */
function checkStrata({part, tables, trees}, due) {
  const claim = /** @type {CountsClaim} */ (part.counted), check = new Check("strata", 0);
  const table = /** @type {Rows} */ (tables.get("stratum")), seen = new Set();
  if (!due) check.add(() => "the cuts make more strata than any release has");
  for (const cut of claim.cuts) {
    const about = part.attributes.find(attribute => attribute.name === cut.attribute);
    const asksNode = about?.kind === "categorical", node = trees.get(cut.attribute)?.get(cut.value ?? "");
    if (!about || (asksNode ? !node : cut.value != null || (cut.low == null && cut.below == null)))
      check.add(() => `cut ${printable(cut.attribute)} ${printable(cutWords(cut))} asks for nothing that a `
        + "region can have");
  }
  check.total = table.rows;
  for (let row = 0; row < table.rows; row++) {
    const name = cell(table, "stratum", row) ?? "", wanted = due?.get(name);
    const inside = cell(table, "inside", row);
    const right = wanted && !seen.has(name) && wanted.parent === cell(table, "parent", row)
      && (wanted.cut?.attribute ?? null) === cell(table, "column", row)
      && (wanted.cut?.value ?? null) === cell(table, "value", row)
      && sameNumber(wanted.cut?.low, cell(table, "low", row))
      && sameNumber(wanted.cut?.below, cell(table, "below", row))
      && inside === (wanted.inside === null ? null : String(Number(wanted.inside)));
    seen.add(name);
    if (!right) check.add(() => `stratum ${printable(name)} does not follow from the cuts`);
  }
  for (const name of due?.keys() ?? [])
    if (!seen.has(name)) check.add(() => `stratum ${printable(name)} is missing`);
  return check;
}

/** A key as a text, its items in one order.
 * @param {Item[]} items */
const keyText = items => JSON.stringify([...items].sort((one, two) =>
  byCodePoint(JSON.stringify(one), JSON.stringify(two))));
/** @param {Item[]} items */
const keyWords = items => items.length
  ? items.map(([name, term]) => `${printable(name)} ${term === null ? "(other)" : printable(term)}`)
    .join(" and ") : "the number of cases";

/** The told cells of a quarter by their keys, and what is wrong with single ones.
 *
 * @param {Quarter} quarter
 * @param {Map<string, Stratum>} strata
 * @returns {{found: CountTables, check: Check}} */
function countTablesOf({part, tables}, strata) {
  const claim = /** @type {CountsClaim} */ (part.counted), check = new Check("told counts", 0);
  const kinds = new Set(claim.pairs.flatMap(([one, other]) => [`${one} ${other}`, `${other} ${one}`]));
  const paths = new Map(), children = new Map(), keys = /** @type {Map<string, Counted>} */ (new Map());
  for (const [name, {parent}] of strata) {
    const path = [name];
    for (let at = parent; at !== null; at = strata.get(at)?.parent ?? null) path.push(at);
    paths.set(name, path);
    if (parent !== null) children.set(parent, [...children.get(parent) ?? [], name]);
  }
  for (const of of CELLS_OF) {
    const table = /** @type {Rows} */ (tables.get(of));
    check.total += table.rows;
    for (let row = 0; row < table.rows; row++) {
      const items = /** @type {Item[]} */ ([["attribute", "term"], ["other_attribute", "other_term"]]
        .slice(0, CELLS_OF.indexOf(of)).map(([a, t]) => [cell(table, a, row) ?? "", cell(table, t, row)]));
      const stratum = cell(table, "stratum", row) ?? "", cases = Number(cell(table, "cases", row) ?? 0);
      const counted = items.every(([name]) => claim.attributes.includes(name));
      const together = items.length < 2 || kinds.has(`${items[0][0]} ${items[1][0]}`);
      const key = keyText(items), own = keys.get(key) ?? {items, told: new Map(), sums: new Map()};
      if (!strata.has(stratum) || !counted || !together || cases < claim.k || own.told.has(stratum)) {
        check.add(() => `${keyWords(items)} of ${printable(stratum)} is ${cases}: below ${claim.k}, told `
          + "twice, or of columns or a stratum that are not told");
        continue;
      }
      keys.set(key, own);
      own.told.set(stratum, cases);
      for (const at of paths.get(stratum)) own.sums.set(at, (own.sums.get(at) ?? 0) + cases);
    }
  }
  for (const {items, told} of keys.values())
    for (const stratum of told.keys())
      if (paths.get(stratum).slice(1).some((/** @type {string} */ at) => told.has(at)))
        check.add(() => `${keyWords(items)} is told of ${printable(stratum)} and of what it lies in`);
  return {found: {strata, paths, children, keys}, check};
}

/** How many cases of a stratum hold a key; null: not known.
 *
 * @param {CountTables} tables
 * @param {Item[]} items
 * @param {string} stratum */
function casesWith({keys, paths}, items, stratum) {
  const own = keys.get(keyText(items));
  if (!own) return null;
  const sum = own.sums.get(stratum);
  if (sum !== undefined) return sum;
  return (paths.get(stratum) ?? []).some(at => own.told.has(at)) ? null : 0;
}

/** The leaf of the strata of each region.
 *
 * @param {Quarter} quarter
 * @param {CountTables} of
 * @returns {string[]} */
function leavesOf({part, trees, cases}, {strata, children}) {
  return cases.regionRow.map(row => {
    let at = ROOT;
    for (let parts = children.get(at); parts; parts = children.get(at)) {
      const [inner, outer] = strata.get(parts[0])?.inside ? parts : [...parts].reverse();
      const cut = /** @type {Cut} */ (strata.get(inner)?.cut);
      const shown = regionColumns(cases.reports.columns, attributeOf(part, cut.attribute))
        .map(column => valueAt(/** @type {Column} */ (column), row));
      at = liesWithin(cut, shown, trees.get(cut.attribute)) ? inner : outer;
    }
    return at;
  });
}

/** @param {Cut} cut
 * @param {(string | null)[]} shown
 * @param {Tree | undefined} tree */
function liesWithin({value, low, below}, shown, tree) {
  if (value != null) {
    const passed = new Set();
    for (let at = shown[0]; at && !passed.has(at); at = tree?.get(at) ?? null) {
      if (at === value) return true;
      passed.add(at);
    }
    return false;
  }
  const [first, last] = shown.map(decimal), [from, to] = [decimal(low), decimal(below)];
  return (!from || (first !== null && first.compare(from) >= 0))
    && (!to || (last !== null && last.compare(to) < 0));
}

/** The numbers of cases are those of the rows; where earlier releases have some, no more.
 *
 * @param {Quarter} quarter
 * @param {CountTables} found */
function checkToldUnits(quarter, found) {
  const leaves = leavesOf(quarter, found), rows = new Map(), {part, cases} = quarter;
  const own = found.keys.get(keyText([]))?.told ?? new Map(), check = new Check("told units", own.size);
  for (const [region] of cases.pairs)
    for (const at of found.paths.get(leaves[region]) ?? []) rows.set(at, (rows.get(at) ?? 0) + 1);
  /** @param {string} at */
  const size = at => rows.get(at) ?? 0;
  if (part.earlier_releases.length && !countsAlone(part)) {
    for (const [at, told] of own)
      if (told > size(at)) check.add(() => `${told} cases of ${printable(at)} are counted, of ${size(at)}`);
    return check;
  }
  const k = /** @type {CountsClaim} */ (part.counted).k, due = new Map();
  const open = size(ROOT) < k ? [] : [ROOT];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const parts = found.children.get(at) ?? [];
    if (parts.length && parts.every(each => size(each) === 0 || size(each) >= k))
      open.push(...parts.filter(each => size(each) > 0));
    else due.set(at, size(at));
  }
  for (const at of new Set([...own.keys(), ...due.keys()]))
    if (own.get(at) !== due.get(at)) check.add(() => `cases of ${printable(at)} are told as `
      + `${own.get(at) ?? "none"}, by the rows they are ${due.get(at) ?? "not told"}`);
  return check;
}

/** The threshold of an item; null: it has none.
 *
 * @param {Quarter} quarter
 * @param {Item} item
 * @returns {[bigint, bigint] | null} */
function itemTheta({part, thresholds}, [name, term]) {
  if (term === null || !part.counted?.sensitive.includes(name)) return null;
  return thresholds.values.get(thresholdValue(part, term)) ?? [0n, 1n];
}

/** Whether so many of a whole are more than a threshold allows.
 *
 * @param {number} cases
 * @param {number} whole
 * @param {[bigint, bigint] | null} theta */
const exceeds = (cases, whole, theta) =>
  theta !== null && BigInt(cases) * theta[1] > BigInt(whole) * theta[0];

/** No count is more of what it is part of than its threshold and k allow (rule R2).
 *
 * @param {Quarter} quarter
 * @param {CountTables} found */
function checkToldShares(quarter, found) {
  const check = new Check("told shares", 0), {part, thresholds} = quarter;
  const {k, sensitive} = /** @type {CountsClaim} */ (part.counted), told = new Set();
  for (const fault of thresholds.faults) check.add(() => fault);
  for (const {items, told: cells} of found.keys.values()) {
    check.total += cells.size;
    const [one] = items;
    if (items.length === 1 && one[1] !== null && sensitive.includes(one[0])) {
      told.add(thresholdValue(part, one[1]));
      const theta = thresholds.values.get(thresholdValue(part, one[1]));
      if (!theta) check.add(() => `${keyWords(items)} is told, and has no threshold`);
      else if (theta[0] > 0n && theta[0] < theta[1] && BigInt(k) * theta[0] < theta[1])
        check.add(() => `k of counts is ${k}, less than 1 / theta of ${keyWords(items)}`);
    }
    for (const [stratum, cases] of cells)
      for (const item of items) {
        const others = items.filter(each => each !== item), whole = casesWith(found, others, stratum);
        const theta = itemTheta(quarter, item), left = (whole ?? 0) - cases;
        if (whole === null || left < 0 || exceeds(cases, whole, theta)
            || (items.length === 1 && left > 0 && left < k))
          check.add(() => `${keyWords(items)} of ${printable(stratum)} is ${cases}, of ${whole ?? "an "
            + "unknown number"} with ${keyWords(others)}`);
      }
  }
  for (const value of thresholds.values.keys())
    if (!told.has(value)) check.add(() => `${printable(value)} has a threshold, and no count`);
  return check;
}

/** Two known items force no third one on more than its threshold allows (rule G3).
 *
 * @param {Quarter} quarter
 * @param {CountTables} found
 * @returns {{check: Check, open: number}} open: of so many the joint count is not told. */
function checkBridges(quarter, found) {
  const check = new Check("bridges", 0);
  /** @type {Map<string, {item: Item, stratum: string, partners: [number, Item][]}>} */
  const met = new Map();
  let open = 0;
  for (const {items, sums} of found.keys.values())
    for (const item of items.length === 2 ? items : []) {
      const theta = itemTheta(quarter, item), [other] = items.filter(each => each !== item);
      if (!theta || theta[0] >= theta[1]) continue;
      for (const [stratum, cases] of sums) {
        const key = JSON.stringify([item, stratum]);
        const own = met.get(key) ?? {item, stratum, partners: []};
        met.set(key, own);
        own.partners.push([cases, other]);
      }
    }
  for (const {item, stratum, partners} of met.values()) {
    const holders = casesWith(found, [item], stratum);
    if (holders === null) continue;
    partners.sort((one, two) => two[0] - one[0]);
    for (const [n, [cases, one]] of partners.entries()) {
      if (2 * cases <= holders) break;
      for (const [beside, other] of partners.slice(n + 1)) {
        const forced = cases + beside - holders;
        if (forced <= 0) break;
        check.total += 1;
        let joint = casesWith(found, [one, other], stratum);
        if (joint === null) {
          open += 1;
          joint = Math.min(...[one, other].map(each => casesWith(found, [each], stratum) ?? holders));
        }
        if (exceeds(forced, joint, itemTheta(quarter, item)))
          check.add(() => `${forced} of ${joint} cases of ${printable(stratum)} with `
            + `${keyWords([one, other])} must hold ${keyWords([item])}`);
      }
    }
  }
  return {check, open};
}

/** Every check of the counts of a quarter; none where rows show items.
 *
 * @param {Quarter} quarter
 * @param {string[]} notShown Gets what the counts do not show.
 * @returns {Check[]} */
function checkToldCounts(quarter, notShown) {
  const {part} = quarter, when = printable(part.quarter);
  if (!part.counted) return [];
  const due = dueStrata(part.counted.cuts), strata = checkStrata(quarter, due);
  if (!due || strata.count)
    return [strata, ...OF_COUNTS.slice(1).map(name => new Check(name, 0, ["there is no tree of strata"]))];
  const {found, check} = countTablesOf(quarter, due);
  quarter.counts = found;
  const bridges = checkBridges(quarter, found);
  notShown.push(`${when}: that counts are those of the released cases, and that told items leave data sets `
    + "in which thresholds hold (rules G1 and G2; srsql verify checks these)");
  if (bridges.open) notShown.push(`${when}: rule G3 of ${bridges.open} triples of which the joint count is `
    + "not told");
  if (countsAlone(part)) notShown.push(`${when}: that counts are of the cases that no earlier release `
    + "has: no row is a case's, and no id is published");
  else if (part.earlier_releases.length)
    notShown.push(
      `${when}: that counts are of the cases that no earlier release has (srsql verify checks it)`);
  return [strata, checkToldUnits(quarter, found), check, checkToldShares(quarter, found), bridges.check];
}

/** What a manifest must not say of counts.
 *
 * @param {Manifest} part
 * @returns {string[]} */
function countedFaults(part) {
  const claim = part.counted, told = part.parameters, faults = [], alone = countsAlone(part);
  const model = BOUNDS_OF_MODELS.get(part.model);
  if (claim && ((told.rows_of_cases === "none") !== alone || (model && model.rows === alone)))
    faults.push(`rows_of_cases is ${printable(told.rows_of_cases)}, and by its tables there are `
      + `${alone ? "none" : "some"}`);
  if (!claim) return ["rows_of_cases", "table_k", "table_items", "table_pairs", "table_strata"]
    .filter(name => Object.hasOwn(told, name)).map(name => `parameter ${name} is there, and counts are not`);
  const names = part.tables.map(table => table.name), due = [regionTable(part), ...COUNT_TABLES.keys()];
  if (part.terms || names.length !== due.length || names.some(name => !due.includes(name)))
    return ["the tables are not those of cases and counts alone"];
  for (const {name, columns} of part.tables) {
    const own = COUNT_TABLES.get(name), of = columns.map(({name: n, type, role}) => [n, type, role]);
    if (own && JSON.stringify(own) !== JSON.stringify(of))
      faults.push(`table ${name} has not the columns of counts`);
    if (!own && alone && JSON.stringify(of.pop()) !== JSON.stringify(OF_REGION))
      faults.push(`table ${name} has not the cases of each region last`);
    if (!own && alone && of.some(([, , role]) => !["lower bound", "upper bound", "node"].includes(role)))
      faults.push(`table ${name} has more than regions and their cases`);
    if (!own && !alone && columns.some(({role}) => !["report id", "case id", "period", "lower bound",
      "upper bound", "node"].includes(role)))
      faults.push(`table ${name} has more than ids, a period and regions`);
  }
  const strata = claim.cuts.map(cut => `${cut.attribute} ${cutWords(cut)}`).join("; ") || "none";
  for (const [name, value] of [["table_k", claim.k], ["table_items", claim.attributes.join(", ")],
    ["table_pairs", claim.pairs.map(pair => pair.join(" x ")).join(", ")], ["table_strata", strata]])
    if (told[name] !== value) faults.push(`parameter ${name} is ${printable(told[name])}, not ${value}`);
  if (claim.pairs.some(pair => pair.length !== 2 || pair[0] === pair[1]
      || pair.some(name => !claim.attributes.includes(name))
      || pair.every(name => claim.sensitive.includes(name))))
    faults.push("columns are counted together that are no two counted ones, or both have thresholds");
  if (claim.sensitive.some(name => !claim.attributes.includes(name)))
    faults.push("columns have thresholds that are not counted");
  const shipped = SHIPPED.find(dataset => dataset.name === part.dataset);
  for (const [name, role] of shipped?.columns ?? []) {
    const column = name.split(".")[1];
    if (role === "sensitive" && claim.attributes.includes(column) && !claim.sensitive.includes(column))
      faults.push(
        `${column} is counted without thresholds, and the dataset ${part.dataset} has it sensitive`);
  }
  if ((told.version ?? 1) !== 1 || Object.hasOwn(told, "correction")
      || part.earlier_releases.includes(part.quarter))
    faults.push("counts that were told are told anew, which no rule allows");
  return faults;
}

/** The told name that a text means, by its key or in upper case; null: none.
 *
 * @param {Quarter} quarter
 * @param {string} column
 * @param {string} value
 * @returns {string | null} */
function toldName({part, counts}, column, value) {
  const names = [termValue(part, value), upper(value.trim()), value];
  return names.find(name => counts?.keys.has(keyText([[column, name]]))) ?? null;
}

/** Told names of a column that have a text in them, those that begin with it first.
 *
 * @param {Quarter[]} quarters
 * @param {string} column
 * @param {string} typed
 * @param {number} most */
function toldSuggestions(quarters, column, typed, most) {
  const wanted = upper(typed.trim()), found = /** @type {Set<string>} */ (new Set());
  for (const {counts} of quarters)
    for (const {items: [[name, term] = ["", null], ...more]} of counts?.keys.values() ?? [])
      if (!more.length && name === column && term && upper(term).includes(wanted)) found.add(term);
  const first = (/** @type {string} */ name) => Number(upper(name).startsWith(wanted));
  return [...found].sort((one, two) => first(two) - first(one) || byCodePoint(one, two)).slice(0, most);
}

/** Bounds of how many counted cases meet the conditions and hold items: exact where told of strata that
 * surely meet them; what is not told is none, or up to the least told count that it is part of.
 *
 * @param {Quarter[]} quarters
 * @param {Quarter} quarter
 * @param {Question} question
 * @returns {(items: Item[]) => {lower: number, upper: number}} */
function toldBounds(quarters, quarter, question) {
  const counts = /** @type {CountTables} */ (quarter.counts), leaves = leavesOf(quarter, counts);
  /** @type {Map<string, {surely: boolean, maybe: boolean}>} */
  const strata = new Map();
  for (const [region, verdict] of verdictsOf(quarters, quarter, question).entries())
    for (const at of counts.paths.get(leaves[region]) ?? []) {
      const own = strata.get(at) ?? {surely: true, maybe: false};
      strata.set(at, {surely: own.surely && verdict.certain, maybe: own.maybe || verdict.touches});
    }
  /** @param {Item[]} items */
  const own = items => {
    const told = counts.keys.get(keyText(items))?.told;
    if (!told) return null;
    let lower = 0, upper = 0;
    for (const [at, cases] of told) {
      lower += strata.get(at)?.surely ? cases : 0;
      upper += strata.get(at)?.maybe ? cases : 0;
    }
    return {lower, upper};
  };
  return items => {
    const parts = [[], ...items.map(item => [item]), items].map(own);
    const upper = Math.min(...parts.map(each => each?.upper ?? Infinity));
    return {lower: parts[parts.length - 1]?.lower ?? 0, upper: Number.isFinite(upper) ? upper : 0};
  };
}

/** The quarter of a question to counts, and the items that it asks for.
 *
 * @param {Quarter[]} quarters
 * @param {Question} question
 * @returns {{quarter: Quarter, items: Item[]}} */
function askedCounts(quarters, {terms, group, withheld}) {
  if (quarters.length > 1) throw new Fault("counts of several quarters are of different cases: choose one");
  if (withheld)
    throw new Fault("counts are of released cases alone: leave the withheld ones out", ["withheld"]);
  if (group?.table === "")
    throw new Fault("counts are asked of one quarter: choose nothing to group by", ["group"]);
  const [quarter] = quarters, items = terms.map(({column, value}) => {
    const name = toldName(quarter, column, value);
    if (name !== null) return /** @type {Item} */ ([column, name]);
    const near = toldSuggestions(quarters, column, value, 3).map(text => `'${printable(text)}'`);
    throw new Fault(`no count tells ${column} '${printable(value)}'`
      + (near.length ? `: did you mean ${near.join(" or ")}?` : ", and none like it"),
    [`term item_count ${column}`]);
  });
  if (items.length + Number(Boolean(group)) > 2)
    throw new Fault("counts tell one item or two: ask for fewer");
  return {quarter, items};
}

const TOLD_NOTE = "of the cases that no earlier release has; lower and upper are equal where the count "
  + "is told of strata that surely meet the conditions; what is not told is none, or up to the least told "
  + "count that it is part of";

/** The answer that counts give.
 *
 * @param {Quarter[]} quarters
 * @param {Question} question
 * @returns {Answer} */
function toldAnswer(quarters, question) {
  const {quarter, items} = askedCounts(quarters, question), bounds = toldBounds(quarters, quarter, question);
  const {group} = question, counts = /** @type {CountTables} */ (quarter.counts);
  const wanted = group ? [...counts.keys.values()].flatMap(({items: own}) => {
    const [rest, ...more] = own.filter(item => !items.some(([a, t]) => a === item[0] && t === item[1]));
    return own.length === items.length + 1 && rest && !more.length && rest[0] === group.column ? [rest] : [];
  }) : [null];
  const found = wanted.map(item => {
    const {lower, upper: most} = bounds(item ? [...items, item] : items);
    return {
      key: item && (item[1] ?? "(other)"), lower, known: lower, expected: (lower + most) / 2, upper: most,
    };
  }).sort((one, two) => two.expected - one.expected || byCodePoint(one.key ?? "", two.key ?? ""));
  const shown = found.slice(0, Math.min(question.most, MOST_GROUPS))
    .map(each => ({...each, key: each.key === null ? null : printable(each.key)}));
  const told = group ? groupsShown(shown.length, found.length) : "cases in all";
  return {asked: asWords(quarters, question), inTime: false, counts: shown, told: `counted: ${told}`,
    sql: "", notes: [...columnsExplained(question), TOLD_NOTE]};
}

/** PRR of two told items, exact where all four cells are.
 *
 * @param {Quarter[]} quarters
 * @param {Question} question
 * @returns {Disproportion} */
function toldDisproportion(quarters, question) {
  const {quarter, items} = askedCounts(quarters, {...question, group: null});
  if (items.length !== 2) throw new Fault("PRR is of two items of two columns: fill in both");
  const bounds = toldBounds(quarters, quarter, question);
  const [n, one, other, both] = [[], [items[0]], [items[1]], items].map(each => bounds(each));
  /** @param {number} lower
   * @param {number} most */
  const between = (lower, most) => ({lower: Math.max(0, lower), known: Math.max(0, lower),
    expected: (Math.max(0, lower) + Math.max(0, most)) / 2, upper: Math.max(0, most)});
  const cells = [between(both.lower, both.upper), between(one.lower - both.upper, one.upper - both.lower),
    between(other.lower - both.upper, other.upper - both.lower),
    between(n.lower - one.upper - other.upper + both.lower, n.upper - one.lower - other.lower + both.upper)];
  const counts = CELLS.map((key, at) => ({key, ...cells[at]}));
  const exact = counts.every(each => each.lower === each.upper);
  const ratios = exact ? [ratioOf("told", counts.map(each => each.expected))] : [ratioBounds(counts)];
  return {asked: `PRR; ${asWords(quarters, question)}`, told: "compared", counts, ratios,
    notes: [exact ? "all four cells are told: the ratio is that of the released cases that are counted"
      : "not all cells are told: the ratio lies between these bounds", TOLD_NOTE]};
}
