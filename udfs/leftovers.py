"""Stage 2 of the grouping (Lin 2016, Algorithm 2): every leftover joins its best group.

The search runs over a tree of the groups' regions, whose bounds only loosen as groups grow. A
bound is never broken: a case that no group can take is left out, or groups are merged until one
can take it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.box_tree import Shape, build_shape, hull_loss
from srsql.udfs.candidates import NEAR, exact_order, near
from srsql.udfs.problem import Ints, Losses
from srsql.udfs.search import NONE, STACK, Terms, added_loss


class Groups(NamedTuple):
    """G groups with their regions and members; size 0 marks a group merged into another."""

    low: Ints
    high: Ints
    size: Ints
    loss: Ints
    """[G] sum of the QIDs' losses, in loss units (IL is size x loss)."""
    head: NDArray[np.int32]
    """[G] first member."""
    following: NDArray[np.int32]
    """[n] next member of the same group, or -1."""


class Reach(NamedTuple):
    """What each node of the tree knows of the groups under it."""

    low_min: Ints
    low_max: Ints
    high_min: Ints
    high_max: Ints
    """[nodes, d] extremes of the regions' ends."""
    loss_max: Ints
    """[nodes, d] largest loss of each QID."""
    size_min: Ints
    loss_min: Ints
    """[nodes] least size and least total loss."""
    least: Ints
    """[nodes] least group number."""
    full: Ints
    """[nodes] frequent terms of which no group under the node can take another case."""


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
    reach = _new_reach(shape, groups, full, losses)
    slot = np.full(len(theta_num), -1, np.int32)
    for at in range(len(leftovers)):
        r = int(leftovers[at])
        g = _best_group(
            r, low, high, losses, terms, theta_num, theta_den, k, one, groups, shape, reach, slot
        )
        if g < 0:
            continue
        _join(r, g, low, high, losses, group, groups)
        full[g] = _full_mask(g, groups, terms, theta_num, theta_den, k, one)
        node = shape.leaf_of[g]
        while node >= 0:
            _refresh(node, shape, groups, full, losses, reach)
            node = shape.up[node]


@njit(cache=True)
def _join(
    r: int,
    g: int,
    low: Ints,
    high: Ints,
    losses: Losses,
    group: NDArray[np.int32],
    groups: Groups,
) -> None:
    group[r] = g
    groups.following[r] = groups.head[g]
    groups.head[g] = r
    groups.size[g] += 1
    groups.loss[g] = 0
    for i in range(low.shape[1]):
        groups.low[g, i] = min(groups.low[g, i], low[r, i])
        groups.high[g, i] = max(groups.high[g, i], high[r, i])
        groups.loss[g] += hull_loss(losses, i, groups.low[g, i], groups.high[g, i])


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
def _new_reach(shape: Shape, groups: Groups, full: Ints, losses: Losses) -> Reach:
    nodes, d = len(shape.left), groups.low.shape[1]
    reach = Reach(
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
    )
    for node in range(nodes - 1, -1, -1):
        _refresh(node, shape, groups, full, losses, reach)
    return reach


@njit(cache=True)
def _refresh(
    node: int, shape: Shape, groups: Groups, full: Ints, losses: Losses, reach: Reach
) -> None:
    """Recompute one node from its children or groups."""
    d = groups.low.shape[1]
    reach.low_min[node], reach.low_max[node] = NONE, -NONE
    reach.high_min[node], reach.high_max[node] = NONE, -NONE
    reach.loss_max[node] = 0
    reach.size_min[node] = reach.loss_min[node] = reach.least[node] = NONE
    reach.full[node] = -1
    if shape.left[node] < 0:
        for j in range(shape.begin[node], shape.end[node]):
            g = shape.order[j]
            reach.size_min[node] = min(reach.size_min[node], groups.size[g])
            reach.loss_min[node] = min(reach.loss_min[node], groups.loss[g])
            reach.least[node] = min(reach.least[node], g)
            reach.full[node] &= full[g]
            for i in range(d):
                a, b = groups.low[g, i], groups.high[g, i]
                loss = hull_loss(losses, i, a, b)
                reach.low_min[node, i] = min(reach.low_min[node, i], a)
                reach.low_max[node, i] = max(reach.low_max[node, i], a)
                reach.high_min[node, i] = min(reach.high_min[node, i], b)
                reach.high_max[node, i] = max(reach.high_max[node, i], b)
                reach.loss_max[node, i] = max(reach.loss_max[node, i], loss)
        return
    for child in (shape.left[node], shape.right[node]):
        reach.size_min[node] = min(reach.size_min[node], reach.size_min[child])
        reach.loss_min[node] = min(reach.loss_min[node], reach.loss_min[child])
        reach.least[node] = min(reach.least[node], reach.least[child])
        reach.full[node] &= reach.full[child]
        for i in range(d):
            reach.low_min[node, i] = min(reach.low_min[node, i], reach.low_min[child, i])
            reach.low_max[node, i] = max(reach.low_max[node, i], reach.low_max[child, i])
            reach.high_min[node, i] = min(reach.high_min[node, i], reach.high_min[child, i])
            reach.high_max[node, i] = max(reach.high_max[node, i], reach.high_max[child, i])
            reach.loss_max[node, i] = max(reach.loss_max[node, i], reach.loss_max[child, i])


