"""Which rows of a release link to rows of another one: another series, version or quarter.

Releases are compared as they were published. An item is a normalized value of one published
column, apart from serial numbers and the role of a drug: who gets two releases joins them by what
is published verbatim, whatever the ids.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from srsql.engine.catalog.datasets import registered_dataset, trimmed
from srsql.engine.catalog.layout import store_of
from srsql.engine.catalog.releases import perturbed_positions
from srsql.engine.measures import MeasureRow
from srsql.engine.store.statements import (
    STORE,
    column,
    create,
    dotted,
    query,
    scalar_macro,
    table,
    temporary,
    union_all,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "risk/linkability"
Kind = Literal["other series", "earlier version", "other quarter of this series", "other dataset"]
CASES, ITEMS = "srsql_link_case", "srsql_link_item"
PAIRS = "srsql_link_pair"
TOGETHER = "srsql_link_together"
ANY = "any of these"
"""Scope of the rows that link to one release or more."""
_ITEM_COLUMNS = "(side INTEGER, case_no BIGINT, attribute VARCHAR, term VARCHAR)"
_MILLIONTHS = 1_000_000
"""In which numbers are counted: the catalog has no finer granules."""


@dataclass(frozen=True)
class Other:
    """A release that rows could link to."""

    kind: Kind
    release_id: int
    series: str
    quarter: str
    status: str
    dataset: str = ""
    """Of the release, where it is another one; empty: the same."""
    apart: str = ""
    """Its quarter, where it is another one, of which cases waited; empty: the same."""

    @property
    def scope(self) -> str:
        """Its name in uniform rows and messages."""
        if self.kind == "earlier version":
            return f"earlier version (release {self.release_id})"
        if self.kind == "other quarter of this series":
            return f"{self.quarter} of this series"
        gone = f", superseded (release {self.release_id})" if self.status == "superseded" else ""
        of = f"dataset {self.dataset}, " if self.dataset else ""
        at = f"{self.apart} of " if self.apart else ""
        return f"{of}{at}series {self.series}{gone}"


@dataclass(frozen=True)
class Links:
    """How many rows of a release link to others."""

    to_each: list[tuple[Other, MeasureRow]]
    """In the order that was asked for; those that could be compared."""
    to_any: MeasureRow | None
    """Rows that link to some of those that are counted together; None: none was compared."""


def other_releases(warehouse: Warehouse, release_id: int) -> list[Other]:
    """The releases of the quarter that are or were out, in this series and in others; of another
    series also those of other quarters, where cases waited from one to the other.

    Those of another dataset count where they were made of some of the same files. Those whose rows
    are no case's, and somebody else's, have no rows that could be compared.
    """
    key = {"release_id": release_id}
    own = warehouse.rows(query(TOPIC, "own"), key)[0][1]
    return [
        Other("earlier version" if row[1] == own else "other series", *row)
        for row in warehouse.rows(query(TOPIC, "of_the_quarter"), key)
    ] + [Other("other dataset", *row) for row in warehouse.rows(query(TOPIC, "of_the_files"), key)]


def neighbours(warehouse: Warehouse, release_id: int) -> list[Other]:
    """What is out of the series for the quarter before and the quarter after."""
    rows = warehouse.rows(query(TOPIC, "of_the_series"), {"release_id": release_id})
    return [Other("other quarter of this series", *row) for row in rows]


def measure_linkability(
    warehouse: Warehouse, dataset: Dataset, release_id: int
) -> list[MeasureRow]:
    """Rows that link to each other release of the quarter, and to the quarters beside it.

    Args:
        warehouse: may be read-only.
        dataset: of the release.
        release_id: of the release.
    """
    others = other_releases(warehouse, release_id)
    same = {each.release_id for each in others}
    every = [*others, *neighbours(warehouse, release_id)]
    found = link(warehouse, dataset, release_id, every, same)
    rows = [row for _, row in found.to_each]
    several = sum(other.release_id in same for other, _ in found.to_each) > 1
    return [*rows, found.to_any] if found.to_any and several else rows


def link(
    warehouse: Warehouse,
    dataset: Dataset,
    release_id: int,
    others: Sequence[Other],
    together: Collection[int],
) -> Links:
    """How many rows of a release link to each of the others, and to any of some.

    Source: SPEC section 18 (linkability).

    Args:
        warehouse: may be read-only, or within a transaction.
        dataset: of the release.
        release_id: a release or a draft.
        others: what its rows are compared with; those without rows of cases are left out.
        together: numbers of those whose links are counted together.
    """
    to_each: list[tuple[Other, MeasureRow]] = []
    to_any = None
    shared = dotted("temp", "main", TOGETHER)
    with workspace(warehouse):
        warehouse.run(f"CREATE OR REPLACE TEMP TABLE {TOGETHER} (case_no BIGINT)")
        for other in others:
            if other.dataset:
                row = _row_of_shared_cases(warehouse, dataset, release_id, other)
                if row is not None:
                    to_each.append((other, row))
                continue
            if not compare(warehouse, dataset, release_id, other.release_id):
                continue
            to_each.append((other, _row(warehouse, release_id, other.scope, PAIRS)))
            if other.release_id in together:
                found = dotted("temp", "main", PAIRS)
                warehouse.run(f"INSERT INTO {shared} SELECT p.case_no FROM {found} AS p")
                to_any = _row(warehouse, release_id, ANY, TOGETHER)
    for other, row in to_each:  # those of another dataset are numbered otherwise
        counts = other.dataset and other.release_id in together
        if counts and (to_any is None or (row.violating or 0) > (to_any.violating or 0)):
            to_any = replace(row, scope=ANY)
    return Links(to_each, to_any)


def _row_of_shared_cases(
    warehouse: Warehouse, dataset: Dataset, release_id: int, other: Other
) -> MeasureRow | None:
    """The cases that a release of another dataset shows as well; None: one shows no cases.

    Both are made of the same reports, and publish of them what links nearly every row to its own:
    every case that both have counts as linked.
    """
    theirs = registered_dataset(warehouse, other.dataset)
    shown = shows_cases(warehouse, dataset, release_id)
    if not (shown and shows_cases(warehouse, theirs, other.release_id)):
        return None
    key = {"release_id": release_id, "other": other.release_id, "scope": other.scope}
    return MeasureRow(*warehouse.rows(query(TOPIC, "shared_cases"), key)[0])


def _row(warehouse: Warehouse, release_id: int, scope: str, pairs: str) -> MeasureRow:
    key = {"release_id": release_id, "scope": scope}
    return MeasureRow(*warehouse.rows(query(TOPIC, "linkable", link_pair=pairs), key)[0])


@contextmanager
def workspace(warehouse: Warehouse) -> Iterator[None]:
    """Temporary tables that begin with ``srsql_link_`` are gone afterwards.

    After an error within a transaction they go with its rollback.
    """
    yield
    for (name,) in warehouse.rows(query(TOPIC, "temporary_tables")):
        warehouse.run(f"DROP TABLE {dotted('temp', 'main', name)}")


def compare(warehouse: Warehouse, dataset: Dataset, first: int, second: int) -> bool:
    """Fill ``srsql_link_pair`` (case_no, counterpart) and what it is made of.

    Args:
        warehouse: whose temporary tables are written (see ``workspace``).
        dataset: of both releases.
        first: a release.
        second: another one.

    Returns:
        False where one of them has no rows of cases; then nothing is filled.
    """
    shown = [_published(warehouse, dataset, release_id) for release_id in (first, second)]
    if any(dataset.report_table not in tables for tables in shown):
        return False
    drawn = set().union(*(perturbed_positions(warehouse, one) for one in (first, second)))
    cases = [
        case_rows(dataset, side, store_of(one, dataset.report_table), drawn)
        for side, one in enumerate((first, second), 1)
    ]
    warehouse.run(create(exp.to_table(CASES), union_all([*cases]), temp=True))
    common = tuple(
        (name, each) for name, columns in shown[0].items() for each in columns
        if each in shown[1].get(name, ())
    )  # fmt: skip
    warehouse.run(f"CREATE OR REPLACE TEMP TABLE {ITEMS} {_ITEM_COLUMNS}")
    for side, one in enumerate((first, second), 1):
        for name, each in common:
            found = item_rows(dataset, side, store_of(one, name), (name, each))
            statement = found.sql(dialect="duckdb")
            warehouse.run(f"INSERT INTO {dotted('temp', 'main', ITEMS)} {statement}")
    warehouse.run_step("risk/linkability")
    return True


def shows_cases(warehouse: Warehouse, dataset: Dataset, release_id: int) -> bool:
    """Whether a release has rows of cases, which could be compared."""
    return dataset.report_table in _published(warehouse, dataset, release_id)


def _published(
    warehouse: Warehouse, dataset: Dataset, release_id: int
) -> dict[str, tuple[str, ...]]:
    """The released tables with rows of cases, each with its columns that hold items."""
    names = {store_of(release_id, each.name): each for each in dataset.tables}
    found = warehouse.rows(query(TOPIC, "stores"), {"store": STORE, "names": list(names)})
    role = (dataset.signals.drug_table, dataset.signals.role) if dataset.signals else None
    shown: dict[str, tuple[str, ...]] = {}
    for (store,) in found:
        each = names[store]
        optional = [name for name in each.optional if name not in each.publish]
        there = set(warehouse.columns(STORE, store)) if set(each.optional) else set(each.publish)
        shown[each.name] = tuple(
            name
            for name in (*each.publish, *optional)
            if name in there and name not in each.serial and (each.name, name) != role
        )
    return shown


def case_rows(dataset: Dataset, side: int, store: str, drawn: Collection[int]) -> exp.Select:
    """(side, case_no, case_id, box) of the cases of a release, as its rows show them.

    Args:
        dataset: names the regions.
        side: stands in the first column.
        store: the table with the released reports.
        drawn: positions at which a release shows values drawn at random, which rule nobody out:
            they count as missing.
    """
    case_id = exp.cast(column(dataset.case_id, "t"), "VARCHAR")
    number = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[case_id.copy()]))
    rows = exp.select(
        exp.convert(side).as_("side"), number.as_("case_no"), case_id.copy().as_("case_id")
    ).from_(table(STORE, store, alias="t"))
    parts: list[exp.Expr] = []
    for position, qid in enumerate(dataset.qid):
        if position in drawn:
            parts.append(box_part(exp.null(), exp.null()))
        elif qid.bounded:
            low, high = (in_millionths(column(f"{qid.name}_{end}", "t")) for end in ("low", "high"))
            parts.append(_part(low, high, low))
        else:
            alias = f"n{position}"
            rows = rows.join(
                table("srsql", "node", alias=alias),
                on=exp.and_(
                    column("dataset", alias).eq(exp.Literal.string(dataset.name)),
                    column("attribute", alias).eq(exp.Literal.string(qid.name)),
                    column("node", alias).eq(column(qid.name, "t")),
                ),
                join_type="left",
            )
            # the root has no parent: it is published for what is missing, too
            ends = (column(name, alias) for name in ("pre", "last", "parent"))
            parts.append(_part(*ends))
    box = exp.func("flatten", exp.Array(expressions=parts)).as_("box")
    return rows.select(box).group_by(case_id.copy())


def _part(low: exp.Expr, high: exp.Expr, known: exp.Expr) -> exp.Expr:
    """The numbers of a position: the hull of the rows of a case, missing where one of them is."""
    all_known = exp.Count(this=known.copy()).eq(exp.Count(this=exp.Star()))
    ends = [
        exp.case().when(all_known.copy(), exp.func(how, end.copy()))
        for how, end in (("min", low), ("max", high))
    ]
    return box_part(*ends)


def box_part(low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """The two numbers of a position in a box, as ``srsql.box_part`` makes them."""
    return scalar_macro("box_part", low, high, exp.null(), exp.null())


def in_millionths(value: exp.Expr) -> exp.Expr:
    """A published bound as a whole number of millionths of its unit."""
    scaled = exp.Mul(
        this=exp.cast(value, "DECIMAL(18, 6)", dialect="duckdb"),
        expression=exp.Literal.number(_MILLIONTHS),
    )
    return exp.cast(scaled, "BIGINT")


def item_rows(dataset: Dataset, side: int, store: str, item: tuple[str, str]) -> exp.Select:
    """(side, case_no, attribute, term): the values of one released column, as they are printed.

    Args:
        dataset: names the case id.
        side: of the release among ``srsql_link_case``.
        store: the table with the released rows.
        item: table and column.
    """
    value = exp.cast(column(item[1], "t"), "VARCHAR")
    distinct = exp.select(value.as_("value")).distinct().from_(table(STORE, store, alias="t"))
    terms = exp.select(column("value", "v"), trimmed(column("value", "v")).as_("term")).from_(
        distinct.subquery("v")
    )
    return (
        exp.select(
            column("side", "c"),
            column("case_no", "c"),
            exp.Literal.string(".".join(item)).as_("attribute"),
            column("term", "n"),
        )
        .distinct()
        .from_(table(STORE, store, alias="t"))
        .join(terms.subquery("n"), on=value.copy().eq(column("value", "n")))
        .join(
            temporary(CASES, alias="c"),
            on=exp.and_(
                column("side", "c").eq(exp.convert(side)),
                column("case_id", "c").eq(exp.cast(column(dataset.case_id, "t"), "VARCHAR")),
            ),
        )
        .where(column("term", "n").is_(exp.null()).not_())
    )
