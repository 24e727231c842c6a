"""Files that hold several periods: the rows of the one asked for, by a column of the report table.

A row of a child table is of the period of its report. The others are counted and left out before
anything is judged. A record that tells no period is rejected in every period; whether there are too
many of these is asked of the whole file, since every period of it has the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from srsql.engine.errors import IngestError
from srsql.engine.ingest.cells import id_value, joined_key, raw_value, read_field
from srsql.engine.ingest.raw_tables import REJECTED, loadable
from srsql.engine.ingest.records import (
    RECORD,
    SPLIT_LINE,
    RecordTable,
    call,
    drop_temporary,
    is_null,
    known,
    text_of,
)
from srsql.engine.ingest.rejects import NO_REPORT
from srsql.engine.ingest.relations import NO_PERIOD, PERIOD_KEY, PERIOD_TEXT
from srsql.engine.store.statements import SPACE, SPACES, column, create, query, temporary
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Table
from srsql.schemas.roles import RowPeriod

REPORT_LABEL = "srsql_report_label"
Places = Mapping[str, int]


def period_text(
    dataset: Dataset, declared: Table, places: Places, told: RowPeriod
) -> exp.Expression:
    """What a record of the report table says of its period, as ``srsql.period_labels`` reads it."""
    text = raw_value(dataset, declared, places, told.column)
    if told.format is not None:
        ends = exp.Trim(this=text, expression=text_of(SPACE))
        day = call("try_strptime", ends, text_of(told.format))
        text = call("strftime", day, text_of("%Y-%m-%d"))
    for word, other in told.words.items():
        text = call("replace", text, text_of(word), text_of(other))
    return text


def keep_period(
    warehouse: Warehouse,
    dataset: Dataset,
    declared: Table,
    places: Places,
    records: RecordTable,
    asked: tuple[str, str | None],
) -> tuple[RecordTable, int]:
    """Leave the records of other periods out.

    Args:
        warehouse: with the records; the report table comes before the others.
        dataset: has a column of periods (``source.period``).
        declared: the table that the file fills.
        places: where its columns are in the file.
        records: the records of the file.
        asked: the name of the file, and the label of the period; None: no record is left out.

    Returns:
        The records that are left, and how many were left out. ``PERIOD_TEXT`` says which of them
        are of the period.

    Raises:
        IngestError: no report is of the period, or the file has no column of periods.
    """
    told = dataset.source.row_period
    assert told is not None
    file, label = asked
    of_reports = declared.name == dataset.report_table
    if of_reports and told.column not in places:
        raise IngestError(f"{file}: no column {told.column}, which tells periods: get another file")
    text = _key(dataset, declared, places)
    rule = {"rule": told.kind, "ends": SPACES, "integer": dataset.id_type == "integer"}
    if of_reports and (len(dataset.tables) > 1 or label is None):
        report = _report_ids(dataset, declared, places)
        _fill(warehouse, records, [exp.alias_(text, "text"), exp.alias_(report, "report")])
        warehouse.run_step("ingest/report_labels", rule)
    _fill(warehouse, records, [exp.alias_(text, "text")])
    step = "ingest/rows_by_period" if of_reports else "ingest/rows_by_report"
    warehouse.run_step(step, {**rule, "label": label})
    if of_reports:
        _need_rows(warehouse, told, file, label)
    drop_temporary(warehouse, PERIOD_KEY)
    others = _with_texts(records, text).where(
        is_null(column("fault", "r")), is_null(column("known", "h"))
    )
    number = int(warehouse.value(f"SELECT count(*) FROM ({others.sql(dialect='duckdb')}) AS o"))
    base = RECORD if records.table == SPLIT_LINE else records.table
    left_out = exp.delete(temporary(base), dialect="duckdb").where(
        column("line").isin(query=others)
    )
    warehouse.run(left_out.sql(dialect="duckdb"))
    return replace(records, count=records.count - number), number


def reject_unknown(
    warehouse: Warehouse, dataset: Dataset, declared: Table, places: Places, records: RecordTable
) -> None:
    """Reject the records that tell no period and could be loaded otherwise; of a child table also
    those that no report of the file has, by that reason.

    Args:
        warehouse: with ``REJECTED``, and ``PERIOD_TEXT`` of ``keep_period``.
        dataset: has a column of periods.
        declared: the table that the file fills.
        places: where its columns are in the file.
        records: what ``keep_period`` left.
    """
    lines = _unknown(dataset, declared, places, records)
    alone = lines.where(exp.not_(exp.func("coalesce", column("reported", "h"), exp.true())))
    for reason, found in ((NO_REPORT, alone), (NO_PERIOD, lines)):  # the second: what is left
        rows = loadable(records.table).select(
            column("line", "r"), column("field", "r"), exp.alias_(text_of(reason), "reason")
        )
        rows = rows.where(column("line", "r").isin(query=found))
        statement = exp.Insert(this=temporary(REJECTED), expression=rows)
        warehouse.run(statement.sql(dialect="duckdb"))


def count_unknown(
    warehouse: Warehouse, dataset: Dataset, declared: Table, places: Places, records: RecordTable
) -> int:
    """Rejected records that tell no period, without those of forgotten cases or of no report.

    Args:
        warehouse: with ``REJECTED`` complete.
        dataset: has a column of periods.
        declared: the table that the file fills.
        places: where its columns are in the file.
        records: what ``keep_period`` left.
    """
    lines = _unknown(dataset, declared, places, records)
    counted = exp.select(exp.Count(this=exp.Star())).from_(temporary(REJECTED, "j"))
    kept = exp.not_(column("reason", "j").isin("forgotten_case", NO_REPORT))
    counted = counted.where(column("line", "j").isin(query=lines), kept)
    return int(warehouse.value(counted.sql(dialect="duckdb")))


def need_known(file: str, unknown: int, records: int, highest: float) -> None:
    """Refuse a file of which too many records tell no period.

    Args:
        file: its name.
        unknown: records that tell none.
        records: all of the file, of whatever period.
        highest: the largest share, 0 to 1.

    Raises:
        IngestError: they are more.
    """
    if unknown > highest * records:
        raise IngestError(
            f"{file}: {unknown:,} of {records:,} records tell no period ({unknown / records:.1%}): "
            "nothing was changed; mend the file or key source.period, or raise --max-reject-rate "
            f"(now {highest:g})"
        )


def _key(dataset: Dataset, declared: Table, places: Places) -> exp.Expression:
    """What gives the period of a record: its own text, or the id of its report."""
    told = dataset.source.row_period
    assert told is not None
    if declared.name == dataset.report_table:
        return period_text(dataset, declared, places, told)
    return exp.cast(id_value(dataset, declared, places, dataset.report_id), "VARCHAR")


def _report_ids(dataset: Dataset, declared: Table, places: Places) -> exp.Expression:
    """The id of a report, and the beginnings of it that rows of child tables have."""
    parts = [read_field(dataset, places[part]) for part in declared.key.get(dataset.report_id, ())]
    ids: list[exp.Expression] = [
        exp.cast(id_value(dataset, declared, places, dataset.report_id), "VARCHAR")
    ]
    lengths = {table.parts(dataset.report_id) for table in dataset.tables}
    ids += [joined_key(parts[:length]) for length in sorted(lengths) if length < len(parts)]
    return call("unnest", exp.Array(expressions=ids))


def _fill(warehouse: Warehouse, records: RecordTable, columns: list[exp.Expr]) -> None:
    """Fill ``PERIOD_KEY`` with what is told of the records, each once."""
    rows = exp.select(*columns).distinct().from_(temporary(records.table, "r"))
    warehouse.run(create(temporary(PERIOD_KEY), rows, temp=True))


def _with_texts(records: RecordTable, text: exp.Expression) -> exp.Select:
    """The lines of the records ``r``, each with what is known of its period (``h``)."""
    same = exp.NullSafeEQ(this=text, expression=column("text", "h"))
    rows = exp.select(column("line", "r")).from_(temporary(records.table, "r"))
    return rows.join(temporary(PERIOD_TEXT, "h"), on=same, join_type="left")


def _unknown(dataset: Dataset, declared: Table, places: Places, records: RecordTable) -> exp.Select:
    """The lines of records that tell no period."""
    text = _key(dataset, declared, places)
    told = exp.func("coalesce", column("known", "h"), exp.false())
    return _with_texts(records, text).where(exp.or_(known(column("fault", "r")), exp.not_(told)))


def _need_rows(warehouse: Warehouse, told: RowPeriod, file: str, label: str | None) -> None:
    """Refuse a period that no report is of."""
    if warehouse.value(query("ingest/relations", "any_known")):
        return
    rule = {"rule": told.kind, "ends": SPACES}
    labels = [each for (each,) in warehouse.rows(query("ingest/relations", "labels"), rule)]
    have = f"{labels[0]} to {labels[-1]} ({len(labels)})" if labels else "none"
    raise IngestError(
        f"{file}: no rows of {label or 'any period'} by its column {told.column} (periods it "
        f"tells: {have}): give one of them with --period, or mend key source.period"
    )
