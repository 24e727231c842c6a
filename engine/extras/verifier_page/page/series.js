// What artifacts of one series show together: whether they follow each other, and whether joining
// them leaves k new cases in every region (SPEC section 16; Huang 2021, Definition 4).

/** Which version of its quarter an artifact has; 0: it does not tell, but is not the first.
 * @param {Manifest} part */
const versionOf = ({parameters: {version}, earlier_releases: earlier, quarter}) =>
  Number.isSafeInteger(version) ? Number(version) : Number(!earlier.includes(quarter));

/** Whether ids join the rows of a case over quarters.
 * @param {Manifest} part */
const idsJoin = part => part.parameters.ids !== "per-quarter";

/** The artifacts in the order of their quarters, and versions of a quarter in theirs.
 * @param {Quarter} one
 * @param {Quarter} other */
const oldestFirst = ({part: one}, {part: other}) =>
  byCodePoint(one.quarter, other.quarter) || versionOf(one) - versionOf(other);

/** What keeps quarters from being compared.
 *
 * @param {Quarter[]} quarters Oldest first. */
function incomparable(quarters) {
  const faults = [], [{part: first, trees}] = quarters;
  for (const [n, {part: after}] of quarters.entries()) {
    if (!n) continue;
    const {part: before} = quarters[n - 1];
    if (before.quarter === after.quarter && versionOf(before) === versionOf(after))
      faults.push(`${printable(after.quarter)} is given twice`);
    const lost = [...before.earlier_releases, before.quarter]
      .filter(quarter => !after.earlier_releases.includes(quarter));
    if (lost.length && before.quarter !== after.quarter)
      faults.push(`${printable(after.quarter)} does not tell of the earlier release(s) of `
        + `${printable([...new Set(lost)].join(", "))}, which ${printable(before.quarter)} shows`);
  }
  /** @param {Quarter} quarter
   * @returns {[string, unknown][]} */
  const facts = ({part, trees: own}) => [["dataset", part.dataset], ["series", part.series],
    ["kind of case ids", [part.case_ids, part.parameters.ids ?? null]],
    ["key of the pseudonyms", part.key_id], ["quasi-identifiers", part.attributes],
    ["sets of quasi-identifiers", part.qid_sets ?? null],
    ["hierarchies", [...own].map(([name, tree]) => [name, [...tree]])]];
  const due = facts({...quarters[0], part: first, trees});
  for (const quarter of quarters.slice(1))
    for (const [n, [what, told]] of facts(quarter).entries())
      if (JSON.stringify(told) !== JSON.stringify(due[n][1]))
        faults.push(`${printable(quarter.part.quarter)} has another ${what} than `
          + printable(first.quarter));
  return faults;
}

/** How many quarters from the first on have all earlier ones before them, as first shown: only then
 * is it known which of their cases are new.
 *
 * @param {Quarter[]} quarters Oldest first. */
function knownHistory(quarters) {
  const shown = new Set();
  for (const [n, {part}] of quarters.entries()) {
    const earlier = part.earlier_releases.filter(quarter => quarter !== part.quarter);
    if (!versionOf(part) || earlier.some(quarter => !shown.has(quarter))) return n;
    if (versionOf(part) === 1) shown.add(part.quarter);
  }
  return quarters.length;
}

/** The checks over several quarters, and what they leave open, in words.
 *
 * @param {Quarter[]} quarters With rows of cases, oldest first.
 * @returns {{checks: Check[], notShown: string[]}} */
function checkSeries(quarters) {
  const series = new Check("series", quarters.length, incomparable(quarters));
  if (series.count) return {checks: [series], notShown: []};
  const known = knownHistory(quarters), claims = quarters.filter(({part}) => part.attacks.includes("b"));
  const judged = claims.filter(quarter => quarters.indexOf(quarter) < known && idsJoin(quarter.part));
  const notShown = quarters.filter(quarter => !judged.includes(quarter)).map(quarter => {
    const {part} = quarter, name = printable(part.quarter);
    if (!claims.includes(quarter))
      return `${name}: what joining it with the others tells, since its model, ${printable(part.model)}, `
        + "promises nothing of that";
    if (!idsJoin(part)) return `${name}: which cases are new, since a case has another id in every quarter`;
    return `${name}: which cases are new, since not exactly the releases that came before it in the `
      + `series (${printable(part.earlier_releases.join(", ") || "none")}) are given`;
  });
  const others = new Set(claims.flatMap(({part}) => part.attacks).filter(a => !"bfl".includes(a)));
  if (others.size) notShown.push(`the attacks ${printable([...others].sort().join(", "))}: give the `
    + "artifacts to srsql verify");
  if (!judged.length) return {checks: [series], notShown};
  const first = firstQuarters(quarters);
  notShown.push(...madeAnew(quarters, first));
  return {checks: [series, ...newCaseChecks(quarters, judged, first), coverCheck(quarters, judged, first)],
    notShown};
}

/** The number of the first quarter of each case.
 *
 * @param {Quarter[]} quarters Oldest first.
 * @returns {Map<number, number>} */
function firstQuarters(quarters) {
  const first = new Map();
  for (const [n, {cases}] of quarters.entries())
    for (const of of cases.cases) if (!first.has(of)) first.set(of, n);
  return first;
}

/** At least k cases of every region are new, and thresholds hold among these; where sets of
 * quasi-identifiers are protected each by itself, of every region of one set after the other.
 *
 * @param {Quarter[]} quarters
 * @param {Quarter[]} judged
 * @param {Map<number, number>} first
 * @returns {Check[]} */
