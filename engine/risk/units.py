"""What a release keeps of persons, if suspected duplicates are one person each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from srsql.engine.measures import MeasureRow
from srsql.engine.store.warehouse import Warehouse

Told = TypeVar("Told")
BY_UNITS = "persons_of_groups({id})"
REACHED, LEAST = "reached_by_duplicates", "least_persons"
CARRIERS, GROUPS = "carriers", "groups"
AT = {"0.9": "k_by_persons_90_percent", "0.99": "k_by_persons_99_percent"}
"""Match probability -> the column of the public manifest that tells k by persons at it."""
PRIVATE, UNSEARCHED = "persons", "persons_not_searched"
"""Under which names the private manifest tells all of it, or in which periods nobody searched."""
OF_UNITS = (*AT.values(), PRIVATE, UNSEARCHED)
"""What manifests tell of it; it is measured anew of every version."""


def at_match(by_scope: Mapping[str, Told], at: str) -> Told | None:
    """What is told at a match probability: of those who carry the bounds in a series, or else of
    all groups; None: nothing."""
    return by_scope.get(f"{CARRIERS}, match {at}") or by_scope.get(f"{GROUPS}, match {at}")


@dataclass(frozen=True)
class UnitsOfGroups:
    """How many persons the groups of a release keep, measured once."""

    rows: tuple[MeasureRow, ...] = ()
    """Of ``srsql.persons_of_groups``: none where no suspected duplicates were searched."""
    unsearched: tuple[str, ...] = ()
    """The periods up to that of the release in which they were not searched for, in their order;
    none of a release of which persons cannot be counted at all."""

    def public(self, *, perturbs: bool) -> dict[str, int]:
        """What the public manifest tells: how many persons every group keeps, up to k.

        Of a model that withstands attacks on a series, of those who carry the bounds. More than k
        is not told: it would be of the smallest group alone. Of a model with noise (``perturbs``)
        nothing is told, which tells of withheld cases nothing either.
        """
        if perturbs:
            return {}
        least = {row.scope: row for row in self.rows if row.measure == LEAST}
        told = {}
        for at, name in AT.items():
            row = at_match(least, at)
            if row is not None and row.ratio is not None and row.threshold is not None:
                told[name] = int(min(row.ratio, row.threshold))
        return told

    def private(self) -> dict[str, Any]:
        """What the private manifest tells under ``persons``: by scope, in words of their own;
        where nobody searched, in which periods."""
        if self.unsearched:
            return {UNSEARCHED: list(self.unsearched)}
        found: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            facts = found.setdefault(row.scope, {})
            if row.measure == REACHED:
                facts |= {
                    "groups": int(row.total or 0),
                    "reach_k_by_duplicates": int(row.violating or 0),
                }
            else:
                facts |= {"least_cases": int(row.total or 0), "least_persons": int(row.ratio or 0)}
        return {PRIVATE: found} if found else {}


def measure_units(warehouse: Warehouse, release_id: int) -> UnitsOfGroups:
    """What a release keeps of persons, as far as suspected duplicates were searched for."""
    rows = []
    if warehouse.value("SELECT count(*) FROM srsql.duplicate_search"):
        call = "SELECT p.* FROM srsql." + BY_UNITS.format(id=int(release_id))
        rows = warehouse.rows(call + " AS p ORDER BY p.measure DESC, p.scope")
    unsearched = warehouse.rows(
        f"SELECT u.quarter FROM srsql.unsearched_periods({int(release_id)}) AS u ORDER BY u.quarter"
    )
    return UnitsOfGroups(
        tuple(MeasureRow(*row) for row in rows), tuple(quarter for (quarter,) in unsearched)
    )
