"""Rejected lines and values: why each is not taken as it stands, where it is stored, how it counts.

Every record of a file is judged once (``judge_statement``). A record with a reason stands in
``REJECTED`` and is no row of the raw table; of the others, a value that is impossible counts as
missing. Both go to ``srsql.reject`` with file, line and reason, and ``count_rejects`` counts them
there: the only place that does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from srsql.engine.catalog.datasets import trimmed
from srsql.engine.catalog.layout import derived, qids_of, raw_table
from srsql.engine.ingest import units
from srsql.engine.ingest.cells import KEY_SIGN, id_value, identifier, key_beginning, read_field
from srsql.engine.ingest.raw_tables import (
    REJECTED,
    Place,
    code_join,
    loadable,
    node_label,
)
from srsql.engine.ingest.records import RecordTable, call, is_null, known, text_of
from srsql.engine.store.statements import (
    SPACES,
    column,
    create,
    query,
    temporary,
    with_rows,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Table
from srsql.schemas.derived import Period

NO_REPORT = "no report has its key"
"""Why a record is rejected that is of every report whose key begins with its own."""
RECORD_TEXT = 10_000
"""Characters of a rejected record that are stored."""


@dataclass(frozen=True)
class FileKey:
    """Which file of which ingestion a rejected line is of."""

    ingestion: int
    quarter: str
    file: str


def judge(
    warehouse: Warehouse,
    dataset: Dataset,
    declared: Table,
    places: Mapping[str, int],
    records: RecordTable,
) -> None:
    """Fill ``REJECTED`` with the records of a file that cannot be loaded.

    Args:
        warehouse: with the records.
        dataset: declares which columns are ids.
        declared: the table that the file fills.
        places: where its columns are in the file.
        records: the records of the file. All that have another width than it supposes are rejected,
            so that these tell whether more records end in a separator than have that width.
    """
    warehouse.run(judge_statement(dataset, declared, places, records))
    if records.supposed:
        counted = query("ingest/rejects", "other_widths")
        others, trailing = warehouse.rows(counted, {"width": records.width})[0]
        if trailing > records.count - others:
            wider = replace(records, width=records.width + 1)
            warehouse.run(judge_statement(dataset, declared, places, wider))


def judge_statement(
    dataset: Dataset, declared: Table, places: Mapping[str, int], records: RecordTable
) -> str:
    """The statement that fills ``REJECTED``: the records that cannot be loaded, and why.

    Args:
        dataset: declares which columns are ids.
        declared: the table that the file fills.
        places: where its columns are in the file.
        records: the records of the file.

    Returns:
        A CREATE of ``REJECTED (line, field, reason)``. Records of a report that is there before
        come to it afterwards (``repeats_statement``).
    """
    report = declared.name == dataset.report_table
    reason = exp.Case().when(known(column("fault")), column("fault"))
    for condition, text in _width_faults(records):
        reason = reason.when(condition, text_of(text))
    keys = {"report id": dataset.report_id}
    if report and not dataset.reports_are_cases:
        keys["case id"] = dataset.case_id
    for name, of in keys.items():
        found = is_null(id_value(dataset, declared, places, of))
        if of in declared.key:
            reason = reason.when(
                found, text_of(f"no {name}: a part of it is blank, or holds {KEY_SIGN!r}")
            )
            continue
        value = read_field(dataset, places[of])
        wrong = exp.Case().when(is_null(trimmed(value)), text_of(f"blank {name}"))
        if dataset.id_type == "integer":
            as_float = call("regexp_full_match", trimmed(value), text_of("[0-9]+[.]0+"))
            wrong = wrong.when(as_float, text_of(f"{name} is a float: write integers"))
        wrong = wrong.else_(text_of(f"{name} is not an integer"))
        reason = reason.when(found, wrong)
    judged = exp.select("line", "field", exp.alias_(reason, "reason"))
    judged = judged.from_(temporary(records.table))
    faulty = exp.select("j.line", "j.field", "j.reason").from_(judged.subquery("j"))
    return create(temporary(REJECTED), faulty.where("NOT j.reason IS NULL"), temp=True)


def without_report_statement(
    dataset: Dataset,
    declared: Table,
    places: Mapping[str, int],
    quarter: str,
    records: str,
    place: Place = raw_table,
) -> str:
    """The statement that rejects, without their text, the records of a child table that no report's
    key begins with (see ``cells.spreads``).

    Args:
        dataset: declares the key.
        declared: the child table.
        places: where its columns are in the file.
        quarter: the period.
        records: the temporary table or view that has them.
        place: where the reports were loaded into.

    Returns:
        An INSERT into ``REJECTED``.
    """
    beginnings = exp.select(key_beginning(dataset, declared, "report"))
    beginnings = beginnings.from_(place(dataset, dataset.report_table, "report"))
    beginnings = beginnings.where(column("quarter", "report").eq(exp.Literal.string(quarter)))
    own = id_value(dataset, declared, places, dataset.report_id, "r")
    nothing = exp.cast(exp.Array(expressions=[]), exp.DataType.build("VARCHAR[]", dialect="duckdb"))
    rows = loadable(records).select(
        column("line", "r"),
        exp.alias_(nothing, "field"),
        exp.alias_(text_of(NO_REPORT), "reason"),
    )
    rows = rows.where(exp.not_(exp.In(this=own, query=beginnings.subquery())))
    return exp.Insert(this=temporary(REJECTED), expression=rows).sql(dialect="duckdb")


def repeats_statement(
    dataset: Dataset, declared: Table, places: Mapping[str, int], records: str
) -> str:
    """The statement that rejects all but the first of the records of one report.

    Args:
        dataset: declares which columns are ids.
        declared: the report table.
        places: where its columns are in the file.
        records: the temporary table or view that has them.

    Returns:
        An INSERT into ``REJECTED``.
    """
    report_id = id_value(dataset, declared, places, dataset.report_id)
    reports = loadable(records).select(
        column("line", "r"), exp.alias_(report_id, "report_id"), copy=False
    )
    repeated = with_rows(query("ingest/rejects", "repeats", record=records), report=reports)
    return exp.Insert(this=temporary(REJECTED), expression=repeated).sql(dialect="duckdb")


def _width_faults(records: RecordTable) -> list[tuple[exp.Expression, str]]:
    """Why a record has the wrong number of fields; the conditions are tried in order."""
    found = call("len", column("field"))
    width = exp.Literal.number(records.width)
    doubled = exp.Between(
        this=found,
        low=exp.Literal.number(2 * len(records.names) - 1),
        high=exp.Literal.number(2 * records.width + 1),
    )
    more = exp.GTE(this=found.copy(), expression=exp.Literal.number(records.width + 2))
    return [
        (
            exp.LT(this=found.copy(), expression=width),
            "too few fields (a short row, or a line end inside a value)",
        ),
        (exp.And(this=doubled, expression=more), "two records on one line"),
        (
            exp.GT(this=found.copy(), expression=width.copy()),
            "too many fields (a separator inside a value)",
        ),
    ]


def store_rejects(
    warehouse: Warehouse,
    dataset: Dataset,
    declared: Table,
    places: Mapping[str, int],
    key: FileKey,
    records: str,
    place: Place = raw_table,
) -> None:
    """Write the rejected records and values of one file to ``srsql.reject``.

    Args:
        warehouse: with the records judged and loaded.
        dataset: declares the roles of the columns.
        declared: the table that the file fills.
        places: where its columns are in the file.
        key: the file.
        records: the temporary table or view that has them.
        place: where its rows were loaded into.
    """
    store_records(warehouse, dataset, key)
    statements = value_statements(dataset, declared, place)
    of_ids = id_statements(dataset, declared, places, records)
    if of_ids and (
        declared.unpivot or declared.split or _lacks_ids(warehouse, dataset, declared, key, place)
    ):
        statements += of_ids
    for statement in statements:
        warehouse.run(statement, _parameters(dataset, key))


def _lacks_ids(
    warehouse: Warehouse, dataset: Dataset, declared: Table, key: FileKey, place: Place
) -> bool:
    """Whether a row of the period has no case id: the records are gone through once more only then.
    Of rows that several columns become not all are there to be asked."""
    period = exp.EQ(this=column("quarter"), expression=exp.Placeholder())
    rows = exp.select("1").from_(place(dataset, declared.name))
    rows = rows.where(period, is_null(column(dataset.case_id))).limit(1)
    return bool(warehouse.rows(rows.sql(dialect="duckdb"), [key.quarter]))


def store_records(warehouse: Warehouse, dataset: Dataset, key: FileKey) -> None:
    """Write the rejected records of one file to ``srsql.reject``.

    Args:
        warehouse: with the records judged.
        dataset: says what separates the fields of a record.
        key: the file.
    """
    separator = dataset.source.separator
    warehouse.run(
        query("ingest/rejects", "store_records"),
        {**_parameters(dataset, key), "separator": separator, "length": RECORD_TEXT},
    )


def _parameters(dataset: Dataset, key: FileKey) -> dict[str, str | int]:
    return {
        "ingestion": key.ingestion,
        "dataset": dataset.name,
        "quarter": key.quarter,
        "file": key.file,
    }


def value_statements(dataset: Dataset, declared: Table, place: Place = raw_table) -> list[str]:
    """The statements that store the rejected values, one for each quasi-identifier.

    Args:
        dataset: declares the roles of the columns.
        declared: the table that the file fills.
        place: where its rows were loaded into.

    Returns:
        INSERTs into ``srsql.reject`` with the parameters $ingestion, $dataset, $quarter, $file.
    """
    found = []
    period = exp.EQ(this=column("quarter"), expression=exp.Parameter(this="quarter"))
    every = exp.select("*").from_(place(dataset, declared.name)).where(period)
    for qid in qids_of(dataset, declared):
        # what is usable has no reason, so that few rows are gone through again
        rows = every.where(known(column(qid.column)), is_null(column(derived(qid.name))))
        value: exp.Expression = column(qid.column, "raw")
        if qid.unit_column is not None:
            value = call("concat_ws", text_of(" "), value, column(qid.unit_column, "raw"))
        if qid.kind == "numeric":
            granules = units.with_granules(rows, [qid], dataset.source.decimal)
            values = exp.select().from_(granules.subquery("raw"))
            reason = units.granules_or_reason(qid)[1]
        else:
            values = code_join(exp.select().from_(rows.subquery("raw")), qid, "raw")
            reason = node_label(qid, "raw")[1]
        found.append(_store(values, column(derived("line"), "raw"), qid.column, value, reason))
    return found


def id_statements(
    dataset: Dataset, declared: Table, places: Mapping[str, int], records: str
) -> list[str]:
    """The statements that store the case ids of a child table that are none.

    Args:
        dataset: declares which columns are ids.
        declared: the table that the file fills.
        places: where its columns are in the file.
        records: the temporary table or view that has them.

    Returns:
        INSERTs into ``srsql.reject`` with the parameters $ingestion, $dataset, $quarter, $file.
    """
    found = []
    if declared.name != dataset.report_table and dataset.id_type == "integer":
        for name in dataset.id_columns:
            if name in places and name != dataset.report_id:
                value = trimmed(read_field(dataset, places[name]))
                wrong = is_null(identifier(dataset, read_field(dataset, places[name])))
                reason = exp.Case().when(
                    exp.and_(known(value), wrong), text_of("case id is not an integer")
                )
                values = loadable(records)
                found.append(_store(values, column("line", "r"), name, value, reason))
    return found


def store_derived(
    warehouse: Warehouse, dataset: Dataset, key: FileKey, place: Place = raw_table
) -> None:
    """Write to ``srsql.reject`` what derived columns of a period could not be made of or used as.

    Args:
        warehouse: with the derived columns made.
        dataset: declares them.
        key: the file of the report table.
        place: where its rows were loaded into.
    """
    declared = dataset.table(dataset.report_table)
    made = {each.name for each in dataset.derived}
    own = dataset.model_copy(update={"qid": tuple(q for q in dataset.qid if q.column in made)})
    statements = value_statements(own, declared, place)
    period = exp.EQ(this=column("quarter", "t"), expression=exp.Parameter(this="quarter"))
    rows = exp.select().from_(place(dataset, declared.name, "t")).where(period)
    for each in dataset.derived:
        for table, source in each.sources if each.dates else ():
            if table != declared.name:
                continue
            date = column(source, "t")
            told: str = "day"
            if isinstance(each, Period):
                unread, told = is_null(column(each.name, "t")), each.step
            else:
                day = exp.Anonymous(this="day_of", expressions=[date.copy(), text_of(SPACES)])
                unread = is_null(exp.Dot(this=exp.to_identifier("srsql"), expression=day))
            reason = exp.Case().when(
                exp.and_(known(trimmed(date)), unread), text_of(f"no date that tells its {told}")
            )
            line = column(derived("line"), "t")
            statements.append(_store(rows, line, source, date.copy(), reason))
    for statement in statements:
        warehouse.run(statement, _parameters(dataset, key))


def _store(
    values: exp.Select,
    line: exp.Expression,
    name: str,
    value: exp.Expression,
    reason: exp.Expression,
) -> str:
    """The INSERT of the values of one column that have a reason, in the order of their lines."""
    listed = values.select(
        exp.alias_(line, "line"), exp.alias_(value, "value"), exp.alias_(reason, "reason")
    )
    cells: dict[str, exp.Expression] = {
        "ingestion_id": exp.Parameter(this="ingestion"),
        "dataset": exp.Parameter(this="dataset"),
        "quarter": exp.Parameter(this="quarter"),
        "file": exp.Parameter(this="file"),
        "line": column("line", "found"),
        "kind": text_of("value"),
        "column_name": text_of(name),
        "value": column("value", "found"),
        "reason": column("reason", "found"),
    }
    rows = (
        exp.select(*(exp.alias_(cell, name) for name, cell in cells.items()))
        .from_(listed.subquery("found"))
        .where(known(column("reason", "found")))
        .order_by(column("line", "found"))
    )
    target = exp.Schema(
        this=exp.table_("reject", db="srsql"),
        expressions=[exp.to_identifier(name) for name in cells],
    )
    return exp.Insert(this=target, expression=rows).sql(dialect="duckdb")


def count_rejects(warehouse: Warehouse, ingestion: int, file: str) -> dict[tuple[str, str], int]:
    """The rejects of one file, counted.

    Args:
        warehouse: with the rejects stored.
        ingestion: the ingestion.
        file: the name of the file.

    Returns:
        (kind, reason) -> how many, the commonest first; kind is ``row`` or ``value``, and the
        reason of a value begins with its column.
    """
    rows = warehouse.rows(query("ingest/rejects", "counts"), {"ingestion": ingestion, "file": file})
    return {(kind, reason): count for kind, reason, count in rows}
