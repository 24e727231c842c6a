"""``--leftovers merge``: groups are merged until a case that fits none fits one."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.grouping.box_tree import hull_loss
from srsql.udfs.grouping.cell_tree import NONE
from srsql.udfs.grouping.group_tree import Groups, join, region_loss
from srsql.udfs.grouping.grouping_problem import Task
from srsql.udfs.grouping.leftovers import better_of
from srsql.udfs.grouping.risk_cache import Desk, new_desk
from srsql.udfs.grouping.search import added_loss
from srsql.udfs.integers import whole
from srsql.udfs.problem import Losses


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
