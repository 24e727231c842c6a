"""Searches in many sorted lists at once: list i is ``keys[starts[i] : starts[i + 1]]``."""

from __future__ import annotations

import numpy as np

from srsql.udfs.problem import Ints


def first_above(keys: Ints, starts: Ints, which: Ints, points: Ints) -> Ints:
    """For each point the first place in its list with a key above it, else the list's end.

    Args:
        keys: ascending within each list.
        starts: [lists + 1] where each list begins.
        which: [n] the list of each point.
        points: [n].

    Returns:
        [n] places in ``keys``.
    """
    low, high = starts[which].copy(), starts[which + 1].copy()
    while bool((open_ := low < high).any()):
        middle = (low + high) // 2
        above = keys[np.where(open_, middle, 0)] > points
        high = np.where(open_ & above, middle, high)
        low = np.where(open_ & ~above, middle + 1, low)
    return low


def running_totals(values: Ints, starts: Ints) -> Ints:
    """The sums of each list up to and with each of its values."""
    total = np.cumsum(values)
    before = np.concatenate([np.zeros(1, np.int64), total])[starts[:-1]]
    return np.asarray(total - np.repeat(before, np.diff(starts)), dtype=np.int64)


def list_totals(values: Ints, starts: Ints) -> Ints:
    """[lists] the sum of each list."""
    total = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    return np.asarray(total[starts[1:]] - total[starts[:-1]], dtype=np.int64)
