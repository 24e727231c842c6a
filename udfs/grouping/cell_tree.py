"""What each node of the cell tree knows of the cases that remain, kept up to date as cases go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.grouping.box_tree import Shape
from srsql.udfs.grouping.cells import Cells
from srsql.udfs.integers import whole
from srsql.udfs.problem import Ints, Losses

NONE = 2**62


class Bounds(NamedTuple):
    """What each node of the tree knows of the cases that remain under it."""

    low_max: Ints
    """[nodes, d] largest low end: a hull with any box of the node starts at or below it."""
    high_min: Ints
    """[nodes, d] smallest high end."""
    mid_min: Ints
    """[nodes, d] least low + high (numeric) or low end (categorical)."""
    mid_max: Ints
    """[nodes, d] largest low + high (numeric) or high end (categorical)."""
    least: Ints
    """[nodes] least case number, ``NONE`` where no case remains."""
    floor: NDArray[np.float64]
    """[nodes] least plain PR of the cells that remain."""
    kinds: Ints
    """[nodes] kinds of the cases that remain, as a bit mask."""


@njit(cache=True)
def new_bounds(shape: Shape, cells: Cells, losses: Losses) -> Bounds:
    """Bounds of every node for the cells as they are."""
    nodes, d = len(shape.left), cells.low.shape[1]
    bounds = Bounds(
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.full(nodes, NONE, np.int64),
        np.empty(nodes, np.float64),
        np.zeros(nodes, np.int64),
    )
    for node in range(nodes - 1, -1, -1):
        refresh(node, shape, cells, losses, bounds)
    return bounds


@njit(cache=True)
def refresh(node: int, shape: Shape, cells: Cells, losses: Losses, bounds: Bounds) -> bool:
    """Recompute one node from its children or cells; whether anything changed."""
    d = cells.low.shape[1]
    least, kinds, floor = NONE, 0, np.inf
    leaf = shape.left[node] < 0
    if leaf:
        for j in range(shape.begin[node], shape.end[node]):
            cell = shape.order[j]
            if cells.head[cell] >= 0:
                least = min(least, cells.head[cell])
                kinds |= 1 << cells.kind[cell]
                floor = min(floor, cells.base[cell])
    else:
        left, right = shape.left[node], shape.right[node]
        least = min(bounds.least[left], bounds.least[right])
        kinds = bounds.kinds[left] | bounds.kinds[right]
        floor = min(bounds.floor[left], bounds.floor[right])
    changed = (
        least != bounds.least[node] or kinds != bounds.kinds[node] or floor != bounds.floor[node]
    )
    bounds.least[node], bounds.kinds[node], bounds.floor[node] = least, kinds, floor
    for i in range(d):
        low_max, high_min, mid_min, mid_max = -NONE, NONE, NONE, -NONE
        if leaf:
            for j in range(shape.begin[node], shape.end[node]):
                cell = shape.order[j]
                if cells.head[cell] < 0:
                    continue
                low, high = cells.low[cell, i], cells.high[cell, i]
                low_max, high_min = max(low_max, low), min(high_min, high)
                if losses.numeric[i]:
                    low = high = low + high
                mid_min, mid_max = min(mid_min, low), max(mid_max, high)
        else:
            for child in (shape.left[node], shape.right[node]):
                if bounds.least[child] != NONE:
                    low_max = max(low_max, bounds.low_max[child, i])
                    high_min = min(high_min, bounds.high_min[child, i])
                    mid_min = min(mid_min, bounds.mid_min[child, i])
                    mid_max = max(mid_max, bounds.mid_max[child, i])
        if (
            low_max != bounds.low_max[node, i]
            or high_min != bounds.high_min[node, i]
            or mid_min != bounds.mid_min[node, i]
            or mid_max != bounds.mid_max[node, i]
        ):
            changed = True
            bounds.low_max[node, i], bounds.high_min[node, i] = low_max, high_min
            bounds.mid_min[node, i], bounds.mid_max[node, i] = mid_min, mid_max
    return bool(changed)


@njit(cache=True)
def forget(r: int, shape: Shape, cells: Cells, losses: Losses, bounds: Bounds) -> None:
    """Bring the bounds up to date after case ``r`` was taken from its cell."""
    cell = cells.of_case[r]
    node = whole(shape.leaf_of[cell])
    if cells.head[cell] < 0:
        while node >= 0 and refresh(node, shape, cells, losses, bounds):
            node = whole(shape.up[node])
        return
    while node >= 0 and bounds.least[node] == r:  # the box stays, only the least case moves on
        least = NONE
        if shape.left[node] < 0:
            for j in range(shape.begin[node], shape.end[node]):
                head = cells.head[shape.order[j]]
                if head >= 0:
                    least = min(least, head)
        else:
            least = min(bounds.least[shape.left[node]], bounds.least[shape.right[node]])
        bounds.least[node] = least
        node = whole(shape.up[node])
