"""Several sets of quasi-identifiers, each protected by groups of its own.

What is measured of groups is taken by set, and of whoever knows all sets.
"""

from __future__ import annotations

from typing import ClassVar

from srsql.engine.catalog.releases import qid_sets
from srsql.engine.measures import BY_SET, MeasureRow
from srsql.engine.shapes.regions import Rows, WithoutRegions
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

UNION_SHARES = {
    "union_below_k_percent": "union_below_k",
    "union_one_candidate_percent": "union_one_candidate",
}
"""Column of the public manifest -> measure of which it tells the share of the cases."""


class RegionSets(WithoutRegions):
    """Rows of cases under the regions of several sets of quasi-identifiers."""

    uncorrectable: ClassVar[str] = "groups of one set of quasi-identifiers cut those of another"

    def kept(self, bounds: frozenset[str]) -> frozenset[str]:
        """No bound holds for the region over all sets."""
        return frozenset()

    def measured(self, warehouse: Warehouse, release_id: int, rows: Rows) -> Rows:
        """By set, what is of groups."""
        others = [row for row in rows if row.measure not in BY_SET]
        return others + measure_sets(warehouse, release_id)


def measure_sets(warehouse: Warehouse, release_id: int) -> list[MeasureRow]:
    """k and theta of each set, and what is left of them for who knows all sets.

    Args:
        warehouse: with the catalog rows of the release.
        release_id: of the release.

    Returns:
        Uniform rows.
    """
    sets = qid_sets(warehouse, release_id)
    calls = [
        f"{macro}({int(release_id)}, {list(positions)}, '{name}')"
        for macro in ("set_sizes", "set_danger")
        for name, positions in sets.items()
    ]
    every = sorted({position for positions in sets.values() for position in positions})
    calls.append(f"union_singling_out({int(release_id)}, {every})")
    return [MeasureRow(*row) for call in calls for row in warehouse.rows(f"FROM srsql.{call}")]


def union_shares(warehouse: Warehouse, dataset: Dataset, release_id: int) -> dict[str, int]:
    """What the public manifest tells whoever knows all sets: percent of the cases, rounded up.

    Args:
        warehouse: with the catalog rows of the release.
        dataset: that declares the sets.
        release_id: of the release.
    """
    every = list(range(len(dataset.qid)))
    rows = warehouse.rows(f"FROM srsql.union_singling_out({int(release_id)}, {every})")
    found = {row.measure: row for row in (MeasureRow(*row) for row in rows)}
    return {
        name: -(-100 * int(row.violating or 0) // int(row.total or 1))
        for name, row in ((name, found[measure]) for name, measure in UNION_SHARES.items())
    }
