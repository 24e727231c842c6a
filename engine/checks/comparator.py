"""The check of a comparator's release after the fact: see ``checks/comparators.sql``.

It judges what such a release keeps (k reports, k cases, alpha, l values), and not k and theta.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from srsql.engine.warehouse.statements import bare, column, create, literal, table, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Sensitive


def claim_calls(
    warehouse: Warehouse,
    dataset: Dataset,
    schema: str,
    release_id: int,
    claims: dict[str, Fraction],
    region: exp.Expr,
) -> list[str]:
    """Calls that return uniform rows, one for each claim; needs ``srsql_seen_row``.

    ``region``: the text of the published quasi-identifiers of a row ``v`` of the report table.
    """
    reports = exp.select(
        exp.cast(region, "VARCHAR").as_("region"), column(dataset.report_id, "v").as_("report_id")
    ).from_(table(schema, dataset.report_table, alias="v"))
    warehouse.run(create(exp.to_table("srsql_seen_report_row"), reports, temp=True))
    shown = {item.name: item.publish for item in dataset.tables}
    seen = [a for a in dataset.sensitive if a.column in shown[a.table]]
    values_seen = _values(dataset, schema, seen)
    warehouse.run(create(exp.to_table("srsql_seen_report_value"), values_seen, temp=True))
    names = dict.fromkeys(a.column for a in seen)
    rows, values = (literal(f"temp.main.srsql_seen_report_{name}") for name in ("row", "value"))
    listed = exp.Array(expressions=[exp.Literal.string(name) for name in names]).sql("duckdb")
    calls = []
    for claim, bound in claims.items():
        least = f"{bound.numerator:d}"
        calls.append(
            {
                "k": f"srsql.check_k('temp.main.srsql_seen_row', {least}, {release_id:d})",
                "reports": f"srsql.check_reports({rows}, {least}, {release_id:d})",
                "alpha": f"srsql.check_alpha({rows}, {values}, {least}, {bound.denominator:d},"
                f" {release_id:d})",
                "values": f"srsql.check_values({rows}, {values}, {listed}, {least},"
                f" {release_id:d})",
            }[claim]
        )
    return calls


def _values(dataset: Dataset, schema: str, seen: list[Sensitive]) -> exp.Query:
    """(report_id, attribute, normalized term) of the released sensitive columns."""
    parts: list[exp.Query] = [
        exp.select(
            column(dataset.report_id, "v").as_("report_id"),
            exp.Literal.string(attribute.column).as_("attribute"),
            exp.func("upper", bare(column(attribute.column, "v"))).as_("term"),
        )
        .distinct()
        .from_(table(schema, attribute.table, alias="v"))
        .where(bare(column(attribute.column, "v")).neq(""))
        for attribute in seen
    ]
    if not parts:
        parts = [
            exp.select(
                column(dataset.report_id, "v").as_("report_id"),
                exp.cast(exp.null(), "VARCHAR").as_("attribute"),
                exp.cast(exp.null(), "VARCHAR").as_("term"),
            )
            .from_(table(schema, dataset.report_table, alias="v"))
            .where(exp.false())
        ]
    return union_all(parts)
