"""What a release keeps of persons, if suspected duplicates are one person each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from srsql.engine.measures import MeasureRow
from srsql.engine.store.warehouse import Warehouse

Told = TypeVar("Told")
REACHED, LEAST = "reached_by_duplicates", "least_persons"
CARRIERS, GROUPS = "carriers", "groups"
AT = {"0.9": "k_by_persons_90_percent", "0.99": "k_by_persons_99_percent"}
"""Match probability -> the column of the public manifest that tells k by persons at it."""
PRIVATE, UNSEARCHED = "persons", "persons_not_searched"
"""Under which names the private manifest tells all of it, or in which periods nobody searched."""
OF_PERSONS = (*AT.values(), PRIVATE, UNSEARCHED)
"""What manifests tell of persons; it is measured anew of every version."""


def at_match(by_scope: Mapping[str, Told], at: str) -> Told | None:
    """What is told at a match probability: of those who carry the bounds in a series, or else of
    all groups; None: nothing."""
    return by_scope.get(f"{CARRIERS}, match {at}") or by_scope.get(f"{GROUPS}, match {at}")


def measure_persons(warehouse: Warehouse, release_id: int) -> list[MeasureRow]:
    """The rows of ``srsql.persons_of_groups``: none where no suspected duplicates were searched."""
    if not warehouse.value("SELECT count(*) FROM srsql.duplicate_search"):
        return []
    return [
        MeasureRow(*row)
        for row in warehouse.rows(
            f"SELECT p.* FROM srsql.persons_of_groups({int(release_id)}) AS p "
            "ORDER BY p.measure DESC, p.scope"
        )
    ]


def unsearched_periods(warehouse: Warehouse, release_id: int) -> list[str]:
    """The periods up to that of a release in which suspected duplicates were not searched for, in
    their order; none of a release of which persons cannot be counted at all."""
    return [
        quarter
        for (quarter,) in warehouse.rows(
            f"SELECT u.quarter FROM srsql.unsearched_periods({int(release_id)}) AS u "
            "ORDER BY u.quarter"
        )
    ]


def public_persons(rows: Iterable[MeasureRow], *, perturbs: bool) -> dict[str, int]:
    """What the public manifest tells: how many persons every group keeps, up to k.

    Of a model that withstands attacks on a series, of those who carry the bounds. More than k is
    not told: it would be of the smallest group alone. Of a model with noise nothing is told, which
    tells of withheld cases nothing either.

    Args:
        rows: of ``measure_persons``.
        perturbs: whether the model draws values at random.
    """
    if perturbs:
        return {}
    least = {row.scope: row for row in rows if row.measure == LEAST}
    told = {}
    for at, name in AT.items():
        row = at_match(least, at)
        if row is not None and row.ratio is not None and row.threshold is not None:
            told[name] = int(min(row.ratio, row.threshold))
    return told


def counted_persons(guarantee: str, match: float) -> dict[str, str]:
    """What the public manifest tells of a release that counts persons.

    Args:
        guarantee: of its model, and of persons.
        match: probability from which on two cases are one person.
    """
    return {
        "guarantee": guarantee,
        "counted": "persons",
        "match_probability": f"{match:g}",
    }


def told_persons(rows: Iterable[MeasureRow], unsearched: list[str]) -> dict[str, Any]:
    """What the private manifest tells under ``persons``: by scope, in words of their own; where
    nobody searched, in which periods."""
    if unsearched:
        return {UNSEARCHED: unsearched}
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        facts = found.setdefault(row.scope, {})
        if row.measure == REACHED:
            facts |= {
                "groups": int(row.total or 0),
                "reach_k_by_duplicates": int(row.violating or 0),
            }
        else:
            facts |= {"least_cases": int(row.total or 0), "least_persons": int(row.ratio or 0)}
    return {PRIVATE: found} if found else {}
