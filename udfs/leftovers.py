"""Stage 2 of the grouping (Lin 2016, Algorithm 2; Huang 2021, procedure 1, lines 25-30).

Every case that is left joins the group of least dIL', tested against the group as it then is. The
search runs over a tree of the groups' regions, whose bounds only loosen as groups grow. A bound is
never broken: a case that no group can take is left out (see ``merging`` for the other choice).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.alpha import allowed_kinds, judge
from srsql.udfs.box_tree import Shape, build_shape
from srsql.udfs.candidates import NEAR, PRIME, exact_order, near, quotient
from srsql.udfs.cells import MASK_TERMS
from srsql.udfs.group_tree import Groups, Reach, join, least_added, new_reach, refresh_reach
from srsql.udfs.problem import Ints
from srsql.udfs.risk import cannot_win, fraction, plain_risk
from srsql.udfs.search import STACK, added_loss
from srsql.udfs.task import Task

PATIENCE = 48
"""Members looked at one by one before the holders of the case's terms are looked up at once."""
USUAL = 8
"""Values of sigma whose part of PR is worked out once per term."""


class Desk(NamedTuple):
    """What is worked out for the case that is being placed, and who holds each term."""

    start: Ints
    """[V + 1] the holders of term s are ``holder[start[s]:start[s + 1]]``."""
    holder: NDArray[np.int32]
    holder_weight: Ints
    slot: NDArray[np.int32]
    """[V] position of a term among those of the case, -1 for others."""
    eta: Ints
    """[V] scratch."""
    plain: NDArray[np.float64]
    """[carriers] PR where a group of so many carriers (after the join) holds no term of it."""
    plain_of: Ints
    """[carriers] the case for which ``plain`` is right."""
    sigma: Ints
    """[G] sigma of one term, 0 between uses."""
    touched: Ints
    risk: NDArray[np.float64]
    """[G] PR of the groups that hold some term of the case."""
    risk_of: Ints
    """[G] the case for which ``risk`` and ``residue`` are right."""
    residue: Ints
    """[G] the same PR modulo a prime, by which equal ones are told (see ``candidates``)."""
    plain_residue: Ints
    """[carriers] that of ``plain``."""
    listed: Ints
    """[1] the case whose terms' holders have been looked up."""


@njit(cache=True)
def new_desk(task: Task, groups: Groups) -> Desk:
    """An empty desk, and the index of the terms' holders."""
    vocabulary, n, count = len(task.theta_num), len(task.low), len(groups.size)
    terms = task.terms
    start = np.zeros(vocabulary + 1, np.int64)
    for s in terms.terms:
        start[s + 1] += 1
    for s in range(vocabulary):
        start[s + 1] += start[s]
    fill = start[:-1].copy()
    holder = np.empty(len(terms.terms), np.int32)
    weight = np.empty(len(terms.terms), np.int64)
    for r in range(n):
        for j in range(terms.offsets[r], terms.offsets[r + 1]):
            s = terms.terms[j]
            holder[fill[s]], weight[fill[s]] = r, terms.weights[j]
            fill[s] += 1
    carriers = int(task.carrier.sum()) + 2
    return Desk(
        start,
        holder,
        weight,
        np.full(vocabulary, -1, np.int32),
        np.empty(vocabulary, np.int64),
        np.empty(carriers, np.float64),
        np.full(carriers, -1, np.int64),
        np.zeros(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.float64),
        np.full(count, -1, np.int64),
        np.empty(count, np.int64),
        np.empty(carriers, np.int64),
        np.full(1, -1, np.int64),
    )


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
            _count_frequent(r, group[r], task, sums)
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
            node = shape.leaf_of[g]
            while node >= 0:
                refresh_reach(node, shape, groups, full, task.losses, reach)
                node = shape.up[node]


@njit(cache=True)
def _eta(s: int, carriers: int, task: Task) -> int:
    """eta_s of a group of so many carriers, in units of 1 / one."""
    return int(
        max(task.k, carriers) * task.theta_num[s] // task.theta_den[s] * task.terms.one
    )  # fmt: skip


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
        if sums[g, b] >= _eta(s, groups.carriers[g] + 1, task) and not task.terms.free[s]:
            mask |= 1 << b
    refused = ~allowed_kinds(groups.state[g], True, task.alpha_num, task.alpha_den) & 0b11110
    return mask | refused << MASK_TERMS


