"""Lee 2020 in plain Python, record by record: what the kernels and macros are compared with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from fractions import Fraction
from itertools import product

Record = tuple[Hashable, int]
"""(class, informative value); the class None is suppressed."""


def score(members: Sequence[int], value: int, domain: int) -> Fraction:
    """Equation 3 for the informative values of a class."""
    held = Counter(members)
    if value in held:
        return Fraction(held[value], len(members) + 1)
    return Fraction(1, (len(members) + 1) * (domain - len(held)))


def chances(members: Sequence[int], domain: int, epsilon: float) -> list[float]:
    """Equation 4."""
    weights = [math.exp(epsilon * float(score(members, v, domain)) / 2) for v in range(domain)]
    return [weight / sum(weights) for weight in weights]


def ncp(records: Sequence[Record], penalties: dict[Hashable, float], dimensions: int) -> float:
    """Equation 6, divided by the number of dimensions."""
    return sum(penalties.get(owner, dimensions) for owner, _ in records) / len(records) / dimensions


def emd(before: Sequence[Record], after: Sequence[Record]) -> float:
    """Equation 7 over informative values."""
    p, q = (Counter(value for _, value in part) for part in (before, after))
    return sum(abs(p[v] / len(before) - q[v] / len(after)) for v in p | q) / 2


def emd_of_classes(
    before: Sequence[Record], after: Sequence[Record], hidden: Collection[Hashable] = ()
) -> float:
    """Equation 7 for each class of ``after``, and their mean; 1 for a new class.

    The class of all suppressed records was, before, the records of the ``hidden`` classes.
    """
    distances = []
    for owner in {owner for owner, _ in after}:
        mine = [(o, v) for o, v in before if (o in hidden if owner is None else o == owner)]
        theirs = [(o, v) for o, v in after if o == owner]
        distances.append(emd(mine, theirs) if mine else 1.0)
    return sum(distances) / len(distances)


def expected(losses: Sequence[float], epsilon: float) -> float:
    """The mean of the losses of the nodes, each with its chance by equations 11 and 12."""
    weights = [math.exp(epsilon * (3 - loss) / 6) for loss in losses]
    return sum(w * loss for w, loss in zip(weights, losses, strict=True)) / sum(weights)


def rate(after: Sequence[Record], counterfeits: dict[Hashable, int]) -> float:
    """Equations 8 and 9; the suppressed records are a class, and none of them is a counterfeit."""
    sizes = Counter(owner for owner, _ in after)
    return sum(counterfeits.get(owner, 0) / n for owner, n in sizes.items()) / len(sizes)


def minimal(tops: Sequence[int], keeps: Callable[[tuple[int, ...]], bool]) -> set[tuple[int, ...]]:
    """Every node that keeps a property, none of those strictly below it keeping it."""
    kept = {levels for levels in product(*(range(top + 1) for top in tops)) if keeps(levels)}
    return {
        levels
        for levels in kept
        if not any(
            other != levels and all(a <= b for a, b in zip(other, levels, strict=True))
            for other in kept
        )
    }


def smallest(
    rows: Sequence[tuple[int, ...]], maps: Sequence[Sequence[Sequence[int]]], levels: Sequence[int]
) -> int:
    """Rows of the smallest class at a node; rows are leaves by dimension."""
    found = Counter(
        tuple(maps[at][level][row[at]] for at, level in enumerate(levels)) for row in rows
    )
    return min(found.values(), default=0)
