"""Risk and loss of a release, as uniform rows: of its regions, and of terms apart from records.

Of regions, each row is made by a macro. Of terms (Loukides 2014, section 6) it is made of a
workload of queries whose truth the originals tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from srsql.engine.catalog.datasets import term_keys
from srsql.engine.catalog.released_terms import ALL, PublishedNodes, PublishedTerms
from srsql.engine.catalog.releases import ReleasedTerms, key_of, released_terms
from srsql.engine.errors import PolicyError, WarehouseError
from srsql.engine.measures import MeasureRow
from srsql.engine.risk.term_counts import (
    Answering,
    CombinationShare,
    TermCount,
    at_item_means,
    combination_shares,
    count_terms,
    load_originals,
    published_terms,
)
from srsql.engine.risk.term_loss import (
    Answer,
    RelativeError,
    answer_workload,
    average_relative_error,
    held_sets,
    matching_errors,
    random_sets,
)
from srsql.engine.risk.units import BY_UNITS, UnitsOfGroups, measure_units
from srsql.engine.shapes import catalog_shape
from srsql.engine.store.statements import literal, query
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.itemsets import frequent_itemsets
from srsql.engine.terms.policies import UtilityPolicy
from srsql.schemas import Dataset

TOPIC = "risk/metrics"
OPTIONAL = {"suppressed_value_rate({id})": "suppresses", "delay_rate({id})": "waited"}
"""Those that have no rows of most releases -> the query that tells whether they can have any."""
MACROS = (
    "information_loss({id})",
    "star_information_loss({id})",
    "danger_ratio({id})",
    "withheld_rate({id})",
    "suppression_rate({id})",
    "suppressed_value_rate({id})",
    "group_sizes({id})",
    "lattice_loss({id})",
    BY_UNITS,
    "delay_rate({id})",
)
"""Calls in the schema ``srsql``; each returns uniform rows."""
SUPPORTS = ("5", "2.5", "1.25", "0.625")
"""Minimum supports of the frequent itemsets of W1, in percent of the records."""
MOST_SETS = 20_000
"""Itemsets of one support that are asked; a release with more is asked at higher supports only."""
RECORDS = 2_000
"""Records drawn of which it is asked what a known term or two of theirs tell."""
_CERTAIN = "srsql_certain_sets"
HELD = "held"
"""In the name of the workload W2 of sets that some record holds."""
SEED = 0
"""Of the random sets of W2: whoever measures a release again asks the same."""


def measure(
    warehouse: Warehouse, release_id: int, *, units: UnitsOfGroups | None = None
) -> list[MeasureRow]:
    """Every metric that applies to the release, computed now from the catalog.

    Which of its bounds the release keeps, and so which verdict stands, the registry of checks
    says (``engine.checks.registry.judged``). Of somebody else's release neither k nor theta nor
    what was withheld is known, so nothing is said about them; nor of what its cases lost, unless
    their originals were told.

    Args:
        warehouse: that has the release.
        release_id: of it.
        units: what ``measure_units`` found of it; default: it is measured now.
    """
    rows: list[MeasureRow] = []
    for macro in MACROS:
        if macro == BY_UNITS:
            rows += (units or measure_units(warehouse, release_id)).rows
            continue
        if macro in OPTIONAL and not _is(warehouse, OPTIONAL[macro], release_id):
            continue
        call = "SELECT m.* FROM srsql." + macro.format(id=int(release_id))
        found = warehouse.rows(call + " AS m ORDER BY m.measure DESC, m.scope")
        rows += [MeasureRow(*row) for row in found]
    return catalog_shape(warehouse, release_id).measured(warehouse, release_id, rows)


def loss_bound(
    warehouse: Warehouse, release_id: int, measured: Sequence[MeasureRow]
) -> list[MeasureRow]:
    """A lower bound of NIL over all groupings of its cases; nothing of what has no NIL.

    Raises:
        WarehouseError: the release has no groups, or originals of none of its cases are known.
    """
    if not any(row.measure == "nil" and row.total for row in measured):
        raise WarehouseError(
            "--bound: the release has no groups whose loss NIL measures, so that there is nothing "
            "to compare a bound with: leave it out"
        )
    found = warehouse.rows(f"FROM srsql.loss_bound({release_id:d})")
    return [MeasureRow(*row) for row in found]


def suppresses(warehouse: Warehouse, release_id: int) -> bool:
    """Whether some value of a case of the release is suppressed."""
    return _is(warehouse, "suppresses", release_id)


def store_measures(
    warehouse: Warehouse, release_id: int, stage: str, rows: list[tuple[Any, ...]]
) -> None:
    """Keep uniform rows in ``srsql.measure``."""
    if rows:  # one statement: each of them would cost as much as all
        marks = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(rows))
        warehouse.run(
            f"INSERT INTO srsql.measure VALUES {marks}",
            [value for row in rows for value in (release_id, stage, *row[1:])],
        )


def measure_terms(warehouse: Warehouse, dataset: Dataset, release_id: int) -> list[MeasureRow]:
    """ARE on W1 and W2, MRE of the policy, and what known terms single out or tell.

    W2 is asked twice: of random sets, and of random sets that some record holds ("W2 held"). Beside
    every ARE stands the standard deviation of the errors of its queries (``are_deviation``).

    Also how many terms are suppressed (of a disassociated release none, which is counted too), and
    of a release that generalizes ARE over the queries without any of them, as Loukides 2014,
    section 6.3, compares "for a fair comparison" (``are_released``).

    Reads the raw rows of the released cases; no rows where the release tells no terms apart.
    """
    found = _released(warehouse, release_id)
    if found is None:
        return []
    terms, tables = found
    originals = load_originals(warehouse, dataset, release_id, terms)
    lost = _suppressed(warehouse, tables, originals)
    rows = [_suppressed_row(warehouse, originals, release_id, lost)]
    gone = lost if isinstance(tables, PublishedNodes) else None
    for support in SUPPORTS:
        try:
            found_sets = frequent_itemsets(warehouse, originals, support, at_most=MOST_SETS)
        except PolicyError:  # more sets than that: lower supports have more still
            break
        answers = answer_workload(warehouse, tables, originals, [s.terms for s in found_sets])
        for measure, error in _errors(warehouse, answers, gone):
            if error.terms is None:
                rows += _are(release_id, measure, f"W1, {support} %", error)
    for name, workload in (("W2", random_sets), (f"W2 {HELD}", held_sets)):
        sets = workload(warehouse, originals, SEED)
        answers = answer_workload(warehouse, tables, originals, sets)
        for measure, error in _errors(warehouse, answers, gone):
            size = "all" if error.terms is None else f"{error.terms} of them"
            rows += _are(release_id, measure, f"{name}, {size}", error)
    rows += _policy_rows(warehouse, tables, originals, release_id)
    for share in combination_shares(warehouse, originals):
        if share.records == 1:
            scope = f"{share.terms} terms" + ("" if share.exact else ", estimated")
            rows.append(
                MeasureRow(
                    release_id, "singled_out", scope, None, share.examined, share.share, None, None
                )
            )
    if isinstance(tables, PublishedTerms):
        rows += _certain_inference(warehouse, tables, originals, release_id)
    return rows


def _certain_inference(
    warehouse: Warehouse, tables: PublishedTerms, originals: str, release_id: int
) -> list[MeasureRow]:
    """Of how many records a further term follows from one or two that are known (Awad 2019)."""
    sets = tables.call("certain_sets", ALL, literal(originals), str(RECORDS))
    warehouse.run(f"CREATE OR REPLACE TEMP TABLE {_CERTAIN} AS FROM {sets}")
    rows = [
        MeasureRow(*row)
        for row in warehouse.rows(
            f"FROM srsql.certain_inference('temp.main.{_CERTAIN}', {release_id:d})"
        )
    ]
    warehouse.run(f"DROP TABLE temp.main.{_CERTAIN}")
    return rows


def term_combinations(
    warehouse: Warehouse, dataset: Dataset, release_id: int
) -> list[CombinationShare]:
    """The shares of Fig. 12 of Loukides 2014: of the originals of a release's terms.

    Nothing where the release tells no terms apart.
    """
    found = _released(warehouse, release_id)
    if found is None:
        return []
    return combination_shares(warehouse, load_originals(warehouse, dataset, release_id, found[0]))


def count_term_sets(
    warehouse: Warehouse, release_id: int, sets: list[tuple[str, ...]]
) -> list[TermCount]:
    """How many records hold each set, from the released tables alone, which have keys of terms."""
    found = _released(warehouse, release_id)
    if found is None:
        return []
    if version := key_of(warehouse, release_id):
        keys = [term_keys(warehouse, each, version) for each in sets]
        sets = [tuple(key for key in each if key is not None) for each in keys]
    return count_terms(warehouse, found[1], sets)


def _errors(
    warehouse: Warehouse, answers: list[Answer], gone: frozenset[str] | None
) -> list[tuple[str, RelativeError]]:
    """ARE of all queries, and, with the terms that are gone, of those that have none of them."""
    found = [("are", error) for error in average_relative_error(warehouse, answers)]
    if gone is None:
        return found
    kept = [answer for answer in answers if gone.isdisjoint(answer.terms)]
    return found + [("are_released", error) for error in average_relative_error(warehouse, kept)]


def _suppressed(warehouse: Warehouse, tables: Answering, originals: str) -> frozenset[str]:
    """The terms of the originals that are not released."""
    shown = " UNION ".join(f"SELECT t.term FROM {name} AS t" for name in tables.shown)
    return frozenset(
        term
        for (term,) in warehouse.rows(
            f"SELECT DISTINCT o.term FROM {originals} AS o ANTI JOIN ({shown}) AS n "
            "ON o.term = n.term"
        )
    )


def _suppressed_row(
    warehouse: Warehouse, originals: str, release_id: int, gone: frozenset[str]
) -> MeasureRow:
    total = warehouse.value(f"SELECT count(DISTINCT o.term) FROM {originals} AS o")
    ratio = len(gone) / total if total else None
    return MeasureRow(
        release_id, "suppressed_terms", "distinct term", len(gone), total, ratio, None, None
    )


def _are(release_id: int, measure: str, scope: str, error: RelativeError) -> list[MeasureRow]:
    """The mean and the deviation of the errors of the queries."""
    total = None if error.are is None else error.are * error.queries
    n, spread = error.queries, error.deviation
    return [
        MeasureRow(release_id, measure, scope, total, n, error.are, None, None),
        MeasureRow(release_id, f"{measure}_deviation", scope, None, n, spread, None, None),
    ]


def _policy_rows(
    warehouse: Warehouse, tables: Answering, originals: str, release_id: int
) -> list[MeasureRow]:
    members: dict[str, list[str]] = {}
    for name, term in _rows(warehouse, "utility_constraints", release_id):
        members.setdefault(name, []).append(term)
    if not members:
        return []
    policy = UtilityPolicy("policy", {name: tuple(terms) for name, terms in members.items()})
    errors = matching_errors(warehouse, tables, originals, policy)
    asked = len(errors.constraints) - errors.untold
    near = None if errors.near is None else round(errors.near * asked)
    rows = [
        MeasureRow(release_id, "mre_within_5", "constraint", near, asked, errors.near, None, None)
    ]
    return rows + [
        MeasureRow(release_id, "mre", i.interval, i.constraints, asked, i.share, None, None)
        for i in errors.intervals
        if i.constraints
    ]


def _released(warehouse: Warehouse, release_id: int) -> tuple[ReleasedTerms, Answering] | None:
    """What a release tells apart from records, and its tables; None: nothing, or they are gone."""
    terms = released_terms(warehouse, release_id)
    schema, status = _rows(warehouse, "views", release_id)[0]
    if terms is None or status == "superseded":
        return None
    tables = published_terms(terms.term_format, schema)
    if isinstance(tables, PublishedTerms):
        tables = at_item_means(warehouse, tables, terms)
    return terms, tables


def _is(warehouse: Warehouse, name: str, release_id: int) -> bool:
    return any(found for (found,) in _rows(warehouse, name, release_id))


def _rows(warehouse: Warehouse, name: str, release_id: int) -> list[tuple[Any, ...]]:
    return warehouse.rows(query(TOPIC, name), {"release_id": release_id})
