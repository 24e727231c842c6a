"""Derived columns are made once all files of a period are loaded, by the rules of the dataset.

A date that is none, or is not told as exactly as its rule needs, gives no value: the report counts
as one that does not know it.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from srsql.engine.catalog.datasets import normalized, normalized_texts
from srsql.engine.catalog.layout import derived as usable
from srsql.engine.catalog.layout import raw_table
from srsql.engine.ingest import units
from srsql.engine.ingest.raw_tables import CODE, Place
from srsql.engine.ingest.records import drop_temporary
from srsql.engine.store.statements import SPACES, column, create, temporary, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid
from srsql.schemas.derived import Derived, Elapsed, Number, Occurs, Period

SOURCE, VALUE = "srsql_derived_source", "srsql_derived_value"


def make_derived(
    warehouse: Warehouse, dataset: Dataset, quarter: str, place: Place = raw_table
) -> None:
    """Fill the derived columns of a period, and the quasi-identifiers that are read from them.

    Args:
        warehouse: with the rows of the period, and ``srsql_code``.
        dataset: declares the columns.
        quarter: the period.
        place: where the rows were loaded into.
    """
    for made in dataset.derived:
        warehouse.run(source_rows(dataset, made, place), {"quarter": quarter})
        warehouse.run_step(f"ingest/derived_{made.rule}", _parameters(warehouse, made))
        warehouse.run(filled(dataset, made, place), {"quarter": quarter})
        for qid in dataset.qid:
            if qid.column == made.name:
                warehouse.run(usable_values(dataset, qid, place), {"quarter": quarter})
    drop_temporary(warehouse, SOURCE, VALUE)


def _parameters(warehouse: Warehouse, made: Derived) -> dict[str, Any]:
    if isinstance(made, Period):
        return {"rule": made.step, "ends": SPACES}
    labels = list(made.labels)
    if isinstance(made, Occurs):
        return {"terms": normalized_texts(warehouse, made.values), "labels": labels}
    return {"classes": list(made.classes), "labels": labels, "ends": SPACES}


def source_rows(dataset: Dataset, made: Derived, place: Place = raw_table) -> str:
    """The statement that fills ``srsql_derived_source`` for the period $quarter.

    Every report has a row, and one more for each row of a table that a source is in.

    Args:
        dataset: declares the tables.
        made: the derived column.
        place: where the rows were loaded into.
    """
    parts: list[exp.Query] = []
    for name, source in ((dataset.report_table, None), *made.sources):
        text: exp.Expression = exp.cast(exp.null(), "VARCHAR")
        if source is not None:
            text = column(source, "t")
            text = normalized(text) if isinstance(made, (Occurs, Number)) else text
        rows = exp.select(
            column(dataset.report_id, "t").as_("report"), exp.alias_(text, "text")
        ).from_(place(dataset, name, "t"))
        if isinstance(made, Elapsed):
            rows = rows.select(exp.convert((name, source) == made.start).as_("is_start"))
        parts.append(rows.where(column("quarter", "t").eq(exp.Placeholder(this="quarter"))))
    return create(temporary(SOURCE), union_all(parts), temp=True)


def filled(dataset: Dataset, made: Derived, place: Place = raw_table) -> str:
    """The UPDATE that writes ``srsql_derived_value`` into the reports of the period $quarter."""
    values = exp.select(column("report", "v"), column("value", "v")).from_(temporary(VALUE, "v"))
    same = column(dataset.report_id, "t").eq(column("report", "v"))
    return _update(dataset, place, made.name, column("value", "v"), values, same)


def usable_values(dataset: Dataset, qid: Qid, place: Place = raw_table) -> str:
    """The UPDATE that writes the granules or nodes of a quasi-identifier of a derived column."""
    if qid.kind == "numeric":
        written = (
            exp.select(column(qid.column, "t"))
            .distinct()
            .from_(place(dataset, dataset.report_table, "t"))
            .where(column("quarter", "t").eq(exp.Placeholder(this="quarter")))
        )
        values = exp.select(
            column(qid.column, "known").as_("value"),
            exp.alias_(units.granules_or_reason(qid)[0], "usable"),
        ).from_(units.with_granules(written, [qid]).subquery("known"))
        same: exp.Expr = column(qid.column, "t").eq(column("value", "v"))
    else:
        values = (
            exp.select(column("code", "c").as_("value"), column("label", "c").as_("usable"))
            .from_(temporary(CODE, "c"))
            .where(column("qid", "c").eq(exp.Literal.string(qid.name)))
        )
        same = normalized(column(qid.column, "t")).eq(column("value", "v"))
    return _update(dataset, place, usable(qid.name), column("usable", "v"), values, same)


def _update(
    dataset: Dataset, place: Place, name: str, value: exp.Expr, values: exp.Select, same: exp.Expr
) -> str:
    """UPDATE of one column of the reports ``t`` of the period $quarter from the rows ``v``."""
    return (
        exp.update(place(dataset, dataset.report_table, "t"), dialect="duckdb")
        .set_(exp.EQ(this=column(name), expression=value))
        .from_(values.subquery("v"))
        .where(column("quarter", "t").eq(exp.Placeholder(this="quarter")))
        .where(same)
        .sql(dialect="duckdb")
    )
