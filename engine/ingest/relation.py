"""Tables and views to read: found by name, with the columns and types that they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from srsql.engine.errors import IngestError
from srsql.engine.warehouse.catalog import SPACE
from srsql.engine.warehouse.statements import column, table
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas.model import Dataset, Table

_WITHOUT_TEXT = {"list", "array", "struct", "map", "union", "variant", "blob", "bit"}
_DATES = ("date", "timestamp")
Types = dict[str, tuple[str, Any]]
"""Column, trimmed and lower-cased -> how the table writes it, and its type."""


@dataclass(frozen=True)
class Relation:
    """A table or view to read."""

    declared: Table
    name: str
    """As messages and the catalog show it."""
    place: tuple[str, str, str]
    """Database, schema, table."""
    fields: tuple[str, ...]
    """Its columns that are read, as it writes them."""
    report_id: str
    period_column: str | None
    dated: bool
    """The period column has a type with days, so that there are few different ones."""

    @property
    def key(self) -> exp.Expression:
        """What tells the period of a row, as text: its period column, or its report's id."""
        if self.period_column is None:
            return as_text(self.report_id)
        if self.dated:
            day = exp.cast(column(self.period_column, "t"), "DATE")
            return exp.Collate(this=exp.cast(day, "VARCHAR"), expression=exp.Var(this="C"))
        return as_text(self.period_column)

    def table(self) -> exp.Table:
        """Its name in full, as ``t``."""
        return table(*self.place, alias="t")


def find_relations(warehouse: Warehouse, dataset: Dataset) -> list[Relation]:
    """The tables that ``dataset`` names, the report table's first.

    Raises:
        IngestError: a table or a column is not there, is ambiguous, or has a type without text.
    """
    found: list[Relation] = []
    for declared in sorted(dataset.tables, key=lambda t: t.name != dataset.report_table):
        name = ".".join(declared.relation or ())
        if any(other.name == name for other in found):
            name = f"{name} ({declared.name})"
        found.append(_described(warehouse, dataset, declared, name))
    return found


def _described(warehouse: Warehouse, dataset: Dataset, declared: Table, name: str) -> Relation:
    place = _resolved(warehouse, name, declared.relation or ())
    types = _types(warehouse, name, place)
    chosen = _chosen(declared, name, types)
    period = plain(declared.period_column) if declared.period_column is not None else None
    if period is not None and period not in types:
        raise IngestError(
            f"{name} has no column {declared.period_column}: mend key "
            f"tables.{declared.name}.period_column"
        )
    for there in [*chosen.values(), *([period] if period is not None else [])]:
        shown, kind = types[there]
        if kind.id in _WITHOUT_TEXT:
            raise IngestError(
                f"{name}: column {shown} is of type {kind}, which is no single text: give a view "
                "that has one value a row (unnest) or casts it"
            )
    dated = period is not None and types[period][1].id.startswith(_DATES)
    return Relation(
        declared,
        name,
        place,
        tuple(dict.fromkeys(types[there][0] for there in chosen.values())),
        types[chosen[dataset.report_id]][0],
        types[period][0] if period is not None else None,
        dated=dataset.source.period != "label" and dated,
    )


def _types(warehouse: Warehouse, name: str, place: tuple[str, str, str]) -> Types:
    query = exp.select("*").from_(table(*place)).limit(0).sql(dialect="duckdb")
    with warehouse.as_caller():
        described = warehouse.con.execute(query).description or []
    types = {plain(str(entry[0])): (str(entry[0]), entry[1]) for entry in described}
    if len(types) < len(described):
        names = [plain(str(entry[0])) for entry in described]
        twice = next(n for n in names if names.count(n) > 1)
        raise IngestError(f"{name}: column {twice} is there twice: give a view that names one")
    return types


def _chosen(declared: Table, name: str, types: Types) -> dict[str, str]:
    """Declared column, or source of an unpivoted one -> the table's column it is read from."""
    wanted = {c.name: (c.name, *c.aliases) for c in declared.columns}
    wanted |= {source: (source,) for sources in declared.unpivot.values() for source in sources}
    chosen: dict[str, str] = {}
    for wanted_name, spellings in wanted.items():
        there = [plain(s) for s in spellings if plain(s) in types]
        if not there:
            raise IngestError(
                f"{name} has no column {' or '.join(spellings)} (it has: "
                f"{', '.join(shown for shown, _ in types.values())}): mend key "
                f"tables.{declared.name}.columns"
            )
        chosen[wanted_name] = there[0]
    return chosen


def _resolved(warehouse: Warehouse, name: str, words: tuple[str, ...]) -> tuple[str, str, str]:
    """Database, schema and table of a name of one to three words."""
    here = warehouse.value("SELECT current_database()")
    places = {
        1: [(here, "main", *words)],
        2: [(here, *words), (words[0], "main", words[-1])],
        3: [words],
    }[len(words)]
    found = warehouse.rows(
        "SELECT t.database_name, t.schema_name, t.table_name FROM duckdb_tables() AS t "
        "WHERE lower(t.table_name) = lower($name) UNION ALL "
        "SELECT v.database_name, v.schema_name, v.view_name FROM duckdb_views() AS v "
        "WHERE lower(v.view_name) = lower($name)",
        {"name": words[-1]},
    )
    lowered = [tuple(word.lower() for word in place) for place in places]
    fitting = [row for row in found if tuple(word.lower() for word in row) in lowered]
    if len(fitting) > 1:
        raise IngestError(
            f"{name} may be {' or '.join('.'.join(row) for row in fitting)}: name database, schema "
            "and table"
        )
    if not fitting:
        raise IngestError(
            f"no table or view {name} in the warehouse: relation takes table (of the schema main), "
            "schema.table or database.schema.table"
        )
    database, schema, found_table = fitting[0]
    return database, schema, found_table


def plain(name: str) -> str:
    """A column's name as names are compared."""
    return name.strip(SPACE).lower()


def as_text(name: str) -> exp.Expression:
    """A column of ``t`` as text, compared character by character whatever its collation."""
    return exp.Collate(this=exp.cast(column(name, "t"), "VARCHAR"), expression=exp.Var(this="C"))