@njit(cache=True)
def _plain_at(r: int, carriers: int, task: Task, desk: Desk) -> float:
    """PR of case ``r`` in a group of so many carriers (with it) that holds none of its terms."""
    if carriers <= task.k or not task.terms.after_join:
        return float(task.terms.base[r])
    if desk.plain_of[carriers] != r:
        _fill_plain(r, carriers, task, desk)
    return float(desk.plain[carriers])


@njit(cache=True)
def _fill_plain(r: int, carriers: int, task: Task, desk: Desk) -> None:
    terms = task.terms
    residue = 1
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s = terms.terms[j]
        desk.eta[s] = _eta(s, carriers, task)
        if terms.after_join:
            num, den = fraction(0, terms.weights[j], desk.eta[s], terms.one, True)
            residue = (residue + quotient(num, den)) % PRIME
    desk.plain[carriers] = plain_risk(r, desk.eta, terms)
    desk.plain_residue[carriers] = residue
    desk.plain_of[carriers] = r


@njit(cache=True)
def _added(s: int, sigma: int, weight: int, eta: int, task: Task) -> tuple[float, int]:
    """What a term adds to PR beyond its part of the plain PR: a float, and modulo the prime."""
    if sigma + weight > eta and not task.terms.free[s]:
        return np.inf, 0
    one, after_join = task.terms.one, task.terms.after_join
    num, den = fraction(sigma, weight, eta, one, after_join)
    if not after_join:
        return num / den, quotient(num, den)
    plain_num, plain_den = fraction(0, weight, eta, one, True)
    return num / den - plain_num / plain_den, quotient(num, den) - quotient(plain_num, plain_den)


@njit(cache=True)
def _look_up(r: int, task: Task, group: NDArray[np.int32], groups: Groups, desk: Desk) -> None:
    """PR of every group that holds a term of case ``r``, from the holders of its terms."""
    if desk.listed[0] == r:
        return
    terms = task.terms
    risks, residues = np.empty(USUAL), np.empty(USUAL, np.int64)
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s, weight = terms.terms[j], terms.weights[j]
        count = 0
        for at in range(desk.start[s], desk.start[s + 1]):
            g = group[desk.holder[at]]
            if g >= 0:
                if desk.sigma[g] == 0:
                    desk.touched[count] = g
                    count += 1
                desk.sigma[g] += desk.holder_weight[at]
        for sigma in range(USUAL):
            risks[sigma], residues[sigma] = _added(s, sigma, weight, terms.eta[s], task)
        for at in range(count):
            g = desk.touched[at]
            sigma = desk.sigma[g]
            desk.sigma[g] = 0
            carriers = max(task.k, groups.carriers[g] + task.carrier[r])
            if desk.risk_of[g] != r:
                if desk.plain_of[carriers] != r:
                    _fill_plain(r, carriers, task, desk)
                desk.risk_of[g] = r
                desk.risk[g] = desk.plain[carriers]
                desk.residue[g] = desk.plain_residue[carriers]
            if carriers == task.k and sigma < USUAL:
                desk.risk[g] += risks[sigma]
                desk.residue[g] += residues[sigma]
                continue
            risk, residue = _added(s, sigma, weight, _eta(s, carriers, task), task)
            desk.risk[g] += risk
            desk.residue[g] += residue
    desk.listed[0] = r


@njit(cache=True)
def _sigmas(r: int, g: int, task: Task, groups: Groups, desk: Desk) -> Ints:
    """sigma in group ``g`` of each term of case ``r``, from the members of the group."""
    terms = task.terms
    begin, end = terms.offsets[r], terms.offsets[r + 1]
    sigma = np.zeros(end - begin, np.int64)
    for j in range(begin, end):
        desk.slot[terms.terms[j]] = j - begin
    member = groups.head[g]
    while member >= 0:
        for j in range(terms.offsets[member], terms.offsets[member + 1]):
            at = desk.slot[terms.terms[j]]
            if at >= 0:
                sigma[at] += terms.weights[j]
        member = groups.following[member]
    for j in range(begin, end):
        desk.slot[terms.terms[j]] = -1
    return sigma


