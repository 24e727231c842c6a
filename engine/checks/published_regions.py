"""What the rows of a release show: regions, and the terms of each case, as checks read them.

Composed from the dataset schema; shares no code with what makes the rows.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from srsql.engine.warehouse.statements import bare, column, create, literal, table, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Sensitive


def _published_qids(dataset: Dataset) -> list[str]:
    names: list[str] = []
    for qid in dataset.qid:
        names.extend([qid.name + "_low", qid.name + "_high"] if qid.bounded else [qid.name])
    return names


def region_text(dataset: Dataset) -> exp.Expr:
    """The published quasi-identifiers of a row ``v``, the same text for the same region only."""
    return exp.func("to_json", exp.func("row", *[column(n, "v") for n in _published_qids(dataset)]))


def seen_rows(dataset: Dataset, schema: str) -> exp.Query:
    """(region, case_id) of every released report; region is a text."""
    return exp.select(
        exp.cast(region_text(dataset), "VARCHAR").as_("region"),
        column(dataset.case_id, "v").as_("case_id"),
    ).from_(table(schema, dataset.report_table, alias="v"))


def seen_terms(
    dataset: Dataset, schema: str, name: str, apart: dict[str, str], *, drugs: bool = False
) -> exp.Query:
    """Distinct (case, normalized value) of the released sensitive (or drug) columns.

    ``apart``: the columns of which the raw rows of the released cases tell instead.
    """
    attributes = dataset.quasi_sensitive if drugs else dataset.sensitive
    published = {t.name: t.publish for t in dataset.tables}
    parts: list[exp.Query] = []
    for attribute in attributes:
        if attribute.column in apart:
            quarter = apart[attribute.column]
            parts.append(_raw_terms(dataset, attribute.table, attribute.column, quarter, name))
        if attribute.column not in published[attribute.table]:
            continue
        value = exp.func("upper", bare(column(attribute.column, "v")))
        parts.append(
            exp.select(column(dataset.case_id, "v").as_("case_id"), value.as_(name))
            .distinct()
            .from_(table(schema, attribute.table, alias="v"))
            .where(bare(column(attribute.column, "v")).neq(""))
        )
    if not parts:
        parts = [
            exp.select(
                column(dataset.case_id, "v").as_("case_id"),
                exp.cast(exp.null(), "VARCHAR").as_(name),
            )
            .from_(table(schema, dataset.report_table, alias="v"))
            .where(exp.false())
        ]
    return union_all(parts)


def _raw_terms(dataset: Dataset, source: str, name: str, quarter: str, shown: str) -> exp.Query:
    """(case_id, normalized value) of one column for the released cases, under their public ids."""
    value = exp.func("upper", bare(column(name, "t")))
    return (
        exp.select(column("public_case", "i").as_("case_id"), value.as_(shown))
        .distinct()
        .from_(table(f"raw_{dataset.name}", source, alias="t"))
        .join(
            table("temp", "main", "srsql_identity", alias="i"),
            on=column(dataset.report_id, "t").eq(column("report_id", "i")),
        )
        .where(column("quarter", "t").eq(exp.Literal.string(quarter)))
        .where(column(f"srsql_{name}", "t").is_(exp.null()).not_())
    )


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
