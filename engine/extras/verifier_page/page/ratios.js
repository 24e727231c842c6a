// The proportional reporting ratio of two names, from counts with bounds.

/** Standard deviations of an interval of 95 %. */
const Z = 1.959963984540054;
/** The cells of a 2 x 2 table, in words. */
const CELLS = ["a: both", "b: the first alone", "c: the second alone", "d: neither"];

/**
 * @typedef {{name: string, ratio: number | null, low: number | null, high: number | null}} Ratio
 * @typedef {{asked: string, told: string, counts: Count[], ratios: Ratio[], notes: string[]}} Disproportion
 */

/** PRR of a table with its interval (Katz); null: undefined.
 *
 * @param {string} name
 * @param {number[]} cells
 * @returns {Ratio} */
function ratioOf(name, [a, b, c, d]) {
  if (!(a + b > 0 && c > 0)) return {name, ratio: null, low: null, high: null};
  const ratio = a / (a + b) / (c / (c + d));
  if (!(a > 0)) return {name, ratio, low: null, high: null};
  const spread = Z * Math.sqrt(Math.max(0, 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)));
  return {name, ratio, low: ratio * Math.exp(-spread), high: ratio * Math.exp(spread)};
}

/** Between which values PRR lies, whatever whole numbers between their bounds the cells are.
 *
 * @param {Count[]} counts
 * @returns {Ratio} */
function ratioBounds(counts) {
  const [a, b, c, d] = counts, name = "bounds";
  const low = c.upper && a.lower + b.upper
    ? a.lower * (c.upper + d.lower) / (c.upper * (a.lower + b.upper)) : null;
  const high = c.lower && a.upper + b.lower
    ? a.upper * (c.lower + d.upper) / (c.lower * (a.upper + b.lower)) : null;
  return {name, ratio: null, low, high};
}

/** The bounds of cells, where so many cases may have the second name, or the first, although no row
 * says so: who lacks one moves to the cell that has it.
 *
 * @param {Count[]} counts
 * @param {number} first
 * @param {number} second */
function withHidden([a, b, c, d], first, second) {
  const fromB = Math.min(second, b.upper), fromC = Math.min(first, c.upper);
  const cells = [
    {...a, upper: a.upper + fromB + fromC + Math.min(d.upper, second - fromB, first - fromC)},
    {...b, lower: b.lower - second, upper: b.upper + Math.min(first, d.upper)},
    {...c, lower: c.lower - first, upper: c.upper + Math.min(second, d.upper)},
    {...d, lower: d.lower - first - second},
  ];
  return cells.map(cell => {
    const lower = Math.max(0, cell.lower);
    return {...cell, lower, known: lower};
  });
}

/** The two tables that are asked, that of a drug first where one of them is.
 *
 * @param {Manifest} part
 * @param {Question} question
 * @returns {Asked[]} */
function exposureAndOutcome(part, question) {
  const asked = askedOf({...question, group: null});
  if (asked.length !== 2)
    throw new Fault("PRR is of two names in two tables, such as a drug and a reaction: fill in both");
  /** @param {Asked} of */
  const isDrug = of => of.terms.some(term => part.tables.some(({name, columns}) =>
    name === of.table && columns.some(c => c.name === term.column && c.role === "quasi-sensitive")));
  return isDrug(asked[1]) && !isDrug(asked[0]) ? [asked[1], asked[0]] : asked;
}

/** PRR over one quarter or several, in which each case counts as its latest has it; grouped by the
 * quarter it is that of each by itself, in the order of time.
 *
 * @param {Quarter[]} quarters Oldest first.
 * @param {Question} question
 * @returns {Disproportion} */
