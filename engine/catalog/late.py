"""The raw rows of a cumulative source, as the releases of a series take them (SPEC section 22).

What a dump brings of a period that is loaded already stands in the raw tables under a label of its
own (``srsql.dump_period``), so that no row of the period changes. A series shows these reports
under their own period as long as no release of it is out, and then under that of the release that
took them. Which ones that are is decided once, when a release is made (``srsql.taken_case``).
"""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.catalog.layout import raw_table
from srsql.engine.store.statements import (
    column,
    create,
    query,
    table,
    temporary,
    union_all,
    with_rows,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "warehouse/waiting"


def is_cumulative(warehouse: Warehouse, dataset: str) -> bool:
    """Whether a dump of a cumulative source of the dataset was ingested."""
    return bool(warehouse.rows(query(TOPIC, "is_cumulative"), {"dataset": dataset})[0][0])


def has_late(warehouse: Warehouse, dataset: str) -> bool:
    """Whether a dump brought reports of a period that was loaded already."""
    return bool(warehouse.rows(query(TOPIC, "is_cumulative"), {"dataset": dataset})[0][1])


def late_rows(dataset: Dataset) -> exp.Select:
    """The reports that dumps brought after their period was loaded, or with other values.

    Returns:
        A query of (report_id, case_id, quarter, ingestion_id, label): the period that received the
        report, the dump, and what the raw tables have in the place of the period.
    """
    return (
        exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            exp.cast(column(dataset.case_id, "t"), "VARCHAR").as_("case_id"),
            column("quarter", "d"),
            column("ingestion_id", "d"),
            column("label", "d"),
        )
        .from_(raw_table(dataset.taken_from(""), dataset.report_table, alias="t"))
        .join(
            table("srsql", "dump_period", alias="d"),
            on=exp.and_(
                column("dataset", "d").eq(exp.Literal.string(dataset.name)),
                column("label", "d").eq(column("quarter", "t")),
            ),
        )
    )


def with_late(
    warehouse: Warehouse, dataset: Dataset, series: str, own: int | None = None
) -> Dataset:
    """The dataset with the raw rows as the series takes them; itself where none came late.

    Args:
        warehouse: may be read-only; the views are temporary.
        dataset: whose raw rows.
        series: whose releases decide.
        own: a draft, or the release that is being made; it counts as if it were out.
    """
    plain = dataset.taken_from("")
    if not has_late(warehouse, dataset.name):
        return plain
    views = dataset.taken_from(f"srsql_late_{series}_{own or 0}")
    places = f"{views.intake} places"
    rows = with_rows(query(TOPIC, "late_places"), late_row=late_rows(plain))
    asked = {"dataset": dataset.name, "series": series, "own": own}
    warehouse.run(create(temporary(places), rows, temp=True), asked)
    for declared in dataset.tables:
        names = warehouse.columns(f"raw_{dataset.name}", declared.name)
        view = exp.Table(this=raw_table(views, declared.name).this.copy())
        shown = _rows(plain, declared.name, names, places)
        warehouse.run(create(view, shown, "VIEW", temp=True))
    return views


def _rows(dataset: Dataset, name: str, columns: list[str], places: str) -> exp.Query:
    """The rows of a raw table that were loaded with their period, but for those of which a newer
    text is shown there; and late ones under the period where they are shown."""
    report_id = column(dataset.report_id, "t")
    late = (
        exp.select("1")
        .from_(table("srsql", "dump_period", alias="d"))
        .where(column("dataset", "d").eq(exp.Literal.string(dataset.name)))
        .where(column("label", "d").eq(column("quarter", "t")))
    )
    newer = (
        exp.select("1")
        .from_(temporary(places, alias="p"))
        .where(column("report_id", "p").eq(report_id))
        .where(column("quarter", "p").eq(column("quarter", "t")))
        .where(column("batch", "p").eq(column("quarter", "t")))
    )
    loaded = (
        exp.select(*[column(each, "t") for each in columns])
        .from_(raw_table(dataset, name, "t"))
        .where(exp.not_(exp.Exists(this=late)))
        .where(exp.not_(exp.Exists(this=newer)))
    )
    shown = [
        column("batch", "p").as_("quarter") if each == "quarter" else column(each, "t")
        for each in columns
    ]
    came = (
        exp.select(*shown)
        .from_(raw_table(dataset, name, "t"))
        .join(
            temporary(places, alias="p"),
            on=exp.and_(
                column("report_id", "p").eq(report_id.copy()),
                column("label", "p").eq(column("quarter", "t")),
            ),
        )
    )
    return union_all([loaded, came])
