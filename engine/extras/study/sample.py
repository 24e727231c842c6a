"""A sample of a quarter: cases with all their rows, every other case with none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlglot import exp

from srsql.engine.catalog.layout import raw_table
from srsql.engine.lake.lake import take_in, taken_in
from srsql.engine.store.statements import column, create, query, temporary
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

SAMPLED = "srsql_sampled_report"
"""report_id: the reports of the cases that stay."""


def count_cases(warehouse: Warehouse, dataset: Dataset, quarter: str) -> int:
    """How many cases have a report in the quarter.

    Args:
        warehouse: with the raw tables.
        dataset: whose quarter.
        quarter: that is counted.
    """
    counting = (
        exp.select(exp.Count(this=exp.Distinct(expressions=[column(dataset.case_id, "r")])))
        .from_(raw_table(dataset, dataset.report_table, alias="r"))
        .where(column("quarter", "r").eq(exp.Placeholder()))
    )
    return int(warehouse.value(counting.sql(dialect="duckdb"), [quarter]))


def thin(warehouse: Warehouse, dataset: Dataset, quarter: str, cases: int, seed: int) -> None:
    """Delete all but ``cases`` cases of the quarter from the raw tables. For a private copy only.

    Other quarters and earlier releases are left as they are.

    Args:
        warehouse: a private copy.
        dataset: whose quarter.
        quarter: the only one that is thinned.
        cases: how many stay, if there are as many.
        seed: other seeds draw other cases.
    """
    sampled = create(exp.to_table(SAMPLED), sampled_reports(dataset, cases, seed), temp=True)
    warehouse.run(sampled, [quarter, quarter])
    place: Callable[..., exp.Table] = raw_table
    if take_in(warehouse, dataset, quarter):
        place = partial(taken_in, quarter=quarter)
    for each in dataset.tables:
        warehouse.run(outside_sample(dataset, each.name, place).sql(dialect="duckdb"), [quarter])
    warehouse.run(query("study/data", "rows_of_sample"), {
        "quarter": quarter, "table_name": dataset.report_table, "dataset": dataset.name,
    })  # fmt: skip
    warehouse.run(query("study/data", "drop_sample"))


def sampled_reports(dataset: Dataset, cases: int, seed: int) -> exp.Select:
    """The reports of ``cases`` cases of a quarter (the parameter, twice).

    Every case has the same chance, whatever it holds and whether it is old or new: those of least
    MD5 of seed and case id stay.

    Args:
        dataset: whose quarter.
        cases: how many.
        seed: other seeds draw other cases.
    """
    case = column(dataset.case_id, "r")
    hashed = exp.func(
        "md5", exp.func("concat", exp.Literal.string(f"{seed}/"), exp.cast(case.copy(), "VARCHAR"))
    )
    of_quarter = (
        exp.select(case.copy())
        .distinct()
        .from_(raw_table(dataset, dataset.report_table, alias="r"))
        .where(column("quarter", "r").eq(exp.Placeholder()))
    )
    first = (
        exp.select(case.copy())
        .from_(of_quarter.subquery("r"))
        .order_by(hashed, case.copy())
        .limit(int(cases))
    )
    return (
        exp.select(column(dataset.report_id, "r").as_("report_id"))
        .from_(raw_table(dataset, dataset.report_table, alias="r"))
        .where(column("quarter", "r").eq(exp.Placeholder()), case.copy().isin(query=first))
    )


def outside_sample(
    dataset: Dataset, name: str, place: Callable[..., exp.Table] = raw_table
) -> exp.Delete:
    """The deletion of a raw table's rows of a quarter (the parameter) that are not in the sample.

    Args:
        dataset: whose quarter.
        name: of the table.
        place: where its rows are.
    """
    sampled = exp.select(column("report_id", "s")).from_(temporary(SAMPLED, alias="s"))
    outside = exp.and_(
        column("quarter", "t").eq(exp.Placeholder()),
        exp.not_(column(dataset.report_id, "t").isin(query=sampled)),
    )
    return exp.delete(place(dataset, name, alias="t"), where=outside)
