"""A sample of a quarter: its cases, each whole or not at all."""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.warehouse.layout import raw_table
from srsql.engine.warehouse.statements import column, create, temporary
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

KEPT = "srsql_sampled"


def count_cases(warehouse: Warehouse, dataset: Dataset, quarter: str) -> int:
    """How many cases have a report in the quarter."""
    query = (
        exp.select(exp.Count(this=exp.Distinct(expressions=[column(dataset.case_id, "r")])))
        .from_(raw_table(dataset, dataset.report_table, alias="r"))
        .where(column("quarter", "r").eq(exp.Placeholder()))
    )
    return int(warehouse.value(query.sql(dialect="duckdb"), [quarter]))


def thin(warehouse: Warehouse, dataset: Dataset, quarter: str, cases: int, seed: int) -> None:
    """Delete all but ``cases`` cases of the quarter from the raw tables. For a private copy only.

    Every case has the same chance, whatever it holds and whether it is old or new: those of least
    MD5 of seed and case id stay. Other quarters and earlier releases are left as they are.
    """
    case = column(dataset.case_id, "r")
    drawn = exp.func(
        "md5", exp.func("concat", exp.Literal.string(f"{seed}/"), exp.cast(case.copy(), "VARCHAR"))
    )
    chosen = (
        exp.select(case.copy())
        .distinct()
        .from_(raw_table(dataset, dataset.report_table, alias="r"))
        .where(column("quarter", "r").eq(exp.Placeholder()))
    )
    drawn_first = (
        exp.select(case.copy())
        .from_(chosen.subquery("r"))
        .order_by(drawn, case.copy())
        .limit(int(cases))
    )
    reports = (
        exp.select(column(dataset.report_id, "r").as_("report_id"))
        .from_(raw_table(dataset, dataset.report_table, alias="r"))
        .where(column("quarter", "r").eq(exp.Placeholder()), case.copy().isin(query=drawn_first))
    )
    warehouse.run(create(exp.to_table(KEPT), reports, temp=True), [quarter, quarter])
    kept = exp.select(column("report_id", "k")).from_(temporary(KEPT, alias="k"))
    for each in dataset.tables:
        gone = exp.and_(
            column("quarter", "t").eq(exp.Placeholder()),
            exp.not_(column(dataset.report_id, "t").isin(query=kept.copy())),
        )
        statement = exp.delete(raw_table(dataset, each.name, alias="t"), where=gone)
        warehouse.run(statement.sql(dialect="duckdb"), [quarter])
    warehouse.run(f"DROP TABLE temp.main.{KEPT}")
