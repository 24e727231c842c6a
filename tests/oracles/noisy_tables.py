"""Oracle of count tables with noise: the privacy loss of a table, summed over its outputs.

From the definitions alone: a count n is published as n + Z if that is at least the threshold, where
P(Z = z) = (1 - a) / (1 + a) a^|z| with a = exp(-1 / scale), and else not at all.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Held = Mapping[str, set[tuple[str, str]]]
"""Case -> (attribute, term)."""
FAR = 45
"""Scales from a count on where outputs are summed no more: 1e-19 of them lie there."""


def chance(z: int, scale: float) -> float:
    """P(Z = z)."""
    a = math.exp(-1 / scale)
    return (1 - a) / (1 + a) * a ** abs(z)


def passes(count: int, threshold: int, scale: float) -> float:
    """P(count + Z >= threshold), for a threshold above the count."""
    a = math.exp(-1 / scale)
    assert threshold > count
    return a ** (threshold - count) / (1 + a)


def outputs(count: int, threshold: int | None, scale: float, low: int, high: int) -> Floats:
    """The chance of each output: not published (only with a threshold), then low to high; a key
    that nobody has (count 0, with a threshold) is never published."""
    if threshold is not None and count == 0:
        return np.array([1.0] + [0.0] * (high - low + 1))
    shown = [chance(y - count, scale) for y in range(low, high + 1)]
    if threshold is None:
        return np.array(shown)
    end = high + FAR * math.ceil(scale)
    hidden = 1 - math.fsum(chance(y - count, scale) for y in range(threshold, end))
    return np.array([hidden, *shown])


def excess(
    one: list[int], other: list[int], threshold: int | None, scale: float, epsilon: float
) -> float:
    """sup over sets of outputs of P(one) - exp(epsilon) P(other): the delta that epsilon needs.

    ``one``, ``other``: the counts of the same keys. Every output of all keys is listed.
    """
    tails = math.ceil(FAR * scale)
    joint = np.ones(1), np.ones(1)
    for pair in zip(one, other, strict=True):
        low = min(pair) - tails if threshold is None else threshold
        high = max(*pair, low) + tails
        joint = tuple(
            np.outer(so_far, outputs(count, threshold, scale, low, high)).ravel()
            for so_far, count in zip(joint, pair, strict=True)
        )
    return float(np.maximum(joint[0] - math.exp(epsilon) * joint[1], 0).sum())


def _least(listed: Iterable[tuple[str, ...]], case: str, most: int) -> list[tuple[str, ...]]:
    def digest(each: tuple[str, ...]) -> str:
        return hashlib.md5("\x1f".join((case, *each)).encode()).hexdigest()

    return sorted(listed, key=lambda each: (digest(each), each))[:most]


def counts(
    held: Held, kinds: list[tuple[str, str]], most_items: int, most_pairs: int
) -> tuple[Counter[Hashable], Counter[Hashable]]:
    """What cases add to the tables of items and of pairs."""
    items: Counter[Hashable] = Counter()
    pairs: Counter[Hashable] = Counter()
    for case, values in held.items():
        kept: list[tuple[str, ...]] = []
        for attribute in {attribute for attribute, _ in values}:
            kept += _least((v for v in values if v[0] == attribute), case, most_items)
        items.update(kept)
        both = [a + b for a, b in product(kept, kept) if (a[0], b[0]) in kinds]
        pairs.update(_least(both, case, most_pairs))
    return items, pairs
