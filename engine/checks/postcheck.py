"""The check of a release after the fact, from the rows that were released.

It shares no code with what makes a release: groups are read off the published regions, terms off
the published child rows, and both are compared with the thresholds by the macros of
``checks/released_rows.sql``. Only "the original lies in its region" and "nothing is lost" look at
the raw rows.
"""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.checks.perturbation import draw_calls, seen_groups
from srsql.engine.checks.published_regions import claim_calls, region_text, seen_rows, seen_terms
from srsql.engine.errors import CheckFailedError
from srsql.engine.measures import Measure
from srsql.engine.warehouse.releases import claims_of, perturbed_positions, told_apart
from srsql.engine.warehouse.statements import column, create, literal, table
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def check_release(
    warehouse: Warehouse,
    dataset: Dataset,
    schema: str,
    release_id: int,
    k: int,
    *,
    covers: bool,
    by_report: bool,
) -> list[Measure]:
    """Run every check on the views of ``schema``; needs ``srsql_identity``.

    Args:
        warehouse: within the transaction of the release.
        dataset: as the model takes it.
        schema: of the views.
        release_id: in the catalog.
        k: least number of cases.
        covers: a perturbing model's categories cover those of earlier releases.
        by_report: a comparator that takes every report for a case of its own.

    Raises:
        CheckFailedError: one of them failed; the text names it.
    """
    perturbed = perturbed_positions(warehouse, release_id)
    calls = [_check_complete(warehouse, dataset, schema, release_id, by_report=by_report)]
    if len(perturbed) < len(dataset.qid):
        calls.append(_check_inside(dataset, schema, release_id, perturbed))
    if covers:
        calls.append(f"srsql.check_earlier({release_id:d})")
    return check_bounds(warehouse, dataset, schema, release_id, k) + _passed(warehouse, calls)


def check_bounds(
    warehouse: Warehouse, dataset: Dataset, schema: str, release_id: int, k: int
) -> list[Measure]:
    """k and theta (with external knowledge where it was given) from the released views alone.

    A perturbed release does not show its groups: they are those of the member table, found by
    ``srsql_identity``, and what was drawn is checked, too. A comparator's release is judged by what
    it keeps instead.

    Raises:
        CheckFailedError: a bound is broken; the text names it.
    """
    warehouse.run(
        create(
            exp.to_table("srsql_seen_value"),
            seen_terms(dataset, schema, "term", told_apart(warehouse, release_id)),
            temp=True,
        )
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_seen_theta AS SELECT t.term, t.theta_num, t.theta_den "
        "FROM srsql.threshold AS t WHERE t.release_id = ?",
        [release_id],
    )
    perturbed = perturbed_positions(warehouse, release_id)
    seen = seen_groups(dataset, schema, release_id) if perturbed else seen_rows(dataset, schema)
    warehouse.run(create(exp.to_table("srsql_seen_row"), seen, temp=True))
    claims = claims_of(warehouse, release_id)
    calls = (
        claim_calls(warehouse, dataset, schema, release_id, claims, region_text(dataset))
        if claims
        else _row_calls(warehouse, dataset, schema, release_id, k)
    )
    calls.append(_check_manifest(schema, literal("temp.main.srsql_seen_value"), release_id))
    if perturbed:
        calls += draw_calls(warehouse, dataset, schema, release_id, perturbed)
    return _passed(warehouse, calls)


def _row_calls(
    warehouse: Warehouse, dataset: Dataset, schema: str, release_id: int, k: int
) -> list[str]:
    """k and theta of the groups of ``srsql_seen_row``, as the released rows have them."""
    rows, values, theta = (
        literal(f"temp.main.srsql_seen_{name}") for name in ("row", "value", "theta")
    )
    calls = [
        f"srsql.check_k({rows}, {k:d}, {release_id:d})",
        f"srsql.check_theta({rows}, {values}, {theta}, {release_id:d})",
    ]
    if warehouse.value(
        "SELECT count(*) FROM srsql.external_knowledge AS e WHERE e.release_id = ?", [release_id]
    ):
        calls.append(_check_knowledge(warehouse, dataset, schema, release_id))
    return calls


def _check_manifest(schema: str, values: str, release_id: int) -> str:
    """The public manifest names no value that no released row shows."""
    manifest = table(schema, "manifest", alias="m").sql("duckdb")
    return f"srsql.check_manifest((SELECT m.thresholds FROM {manifest}), {values}, {release_id:d})"


def _passed(warehouse: Warehouse, calls: list[str]) -> list[Measure]:
    measures = [
        row for call in calls for row in warehouse.rows("SELECT c.* FROM " + call + " AS c")
    ]
    require_passed(measures)
    return measures


def require_passed(measures: list[Measure]) -> None:
    """Refuse a release of which a measure with a bound does not keep it.

    Raises:
        CheckFailedError: the text names the measure.
    """
    for measure in measures:
        if measure[7] is False:
            raise CheckFailedError(
                f"the release failed its own {measure[1]}: {measure[3]:,.0f} of {measure[4]:,.0f} "
                f"({measure[2]}) break the bound; nothing was released"
            )


