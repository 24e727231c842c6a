"""Leftovers join the groups in which the fewest sensitive values have to be suppressed for them.

A group takes a case whose values break their bounds in it if the least number of these values is
suppressed (``--leftovers suppress``), each of one of the group's cases or of the one that joins.
The groups stay as they were, but for who joins them.

Source: Lin 2016, Algorithm 2, where eq. (8) is infinite; what becomes of such a case is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64, row_of, warm_up_boxes
from srsql.udfs.grouping.feasibility import largest_sum
from srsql.udfs.grouping.group_tree import region_loss
from srsql.udfs.grouping.least_loss_search import added_loss
from srsql.udfs.grouping.privacy_risk import VIEWS, judge_alpha_bounding, update_group
from srsql.udfs.grouping.suppress import (
    Holdings,
    Pairs,
    draw_holders,
    give_back,
    holdings_of,
    lose,
    may_lose,
    suppress_surplus,
)
from srsql.udfs.grouping_problem import Attributes, Cases, Losses, integer_losses
from srsql.udfs.passed import by_address

FAR = 2**62
"""More values than any group could lose; beyond every end of a region."""


@dataclass(frozen=True)
class Placing:
    """The groups that leftovers may join, and by which bounds."""

    group: NDArray[np.int32]
    """[n] numbers from 0 on, -1: the case is left over."""
    carrier: NDArray[np.bool_]
    kind: NDArray[np.int8]
    """[n] as for ``Bounding``."""
    alpha_num: int
    alpha_den: int
    k: int


@by_address
class _Groups(NamedTuple):
    """What is known of each group; all of it changes as cases join."""

    low: Ints
    high: Ints
    size: Ints
    carriers: Ints
    loss: Ints
    state: Ints
    """[G, 2, 4] as for ``judge_alpha_bounding``, with no room for cases but the k carriers and
    those that never carry: what remains of a finished group is at least that."""


def suppress_leftovers(
    cases: Cases,
    attributes: Attributes,
    theta: tuple[Ints, Ints],
    placing: Placing,
    pairs: Pairs,
    rank: Ints,
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Let leftovers join groups in which the fewest values have to be suppressed for them.

    A leftover joins the group of fewest values, of those the one of least dIL, of those the first;
    cases that carry the bounds come first, since they make room. Each value that breaks its bound
    there is lost by holders drawn among the group's cases and the one that joins.

    Args:
        cases: n of one pattern, in groups or left over, with the values of leftovers alone.
        attributes: the d QIDs.
        theta: [V] numerators and denominators of the thresholds.
        placing: who is left over, and what groups keep.
        pairs: which of these values may be suppressed.
        rank: [values of cases] a random order of them.

    Returns:
        [n] groups, -1 for who is left over still; [values of cases] which are suppressed.
    """
    losses, _ = integer_losses(attributes, len(cases.low))
    group = placing.group.astype(np.int32)
    rows = np.repeat(np.arange(len(cases.low)), np.diff(cases.offsets))
    terms, place = np.unique(cases.terms, return_inverse=True)
    freed = np.zeros(len(rows), np.int64)
    width = len(cases.low)
    keys = cases.terms.astype(np.int64) * width + rows
    sorter = np.argsort(keys)
    freed[sorter[np.searchsorted(keys[sorter], pairs.term * width + pairs.case)]] = pairs.freed
    every = Pairs(rows, cases.terms.astype(np.int64), freed, pairs.slot_case, pairs.slot_term,
                  pairs.slot, pairs.room)  # fmt: skip
    order = np.lexsort((rows, place))
    held = holdings_of(every, order, place[order], len(terms), rank, cases.weights)
    before = held.freed.copy()
    _place(
        np.ascontiguousarray(cases.low, np.int64), np.ascontiguousarray(cases.high, np.int64),
        losses, theta[0][terms].astype(np.int64), theta[1][terms].astype(np.int64),
        int(cases.weight_scale), group, placing.carrier, placing.kind,
        (int(placing.alpha_num), int(placing.alpha_den), int(placing.k)), held,
    )  # fmt: skip
    lost = np.zeros(len(rows), np.bool_)
    lost[order] = (before > 0) & (held.freed == 0)
    return group, lost


