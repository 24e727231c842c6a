// Counts of cases with bounds: what a question comes to, whatever values the regions stand for.

/** Ends of what a number without a declared domain can be, in granules. */
const FAR = 2 ** 40;
/** Groups that a list shows at most. */
const MOST_GROUPS = 1000;

/**
 * @typedef {{attribute: string, low: string, high: string}} Range Bounds are inclusive; "": none.
 * @typedef {{attribute: string, node: string}} Below A node of a hierarchy.
 * @typedef {{table: string, column: string, value: string}} Term In any spelling of its letters.
 * @typedef {{table: string, column: string}} Group A column of terms; table "": the quarter.
 * @typedef {{ranges: Range[], nodes: Below[], terms: Term[], group: Group | null, most: number,
 *   withheld: boolean}} Question
 * @typedef {{key: string | null, lower: number, known: number, expected: number,
 *   upper: number}} Count
 * @typedef {{asked: string, inTime: boolean, counts: Count[], told: string, sql: string,
 *   notes: string[]}} Answer told: what a status line says of it.
 * @typedef {{inside: boolean, touches: boolean, share: number}} Verdict Of a region.
 */

/** The columns that a question can name: those of terms and codes beside the reports.
 *
 * @param {Manifest} part
 * @returns {Group[]} */
function namedColumns(part) {
  if (part.counted) return part.counted.attributes.map(column => ({table: "item_count", column}));
  const roles = ["sensitive", "quasi-sensitive", "published as it is", "derived"];
  return part.tables.flatMap(table => table.columns
    .filter(column => roles.includes(column.role) && column.type === "VARCHAR")
    .map(column => ({table: table.name, column: column.name})));
}

/** Why no count can be given; empty: one can.
 *
 * @param {Quarter[]} quarters */
function refusal(quarters) {
  const {part} = quarters[0];
  if (!regionTable(part))
    return "no row of a report is released, so that nobody can be counted here: the file "
      + "term-counts.sql says how terms are counted";
  if (wholeRows(part))
    return "drugs and terms are told of clusters and not of cases, which this page cannot count: ask "
      + "with srsql query --artifact, or with term-counts.sql";
  for (const quarter of quarters) {
    const known = BOUNDS_OF_MODELS.get(quarter.part.model);
    if (quarter.part.perturbed || !(known?.rows || countsAlone(quarter.part)))
      return `${printable(quarter.part.quarter)} was released by ${printable(quarter.part.model)}, `
        + "whose regions need not hold the original values: no bounds can be given";
    const found = quarter.cases;
    if (found.pairs.length > found.cases.length)
      return `${printable(quarter.part.quarter)} has cases with several regions: ask with srsql `
        + "query --artifact";
  }
  if (quarters.length > 1 && part.parameters.ids === "per-quarter")
    return "ids are others in every quarter, so that nobody can be counted over several: choose one";
  return "";
}

/** The whole numbers of granules that a range allows.
 *
 * @param {Attribute} attribute
 * @param {Range} range
 * @returns {[number, number]} */
function granulesOf(attribute, range) {
  const unit = unitOf(attribute), ends = [-FAR, FAR], {name} = attribute, first = decimal(attribute.low);
  for (const [n, typed] of [range.low, range.high].map(end => end.trim()).entries()) {
    if (!typed) continue;
    const limit = Decimal.of(typed), field = `${n ? "high" : "low"} ${name}`;
    if (!limit) throw new Fault(`${name}: ${printable(typed)} is no number: write digits, such as 65 or `
      + "12.5", [field]);
    if (first && first.value >= 0n && limit.value < 0n)
      throw new Fault(`${name}: ${printable(typed)} is below ${attribute.low}, the least that it can be: `
        + "write a number without a minus, or none", [field]);
    const {floor, exact} = limit.over(unit);
    ends[n] = n || exact ? floor : floor + 1;
  }
  if (ends[0] > ends[1])
    throw new Fault(`${name}: the first number is above the second`, [`low ${name}`, `high ${name}`]);
  return [ends[0], ends[1]];
}

