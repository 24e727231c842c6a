// Figures of a manifest: which contradict the rows or each other, and which nothing here refutes; and
// whether ids are spread as pseudonyms are.

/** Bits of the pseudonyms of each kind of ids; of other ids nothing is known. */
const PSEUDONYM_BITS = new Map([["pseudonym", 53n], ["per-quarter", 53n], ["pseudonym-60", 60n],
  ["key file", 60n]]);
/** Figures that this page holds against the rows. */
const COUNTED = new Set([
  "theta", "term_key", "table_k", "union_below_k_percent", "union_one_candidate_percent",
]);
/** The same, where there are rows of cases. */
const COUNTED_IN_ROWS = new Set(["released_cases", "released_reports"]);
const KNOWN_ITEMS = ["1_item", "2_items", "all_items"], OF_PARTS = 10000;
const GROUPED = "k_effective";

/** Every number among the parameters and counts.
 * @param {Manifest} part
 * @returns {[string, number | string][]} */
const figuresOf = ({parameters, counts}) => Object.entries({...parameters, ...counts})
  .flatMap(([name, value]) => value !== null && /^-?[0-9]+([./][0-9]+)?$/.test(String(value))
    ? [/** @type {[string, number | string]} */ ([name, value])] : []);

/** What cannot be true at once, whatever the rows are.
 *
 * @param {Manifest} part
 * @returns {string[]} */
function figureFaults(part) {
  const faults = /** @type {string[]} */ ([]), told = part.parameters, {counts} = part;
  /** @param {string} name */
  const number = name => Number.isSafeInteger(told[name]) ? Number(told[name]) : null;
  for (const [name, value] of Object.entries(told))
    if (name.includes("_percent_") && !name.startsWith("k_by_persons")
        && !(Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 100))
      faults.push(`${name} is ${printable(String(value))}, no percentage`);
  const ways = KNOWN_ITEMS.map(known => [`one_candidate_percent_${known}`, `below_k_percent_${known}`]);
  ways.push(["exact_values_percent_every_row", "exact_values_percent_some_row"]);
  ways.push(["suppressed_one_value_per_10000", "suppressed_cases_per_10000"]);
  if (!wholeRows(part)) for (const kind of ["one_candidate", "below_k"])
    ways.push(KNOWN_ITEMS.map(known => `${kind}_percent_${known}`));
  for (const way of ways) {
    const there = way.filter(name => number(name) !== null);
    for (const [n, name] of there.slice(1).entries())
      if (Number(number(there[n])) > Number(number(name)))
        faults.push(`${there[n]} is ${number(there[n])}, and ${name}, which is of no fewer cases, is `
          + `${number(name)}`);
  }
  const suppressed = ["cases", "one_value", "reports", "values"]
    .map(name => number(`suppressed_${name}_per_${OF_PARTS}`)).filter(value => value !== null);
  if (new Set(suppressed.map(Boolean)).size > 1)
    faults.push("some of the shares of what is suppressed are 0 and others are not");
  for (const [name, total] of [["cases", counts.released_cases], ["one_value", counts.released_cases],
    ["reports", counts.released_reports]]) {
    const value = number(`suppressed_${name}_per_${OF_PARTS}`), all = Number(total);
    if (value && all && Math.ceil(Math.floor(value * all / OF_PARTS) * OF_PARTS / all) !== value)
      faults.push(`${value} in ${OF_PARTS}, the share of suppressed ${name}, is no number of ${all}`);
  }
  if (counts.released_reports < counts.released_cases)
    faults.push(`${counts.released_cases} cases have ${counts.released_reports} reports`);
  const measured = number("measured_cases");
  if (measured !== null && measured > Math.min(2000, counts.released_cases))
    faults.push(`measured_cases is ${measured}, and ${counts.released_cases} cases are released`);
  return faults;
}

/** The k of groups follows from the least threshold of a released value (Lin 2016).
 *
 * @param {Quarter} quarter
 * @returns {string | null} What is wrong; empty: nothing; null: it cannot be known. */
