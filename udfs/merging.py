"""``--leftovers merge``: groups are merged until a case that fits none fits one."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.box_tree import hull_loss
from srsql.udfs.cell_tree import NONE
from srsql.udfs.group_tree import Groups, join
from srsql.udfs.leftovers import better_of
from srsql.udfs.problem import Ints, Losses
from srsql.udfs.search import Terms, added_loss


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
                    best, best_loss, best_risk = better_of(
                        r, g, best, best_loss, best_risk,
                        low, high, losses, terms, theta_num, theta_den, k, one, groups, slot,
                    )  # fmt: skip
            if best >= 0:
                join(r, best, low, high, losses, group, groups)
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