def _check_knowledge(warehouse: Warehouse, dataset: Dataset, schema: str, release_id: int) -> str:
    warehouse.run(
        create(
            exp.to_table("srsql_seen_drug"),
            seen_terms(dataset, schema, "drug", told_apart(warehouse, release_id), drugs=True),
            temp=True,
        )
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_seen_knowledge AS SELECT e.drug, e.disease "
        "FROM srsql.external_knowledge AS e WHERE e.release_id = ?",
        [release_id],
    )
    return (
        "srsql.check_theta_knowledge('temp.main.srsql_seen_row', 'temp.main.srsql_seen_value',"
        " 'temp.main.srsql_seen_drug', 'temp.main.srsql_seen_knowledge',"
        f" 'temp.main.srsql_seen_theta', {release_id:d})"
    )


def _check_complete(
    warehouse: Warehouse, dataset: Dataset, schema: str, release_id: int, *, by_report: bool
) -> str:
    """Released and withheld reports together are those of the quarter.

    ``by_report``: reports are withheld, not cases.
    """
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_seen_report AS "
        "SELECT i.report_id::VARCHAR AS report_id, i.case_id::VARCHAR AS case_id "
        "FROM temp.main.srsql_identity AS i INNER JOIN "
        + table(schema, dataset.report_table, alias="v").sql("duckdb")
        + " ON i.public_report = "
        + column(dataset.report_id, "v").sql("duckdb")
        + " AND i.public_case = "
        + column(dataset.case_id, "v").sql("duckdb")
    )
    quarter = warehouse.value(
        "SELECT r.quarter FROM srsql.release AS r WHERE r.release_id = ?", [release_id]
    )
    ingested = (
        exp.select(
            exp.cast(column(dataset.report_id, "t"), "VARCHAR").as_("report_id"),
            exp.cast(column(dataset.case_id, "t"), "VARCHAR").as_("case_id"),
        )
        .from_(table(f"raw_{dataset.name}", dataset.report_table, alias="t"))
        .where(column("quarter", "t").eq(exp.Placeholder()))
    )
    warehouse.run(create(exp.to_table("srsql_quarter_report"), ingested, temp=True), [quarter])
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_quarter_withheld AS SELECT w.case_id "
        "FROM srsql.withheld AS w WHERE w.release_id = ?",
        [release_id],
    )
    if by_report:
        warehouse.run_step("checks/report_account")
    return (
        "srsql.check_complete('temp.main.srsql_quarter_report', 'temp.main.srsql_seen_report',"
        f" 'temp.main.srsql_quarter_withheld', {release_id:d})"
    )


def _check_inside(dataset: Dataset, schema: str, release_id: int, but: set[int]) -> str:
    """Every known original QID of a released report lies in its published region.

    ``but``: the positions of perturbed ones, which need not.
    """
    misses: list[exp.Expr] = []
    query = (
        exp.select()
        .from_(table(schema, dataset.report_table, alias="v"))
        .join(
            table("temp", "main", "srsql_identity", alias="i"),
            on=column(dataset.report_id, "v").eq(column("public_report", "i")),
        )
        .join(
            table(f"raw_{dataset.name}", dataset.report_table, alias="t"),
            on=column(dataset.report_id, "t").eq(column("report_id", "i")),
        )
        .where(column("quarter", "t").eq(column("quarter", "v")))
    )
    for position, qid in enumerate(dataset.qid):
        if position in but:
            continue
        value = column(f"srsql_{qid.name}", "t")
        if qid.bounded:
            scaled = exp.Mul(
                this=value, expression=exp.Literal.number(format(qid.granularity, "f"))
            )
            low, high = column(f"{qid.name}_low", "v"), column(f"{qid.name}_high", "v")
            misses.append(
                exp.or_(
                    exp.LT(this=scaled, expression=low), exp.GT(this=scaled.copy(), expression=high)
                )
            )
        else:
            alias = f"h_{qid.name}"
            query = query.join(
                table("srsql", "hierarchy", alias=alias),
                on=exp.and_(
                    column("dataset", alias).eq(exp.Literal.string(dataset.name)),
                    column("attribute", alias).eq(exp.Literal.string(qid.name)),
                    column("node", alias).eq(value),
                    column("ancestor", alias).eq(column(qid.name, "v")),
                ),
                join_type="left",
            )
            misses.append(
                exp.and_(value.is_(exp.null()).not_(), column("node", alias).is_(exp.null()))
            )
    outside = exp.func("coalesce", exp.or_(*misses), exp.false())
    query = query.select(
        exp.Literal.number(release_id).as_("release"),
        exp.Literal.string("check_inside").as_("measure"),
        exp.Literal.string("report").as_("scope"),
        exp.cast(exp.func("count_if", outside), "DOUBLE").as_("violating"),
        exp.cast(exp.Count(this=exp.Star()), "DOUBLE").as_("total"),
        exp.Div(
            this=exp.func("count_if", outside.copy()),
            expression=exp.func("nullif", exp.Count(this=exp.Star()), exp.Literal.number(0)),
        ).as_("ratio"),
        exp.cast(exp.Literal.number(0), "DOUBLE").as_("threshold"),
        exp.func("count_if", outside.copy()).eq(0).as_("passed"),
    )
    return query.subquery().sql("duckdb")
