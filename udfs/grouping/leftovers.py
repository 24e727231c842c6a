"""Stage 2 of the grouping (Lin 2016, Algorithm 2; Huang 2021, procedure 1, lines 25-30).

Every case that is left joins the group of least dIL', tested against the group as it then is. The
search runs over a tree of the groups' regions, whose bounds only loosen as groups grow. A bound is
never broken: a case that no group can take is left out, or with ``--leftovers merge`` groups are
merged until it fits one.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.exact_search import (
    NEAR,
    PRIME,
    Shape,
    build_shape,
    exact_order,
    hull_loss,
    near,
    whole,
)
from srsql.udfs.grouping.cells import MASK_TERMS, NONE
from srsql.udfs.grouping.group_tree import (
    Groups,
    Reach,
    join,
    least_added,
    new_reach,
    refresh_reach,
    region_loss,
)
from srsql.udfs.grouping.grouping_problem import Losses, Task
from srsql.udfs.grouping.privacy_risk import allowed_kinds, cannot_win, judge
from srsql.udfs.grouping.risk_cache import (
    Desk,
    eta_at,
    fractions_in,
    look_up,
    new_desk,
    plain_at,
    risk_in,
    same_risk,
)
from srsql.udfs.grouping.search import STACK, added_loss

PATIENCE = 48
"""Members looked at one by one before the holders of the case's terms are looked up at once."""


@njit(cache=True)
def place_leftovers(task: Task, group: NDArray[np.int32], groups: Groups) -> None:
    """Place every case of group -1: first the carriers, which make room, then the others."""
    if (group >= 0).all():
        return
    count = len(groups.size)
    numbers = np.arange(count).astype(np.float64)  # equal regions are searched in their order
    shape = build_shape(groups.low, groups.high, numbers, task.losses)
    sums = np.zeros((count, len(task.terms.frequent)), np.int64)
    for r in range(len(group)):
        if group[r] >= 0:
            _count_frequent(r, whole(group[r]), task, sums)
    full = np.empty(count, np.int64)
    for g in range(count):
        full[g] = _full_mask(g, groups, task, sums)
    reach = new_reach(shape, groups, full, task.losses)
    desk = new_desk(task, groups)
    for carrying in (True, False):
        for r in range(len(group)):
            if group[r] >= 0 or task.carrier[r] != carrying:
                continue
            g = _best_group(r, task, group, groups, shape, reach, desk)
            if g < 0:
                continue
            join(r, g, task, group, groups)
            _count_frequent(r, g, task, sums)
            full[g] = _full_mask(g, groups, task, sums)
            node = whole(shape.leaf_of[g])
            while node >= 0:
                refresh_reach(node, shape, groups, full, task.losses, reach)
                node = whole(shape.up[node])


@njit(cache=True)
def _count_frequent(r: int, g: int, task: Task, sums: Ints) -> None:
    """Add the frequent terms of case ``r`` to the ``sums`` [G, frequent] of its group."""
    terms = task.terms
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        b = terms.bit[terms.terms[j]]
        if b >= 0:
            sums[g, b] += terms.weights[j]


@njit(cache=True)
def _full_mask(g: int, groups: Groups, task: Task, sums: Ints) -> int:
    """Frequent terms of which the group could not even take the least weight more, and kinds."""
    mask = 0
    for b in range(len(task.terms.frequent)):
        s = task.terms.frequent[b]
        if sums[g, b] >= eta_at(s, groups.carriers[g] + 1, task) and not task.terms.free[s]:
            mask |= 1 << b
    refused = ~allowed_kinds(groups.state[g], True, task.alpha_num, task.alpha_den) & 0b11110
    return mask | refused << MASK_TERMS


@njit(cache=True)
def _best_group(
    r: int,
    task: Task,
    group: NDArray[np.int32],
    groups: Groups,
    shape: Shape,
    reach: Reach,
    desk: Desk,
) -> int:
    """The group of least dIL' for case ``r``, or -1 where every dIL' is infinite."""
    terms, low, high = task.terms, task.low[r], task.high[r]
    held = 1 << (MASK_TERMS + task.kind[r])
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        b = terms.bit[terms.terms[j]]
        if b >= 0:
            held |= 1 << b
    best, best_loss = whole(-1), whole(0)
    best_risk, best_plain = np.inf, best >= 0
    node_stack = np.empty(STACK, np.int32)
    loss_stack = np.empty(STACK, np.int64)
    node_stack[0], loss_stack[0] = 0, 0
    top = 1
    seen, listed, joins = 0, False, int(task.carrier[r])
    base = terms.base[r] if terms.after_join else 1.0
    while top > 0:
        top -= 1
        node, bound = node_stack[top], loss_stack[top]
        if reach.full[node] & held or cannot_win(
            bound,
            plain_at(r, reach.carriers_max[node] + task.carrier[r], task, desk),
            reach.least[node], best, best_loss, best_risk, best_plain,
        ):  # fmt: skip
            continue
        left = shape.left[node]
        if left >= 0:
            right = shape.right[node]
            left_loss = least_added(left, low, high, task.losses, reach)
            right_loss = least_added(right, low, high, task.losses, reach)
            if right_loss < left_loss:
                left, right = right, left
                left_loss, right_loss = right_loss, left_loss
            node_stack[top], loss_stack[top] = right, right_loss
            node_stack[top + 1], loss_stack[top + 1] = left, left_loss
            top += 2
            continue
        for j in range(shape.begin[node], shape.end[node]):
            g = shape.order[j]
            seen += groups.size[g]
            if listed or seen > PATIENCE:
                look_up(r, task, group, groups, desk)
                listed = True
                if best >= 0 and bound >= best_loss:
                    # decided without a call: dIL is no less than the best one's
                    risk = desk.risk[g]
                    if desk.risk_of[g] != r:
                        carriers = groups.carriers[g] + joins
                        risk = base if carriers <= task.k else plain_at(r, carriers, task, desk)
                    if risk > best_risk * (1 + NEAR) or (
                        g > best
                        and desk.risk_of[g] == r
                        and desk.risk_of[best] == r
                        and near(risk, best_risk)
                        and (desk.residue[g] - desk.residue[best]) % PRIME == 0
                    ):
                        continue
            best, best_loss, best_risk, best_plain = better_of(
                r, whole(g), best, best_loss, best_risk, best_plain,
                task, group, groups, desk,
            )  # fmt: skip
    return best


