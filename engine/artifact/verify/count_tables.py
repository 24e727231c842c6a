"""Counts in the place of items: what an artifact shows of the rules by which they are told.

Everything is derived from published cells, regions and thresholds (SPEC section 19, decision 39),
in plain Python; neither what makes counts nor what checks a release takes part. Where the rules ask
for counts that are not told, the widest bounds are taken that the told ones leave: what breaks a
rule for every such count is refused, and the rest is listed as not shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import (
    ITEM_CELLS,
    MANIFEST,
    PAIR_CELLS,
    UNIT_CELLS,
    CountsClaim,
    Manifest,
)
from srsql.engine.artifact.verify.contradictions import Trees, uniform_faults
from srsql.engine.artifact.verify.count_cells import Cells, Item, Key, item_place
from srsql.engine.artifact.verify.count_rules import (
    bridge_faults,
    cell_faults,
    key_words,
    share_faults,
    way_out_faults,
)
from srsql.engine.artifact.verify.count_strata import (
    ALL,
    Strata,
    due_strata,
    due_units,
    placed,
    regions_of,
    rows_of,
    strata_check,
)
from srsql.engine.artifact.verify.files import read_hierarchies, read_thresholds
from srsql.engine.artifact.verify.frequency import RankedValue
from srsql.engine.artifact.verify.published_rows import published_rows
from srsql.engine.artifact.verify.reading import connection, loaded, read_tables
from srsql.engine.artifact.verify.region_counts import (
    NO_ROWS,
    WITHOUT_IDS,
    alone_faults,
    region_count_check,
)
from srsql.engine.artifact.verify.rows import bounds_check
from srsql.engine.artifact.verify.term_keys import key_of_term
from srsql.engine.artifact.verify.verdict import Check, ids_join
from srsql.engine.catalog.series import ORIGINAL, PER_QUARTER
from srsql.engine.errors import VerifyError
from srsql.engine.store.statements import column, temporary
from srsql.schemas import builtin_names, load_dataset

COUNT_CHECKS = ("strata", "told units", "told counts", "told shares", "ways out", "bridges")
OF_SERIES = "new units"
UNTOLD = (
    "{quarter}: that counts are those of the released cases: what cases hold is not published; nor "
    "that all is told that the rules allow"
)
NOT_FINEST = (
    "{quarter}: rules G1 and G2 by the finest strata: {pairs:,} of {total:,} told counts of two "
    "items rest on items that are told of wider strata; no count that fits them refutes the rules"
)
NO_JOINT = (
    "{quarter}: rule G3 of {bridges:,} triples of which the joint count of the two partners is not "
    "told, of {total:,} that could force a sensitive item on somebody"
)
NOT_NEW = (
    "{quarter}: that counts are of the cases that no earlier release has: give the artifacts of "
    "all earlier quarters as well"
)


def check_counts(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest, trees: Trees
) -> tuple[list[Check], list[RankedValue], list[str]]:
    """Every check on the loaded tables of counts.

    Args:
        con: into which the tables were loaded.
        folder: of the artifact.
        manifest: that declares them.
        trees: its hierarchies.

    Returns:
        The checks; the told values that have thresholds, with the cases that hold them; and what
        is not shown, in words.

    Raises:
        ValueError: the thresholds cannot be read.
    """
    claim = manifest.counted
    if claim is None:
        return [], [], []
    first, strata = strata_check(con, manifest, trees)
    if strata is None:
        return [first, *(Check(name, ["there is no tree of strata"], 0)
                         for name in COUNT_CHECKS[1:])], [], []  # fmt: skip
    told, shape, total = _told(con, claim, strata)
    cells = Cells(strata, told)
    theta, listed, of_thresholds = _thresholds(folder, manifest, cells)
    regions = placed(manifest, trees, strata, regions_of(con, manifest))
    units = Check("told units", list(_unit_faults(manifest, cells, regions, claim.k)), len(told))
    counts = [*shape, *cell_faults(cells), *_spelling_faults(manifest, claim, cells)]
    shares = [*of_thresholds, *share_faults(cells, theta, claim.k)]
    ways, coarse, pairs = way_out_faults(cells, theta, claim.k, claim.pairs)
    forced, open_bridges, bridges = bridge_faults(cells, theta)
    checks = [
        first,
        units,
        Check("told counts", counts, total),
        Check("told shares", shares, total),
        Check("ways out", ways, total),
        Check("bridges", forced, bridges),
    ]
    unproved = [UNTOLD.format(quarter=manifest.quarter)]
    if manifest.counts_alone:
        checks.append(region_count_check(con, manifest))
        checks.append(bounds_check(con, folder, manifest))
        unproved.append(WITHOUT_IDS.format(quarter=manifest.quarter))
    if coarse:
        unproved.append(NOT_FINEST.format(quarter=manifest.quarter, pairs=coarse, total=pairs))
    if open_bridges:
        told_bridges = {"bridges": open_bridges, "total": bridges}
        unproved.append(NO_JOINT.format(quarter=manifest.quarter, **told_bridges))
    return checks, listed, unproved


def _told(
    con: duckdb.DuckDBPyConnection, claim: CountsClaim, strata: Strata
) -> tuple[dict[Key, dict[str, int]], list[str], int]:
    """The cells by their keys, what is wrong with single ones, and how many there are."""
    told: dict[Key, dict[str, int]] = {}
    faults, total = list[str](), 0
    kinds = {frozenset(pair) for pair in claim.pairs}
    for name in (UNIT_CELLS, ITEM_CELLS, PAIR_CELLS):
        rows = rows_of(con, name)
        total += len(rows)
        if any(_place(one) > _place(other) for one, other in pairwise(rows)):
            faults.append(f"the rows of {name} are not in the order of their columns")
        for stratum, *named, cases in rows:
            pairs = list(zip(named[::2], named[1::2], strict=True))
            key = tuple(sorted(pairs, key=item_place))
            words = f"{key_words(key)} of {stratum!r}"
            if stratum not in strata.nodes:
                faults.append(f"{words}: there is no such stratum")
            elif any(attribute not in claim.attributes for attribute, _ in key):
                faults.append(f"{words}: its column is not counted")
            elif len(key) == 2 and frozenset(a for a, _ in key) not in kinds:
                faults.append(f"{words}: these columns are not counted together")
            elif cases is None or cases < claim.k:
                faults.append(f"{words} is {cases}, fewer than {claim.k}")
            elif stratum in told.get(key, {}):
                faults.append(f"{words} is told twice")
            else:
                told.setdefault(key, {})[stratum] = cases
    return told, faults, total


def _place(row: Sequence[Any]) -> list[tuple[bool, Any]]:
    """Where a row stands: texts by their bytes, what is missing last."""
    return [
        (value is None, value.encode() if isinstance(value, str) else value or 0) for value in row
    ]


def _thresholds(
    folder: Path, manifest: Manifest, cells: Cells
) -> tuple[dict[Item, tuple[int, int]], list[RankedValue], list[str]]:
    """The thresholds of told items, their values by number of cases, and what is wrong."""
    claim, faults = manifest.counted, list[str]()
    assert claim is not None
    values, nums, dens = read_thresholds(folder, manifest)
    listed = dict(zip(values, zip(nums, dens, strict=True), strict=True))
    if len(listed) < len(values):
        faults.append("a value has two thresholds")
    wrong = [v for v, (num, den) in listed.items() if den < 1 or not 0 <= num <= den]
    faults += [f"{value} has the threshold {'/'.join(map(str, listed[value]))}" for value in wrong]
    sensitive = [item for item in cells.items if item[0] in claim.sensitive and item[1] is not None]
    told = {str(term) for _, term in sensitive}
    faults += uniform_faults(values, nums, dens, manifest.parameters.get("theta"))
    faults += [f"{value} has a threshold, and no count" for value in listed if value not in told]
    theta: dict[Item, tuple[int, int]] = {}
    cases: Counter[str] = Counter()
    for item in sensitive:
        term = str(item[1])
        if term not in listed:
            faults.append(f"{key_words((item,))} is told, and has no threshold")
        theta[item] = listed.get(term, (0, 1)) if term not in wrong else (0, 1)
        cases[term] = max(cases[term], cells.sums[(item,)].get(ALL, 0))
        num, den = theta[item]
        if 0 < num < den and claim.k * num < den:
            faults.append(f"k of counts is {claim.k}, less than 1 / theta of {term}, {num}/{den}")
    ranked = [
        RankedValue(value, Fraction(*listed[value]), cases[value])
        for value in listed
        if value in told and value not in wrong
    ]
    return theta, ranked, faults


def _unit_faults(
    manifest: Manifest, cells: Cells, regions: Mapping[str, int], k: int
) -> Iterator[str]:
    """Numbers of cases that are not those of the rows; of a later release, that are more."""
    told = dict(cells.told.get((), {}))
    if not manifest.earlier_releases or manifest.counts_alone:
        yield from _not_due(told, due_units(cells.strata, regions, k))
        return
    for node, cases in told.items():
        if cases > regions.get(node, 0):
            yield f"{cases:,} cases of {node!r} are counted, the rows have {regions.get(node, 0):,}"


def _not_due(told: Mapping[str, int], due: Mapping[str, int]) -> Iterator[str]:
    for node in dict.fromkeys([*told, *due]):
        if told.get(node) != due.get(node):
            yield (
                f"cases of {node!r} are told as {told.get(node, 'none')}, by the rows they are "
                f"{due.get(node, 'not told')}"
            )


def _spelling_faults(manifest: Manifest, claim: CountsClaim, cells: Cells) -> Iterator[str]:
    """Terms that are told under another text than their key, or in two spellings."""
    if not manifest.term_key:
        return
    spelled: dict[tuple[str, str | None], str] = {}
    for attribute, term in cells.items:
        if term is None:
            continue
        key = key_of_term(term)
        if attribute in claim.sensitive and term != key:
            yield f"{attribute} {term!r} is told by another text than its key, {key!r}"
        if (other := spelled.setdefault((attribute, key), term)) != term:
            yield f"{attribute} {term!r} and {other!r} are one term"


def new_units_check(
    given: Sequence[tuple[Path, Manifest]], memory_limit: str | None = None
) -> tuple[list[Check], list[str]]:
    """Counts of later quarters are of the cases that no earlier artifact has (rule R6).

    Args:
        given: artifacts of one series with rows, oldest first; each passed its own checks.
        memory_limit: of DuckDB; None: what it takes by itself.

    Returns:
        The check, and what is not shown; nothing where no artifact has counts.
    """
    if not any(manifest.counted and manifest.report_table for _, manifest in given):
        return [], []
    faults, unproved, total = list[str](), list[str](), 0
    so_far = set[str]()
    with connection(
        *dict.fromkeys(folder for folder, _ in given), memory_limit=memory_limit
    ) as con:
        con.execute("CREATE TEMP TABLE srsql_known_unit (case_id VARCHAR)")
        for folder, manifest in given:
            if manifest.counts_alone:  # which says so of itself
                so_far.add(manifest.quarter)
                continue
            whole = set(manifest.earlier_releases) <= so_far and ids_join(manifest)
            so_far.add(manifest.quarter)
            if unread := read_tables(con, folder, manifest):
                raise VerifyError(f"{folder} was changed while it was verified: {unread[0]}")
            if manifest.counted is not None and not whole:
                unproved.append(NOT_NEW.format(quarter=manifest.quarter))
            elif manifest.counted is not None:
                total += 1
                faults += [
                    f"{manifest.quarter}: {text}" for text in _new_faults(con, folder, manifest)
                ]
            con.execute(_known_units(manifest).sql("duckdb"))
    return [Check(OF_SERIES, faults, total)], unproved


def _case_id(manifest: Manifest) -> exp.Expr:
    named = {c.role: c.name for c in manifest.reports.columns}
    return exp.cast(column(named.get("case id", named["report id"]), "t"), "VARCHAR")


def _known_units(manifest: Manifest) -> exp.Insert:
    rows = exp.select(_case_id(manifest)).distinct()
    rows = rows.from_(temporary(loaded(manifest.reports.name), alias="t"))
    return exp.insert(rows, temporary("srsql_known_unit"))


def _new_faults(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> list[str]:
    """Numbers of cases that are not those of the rows that are new."""
    trees, claim = read_hierarchies(folder, manifest), manifest.counted
    assert claim is not None
    strata = Strata(due_strata(claim.cuts))
    shown = [column(c.name, "t") for c in manifest.reports.columns if c.attribute]
    known = exp.select("1").from_(temporary("srsql_known_unit", alias="k"))
    known = known.where(column("case_id", "k").eq(_case_id(manifest)))
    rows = (
        exp.select(*shown, exp.Count(this=exp.Distinct(expressions=[_case_id(manifest)])))
        .from_(temporary(loaded(manifest.reports.name), alias="t"))
        .where(exp.not_(exp.Exists(this=known)))
        .group_by(*[each.copy() for each in shown])
    )
    cases = placed(manifest, trees, strata, con.execute(rows.sql("duckdb")).fetchall())
    told = {str(node): int(cases) for node, cases in rows_of(con, UNIT_CELLS)}
    return list(_not_due(told, due_units(strata, cases, claim.k)))


def counted_faults(manifest: Manifest) -> list[str]:
    """What the manifest says of counts and cannot be true at once, or is not as the dataset that
    ships declares."""
    claim, told = manifest.counted, manifest.parameters
    if claim is None:
        names = (NO_ROWS, "table_k", "table_items", "table_pairs", "table_strata")
        return [
            f"{MANIFEST}: parameter {n} is there, and counts are not" for n in names if n in told
        ]
    faults = (*_claim_faults(claim, manifest), *_kinds(manifest), *alone_faults(manifest))
    return [f"{MANIFEST}: {text}" for text in faults]


def _claim_faults(claim: CountsClaim, manifest: Manifest) -> Iterator[str]:
    told = manifest.parameters
    due: dict[str, int | str] = {
        "table_k": claim.k,
        "table_items": ", ".join(claim.attributes),
        "table_pairs": ", ".join(f"{one} x {other}" for one, other in claim.pairs),
    }
    for name, value in due.items():
        if told.get(name) != value:
            yield f"parameter {name} is {told.get(name)!r}, not {value!r}"
    if len(set(claim.attributes)) < len(claim.attributes):
        yield "a column is counted twice"
    if not set(claim.sensitive) <= set(claim.attributes):
        yield "columns have thresholds that are not counted"
    if len({frozenset(pair) for pair in claim.pairs}) < len(claim.pairs):
        yield "two columns are counted together twice"
    for one, other in claim.pairs:
        if one == other or not {one, other} <= set(claim.attributes):
            yield f"{one} and {other} are counted together, and are no two counted columns"
        if {one, other} <= set(claim.sensitive):
            yield f"{one} and {other} are counted together, and values of both have thresholds"
    if (
        told.get("version", 1) != 1
        or "correction" in told
        or manifest.quarter in manifest.earlier_releases
    ):
        yield "counts that were told are told anew, which no rule allows (R7)"
    if told.get("ids") in (PER_QUARTER, ORIGINAL):
        yield f"counts go with ids of the series, not with {told.get('ids')!r}"
    claimed = {"max_delay", "theta_bounds", "counted", "external_knowledge"} & told.keys()
    claimed -= {n for n in claimed if n == "external_knowledge" and told[n] != "yes"}
    if claimed or published_rows(manifest).by_set(COUNT_CHECKS) or manifest.perturbed:
        yield f"counts do not go with {', '.join(sorted(claimed)) or 'sets or drawn values'}"


def _kinds(manifest: Manifest) -> Iterator[str]:
    """Columns that the dataset which ships does not have so: values with thresholds, and pairs."""
    claim = manifest.counted
    assert claim is not None
    if manifest.dataset not in builtin_names():
        return
    dataset = load_dataset(manifest.dataset)
    published = {
        name for table in dataset.child_tables for name in (*table.publish, *table.optional)
    }
    for name in claim.attributes:
        if name not in published:
            yield f"{name} is counted, and dataset {dataset.name} publishes no such column"
    due = [a.column for a in dataset.sensitive if a.column in claim.attributes]
    if list(dict.fromkeys(due)) != list(claim.sensitive):
        yield f"thresholds are of {', '.join(claim.sensitive)}, and are due of {', '.join(due)}"
    if dataset.signals is None:
        return
    leading = {dataset.signals.drug, dataset.signals.reaction}
    wanted = {
        frozenset(pair)
        for pair in combinations(claim.attributes, 2)
        if leading & set(pair) and not set(pair) <= set(due)
    }
    if {frozenset(pair) for pair in claim.pairs} != wanted:
        yield f"other columns are counted together than dataset {dataset.name} declares"
