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


def infeasible(
    cases: Sequence[Case], thetas: Mapping[int, Fraction], carriers: Sequence[bool]
) -> set[int]:
    """Values with a sum of p(r, s) over all cases above theta_s of those that carry the bound."""
    carrying = sum(carriers)
    return {
        value
        for value, theta in thetas.items()
        if theta < 1
        and sum((case.get(value, Fraction(0)) for case in cases), Fraction(0)) > theta * carrying
    }


def withheld_greedily(
    cases: Sequence[Case], thetas: Mapping[int, Fraction], carriers: Sequence[bool]
) -> set[int]:
    """Take out the case with the most infeasible values, then the least; let come back who can."""
    inside = set(range(len(cases)))
    while broken := infeasible([cases[r] for r in inside], thetas, [carriers[r] for r in inside]):
        inside.remove(min(inside, key=lambda r: (-len(broken & cases[r].keys()), r)))
    out = set(range(len(cases))) - inside
    at_once = sum(carriers[r] for r in out)
    while at_once >= 0:
        back = returning(cases, thetas, carriers, inside, at_once)
        joining = sum(carriers[r] for r in back)
        if joining < at_once:
            at_once = min(at_once - 1, joining)
            continue
        inside |= back
        if at_once == 0:
            break
    return set(range(len(cases))) - inside


def returning(
    cases: Sequence[Case],
    thetas: Mapping[int, Fraction],
    carriers: Sequence[bool],
    inside: set[int],
    at_once: int,
) -> set[int]:
    """Who fits, in case order, if at least so many carriers come back together; the cases that
    carry nothing come last, when no carrier can."""
    room = sum(carriers[r] for r in inside) + at_once
    back: set[int] = set()
    for r in sorted(set(range(len(cases))) - inside):
        if at_once and not carriers[r]:
            continue
        together = [cases[i] for i in inside | back | {r}]
        if all(
            thetas[value] == 1
            or sum(case.get(value, Fraction(0)) for case in together) <= thetas[value] * room
            for value in cases[r]
        ):
            back.add(r)
    return back
