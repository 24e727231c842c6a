"""Thresholds of patients of their own: each value of theirs has it at most, in the whole release.

A patient may say, in a column of their reports, with which probability at most anybody may conclude
that they have any of their values (Huang 2021, section 7: "specify privacy levels to their own
sensitive information"). Of every value s that a case P with a threshold of its own holds,
theta_s becomes min(theta_s, theta_P). So each group that holds P keeps it, and so does every set of
candidates that an attack on the series leaves, which audits bound by the same theta_s. Who asked
once need not ask again: reports of earlier periods count as those of the period do, released or
not, and an empty column takes nothing back.

Other groups pay for that as well (decision 54 says why, and what it costs). Two things would make
everybody pay for one: a threshold for which all groups would have to grow, and a value that is more
frequent than half of it in some pattern of missing quasi-identifiers. There the case itself is
withheld.
"""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.catalog.layout import raw_table
from srsql.engine.catalog.releases import Release
from srsql.engine.errors import ReleaseError
from srsql.engine.store.statements import column, create, query

TOPIC = "grouping/own_thresholds"


def lower_thresholds(release: Release, asked: str, k: int, weight_scale: int) -> None:
    """Give every value the strictest of its threshold and those of the cases that hold it.

    Fills ``srsql_asked_theta``, which has the thresholds before.

    Args:
        release: with ``srsql_theta`` filled.
        asked: the column of the report table that has thresholds of patients.
        k: of the model.
        weight_scale: what a certain value weighs.

    Raises:
        ReleaseError: some report has another text there.
    """
    warehouse, dataset = release.warehouse, release.dataset
    text = column(asked, "t")
    texts = (
        exp.select(
            exp.cast(column(dataset.case_id, "t"), "VARCHAR").as_("case_id"),
            exp.cast(text, "VARCHAR").as_("text"),
        )
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .where(exp.LTE(this=column("quarter", "t"), expression=exp.convert(release.quarter)))
        .where(exp.func("trim", exp.cast(text.copy(), "VARCHAR")).neq(exp.Literal.string("")))
    )
    warehouse.run(create(exp.to_table("srsql_own_text"), texts, temp=True))
    if unread := warehouse.value(query(TOPIC, "unread")):
        raise ReleaseError(
            f"--own-theta {asked}: {unread} reports have a text there that is no threshold: give "
            "numbers or fractions from 0 to 1, such as 0.2 or 1/5, and leave it empty elsewhere"
        )
    warehouse.run(query(TOPIC, "fill"))
    warehouse.run(query(TOPIC, "withhold_unkept"), {"k": k, "weight_scale": weight_scale})
    for statement in ("leave_unkept", "lowered", "lower"):
        warehouse.run(query(TOPIC, statement))
