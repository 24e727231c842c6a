"""Contingency tables and measures of disproportionality, from the definitions alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Interval = tuple[int, int]
Z = 1.959963984540054
MEASURES = (
    "prr", "prr_low", "prr_high", "ror", "ror_low", "ror_high", "chi2",
    "ic", "ic_low", "ic_high", "ic_shrunk", "ic025", "ic975",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    drugs: frozenset[str]
    reactions: frozenset[str]
    boxes: Mapping[int, Interval | None]
    """Quasi-identifier -> its region; None where it is missing."""


@dataclass(frozen=True)
class Condition:
    asked: Interval
    domain: Interval


def weight(case: Case, conditions: Mapping[int, Condition]) -> tuple[int, Fraction, int]:
    """Surely, expectedly and possibly: whether the case meets all conditions."""
    surely, share, possibly = True, Fraction(1), True
    for position, condition in conditions.items():
        box = case.boxes[position]
        low, high = box or condition.domain
        inside = [condition.asked[0] <= v <= condition.asked[1] for v in range(low, high + 1)]
        surely &= box is not None and all(inside)
        possibly &= any(inside) or (box is None and condition.asked[0] <= condition.asked[1])
        share *= Fraction(sum(inside), len(inside))
    return int(surely), share, int(possibly)


def contingency(
    cases: Sequence[Case], drug: str, reaction: str, conditions: Mapping[int, Condition]
) -> dict[str, tuple[int, Fraction, int]]:
    """Cell -> its lower, expected and upper number of cases."""
    cells = {name: [0, Fraction(0), 0] for name in "abcd"}
    for case in cases:
        name = "abcd"[2 * (drug not in case.drugs) + (reaction not in case.reactions)]
        for i, amount in enumerate(weight(case, conditions)):
            cells[name][i] += amount
    return {name: (int(c[0]), Fraction(c[1]), int(c[2])) for name, c in cells.items()}


def measures(a: float, b: float, c: float, d: float) -> dict[str, float | None]:
    """Every measure of the table; None where it is undefined."""
    n = a + b + c + d
    found: dict[str, float | None] = dict.fromkeys(MEASURES)
    if a + b > 0 and c > 0:
        found["prr"] = prr = (a / (a + b)) / (c / (c + d))
        if a > 0:
            spread = Z * math.sqrt(max(0, 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)))
            found |= {"prr_low": prr * math.exp(-spread), "prr_high": prr * math.exp(spread)}
    if b > 0 and c > 0:
        found["ror"] = ror = (a * d) / (b * c)
        if a > 0 and d > 0:
            spread = Z * math.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
            found |= {"ror_low": ror * math.exp(-spread), "ror_high": ror * math.exp(spread)}
    if min(a + b, c + d, a + c, b + d) > 0:
        found["chi2"] = sum(
            max(0, abs(cell - expected) - 0.5) ** 2 / expected
            for cell, row, column in (
                (a, a + b, a + c), (b, a + b, b + d), (c, c + d, a + c), (d, c + d, b + d),
            )
            for expected in [row * column / n]
        )  # fmt: skip
    if a > 0:
        p, q, r = a / n, (a + b) / n, (a + c) / n
        found["ic"] = ic = math.log2(p / (q * r))
        # the multinomial covariance of the three shares, through the gradient of ln(p / (q r))
        gradient = (1 / p, -1 / q, -1 / r)
        covariance = (
            (p - p * p, p - p * q, p - p * r),
            (p - p * q, q - q * q, p - q * r),
            (p - p * r, p - q * r, r - r * r),
        )
        variance = sum(
            gradient[i] * covariance[i][j] * gradient[j] / n for i in range(3) for j in range(3)
        )
        spread = Z * math.sqrt(max(0, variance)) / math.log(2)
        if a >= 1:
            found |= {"ic_low": ic - spread, "ic_high": ic + spread}
    if n > 0:
        shrunk = math.log2((a + 0.5) / ((a + b) * (a + c) / n + 0.5))
        root = math.sqrt(a + 0.5)
        found["ic_shrunk"] = shrunk
        found["ic025"] = shrunk - 3.3 / root - 2 / root**3
        found["ic975"] = shrunk + 2.4 / root - 0.5 / root**3
    return found
