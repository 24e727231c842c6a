"""The measure of interaction with shrinkage, from its definition alone (Noren et al. 2008)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

Table = Sequence[float]
"""n111, n110, n101, n100, n011, n010, n001, n000."""
NAMES = ("n111", "n110", "n101", "n100", "n011", "n010", "n001", "n000")


def expected(table: Table) -> float | None:
    """Cases with both drugs and the reaction without interaction; None: undefined."""
    n111, n110, n101, n100, n011, n010, n001, n000 = table
    if not (n101 + n100 and n011 + n010 and n001 + n000):
        return None
    rates = [a / (a + b) for a, b in ((n001, n000), (n101, n100), (n011, n010))]
    if 1 in rates:
        return n111 + n110
    f00, f10, f01 = (rate / (1 - rate) for rate in rates)
    return (1 - 1 / (max(f00, f10) + max(f00, f01) - f00 + 1)) * (n111 + n110)


def omega(table: Table) -> dict[str, float] | None:
    """Omega and the ends of its interval of 95 %, of a table of whole numbers."""
    e = expected(table)
    if e is None:
        return None
    n = table[0]
    return {
        "omega": math.log2((n + 0.5) / (e + 0.5)),
        "omega025": math.log2(quantile(int(n), 0.025) / (e + 0.5)),
        "omega975": math.log2(quantile(int(n), 0.975) / (e + 0.5)),
    }


def below(n: int, x: float) -> float:
    """The share of gamma(n + 1/2) below x: its recurrence, from that of a squared normal."""
    found, term = math.erf(math.sqrt(x)), math.sqrt(x) * math.exp(-x) / math.gamma(1.5)
    for k in range(n):
        found -= term
        term *= x / (k + 1.5)
    return found


@cache
def quantile(n: int, share: float) -> float:
    """The quantile of gamma(n + 1/2), by halving."""
    low, high = 0.0, n + 60.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if below(n, middle) < share else (low, middle)
    return high
