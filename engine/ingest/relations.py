"""Tables and views of the connection as a source: the rows of one period, staged as records.

What is read is the caller's, so it is read under his search path (a view of his may need it); the
statements that do so name every table and function in full, and only cast, compare and join.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.catalog import SPACE, SPACES
from srsql.engine.errors import IngestError
from srsql.engine.ingest import typed
from srsql.engine.ingest.sources import PeriodSource, StagedRows
from srsql.engine.statements import column, create, dotted, statements, table, temporary
from srsql.engine.warehouse import Warehouse
from srsql.schemas.model import Dataset, Table

NO_PERIOD = "no period"
"""Why a row is rejected in every period: nothing tells which one it is of."""
_WITHOUT_TEXT = {"list", "array", "struct", "map", "union", "variant", "blob", "bit"}
_DATES = ("date", "timestamp")


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
            return _text(self.report_id)
        if self.dated:
            day = exp.cast(column(self.period_column, "t"), "DATE")
            return exp.Collate(this=exp.cast(day, "VARCHAR"), expression=exp.Var(this="C"))
        return _text(self.period_column)

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


def periods(warehouse: Warehouse, dataset: Dataset, period: str | None) -> list[str]:
    """Labels of the periods to load: the one asked for, or all that the report table has.

    Raises:
        IngestError: it has no rows of that period, or nothing tells periods apart.
    """
    with warehouse.transaction():
        return _periods(warehouse, dataset, period)


def _periods(warehouse: Warehouse, dataset: Dataset, period: str | None) -> list[str]:
    report = find_relations(warehouse, dataset)[0]
    given = period.strip() if period is not None else None
    if given == "":
        raise IngestError("the period is blank: give a label such as 2011Q4")
    if report.period_column is None:
        if given is None:
            raise IngestError(
                f"{report.name}: say which period it holds with --period, or which column tells it "
                f"(key tables.{report.declared.name}.period_column)"
            )
        return [given]
    _fill_labels(warehouse, dataset, report)
    known = [
        label
        for (label,) in warehouse.rows(
            "SELECT DISTINCT l.label FROM temp.main.srsql_label AS l "
            "WHERE l.label IS NOT NULL ORDER BY ALL"
        )
    ]
    warehouse.run("DROP TABLE temp.main.srsql_label")
    if given is not None and given in known:
        return [given]
    have = f"{known[0]} to {known[-1]} ({len(known)})" if known else "none"
    if given is not None or not known:
        raise IngestError(
            f"{report.name}: no rows of {given or 'any period'} by its column "
            f"{report.period_column} (periods it tells: {have}): see key source.period"
        )
    return known


@contextmanager
def staged(warehouse: Warehouse, dataset: Dataset, label: str) -> Iterator[PeriodSource]:
    """The rows of one period, copied from one state of all tables; the copies go afterwards."""
    members: list[StagedRows] = []
    try:
        with warehouse.transaction():
            relations = find_relations(warehouse, dataset)
            _fill_report_labels(warehouse, dataset, relations)
            for number, relation in enumerate(relations):
                members.append(_staged(warehouse, dataset, relation, label, number))
            for name in ("srsql_report_label", "srsql_here", "srsql_label", "srsql_key"):
                warehouse.run(f"DROP TABLE IF EXISTS {dotted('temp', 'main', name)}")
        sha = hashlib.sha256()
        for member in sorted(members, key=lambda m: m.table):
            sha.update(f"{member.sha256} {member.table}\n".encode())
        yield PeriodSource(members[0].name, label, sha.hexdigest(), tuple(members))
    finally:
        for number in range(len(dataset.tables)):
            store = dotted("temp", "main", _store(number))
            warehouse.run(f"DROP TABLE IF EXISTS {store}")


def _described(warehouse: Warehouse, dataset: Dataset, declared: Table, name: str) -> Relation:
    place = _resolved(warehouse, name, declared.relation or ())
    query = exp.select("*").from_(table(*place)).limit(0).sql(dialect="duckdb")
    with warehouse.as_caller():
        described = warehouse.con.execute(query).description or []
    types = {_plain(str(entry[0])): (str(entry[0]), entry[1]) for entry in described}
    if len(types) < len(described):
        names = [_plain(str(entry[0])) for entry in described]
        twice = next(n for n in names if names.count(n) > 1)
        raise IngestError(f"{name}: column {twice} is there twice: give a view that names one")
    wanted = {c.name: (c.name, *c.aliases) for c in declared.columns}
    wanted |= {source: (source,) for sources in declared.unpivot.values() for source in sources}
    chosen: dict[str, str] = {}
    for declared_name, spellings in wanted.items():
        there = [_plain(s) for s in spellings if _plain(s) in types]
        if not there:
            raise IngestError(
                f"{name} has no column {' or '.join(spellings)} (it has: "
                f"{', '.join(shown for shown, _ in types.values())}): mend key "
                f"tables.{declared.name}.columns"
            )
        chosen[declared_name] = there[0]
    period = declared.period_column
    if period is not None and _plain(period) not in types:
        raise IngestError(
            f"{name} has no column {period}: mend key tables.{declared.name}.period_column"
        )
    period_column = _plain(period) if period is not None else None
    for plain in [*chosen.values(), *([period_column] if period_column else [])]:
        shown, kind = types[plain]
        if kind.id in _WITHOUT_TEXT:
            raise IngestError(
                f"{name}: column {shown} is of type {kind}, which is no single text: give a view "
                "that has one value a row (unnest) or casts it"
            )
    dated = period_column is not None and types[period_column][1].id.startswith(_DATES)
    return Relation(
        declared,
        name,
        place,
        tuple(dict.fromkeys(types[plain][0] for plain in chosen.values())),
        types[chosen[dataset.report_id]][0],
        types[period_column][0] if period_column is not None else None,
        dated=dataset.source.period != "label" and dated,
    )


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


def _fill_labels(warehouse: Warehouse, dataset: Dataset, relation: Relation) -> None:
    """Fill ``srsql_label`` with the texts of the period column and their labels."""
    keys = exp.select(relation.key.as_("text")).distinct().from_(relation.table())
    with warehouse.as_caller():
        warehouse.run(create(temporary("srsql_key"), keys, temp=True))
    parameters = {"rule": dataset.source.period, "ends": SPACES}
    warehouse.run(statements("srsql.schemas", "relation_periods.sql")[0], parameters)
    warehouse.run("DROP TABLE temp.main.srsql_key")


def _fill_report_labels(warehouse: Warehouse, dataset: Dataset, relations: list[Relation]) -> None:
    """Fill ``srsql_report_label (report, label)`` where a child table needs it."""
    report, *children = relations
    if report.period_column is None or all(child.period_column for child in children):
        return
    _fill_labels(warehouse, dataset, report)
    ids = exp.select(_text(report.report_id).as_("id"), report.key.as_("text")).from_(
        report.table()
    )
    with warehouse.as_caller():
        warehouse.run(create(temporary("srsql_key"), ids, temp=True))
    labels = (
        exp.select(typed.identifier(dataset, column("id", "k")).as_("report"), column("label", "l"))
        .distinct()
        .from_(temporary("srsql_key", alias="k"))
        .join(temporary("srsql_label", alias="l"), on=_same("k", "l"))
    )
    warehouse.run(create(temporary("srsql_report_label"), labels, temp=True))


def _fill_here(
    warehouse: Warehouse, dataset: Dataset, relation: Relation, label: str, *, timed: bool
) -> bool:
    """Fill ``srsql_here`` with the keys of the period's rows; False where every row is of it."""
    _, own, of_report = statements("srsql.schemas", "relation_periods.sql")
    if relation.period_column is not None:
        _fill_labels(warehouse, dataset, relation)
        warehouse.run(own, {"label": label})
        return True
    if not timed:
        return False
    texts = exp.select(relation.key.as_("text")).distinct().from_(relation.table())
    with warehouse.as_caller():
        warehouse.run(create(temporary("srsql_label"), texts, temp=True))
    keys = exp.select(
        column("text", "l"), typed.identifier(dataset, column("text", "l")).as_("report")
    ).from_(temporary("srsql_label", alias="l"))
    warehouse.run(create(temporary("srsql_key"), keys, temp=True))
    warehouse.run(of_report, {"label": label})
    return True


