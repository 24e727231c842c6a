"""The likelihood-ratio test over reactions, from its definition alone (Huang et al. 2011)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence


def counts(
    cases: Sequence[tuple[frozenset[str], frozenset[str]]],
) -> dict[tuple[str, str], int]:
    """(drug, reaction) -> how many cases have both."""
    found: dict[tuple[str, str], int] = {}
    for drugs, reactions in cases:
        for drug in drugs:
            for reaction in reactions:
                found[drug, reaction] = found.get((drug, reaction), 0) + 1
    return found


def log_ratio(n: int, row: int, column: int, everything: int) -> float:
    """The logarithm of the likelihood at the drug's own rate over that at the rate of all."""
    own = n / row
    others = (column - n) / (everything - row) if everything > row else 0.0
    if own <= others or n == 0:
        return 0.0

    def likelihood(p: float, q: float) -> float:
        found = n * math.log(p)
        return found + ((column - n) * math.log(q) if column > n else 0.0)

    return likelihood(own, others) - likelihood(column / everything, column / everything)


def tables(column: int, rows: int) -> Iterator[tuple[int, ...]]:
    """Every way in which so many counts are spread over so many reactions."""
    if rows == 1:
        yield (column,)
        return
    for first in range(column + 1):
        yield from ((first, *rest) for rest in tables(column - first, rows - 1))


def chance_of_more(totals: Sequence[int], column: int, ratio: float) -> float:
    """How likely the largest ratio of a multinomial table is at least ``ratio``, exactly."""
    everything, found = sum(totals), 0.0
    for table in tables(column, len(totals)):
        largest = max(
            log_ratio(n, row, column, everything) for n, row in zip(table, totals, strict=True)
        )
        if largest >= ratio - 1e-9:
            chance = math.factorial(column)
            for n in table:
                chance //= math.factorial(n)
            shares = [(row / everything) ** n for n, row in zip(table, totals, strict=True)]
            found += chance * math.prod(shares)
    return found
