"""The terms that reports spell in several ways, and how many cases have each spelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from srsql.engine.catalog.levels import HELD
from srsql.engine.errors import QueryError
from srsql.engine.measures import cell
from srsql.engine.query.coverage import original_terms, released_terms
from srsql.engine.store.frames import Framed
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Sensitive
from srsql.schemas.dataset import TERM_KEY

TOPIC = "query/spellings"


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
        listed = warehouse.rows(query(TOPIC, "spellings", held=HELD))
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