@njit()
def _place(
    low: Ints, high: Ints, losses: Losses, theta_num: Ints, theta_den: Ints, scale: int,
    group: NDArray[np.int32], carrier: NDArray[np.bool_], kind: NDArray[np.int8],
    limits: tuple[int, int, int], held: Holdings,
) -> None:  # fmt: skip
    """As ``suppress_leftovers``; changes ``group`` and ``held``."""
    count = int(group.max()) + 1 if len(group) else 0
    if count == 0:
        return
    d = low.shape[1]
    groups = _Groups(
        np.full((count, d), FAR, np.int64), np.full((count, d), -FAR, np.int64),
        np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64),
        np.zeros((count, 2, VIEWS), np.int64),
    )  # fmt: skip
    groups.state[:, 1, :] = limits[2]
    for r in range(len(group)):
        if group[r] >= 0:
            _enter(r, as_int64(group[r]), low, high, carrier, kind, groups)
    for g in range(count):
        groups.loss[g] = region_loss(groups.low[g], groups.high[g], losses)
    begins, own = _pairs_of_cases(len(group), held)
    value_of = np.empty(len(held.case), np.int64)
    for s in range(len(theta_num)):
        value_of[held.start[s] : held.start[s + 1]] = s
    for carrying in (True, False):
        for r in range(len(group)):
            if group[r] >= 0 or carrier[r] != carrying:
                continue
            mine = own[begins[r] : begins[r + 1]]
            values = value_of[mine]
            fewest, excess = _needs(
                mine, values, theta_num, theta_den, scale, group, int(carrier[r]), limits[2],
                groups, held,
            )  # fmt: skip
            while True:
                g = _best_group(
                    r, low, high, losses, kind[r], limits, fewest, groups
                )  # fmt: skip
                if g < 0:
                    break
                if _make_fit(mine, values, g, excess[:, g], group, held):
                    group[r] = g
                    _enter(r, g, low, high, carrier, kind, groups)
                    groups.loss[g] = region_loss(groups.low[g], groups.high[g], losses)
                    break
                fewest[g] = FAR


@leaf()
def _enter(
    r: int, g: int, low: Ints, high: Ints, carrier: NDArray[np.bool_], kind: NDArray[np.int8],
    groups: _Groups,
) -> None:  # fmt: skip
    """Count a case in a group, and extend its region."""
    groups.size[g] += 1
    groups.carriers[g] += carrier[r]
    update_group(row_of(groups.state, g), kind[r], False)
    for i in range(low.shape[1]):
        groups.low[g, i] = min(groups.low[g, i], low[r, i])
        groups.high[g, i] = max(groups.high[g, i], high[r, i])


@njit()
def _pairs_of_cases(n: int, held: Holdings) -> tuple[Ints, Ints]:
    """The pairs of each case: ``own[begins[r]:begins[r + 1]]``."""
    begins = np.zeros(n + 1, np.int64)
    for r in held.case:
        begins[r + 1] += 1
    for r in range(n):
        begins[r + 1] += begins[r]
    fill = begins[:-1].copy()
    own = np.empty(len(held.case), np.int64)
    for e in range(len(held.case)):
        own[fill[held.case[e]]] = e
        fill[held.case[e]] += 1
    return begins, own


@njit()
def _needs(
    mine: Ints, values: Ints, theta_num: Ints, theta_den: Ints, scale: int,
    group: NDArray[np.int32], joins: int, k: int, groups: _Groups, held: Holdings,
) -> tuple[Ints, Ints]:  # fmt: skip
    """How many values each group has to lose for a case, FAR: more than it can; and of each what.

    ``mine`` and ``values``: the pairs of the case, and their values; ``joins``: 1 for a carrier.
    """
    count = len(groups.size)
    fewest = np.zeros(count, np.int64)
    excess = np.zeros((len(mine), count), np.int64)
    for i in range(len(mine)):
        s, sigma, free = values[i], excess[i], np.zeros(count, np.int64)
        sigma[:] = held.weight[mine[i]]
        if may_lose(mine[i], held):
            free[:] = held.freed[mine[i]]
        for e in range(held.start[s], held.start[s + 1]):
            g = group[held.case[e]]
            if g >= 0:
                sigma[g] += held.weight[e]
                if may_lose(e, held):
                    free[g] += held.freed[e]
        for g in range(count):
            carriers = max(k, groups.carriers[g] + joins)
            over = sigma[g] - largest_sum(carriers, theta_num[s], theta_den[s], scale)
            sigma[g] = max(over, 0)
            if over > 0 and fewest[g] < FAR:
                fewest[g] = FAR if free[g] < over else fewest[g] + (over + scale - 1) // scale
    return fewest, excess


