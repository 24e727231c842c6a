"""Exact searches over the cells that remain: the next record of a group, the next seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.box_tree import Shape, hull_loss
from srsql.udfs.candidates import NEAR, exact_order, near
from srsql.udfs.cell_tree import NONE, Bounds
from srsql.udfs.cells import Cells
from srsql.udfs.problem import Ints, Losses

STACK = 512


class Terms(NamedTuple):
    """Terms of the cases, and what the group under construction holds of them."""

    offsets: Ints
    terms: NDArray[np.int32]
    weights: Ints
    sigma: Ints
    """[V] sigma_s(g) in units of 1 / one."""
    eta: Ints
    """[V] eta_s(g + r) in the same units."""
    frequent: NDArray[np.int32]
    """Term of each mask bit."""
    bit: NDArray[np.int8]
    """[V] mask bit of each term, -1 for most."""


@njit(cache=True)
def added_loss(
    low: Ints, high: Ints, size: int, loss: int, box_low: Ints, box_high: Ints, losses: Losses
) -> int:
    """dIL of eq. (2) for a group (hull ``low``, ``high``, ``size`` records, eq. (1) sum ``loss``).

    With a node's ``low_max`` and ``high_min`` for the box it is a lower bound over the node, since
    every hull with one of its boxes contains the hull with that interval.
    """
    joint = 0
    for i in range(len(low)):
        joint += hull_loss(losses, i, min(low[i], box_low[i]), max(high[i], box_high[i]))
    return size * (joint - loss) + joint


@njit(cache=True)
def mask_risk(mask: int, terms: Terms) -> float:
    """Lower bound of PR over the cases of a cell: 1 plus the risk of its frequent terms."""
    risk = 1.0
    b = 0
    while mask:
        if mask & 1:
            s = terms.frequent[b]
            room = terms.eta[s] - terms.sigma[s]
            if room <= 0:
                return np.inf
            risk += terms.sigma[s] / room
        mask >>= 1
        b += 1
    return risk


@njit(cache=True)
def risk_fractions(r: int, terms: Terms) -> tuple[Ints, Ints]:
    """sigma and eta - sigma of the terms of case ``r`` that the group holds already."""
    most = terms.offsets[r + 1] - terms.offsets[r]
    numerators, denominators = np.empty(most, np.int64), np.empty(most, np.int64)
    count = 0
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s = terms.terms[j]
        if terms.sigma[s] > 0:
            numerators[count] = terms.sigma[s]
            denominators[count] = terms.eta[s] - terms.sigma[s]
            count += 1
    return numerators[:count], denominators[:count]


@njit(cache=True)
def _ranks_before(
    r: int, loss: int, risk: float, best: int, best_loss: int, best_risk: float, terms: Terms
) -> bool:
    """Whether case ``r`` is a better choice than ``best`` (-1: none yet), ties by case number."""
    if best < 0:
        return True
    if loss == best_loss and risk == 1.0 and best_risk == 1.0:
        return r < best
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
    shape: Shape,
    cells: Cells,
    losses: Losses,
    bounds: Bounds,
    terms: Terms,
) -> int:
    """The record of least dIL' for a group, or -1 where every dIL' is infinite (eq. (8)).

    Branch and bound with PR >= 1: a subtree is left out only where no case in it can rank before
    the best one found. ``held`` is the mask of frequent terms in the group.
    """
    best, best_loss, best_risk = -1, 0, np.inf
    if bounds.least[0] == NONE:
        return best
    node_stack = np.empty(STACK, np.int32)
    loss_stack = np.empty(STACK, np.int64)
    node_stack[0] = 0
    loss_stack[0] = added_loss(low, high, size, loss, bounds.low_max[0], bounds.high_min[0], losses)
    top = 1
    while top > 0:
        top -= 1
        node, node_loss = node_stack[top], loss_stack[top]
        if _cannot_win(node_loss, bounds.least[node], best, best_loss, best_risk):
            continue
        left = shape.left[node]
        if left >= 0:
            right = shape.right[node]
            left_loss = right_loss = NONE
            if bounds.least[left] != NONE:
                left_loss = added_loss(
                    low, high, size, loss, bounds.low_max[left], bounds.high_min[left], losses
                )
            if bounds.least[right] != NONE:
                right_loss = added_loss(
                    low, high, size, loss, bounds.low_max[right], bounds.high_min[right], losses
                )
            if right_loss < left_loss or (
                right_loss == left_loss and bounds.least[right] < bounds.least[left]
            ):
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
            r = cells.head[cell]
            if r < 0:
                continue
            cell_loss = added_loss(low, high, size, loss, cells.low[cell], cells.high[cell], losses)
            if _cannot_win(cell_loss, r, best, best_loss, best_risk):
                continue
            floor = 1.0
            shared = cells.mask[cell] & held
            if shared:
                floor = mask_risk(shared, terms)
                if floor == np.inf or cell_loss * floor > best_loss * best_risk * (1 + NEAR):
                    continue
            while r >= 0:
                risk, own = _risk(r, terms)
                if risk < np.inf and _ranks_before(
                    r, cell_loss, risk, best, best_loss, best_risk, terms
                ):
                    best, best_loss, best_risk = r, cell_loss, risk
                if own == 0:
                    break  # least PR of its cell, and least case number at that PR
                r = cells.after[r]
    return best


@njit(cache=True)
def _cannot_win(loss: int, least: int, best: int, best_loss: int, best_risk: float) -> bool:
    """Whether nothing of dIL >= ``loss`` and case number >= ``least`` ranks before the best."""
    if best < 0:
        return False
    if best_risk == 1.0:
        return loss > best_loss or (loss == best_loss and least > best)
    return loss > best_loss * best_risk * (1 + NEAR)


@njit(cache=True)
def _risk(r: int, terms: Terms) -> tuple[float, int]:
    """PR of eq. (6) and how many of its terms outside the mask are already in the group."""
    risk = 1.0
    own = 0
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s = terms.terms[j]
        sigma = terms.sigma[s]
        if sigma + terms.weights[j] > terms.eta[s]:
            return np.inf, 1
        if sigma > 0:
            risk += sigma / (terms.eta[s] - sigma)
            own += terms.bit[s] < 0
    return risk, own


@njit(cache=True)
def farthest(
    low: Ints, high: Ints, shape: Shape, cells: Cells, losses: Losses, bounds: Bounds
) -> int:
    """The record farthest from the box ``low``, ``high``, or -1 where none remains (Algorithm 1).

    Distance: |difference of midpoints| / span per numeric QID, h(LCA) / h(root) per categorical;
    at equal distance the least case number.
    """
    best, best_far = -1, -1
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
