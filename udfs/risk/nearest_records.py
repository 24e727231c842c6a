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
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import NEAR, BoxTree, build_box_tree, exact_minima, warm_up_boxes
from srsql.udfs.grouping_problem import Losses

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


@dataclass(frozen=True)
class NodeDistances:
    """IL_c = difference / union of an original and a published node; one row a pair that occurs."""

    place: Ints
    """[rows] column of the QID."""
    own: Ints
    published: Ints
    """[rows] preorder numbers of the two nodes."""
    difference: Ints
    union: Ints
    """[rows] nodes that only one of their paths to the root has, and that at least one has."""


class NodeLosses(NamedTuple):
    """For each QID the matrix of the distances of its nodes, row-major one after the other."""

    span: Ints
    """[d] of the domain in granules; 0: categorical."""
    start: Ints
    columns: Ints
    """[d + 1] where each matrix starts, and [d] how many columns it has."""
    difference: Ints
    union: Ints
    loss: NDArray[np.float64]
    """[start[d]] difference / union as a float."""


class QidValues(NamedTuple):
    """QIDs as the search takes them, n of them with d values each."""

    middle: Ints
    """[n, d] twice the middle of an interval, or the row or column of a node's matrix."""
    width: Ints
    """[n, d] of the interval, in granules."""
    known: NDArray[np.bool_]


class RecordBounds(NamedTuple):
    """What each node of the tree knows of the published records under it."""

    middle_min: Ints
    middle_max: Ints
    """[nodes, d] over known values; min above max where none is known."""
    width_min: Ints
    """[nodes, d] over known values."""
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

    Source: Wu 2022, section V.A (G, "minimum difference from r"); SPEC section 10.
    """
    if not len(own.low) or not len(published.low):
        return np.empty((0, 2), np.int64)
    losses, originals, records = _tabulate(own, published, span, distances)
    tree = _tree_over(records, span)
    pairs = _nearest_pairs(originals, records, losses, tree, _record_bounds(tree, records))
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    keep = np.bincount(pairs[:, 0])[pairs[:, 0]] == 1
    tied = pairs[~keep]
    fractions = _fractions(tied, originals, records, losses)
    keep[~keep] = exact_minima(tied[:, 0], fractions, partial(_sum, span.tolist()))
    return np.asarray(pairs[keep])


def warm_up() -> None:
    """Load the compiled search from the cache, or compile it (once per installation)."""
    warm_up_boxes()
    ends, none = np.zeros((1, 1), np.int64), np.empty(0, np.int64)
    points = Points(ends, ends, np.ones((1, 1), np.bool_))
    nearest(points, points, np.array([1]), NodeDistances(none, none, none, none, none))


def _tabulate(
    own: Points, published: Points, span: Ints, distances: NodeDistances
) -> tuple[NodeLosses, QidValues, QidValues]:
    """Nodes become rows and columns of their QID's matrix, in preorder."""
    d = len(span)
    sides = [QidValues(p.low + p.high, p.high - p.low, p.known) for p in (own, published)]
    start, columns = np.zeros(d + 1, np.int64), np.zeros(d, np.int64)
    differences, unions = [], []
    for i in range(d):
        difference = union = np.empty(0, np.int64)
        if span[i] == 0 and own.known[:, i].any() and published.known[:, i].any():
            at = distances.place == i
            rows, row = np.unique(distances.own[at], return_inverse=True)
            nodes, column = np.unique(distances.published[at], return_inverse=True)
            columns[i] = len(nodes)
            difference = np.full(len(rows) * len(nodes), CONSTANT, np.int64)
            union = np.ones_like(difference)
            difference[row * len(nodes) + column] = distances.difference[at]
            union[row * len(nodes) + column] = distances.union[at]
            complete = bool((difference >= 0).all() and (union >= 1).all())
            for side, points, labels in zip(sides, (own, published), (rows, nodes), strict=True):
                shown = points.low[points.known[:, i], i]
                complete &= bool(np.isin(shown, labels).all())
                side.middle[:, i] = side.width[:, i] = 0
                side.middle[points.known[:, i], i] = np.searchsorted(labels, shown)
            if not complete:
                raise ValueError("every pair of an original and a published node needs a distance")
        start[i + 1] = start[i] + len(difference)
        differences.append(difference)
        unions.append(union)
    difference, union = np.concatenate(differences), np.concatenate(unions)
    span = span.astype(np.int64)
    losses = NodeLosses(span, start, columns, difference, union, difference / union)
    return losses, sides[0], sides[1]


