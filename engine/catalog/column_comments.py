"""What DuckDB tells of the released views of a series, and of their columns."""

from __future__ import annotations

from srsql.engine.catalog.layout import key_columns
from srsql.engine.store.comments import column_text
from srsql.engine.store.statements import dotted, literal, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "warehouse/series"
VIEWS = {
    "manifest": "What the release says of itself, in one row.",
    "case_latest": "Latest released period of each case.",
}
PUBLISHED = "Published as the report has it."


def comment_views(warehouse: Warehouse, visible_dataset: Dataset, series: str) -> None:
    """Comment the views of the releases of a series, and their columns, that have no comment yet.

    Args:
        warehouse: within a transaction, in which the views are as they should be.
        visible_dataset: with the tables of which the series has rows.
        series: whose views.
    """
    names = {"dataset": visible_dataset.name, "series": series}
    texts: dict[str, dict[str, str]] = {}
    for schema, view, column in warehouse.rows(query(TOPIC, "uncommented"), names):
        if column is None:
            text = VIEWS.get(view, f"Released rows of {view}.")
            warehouse.run(f"COMMENT ON VIEW {dotted(schema, view)} IS {literal(text)}")
            continue
        if view not in texts:
            texts[view] = _texts(visible_dataset, view)
        text = texts[view].get(column) or _otherwise(view, column)
        warehouse.run(f"COMMENT ON COLUMN {dotted(schema, view, column)} IS {literal(text)}")


def _texts(dataset: Dataset, view: str) -> dict[str, str]:
    """What the columns of a released table of a dataset hold."""
    found = {"quarter": "Label of the period."}
    if view not in {each.name for each in dataset.row_tables} | {"case_latest"}:
        return found
    found |= {dataset.report_id: "Id of the report.", dataset.case_id: "Id of the case."}
    for qid in dataset.qid:
        ends = ("Lower end", "Upper end") if len(qid.published) == 2 else ("Region",)
        unit = f", in {qid.unit}" if qid.unit else ""
        for name, end in zip(qid.published, ends, strict=True):
            found[name] = f"{end} of the region of {qid.name}, inclusive{unit}."
    for table in dataset.tables:
        if table.name == view:
            found |= dict.fromkeys(table.publish, PUBLISHED)
            for column, key in key_columns(dataset, view).items():
                found[key] = f"Key of {column}, one for all its spellings."
    return found


def _otherwise(view: str, column: str) -> str:
    """Of counts, clusters, chunks and manifests: what the catalog says of a column of that name."""
    if view == "manifest":
        return f"{column.replace('_', ' ').capitalize()}."
    return column_text(view, column) or f"{column.replace('_', ' ').capitalize()}."
