"""A k-d tree over boxes: its shape, and the losses that bound a search in it.

Boxes are split at the median of the low or high end whose spread costs most, equal boxes at the
median of a rank of their own. What a node knows of
its boxes is kept by the searches that use the tree (``ms_kernel``, ``ms_leftovers``), because they
bound different things.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.problem import Ints, Losses

LEAF_SIZE = 6


class Shape(NamedTuple):
    """Nodes 0.. in creation order, parents before children; node 0 is the root."""

    left: NDArray[np.int32]
    """Left child, -1 at a leaf."""
    right: NDArray[np.int32]
    up: NDArray[np.int32]
    """Parent, -1 at the root."""
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    """The node's boxes are ``order[begin:end]``."""
    order: NDArray[np.int32]
    leaf_of: NDArray[np.int32]
    """The leaf that holds each box."""


@njit(cache=True)
def hull_loss(losses: Losses, i: int, low: int, high: int) -> int:
    """Loss of QID ``i`` for the interval [low, high], in loss units (eq. (1), one summand)."""
    if losses.numeric[i]:
        return int((high - low) * losses.weight[i])
    base = losses.start[i]
    node = low
    while losses.last[base + node] < high:
        node = losses.parent[base + node]
    return int(losses.height[base + node] * losses.weight[i])


@njit(cache=True)
def _widest_key(
    low: Ints, high: Ints, order: NDArray[np.int32], b: int, e: int, losses: Losses
) -> int:
    """The end (2i: low of QID i, 2i + 1: high) whose spread over the boxes costs most, or -1."""
    best, best_loss = -1, 0
    for i in range(low.shape[1]):
        for end in range(2):
            ends = low if end == 0 else high
            least = most = ends[order[b], i]
            for j in range(b + 1, e):
                value = ends[order[j], i]
                least = min(least, value)
                most = max(most, value)
            if most > least:
                loss = max(hull_loss(losses, i, least, most), 1)
                if loss > best_loss:
                    best, best_loss = 2 * i + end, loss
    return best


@njit(cache=True)
def build_shape(low: Ints, high: Ints, rank: NDArray[np.float64], losses: Losses) -> Shape:
    """Build the tree over the boxes ``low``, ``high`` ([m, d], m >= 1), equal ones by ``rank``."""
    m = low.shape[0]
    order = np.arange(m).astype(np.int32)
    size = max(1, 2 * m)
    left = np.full(size, -1, np.int32)
    right = np.full(size, -1, np.int32)
    up = np.full(size, -1, np.int32)
    begin = np.zeros(size, np.int32)
    end = np.zeros(size, np.int32)
    leaf_of = np.zeros(m, np.int32)
    end[0] = m
    nodes = 1
    node = 0
    while node < nodes:
        b, e = begin[node], end[node]
        values = np.empty(e - b, np.float64)
        if e - b > LEAF_SIZE:
            key = _widest_key(low, high, order, b, e, losses)
            ends, i = low if key % 2 == 0 else high, key // 2
            for j in range(b, e):
                values[j - b] = rank[order[j]] if key < 0 else ends[order[j], i]
        else:
            values[:] = 0
        least = values.min()
        if values.max() == least:
            for j in range(b, e):
                leaf_of[order[j]] = node
            node += 1
            continue
        median = np.partition(values, (e - b) // 2)[(e - b) // 2]
        low_part = values < median if median > least else values == least  # what goes left
        split = b
        for j in range(b, e):
            if low_part[j - b]:
                order[split], order[j] = order[j], order[split]
                split += 1
        left[node], right[node] = nodes, nodes + 1
        up[nodes], up[nodes + 1] = node, node
        begin[nodes], end[nodes] = b, split
        begin[nodes + 1], end[nodes + 1] = split, e
        nodes += 2
        node += 1
    return Shape(
        left[:nodes].copy(),
        right[:nodes].copy(),
        up[:nodes].copy(),
        begin[:nodes].copy(),
        end[:nodes].copy(),
        order,
        leaf_of,
    )
