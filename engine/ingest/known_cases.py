"""Cases that an ingestion knows beforehand: forgotten ones, and those that a replaced source had.

A forgotten case is recognized by a keyed hash of its id (``srsql.forgotten_case``): its records are
rejected without their text. Of a source that is put in the place of another one the cases that are
absent or changed stand in ``srsql.replaced_case``.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from srsql.engine.ingest.raw_tables import JUDGED, identifier, qids_of, term_placeholders
from srsql.engine.ingest.records import call, drop_temporary, field_at, text_of
from srsql.engine.warehouse.catalog import forgotten_pads
from srsql.engine.warehouse.layout import derived, raw_table
from srsql.engine.warehouse.statements import column, create, query, temporary, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Table

TOPIC = "ingest/known_cases"
FOUND, LINE = "srsql_forgotten_id", "srsql_forgotten_line"
BEFORE, AFTER = "srsql_replaced_before", "srsql_replaced_after"
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
) -> None:
    """Give the judged records of forgotten cases a reason, and take their text away.

    A record is of such a case by its case id, or by its report id where the report was recognized.
    A record that cannot be loaded anyway loses its text where any of its fields is such an id.

    Args:
        warehouse: with ``srsql_judged``; the report table comes before the others.
        dataset: names the ids.
        declared: the table that the file fills; None: a list of withdrawn cases.
        places: where its columns are in the file.
        pads: see ``open_forgotten``.
    """
    if declared is None:
        case_id: exp.Expression = column("case_id")
        report_id: exp.Expression = exp.null()
    else:
        place = places.get(dataset.case_id)
        case_id = identifier(dataset, field_at(place)) if place else exp.null()
        report_id = identifier(dataset, field_at(places[dataset.report_id]))
    field = identifier(dataset, column("text", "f"))
    lines = exp.select(
        "line",
        "reason",
        exp.alias_(exp.cast(case_id, "VARCHAR"), "case_id"),
        exp.alias_(exp.cast(report_id, "VARCHAR"), "report_id"),
        "field",
    ).from_(temporary(JUDGED))
    warehouse.run(create(temporary(LINE), lines, temp=True))
    texts = (
        exp.select("f.line", exp.alias_(exp.cast(field, "VARCHAR"), "id"))
        .from_(
            exp.select("l.line", exp.alias_(call("unnest", column("field", "l")), "text"))
            .from_(temporary(LINE, alias="l"))
            .where("l.reason IS NOT NULL")
            .subquery("f")
        )
        .sql(dialect="duckdb")
    )
    warehouse.run(f"CREATE OR REPLACE TEMP TABLE srsql_forgotten_text AS {texts}")
    warehouse.run(query(TOPIC, "recognize"), {**pads, "dataset": dataset.name})
    if declared is not None and declared.name == dataset.report_table:
        warehouse.run(query(TOPIC, "reports"))
    warehouse.run(query(TOPIC, "reject"))
    warehouse.run(query(TOPIC, "blank"))
    drop_temporary(warehouse, LINE, "srsql_forgotten_text")


def close_forgotten(warehouse: Warehouse) -> None:
    """Drop what was recognized."""
    drop_temporary(warehouse, FOUND)


def digest_cases(warehouse: Warehouse, dataset: Dataset, quarter: str, name: str) -> None:
    """Fill the temporary table ``name`` (case_id, digest) with what releases read of each case.

    That is the ids of its reports, their quasi-identifiers as they are used, the terms in their
    normal form, and every published column. A digest is a sum over the rows, in whatever order.

    Args:
        warehouse: with the raw rows of the period.
        dataset: says what releases read.
        quarter: the period.
        name: of the table.
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
    digests = (
        exp.select(
            exp.alias_(exp.cast(column("case_id", "d"), "VARCHAR"), "case_id"),
            exp.alias_(total, "digest"),
        )
        .from_(union_all(parts).subquery("d"))
        .group_by(column("case_id", "d"))
    )
    warehouse.run(create(temporary(name), digests, temp=True), {"quarter": quarter})


def record_replaced(warehouse: Warehouse, dataset: Dataset, quarter: str, ingestion: int) -> None:
    """Write the cases that are absent or changed to ``srsql.replaced_case``.

    Args:
        warehouse: with ``BEFORE``, and the raw rows of the period as they are now.
        dataset: of the period.
        quarter: the period.
        ingestion: the one that replaced the other.
    """
    digest_cases(warehouse, dataset, quarter, AFTER)
    warehouse.run(
        query(TOPIC, "replaced"),
        {"dataset": dataset.name, "quarter": quarter, "ingestion": ingestion},
    )
    warehouse.run(query(TOPIC, "compared"), {"ingestion": ingestion})
    drop_temporary(warehouse, BEFORE, AFTER)