@leaf()
def _best_group(
    r: int, low: Ints, high: Ints, losses: Losses, kind: int, limits: tuple[int, int, int],
    fewest: Ints, groups: _Groups,
) -> int:  # fmt: skip
    """The group that has to lose fewest values, of those the one of least dIL; -1: none can."""
    best, best_loss = -1, as_int64(0)
    for g in range(len(fewest)):
        if fewest[g] == FAR or (best >= 0 and fewest[g] > fewest[best]):
            continue
        if not judge_alpha_bounding(row_of(groups.state, g), kind, False, limits[0], limits[1]):
            continue
        loss = added_loss(
            row_of(groups.low, g),
            row_of(groups.high, g),
            groups.size[g],
            groups.loss[g],
            row_of(low, r),
            row_of(high, r),
            losses,
        )
        if best < 0 or fewest[g] < fewest[best] or loss < best_loss:
            best, best_loss = g, loss
    return best


@njit()
def _make_fit(
    mine: Ints, values: Ints, g: int, excess: Ints, group: NDArray[np.int32], held: Holdings
) -> bool:
    """Suppress what a group and the case that joins it have too much of; False: it cannot be."""
    lost, amounts, of = [as_int64(0)], [as_int64(0)], [as_int64(0)]
    lacking = excess.copy()
    for i in range(len(mine)):
        if lacking[i] <= 0:
            continue
        for e in draw_holders(_holders(mine[i], values[i], g, group, held), lacking[i], held):
            lost.append(e)
            of.append(as_int64(i))
            amounts.append(as_int64(lose(e, held)))
            lacking[i] -= amounts[-1]
    for i in range(len(mine)):
        if lacking[i] > 0:
            for e in _holders(mine[i], values[i], g, group, held):
                if lacking[i] > 0 and held.freed[e] > 0:
                    _exchange(e, mine, values, g, group, lost, amounts, of, held)
                    if may_lose(e, held):
                        lost.append(e)
                        of.append(as_int64(i))
                        amounts.append(as_int64(lose(e, held)))
                        lacking[i] -= amounts[-1]
    if (lacking <= 0).all():
        return True
    for j in range(1, len(lost)):
        give_back(lost[j], amounts[j], held)
    return False


@njit()
def _holders(
    own: int, value: int, g: int, group: NDArray[np.int32], held: Holdings
) -> NDArray[np.int64]:
    """The pairs of a value in a group and of the case that joins it (``own``), by rank."""
    begin, end = held.start[value], held.start[value + 1]
    among, size = np.empty(end - begin, np.int64), 0
    for e in range(begin, end):
        if e == own or group[held.case[e]] == g:
            among[size] = e
            size += 1
    return among[:size][np.argsort(held.rank[among[:size]])]


@njit()
def _exchange(
    e: int, mine: Ints, values: Ints, g: int, group: NDArray[np.int32], lost: list[int],
    amounts: list[int], of: list[int], held: Holdings,
) -> None:  # fmt: skip
    """Have other holders lose what the case of pair ``e`` lost, so that it can lose that pair."""
    for j in range(1, len(lost)):
        if may_lose(e, held):
            return
        f = lost[j]
        if held.case[f] != held.case[e]:
            continue
        for other in _holders(mine[of[j]], values[of[j]], g, group, held):
            if held.freed[other] >= amounts[j] and may_lose(other, held):
                give_back(f, amounts[j], held)
                lost[j], amounts[j] = other, as_int64(lose(other, held))
                break


def warm_up() -> None:
    """Load the compiled kernels from the cache, or compile them (once per installation)."""
    warm_up_boxes()
    ones, none = np.ones(3, np.int64), np.empty(0, np.int64)
    pairs = Pairs(np.arange(3), 0 * ones, ones, np.arange(3), 0 * ones, np.arange(3), ones)
    suppress_surplus(none[:0].astype(np.int64), none, Pairs(*[none] * 7), none)
    ends, offsets = np.arange(3)[:, None], np.arange(4)
    cases = Cases(ends, ends, offsets, np.zeros(3, np.int32), ones, 1)
    placing = Placing(np.array([0, 0, -1], np.int32), ones > 0, np.zeros(3, np.int8), 1, 1, 2)
    attributes = Attributes(np.array([5]), np.array([0, 0]), none, none, none)
    suppress_leftovers(cases, attributes, (ones[:1], 2 * ones[:1]), placing, pairs, np.arange(3))