def _tree_over(records: QidValues, span: Ints) -> BoxTree:
    """A tree over middles, widths and what is missing, each weighed by what it can cost."""
    shown = [np.where(records.known, values, 0) for values in (records.middle, records.width)]
    keys = np.hstack([*shown, records.known.astype(np.int64)])
    numeric = span > 0
    per_granule = _UNIT // np.maximum(span, 1)
    of_middle = np.where(numeric, per_granule // 2, 2 * _UNIT)
    of_width = np.where(numeric, per_granule // 4, 1)
    weight = np.concatenate([of_middle, of_width, np.full(len(span), 4 * _UNIT)])
    none = np.empty(0, np.int64)
    losses = Losses(np.ones(len(weight), np.bool_), weight, none, none, none, none)
    return build_box_tree(keys, keys, np.zeros(len(keys)), losses)


@njit()
def _record_bounds(tree: BoxTree, records: QidValues) -> RecordBounds:
    """What the nodes of a tree over published records know of them."""
    nodes, d = len(tree.left), records.middle.shape[1]
    bounds = RecordBounds(
        np.full((nodes, d), np.iinfo(np.int64).max),
        np.full((nodes, d), np.iinfo(np.int64).min),
        np.full((nodes, d), np.iinfo(np.int64).max),
        np.zeros((nodes, d), np.bool_),
    )
    for node in range(nodes - 1, -1, -1):
        if tree.left[node] < 0:
            for j in range(tree.begin[node], tree.end[node]):
                t = tree.order[j]
                for i in range(d):
                    if records.known[t, i]:
                        middle, width = records.middle[t, i], records.width[t, i]
                        bounds.middle_min[node, i] = min(bounds.middle_min[node, i], middle)
                        bounds.middle_max[node, i] = max(bounds.middle_max[node, i], middle)
                        bounds.width_min[node, i] = min(bounds.width_min[node, i], width)
                    else:
                        bounds.missing[node, i] = True
            continue
        for child in (tree.left[node], tree.right[node]):
            for i in range(d):
                low, high = bounds.middle_min[child, i], bounds.middle_max[child, i]
                width = bounds.width_min[child, i]
                bounds.middle_min[node, i] = min(bounds.middle_min[node, i], low)
                bounds.middle_max[node, i] = max(bounds.middle_max[node, i], high)
                bounds.width_min[node, i] = min(bounds.width_min[node, i], width)
                bounds.missing[node, i] |= bounds.missing[child, i]
    return bounds


@leaf()
def _number_loss(distance: int, width: int, span: int) -> float:
    """The mean of |x - v|; ``distance`` is twice that of v from the middle."""
    if distance >= width:
        return float(distance) / (2.0 * span)
    return (float(width) + float(distance) * distance / width) / (4.0 * span)


@leaf()
def _loss(r: int, t: int, originals: QidValues, records: QidValues, losses: NodeLosses) -> float:
    """IL* of original ``r`` and published record ``t``."""
    total = 0.0
    for i in range(originals.middle.shape[1]):
        if originals.known[r, i] != records.known[t, i]:
            total += 1.0
        elif originals.known[r, i]:
            at, middle = originals.middle[r, i], records.middle[t, i]
            if losses.span[i] == 0:
                total += losses.loss[losses.start[i] + at * losses.columns[i] + middle]
            else:
                total += _number_loss(abs(at - middle), records.width[t, i], losses.span[i])
    return total


@leaf()
def _least_loss(
    r: int, node: int, originals: QidValues, bounds: RecordBounds, losses: NodeLosses
) -> float:
    """A lower bound of IL* of original ``r`` and the records under a node of the tree."""
    total = 0.0
    for i in range(originals.middle.shape[1]):
        missing = bounds.missing[node, i]
        low, high = bounds.middle_min[node, i], bounds.middle_max[node, i]
        if not originals.known[r, i]:
            total += 0.0 if missing else 1.0
            continue
        bound = 1.0 if missing else np.inf
        if low <= high:
            at, span = originals.middle[r, i], losses.span[i]
            if span > 0:
                distance = max(0, low - at, at - high)
                bound = min(bound, _number_loss(distance, bounds.width_min[node, i], span))
            elif low == high:
                bound = min(bound, losses.loss[losses.start[i] + at * losses.columns[i] + low])
            else:
                bound = 0.0
        total += bound
    return total


@njit()
def _nearest_pairs(
    originals: QidValues, records: QidValues, losses: NodeLosses, tree: BoxTree,
    bounds: RecordBounds,
) -> Ints:  # fmt: skip
    """Pairs of every original and the records that floats cannot tell from its nearest."""
    n, m = originals.middle.shape[0], records.middle.shape[0]
    pairs = np.empty((2 * n, 2), np.int64)
    count = 0
    near_records, costs = np.empty(m, np.int64), np.empty(m, np.float64)
    stack, floors = np.empty(len(tree.left), np.int64), np.empty(len(tree.left), np.float64)
    for r in range(n):
        best, near_count = np.inf, 0
        stack[0], floors[0] = 0, 0.0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if floors[top] > best * (1 + NEAR):
                continue
            if tree.left[node] < 0:
                for j in range(tree.begin[node], tree.end[node]):
                    t = tree.order[j]
                    cost = _loss(r, t, originals, records, losses)
                    if cost > best * (1 + NEAR):
                        continue
                    if cost * (1 + NEAR) < best:
                        near_count = 0
                    best = min(best, cost)
                    near_records[near_count], costs[near_count] = t, cost
                    near_count += 1
                continue
            near, far = tree.left[node], tree.right[node]
            near_floor = _least_loss(r, near, originals, bounds, losses)
            far_floor = _least_loss(r, far, originals, bounds, losses)
            if far_floor < near_floor:
                near, far = far, near
                near_floor, far_floor = far_floor, near_floor
            stack[top], floors[top] = far, far_floor
            stack[top + 1], floors[top + 1] = near, near_floor
            top += 2
        while count + near_count > len(pairs):
            wider = np.empty((2 * len(pairs), 2), np.int64)
            wider[:count] = pairs[:count]
            pairs = wider
        for j in range(near_count):
            if costs[j] <= best * (1 + NEAR):
                pairs[count, 0], pairs[count, 1] = r, near_records[j]
                count += 1
    return pairs[:count]


def _fractions(pairs: Ints, originals: QidValues, records: QidValues, losses: NodeLosses) -> Ints:
    """[pairs, 2d] what decides each loss: of a number twice a and w (0 where a >= w/2), of a node
    difference and union, of a missing value the loss and ``CONSTANT``."""
    r, t = pairs[:, 0], pairs[:, 1]
    found = np.empty((len(pairs), 2 * len(losses.span)), np.int64)
    for i, span in enumerate(losses.span):
        at, middle = originals.middle[r, i], records.middle[t, i]
        both = originals.known[r, i] & records.known[t, i]
        if span > 0:
            first, second = np.abs(at - middle), records.width[t, i]
            second = np.where(first >= second, 0, second)
        elif len(losses.difference):
            place = np.where(both, losses.start[i] + at * losses.columns[i] + middle, 0)
            first, second = losses.difference[place], losses.union[place]
        else:
            first, second = np.zeros_like(at), np.zeros_like(at)
        found[:, 2 * i] = np.where(both, first, originals.known[r, i] != records.known[t, i])
        found[:, 2 * i + 1] = np.where(both, second, CONSTANT)
    return found


def _sum(spans: list[int], parts: list[int]) -> Fraction:
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
