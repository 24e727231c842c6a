"""Exact searches over the cells that remain: the next record of a group, the next seed."""

from __future__ import annotations

import numpy as np
from numba import njit

from srsql.udfs import Ints
from srsql.udfs.exact_search import Shape, exact_order, hull_loss, near, whole
from srsql.udfs.grouping.cells import NONE, Bounds, Cells
from srsql.udfs.grouping.grouping_problem import Losses, Terms
from srsql.udfs.grouping.privacy_risk import cannot_win, mask_risk, privacy_risk, risk_fractions

STACK = 512


@njit(cache=True)
def added_loss(
    low: Ints, high: Ints, size: int, loss: int, box_low: Ints, box_high: Ints, losses: Losses
) -> int:
    """dIL of eq. (2) for a group (hull ``low``, ``high``, ``size`` records, eq. (1) sum ``loss``).

    With a node's ``low_max`` and ``high_min`` for the box it is a lower bound over the node, since
    every hull with one of its boxes contains the hull with that interval.
    """
    joint = whole(0)
    for i in range(len(low)):
        joint += hull_loss(losses, i, min(low[i], box_low[i]), max(high[i], box_high[i]))
    return size * (joint - loss) + joint


@njit(cache=True)
def _ranks_before(
    r: int,
    loss: int,
    risk: float,
    plain: bool,
    best: int,
    best_loss: int,
    best_risk: float,
    best_plain: bool,
    terms: Terms,
) -> bool:
    """Whether case ``r`` is a better choice than ``best`` (-1: none yet), ties by case number."""
    if best < 0:
        return True
    if loss == best_loss and plain and best_plain:
        return risk < best_risk or (risk == best_risk and r < best)
    product, best_product = loss * risk, best_loss * best_risk
    if not near(product, best_product):
        return product < best_product
    if loss == best_loss and not near(risk, best_risk):
        return risk < best_risk
    numerators, denominators = risk_fractions(r, terms)
    best_numerators, best_denominators = risk_fractions(best, terms)
    order = exact_order(
        loss, numerators, denominators, best_loss, best_numerators, best_denominators
    )
    return order < 0 or (order == 0 and r < best)


@njit(cache=True)
def nearest(
    low: Ints,
    high: Ints,
    size: int,
    loss: int,
    held: int,
    kinds: int,
    shape: Shape,
    cells: Cells,
    losses: Losses,
    bounds: Bounds,
    terms: Terms,
) -> int:
    """The record of least dIL' for a group, or -1 where every dIL' is infinite (eq. (8)).

    Branch and bound: a subtree is left out only where no case in it can rank before the best one
    found, PR being at least the least plain PR in it. ``held`` is the mask of frequent terms in the
    group, ``kinds`` that of the kinds it may still take.
    """
    best, best_loss = whole(-1), whole(0)
    best_risk, best_plain = np.inf, best >= 0
    if bounds.kinds[0] & kinds == 0:
        return best
    node_stack = np.empty(STACK, np.int32)
    loss_stack = np.empty(STACK, np.int64)
    node_stack[0] = 0
    loss_stack[0] = added_loss(low, high, size, loss, bounds.low_max[0], bounds.high_min[0], losses)
    top = 1
    while top > 0:
        top -= 1
        node, node_loss = node_stack[top], loss_stack[top]
        if cannot_win(
            node_loss, bounds.floor[node], bounds.least[node],
            best, best_loss, best_risk, best_plain,
        ):  # fmt: skip
            continue
        left = shape.left[node]
        if left >= 0:
            right = shape.right[node]
            left_loss = right_loss = NONE
            if bounds.kinds[left] & kinds:
                left_loss = added_loss(
                    low, high, size, loss, bounds.low_max[left], bounds.high_min[left], losses
                )
            if bounds.kinds[right] & kinds:
                right_loss = added_loss(
                    low, high, size, loss, bounds.low_max[right], bounds.high_min[right], losses
                )
            if _comes_first(right, right_loss, left, left_loss, bounds):
                left, right = right, left
                left_loss, right_loss = right_loss, left_loss
            if right_loss != NONE:
                node_stack[top], loss_stack[top] = right, right_loss
                top += 1
            if left_loss != NONE:
                node_stack[top], loss_stack[top] = left, left_loss
                top += 1
            continue
        for j in range(shape.begin[node], shape.end[node]):
            cell = shape.order[j]
            r = whole(cells.head[cell])
            if r < 0 or kinds >> cells.kind[cell] & 1 == 0:
                continue
            cell_loss = added_loss(low, high, size, loss, cells.low[cell], cells.high[cell], losses)
            if cannot_win(cell_loss, cells.base[cell], r, best, best_loss, best_risk, best_plain):
                continue
            shared = cells.mask[cell] & held
            if shared:
                floor = cells.base[cell] + mask_risk(shared, terms)
                if floor == np.inf or cannot_win(
                    cell_loss, floor, r, best, best_loss, best_risk, False
                ):
                    continue
            while r >= 0:
                risk, plain, own = privacy_risk(r, terms)
                if risk < np.inf and _ranks_before(
                    r, cell_loss, risk, plain, best, best_loss, best_risk, best_plain, terms
                ):
                    best, best_loss, best_risk, best_plain = r, cell_loss, risk, plain
                if plain or (own == 0 and (terms.one == 1 or not terms.after_join)):
                    break  # least PR of its cell, and least case number at that PR
                r = whole(cells.after[r])
    return best


