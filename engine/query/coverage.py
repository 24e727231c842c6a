"""The values of a column by cases: what a dictionary makes of them, and in which spellings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from sqlglot import exp

from srsql.engine.catalog.datasets import raw_term, term_key, trimmed
from srsql.engine.catalog.layout import raw_table
from srsql.engine.catalog.levels import HELD, TOPIC, Level, add_names, make_names
from srsql.engine.errors import LevelError, QueryError
from srsql.engine.measures import cell
from srsql.engine.query.answer import find_views
from srsql.engine.store.frames import Framed
from srsql.engine.store.statements import column, query, temporary, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Sensitive
from srsql.schemas.dataset import TERM_KEY


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


SPELLINGS = "query/spellings"


@dataclass(frozen=True, slots=True)
class Spelling:
    """One spelling of a term."""

    column: str = field(metadata=cell("column"))
    key: str = field(metadata=cell("key"))
    """Of the term, which all its spellings have in common."""
    spelling: str = field(metadata=cell("spelling"))
    """Without white space at its ends."""
    cases: int = field(metadata=cell("cases", "count"))
    """Cases that have this spelling in some report."""
    cases_of_key: int = field(metadata=cell("cases of the term", "count"))
    """Cases that have any spelling of the term."""


@dataclass(frozen=True)
class Spellings(Framed):
    """The terms with several spellings, those of the most cases first."""

    _tables: ClassVar[tuple[str, ...]] = ("spellings",)

    dataset: str
    series: str | None
    """None: of the raw tables, which the steward alone reads."""
    columns: tuple[str, ...]
    """Those that were looked at."""
    term_key: int
    """The version of the key."""
    terms: int
    """Keys with several spellings."""
    spellings: tuple[Spelling, ...]


def spellings(
    warehouse: Warehouse,
    dataset: Dataset,
    name: str | None,
    *,
    series: str | None,
    quarter: str | None,
) -> Spellings:
    """The terms of columns that are spelled in several ways; nothing is changed.

    The newest version of the key tells which spellings are one term, whatever version a series
    compares terms by: so it is known beforehand what another version would fold.

    Args:
        warehouse: may be read-only.
        dataset: with the columns.
        name: a column with drugs or terms; None: all of them.
        series: whose released views are read; None: the raw tables.
        quarter: only this one; None: all.

    Raises:
        QueryError: there is no such column, or nothing is released.
    """
    dataset = dataset.keyed(TERM_KEY)
    chosen = list(_columns(dataset, name, released=series is not None))
    found: list[Spelling] = []
    for attribute in chosen:
        rows = (
            original_terms(dataset, attribute, quarter, spelled=True)
            if series is None
            else released_terms(warehouse, dataset, attribute, series, quarter, spelled=True)
        )
        warehouse.run(f"CREATE OR REPLACE TEMP TABLE {HELD} AS {rows.sql(dialect='duckdb')}")
        listed = warehouse.rows(query(SPELLINGS, "spellings", held=HELD))
        found += [Spelling(attribute.column, *row) for row in listed]
    return Spellings(
        dataset=dataset.name,
        series=series,
        columns=tuple(attribute.column for attribute in chosen),
        term_key=TERM_KEY,
        terms=len({(each.column, each.key) for each in found}),
        spellings=tuple(found),
    )


def _columns(dataset: Dataset, name: str | None, *, released: bool) -> Iterator[Sensitive]:
    """The columns of that name, or all with terms: of released rows those that are published."""
    known = {
        (each.table, each.column): each
        for each in (*dataset.sensitive, *dataset.quasi_sensitive)
        if not released or (dataset.rows and each.column in dataset.table(each.table).publish)
    }
    chosen = [
        each
        for each in known.values()
        if name is None or name.lower() in (each.column, f"{each.table}.{each.column}")
    ]
    if not chosen:
        where = "rows of the series show" if released else f"{dataset.name} has"
        listed = ", ".join(each.column for each in known.values()) or "none"
        raise QueryError(
            f"--column {name or 'NAME'}: no such column with terms ({where}: {listed}): give one "
            "of these, or leave it out"
        )
    return iter(chosen)
