"""Stage 2 of the grouping: every leftover case joins the group of least dIL'.

It is tested against the groups as they then are. The search runs over a tree of the regions, whose
bounds only loosen as groups grow. A bound is never broken: a case that no group can take is left
out, or with ``--leftovers merge`` groups are merged until it fits one.

Source: Lin 2016, Algorithm 2; Huang 2021, procedure 1, lines 25-30; SPEC section 7.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import (
    NEAR,
    PRIME,
    BoxTree,
    as_int64,
    build_box_tree,
    exact_order,
    hull_loss,
    near,
    row_of,
)
from srsql.udfs.grouping.cells import MASK_TERMS, NONE
from srsql.udfs.grouping.group_tree import (
    GroupBounds,
    Groups,
    join,
    least_added,
    new_group_bounds,
    refresh_group_bounds,
    region_loss,
)
from srsql.udfs.grouping.least_loss_search import added_loss
from srsql.udfs.grouping.privacy_risk import allowed_kinds, cannot_win, judge_alpha_bounding
from srsql.udfs.grouping.risk_cache import (
    RiskCache,
    eta_at,
    fractions_in,
    holder_count,
    look_up_holders,
    new_risk_cache,
    plain_at,
    risk_in,
    same_risk,
)
from srsql.udfs.grouping_problem import GroupingProblem, Losses

PATIENCE = 48
"""So many members are looked at one by one before the holders of the terms are looked up."""
HOLDERS_PER_MEMBER = 4
"""So many holders are looked up in the time in which one member is looked at."""


@njit()
def place_leftovers(problem: GroupingProblem, group: NDArray[np.int32], groups: Groups) -> None:
    """Place every case of group -1: first the carriers, which make room, then the others.

    Args:
        problem: n cases.
        group: [n] the group of each case, -1 for none; changed.
        groups: at least one; changed.
    """
    if (group >= 0).all():
        return
    count = len(groups.size)
    numbers = np.arange(count).astype(np.float64)  # equal regions are searched in their order
    tree = build_box_tree(groups.low, groups.high, numbers, problem.losses)
    sums = np.zeros((count, len(problem.terms.frequent)), np.int64)
    for r in range(len(group)):
        if group[r] >= 0:
            _count_frequent(r, as_int64(group[r]), problem, sums)
    full = np.empty(count, np.int64)
    for g in range(count):
        full[g] = _full_mask(g, groups, problem, sums)
    bounds = new_group_bounds(tree, groups, full, problem.losses)
    cache = new_risk_cache(problem, groups)
    for carrying in (True, False):
        for r in range(len(group)):
            if group[r] >= 0 or problem.carrier[r] != carrying:
                continue
            g = _best_group(r, problem, group, groups, tree, bounds, cache)
            if g < 0:
                continue
            join(r, g, problem, group, groups)
            _count_frequent(r, g, problem, sums)
            full[g] = _full_mask(g, groups, problem, sums)
            node = as_int64(tree.leaf_of[g])
            while node >= 0:
                refresh_group_bounds(node, tree, groups, full, problem.losses, bounds)
                node = as_int64(tree.parent[node])


@leaf()
def _count_frequent(r: int, g: int, problem: GroupingProblem, sums: Ints) -> None:
    """Add the frequent terms of case ``r`` to the ``sums`` [G, frequent] of its group."""
    terms = problem.terms
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        b = terms.bit[terms.terms[j]]
        if b >= 0:
            sums[g, b] += terms.weights[j]


@leaf()
def _full_mask(g: int, groups: Groups, problem: GroupingProblem, sums: Ints) -> int:
    """Frequent terms of which a group cannot even take the least weight more, and kinds."""
    mask = 0
    for b in range(len(problem.terms.frequent)):
        s = problem.terms.frequent[b]
        eta = eta_at(s, groups.carriers[g] + 1, problem)
        if sums[g, b] >= eta and not problem.terms.unbounded[s]:
            mask |= 1 << b
    refused = (
        ~allowed_kinds(row_of(groups.state, g), True, problem.alpha_num, problem.alpha_den)
        & 0b11110
    )
    return mask | refused << MASK_TERMS


@leaf()
def _best_group(
    r: int, problem: GroupingProblem, group: NDArray[np.int32], groups: Groups, tree: BoxTree,
    bounds: GroupBounds, cache: RiskCache,
) -> int:  # fmt: skip
    """The group of least dIL' for case ``r``, or -1 where every dIL' is infinite (Lin, eq. (8))."""
    terms, low, high = problem.terms, row_of(problem.low, r), row_of(problem.high, r)
    case_mask = 1 << (MASK_TERMS + int(problem.kind[r]))
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        b = terms.bit[terms.terms[j]]
        if b >= 0:
            case_mask |= 1 << int(b)
    best, best_loss = as_int64(-1), as_int64(0)
    best_risk, best_plain = np.inf, best >= 0
    node_stack, loss_stack = bounds.waiting.node, bounds.waiting.bound
    node_stack[0], loss_stack[0] = 0, 0
    top = 1
    members_seen, listed, joins = 0, False, int(problem.carrier[r])
    patience = max(PATIENCE, holder_count(r, problem, cache) // HOLDERS_PER_MEMBER)
    base_risk = terms.base_risk[r] if terms.after_join else 1.0
    while top > 0:
        top -= 1
        node, bound = node_stack[top], loss_stack[top]
        if bounds.full[node] & case_mask or cannot_win(
            bound,
            plain_at(r, bounds.carriers_max[node] + problem.carrier[r], problem, cache),
            bounds.least[node], best, best_loss, best_risk, best_plain,
        ):  # fmt: skip
            continue
        left = tree.left[node]
        if left >= 0:
            right = tree.right[node]
            left_loss = least_added(left, low, high, problem.losses, bounds.ends)
            right_loss = least_added(right, low, high, problem.losses, bounds.ends)
            if right_loss < left_loss:
                left, right = right, left
                left_loss, right_loss = right_loss, left_loss
            node_stack[top], loss_stack[top] = right, right_loss
            node_stack[top + 1], loss_stack[top + 1] = left, left_loss
            top += 2
            continue
        for j in range(tree.begin[node], tree.end[node]):
            g = tree.order[j]
            members_seen += groups.size[g]
            if listed or members_seen > patience:
                look_up_holders(r, problem, group, groups, cache)
                listed = True
                if best >= 0 and bound >= best_loss:
                    # decided without a call: dIL is no less than the best one's
                    risk = cache.risk[g]
                    if cache.risk_of[g] != r:
                        carriers = groups.carriers[g] + joins
                        risk = base_risk
                        if carriers > problem.k:
                            risk = plain_at(r, carriers, problem, cache)
                    if risk > best_risk * (1 + NEAR) or (
                        g > best
                        and cache.risk_of[g] == r
                        and cache.risk_of[best] == r
                        and near(risk, best_risk)
                        and (cache.residue[g] - cache.residue[best]) % PRIME == 0
                    ):
                        continue
            best, best_loss, best_risk, best_plain = _better_group(
                r, as_int64(g), best, best_loss, best_risk, best_plain,
                problem, groups, cache,
            )  # fmt: skip
    return best


@leaf()
def _better_group(
    r: int, g: int, best: int, best_loss: int, best_risk: float, best_plain: bool,
    problem: GroupingProblem, groups: Groups, cache: RiskCache,
) -> tuple[int, int, float, bool]:  # fmt: skip
    """The better of the best group so far (or -1) and group ``g``, with its dIL and PR."""
    loss = added_loss(
        row_of(groups.low, g), row_of(groups.high, g), groups.size[g], groups.loss[g],
        row_of(problem.low, r), row_of(problem.high, r), problem.losses,
    )  # fmt: skip
    floor = plain_at(r, groups.carriers[g] + problem.carrier[r], problem, cache)
    if cannot_win(loss, floor, g, best, best_loss, best_risk, best_plain):
        return best, best_loss, best_risk, best_plain
    if not judge_alpha_bounding(
        row_of(groups.state, g), problem.kind[r], True, problem.alpha_num, problem.alpha_den
    ):
        return best, best_loss, best_risk, best_plain
    risk, plain = risk_in(r, g, problem, groups, cache)
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
    elif loss == best_loss and same_risk(r, g, best, problem, groups, cache):
        better = g < best
    else:
        order = _exact_order(r, g, loss, best, best_loss, problem, groups, cache)
        better = order < 0 or (order == 0 and g < best)
    if better:
        return g, loss, risk, plain
    return best, best_loss, best_risk, best_plain


@njit()
def _exact_order(
    r: int, g: int, loss: int, best: int, best_loss: int,
    problem: GroupingProblem, groups: Groups, cache: RiskCache,
) -> int:  # fmt: skip
    """``exact_order`` of two groups that case ``r`` could join."""
    numerators, denominators = fractions_in(r, g, problem, groups, cache)
    best_nums, best_dens = fractions_in(r, best, problem, groups, cache)
    return int(exact_order(loss, numerators, denominators, best_loss, best_nums, best_dens))


@njit()
def merge_leftovers(problem: GroupingProblem, group: NDArray[np.int32], groups: Groups) -> None:
    """Merge groups until each case of group -1 fits one (``--leftovers merge``).

    As long as no group can take the case, the group of least dIL for it absorbs the group whose
    union with it loses least; with one group left a case that does not fit stays out. Costs
    O(groups) per case and merge. A union keeps the bounds its parts keep: eta of the sum is at
    least the sum of the etas, and so it is with MSAVR and N.

    Args:
        problem: n cases.
        group: [n] the group of each case, -1 for none; changed.
        groups: at least one; changed. A group of size 0 is left where two were merged.

    Source: SPEC section 7.
    """
    cache = new_risk_cache(problem, groups)
    for carrying in (True, False):
        for r in range(len(group)):
            if group[r] < 0 and problem.carrier[r] == carrying:
                _merge_until_placed(r, problem, group, groups, cache)


@njit()
def _merge_until_placed(
    r: int, problem: GroupingProblem, group: NDArray[np.int32], groups: Groups, cache: RiskCache
) -> None:
    """Let a case join the best group, merging groups until there is one or they are one."""
    while True:
        cache.looked_up[0] = -1  # PR in the cache is that in the groups as they were
        cache.risk_of[:] = -1
        best, best_loss = as_int64(-1), as_int64(0)
        best_risk, best_plain = np.inf, best >= 0
        for g in range(len(groups.size)):
            if groups.size[g] > 0:
                best, best_loss, best_risk, best_plain = _better_group(
                    r, g, best, best_loss, best_risk, best_plain, problem, groups, cache
                )
        if best >= 0:
            join(r, best, problem, group, groups)
            return
        g = _least_loss_group(r, problem, groups)
        partner = _cheapest_union(g, problem.losses, groups)
        if partner < 0:
            return
        _absorb(min(g, partner), max(g, partner), problem.losses, group, groups)


@leaf()
def _least_loss_group(r: int, problem: GroupingProblem, groups: Groups) -> int:
    """The group of least dIL for case ``r``, whatever its PR."""
    best, best_loss = -1, NONE
    for g in range(len(groups.size)):
        if groups.size[g] == 0:
            continue
        loss = added_loss(
            row_of(groups.low, g), row_of(groups.high, g), groups.size[g], groups.loss[g],
            row_of(problem.low, r), row_of(problem.high, r), problem.losses,
        )  # fmt: skip
        if loss < best_loss:
            best, best_loss = g, loss
    return best


@leaf()
def _cheapest_union(g: int, losses: Losses, groups: Groups) -> int:
    """The group whose union with group ``g`` adds least loss, or -1 where there is no other."""
    best, best_loss = -1, NONE
    for h in range(len(groups.size)):
        if h == g or groups.size[h] == 0:
            continue
        joint = 0
        for i in range(groups.low.shape[1]):
            low = min(groups.low[g, i], groups.low[h, i])
            joint += hull_loss(losses, i, low, max(groups.high[g, i], groups.high[h, i]))
        loss = groups.size[g] * (joint - groups.loss[g]) + groups.size[h] * (joint - groups.loss[h])
        if loss < best_loss:
            best, best_loss = h, loss
    return best


@njit()
def _absorb(g: int, h: int, losses: Losses, group: NDArray[np.int32], groups: Groups) -> None:
    """Move the members of group ``h`` into group ``g``."""
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
    groups.loss[g] = region_loss(groups.low[g], groups.high[g], losses)