function disproportion(quarters, question) {
  const refused = refusal(quarters);
  if (refused) throw new Fault(refused);
  if (quarters[0].part.counted) return toldDisproportion(quarters, question);
  if (question.group && !isByQuarter(question))
    throw new Fault("PRR is of all cases or of each quarter: choose nothing or quarter to group by",
      ["group"]);
  if (question.withheld)
    throw new Fault("PRR is of released cases alone: leave the withheld ones out", ["withheld"]);
  const tables = exposureAndOutcome(quarters[0].part, question);
  needKnownTerms(quarters, question);
  const apart = isByQuarter(question) ? quarters.map(quarter => [quarter]) : [quarters];
  const found = apart.map(some => comparedOver(some, question, tables));
  /** In the order of time within each line of a table.
   * @template Of
   * @param {Of[][]} each
   * @param {(told: Of, of: string) => Of} name
   * @returns {Of[]} */
  const inTime = (each, name) => each[0].flatMap((_, line) => each.map((told, n) => isByQuarter(question)
    ? name(told[line], `${printable(apart[n][0].part.quarter)}, `) : told[line]));
  return {asked: `PRR; ${asWords(quarters, question)}`,
    told: isByQuarter(question) ? "compared by quarter" : "compared",
    counts: inTime(found.map(each => each.counts), (told, of) => ({...told, key: of + told.key})),
    ratios: inTime(found.map(each => each.ratios), (told, of) => ({...told, name: of + told.name})),
    notes: ratioNotes(quarters, question, tables)};
}

/** The cells and PRR over quarters, in which each case counts as the latest of them has it.
 *
 * @param {Quarter[]} quarters Oldest first.
 * @param {Question} question
 * @param {Asked[]} tables
 * @returns {{counts: Count[], ratios: Ratio[]}} */
function comparedOver(quarters, question, tables) {
  const latest = new Map();
  for (const [n, {cases}] of quarters.entries()) for (const of of cases.cases) latest.set(of, n);
  let counts = CELLS.map(key => ({key, lower: 0, known: 0, expected: 0, upper: 0}));
  for (const [n, quarter] of quarters.entries()) {
    const {cases} = quarter, verdicts = verdictsOf(quarters, quarter, question);
    const lacks = new Map(cases.cases.map(of => [of, 3]));
    for (const [bit, asked] of tables.entries())
      matchingCases(quarter, asked, (_, of) => lacks.set(of, (lacks.get(of) ?? 3) & ~(2 >> bit)));
    for (const [region, of] of cases.pairs) {
      const verdict = verdicts[region];
      if (latest.get(of) !== n || !verdict.touches) continue;
      const cell = counts[lacks.get(of) ?? 3];
      cell.lower += Number(verdict.certain);
      cell.expected += verdict.certain ? 1 : Math.min(1, verdict.share);
      cell.upper += 1;
    }
  }
  const hidden = tables.map(({terms}) => hiddenOf(quarters, terms));
  counts = withHidden(counts, hidden[0], hidden[1]);
  return {counts, ratios: [ratioOf("expected", counts.map(cell => cell.expected)),
    ratioOf("known", counts.map(cell => cell.known)), ratioBounds(counts)]};
}

/** How the numbers are to be read.
 *
 * @param {Quarter[]} quarters
 * @param {Question} question
 * @param {Asked[]} tables */
function ratioNotes(quarters, question, tables) {
  const hidden = tables.map(({terms}) => hiddenOf(quarters, terms));
  const {part} = quarters[0];
  const [first, second] = tables.map(({terms}) => terms.map(term =>
    `${term.column} ${printable(askedText(part, term))}`).join(" and "));
  const notes = [`the first is ${first}, the second ${second}: PRR = (a / (a + b)) / (c / (c + d)), with `
    + "its interval of 95 % (Katz), of expected counts and of known ones; bounds: between these lies "
    + "the PRR of the released cases, whatever values of their regions are true",
  ...columnsExplained(question), "of what was released: withheld cases are not counted"];
  if (question.ranges.length + question.nodes.length === 0 && !hidden[0] && !hidden[1])
    notes.push("no quasi-identifier is asked, so the counts are exact");
  for (const [n, name] of [first, second].entries())
    if (hidden[n]) notes.push(`${hidden[n]} cases at most may have ${name} although no row says so: `
      + "bounds allow for them, and what is known is known without them");
  if (quarters.length > 1) notes.push(isByQuarter(question)
    ? "each quarter is compared by itself: a case counts once in each that it is in"
    : "a case counts once, as its latest quarter has it (Count counts it if any of its quarters meets the "
      + "conditions)");
  return notes;
}
