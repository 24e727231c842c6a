"""Cells: the cases that the search for the next record of a group cannot tell apart at first.

A cell is a distinct (box, frequent-term mask, kind, plain risk), with its cases in order.

Cases of one cell cost a group the same information loss, and at least the same privacy risk: that
of an empty group and of the frequent terms in the mask. A search therefore looks at cells, and
within a cell only until it meets a case that adds no risk of its own. What each node of a tree over
the cells knows of the cases that remain is kept up to date as cases go.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import BoxTree, Waiting, as_int64, new_waiting
from srsql.udfs.grouping_problem import Losses
from srsql.udfs.passed import by_address

MASK_TERMS = 16
"""Terms at most in a mask."""
MASK_SHARE = 0.02
"""Share of the cases that hold a term of a mask, at least."""
NONE = 2**62
"""No case, no number, no loss: above them all."""


@by_address
class Cells(NamedTuple):
    """m cells; the cases of a cell form a list in case order, from which taken cases leave."""

    low: Ints
    """[m, d]"""
    high: Ints
    mask: Ints
    """[m] bit b is set where the cell's cases hold frequent term b."""
    kind: NDArray[np.int8]
    """[m] kind of the cell's cases (see ``Bounding``)."""
    base_risk: NDArray[np.float64]
    """[m] plain risk of the cell's cases in a group of at most k carriers."""
    of_case: NDArray[np.int32]
    """[n] the cell of each case, -1 for a case in none."""
    head: NDArray[np.int32]
    """[m] first case still there, or -1."""
    after: NDArray[np.int32]
    """[n] next case of the same cell, or -1."""
    before: NDArray[np.int32]
    """[n] previous case of the same cell, or -1."""


@by_address
class CellBounds(NamedTuple):
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
    """[nodes] least plain risk of the cells that remain."""
    kinds: Ints
    """[nodes] kinds of the cases that remain, as a bit mask."""
    waiting: Waiting


def frequent_terms(terms: NDArray[np.int32], n: int, vocabulary: int, k: int) -> NDArray[np.int32]:
    """The most frequent terms that groups of k will contend for, at most ``MASK_TERMS``.

    A term held by more than one case in k piles up among the cases that remain, so that a search
    without the mask would pass over most of a cell.

    Args:
        terms: the terms of all cases, one case after the other.
        n: how many cases there are.
        vocabulary: how many terms there are.
        k: k_effective.

    Returns:
        [bits] the terms, the most frequent first.
    """
    count = np.bincount(terms, minlength=vocabulary)
    floor = max(2.0, n * max(MASK_SHARE, 1 / (2 * k)))
    ranked = np.argsort(-count, kind="stable")[:MASK_TERMS]
    return ranked[count[ranked] >= floor].astype(np.int32)


@njit()
def case_masks(offsets: Ints, terms: NDArray[np.int32], bit: NDArray[np.int8]) -> Ints:
    """The frequent terms that each case holds.

    Args:
        offsets: [n + 1] where each case's terms start.
        terms: [offsets[n]] the terms.
        bit: [V] mask bit of each term, -1 for most.

    Returns:
        [n] masks.
    """
    n = len(offsets) - 1
    masks = np.zeros(n, np.int64)
    for r in range(n):
        for j in range(offsets[r], offsets[r + 1]):
            b = bit[terms[j]]
            if b >= 0:
                masks[r] |= 1 << int(b)  # not a shift of eight bits
    return masks


@njit()
def build_cells(
    low: Ints,
    high: Ints,
    masks: Ints,
    kinds: NDArray[np.int8],
    base_risk: NDArray[np.float64],
    who: NDArray[np.int64],
) -> Cells:
    """Put the cases into cells, by hashing.

    Args:
        low: [n, d] low ends of the boxes.
        high: [n, d] high ends.
        masks: [n] the frequent terms of each case.
        kinds: [n] see ``Bounding``.
        base_risk: [n] plain risks.
        who: the cases to put into cells, ascending.

    Returns:
        The cells, numbered by first appearance.
    """
    n, d = low.shape
    capacity = 16
    while capacity < 2 * len(who):
        capacity *= 2
    slot = np.full(capacity, -1, np.int32)
    of_case = np.full(n, -1, np.int32)
    first = np.empty(max(len(who), 1), np.int32)
    base_bits = base_risk.view(np.int64)
    m = 0
    for r in who:
        code = np.uint64(masks[r] + 1469598103934665603)
        code = (code ^ np.uint64(base_bits[r] + kinds[r])) * np.uint64(1099511628211)
        for i in range(d):
            code = (code ^ np.uint64(low[r, i])) * np.uint64(1099511628211)
            code = (code ^ np.uint64(high[r, i])) * np.uint64(1099511628211)
        code ^= code >> np.uint64(29)
        at = np.int64(code & np.uint64(capacity - 1))
        while True:
            cell = slot[at]
            if cell < 0:
                slot[at] = m
                first[m] = r
                of_case[r] = m
                m += 1
                break
            other = first[cell]
            same = masks[other] == masks[r] and kinds[other] == kinds[r]
            same = same and base_risk[other] == base_risk[r]
            for i in range(d):
                same = same and low[other, i] == low[r, i] and high[other, i] == high[r, i]
            if same:
                of_case[r] = cell
                break
            at = (at + 1) & (capacity - 1)
    head = np.full(m, -1, np.int32)
    tail = np.full(m, -1, np.int32)
    after = np.full(n, -1, np.int32)
    before = np.full(n, -1, np.int32)
    for r in who:
        cell = of_case[r]
        if head[cell] < 0:
            head[cell] = r
        else:
            after[tail[cell]] = r
            before[r] = tail[cell]
        tail[cell] = r
    first = first[:m]
    return Cells(
        low[first], high[first], masks[first], kinds[first], base_risk[first],
        of_case, head, after, before,
    )  # fmt: skip


