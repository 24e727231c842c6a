"""The terms of released cases, read off the raw rows anew.

Checks prove a release against them, metrics measure what it loses; nothing that makes a release
reads them.
"""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.warehouse.releases import ReleasedTerms
from srsql.engine.warehouse.statements import bare, column, create, table, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

ORIGINALS = "temp.main.srsql_told_original"


def load_originals(
    warehouse: Warehouse, dataset: Dataset, release_id: int, terms: ReleasedTerms
) -> str:
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
    warehouse.run_step("risk/term_originals", {"repeated": terms.repeated})
    return ORIGINALS


def _values(dataset: Dataset, release_id: int, terms: ReleasedTerms) -> exp.Query:
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
