"""Of how many records an item without a count is told, which decides what it counts for on average.

No published figure says so: it is estimated from the supports that record chunks show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import accumulate

from srsql.engine.catalog.released_terms import PublishedTerms
from srsql.engine.store.warehouse import Warehouse

STEEPEST = 6.0
"""Exponent of supports that is looked for at most: nearly all terms are then held once."""
_STEPS = 60
"""Of the search for the exponent, each of which leaves 62 % of the interval."""


def least_support(warehouse: Warehouse, tables: PublishedTerms) -> int:
    """The least number of records of which a count is told; 1 where none is."""
    supports = (
        f"SELECT count(*) AS held FROM {tables.record_chunk} AS r "
        "GROUP BY r.cluster, r.chunk, r.term"
    )
    return int(warehouse.value(f"SELECT min(s.held) FROM ({supports}) AS s") or 1)


def item_mean(warehouse: Warehouse, tables: PublishedTerms, attribute: str) -> float:
    """Of how many records of its cluster an item without a count is told on average.

    Args:
        warehouse: with the published tables, of whole rows that are taken apart.
        tables: their names.
        attribute: of the items, such as ``pt`` or ``drugname/role_cod``.
    """
    supports = (
        f"SELECT r.cluster, r.term, count(*) AS held FROM {tables.record_chunk} AS r "
        "GROUP BY r.cluster, r.chunk, r.term"
    )
    least = least_support(warehouse, tables)
    own = warehouse.rows(
        f"SELECT s.held, c.records, count(*) FROM ({supports}) AS s "
        f"JOIN {tables.clusters} AS c ON s.cluster = c.cluster WHERE starts_with(s.term, ?) "
        "GROUP BY s.held, c.records ORDER BY s.held, c.records",
        [f"{attribute}:"],
    )
    alone = warehouse.rows(
        f"SELECT c.records, count(*) FROM {tables.item_chunk} AS i "
        f"JOIN {tables.clusters} AS c ON i.cluster = c.cluster WHERE starts_with(i.term, ?) "
        "GROUP BY c.records ORDER BY c.records",
        [f"{attribute}:"],
    )
    counts = {(held, records): n for held, records, n in own}
    return mean_support(counts, dict(alone), least)


def mean_support(
    counted: Mapping[tuple[int, int], int], alone: Mapping[int, int], least: int
) -> float:
    """How many records hold a term of which a cluster tells no count, on average.

    Supports of the terms of a cluster of n records are taken to be distributed as j^-a over j = 1
    to n, and those below ``least`` to be censored: a has the largest likelihood of what is seen.

    Args:
        counted: (support, records of the cluster) -> how many terms of a cluster.
        alone: records of the cluster -> how many terms of its item chunk.
        least: the least support that is told.

    Returns:
        From 1 to ``least`` - 1; 1 where nothing is told of supports.

    Source: maximum likelihood of a censored power law (Clauset, Shalizi and Newman 2009, for the
    uncensored one).
    """
    if least <= 2 or not counted or not alone:
        return 1.0
    largest = max(max(n for _, n in counted), *alone, least)
    logs = sum(terms * math.log(held) for (held, _), terms in counted.items())

    def weights(a: float) -> list[float]:
        return [j**-a for j in range(1, largest + 1)]

    def likelihood(a: float) -> float:
        total = list(accumulate(weights(a)))
        seen = sum(terms * math.log(total[n - 1]) for (_, n), terms in counted.items())
        hidden = sum(
            terms * (math.log(total[min(least - 1, n) - 1]) - math.log(total[n - 1]))
            for n, terms in alone.items()
        )
        return hidden - a * logs - seen

    low, high, ratio = 0.0, STEEPEST, (5**0.5 - 1) / 2
    for _ in range(_STEPS):
        one, other = high - ratio * (high - low), low + ratio * (high - low)
        if likelihood(one) < likelihood(other):
            low = one
        else:
            high = other
    found = weights((low + high) / 2)[: least - 1]
    return sum(j * w for j, w in enumerate(found, 1)) / sum(found)