@leaf()
def remove_case(cells: Cells, r: int) -> None:
    """Remove case ``r`` from its cell's list."""
    previous, following = cells.before[r], cells.after[r]
    if previous >= 0:
        cells.after[previous] = following
    else:
        cells.head[cells.of_case[r]] = following
    if following >= 0:
        cells.before[following] = previous


@leaf()
def return_case(cells: Cells, r: int) -> None:
    """Put case ``r`` back where it was, those that were removed after it being back already."""
    previous, following = cells.before[r], cells.after[r]
    if previous >= 0:
        cells.after[previous] = r
    else:
        cells.head[cells.of_case[r]] = r
    if following >= 0:
        cells.before[following] = r


@njit()
def new_cell_bounds(tree: BoxTree, cells: Cells, losses: Losses) -> CellBounds:
    """What every node of the tree knows.

    Args:
        tree: over the boxes of the cells.
        cells: with the cases that remain.
        losses: of the QIDs.
    """
    nodes, d = len(tree.left), cells.low.shape[1]
    bounds = CellBounds(
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.full(nodes, NONE, np.int64),
        np.empty(nodes, np.float64),
        np.zeros(nodes, np.int64),
        new_waiting(),
    )
    for node in range(nodes - 1, -1, -1):
        _refresh_node(node, tree, cells, losses, bounds)
    return bounds


@leaf()
def _refresh_node(
    node: int, tree: BoxTree, cells: Cells, losses: Losses, bounds: CellBounds
) -> bool:
    """Recompute what one node knows from its children or cells; whether anything changed."""
    d = cells.low.shape[1]
    least, kinds, floor = NONE, 0, np.inf
    leaf = tree.left[node] < 0
    if leaf:
        for j in range(tree.begin[node], tree.end[node]):
            cell = tree.order[j]
            if cells.head[cell] >= 0:
                least = min(least, cells.head[cell])
                kinds |= 1 << int(cells.kind[cell])
                floor = min(floor, cells.base_risk[cell])
    else:
        left, right = tree.left[node], tree.right[node]
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
            for j in range(tree.begin[node], tree.end[node]):
                cell = tree.order[j]
                if cells.head[cell] < 0:
                    continue
                low, high = cells.low[cell, i], cells.high[cell, i]
                low_max, high_min = max(low_max, low), min(high_min, high)
                if losses.numeric[i]:
                    low = high = low + high
                mid_min, mid_max = min(mid_min, low), max(mid_max, high)
        else:
            for child in (tree.left[node], tree.right[node]):
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


@leaf()
def refresh_after_removal(
    r: int, tree: BoxTree, cells: Cells, losses: Losses, bounds: CellBounds
) -> None:
    """Bring the bounds up to date after a case was removed from its cell.

    Args:
        r: the case.
        tree: over the boxes of the cells.
        cells: with the cases that remain.
        losses: of the QIDs.
        bounds: what the nodes of the tree know; changed.
    """
    cell = cells.of_case[r]
    node = as_int64(tree.leaf_of[cell])
    if cells.head[cell] < 0:
        while node >= 0 and _refresh_node(node, tree, cells, losses, bounds):
            node = as_int64(tree.parent[node])
        return
    while node >= 0 and bounds.least[node] == r:  # the box stays, only the least case moves on
        least = NONE
        if tree.left[node] < 0:
            for j in range(tree.begin[node], tree.end[node]):
                head = cells.head[tree.order[j]]
                if head >= 0:
                    least = min(least, head)
        else:
            least = min(bounds.least[tree.left[node]], bounds.least[tree.right[node]])
        bounds.least[node] = least
        node = as_int64(tree.parent[node])


@leaf()
def refresh_after_return(
    r: int, tree: BoxTree, cells: Cells, losses: Losses, bounds: CellBounds
) -> None:
    """Bring the bounds up to date after a case was put back; arguments as above."""
    node = as_int64(tree.leaf_of[cells.of_case[r]])
    while node >= 0 and _refresh_node(node, tree, cells, losses, bounds):
        node = as_int64(tree.parent[node])
