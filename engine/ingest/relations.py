"""Tables and views of the connection as a source: the rows of one period, staged as records.

What is read is the caller's, so it is read under his search path (a view of his may need it); the
statements that do so name every table and function in full, and only cast, compare and join.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import exp

from srsql.engine.errors import IngestError
from srsql.engine.ingest import typed
from srsql.engine.ingest.relation import Relation, as_text, find_relations, plain
from srsql.engine.ingest.sources import PeriodSource, StagedRows
from srsql.engine.warehouse.catalog import SPACES
from srsql.engine.warehouse.statements import column, create, dotted, statements, temporary
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas.model import Dataset

NO_PERIOD = "no period"
"""Why a row is rejected in every period: nothing tells which one it is of."""


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
    ids = exp.select(as_text(report.report_id).as_("id"), report.key.as_("text")).from_(
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
            exp.func("list_value", *[as_text(name) for name in relation.fields]),
        ]
    )
    rows = exp.select(as_text(relation.report_id).as_("id"), fields.as_("field")).from_(
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
        tuple(plain(name) for name in relation.fields),
        records,
        sha256,
    )


def _store(number: int) -> str:
    return f"srsql_staged_{number}"


def _same(one: str, other: str) -> exp.Expression:
    return exp.NullSafeEQ(this=column("text", one), expression=column("text", other))
