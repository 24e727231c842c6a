"""The published records nearest to each original: exact argmin of IL*, ties included.

IL* of an original and a published record is a sum over the QIDs (Wu 2022, section V.A; SPEC section
10): of a number the mean of |x - v| over the published interval, of a category IL_c, which the
caller gives per pair of nodes; 1 where one of both is missing, 0 where both are. With m the middle
of the published interval, w its width and a = |v - m|, the mean is a where a >= w/2, else
w/4 + a^2/w. It grows with a and with w, so its value at the least a and the least w among many
records bounds theirs: a branch-and-bound over a k-d tree of the distinct published QIDs. The search
keeps what floats cannot tell from the best; rational arithmetic decides among those.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.exact_search import NEAR, Shape, build_shape
from srsql.udfs.grouping.grouping_problem import Losses

CONSTANT = -1
"""In the place of a denominator: the loss is the numerator, for a missing value."""
_UNIT = 2**30


@dataclass(frozen=True)
class Points:
    """Distinct QIDs, n of them with d values each."""

    low: Ints
    """[n, d] granules, or the preorder number of the node; anything where missing."""
    high: Ints
    """[n, d] the other end; of a node it does not count."""
    known: NDArray[np.bool_]
    """[n, d]"""


@dataclass(frozen=True)
class NodeDistances:
    """IL_c = apart / united of an original and a published node; one row a pair that occurs."""

    place: Ints
    """Column of the QID."""
    own: Ints
    published: Ints
    """Preorder numbers."""
    apart: Ints
    united: Ints


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


def nearest(own: Points, published: Points, span: Ints, distances: NodeDistances) -> Ints:
    """The nearest published records of every original.

    Args:
        own: the distinct originals; the value of a number is the midpoint of its interval.
        published: the distinct published QIDs.
        span: [d] span of each number's domain in granules, above 0; 0 for a category.
        distances: for every original and every published node of a category.

    Returns:
        [pairs, 2] rows of ``own`` and ``published``, in order.

    Raises:
        ValueError: a pair of nodes has no distance.
    """
    if not len(own.low) or not len(published.low):
        return np.empty((0, 2), np.int64)
    table, mine, theirs = _tabulate(own, published, span, distances)
    shape = _shape(theirs, span)
    pairs = search(mine, theirs, table, shape, reach_of(shape, theirs))
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return pairs[_least(pairs, mine, theirs, table)]


def warm_up() -> None:
    """Load the compiled search from the cache, or compile it (once per installation)."""
    ends, none = np.zeros((1, 1), np.int64), np.empty(0, np.int64)
    points = Points(ends, ends, np.ones((1, 1), np.bool_))
    nearest(points, points, np.array([1]), NodeDistances(none, none, none, none, none))


def _tabulate(
    own: Points, published: Points, span: Ints, distances: NodeDistances
) -> tuple[Table, Side, Side]:
    """Nodes become rows and columns of their QID's matrix, in preorder."""
    d = len(span)
    sides = [Side(p.low + p.high, p.high - p.low, p.known) for p in (own, published)]
    start, columns = np.zeros(d + 1, np.int64), np.zeros(d, np.int64)
    aparts, uniteds = [], []
    for i in range(d):
        apart = united = np.empty(0, np.int64)
        if span[i] == 0 and own.known[:, i].any() and published.known[:, i].any():
            at = distances.place == i
            rows, row = np.unique(distances.own[at], return_inverse=True)
            nodes, column = np.unique(distances.published[at], return_inverse=True)
            columns[i] = len(nodes)
            apart = np.full(len(rows) * len(nodes), CONSTANT, np.int64)
            united = np.ones_like(apart)
            apart[row * len(nodes) + column] = distances.apart[at]
            united[row * len(nodes) + column] = distances.united[at]
            for side, points, labels in zip(sides, (own, published), (rows, nodes), strict=True):
                side.middle[:, i] = _codes(points.low[:, i], points.known[:, i], labels)
                side.width[:, i] = 0
            if bool((apart < 0).any()) or bool((united < 1).any()):
                raise ValueError("every pair of an original and a published node needs a distance")
        start[i + 1] = start[i] + len(apart)
        aparts.append(apart)
        uniteds.append(united)
    apart, united = np.concatenate(aparts), np.concatenate(uniteds)
    table = Table(span.astype(np.int64), start, columns, apart, united, apart / united)
    return table, sides[0], sides[1]


