// What is said with counts: suppressed and withheld cases, notes, the question as SQL.

/** A function that adds to an upper count those who may count although no row says so.
 *
 * @param {Quarter[]} quarters
 * @param {Question} question
 * @returns {(upper: number) => number} */
function raised(quarters, question) {
  const {part} = quarters[0], hidden = hiddenCases(quarters, question);
  const everybody = quarters.reduce((sum, each) => sum + each.part.counts.released_cases, 0);
  const withheld = question.withheld
    ? quarters.reduce((sum, each) => sum + (each.part.counts.withheld_cases ?? 0), 0) : 0;
  if (question.withheld && part.counts.withheld_cases == null)
    throw new Fault("how many cases are withheld is not told: leave them out");
  return upper => upper + Math.max(0, Math.min(hidden, everybody - upper)) + withheld;
}

/** How many cases have a suppressed value at most that the question asks for.
 *
 * @param {Quarter[]} quarters
 * @param {Question} question */
function hiddenCases(quarters, {terms, group}) {
  return hiddenOf(quarters, [...terms, ...(group?.table ? [group] : [])]);
}

/** How many cases have a suppressed value at most in columns that are asked.
 *
 * @param {Quarter[]} quarters
 * @param {Group[]} asked */
function hiddenOf(quarters, asked) {
  const {part} = quarters[0], names = new Set();
  for (const table of part.tables)
    for (const column of table.columns)
      if (column.role === "sensitive") names.add(`${table.name}.${column.name}`);
  const tables = new Set([...names].map(name => name.split(".")[0]));
  if (!asked.some(each => tables.has(each.table))) return 0;
  const sensitive = asked.filter(each => names.has(`${each.table}.${each.column}`)).length;
  const share = `suppressed_${sensitive === 1 ? "one_value" : "cases"}_per_10000`;
  let sum = 0;
  for (const {part: {parameters, counts}} of quarters) {
    if (!Object.hasOwn(parameters, share)) continue;
    const told = parameters[share];
    sum += typeof told === "number" && told >= 0 && told <= 10_000
      ? Math.ceil(told * counts.released_cases / 10_000) : counts.released_cases;
  }
  return sum;
}

/** How many groups are shown of how many.
 *
 * @param {number} shown
 * @param {number} all */
const groupsShown = (shown, all) => `${shown.toLocaleString("en")} of ${all.toLocaleString("en")} `
  + `${all === 1 ? "group" : "groups"} shown`;

/** A question in words: every condition, the quarters and the grouping.
 *
 * @param {Quarter[]} quarters Those that are asked.
 * @param {Question} question */
function asWords(quarters, {ranges, nodes, terms, group, withheld}) {
  const {attributes} = quarters[0].part, names = quarters.map(({part}) => part.quarter);
  const words = ranges.map(({attribute, low, high}) => {
    const unit = attributes.find(each => each.name === attribute)?.unit;
    return [attribute, ...(low.trim() ? [`from ${low.trim()}`] : []),
      ...(high.trim() ? [`to ${high.trim()}`] : []), ...(unit ? [unit] : [])].join(" ");
  });
  for (const {attribute, node} of nodes) words.push(`${attribute} ${node}`);
  for (const term of terms)
    words.push(`${term.column} ${askedText(quarters[0].part, term)} (${term.table})`);
  if (!words.length) words.push("no condition");
  words.push(names.length > 1 ? `quarters ${names[0]} to ${names[names.length - 1]}` : `quarter ${names[0]}`);
  if (group) words.push(`grouped by ${group.table ? `${group.column} (${group.table})` : "quarter"}`);
  if (withheld) words.push("withheld cases in upper");
  return words.map(each => printable(each)).join("; ");
}

/** What the columns of counts say; empty: nothing is asked that a region leaves open.
 * @param {Question} question */
function columnsExplained({ranges, nodes}) {
  const names = [...ranges, ...nodes].map(each => each.attribute);
  return names.length ? ["lower: cases that meet the conditions whatever values of their regions "
    + `(${[...new Set(names)].join(", ")}) are true (a missing value meets none); upper: those that do for `
    + "some of them; expected: by the share of the region, or of the domain where the value is "
    + "missing; known: those whose region decides every condition"] : [];
}