/** The granularity of a number.
 * @param {Attribute} attribute */
function unitOf(attribute) {
  const unit = decimal(attribute.granularity);
  return unit && unit.value > 0n ? unit : new Decimal(1n, 0);
}

/** How much of the values from one number to another lies in a span.
 *
 * @param {[number, number]} region
 * @param {[number, number]} span */
function shareOf([low, high], [from, to]) {
  return Math.max(0, Math.min(high, to) - Math.max(low, from) + 1) / (high - low + 1);
}

/** A function from a row of the report table to how its region stands to a range.
 *
 * @param {Quarter[]} quarters All that are asked.
 * @param {Attribute} attribute
 * @param {Range} range
 * @returns {(reports: Rows, row: number) => Verdict} */
function judgeRange(quarters, attribute, range) {
  const unit = unitOf(attribute), span = granulesOf(attribute, range);
  const [first, last] = [decimal(attribute.low), decimal(attribute.high)];
  /** @param {Column} column
   * @param {number} row */
  const granule = (column, row) => {
    const value = Decimal.of(valueAt(column, row) ?? "");
    return value ? value.over(unit).floor : null;
  };
  let possible = /** @type {[number, number]} */ ([-FAR, FAR]), domain = possible;
  if (first && last) {
    const low = first.over(unit);
    domain = possible = [low.exact ? low.floor : low.floor + 1, last.over(unit).floor];
  } else {
    let [low, high] = [Infinity, -Infinity];
    for (const {part, tables} of quarters) {
      const reports = /** @type {Rows} */ (tables.get(regionTable(part)));
      const columns = /** @type {Column[]} */ (regionColumns(reports.columns, attribute));
      for (let row = 0; row < reports.rows; row++) {
        low = Math.min(low, granule(columns[0], row) ?? low);
        high = Math.max(high, granule(columns[1], row) ?? high);
      }
    }
    domain = low <= high ? [low, high] : [0, 0];
  }
  const anywhere = shareOf(possible, span) > 0;
  return (reports, row) => {
    const columns = /** @type {Column[]} */ (regionColumns(reports.columns, attribute));
    const [low, high] = columns.map(column => granule(column, row));
    if (low === null || high === null)
      return {inside: false, touches: anywhere, share: shareOf(domain, span)};
    const share = shareOf([low, high], span);
    return {inside: share === 1, touches: share > 0, share};
  };
}

/** A function from a row of the report table to how its region stands to a node.
 *
 * @param {Quarter} quarter
 * @param {Below} below
 * @returns {(reports: Rows, row: number) => Verdict} */
function judgeNode({part, trees}, below) {
  const attribute = attributeOf(part, below.attribute);
  const tree = preorder(trees.get(below.attribute) ?? new Map());
  const span = tree?.ends.get(below.node);
  if (!tree || !span) throw new Fault(`${below.attribute} ${printable(below.node)} is no node of its `
    + "hierarchy: choose one of the list", [`node ${below.attribute}`]);
  const all = tree.leaves.length - 1;
  return (reports, row) => {
    const [column] = /** @type {Column[]} */ (regionColumns(reports.columns, attribute));
    const node = valueAt(column, row) ?? "", region = tree.ends.get(node) ?? [0, all];
    const share = shareOf(region, span), root = trees.get(below.attribute)?.get(node) === "";
    return {inside: share === 1 && !root, touches: share > 0, share};
  };
}

/** @param {Manifest} part
 * @param {string} name */
function attributeOf(part, name) {
  const found = part.attributes.find(attribute => attribute.name === name);
  if (!found) throw new Fault(`${printable(name)} is no quasi-identifier of this artifact`);
  return found;
}

/** The conditions of a table, and its column that the question groups by.
 *
 * @typedef {{table: string, terms: Term[], group: string | null}} Asked */

/** What is asked of each table: conditions on one table speak of the same row.
 *
 * @param {Question} question
 * @returns {Asked[]} */
