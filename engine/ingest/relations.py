"""Tables and views of the connection as a source: the rows of one period, as records.

They are found by name (``find_relations``), with the columns and types that they have. What is read
is the caller's, so it is read under their search path (a view of theirs may need it); the
statements that do so name every table and function in full, and only cast, compare and join.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.periods import named_period
from srsql.engine.errors import IngestError
from srsql.engine.ingest.records import CONTROLS, RECORD, drop_temporary, plain_name
from srsql.engine.ingest.rejects import NO_REPORT
from srsql.engine.ingest.sources import PeriodSource, RelationRows, need_labels
from srsql.engine.store.statements import SPACES, column, create, query, table, temporary
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Table

PERIOD_KEY, PERIOD_TEXT = "srsql_period_key", "srsql_period_text"
NO_PERIOD = "no period"
"""Why a row is rejected in every period: nothing says which one it is of."""
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
        """What gives the period of a row, as text: its period column, or its report's id."""
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
        found.append(_relation(warehouse, dataset, declared, name))
    return found


def _relation(warehouse: Warehouse, dataset: Dataset, declared: Table, name: str) -> Relation:
    place = _place(warehouse, name, declared.relation or ())
    types = _types(warehouse, name, place)
    sources = _sources(declared, name, types)
    period = plain_name(declared.period_column) if declared.period_column is not None else None
    if period is not None and period not in types:
        raise IngestError(
            f"{name} has no column {declared.period_column}: mend key "
            f"tables.{declared.name}.period_column"
        )
    for source in [*sources.values(), *([period] if period is not None else [])]:
        shown, kind = types[source]
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
        tuple(dict.fromkeys(types[source][0] for source in sources.values())),
        types[sources[dataset.report_id]][0],
        types[period][0] if period is not None else None,
        dated=dataset.source.period != "label" and dated,
    )


def _types(warehouse: Warehouse, name: str, place: tuple[str, str, str]) -> Types:
    """The columns of a table with their types, read under the search path of the caller."""
    rows = exp.select("*").from_(table(*place)).limit(0).sql(dialect="duckdb")
    with warehouse.as_caller():
        described = warehouse.con.execute(rows).description or []
    types = {plain_name(str(entry[0])): (str(entry[0]), entry[1]) for entry in described}
    if len(types) < len(described):
        names = [plain_name(str(entry[0])) for entry in described]
        twice = next(n for n in names if names.count(n) > 1)
        raise IngestError(f"{name}: column {twice} is there twice: give a view that names one")
    return types


def _sources(declared: Table, name: str, types: Types) -> dict[str, str]:
    """Declared column, or source of an unpivoted one -> the table's column it is read from."""
    wanted = {c.name: (c.name, *c.aliases) for c in declared.columns}
    wanted |= {source: (source,) for sources in declared.unpivot.values() for source in sources}
    found: dict[str, str] = {}
    for wanted_name, spellings in wanted.items():
        present = [plain_name(s) for s in spellings if plain_name(s) in types]
        if not present:
            raise IngestError(
                f"{name} has no column {' or '.join(spellings)} (it has: "
                f"{', '.join(shown for shown, _ in types.values())}): mend key "
                f"tables.{declared.name}.columns"
            )
        found[wanted_name] = present[0]
    return found


def _place(warehouse: Warehouse, name: str, words: tuple[str, ...]) -> tuple[str, str, str]:
    """Database, schema and table of a name of one to three words."""
    here = warehouse.value("SELECT current_database()")
    possible = {
        1: [(here, "main", *words)],
        2: [(here, *words), (words[0], "main", words[-1])],
        3: [words],
    }[len(words)]
    found = warehouse.rows(query("ingest/relations", "places"), {"name": words[-1]})
    lowered = [tuple(word.lower() for word in place) for place in possible]
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


def as_text(name: str) -> exp.Expression:
    """A column of ``t`` as text, compared character by character whatever its collation."""
    return exp.Collate(this=exp.cast(column(name, "t"), "VARCHAR"), expression=exp.Var(this="C"))


def find_periods(warehouse: Warehouse, dataset: Dataset, period: str | None) -> list[str]:
    """Labels of the periods to load.

    Args:
        warehouse: where the tables are.
        dataset: names them.
        period: the label of the one to load; None: all that the report table has.

    Returns:
        The labels in their order.

    Raises:
        IngestError: the table has no rows of that period, or has no column of periods; or a label
            could be shown by no release.
    """
    with warehouse.transaction():
        labels = _periods(warehouse, dataset, period)
    need_labels(labels)
    return labels


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
    _read_keys(warehouse, report)
    known = [
        label
        for (label,) in warehouse.rows(query("ingest/relations", "labels"), _labelling(dataset))
    ]
    drop_temporary(warehouse, PERIOD_KEY)
    if given is not None and (named := named_period(given, known)) in known:
        return [named]
    have = f"{known[0]} to {known[-1]} ({len(known)})" if known else "none"
    if given is not None or not known:
        raise IngestError(
            f"{report.name}: no rows of {given or 'any period'} by its column "
            f"{report.period_column} (periods it tells: {have}): see key source.period"
        )
    return known