/** How the numbers are to be read.
 *
 * @param {Quarter[]} quarters
 * @param {Question} question
 * @param {Count[]} counts All groups, the highest expected count first.
 * @param {number} most So many are shown. */
function notesOf(quarters, question, counts, most) {
  const explained = columnsExplained(question), notes = [...explained];
  const rest = counts.slice(most), least = Math.min(...counts.slice(0, most).map(each => each.lower));
  if (question.group) notes.unshift(groupsShown(counts.length - rest.length, counts.length)
    + (rest.length ? ": those with the highest expected counts" : "")
    + (rest.some(each => each.upper > least) ? "; which come first is undecided: the upper count of one "
      + "that is not shown is above the lower count of one that is" : ""));
  const hidden = hiddenCases(quarters, question);
  if (hidden) notes.push(`values of some cases are suppressed: upper has up to ${hidden} more cases, `
    + "which may have the value although no row says so");
  if (!explained.length && !hidden) notes.push("no quasi-identifier is asked, so the counts are exact");
  if (quarters.length > 1 && isByQuarter(question)) notes.push("each quarter is asked on its own: a case "
    + "counts once in each whose conditions it meets");
  else if (quarters.length > 1) notes.push("each quarter is asked on its own; a case counts once, if any "
    + "of its quarters meets the conditions (PRR counts it as its latest quarter has it)");
  notes.push(question.withheld ? "upper has the withheld cases as well; groups of withheld cases alone "
    + "are not listed" : "of what was released: withheld cases are not counted");
  return notes;
}

/** Whether the texts of a column are terms that are compared by their keys.
 *
 * @param {Manifest} part
 * @param {Group} of */
const isKeyed = (part, {table, column}) => termKeyOf(part) > 0 && part.tables.some(each =>
  each.name === table && each.columns.some(({name, role}) => name === column && OF_TERMS.includes(role)));

/** A text that is asked for, as it is compared.
 *
 * @param {Manifest} part
 * @param {Term} term */
const askedText = (part, term) => isKeyed(part, term) ? termKey(term.value) : upper(term.value);

/** The question as srsql query takes it.
 *
 * @param {Quarter[]} quarters
 * @param {Question} question */
function sqlOf([{part}], question) {
  const reports = /** @type {string} */ (part.report_table), {group} = question;
  const table = /** @type {DeclaredTable} */ (part.tables.find(each => each.name === reports));
  const own = table.columns.find(column => column.role === "case id")
    ?? table.columns.find(column => column.role === "report id");
  const id = /** @type {Declared} */ (own).name;
  /** @param {string} value */
  const quoted = value => `'${value.replaceAll("'", "''")}'`;
  /** @param {Group} of */
  const compared = of => isKeyed(part, of) ? `${of.table}.${of.column}` : `upper(${of.table}.${of.column})`;
  const by = group && (group.table ? compared(group) : `${reports}.quarter`);
  const joins = askedOf(question).map(each => each.table).filter(name => name !== reports);
  const conditions = question.ranges.flatMap(({attribute, low, high}) =>
    [...(low.trim() ? [`${attribute} >= ${low.trim()}`] : []),
      ...(high.trim() ? [`${attribute} <= ${high.trim()}`] : [])]);
  for (const {attribute, node} of question.nodes) conditions.push(`${attribute} = ${quoted(node)}`);
  for (const term of question.terms)
    conditions.push(`${compared(term)} = ${quoted(askedText(part, term))}`);
  return `SELECT ${by ? `${by} AS "group", ` : ""}count(DISTINCT ${reports}.${id}) FROM ${reports}`
    + joins.map(name => ` JOIN ${name} USING (${id})`).join("")
    + (conditions.length ? ` WHERE ${conditions.join(" AND ")}` : "")
    + (by ? ` GROUP BY ${by} ORDER BY ${isByQuarter(question) ? "1" : "2 DESC"}` : "");
}