@njit(cache=True)
def _risk_in(r: int, g: int, task: Task, groups: Groups, desk: Desk) -> tuple[float, bool]:
    """PR of case ``r`` joining group ``g``, and whether the group holds none of its terms."""
    carriers = groups.carriers[g] + task.carrier[r]
    if desk.listed[0] == r:
        if desk.risk_of[g] == r:
            return desk.risk[g], False
        return _plain_at(r, carriers, task, desk), True
    terms = task.terms
    sigma = _sigmas(r, g, task, groups, desk)
    if not sigma.any():
        return _plain_at(r, carriers, task, desk), True
    risk = 1.0
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s, held = terms.terms[j], sigma[j - terms.offsets[r]]
        eta = _eta(s, carriers, task)
        if held + terms.weights[j] > eta and not terms.free[s]:
            return np.inf, False
        num, den = fraction(held, terms.weights[j], eta, terms.one, terms.after_join)
        risk += num / den
    return risk, False


@njit(cache=True)
def _fractions_in(r: int, g: int, task: Task, groups: Groups, desk: Desk) -> tuple[Ints, Ints]:
    """Numerators and denominators of PR_s of case ``r`` joining group ``g``."""
    terms = task.terms
    numerators = _sigmas(r, g, task, groups, desk)
    denominators = np.empty_like(numerators)
    carriers = groups.carriers[g] + task.carrier[r]
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        at = j - terms.offsets[r]
        numerators[at], denominators[at] = fraction(
            numerators[at],
            terms.weights[j],
            _eta(terms.terms[j], carriers, task),
            terms.one,
            terms.after_join,
        )
    return numerators, denominators


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
    best, best_loss, best_risk, best_plain = -1, 0, np.inf, False
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
            _plain_at(r, reach.carriers_max[node] + task.carrier[r], task, desk),
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
                _look_up(r, task, group, groups, desk)
                listed = True
                if best >= 0 and bound >= best_loss:
                    # decided without a call: dIL is no less than the best one's
                    risk = desk.risk[g]
                    if desk.risk_of[g] != r:
                        carriers = groups.carriers[g] + joins
                        risk = base if carriers <= task.k else _plain_at(r, carriers, task, desk)
                    if risk > best_risk * (1 + NEAR) or (
                        g > best
                        and desk.risk_of[g] == r
                        and desk.risk_of[best] == r
                        and near(risk, best_risk)
                        and (desk.residue[g] - desk.residue[best]) % PRIME == 0
                    ):
                        continue
            best, best_loss, best_risk, best_plain = better_of(
                r, shape.order[j], best, best_loss, best_risk, best_plain,
                task, group, groups, desk,
            )  # fmt: skip
    return best


@njit(cache=True)
def _same_risk(
    r: int,
    g: int,
    other: int,
    task: Task,
    group: NDArray[np.int32],
    groups: Groups,
    desk: Desk,
) -> bool:
    """Whether two groups are of equal PR for case ``r``."""
    _look_up(r, task, group, groups, desk)
    difference = _residue_in(r, g, task, groups, desk) - _residue_in(r, other, task, groups, desk)
    return bool(difference % PRIME == 0)


@njit(cache=True)
def _residue_in(r: int, g: int, task: Task, groups: Groups, desk: Desk) -> int:
    if desk.risk_of[g] == r:
        return int(desk.residue[g])
    carriers = max(task.k, groups.carriers[g] + task.carrier[r])
    if desk.plain_of[carriers] != r:
        _fill_plain(r, carriers, task, desk)
    return int(desk.plain_residue[carriers])


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
    floor = _plain_at(r, groups.carriers[g] + task.carrier[r], task, desk)
    if cannot_win(loss, floor, g, best, best_loss, best_risk, best_plain) or not judge(
        groups.state[g], task.kind[r], True, task.alpha_num, task.alpha_den
    ):
        return best, best_loss, best_risk, best_plain
    risk, plain = _risk_in(r, g, task, groups, desk)
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
    elif loss == best_loss and _same_risk(r, g, best, task, group, groups, desk):
        better = g < best
    else:
        held, room = _fractions_in(r, g, task, groups, desk)
        best_held, best_room = _fractions_in(r, best, task, groups, desk)
        order = exact_order(loss, held, room, best_loss, best_held, best_room)
        better = order < 0 or (order == 0 and g < best)
    if better:
        return g, loss, risk, plain
    return best, best_loss, best_risk, best_plain
