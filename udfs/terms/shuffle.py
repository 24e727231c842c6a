"""Uniform permutations and places: what a disassociated release leaves to chance."""

from __future__ import annotations

import numpy as np
from numba import njit

from srsql.udfs.noise import Uniform
from srsql.udfs.problem import Ints


def shuffled(sizes: Ints, seed: int | None) -> Ints:
    """Independent uniform permutations of 1 .. size, one after the other (Fisher and Yates).

    Args:
        sizes: [n] lengths, 0 or more.
        seed: of a NumPy generator, for experiments; None: the secure generator.

    Returns:
        [sum of sizes] the permutations.
    """
    ends = np.cumsum(sizes)
    place = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)
    return _permuted(place, Uniform(seed).below(place + 1))


def drawn_below(totals: Ints, seed: int | None) -> Ints:
    """[n] independent draws, the i-th uniform over 0 .. totals[i] - 1; totals above 0."""
    return Uniform(seed).below(totals)


@njit(cache=True)
def _permuted(place: Ints, drawn: Ints) -> Ints:
    """Each element takes the seat of a drawn one before it (or its own), which moves to the end."""
    order = np.empty(len(place), np.int64)
    for i in range(len(place)):
        start = i - place[i]
        order[i] = order[start + drawn[i]] if drawn[i] < place[i] else 0
        order[start + drawn[i]] = place[i] + 1
    return order
