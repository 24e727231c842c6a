// The checks of rows: ids, order, regions, k and theta of one quarter.

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

/** Of a release without rows of cases. @type {Cases} */
const NOBODY = {caseOf: new Int32Array(0), reports: {name: "", columns: [], rows: 0}, cases: [],
  regions: [], regionRow: [], pairs: []};

/** @param {Manifest} part
 * @param {Map<string, Rows>} tables
 * @param {string[] | null} [of] The quasi-identifiers that make a region; null: all.
 * @returns {Cases} */
function casesOf(part, tables, of = null) {
  const reports = /** @type {Rows} */ (tables.get(part.report_table ?? ""));
  const {report, patient} = idsOf(reports);
  const bounds = reports.columns.filter(column => column.attribute
    && (!of || of.includes(column.attribute)));
  const caseOf = new Int32Array(report.dictionary.values.length).fill(-1);
  const byText = new Map(), regionRow = [], regions = /** @type {string[]} */ ([]);
  const firstRegion = new Int32Array(patient.dictionary.values.length).fill(-1);
  const more = new Map(), pairs = [], cases = [];
  for (let row = 0; row < reports.rows; row++) {
    const [id, person] = [report.codes[row], patient.codes[row]];
    if (id >= 0) caseOf[id] = person;
    const key = bounds.map(column => column.codes[row]).join();
    let region = byText.get(key);
    if (region === undefined) {
      region = regions.length;
      byText.set(key, region);
      regionRow.push(row);
      regions.push(regionText(part, reports, row, of));
    }
    if (person < 0 || firstRegion[person] === region) continue;
    if (firstRegion[person] < 0) {
      firstRegion[person] = region;
      cases.push(person);
    } else {
      const others = more.get(person) ?? new Set();
      if (others.has(region)) continue;
      more.set(person, others.add(region));
    }
    pairs.push([region, person]);
  }
  return {caseOf, reports, cases, regions, regionRow, pairs};
}

/** A region in words.
 *
 * @param {Manifest} part
 * @param {Rows} reports
 * @param {number} row
 * @param {string[] | null} of The quasi-identifiers that are told; null: all. */