def _codes(nodes: Ints, known: NDArray[np.bool_], labels: Ints) -> Ints:
    codes = np.zeros(len(nodes), np.int64)
    codes[known] = np.searchsorted(labels, nodes[known])
    if not np.isin(nodes[known], labels).all():
        raise ValueError("every pair of an original and a published node needs a distance")
    return codes


def _shape(side: Side, span: Ints) -> Shape:
    """A tree over middles, widths and what is missing, each weighed by what it can cost."""
    shown = [np.where(side.known, values, 0) for values in (side.middle, side.width)]
    keys = np.hstack([*shown, side.known.astype(np.int64)])
    numeric = span > 0
    per_granule = _UNIT // np.maximum(span, 1)
    weight = np.concatenate(
        [
            np.where(numeric, per_granule // 2, 2 * _UNIT),
            np.where(numeric, per_granule // 4, 1),
            np.full(len(span), 4 * _UNIT),
        ]
    )
    none = np.empty(0, np.int64)
    losses = Losses(np.ones(len(weight), np.bool_), weight, none, none, none, none)
    return build_shape(keys, keys, np.zeros(len(keys)), losses)


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


def _least(pairs: Ints, mine: Side, theirs: Side, table: Table) -> NDArray[np.bool_]:
    """Which pairs, ordered by original, are of exactly the least loss."""
    keep = np.ones(len(pairs), np.bool_)
    counts = np.bincount(pairs[:, 0])
    tied = np.flatnonzero(counts[pairs[:, 0]] > 1)
    if not len(tied):
        return keep
    kinds, kind = np.unique(
        _fractions(pairs[tied], mine, theirs, table), axis=0, return_inverse=True
    )
    kind = kind.reshape(-1)
    starts = np.flatnonzero(np.diff(pairs[tied, 0], prepend=-1))
    differ = np.minimum.reduceat(kind, starts) != np.maximum.reduceat(kind, starts)
    sums: dict[int, Fraction] = {}
    for begin, end in zip(starts[differ], np.append(starts, len(tied))[1:][differ], strict=True):
        exact = []
        for k in kind[begin:end].tolist():
            if k not in sums:
                sums[k] = _sum(kinds[k].tolist(), table.span.tolist())
            exact.append(sums[k])
        least = min(exact)
        keep[tied[begin:end]] = [value == least for value in exact]
    return keep


def _fractions(pairs: Ints, mine: Side, theirs: Side, table: Table) -> Ints:
    """[pairs, 2d] what decides each loss: of a number twice a and w (0 where a >= w/2), of a node
    apart and united, of a missing value the loss and ``CONSTANT``."""
    r, t = pairs[:, 0], pairs[:, 1]
    found = np.empty((len(pairs), 2 * len(table.span)), np.int64)
    for i, span in enumerate(table.span):
        at, there = mine.middle[r, i], theirs.middle[t, i]
        if span == 0:
            place = np.where(
                mine.known[r, i] & theirs.known[t, i],
                table.start[i] + at * table.columns[i] + there,
                0,
            )
            first, second = (
                (table.apart[place], table.united[place])
                if len(table.apart)
                else (np.zeros_like(at), np.zeros_like(at))
            )
        else:
            first, second = np.abs(at - there), theirs.width[t, i]
            second = np.where(first >= second, 0, second)
        missing = ~(mine.known[r, i] & theirs.known[t, i])
        found[:, 2 * i] = np.where(missing, mine.known[r, i] != theirs.known[t, i], first)
        found[:, 2 * i + 1] = np.where(missing, CONSTANT, second)
    return found


def _sum(parts: list[int], spans: list[int]) -> Fraction:
    """The exact loss that ``_fractions`` describes."""
    total = Fraction(0)
    for i, span in enumerate(spans):
        first, second = parts[2 * i], parts[2 * i + 1]
        if second == CONSTANT:
            total += first
        elif span == 0:
            total += Fraction(first, second)
        elif second == 0:
            total += Fraction(first, 2 * span)
        else:
            total += Fraction(second * second + first * first, 4 * second * span)
    return total
