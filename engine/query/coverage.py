"""What a dictionary makes of the values of a column, and which of them it lacks, by cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from sqlglot import exp

from srsql.engine.catalog.datasets import raw_term, term_key, trimmed
from srsql.engine.catalog.layout import raw_table
from srsql.engine.catalog.levels import HELD, TOPIC, Level, add_names, make_names
from srsql.engine.errors import LevelError
from srsql.engine.measures import cell
from srsql.engine.query.answer import find_views
from srsql.engine.store.frames import Framed
from srsql.engine.store.statements import column, query, temporary, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Sensitive


@dataclass(frozen=True, slots=True)
class Value:
    """One value of the column."""

    value: str = field(metadata=cell("value"))
    """The key of the term."""
    cases: int = field(metadata=cell("cases", "count"))
    """Cases that have it in some report."""
    names: tuple[str, ...] = field(metadata=cell("names", "names"))
    """On the level; none: the dictionary lacks the value."""


@dataclass(frozen=True)
class Coverage(Framed):
    """The values of a column, those of the most cases first."""

    _tables: ClassVar[tuple[str, ...]] = ("values",)

    dataset: str
    series: str | None
    """None: of the raw tables, which the steward alone reads."""
    column: str
    level: str
    dictionary: str
    found: int
    """Distinct values."""
    lacking: int
    """Those of them that the dictionary lacks."""
    holders: int
    """Cases that have any value."""
    covered: int
    """Those of them that have no value that the dictionary lacks."""
    values: tuple[Value, ...]


def coverage(
    warehouse: Warehouse,
    dataset: Dataset,
    level: Level,
    *,
    series: str | None,
    quarter: str | None,
    unmatched: bool,
) -> Coverage:
    """The values of a column with their names on a level; nothing is changed.

    Args:
        warehouse: may be read-only.
        dataset: with the column.
        level: of the column.
        series: whose released views are read; None: the raw tables.
        quarter: only this one; default: all.
        unmatched: give only the values that the dictionary lacks.

    Raises:
        LevelError: the quarter is not there.
        QueryError: nothing is released.
    """
    rows: exp.Query
    if series is None:
        rows = original_terms(dataset, level.attribute, quarter)
    else:
        rows = released_terms(warehouse, dataset, level.attribute, series, quarter)
    warehouse.run(f"CREATE OR REPLACE TEMP TABLE {HELD} AS {rows.sql(dialect='duckdb')}")
    make_names(warehouse)
    held = exp.select(column("value", "h")).from_(temporary(HELD, alias="h"))
    add_names(warehouse, level, held)
    given = {"attribute": level.key}
    found = warehouse.rows(query(TOPIC, "coverage", held=HELD), given)
    if not found:
        raise LevelError(
            f"no case has a {level.attribute.column}"
            + (f" in {quarter}: give another --quarter" if quarter else "")
        )
    holders, covered = warehouse.rows(query(TOPIC, "covered", held=HELD), given)[0]
    values = tuple(Value(value, cases, tuple(names)) for value, cases, names in found)
    lacking = tuple(each for each in values if not each.names)
    return Coverage(
        dataset=dataset.name,
        series=series,
        column=level.attribute.column,
        level=level.name,
        dictionary=level.dictionary.origin,
        found=len(values),
        lacking=len(lacking),
        holders=holders,
        covered=covered,
        values=lacking if unmatched else values,
    )


def original_terms(
    dataset: Dataset, attribute: Sensitive, quarter: str | None, *, spelled: bool = False
) -> exp.Select:
    """(case_id, value) of the raw rows; those of legacy quarters name the report only.

    Args:
        dataset: says by which version of the key.
        attribute: whose terms; the value is the key.
        quarter: only this one; None: all.
        spelled: with the column ``spelling``.
    """
    same = exp.and_(
        column(dataset.report_id, "t").eq(column(dataset.report_id, "p")),
        column("quarter", "t").eq(column("quarter", "p")),
    )
    value = raw_term(dataset, attribute.table, attribute.column, "t")
    rows = (
        exp.select(column(dataset.case_id, "p").as_("case_id"), value.as_("value"))
        .distinct()
        .from_(raw_table(dataset, attribute.table, alias="t"))
        .join(raw_table(dataset, dataset.report_table, alias="p"), on=same)
        .where(value.copy().is_(exp.null()).not_())
    )
    if spelled:
        rows = rows.select(_spelling(attribute))
    if quarter is not None:
        rows = rows.where(column("quarter", "t").eq(exp.Literal.string(quarter)))
    return rows


def released_terms(
    warehouse: Warehouse,
    dataset: Dataset,
    attribute: Sensitive,
    series: str,
    quarter: str | None,
    *,
    spelled: bool = False,
) -> exp.Query:
    """The same of what was released.

    Raises:
        QueryError: nothing is.
    """
    views = find_views(warehouse, dataset, series, quarter)
    value = term_key(column(attribute.column, "t"), dataset.term_key)
    shown = [_spelling(attribute)] if spelled else []
    parts: list[exp.Query] = [
        exp.select(column(dataset.case_id, "t").as_("case_id"), value.as_("value"), *shown)
        .distinct()
        .from_(views.rows(schema, attribute.table, "t"))
        .where(value.copy().is_(exp.null()).not_())
        for schema in views.schemas.values()
    ]
    return union_all(parts)


def _spelling(attribute: Sensitive) -> exp.Expr:
    return trimmed(column(attribute.column, "t")).as_("spelling")