function regionText(part, reports, row, of) {
  return part.attributes.filter(({name}) => !of || of.includes(name)).map(attribute => {
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
    () => bySet(quarter, own => checkK(part, own.cases)),
    () => bySet(quarter, own => checkTheta(own, own.cases)),
    () => checkThresholds(quarter)];
  const names = OF_ROWS.slice(4, -1);
  return made.filter((_, n) => !skipped.includes(names[n])).map(make => make());
}

/** A quarter as those see it who know one set of quasi-identifiers, with the name of the set; where no
 * sets are protected by themselves, as it is.
 *
 * @param {Quarter} quarter
 * @returns {{name: string, seen: Quarter}[]} */
function seenBySet(quarter) {
  const {part, tables} = quarter;
  if (!part.qid_sets) return [{name: "", seen: quarter}];
  return part.qid_sets.map(({name, attributes}) =>
    ({name, seen: {...quarter, cases: casesOf(part, tables, attributes)}}));
}

/** A check of regions; where sets of quasi-identifiers are protected each by itself, of the regions of
 * one set after the other.
 *
 * @param {Quarter} quarter
 * @param {(seen: Quarter) => Check} make
 * @returns {Check} */
function bySet(quarter, make) {
  const sets = quarter.part.qid_sets;
  if (!sets) return make(quarter);
  const names = quarter.part.attributes.map(({name}) => name);
  const lost = names.filter(name => !sets.some(({attributes}) => attributes.includes(name)));
  const all = seenBySet(quarter).map(({seen}) => make(seen));
  const check = new Check(all[0].name, 0);
  all.forEach((one, n) => {
    check.total += one.total;
    for (let at = 0; at < one.count; at++) check.add(() => `set ${sets[n].name}: ${one.places[at]}`);
  });
  for (const name of lost) check.add(() => `${name} is in no set, so that nothing protects it`);
  return check;
}

/** What is claimed of sets of quasi-identifiers against each other and the rows: whoever knows the
 * quasi-identifiers of all sets looks for the region of all.
 *
 * @param {Quarter} quarter
 * @returns {Check | null} Null: nothing is claimed of sets. */
function checkSets({part, cases}) {
  const {parameters} = part, sets = part.qid_sets ?? [];
  const figures = ["union_below_k_percent", "union_one_candidate_percent"];
  if (!part.qid_sets && ![...figures, "qid_sets"].some(name => Object.hasOwn(parameters, name)))
    return null;
  const check = new Check(OF_SETS, sets.length), known = part.attributes.map(({name}) => name);
  if (sets.length < 2 || new Set(sets.map(({name}) => name)).size < sets.length)
    check.add(() => "qid_sets are not two sets or more, each with a name of its own");
  for (const one of sets) {
    for (const other of sets)
      if (one !== other && one.attributes.every(name => other.attributes.includes(name)))
        check.add(() => `all of the set ${one.name} is in ${other.name}, so that it is none`);
    for (const name of one.attributes)
      if (!known.includes(name)) check.add(() => `${name} of a set is no quasi-identifier`);
  }
  for (const name of known)
    if (!sets.some(({attributes}) => attributes.includes(name)))
      check.add(() => `${name} is in no set, so that nothing protects it`);
  const words = sets.map(({name, attributes}) => `${name}: ${attributes.join(", ")}`).join("; ");
  if (parameters.qid_sets !== words)
    check.add(() => "the parameter qid_sets does not say what the sets are");
  let all = 0, below = 0, alone = 0;
  for (const size of regionSizes(cases)) {
    all += size;
    below += size < part.k ? size : 0;
    alone += Number(size === 1);
  }
  [below, alone].forEach((number, n) => {
    const due = Math.ceil(100 * number / Math.max(all, 1)), told = parameters[figures[n]];
    if (told !== due) check.add(() => `parameter ${figures[n]} is `
      + `${printable(String(told ?? "not told"))}, the rows give ${due}`);
  });
  const [few, nobody, everybody] = [below, alone, all].map(number => number.toLocaleString("en"));
  check.note = `who knows all sets is left with fewer than k candidates in ${few} of ${everybody} cases, `
    + `with one in ${nobody}`;
  return check;
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
  for (const fault of spreadFaults(part, reports)) check.add(() => fault);
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
  const check = new Check("k", cases.regions.length), sizes = regionSizes(cases);
  if (sizes.length) check.note = `the smallest region has ${sizes.reduce((least, size) =>
    Math.min(least, size)).toLocaleString("en")} cases, k is ${k}`;
  sizes.forEach((size, region) => {
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
        const value = termValue(part, spelling);
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
  const check = new Check("theta", 0), {thresholds} = quarter, sizes = regionSizes(cases);
  let closest = 0;
  for (const {region, value, count} of valuesByRegion(quarter)) {
    const theta = thresholds.values.get(thresholdValue(quarter.part, value));
    check.total += 1;
    const used = theta && theta[0] < theta[1]
      ? count / sizes[region] / (Number(theta[0]) / Number(theta[1])) : 0;
    if (theta && used > closest) {
      closest = used;
      check.note = `closest to its threshold: ${printable(value)}, held by ${count} of ${sizes[region]} `
        + `cases of a region (threshold ${theta[0]}/${theta[1]})`;
    }
    if (theta && BigInt(count) * theta[1] <= theta[0] * BigInt(sizes[region])) continue;
    check.add(() => `region (${cases.regions[region]}): ${count} of ${sizes[region]} cases hold `
      + `${printable(value)}, ${theta ? `its threshold is ${theta[0]}/${theta[1]}`
        : "which has no threshold"}`);
  }
  return check;
}

/** How many cases of each region hold each value that some do.
 *
 * @param {Quarter} quarter
 * @returns {Generator<{region: number, value: string, count: number}>} */
function* valuesByRegion(quarter) {
  const {values, pairs} = valuesOfCases(quarter), size = values.length;
  const regionsOf = new Map();
  for (const [region, of] of quarter.cases.pairs) {
    const known = regionsOf.get(of);
    if (known) known.push(region);
    else regionsOf.set(of, [region]);
  }
  const held = [];
  for (const pair of pairs) {
    const value = pair % size, of = (pair - value) / size;
    for (const region of regionsOf.get(of) ?? []) held.push(region * size + value);
  }
  const sorted = Float64Array.from(held).sort();
  for (let at = 0, end = 0; at < sorted.length; at = end) {
    while (end < sorted.length && sorted[end] === sorted[at]) end += 1;
    const value = sorted[at] % size;
    yield {region: (sorted[at] - value) / size, value: values[value], count: end - at};
  }
}

/** Thresholds are only of values that a row shows.
 * @param {Quarter} quarter */
function checkThresholds(quarter) {
  const {thresholds} = quarter, {values} = valuesOfCases(quarter);
  const check = new Check("thresholds", thresholds.total, thresholds.faults);
  const known = new Set(values.map(value => thresholdValue(quarter.part, value)));
  for (const value of thresholds.values.keys())
    if (!known.has(value)) check.add(() => `${printable(value)} is in no row`);
  const grouped = groupedFault(quarter);
  if (grouped) check.add(() => grouped);
  return check;
}