function askedOf({terms, group}) {
  const names = new Set(terms.map(term => term.table));
  if (group?.table) names.add(group.table);
  return [...names].map(table => ({table, terms: terms.filter(term => term.table === table),
    group: group?.table === table ? group.column : null}));
}

/** The codes of a column whose texts are compared as one text is.
 *
 * @param {Column} column
 * @param {string} value */
function sameText(column, value) {
  const wanted = comparedAs(column, value);
  return Uint8Array.from(comparedTexts(column), known => Number(known === wanted));
}

/** The cases of a quarter that meet what is asked of a table, by group.
 *
 * @param {Quarter} quarter
 * @param {Asked} asked
 * @param {(key: string | null, of: number) => void} take May be told the same twice. */
function matchingCases({tables}, asked, take) {
  const table = tables.get(asked.table);
  /** @param {string} name */
  const find = name => {
    const column = table?.columns.find(each => each.name === name);
    if (!column) throw new Fault(`${printable(asked.table)}.${printable(name)} is no column of this `
      + "artifact");
    return column;
  };
  const tests = asked.terms.map(term => ({column: find(term.column),
    same: sameText(find(term.column), term.value)}));
  const group = asked.group === null ? null : find(asked.group);
  const keys = group ? comparedTexts(group) : null;
  const {patient} = idsOf(/** @type {Rows} */ (table));
  for (let row = 0; row < (table?.rows ?? 0); row++) {
    if (tests.some(({column, same}) => column.codes[row] < 0 || !same[column.codes[row]])) continue;
    if (group && group.codes[row] < 0) continue;
    take(group && keys ? keys[group.codes[row]] : null, patient.codes[row]);
  }
}

/** The answer to a question over one quarter or several of an artifact.
 *
 * @param {Quarter[]} quarters
 * @param {Question} question
 * @returns {Answer} */
function answer(quarters, question) {
  const refused = refusal(quarters);
  if (refused) throw new Fault(refused);
  if (quarters[0].part.counted) return toldAnswer(quarters, question);
  needKnownTerms(quarters, question);
  /** @type {Map<string | null, Map<number, {certain: boolean, share: number}>>} */
  const groups = new Map(question.group ? [] : [[null, new Map()]]);
  for (const quarter of quarters) {
    const verdicts = verdictsOf(quarters, quarter, question);
    collect(quarter, quarter.cases, question, (key, of, region) => {
      const verdict = verdicts[region];
      if (!verdict.touches) return;
      const group = groups.get(key) ?? new Map();
      groups.set(key, group);
      const before = group.get(of) ?? {certain: false, share: 0};
      group.set(of, {certain: before.certain || verdict.certain,
        share: Math.max(before.share, verdict.certain ? 1 : Math.min(1, verdict.share))});
    });
  }
  const raise = raised(quarters, question);
  const counts = [...groups].map(([key, group]) => {
    let lower = 0, expected = 0;
    for (const {certain, share} of group.values()) {
      lower += Number(certain);
      expected += share;
    }
    return {key, lower, known: lower, expected, upper: raise(group.size)};
  });
  const inTime = isByQuarter(question), byKey = (/** @type {Count} */ one, /** @type {Count} */ two) =>
    byCodePoint(one.key ?? "", two.key ?? "");
  counts.sort((one, two) => (inTime ? 0 : two.expected - one.expected) || byKey(one, two));
  const most = inTime ? MOST_GROUPS : Math.min(question.most, MOST_GROUPS);
  const shown = counts.slice(0, most).map(count =>
    ({...count, key: count.key === null ? null : printable(count.key)}));
  const told = question.group ? groupsShown(shown.length, counts.length) : "cases in all";
  return {asked: asWords(quarters, question), inTime, counts: shown, told: `counted: ${told}`,
    sql: sqlOf(quarters, question), notes: notesOf(quarters, question, counts, most)};
}

/** @param {{group: Group | null}} question */
const isByQuarter = ({group}) => group !== null && !group.table;

/** How each region of a quarter stands to the conditions on quasi-identifiers.
 *
 * @param {Quarter[]} quarters All that are asked.
 * @param {Quarter} quarter
 * @param {Question} question
 * @returns {{certain: boolean, touches: boolean, share: number}[]} */