function groupedFault({part, thresholds}) {
  const bounds = BOUNDS_OF_MODELS.get(part.model)?.bounds ?? [];
  if (wholeRows(part) || !regionTable(part)) return null;
  if (part.artifact_version < VERSION || !bounds.includes("k") || !bounds.includes("theta")) return null;
  let due = BigInt(part.k);
  for (const [num, den] of part.counted ? [] : thresholds.values.values()) {
    const need = num > 0n ? (den + num - 1n) / num : 0n;
    if (need > due) due = need;
  }
  const told = part.parameters[GROUPED];
  return String(told) === String(due) ? ""
    : `${GROUPED} is ${printable(String(told))}, by the thresholds it is ${due}`;
}

/** The numbers that nothing on this page can refute, by name; empty: there are none.
 *
 * @param {Quarter} quarter */
function figuresNotShown(quarter) {
  const grouped = groupedFault(quarter) !== null;
  const names = figuresOf(quarter.part).map(([name]) => name)
    .filter(name => !COUNTED.has(name) && !(grouped && name === GROUPED)
      && !(regionTable(quarter.part) && COUNTED_IN_ROWS.has(name)));
  const listed = printable(names.sort(byCodePoint).join(", "), 2000);
  return names.length ? `${printable(quarter.part.quarter)}: the figures ${listed} of the manifest: they `
    + "are the word of whoever published it, beside what srsql verify counts anew" : "";
}

/** Where ids that are said to be pseudonyms are not spread as keyed hashes are: of these each value of
 * the first four bits, and of the last four, is as likely as any other. By Hoeffding 1963 (theorem 1)
 * no more than one artifact in a billion is refused for nothing.
 *
 * @param {Manifest} part
 * @param {Rows} reports
 * @returns {string[]} */
function spreadFaults(part, reports) {
  const kind = part.case_ids === "pseudonym" ? "key file" : String(part.parameters.ids);
  const bits = PSEUDONYM_BITS.get(kind), faults = /** @type {string[]} */ ([]);
  if (bits === undefined) return faults;
  const {report, patient} = idsOf(reports);
  for (const column of new Set([report, patient])) {
    if (column.type !== "BIGINT") continue;
    const seen = new Uint8Array(column.dictionary.values.length);
    const ends = [new Map(), new Map()];
    let total = 0;
    for (const code of column.codes) {
      if (code < 0 || seen[code]++) continue;
      total += 1;
      const id = BigInt(column.dictionary.values[code]);
      for (const [n, end] of [id >> (bits - 4n), id % 16n].entries())
        ends[n].set(end, (ends[n].get(end) ?? 0) + 1);
    }
    for (const [n, name] of ["first", "last"].entries())
      if ([...ends[n]].some(([end, count]) => end < 0n || end > 15n || tooAlike(count, total)))
        faults.push(`${column.name}: the ${name} bits of ${total} ids are not those of pseudonyms, each `
          + "as likely as any other");
  }
  return faults;
}

/** Whether so many of all ids have the same four bits with a chance below 1 in a billion.
 *
 * @param {number} count
 * @param {number} total */
function tooAlike(count, total) {
  const share = count / total, due = 1 / 16;
  if (share <= due) return false;
  const rest = share < 1 ? (1 - share) * Math.log((1 - share) / (1 - due)) : 0;
  return total * (share * Math.log(share / due) + rest) > Math.log(64e9);
}

/** Quarters of which no id is in an earlier one, as if ids were made anew, in words.
 *
 * @param {Quarter[]} quarters Oldest first.
 * @param {Map<number, number>} first The number of the first quarter of each case. */
function madeAnew(quarters, first) {
  return quarters.flatMap(({part, cases}, n) => {
    const earlier = quarters.slice(0, n).some(other => other.part.quarter !== part.quarter);
    /** @param {number} of */
    const before = of => quarters[Number(first.get(of))].part.quarter !== part.quarter;
    if (!earlier || !idsJoin(part) || cases.cases.some(before)) return [];
    return `${printable(part.quarter)}: whether any of its ${cases.cases.length} cases came before: none `
      + "of their ids is in an artifact of an earlier quarter, as in a quarter whose ids were made anew";
  });
}
