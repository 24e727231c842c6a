"""Thresholds and feasibility from their definitions (SPEC section 6), slow and in fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor

Case = Mapping[int, Fraction]
"""Sensitive value -> p(r, s)."""


def by_frequency(cases: Mapping[str, int]) -> dict[str, Fraction]:
    """The most frequent tenth 1, the least frequent tenth 0.2, the rest 0.4; safe rounding."""
    ranked = sorted(cases, key=lambda value: (-cases[value], value))
    unprotected, strict = floor(len(ranked) / 10), ceil(len(ranked) / 10)
    thetas = dict.fromkeys(ranked, Fraction(2, 5))
    thetas |= dict.fromkeys(ranked[:unprotected], Fraction(1))
    thetas |= dict.fromkeys(ranked[len(ranked) - strict :], Fraction(1, 5))
    return thetas


def infeasible(cases: Sequence[Case], thetas: Mapping[int, Fraction]) -> set[int]:
    """Values with a sum of p(r, s) above theta_s of the cases."""
    return {
        value
        for value, theta in thetas.items()
        if sum((case.get(value, Fraction(0)) for case in cases), Fraction(0)) > theta * len(cases)
    }


def withheld_greedily(cases: Sequence[Case], thetas: Mapping[int, Fraction]) -> set[int]:
    """Take out the case with the most infeasible values, then the least; let come back who can.

    "Can": alone, without making any value infeasible; in case order, again until nobody can.
    """
    inside = set(range(len(cases)))

    def wrong(members: set[int]) -> set[int]:
        return infeasible([cases[r] for r in members], thetas)

    while broken := wrong(inside):
        inside.remove(min(inside, key=lambda r: (-len(broken & cases[r].keys()), r)))
    returned = True
    while returned:
        returned = False
        for r in range(len(cases)):
            if r not in inside and not wrong(inside | {r}):
                inside.add(r)
                returned = True
    return set(range(len(cases))) - inside
