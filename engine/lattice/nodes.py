"""The lattice: every vector of levels, and the search for those that keep k (LeFevre 2005)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from srsql.engine.errors import ReleaseError
from srsql.engine.warehouse.dimensions import Dimension

Levels = tuple[int, ...]
"""The level of each dimension; a node of the lattice."""
MOST_NODES = 20_000


def lattice(dimensions: Sequence[Dimension]) -> list[Levels]:
    """Every node, the finest first: by the sum of levels, then by levels.

    Raises:
        ReleaseError: there are more than ``MOST_NODES``.
    """
    count = 1
    for dimension in dimensions:
        count *= dimension.top + 1
    if count > MOST_NODES:
        raise ReleaseError(
            f"the lattice of {', '.join(d.name for d in dimensions)} has {count:,} nodes, at most "
            f"{MOST_NODES:,} are looked at: leave some out (--dimensions)"
        )
    every = product(*(range(dimension.top + 1) for dimension in dimensions))
    return sorted(every, key=lambda levels: (sum(levels), levels))


def least_nodes(tops: Levels, keeps: Callable[[Levels], bool]) -> list[Levels]:
    """The minimal nodes that keep a property which every generalization of such a node keeps.

    As Incognito: subsets of the attributes first, the smallest ones first, the others being at the
    top of their trees. What one node shows is not asked of those above it (they keep it) or below
    it (they do not).

    Args:
        tops: the top level of each dimension.
        keeps: asks one node.
    """
    known: dict[Levels, bool] = {}
    nodes = sorted(
        product(*(range(top + 1) for top in tops)),
        key=lambda levels: (_free(levels, tops), sum(levels), levels),
    )
    for levels in nodes:
        if levels in known:
            continue
        found = keeps(levels)
        for other in _above(levels, tops) if found else _below(levels):
            known[other] = found
    kept = {levels for levels, found in known.items() if found}
    return [
        levels for levels in sorted(kept) if not any(lower in kept for lower in _one_below(levels))
    ]


def _free(levels: Levels, tops: Levels) -> int:
    """How many attributes are not generalized to ``*``."""
    return sum(level < top for level, top in zip(levels, tops, strict=True))


def _above(levels: Levels, tops: Levels) -> Iterator[Levels]:
    return product(*(range(low, top + 1) for low, top in zip(levels, tops, strict=True)))


def _below(levels: Levels) -> Iterator[Levels]:
    return product(*(range(level + 1) for level in levels))


def _one_below(levels: Levels) -> Iterator[Levels]:
    for place, level in enumerate(levels):
        if level:
            yield (*levels[:place], level - 1, *levels[place + 1 :])
