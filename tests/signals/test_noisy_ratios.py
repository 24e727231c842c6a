"""What counts with noise tell of pairs, against plain Python; and how often bounds hold."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from oracles.noisy_tables import chance
from support.sql import Sql

from srsql.udfs.mechanisms import laplace_noise

NOISE = [
    ("noisy_case_count", "4/3", None), ("noisy_item_count", "5/2", 12),
    ("noisy_pair_count", "3/2", 9),
]  # fmt: skip
COLUMNS = "stratum VARCHAR, attribute VARCHAR, term VARCHAR"
Cell = tuple[str, ...]


def ratios(
    sql: Sql, units: dict[str, int], items: dict[Cell, int], pairs: dict[Cell, int]
) -> dict[Cell, tuple[float | None, ...]]:
    tables = (
        sql.table("noise", "counts VARCHAR, scale VARCHAR, threshold BIGINT", NOISE),
        sql.table("unit", "stratum VARCHAR, cases BIGINT", units.items()),
        sql.table("item", f"{COLUMNS}, cases BIGINT", [(*k, n) for k, n in items.items()]),
        sql.table(
            "pair",
            f"{COLUMNS}, other_attribute VARCHAR, other_term VARCHAR, cases BIGINT",
            [(*k, n) for k, n in pairs.items()],
        ),
    )
    rows = sql.rows(f"SELECT * FROM srsql.noisy_ratios({', '.join(tables)})")
    return {tuple(row[:4]): tuple(row[4:]) for row in rows}


def margin(scale: float, leaves: int) -> int:
    """By summing the law, from the middle on."""
    m, within = 0, chance(0, scale)
    while 1 - within > 0.05 / (4 * leaves):
        m += 1
        within += 2 * chance(m, scale)
    return m


def test_bounds_are_those_of_the_definition(sql: Sql) -> None:
    units = {"F": 70, "M": 50, "other": -1}
    items = {("F", "drug", "X"): 30, ("M", "drug", "X"): 14, ("F", "pt", "S"): 26,
             ("M", "pt", "S"): 19, ("other", "pt", "S"): 12, ("F", "pt", "R"): 40}  # fmt: skip
    pairs = {("F", "drug", "X", "pt", "S"): 15, ("M", "drug", "X", "pt", "S"): 10,
             ("F", "drug", "X", "pt", "R"): 9, ("F", "drug", "Y", "pt", "R"): 9}  # fmt: skip
    found = ratios(sql, units, items, pairs)
    m = {name: margin(float(Fraction(scale)), 3) for name, scale, _ in NOISE}

    def ends(cells: dict[Cell, int], key: Cell, name: str, least: int) -> tuple[int, ...]:
        own = [n for cell, n in cells.items() if cell[1:] == key]
        low = max(sum(own) - len(own) * m[name], 0)
        return sum(own), low, sum(own) + 3 * m[name] + (3 - len(own)) * (least - 1)

    n = sum(units.values())
    wide = 3 * m["noisy_case_count"]
    for drug, pt in (("X", "S"), ("X", "R"), ("Y", "R")):
        a = ends(pairs, ("drug", drug, "pt", pt), "noisy_pair_count", 9)
        x = ends(items, ("drug", drug), "noisy_item_count", 12)
        s = ends(items, ("pt", pt), "noisy_item_count", 12)
        told = found["drug", drug, "pt", pt]
        assert told[:3] == a
        prr = a[0] * (n - x[0]) / (x[0] * (s[0] - a[0])) if x[0] and s[0] > a[0] else None
        assert told[3] == (None if prr is None else pytest.approx(prr))
        low = a[1] * max(n - wide - x[2], 0) / (x[2] * (s[2] - a[1]))
        assert told[4] == pytest.approx(low)
        far = s[1] > a[2] and x[1] > 0
        high = a[2] * (n + wide - x[1]) / (x[1] * (s[1] - a[2])) if far else None
        assert told[5] == (None if high is None else pytest.approx(high))


@pytest.mark.slow
def test_bounds_hold_for_the_true_ratio_at_their_confidence(sql: Sql) -> None:
    """4,000 pairs of the same true table, drawn anew: at most 5 % may miss, by Hoeffding 1963."""
    runs, true = 4000, {"n": 4000, "x": 300, "s": 280, "a": 90}
    scales = dict(zip("nxsa", (Fraction(4, 3), Fraction(5, 2), Fraction(5, 2), Fraction(3, 2)),
                      strict=True))  # fmt: skip
    drawn = {
        key: true[key]
        + laplace_noise(np.full(runs, of.numerator), np.full(runs, of.denominator), None)
        for key, of in scales.items()
    }
    prr = true["a"] * (true["n"] - true["x"]) / (true["x"] * (true["s"] - true["a"]))
    missed, seen = 0, defaultdict[Cell, int](int)
    for at in range(runs):
        seen[tuple(int(drawn[key][at]) for key in "nxsa")] += 1
    for (n, x, s, a), times in seen.items():
        m = {key: margin(float(of), 1) for key, of in scales.items()}
        ends = [
            (a + da) * (n + dn - x - dx) / ((x + dx) * (s + ds - a - da))
            for da, dn, dx, ds in product(
                *((-m[key], m[key]) for key in "anxs")
            )
        ]  # fmt: skip
        missed += times * (not min(ends) <= prr <= max(ends))
    assert missed / runs <= 0.05 + math.sqrt(math.log(1e9) / (2 * runs))
    told = ratios(
        sql, {"all": 4000}, {("all", "drug", "X"): 300, ("all", "pt", "S"): 280},
        {("all", "drug", "X", "pt", "S"): 90},
    )["drug", "X", "pt", "S"]  # fmt: skip
    assert told[4] is not None
    assert told[5] is not None
    assert told[4] < prr < told[5]