def _staged(
    warehouse: Warehouse, dataset: Dataset, relation: Relation, label: str, number: int
) -> StagedRows:
    timed = next(t for t in dataset.tables if t.name == dataset.report_table).period_column
    chosen = _fill_here(warehouse, dataset, relation, label, timed=timed is not None)
    fields = exp.Dot.build(
        [
            exp.to_identifier("system"),
            exp.to_identifier("main"),
            exp.func("list_value", *[_text(name) for name in relation.fields]),
        ]
    )
    rows = exp.select(_text(relation.report_id).as_("id"), fields.as_("field")).from_(
        relation.table()
    )
    fault: exp.Expression = exp.cast(exp.null(), "VARCHAR")
    if chosen:
        rows = rows.join(
            temporary("srsql_here", alias="h"),
            on=exp.NullSafeEQ(this=relation.key, expression=column("text", "h")),
        )
        lost = exp.Not(this=column("known", "h"))
        fault = exp.Case().when(lost, exp.Literal.string(NO_PERIOD))
    with warehouse.as_caller():
        warehouse.run(create(temporary("srsql_taken"), rows.select(fault.as_("fault")), temp=True))
    make, fill, count = statements("srsql.schemas", "stage_relation.sql")
    warehouse.run(make)
    warehouse.run(fill)
    ((records, sha256),) = warehouse.rows(count)
    warehouse.run("DROP TABLE temp.main.srsql_taken")
    target = dotted(_store(number))
    warehouse.run(f"ALTER TABLE temp.main.srsql_staged RENAME TO {target}")
    return StagedRows(
        relation.name,
        relation.declared.name,
        _store(number),
        tuple(_plain(name) for name in relation.fields),
        records,
        sha256,
    )


def _store(number: int) -> str:
    return f"srsql_staged_{number}"


def _plain(name: str) -> str:
    return name.strip(SPACE).lower()


def _text(name: str) -> exp.Expression:
    """A column of ``t`` as text, compared character by character whatever its collation."""
    return exp.Collate(this=exp.cast(column(name, "t"), "VARCHAR"), expression=exp.Var(this="C"))


def _same(one: str, other: str) -> exp.Expression:
    return exp.NullSafeEQ(this=column("text", one), expression=column("text", other))
