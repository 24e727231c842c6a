"""The search for the nearest published records: a branch-and-bound over a k-d tree of them.

IL* of an original and a published record is a sum over the QIDs (Wu 2022, section V.A; SPEC section
10): of a number the mean of |x - v| over the published interval, of a category IL_c, which the
caller gives per pair of nodes; 1 where one of both is missing, 0 where both are. With m the middle
of the published interval, w its width and a = |v - m|, the mean is a where a >= w/2, else
w/4 + a^2/w. It grows with a and with w, so its value at the least a and the least w among many
records bounds theirs: a branch-and-bound over a k-d tree of the distinct published QIDs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.grouping.box_tree import Shape
from srsql.udfs.grouping.candidates import NEAR
from srsql.udfs.problem import Ints


class Table(NamedTuple):
    """Per QID the matrix of its node distances, row-major one after the other."""

    span: Ints
    """[d] of the domain in granules; 0: categorical."""
    start: Ints
    columns: Ints
    apart: Ints
    united: Ints
    loss: NDArray[np.float64]


class Side(NamedTuple):
    """QIDs as the search takes them."""

    middle: Ints
    """[n, d] twice the middle of an interval, or the row or column of a node's matrix."""
    width: Ints
    known: NDArray[np.bool_]


class Reach(NamedTuple):
    """What each node of the tree knows of the records under it."""

    middle_min: Ints
    middle_max: Ints
    """[nodes, d] over known values; min above max where none is known."""
    width_min: Ints
    missing: NDArray[np.bool_]
    """[nodes, d] whether some record misses the value."""


@njit(cache=True)
def reach_of(shape: Shape, side: Side) -> Reach:
    """What the nodes of a tree over published records know of them."""
    nodes, d = len(shape.left), side.middle.shape[1]
    reach = Reach(
        np.full((nodes, d), np.iinfo(np.int64).max),
        np.full((nodes, d), np.iinfo(np.int64).min),
        np.full((nodes, d), np.iinfo(np.int64).max),
        np.zeros((nodes, d), np.bool_),
    )
    for node in range(nodes - 1, -1, -1):
        if shape.left[node] < 0:
            for j in range(shape.begin[node], shape.end[node]):
                r = shape.order[j]
                for i in range(d):
                    if side.known[r, i]:
                        middle, width = side.middle[r, i], side.width[r, i]
                        reach.middle_min[node, i] = min(reach.middle_min[node, i], middle)
                        reach.middle_max[node, i] = max(reach.middle_max[node, i], middle)
                        reach.width_min[node, i] = min(reach.width_min[node, i], width)
                    else:
                        reach.missing[node, i] = True
        else:
            for child in (shape.left[node], shape.right[node]):
                for i in range(d):
                    reach.middle_min[node, i] = min(
                        reach.middle_min[node, i], reach.middle_min[child, i]
                    )
                    reach.middle_max[node, i] = max(
                        reach.middle_max[node, i], reach.middle_max[child, i]
                    )
                    reach.width_min[node, i] = min(
                        reach.width_min[node, i], reach.width_min[child, i]
                    )
                    reach.missing[node, i] |= reach.missing[child, i]
    return reach


@njit(cache=True)
def _number_loss(apart: int, width: int, span: int) -> float:
    """The mean of |x - v|: ``apart`` is twice the distance of v from the middle."""
    if apart >= width:
        return float(apart) / (2.0 * span)
    return (float(width) + float(apart) * apart / width) / (4.0 * span)


@njit(cache=True)
def _loss(r: int, t: int, mine: Side, theirs: Side, table: Table) -> float:
    """IL* of original ``r`` and published record ``t``."""
    total = 0.0
    for i in range(mine.middle.shape[1]):
        if mine.known[r, i] != theirs.known[t, i]:
            total += 1.0
        elif mine.known[r, i]:
            at, there = mine.middle[r, i], theirs.middle[t, i]
            if table.span[i] == 0:
                total += table.loss[table.start[i] + at * table.columns[i] + there]
            else:
                total += _number_loss(abs(at - there), theirs.width[t, i], table.span[i])
    return total


@njit(cache=True)
def _least_loss(r: int, node: int, mine: Side, reach: Reach, table: Table) -> float:
    """A lower bound of IL* of original ``r`` and the records under a node of the tree."""
    total = 0.0
    for i in range(mine.middle.shape[1]):
        missing, low, high = (
            reach.missing[node, i],
            reach.middle_min[node, i],
            reach.middle_max[node, i],
        )
        if not mine.known[r, i]:
            total += 0.0 if missing else 1.0
            continue
        bound = 1.0 if missing else np.inf
        if low <= high:
            at = mine.middle[r, i]
            if table.span[i] > 0:
                apart = max(0, low - at, at - high)
                bound = min(bound, _number_loss(apart, reach.width_min[node, i], table.span[i]))
            elif low == high:
                bound = min(bound, table.loss[table.start[i] + at * table.columns[i] + low])
            else:
                bound = 0.0
        total += bound
    return total


@njit(cache=True)
def search(mine: Side, theirs: Side, table: Table, shape: Shape, reach: Reach) -> Ints:
    """Pairs of every original and the records that floats cannot tell from its nearest."""
    n, m = mine.middle.shape[0], theirs.middle.shape[0]
    pairs = np.empty((2 * n, 2), np.int64)
    count = 0
    found, costs = np.empty(m, np.int64), np.empty(m, np.float64)
    stack, bounds = np.empty(len(shape.left), np.int64), np.empty(len(shape.left), np.float64)
    for r in range(n):
        best, kept = np.inf, 0
        stack[0], bounds[0] = 0, 0.0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if bounds[top] > best * (1 + NEAR):
                continue
            if shape.left[node] < 0:
                for j in range(shape.begin[node], shape.end[node]):
                    t = shape.order[j]
                    cost = _loss(r, t, mine, theirs, table)
                    if cost > best * (1 + NEAR):
                        continue
                    if cost * (1 + NEAR) < best:
                        kept = 0
                    best = min(best, cost)
                    found[kept], costs[kept] = t, cost
                    kept += 1
                continue
            near, far = shape.left[node], shape.right[node]
            near_bound = _least_loss(r, near, mine, reach, table)
            far_bound = _least_loss(r, far, mine, reach, table)
            if far_bound < near_bound:
                near, far = far, near
                near_bound, far_bound = far_bound, near_bound
            stack[top], bounds[top] = far, far_bound
            stack[top + 1], bounds[top + 1] = near, near_bound
            top += 2
        while count + kept > len(pairs):
            wider = np.empty((2 * len(pairs), 2), np.int64)
            wider[:count] = pairs[:count]
            pairs = wider
        for j in range(kept):
            if costs[j] <= best * (1 + NEAR):
                pairs[count, 0], pairs[count, 1] = r, found[j]
                count += 1
    return pairs[:count]
