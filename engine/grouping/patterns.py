"""Grouping within missingness patterns, and what becomes of patterns that are too small.

A pattern needs k cases that carry the bounds: for MS any, for PPMS new ones.

A pattern is the set of QIDs a case is grouped by, as a bit mask. Patterns are worked off from the
most QIDs to the fewest. A pattern that cannot be released gives its cases to a pattern with fewer
QIDs, where more cases share the missing values: the occupied subset with the most QIDs (then the
most cases), or, where none is occupied, the subset with one QID less that the most other cases
could still reach. What the empty pattern cannot take is withheld.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from srsql.engine.catalog.releases import Release
from srsql.engine.grouping.feasibility import (
    Bounds,
    Suppression,
    infeasible_values,
    move_surplus,
    withhold_surplus,
)
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.workers.carriers import Carrier, InProcess

TOPIC = "grouping/patterns"
PATTERN_INFEASIBLE = "pattern_infeasible"
FOR_WANT_OF_A_GROUP = (
    "no_group_fits",
    "pattern_too_small",
    PATTERN_INFEASIBLE,
    "too_few_new_cases",
    "infeasible",
)
"""Why cases were withheld that may be placed after all, where a group of other cases has room."""
Group = Callable[[int], None]
"""Adds the groups of one pattern to ``srsql_grouped``; what no group could take is in group -1."""
Ahead = Callable[[list[int]], Group]
"""Groups several patterns at a time; what it returns adds those of one of them, as ``Group``."""


@dataclass(frozen=True)
class Grouping:
    """What decides how the cases of a quarter are grouped, beside the parameters of the model."""

    release: Release
    """With the tables of ``grouping/steps/history.sql`` and ``srsql_theta``."""
    bounds: Bounds
    """What can be released at all; with alpha, the substantial symptoms are one of the values."""
    weight_scale: int
    """What a certain value weighs."""
    k: int
    """k_effective: cases that carry the bounds in a group, at least."""
    draw: str
    """Text from which every random choice is derived."""
    suppression: Suppression | None = None
    """Values that are suppressed where cases would be withheld; None: none."""
    carrier: Carrier = field(default_factory=InProcess)
    """Who carries parts, which changes nothing of what becomes of them."""

    @property
    def warehouse(self) -> Warehouse:
        """Where its tables are."""
        return self.release.warehouse


def group_by_pattern(
    grouping: Grouping, least: int, group: Group, ahead: Ahead | None = None
) -> None:
    """Fill ``srsql_grouped(case_no, group_no, pattern)``; the rest goes to ``srsql_withheld``.

    Most patterns neither take cases of others nor give theirs away, so that they need not wait for
    each other: those that can be grouped as they are, are grouped ahead. One that others gave cases
    to when its turn comes is grouped anew, so that the groups are those of one after the other.

    Args:
        grouping: what is grouped.
        least: cases that carry the bounds, of which a pattern needs so many.
        group: groups one pattern.
        ahead: groups several at a time; None: one is grouped after the other.

    Source:
        SPEC section 7; patterns and what becomes of small ones are ours.
    """
    warehouse = grouping.warehouse
    counts = _counts(warehouse)
    ready, take = dict[int, int](), group
    if ahead is not None and grouping.suppression is None:
        feasible = [p for p in counts if _is_feasible(grouping, p, least)]
        if len(feasible) > 1:
            take = ahead(feasible)
            ready = {p: counts[p] for p in feasible}
    done: set[int] = set()
    while waiting := [p for p, n in counts.items() if n and p not in done]:
        pattern = max(waiting, key=lambda p: (p.bit_count(), -p))
        done.add(pattern)
        if ready.get(pattern) == counts[pattern]:  # patterns that are to come only take cases
            take(pattern)
            if _accept(warehouse, pattern):
                continue
        reason = "pattern_too_small"
        if _carriers(warehouse, pattern) >= least:
            _relieve(grouping, pattern, counts)
            counts = _counts(warehouse)
        if _carriers(warehouse, pattern) >= least:
            group(pattern)
            if _accept(warehouse, pattern):
                continue
            reason = "no_group_fits"
        if counts.get(pattern, 0):
            _give_up(warehouse, pattern, counts, reason)
            counts = _counts(warehouse)


def refine_groups(grouping: Grouping, statement: str, rules: Mapping[str, Any]) -> None:
    """Refine the groups of ``srsql_grouped``, and place what was withheld for want of one.

    Args:
        grouping: what is grouped.
        statement: about the tables that bound the model's groups.
        rules: as ``srsql.refine_groups`` takes them; without alpha and diversity nothing of the
            kind is bounded.

    Source:
        SPEC section 7 (refinement).
    """
    warehouse = grouping.warehouse
    unbounded = {"alpha_num": 1, "alpha_den": 1, "diversity": 0, "attributes": 0}
    warehouse.run(
        statement,
        {
            "reasons": list(FOR_WANT_OF_A_GROUP),
            "weight_scale": grouping.weight_scale,
            "k": grouping.k,
            "rules": {**unbounded, **rules},
        },
    )
    warehouse.run(query(TOPIC, "drop_placed"))


def _counts(warehouse: Warehouse) -> dict[int, int]:
    return dict(warehouse.rows(query(TOPIC, "sizes")))


def _carriers(warehouse: Warehouse, pattern: int) -> int:
    return int(warehouse.value(query(TOPIC, "carriers"), {"pattern": pattern}))


def _is_feasible(grouping: Grouping, pattern: int, least: int) -> bool:
    """Whether the pattern can be grouped as it is."""
    warehouse = grouping.warehouse
    return _carriers(warehouse, pattern) >= least and not infeasible_values(
        warehouse, grouping.bounds, pattern
    )


def _relieve(grouping: Grouping, pattern: int, counts: dict[int, int]) -> None:
    """Move or withhold the cases without which the pattern meets every threshold."""
    warehouse, bounds = grouping.warehouse, grouping.bounds
    if not infeasible_values(warehouse, bounds, pattern):
        return
    target = _target(pattern, counts)
    if target is None:
        withhold_surplus(warehouse, bounds, pattern, PATTERN_INFEASIBLE, grouping.suppression)
    else:
        move_surplus(warehouse, bounds, pattern, target)


def _accept(warehouse: Warehouse, pattern: int) -> bool:
    """Withhold what no group could take, if there is any group."""
    has_groups = bool(warehouse.value(query(TOPIC, "has_groups"), {"pattern": pattern}))
    if has_groups:
        warehouse.run(query(TOPIC, "withhold_unplaced"))
    warehouse.run(query(TOPIC, "drop_unplaced"))
    return has_groups


def _give_up(warehouse: Warehouse, pattern: int, counts: dict[int, int], reason: str) -> None:
    target = _target(pattern, counts)
    if target is not None:
        warehouse.run(query(TOPIC, "move"), {"pattern": pattern, "target": target})
        return
    warehouse.run(query(TOPIC, "withhold"), {"pattern": pattern, "reason": reason})
    warehouse.run(query(TOPIC, "drop_pattern"), {"pattern": pattern})


def _target(pattern: int, counts: dict[int, int]) -> int | None:
    """The pattern that takes the cases of ``pattern``; None below the empty one."""
    if pattern == 0:
        return None
    subsets = [p for p, n in counts.items() if n and p != pattern and p & pattern == p]
    if subsets:
        return max(subsets, key=lambda p: (p.bit_count(), counts[p], -p))
    smaller = [pattern & ~(1 << bit) for bit in range(pattern.bit_length()) if pattern >> bit & 1]
    return max(
        smaller,
        key=lambda p: (sum(n for q, n in counts.items() if q & p == p and q != pattern), -p),
    )
