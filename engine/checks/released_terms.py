"""The check of released terms: k^m, what their guarantee needs, and that none was made up.

The originals it compares with are read off the raw rows anew; who is in which cluster is the one
thing that only the making of the release knows.
"""

from __future__ import annotations

from dataclasses import astuple

from sqlglot import exp

from srsql.engine.checks.postcheck import require_passed
from srsql.engine.measures import Measure
from srsql.engine.terms.chunks import ORIGINALS
from srsql.engine.terms.kinds import kind_of
from srsql.engine.terms.parameters import Terms
from srsql.engine.warehouse.releases import released_terms
from srsql.engine.warehouse.statements import bare, column, create, table, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def check_released_terms(
    warehouse: Warehouse,
    dataset: Dataset,
    schema: str,
    release_id: int,
    k: int,
    terms: Terms,
    *,
    grouped: bool,
) -> list[Measure]:
    """Every check of the terms in ``schema``; needs the tables that the release was made with.

    ``grouped``: clusters lie inside QID-groups.

    Raises:
        CheckFailedError: one of them failed; the text names it.
    """
    load_originals(warehouse, dataset, release_id, terms)
    kind = kind_of(warehouse, release_id)
    rows = kind.check_told(warehouse, schema, release_id, k, terms, grouped=grouped)
    measures = [astuple(row) for row in rows]
    require_passed(measures)
    return measures


def load_originals(warehouse: Warehouse, dataset: Dataset, release_id: int, terms: Terms) -> str:
    """Read the terms of the released cases off the raw rows anew.

    Returns:
        The name of a table ``(record, term)``, distinct; records are numbered by case.
    """
    quarter = warehouse.value(
        "SELECT r.quarter FROM srsql.release AS r WHERE r.release_id = ?", [release_id]
    )
    warehouse.run(
        create(exp.to_table("srsql_told_value"), _values(dataset, release_id, terms), temp=True),
        [quarter] * len(terms.attributes),
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_told_rule AS SELECT ?::BOOLEAN AS repeated",
        [terms.repeated],
    )
    warehouse.run_step("checks/steps/term_originals.sql")
    return ORIGINALS


def check_shown_terms(warehouse: Warehouse, schema: str, release_id: int, k: int) -> list[Measure]:
    """What the terms in ``schema`` show by themselves, if the release has any.

    Raises:
        CheckFailedError: a bound is broken; the text names it.
    """
    terms = released_terms(warehouse, release_id)
    if terms is None:
        return []
    rows = kind_of(warehouse, release_id).check_shown(warehouse, schema, release_id, k, terms)
    measures = [astuple(row) for row in rows]
    require_passed(measures)
    return measures


def _values(dataset: Dataset, release_id: int, terms: Terms) -> exp.Query:
    """(record, prefix, term, times) of every report of a released case."""
    places = {a.column: a.table for a in (*dataset.sensitive, *dataset.quasi_sensitive)}
    parts: list[exp.Query] = []
    for name in terms.attributes:
        value = exp.func("upper", bare(column(name, "t")))
        prefix = f"{name}:" if len(terms.attributes) > 1 else ""
        parts.append(
            exp.select(
                column("case_no", "m").as_("record"),
                exp.Literal.string(prefix).as_("prefix"),
                value.as_("term"),
                exp.Count(this=exp.Star()).as_("times"),
            )
            .from_(table(f"raw_{dataset.name}", places[name], alias="t"))
            .join(
                table(f"raw_{dataset.name}", dataset.report_table, alias="r"),
                on=exp.and_(
                    column(dataset.report_id, "r").eq(column(dataset.report_id, "t")),
                    column("quarter", "r").eq(column("quarter", "t")),
                ),
            )
            .join(
                table("srsql", "member", alias="m"),
                on=exp.cast(column(dataset.case_id, "r"), "VARCHAR").eq(column("case_id", "m")),
            )
            .where(column("release_id", "m").eq(release_id))
            .where(column("quarter", "t").eq(exp.Placeholder()))
            .where(column(f"srsql_{name}", "t").is_(exp.null()).not_())
            .group_by(column("case_no", "m"), column(dataset.report_id, "t"), value.copy())
        )
    return union_all(parts)
