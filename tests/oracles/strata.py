"""Measures over strata, from the printed formulas alone, and the worlds that regions leave open."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from oracles.signals import Case, Interval, Z

Table = tuple[float, float, float, float]
Stratum = Mapping[int, Interval]
"""Quasi-identifier -> which of its values are in the stratum."""


def mantel_haenszel(tables: Sequence[Table]) -> dict[str, float | None]:
    """Every measure of the tables of all strata; None where it is undefined.

    Mantel and Haenszel 1959; the variances are eq. (13) of Greenland and Robins 1985 and that of
    Robins, Breslow and Greenland 1986.
    """
    found: dict[str, float | None] = {
        "n": sum(a for a, _, _, _ in tables),
        "e": sum((a + b) * (a + c) / (a + b + c + d) for a, b, c, d in tables if a + b + c + d),
    } | dict.fromkeys(("prr", "prr_low", "prr_high", "ror", "ror_low", "ror_high"))
    tables = [table for table in tables if sum(table) > 0]
    totals = [sum(table) for table in tables]
    top = sum(a * (c + d) / n for (a, b, c, d), n in zip(tables, totals, strict=True))
    bottom = sum(c * (a + b) / n for (a, b, c, d), n in zip(tables, totals, strict=True))
    if bottom > 0:
        found["prr"] = prr = top / bottom
        if top > 0:
            spread = sum(
                ((a + c) * (a + b) * (c + d) - a * c * n) / n**2
                for (a, b, c, d), n in zip(tables, totals, strict=True)
            )
            margin = Z * math.sqrt(max(0, spread) / (top * bottom))
            found |= {"prr_low": prr * math.exp(-margin), "prr_high": prr * math.exp(margin)}
    parts = [
        ((a + d) / n, (b + c) / n, a * d / n, b * c / n)
        for (a, b, c, d), n in zip(tables, totals, strict=True)
    ]
    r, s = (sum(part[at] for part in parts) for at in (2, 3))
    if s > 0:
        found["ror"] = ror = r / s
        if r > 0:
            variance = sum(
                p * x / (2 * r**2) + (p * y + q * x) / (2 * r * s) + q * y / (2 * s**2)
                for p, q, x, y in parts
            )
            margin = Z * math.sqrt(variance)
            found |= {"ror_low": ror * math.exp(-margin), "ror_high": ror * math.exp(margin)}
    return found


def tables_of(
    cases: Sequence[Case], placed: Sequence[int | None], strata: int, pair: tuple[str, str]
) -> list[Table]:
    """The table of each stratum, where each case is in one of them, or (None) in none."""
    drug, reaction = pair
    tables = [[0, 0, 0, 0] for _ in range(strata)]
    for case, place in zip(cases, placed, strict=True):
        if place is not None:
            tables[place][2 * (drug not in case.drugs) + (reaction not in case.reactions)] += 1
    return [(a, b, c, d) for a, b, c, d in tables]


def worlds(cases: Sequence[Case], strata: Sequence[Stratum]) -> Iterator[tuple[int | None, ...]]:
    """In which stratum each case is, in every way that the regions allow.

    A missing value may be any value, or missing in truth: then the case is in no stratum.
    """
    open_to = []
    for case in cases:
        asked = sorted({position for stratum in strata for position in stratum})
        inside = {
            number
            for number, stratum in enumerate(strata)
            if all(
                (box := case.boxes[position]) is None
                or (box[0] <= stratum[position][1] and stratum[position][0] <= box[1])
                for position in asked
            )
        }
        places: list[int | None] = sorted(inside)
        outside = any(case.boxes[position] is None for position in asked)
        open_to.append(places + [None] * (outside or not places))
    return product(*open_to)