@njit(cache=True)
def better_of(
    r: int,
    g: int,
    best: int,
    best_loss: int,
    best_risk: float,
    best_plain: bool,
    task: Task,
    group: NDArray[np.int32],
    groups: Groups,
    desk: Desk,
) -> tuple[int, int, float, bool]:
    """The better of the best group so far (or -1) and group ``g``, with its dIL and PR."""
    loss = added_loss(
        groups.low[g],
        groups.high[g],
        groups.size[g],
        groups.loss[g],
        task.low[r],
        task.high[r],
        task.losses,
    )
    floor = plain_at(r, groups.carriers[g] + task.carrier[r], task, desk)
    if cannot_win(loss, floor, g, best, best_loss, best_risk, best_plain) or not judge(
        groups.state[g], task.kind[r], True, task.alpha_num, task.alpha_den
    ):
        return best, best_loss, best_risk, best_plain
    risk, plain = risk_in(r, g, task, groups, desk)
    if risk == np.inf:
        return best, best_loss, best_risk, best_plain
    if best < 0:
        better = True
    elif loss == best_loss and plain and best_plain:
        better = risk < best_risk or (risk == best_risk and g < best)
    elif loss == best_loss and not near(risk, best_risk):
        better = risk < best_risk
    elif loss != best_loss and not near(loss * risk, best_loss * best_risk):
        better = loss * risk < best_loss * best_risk
    elif loss == best_loss and same_risk(r, g, best, task, group, groups, desk):
        better = g < best
    else:
        held, room = fractions_in(r, g, task, groups, desk)
        best_held, best_room = fractions_in(r, best, task, groups, desk)
        order = exact_order(loss, held, room, best_loss, best_held, best_room)
        better = order < 0 or (order == 0 and g < best)
    if better:
        return g, loss, risk, plain
    return best, best_loss, best_risk, best_plain


@njit(cache=True)
def merge_leftovers(task: Task, group: NDArray[np.int32], groups: Groups) -> None:
    """Merge groups until each case of group -1 fits one (``--leftovers merge``).

    As long as no group can take the case, the group of least dIL for it absorbs the group whose
    union with it loses least; with one group left a case that does not fit stays out. Costs
    O(groups) per case and merge. A union keeps the bounds its parts keep: eta of the sum is at
    least the sum of the etas, and so it is with MSAVR and N.
    """
    desk = new_desk(task, groups)
    for carrying in (True, False):
        for r in range(len(group)):
            if group[r] < 0 and task.carrier[r] == carrying:
                _place(r, task, group, groups, desk)


@njit(cache=True)
def _place(r: int, task: Task, group: NDArray[np.int32], groups: Groups, desk: Desk) -> None:
    while True:
        desk.listed[0] = -1  # what was looked up is of the groups as they were
        desk.risk_of[:] = -1
        best, best_loss = whole(-1), whole(0)
        best_risk, best_plain = np.inf, best >= 0
        for g in range(len(groups.size)):
            if groups.size[g] > 0:
                best, best_loss, best_risk, best_plain = better_of(
                    r, g, best, best_loss, best_risk, best_plain, task, group, groups, desk
                )
        if best >= 0:
            join(r, best, task, group, groups)
            return
        g = _least_loss_group(r, task, groups)
        partner = _cheapest_union(g, task.losses, groups)
        if partner < 0:
            return
        _absorb(min(g, partner), max(g, partner), task.losses, group, groups)


@njit(cache=True)
def _least_loss_group(r: int, task: Task, groups: Groups) -> int:
    best, best_loss = -1, NONE
    for g in range(len(groups.size)):
        if groups.size[g] == 0:
            continue
        loss = added_loss(
            groups.low[g],
            groups.high[g],
            groups.size[g],
            groups.loss[g],
            task.low[r],
            task.high[r],
            task.losses,
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
    groups.carriers[g] += groups.carriers[h]
    groups.state[g] += groups.state[h]
    groups.size[h] = groups.carriers[h] = 0
    groups.head[h] = -1
    for i in range(groups.low.shape[1]):
        groups.low[g, i] = min(groups.low[g, i], groups.low[h, i])
        groups.high[g, i] = max(groups.high[g, i], groups.high[h, i])
    groups.loss[g] = region_loss(g, groups, losses)
