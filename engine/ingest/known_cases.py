"""Cases that an ingestion knows beforehand: forgotten ones, and those that a replaced source had.

A forgotten case is recognized by a keyed hash of its id (``srsql.forgotten_case``): its records are
rejected without their text. Of a source that is put in the place of another one the cases that are
absent or changed stand in ``srsql.replaced_case``.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from srsql.engine.catalog.datasets import forgotten_pads
from srsql.engine.catalog.layout import derived, qids_of, raw_table, term_placeholders
from srsql.engine.catalog.releases import with_shown_columns
from srsql.engine.ingest.cells import id_value
from srsql.engine.ingest.raw_tables import REJECTED
from srsql.engine.ingest.records import call, drop_temporary, text_of
from srsql.engine.store.statements import (
    column,
    create,
    query,
    spaces_and,
    temporary,
    union_all,
    with_rows,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Table

TOPIC = "ingest/known_cases"
FOUND, LINE = "srsql_forgotten_id", "srsql_forgotten_line"
BEFORE = "srsql_replaced_before"
Pads = dict[str, bytes]


def open_forgotten(warehouse: Warehouse, dataset: Dataset) -> Pads | None:
    """What recognizes the forgotten cases of a dataset; None: it has none.

    Args:
        warehouse: within the transaction of an ingestion.
        dataset: whose cases.
    """
    pads = forgotten_pads(warehouse, dataset.name)
    if pads is not None:
        warehouse.run(query(TOPIC, "create_found"))
    return pads


def reject_forgotten(
    warehouse: Warehouse,
    dataset: Dataset,
    declared: Table | None,
    places: Mapping[str, int],
    pads: Pads,
    records: str,
) -> None:
    """Reject the records of forgotten cases, and take their text away.

    A record is of such a case by its case id, or by its report id where the report was recognized.
    A record that cannot be loaded anyway loses its text where any of its fields is such an id.

    Args:
        warehouse: with ``REJECTED``; the report table comes before the others.
        dataset: names the ids.
        declared: the table that the file fills; None: a list of withdrawn cases.
        places: where its columns are in the file.
        pads: see ``open_forgotten``.
        records: the temporary table or view that has them; of a list (line, field, case_id).
    """
    if declared is None:
        case_id: exp.Expression = column("case_id", "r")
        report_id: exp.Expression = exp.null()
    else:
        there = dataset.case_id in declared.key or dataset.case_id in places
        case_id = exp.null()
        if there:
            case_id = id_value(dataset, declared, places, dataset.case_id, "r")
        report_id = id_value(dataset, declared, places, dataset.report_id, "r")
    lines = (
        exp.select(
            column("line", "r"),
            exp.alias_(exp.cast(case_id, "VARCHAR"), "case_id"),
            exp.alias_(exp.cast(report_id, "VARCHAR"), "report_id"),
            "CASE WHEN j.line IS NOT NULL THEN j.field ELSE [] END AS field",
        )
        .from_(temporary(records, "r"))
        .join(
            temporary(REJECTED, "j"),
            on=column("line", "j").eq(column("line", "r")),
            join_type="left",
        )
    )
    warehouse.run(create(temporary(LINE), lines, temp=True))
    written = {"ends": spaces_and(dataset.source.quotes), "integer": dataset.id_type == "integer"}
    warehouse.run(query(TOPIC, "recognize"), {**pads, **written, "dataset": dataset.name})
    if declared is not None and declared.name == dataset.report_table:
        warehouse.run(query(TOPIC, "reports"))
    warehouse.run(query(TOPIC, "reject"))
    warehouse.run(query(TOPIC, "reject_alone"))
    warehouse.run(query(TOPIC, "blank"), written)
    drop_temporary(warehouse, LINE)


def close_forgotten(warehouse: Warehouse) -> None:
    """Drop what was recognized."""
    drop_temporary(warehouse, FOUND)


def case_digests(dataset: Dataset) -> exp.Select:
    """What releases read of each case of the period $quarter: (case_id, digest).

    That is the ids of its reports, their quasi-identifiers as they are used, the terms in their
    normal form, and every published column. A digest is a sum over the rows, in whatever order.

    Args:
        dataset: says what releases read.
    """
    parts: list[exp.Query] = []
    for declared in dataset.tables:
        own = declared.name == dataset.report_table
        names = [derived(qid.name) for qid in qids_of(dataset, declared)]
        names += [derived(name) for name in term_placeholders(dataset, declared)]
        names = [dataset.report_id, *names, *declared.publish]
        cells = [column(each, "t") for each in dict.fromkeys(names)]
        digest = call("hash", text_of(declared.name), *cells)
        rows = exp.select(
            exp.alias_(column(dataset.case_id, "t" if own else "r"), "case_id"),
            exp.alias_(digest, "digest"),
        ).from_(raw_table(dataset, declared.name, "t"))
        if not own:
            rows = rows.join(
                raw_table(dataset, dataset.report_table, "r"),
                on=exp.and_(
                    column("quarter", "r").eq(exp.Parameter(this="quarter")),
                    column(dataset.report_id, "r").eq(column(dataset.report_id, "t")),
                ),
            )
        parts.append(rows.where(column("quarter", "t").eq(exp.Parameter(this="quarter"))))
    total = exp.Sum(this=exp.cast(column("digest", "d"), "HUGEINT"))
    return (
        exp.select(
            exp.alias_(exp.cast(column("case_id", "d"), "VARCHAR"), "case_id"),
            exp.alias_(total, "digest"),
        )
        .from_(union_all(parts).subquery("d"))
        .group_by(column("case_id", "d"))
    )


def keep_digests(warehouse: Warehouse, dataset: Dataset, quarter: str) -> None:
    """Note what the cases of a period have before its source is replaced.

    Args:
        warehouse: with the raw rows of the period.
        dataset: of the period.
        quarter: the period.
    """
    shown = with_shown_columns(warehouse, dataset, None)
    digests = create(temporary(BEFORE), case_digests(shown), temp=True)
    warehouse.run(digests, {"quarter": quarter})


def record_replaced(warehouse: Warehouse, dataset: Dataset, quarter: str, ingestion: int) -> None:
    """Write the cases that are absent or changed to ``srsql.replaced_case``.

    Args:
        warehouse: with ``BEFORE``, and the raw rows of the period as they are now.
        dataset: of the period.
        quarter: the period.
        ingestion: the one that replaced the other.
    """
    shown = with_shown_columns(warehouse, dataset, None)
    statement = with_rows(query(TOPIC, "replaced"), present=case_digests(shown))
    asked = {"dataset": dataset.name, "quarter": quarter, "ingestion": ingestion}
    rows = statement.sql(dialect="duckdb")
    warehouse.run(f"INSERT INTO srsql.replaced_case {rows}", asked)
    warehouse.run(query(TOPIC, "compared"), {"ingestion": ingestion})
    drop_temporary(warehouse, BEFORE)