@contextmanager
def period_source(warehouse: Warehouse, dataset: Dataset, label: str) -> Iterator[PeriodSource]:
    """The rows of one period, copied from one state of all tables; the copies go afterwards.

    Args:
        warehouse: where the tables are.
        dataset: names them.
        label: the period.

    Raises:
        IngestError: a table or a column is not there, is ambiguous, or has a type without text.
    """
    members: list[RelationRows] = []
    try:
        with warehouse.transaction():
            relations = find_relations(warehouse, dataset)
            _label_reports(warehouse, dataset, relations)
            for number, relation in enumerate(relations):
                members.append(_copy(warehouse, dataset, relation, label, number))
            drop_temporary(warehouse, "srsql_report_label", PERIOD_TEXT)
        sha = hashlib.sha256()
        for member in sorted(members, key=lambda m: m.table):
            sha.update(f"{member.sha256} {member.table}\n".encode())
        yield PeriodSource(members[0].name, label, sha.hexdigest(), tuple(members))
    finally:
        drop_temporary(warehouse, *(_store(number) for number in range(len(dataset.tables))))


def _read_keys(warehouse: Warehouse, relation: Relation, *, reports: bool = False) -> None:
    """Fill ``srsql_period_key``: what gives the periods of a table's rows.

    Args:
        warehouse: where the table is.
        relation: the table.
        reports: of every row, with its report; else each text once.
    """
    keys = exp.select(relation.key.as_("text")).from_(relation.table())
    keys = keys.select(as_text(relation.report_id).as_("report")) if reports else keys.distinct()
    with warehouse.as_caller():
        warehouse.run(create(temporary(PERIOD_KEY), keys, temp=True))


def _labelling(dataset: Dataset) -> dict[str, str]:
    """How ``srsql.period_labels`` reads the texts of a period column."""
    return {"rule": dataset.source.period_rule, "ends": SPACES}


def _label_reports(warehouse: Warehouse, dataset: Dataset, relations: list[Relation]) -> None:
    """Fill ``srsql_report_label (report, label)`` where a child table needs it."""
    report, *children = relations
    if report.period_column is None or all(child.period_column for child in children):
        return
    _read_keys(warehouse, report, reports=True)
    integer = dataset.id_type == "integer"
    warehouse.run_step("ingest/report_labels", {**_labelling(dataset), "integer": integer})
    drop_temporary(warehouse, PERIOD_KEY)


def _find_rows(warehouse: Warehouse, dataset: Dataset, relation: Relation, label: str) -> bool:
    """Fill ``srsql_period_text`` with the keys of the period's rows; False: every row is of it."""
    if relation.period_column is None and (
        dataset.table(dataset.report_table).period_column is None
    ):
        return False
    step = "ingest/rows_by_report" if relation.period_column is None else "ingest/rows_by_period"
    _read_keys(warehouse, relation)
    integer = dataset.id_type == "integer"
    warehouse.run_step(step, {**_labelling(dataset), "label": label, "integer": integer})
    drop_temporary(warehouse, PERIOD_KEY)
    return True


def _copy(
    warehouse: Warehouse, dataset: Dataset, relation: Relation, label: str, number: int
) -> RelationRows:
    """Copy the rows of the period as records; what is of no period has a fault."""
    some = _find_rows(warehouse, dataset, relation, label)
    with warehouse.as_caller():
        rows = period_rows(relation, some=some)
        warehouse.run(create(temporary("srsql_period_row"), rows, temp=True))
    store = _store(number)
    warehouse.run_step("ingest/relation_records", record=store)
    drop_temporary(warehouse, "srsql_period_row")
    ((records, sha256),) = warehouse.rows(
        query("ingest/relations", "records_and_digest", record=store)
    )
    # after the digest, by which the same rows of an earlier version are known
    cleaning = {"controls": CONTROLS, "ends": SPACES}
    warehouse.run_step("ingest/clean_records", cleaning, record=store)
    names = tuple(plain_name(name) for name in relation.fields)
    return RelationRows(relation.name, relation.declared.name, store, names, records, sha256)


def period_rows(relation: Relation, *, some: bool) -> exp.Select:
    """The rows (id, field, fault) of a table: all, or some by their texts in srsql_period_text."""
    fields = exp.Dot.build(
        [
            exp.to_identifier("system"),
            exp.to_identifier("main"),
            exp.func("list_value", *[as_text(name) for name in relation.fields]),
        ]
    )
    rows = exp.select(as_text(relation.report_id).as_("id"), fields.as_("field")).from_(
        relation.table()
    )
    fault: exp.Expression = exp.cast(exp.null(), "VARCHAR")
    if some:
        rows = rows.join(
            temporary(PERIOD_TEXT, alias="h"),
            on=exp.NullSafeEQ(this=relation.key, expression=column("text", "h")),
        )
        lost = exp.Not(this=column("known", "h"))
        fault = exp.Case().when(
            exp.Not(this=column("reported", "h")), exp.Literal.string(NO_REPORT)
        )
        fault = fault.when(lost, exp.Literal.string(NO_PERIOD))
    return rows.select(fault.as_("fault"))


def _store(number: int) -> str:
    """The temporary table that holds the records of a table, by its number."""
    return f"{RECORD}_{number}"
