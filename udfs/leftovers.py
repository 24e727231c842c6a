"""Stage 2 of the grouping (Lin 2016, Algorithm 2): every leftover joins its best group.

The search runs over a tree of the groups' regions, whose bounds only loosen as groups grow. A
bound is never broken: a case that no group can take is left out (see ``merging`` for the other
choice).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.box_tree import Shape, build_shape
from srsql.udfs.candidates import NEAR, exact_order, near
from srsql.udfs.group_tree import Groups, Reach, join, least_added, new_reach, refresh_reach
from srsql.udfs.problem import Ints, Losses
from srsql.udfs.search import STACK, Terms, added_loss


@njit(cache=True)
def place_leftovers(
    low: Ints,
    high: Ints,
    losses: Losses,
    terms: Terms,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    one: int,
    group: NDArray[np.int32],
    groups: Groups,
) -> None:
    """Place every case of group -1, in case order, against the groups as they then are."""
    leftovers = np.flatnonzero(group < 0)
    if len(leftovers) == 0:
        return
    shape = build_shape(groups.low, groups.high, losses)
    full = np.empty(len(groups.size), np.int64)
    for g in range(len(full)):
        full[g] = _full_mask(g, groups, terms, theta_num, theta_den, k, one)
    reach = new_reach(shape, groups, full, losses)
    slot = np.full(len(theta_num), -1, np.int32)
    for at in range(len(leftovers)):
        r = int(leftovers[at])
        g = _best_group(
            r, low, high, losses, terms, theta_num, theta_den, k, one, groups, shape, reach, slot
        )
        if g < 0:
            continue
        join(r, g, low, high, losses, group, groups)
        full[g] = _full_mask(g, groups, terms, theta_num, theta_den, k, one)
        node = shape.leaf_of[g]
        while node >= 0:
            refresh_reach(node, shape, groups, full, losses, reach)
            node = shape.up[node]


@njit(cache=True)
def _full_mask(
    g: int, groups: Groups, terms: Terms, theta_num: Ints, theta_den: Ints, k: int, one: int
) -> int:
    """Frequent terms of which the group could not even take the least weight more."""
    sigma = np.zeros(len(terms.frequent), np.int64)
    r = groups.head[g]
    while r >= 0:
        for j in range(terms.offsets[r], terms.offsets[r + 1]):
            b = terms.bit[terms.terms[j]]
            if b >= 0:
                sigma[b] += terms.weights[j]
        r = groups.following[r]
    mask = 0
    for b in range(len(sigma)):
        s = terms.frequent[b]
        if sigma[b] >= max(k, groups.size[g] + 1) * theta_num[s] // theta_den[s] * one:
            mask |= 1 << b
    return mask


@njit(cache=True)
def _group_risk(
    r: int,
    g: int,
    terms: Terms,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    one: int,
    groups: Groups,
    slot: NDArray[np.int32],
) -> tuple[float, Ints, Ints]:
    """PR of eq. (6) for case ``r`` joining group ``g``, with sigma and eta - sigma of its terms."""
    begin, end = terms.offsets[r], terms.offsets[r + 1]
    sigma = np.zeros(end - begin, np.int64)
    for j in range(begin, end):
        slot[terms.terms[j]] = j - begin
    member = groups.head[g]
    while member >= 0:
        for j in range(terms.offsets[member], terms.offsets[member + 1]):
            at = slot[terms.terms[j]]
            if at >= 0:
                sigma[at] += terms.weights[j]
        member = groups.following[member]
    risk = 1.0
    room = np.empty(end - begin, np.int64)
    count = 0
    for j in range(begin, end):
        s = terms.terms[j]
        slot[s] = -1
        eta = max(k, groups.size[g] + 1) * theta_num[s] // theta_den[s] * one
        held = sigma[j - begin]
        if held + terms.weights[j] > eta:
            risk = np.inf
        elif held > 0:
            risk += held / (eta - held)
            sigma[count], room[count] = held, eta - held
            count += 1
    return risk, sigma[:count], room[:count]


@njit(cache=True)
def _best_group(
    r: int,
    low: Ints,
    high: Ints,
    losses: Losses,
    terms: Terms,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    one: int,
    groups: Groups,
    shape: Shape,
    reach: Reach,
    slot: NDArray[np.int32],
) -> int:
    """The group of least dIL' for case ``r``, or -1 where every dIL' is infinite."""
    held = 0
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        b = terms.bit[terms.terms[j]]
        if b >= 0:
            held |= 1 << b
    best, best_loss, best_risk = -1, 0, np.inf
    node_stack = np.empty(STACK, np.int32)
    loss_stack = np.empty(STACK, np.int64)
    node_stack[0], loss_stack[0] = 0, 0
    top = 1
    while top > 0:
        top -= 1
        node, bound = node_stack[top], loss_stack[top]
        if reach.full[node] & held or _outranked(
            bound, reach.least[node], best, best_loss, best_risk
        ):
            continue
        left = shape.left[node]
        if left >= 0:
            right = shape.right[node]
            left_loss = least_added(left, low[r], high[r], losses, reach)
            right_loss = least_added(right, low[r], high[r], losses, reach)
            if right_loss < left_loss:
                left, right = right, left
                left_loss, right_loss = right_loss, left_loss
            node_stack[top], loss_stack[top] = right, right_loss
            node_stack[top + 1], loss_stack[top + 1] = left, left_loss
            top += 2
            continue
        for j in range(shape.begin[node], shape.end[node]):
            best, best_loss, best_risk = better_of(
                r, shape.order[j], best, best_loss, best_risk,
                low, high, losses, terms, theta_num, theta_den, k, one, groups, slot,
            )  # fmt: skip
    return best


@njit(cache=True)
def better_of(
    r: int,
    g: int,
    best: int,
    best_loss: int,
    best_risk: float,
    low: Ints,
    high: Ints,
    losses: Losses,
    terms: Terms,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    one: int,
    groups: Groups,
    slot: NDArray[np.int32],
) -> tuple[int, int, float]:
    """The better of the best group so far (or -1) and group ``g``, with its dIL and PR."""
    loss = added_loss(
        groups.low[g], groups.high[g], groups.size[g], groups.loss[g], low[r], high[r], losses
    )
    if _outranked(loss, g, best, best_loss, best_risk):
        return best, best_loss, best_risk
    risk, held, room = _group_risk(r, g, terms, theta_num, theta_den, k, one, groups, slot)
    if risk == np.inf:
        return best, best_loss, best_risk
    better = best < 0
    if not better:
        better = loss * risk < best_loss * best_risk
        if near(loss * risk, best_loss * best_risk):
            _, best_held, best_room = _group_risk(
                r, best, terms, theta_num, theta_den, k, one, groups, slot
            )
            order = exact_order(loss, held, room, best_loss, best_held, best_room)
            better = order < 0 or (order == 0 and g < best)
    if better:
        return g, loss, risk
    return best, best_loss, best_risk


@njit(cache=True)
def _outranked(loss: int, least: int, best: int, best_loss: int, best_risk: float) -> bool:
    """Whether no group of dIL >= ``loss`` and number >= ``least`` ranks before the best."""
    if best < 0:
        return False
    if best_risk == 1.0:
        return loss > best_loss or (loss == best_loss and least > best)
    return loss > best_loss * best_risk * (1 + NEAR)