function newCaseChecks(quarters, judged, first) {
  const enough = new Check("new k", 0), theta = new Check("new theta", 0);
  for (const {name, seen} of judged.flatMap(seenBySet)) {
    const {part, cases, thresholds} = seen, fresh = new Int32Array(cases.regions.length);
    for (const [region, of] of cases.pairs)
      if (quarters[/** @type {number} */ (first.get(of))].part.quarter === part.quarter)
        fresh[region] += 1;
    const place = (/** @type {number} */ region) =>
      `${name ? `set ${name}: ` : ""}${printable(part.quarter)} region (${cases.regions[region]})`;
    enough.total += fresh.length;
    fresh.forEach((count, region) => {
      if (count < part.k)
        enough.add(() => `${place(region)} has ${count} new case(s), k is ${part.k}`);
    });
    for (const {region, value, count} of valuesByRegion(seen)) {
      theta.total += 1;
      const [num, den] = thresholds.values.get(thresholdValue(part, value)) ?? [1n, 1n];
      const most = BigInt(Math.max(fresh[region], part.k));
      if (num < den && BigInt(count) * den > num * most)
        theta.add(() => `${place(region)}: ${count} cases hold ${printable(value)}, ${fresh[region]} are `
          + `new, its threshold is ${num}/${den}`);
    }
  }
  return [enough, theta];
}

/** A later region of a case covers its first one.
 *
 * @param {Quarter[]} quarters
 * @param {Quarter[]} judged
 * @param {Map<number, number>} first */
function coverCheck(quarters, judged, first) {
  const check = new Check("cover", 0);
  const regionOf = quarters.map(({cases}) => new Map(cases.pairs.map(([region, of]) => [of, region])));
  for (const later of judged) {
    const n = quarters.indexOf(later), known = new Map();
    for (const [region, of] of later.cases.pairs) {
      const before = /** @type {number} */ (first.get(of));
      if (before >= n) continue;
      check.total += 1;
      const early = /** @type {number} */ (regionOf[before].get(of)), key = `${before} ${early} ${region}`;
      if (!known.has(key)) known.set(key, uncovered(later, region, quarters[before], early));
      const name = known.get(key);
      if (name) check.add(() => `${printable(later.part.quarter)} case `
        + `${printable(idsOf(later.cases.reports).patient.dictionary.values[of])}: ${name} does not cover `
        + `its first region, (${quarters[before].cases.regions[early]})`);
    }
  }
  return check;
}

/** The first quasi-identifier by which a region does not cover an earlier one; empty: it covers it.
 *
 * @param {Quarter} later
 * @param {number} region
 * @param {Quarter} earlier
 * @param {number} early Its region. */
function uncovered(later, region, earlier, early) {
  for (const attribute of later.part.attributes) {
    const [wide, narrow] = [[later, region], [earlier, early]].map(([of, number]) => {
      const {cases} = /** @type {Quarter} */ (of), row = cases.regionRow[Number(number)];
      return regionColumns(cases.reports.columns, attribute)
        .map(column => valueAt(/** @type {Column} */ (column), row));
    });
    if (attribute.kind === "categorical") {
      const tree = later.trees.get(attribute.name);
      let node = narrow[0] ?? "";
      for (let steps = 0; node && node !== wide[0] && steps <= (tree?.size ?? 0); steps++)
        node = tree?.get(node) ?? "";
      if (node !== wide[0]) return attribute.name;
    } else if (wide[0] !== null) {
      const ends = [...wide, ...narrow].map(end => Decimal.of(end ?? ""));
      const [low, high, from, to] = ends;
      if (!low || !high || !from || !to || from.compare(low) < 0 || to.compare(high) > 0)
        return attribute.name;
    }
  }
  return "";
}

/** Why quarters that follow each other cannot be counted together; empty: they can.
 * @param {Quarter[]} quarters */
function unlike(quarters) {
  /** @param {Quarter} quarter */
  const shape = ({part}) => JSON.stringify([part.report_table, part.tables.map(({name, columns}) =>
    [name, columns.map(c => [c.name, c.type, c.role])])]);
  const other = quarters.find(quarter => shape(quarter) !== shape(quarters[0]));
  if (other) return `${printable(other.part.quarter)} has other tables or columns than `
    + printable(quarters[0].part.quarter);
  const twice = quarters.find(({part}, n) => n && quarters[n - 1].part.quarter === part.quarter);
  return twice ? `${printable(twice.part.quarter)} is in two of the artifacts: open one of them` : "";
}

/** Facts that only several quarters together tell.
 *
 * @param {Quarter[]} quarters
 * @returns {[string, string][]} */
function seriesFacts(quarters) {
  const named = new Set(quarters.flatMap(({part}) => part.earlier_releases));
  for (const {part} of quarters) named.delete(part.quarter);
  /** @type {[string, string][]} */
  const facts = [["quarters released before that were not opened",
    [...named].sort(byCodePoint).join(", ") || "none"]];
  if (quarters.every(({part}) => idsJoin(part))) {
    const seen = new Map();
    for (const {cases} of quarters) for (const of of cases.cases) seen.set(of, (seen.get(of) ?? 0) + 1);
    const several = [...seen.values()].filter(count => count > 1).length;
    facts.push(["cases over all quarters", `${seen.size}, of which ${several} are in more than one`]);
  }
  return facts.map(([name, value]) => [name, printable(value, 2000)]);
}