@njit(cache=True)
def _least_added(node: int, low: Ints, high: Ints, losses: Losses, reach: Reach) -> int:
    """Lower bound of dIL over the groups under the node, for the box ``low``, ``high``."""
    joint = growth = 0
    for i in range(len(low)):
        widest = hull_loss(
            losses, i, min(low[i], reach.low_max[node, i]), max(high[i], reach.high_min[node, i])
        )
        joint += widest
        if losses.numeric[i]:
            apart = max(0, reach.low_min[node, i] - low[i]) + max(
                0, high[i] - reach.high_max[node, i]
            )
            growth += apart * losses.weight[i]
        else:
            growth += max(0, widest - reach.loss_max[node, i])
    joint = max(joint, reach.loss_min[node] + growth)
    return int(reach.size_min[node] * growth + joint)


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
            left_loss = _least_added(left, low[r], high[r], losses, reach)
            right_loss = _least_added(right, low[r], high[r], losses, reach)
            if right_loss < left_loss:
                left, right = right, left
                left_loss, right_loss = right_loss, left_loss
            node_stack[top], loss_stack[top] = right, right_loss
            node_stack[top + 1], loss_stack[top + 1] = left, left_loss
            top += 2
            continue
        for j in range(shape.begin[node], shape.end[node]):
            best, best_loss, best_risk = _better_of(
                r, shape.order[j], best, best_loss, best_risk,
                low, high, losses, terms, theta_num, theta_den, k, one, groups, slot,
            )  # fmt: skip
    return best


@njit(cache=True)
def _better_of(
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


@njit(cache=True)
def merge_leftovers(
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
    """Merge groups until each case of group -1 fits one (``--leftovers merge``).

    As long as no group can take the case, the group of least dIL for it absorbs the group whose
    union with it loses least; with one group left a case that does not fit stays out. Costs
    O(groups) per case and merge.
    """
    slot = np.full(len(theta_num), -1, np.int32)
    leftovers = np.flatnonzero(group < 0)
    for at in range(len(leftovers)):
        r = int(leftovers[at])
        while True:
            best, best_loss, best_risk = -1, 0, np.inf
            for g in range(len(groups.size)):
                if groups.size[g] > 0:
                    best, best_loss, best_risk = _better_of(
                        r, g, best, best_loss, best_risk,
                        low, high, losses, terms, theta_num, theta_den, k, one, groups, slot,
                    )  # fmt: skip
            if best >= 0:
                _join(r, best, low, high, losses, group, groups)
                break
            g = _least_loss_group(r, low, high, losses, groups)
            partner = _cheapest_union(g, losses, groups)
            if partner < 0:
                break
            _absorb(min(g, partner), max(g, partner), losses, group, groups)


@njit(cache=True)
def _least_loss_group(r: int, low: Ints, high: Ints, losses: Losses, groups: Groups) -> int:
    best, best_loss = -1, NONE
    for g in range(len(groups.size)):
        if groups.size[g] == 0:
            continue
        loss = added_loss(
            groups.low[g], groups.high[g], groups.size[g], groups.loss[g], low[r], high[r], losses
        )
        if loss < best_loss:
            best, best_loss = g, loss
    return best


@njit(cache=True)
def _cheapest_union(g: int, losses: Losses, groups: Groups) -> int:
    best, best_loss = -1, NONE
    for h in range(len(groups.size)):
        if h == g or groups.size[h] == 0:
            continue
        joint = 0
        for i in range(groups.low.shape[1]):
            joint += hull_loss(
                losses,
                i,
                min(groups.low[g, i], groups.low[h, i]),
                max(groups.high[g, i], groups.high[h, i]),
            )
        loss = groups.size[g] * (joint - groups.loss[g]) + groups.size[h] * (joint - groups.loss[h])
        if loss < best_loss:
            best, best_loss = h, loss
    return best


@njit(cache=True)
def _absorb(g: int, h: int, losses: Losses, group: NDArray[np.int32], groups: Groups) -> None:
    member = groups.head[h]
    while member >= 0:
        following = groups.following[member]
        group[member] = g
        groups.following[member] = groups.head[g]
        groups.head[g] = member
        member = following
    groups.size[g] += groups.size[h]
    groups.size[h] = 0
    groups.head[h] = -1
    groups.loss[g] = 0
    for i in range(groups.low.shape[1]):
        groups.low[g, i] = min(groups.low[g, i], groups.low[h, i])
        groups.high[g, i] = max(groups.high[g, i], groups.high[h, i])
        groups.loss[g] += hull_loss(losses, i, groups.low[g, i], groups.high[g, i])
