"""What each case loses at least, in whatever groups of k its quasi-identifiers are released.

A group of k cases that has case r has k - 1 others. Its region covers r and each of them, so r
loses at least what the region of r and that one alone would cost it: a number the width of both
over the span, a category the height of their common node over that of the hierarchy, and 1 a value
that the other lacks, since the group is then released without. So r loses at least the (k - 1)-th
smallest of these over all other cases, and a release at least the sum.

Source: Lin 2016, eq. (1) and (9), for groups of two cases.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints

Floats = NDArray[np.float64]
MISSING = -1
_CELLS = 2**22
"""Losses that are looked at together."""
ROUNDED = 1e-12
"""Relative error of a sum of a few floats, by which a bound is lowered."""


def pair_losses(low: Ints, high: Ints, span: int) -> Floats:
    """[n, n] what two values of a number cost in one region.

    Args:
        low: [n] lower ends of the values that occur, in granules.
        high: [n] upper ends.
        span: of the domain, in granules, above 0.
    """
    width = np.maximum.outer(high, high) - np.minimum.outer(low, low)
    return np.asarray(width / span)


def least_losses(values: Ints, cases: Ints, losses: Sequence[Floats], k: int) -> Floats:
    """[n] what a case of each kind loses at least in a group of k.

    Args:
        values: [n, d] which value each kind of case has of each QID; ``MISSING`` of none.
        cases: [n] how many cases of the kind there are.
        losses: of each QID, what each two of its values cost in one region.
        k: least number of cases of a group; with fewer cases in all the bound is that of all.
    """
    n = len(values)
    # A row and a column more for what is missing: it costs nothing, and the others' value
    whole = [np.pad(each, (0, 1), constant_values=1.0) for each in losses]
    for each in whole:
        each[-1] = 0.0
    found = np.empty(n)
    step, nearest = max(1, _CELLS // max(n, 1)), min(k, n)
    for start in range(0, n, step):
        rows = values[start : start + step]
        cost = np.zeros((len(rows), n))
        for i, each in enumerate(whole):
            cost += each[rows[:, i]][:, values[:, i]]
        near = np.argpartition(cost, nearest - 1, axis=1)[:, :nearest]
        least = np.take_along_axis(cost, near, axis=1)
        order = np.argsort(least, axis=1)
        held = np.cumsum(np.take_along_axis(cases[near], order, axis=1), axis=1)
        place = np.minimum((held < k).sum(axis=1), nearest - 1)
        sorted_costs = np.take_along_axis(least, order, axis=1)
        found[start : start + step] = sorted_costs[np.arange(len(rows)), place]
    return found * (1 - ROUNDED)
