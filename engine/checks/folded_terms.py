"""How a series that tells spellings of a term apart would do by folded terms.

Releases of version 0 of the key bound each spelling. Read by the newest version, a region may hold
a term above its threshold that no spelling of it is; nothing that is out is changed by that.
"""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.audit.audit import FoldedTerms
from srsql.engine.catalog.releases import as_released, key_of
from srsql.engine.checks import catalog_facts, checked_key, measured
from srsql.engine.checks.published_regions import case_terms, region_rows
from srsql.engine.store.statements import column, literal, query, table
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.dataset import TERM_KEY

TOPIC = "checks/folded_terms"
REGIONS, VALUES, THETA = "folded_region", "folded_value", "folded_theta"


def folded_terms(
    warehouse: Warehouse, visible_dataset: Dataset, series: str, quarter: str | None
) -> FoldedTerms | None:
    """How many published regions hold a term above its threshold once spellings are folded.

    Args:
        warehouse: may be read-only.
        visible_dataset: with the tables of which the series has rows.
        series: whose releases.
        quarter: only this one; None: all that are out.

    Returns:
        The figures of the releases of version 0 that bound terms of regions; None: there is none.
    """
    asked = {"dataset": visible_dataset.name, "series": series, "quarter": quarter}
    found: list[tuple[str, int, int]] = []
    for period, release_id, schema in warehouse.rows(query(TOPIC, "releases"), asked):
        facts = catalog_facts(warehouse, release_id)
        has_regions = facts.case_rows and not (facts.draws or facts.clusters == "rows")
        if key_of(warehouse, release_id) or "theta" not in facts.bounds or not has_regions:
            continue
        dataset = as_released(warehouse, visible_dataset, release_id).keyed(TERM_KEY)
        names = (*map(literal, (REGIONS, VALUES, THETA)), f"{release_id:d}")
        (row,) = measured(
            warehouse,
            [f"srsql.check_theta({', '.join(names)})"],
            {
                REGIONS: region_rows(dataset, schema, reports=False).sql("duckdb"),
                VALUES: case_terms(dataset, schema, "term", {}).sql("duckdb"),
                THETA: _thresholds(release_id).sql("duckdb"),
            },
        )
        found.append((period, int(row.total or 0), int(row.violating or 0)))
    if not found:
        return None
    return FoldedTerms(
        TERM_KEY,
        tuple(dict.fromkeys(period for period, *_ in found)),
        sum(regions for _, regions, _ in found),
        sum(above for *_, above in found),
    )


def _thresholds(release_id: int) -> exp.Select:
    """(term, theta_num, theta_den) by folded terms: of several spellings the least."""
    theta = column("theta_num", "t") / column("theta_den", "t")
    least = [
        exp.func("arg_min", column(name, "t"), theta.copy()).as_(name)
        for name in ("theta_num", "theta_den")
    ]
    term = checked_key(column("term", "t"), TERM_KEY)
    return (
        exp.select(term.as_("term"), *least)
        .from_(table("srsql", "threshold", alias="t"))
        .where(column("release_id", "t").eq(release_id))
        .group_by(term.copy())
    )
