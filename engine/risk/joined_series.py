"""The audit of all series together: what an attacker finds who has every release of a quarter.

A target is a case of a release with its original quasi-identifiers. Its candidates are the cases of
that release (scope=match), or those that show the same region in it (scope=group), whose region
covers it, once each region is cut down to what it has in common with the
regions of the rows that it links to in the other releases of the quarter: one to one by what is
published verbatim, and between versions of one series by the published id.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, groupby
from typing import ClassVar

from sqlglot import exp

from srsql.engine.audit.count_differences import CountDifference
from srsql.engine.catalog.layout import in_units, store_of
from srsql.engine.catalog.releases import as_released, countable_scopes, perturbed_positions
from srsql.engine.errors import AuditError
from srsql.engine.parameters import SCOPES
from srsql.engine.risk import linkability
from srsql.engine.store.frames import Framed
from srsql.engine.store.statements import column, create, query, table, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid

TOPIC = "risk/joined_series"
CASES, LINKS, TARGETS = "srsql_link_joined", "srsql_link_between", "srsql_link_target"


@dataclass(frozen=True)
class JoinedRow:
    """One release of a quarter that other releases hold, joined with them."""

    quarter: str
    release_id: int
    series: str
    model: str
    status: str
    joined: tuple[str, ...]
    """The other releases of the quarter."""
    scope: str
    """``group``: candidates are the cases that show the same region in this release; ``match``: all
    its cases."""
    k: int
    cases: int
    linked: int
    """Cases whose row links to some other release."""
    few: int
    """Cases left with fewer than k candidates."""
    few_alone: int
    """The same by the regions of this release alone."""


@dataclass(frozen=True)
class SeriesAudit(Framed):
    """All series of a dataset, as one attacker has them."""

    _tables: ClassVar[tuple[str, ...]] = ("releases", "counts")

    dataset: str
    safe: bool
    """No case is left with fewer than k candidates, and no tables of counts differ by fewer."""
    releases: list[JoinedRow]
    """Of the quarters that several releases hold, in order; one at each scope."""
    left_out: tuple[str, ...]
    """Series with releases that cannot be joined: somebody else's, rows that are no case's, cases
    with reports in several regions."""
    counts: tuple[CountDifference, ...] = ()
    """Pairs of tables of counts that are subtracted from each other."""

    @property
    def verdict(self) -> str:
        """Whether the series are safe together and by which figures, in one sentence."""
        if self.counts and not any(row.few for row in self.releases):
            return (
                f"Unsafe: {sum(each.found for each in self.counts):,} differences of tables of "
                "counts of one period, which are of fewer than k cases."
            )
        if not self.releases:
            return "Nothing was judged: no quarter is held by two releases with rows of cases."
        quarters = {row.quarter for row in self.releases}
        if self.safe:
            return (
                "Safe: whoever has all series finds no fewer than k candidates for anybody in the "
                f"{len(quarters):,} quarters that several releases hold."
            )
        few = [row for row in self.releases if row.few]
        worst = max(few, key=lambda row: row.few / max(1, row.cases))
        return (
            f"Unsafe: whoever has all series finds fewer than k candidates in "
            f"{len({row.quarter for row in few}):,} of {len(quarters):,} quarters; worst, "
            f"{worst.few:,} of {worst.cases:,} cases of {worst.quarter} in series {worst.series}."
        )


@dataclass(frozen=True)
class _Held:
    """A release of a quarter, with rows of cases."""

    quarter: str
    release_id: int
    series: str
    status: str
    model: str
    k: int

    @property
    def name(self) -> str:
        gone = f" (release {self.release_id}, superseded)" if self.status == "superseded" else ""
        return f"series {self.series}{gone}"


def audit_all_series(
    warehouse: Warehouse, dataset: Dataset, quarter: str | None = None, k: int | None = None
) -> SeriesAudit:
    """Join the releases of each quarter as one attacker would who has all of them.

    Source: SPEC sections 5, 9 (scope = match) and 18 (linkability).

    Args:
        warehouse: may be read-only.
        dataset: whose series.
        quarter: the only one to report; default: all.
        k: least number of candidates; default: each release's own.

    Raises:
        AuditError: nothing is released, or not that quarter; see ``Dataset.need_one_set``.
    """
    dataset.need_one_set(
        AuditError,
        "and series are joined by all of them at once: leave --all-series out and audit each "
        "--series",
    )
    asked = {"dataset": dataset.name, "quarter": quarter}
    found = [_Held(*row) for row in warehouse.rows(query(TOPIC, "releases"), asked)]
    if not found:
        when = "" if quarter is None else f" of {quarter}"
        raise AuditError(f"no release{when} of {dataset.name} is out: release a quarter first")
    rows: list[JoinedRow] = []
    without = set()
    with linkability.workspace(warehouse):
        for _, group in groupby(found, lambda one: one.quarter):
            held = []
            for one in group:
                shown = linkability.shows_cases(warehouse, dataset, one.release_id)
                shown = shown and "match" in countable_scopes(warehouse, one.release_id)
                held += [one] if shown else []
                without |= set() if shown else {one.series}
            if len(held) > 1:
                rows += _quarter(warehouse, dataset, held, k)
    theirs = warehouse.rows(query(TOPIC, "imported"), {"dataset": dataset.name})
    left_out = without | {name for (name,) in theirs}
    return SeriesAudit(
        dataset.name, not any(row.few for row in rows), rows, tuple(sorted(left_out))
    )


def _quarter(
    warehouse: Warehouse, dataset: Dataset, held: list[_Held], k: int | None
) -> list[JoinedRow]:
    """The rows of one quarter, whose releases are joined pair by pair."""
    _join(warehouse, dataset, held)
    rows = []
    for one in held:
        least = one.k if k is None else k
        targets = target_boxes(as_released(warehouse, dataset, one.release_id), one.release_id)
        warehouse.run(create(exp.to_table(TARGETS), targets, temp=True))
        key = {"release_id": one.release_id}
        linked = int(warehouse.value(query(TOPIC, "linked"), key))
        found = {
            (scope, joined): (int(few), int(cases))
            for scope, joined, few, cases in (
                (*row[2].split(", "), row[3], row[4])
                for row in warehouse.rows(query(TOPIC, "few_candidates"), {**key, "k": least})
            )
        }
        rows += [
            JoinedRow(
                quarter=one.quarter,
                release_id=one.release_id,
                series=one.series,
                model=one.model,
                status=one.status,
                joined=tuple(other.name for other in held if other is not one),
                scope=scope,
                k=least,
                cases=found[scope, "joined"][1],
                linked=linked,
                few=found[scope, "joined"][0],
                few_alone=found[scope, "alone"][0],
            )
            for scope in SCOPES
        ]
    return rows


def _join(warehouse: Warehouse, dataset: Dataset, held: list[_Held]) -> None:
    """Fill ``srsql_link_common``: what the releases tell of each row together."""
    cases = [
        linkability.case_rows(
            dataset,
            one.release_id,
            store_of(one.release_id, dataset.report_table),
            perturbed_positions(warehouse, one.release_id),
        )
        for one in held
    ]
    shown = exp.select(
        column("side", "c").as_("release_id"),
        *(column(n, "c") for n in ("case_no", "case_id", "box")),
    ).from_(union_all([*cases]).subquery("c"))
    warehouse.run(create(exp.to_table(CASES), shown, temp=True))
    columns = "(release_id INTEGER, case_no BIGINT, other_id INTEGER, counterpart BIGINT)"
    warehouse.run(f"CREATE OR REPLACE TEMP TABLE {LINKS} {columns}")
    for first, second in combinations(held, 2):
        both = {"first": first.release_id, "second": second.release_id}
        if first.series == second.series:
            warehouse.run(query(TOPIC, "add_versions"), both)
        else:
            linkability.compare(warehouse, dataset, first.release_id, second.release_id)
            warehouse.run(query(TOPIC, "add_pairs"), both)
    warehouse.run(query(TOPIC, "join_boxes"))


def target_boxes(dataset: Dataset, release_id: int) -> exp.Select:
    """(own_box, box) of every released case: its region, and its original quasi-identifiers.

    Both are coded as ``linkability.case_rows`` codes what is published.

    Args:
        dataset: as the model of the release took it.
        release_id: of the release.
    """
    q, g, m = "q", "g", "m"
    rows = exp.select().from_(table("srsql", "case_qid", alias=q))
    for name, alias, keys in (
        ("member", m, (("release_id", q), ("case_no", q))),
        ("region", g, (("release_id", q), ("position", q), ("group_id", m))),
    ):
        on = exp.and_(*(column(key, alias).eq(column(key, of)) for key, of in keys))
        rows = rows.join(table("srsql", name, alias=alias), on=on)
    boxes: dict[str, list[exp.Expr]] = {g: [], q: []}
    for position, qid in enumerate(dataset.qid):
        here = column("position", q).eq(exp.convert(position))
        for source, parts in boxes.items():
            ends: list[exp.Expr] = [column("low", source), column("high", source)]
            if qid.kind == "numeric":
                ends = [linkability.in_millionths(in_units(qid, end)) for end in ends]
            else:
                alias = f"{source}{position}"
                known = exp.and_(here.copy(), *_node(dataset, qid, alias, source))
                rows = rows.join(table("srsql", "node", alias=alias), on=known, join_type="left")
                names = ("low", "high") if qid.ranged else ("pre", "last")
                ends = [column(name, alias) for name in names]
                ends = [linkability.in_millionths(end) for end in ends] if qid.ranged else ends
            cells = [
                exp.func(how, exp.case().when(here.copy(), end))
                for how, end in zip(("min", "max"), ends, strict=True)
            ]
            parts.append(linkability.box_part(*cells))
    flat = [exp.func("flatten", exp.Array(expressions=parts)) for parts in boxes.values()]
    return (
        rows.select(flat[0].as_("own_box"), flat[1].as_("box"))
        .where(column("release_id", q).eq(exp.convert(release_id)))
        .group_by(column("case_no", q))
    )


def _node(dataset: Dataset, qid: Qid, alias: str, source: str) -> list[exp.Expr]:
    """That ``alias`` is the node of ``source``, but no root, which is published for "missing".

    Of a category over a number all nodes below are taken: the leaves have its range.
    """
    pre, low, high = column("pre", alias), column("low", source), column("high", source)
    conditions: list[exp.Expr] = [
        column("dataset", alias).eq(exp.Literal.string(dataset.name)),
        column("attribute", alias).eq(exp.Literal.string(qid.name)),
    ]
    if qid.ranged:
        return [*conditions, pre >= low, pre <= high]
    not_root = column("parent", alias).is_(exp.null()).not_()
    return [*conditions, pre.eq(low), column("last", alias).eq(high), not_root]