@njit(cache=True)
def _comes_first(one: int, one_loss: int, other: int, other_loss: int, bounds: Bounds) -> bool:
    """Whether node ``one`` is likelier than ``other`` to hold the best, and searched first."""
    if one_loss == NONE or other_loss == NONE:
        return one_loss < other_loss
    product, other_product = one_loss * bounds.floor[one], other_loss * bounds.floor[other]
    if product != other_product:
        return bool(product < other_product)
    if bounds.floor[one] != bounds.floor[other]:
        return bool(bounds.floor[one] < bounds.floor[other])
    return bool(bounds.least[one] < bounds.least[other])


@njit(cache=True)
def farthest(
    low: Ints, high: Ints, shape: Shape, cells: Cells, losses: Losses, bounds: Bounds
) -> int:
    """The record farthest from the box ``low``, ``high``, or -1 where none remains (Algorithm 1).

    Distance: |difference of midpoints| / span per numeric QID, h(LCA) / h(root) per categorical;
    at equal distance the least case number.
    """
    best, best_far = whole(-1), whole(-1)
    if bounds.least[0] == NONE:
        return best
    node_stack = np.empty(STACK, np.int32)
    far_stack = np.empty(STACK, np.int64)
    node_stack[0], far_stack[0] = 0, NONE
    top = 1
    while top > 0:
        top -= 1
        node, far = node_stack[top], far_stack[top]
        if far < best_far or (far == best_far and bounds.least[node] > best):
            continue
        left = shape.left[node]
        if left >= 0:
            right = shape.right[node]
            left_far = _reach(left, low, high, losses, bounds)
            right_far = _reach(right, low, high, losses, bounds)
            if right_far > left_far or (
                right_far == left_far and bounds.least[right] < bounds.least[left]
            ):
                left, right = right, left
                left_far, right_far = right_far, left_far
            if right_far >= 0:
                node_stack[top], far_stack[top] = right, right_far
                top += 1
            if left_far >= 0:
                node_stack[top], far_stack[top] = left, left_far
                top += 1
            continue
        for j in range(shape.begin[node], shape.end[node]):
            cell = shape.order[j]
            r = cells.head[cell]
            if r < 0:
                continue
            far = 0
            for i in range(len(low)):
                if losses.numeric[i]:
                    apart = abs(cells.low[cell, i] + cells.high[cell, i] - low[i] - high[i])
                    far += apart * losses.weight[i]
                else:
                    far += 2 * hull_loss(
                        losses,
                        i,
                        min(low[i], cells.low[cell, i]),
                        max(high[i], cells.high[cell, i]),
                    )
            if far > best_far or (far == best_far and r < best):
                best, best_far = r, far
    return best


@njit(cache=True)
def _reach(node: int, low: Ints, high: Ints, losses: Losses, bounds: Bounds) -> int:
    """Upper bound of twice the distance to any record under the node; -1 where none remains."""
    if bounds.least[node] == NONE:
        return -1
    far = 0
    for i in range(len(low)):
        a, b = bounds.mid_min[node, i], bounds.mid_max[node, i]
        if losses.numeric[i]:
            mid = low[i] + high[i]
            far += max(abs(a - mid), abs(b - mid)) * losses.weight[i]
        else:
            far += 2 * hull_loss(losses, i, min(low[i], a), max(high[i], b))
    return far
