"""The check of a perturbed release after the fact: see ``checks/perturbation.sql``.

Released numbers must lie in the declared domain on its granules, released nodes must be nodes of
the hierarchy, and where categories are generalized they must be the group's common ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from srsql.engine.warehouse.statements import column, create, table, temporary
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Qid


def seen_groups(
    dataset: Dataset, schema: str, release_id: int, shown: Sequence[str] = ()
) -> exp.Query:
    """(region, case_id[, shown]) of every released report; region is its internal group.

    Needs ``srsql_identity``; ``shown``: published columns that go into a text.
    """
    query = (
        exp.select(
            exp.cast(column("group_id", "m"), "VARCHAR").as_("region"),
            column(dataset.case_id, "v").as_("case_id"),
        )
        .from_(table(schema, dataset.report_table, alias="v"))
        .join(
            temporary("srsql_identity", alias="i"),
            on=exp.and_(
                column(dataset.report_id, "v").eq(column("public_report", "i")),
                column(dataset.case_id, "v").eq(column("public_case", "i")),
            ),
        )
        .join(
            table("srsql", "member", alias="m"),
            on=exp.and_(
                exp.cast(column("case_id", "i"), "VARCHAR").eq(column("case_id", "m")),
                column("release_id", "m").eq(release_id),
            ),
        )
    )
    if not shown:
        return query
    text = exp.func("to_json", exp.func("row", *[column(name, "v") for name in shown]))
    return query.select(exp.cast(text, "VARCHAR").as_("shown"))


def draw_calls(
    warehouse: Warehouse, dataset: Dataset, schema: str, release_id: int, perturbed: set[int]
) -> list[str]:
    """Calls that return uniform rows: the draws, the catalog's groups, the released values.

    Needs ``srsql_identity``.
    """
    calls = [
        f"srsql.check_internal({release_id:d})",
        f"srsql.check_draws({release_id:d})",
        _check_values(dataset, schema, release_id),
    ]
    common = [
        name
        for position, qid in enumerate(dataset.qid)
        if position not in perturbed
        for name in ([f"{qid.name}_low", f"{qid.name}_high"] if qid.bounded else [qid.name])
    ]
    if common:
        seen = seen_groups(dataset, schema, release_id, common)
        warehouse.run(create(exp.to_table("srsql_seen_common"), seen, temp=True))
        calls.append(f"srsql.check_common('temp.main.srsql_seen_common', {release_id:d})")
    return calls


def _check_values(dataset: Dataset, schema: str, release_id: int) -> str:
    """Released values are some that could be released at all."""
    query = exp.select().from_(table(schema, dataset.report_table, alias="v"))
    strange: list[exp.Expr] = []
    for position, qid in enumerate(dataset.qid):
        if qid.kind == "numeric":
            strange.append(_off_domain(qid))
            continue
        alias = f"n{position}"
        name = exp.Literal.string(qid.name)
        if qid.ranged:
            low, high = column(f"{qid.name}_low", "v"), column(f"{qid.name}_high", "v")
            nodes = exp.Table(
                this=exp.Anonymous(
                    this="node_ranges", expressions=[exp.Literal.string(dataset.name), name]
                ),
                db=exp.to_identifier("srsql"),
                alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
            )
            found = exp.and_(low.eq(column("low", alias)), high.eq(column("high", alias)))
            shown = exp.or_(low.copy().is_(exp.null()).not_(), high.copy().is_(exp.null()).not_())
        else:
            nodes = table("srsql", "node", alias=alias)
            found = exp.and_(
                column("dataset", alias).eq(exp.Literal.string(dataset.name)),
                column("attribute", alias).eq(name),
                column("node", alias).eq(column(qid.name, "v")),
            )
            shown = exp.true()
        query = query.join(nodes, on=found, join_type="left")
        strange.append(exp.and_(shown, column("pre", alias).is_(exp.null())))
    wrong = exp.func("count_if", exp.func("coalesce", exp.or_(*strange), exp.true()))
    total = exp.Count(this=exp.Star())
    return (
        query.select(
            exp.Literal.number(release_id).as_("release"),
            exp.Literal.string("check_values").as_("measure"),
            exp.Literal.string("report").as_("scope"),
            exp.cast(wrong, "DOUBLE").as_("violating"),
            exp.cast(total, "DOUBLE").as_("total"),
            exp.Div(
                this=wrong.copy(),
                expression=exp.func("nullif", total.copy(), exp.Literal.number(0)),
            ).as_("ratio"),
            exp.cast(exp.Literal.number(0), "DOUBLE").as_("threshold"),
            wrong.copy().eq(0).as_("passed"),
        )
        .subquery()
        .sql("duckdb")
    )


def _off_domain(qid: Qid) -> exp.Expr:
    """A number that is not one value of the declared domain on a granule; missing is fine."""
    low, high = (exp.cast(column(f"{qid.name}_{end}", "v"), "DECIMAL(28, 9)")
                 for end in ("low", "high"))  # fmt: skip
    bounds = qid.domain if isinstance(qid.domain, tuple) else qid.limits
    size = exp.Literal.number(format(qid.granularity, "f"))
    inside: list[exp.Expr] = [low.eq(high), exp.Mod(this=low.copy(), expression=size).eq(0)]
    if bounds is not None:
        inside += [
            exp.GTE(this=low.copy(), expression=exp.Literal.number(format(bounds[0], "f"))),
            exp.LTE(this=low.copy(), expression=exp.Literal.number(format(bounds[1], "f"))),
        ]
    missing = exp.and_(low.copy().is_(exp.null()), high.copy().is_(exp.null()))
    return exp.and_(
        exp.not_(missing), exp.not_(exp.func("coalesce", exp.and_(*inside), exp.false()))
    )