function verdictsOf(quarters, quarter, question) {
  const {part, cases} = quarter;
  const judges = [
    ...question.ranges.map(range => judgeRange(quarters, attributeOf(part, range.attribute), range)),
    ...question.nodes.map(below => judgeNode(quarter, below)),
  ];
  return cases.regionRow.map(row => {
    const each = judges.map(judge => judge(cases.reports, row));
    return {certain: each.every(verdict => verdict.inside),
      touches: each.every(verdict => verdict.touches),
      share: each.reduce((product, verdict) => product * verdict.share, 1)};
  });
}

/** Tell every case that meets the conditions on terms, with its group and its region.
 *
 * @param {Quarter} quarter
 * @param {Cases} found
 * @param {Question} question
 * @param {(key: string | null, of: number, region: number) => void} take */
function collect(quarter, found, question, take) {
  const asked = askedOf(question), grouped = asked.find(each => each.group !== null);
  const region = new Int32Array(found.cases.reduce((most, of) => Math.max(most, of), -1) + 1).fill(-1);
  for (const [number, of] of found.pairs) region[of] = number;
  const met = new Uint8Array(region.length);
  for (const [n, each] of asked.filter(other => other !== grouped).entries())
    matchingCases(quarter, each, (_, of) => { if (met[of] === n) met[of] = n + 1; });
  const all = asked.length - Number(Boolean(grouped));
  if (grouped) {
    matchingCases(quarter, grouped, (key, of) => {
      if (met[of] === all && region[of] >= 0) take(key, of, region[of]);
    });
    return;
  }
  const key = question.group ? quarter.part.quarter : null;
  for (const of of found.cases) if (met[of] === all) take(key, of, region[of]);
}

/** Refuse a name that no released row has: it may be a mistake.
 *
 * @param {Quarter[]} quarters
 * @param {Question} question */
function needKnownTerms(quarters, {terms}) {
  for (const {table, column, value} of terms) {
    const columns = quarters.flatMap(({tables}) =>
      tables.get(table)?.columns.filter(each => each.name === column) ?? []);
    if (columns.some(each => sameText(each, value).includes(1))) continue;
    const near = suggestions(quarters, {table, column}, value, 3).map(name => `'${printable(name)}'`);
    throw new Fault(`no released row has ${column} '${printable(value)}'`
      + (near.length ? `: did you mean ${near.join(" or ")}?` : ", and none like it"),
    [`term ${table} ${column}`]);
  }
}

/** The question with names as they are released: without spaces around one that none has so.
 *
 * @template {Question} Of
 * @param {Quarter[]} quarters
 * @param {Of} question
 * @returns {Of} */
function withReleasedNames(quarters, question) {
  const terms = question.terms.map(term => {
    const {table, column, value} = term;
    const is = quarters.some(({tables}) => tables.get(table)?.columns.some(each =>
      each.name === column && sameText(each, value).includes(1)));
    return is ? term : {...term, value: value.trim()};
  });
  return {...question, terms};
}

/** Names of a column that have a text in them, those that begin with it first.
 *
 * @param {Quarter[]} quarters
 * @param {Group} of
 * @param {string} typed
 * @param {number} most
 * @returns {string[]} */
function suggestions(quarters, {table, column}, typed, most) {
  const found = /** @type {Set<string>} */ (new Set());
  if (table === "item_count" && quarters[0]?.part.counted)
    return toldSuggestions(quarters, column, typed, most);
  let wanted = "";
  for (const {tables} of quarters)
    for (const each of tables.get(table)?.columns ?? [])
      if (each.name === column) {
        wanted = comparedAs(each, typed.trim());
        for (const name of comparedTexts(each)) if (name.includes(wanted)) found.add(name);
      }
  return [...found].sort((one, two) => Number(two.startsWith(wanted)) - Number(one.startsWith(wanted))
    || byCodePoint(one, two)).slice(0, most);
}
