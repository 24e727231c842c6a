"""From the released cases of a quarter to the sets of terms that are disassociated."""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.errors import ReleaseError
from srsql.engine.terms.parameters import Terms
from srsql.engine.warehouse.layout import (
    CLUSTERS,
    COLUMNS,
    SHAPES,
    derived,
    raw_table,
    region_columns,
)
from srsql.engine.warehouse.statements import column, create, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def check_attributes(dataset: Dataset, terms: Terms) -> None:
    """Refuse attributes that are not terms, or that the dataset schema does not let out.

    Raises:
        ReleaseError: the text names the attribute and what there is.
    """
    taken = {source.name for source in dataset.tables} & {
        name for shape in SHAPES.values() for name in shape
    }
    if taken:
        raise ReleaseError(
            f"dataset {dataset.name} has a table {min(taken)}, as disassociated terms have: its "
            "terms cannot be released apart from it"
        )
    shown = set(region_columns(dataset)) & set(COLUMNS[CLUSTERS])
    if shown:
        raise ReleaseError(
            f"dataset {dataset.name} has a quasi-identifier {min(shown)}, as a column of clusters "
            "is called: call it otherwise to release terms apart from their rows"
        )
    known = {a.column: a.table for a in (*dataset.sensitive, *dataset.quasi_sensitive)}
    for name in terms.attributes:
        if name not in known:
            raise ReleaseError(
                f"--term-attributes: {name!r} is no attribute with terms of dataset "
                f"{dataset.name} (it has: {', '.join(known)})"
            )
        if name not in dataset.table(known[name]).publish:
            raise ReleaseError(f"--term-attributes: dataset {dataset.name} does not publish {name}")
        if known[name] == dataset.report_table:
            raise ReleaseError(
                f"--term-attributes: {name} is a column of {known[name]}, one value a report, not "
                "a set of terms"
            )


def load_baskets(
    warehouse: Warehouse,
    dataset: Dataset,
    quarter: str,
    terms: Terms,
    *,
    grouped: bool,
    least: int,
) -> None:
    """Fill the tables of ``terms/steps/baskets.sql`` from the raw rows of the quarter.

    ``grouped``: clusters lie inside QID-groups; ``least``: records that a cluster needs.
    """
    chosen = {a.column: a.table for a in (*dataset.sensitive, *dataset.quasi_sensitive)}
    parts: list[exp.Query] = [
        exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            exp.Literal.string(name).as_("attribute"),
            column(derived(name), "t").as_("term"),
            exp.Count(this=exp.Star()).as_("times"),
        )
        .from_(raw_table(dataset, chosen[name], alias="t"))
        .where(column("quarter", "t").eq(exp.Placeholder()))
        .where(column(derived(name), "t").is_(exp.null()).not_())
        .group_by(column(dataset.report_id, "t"), column(derived(name), "t"))
        for name in terms.attributes
    ]
    warehouse.run(
        create(exp.to_table("srsql_report_item"), union_all(parts), temp=True),
        [quarter] * len(parts),
    )
    warehouse.run_step(
        "terms/baskets",
        {
            "prefixed": len(terms.attributes) > 1,
            "repeated": terms.repeated,
            "grouped": grouped,
            "least": least,
        },
    )
