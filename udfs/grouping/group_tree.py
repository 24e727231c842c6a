"""Groups with their regions and members, and a tree over them for the leftovers' search.

What a node knows only loosens as groups grow, so it is recomputed along one path after each join.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.exact_search import Shape, hull_loss, whole
from srsql.udfs.grouping.cells import NONE
from srsql.udfs.grouping.grouping_problem import Losses, Task
from srsql.udfs.grouping.privacy_risk import VIEWS, update_group


class Groups(NamedTuple):
    """G groups with their regions and members; size 0 marks a group merged into another."""

    low: Ints
    high: Ints
    size: Ints
    carriers: Ints
    """[G] members that carry the bounds."""
    loss: Ints
    """[G] sum of the QIDs' losses, in loss units (IL is size x loss)."""
    state: Ints
    """[G, 2, 4] MSAVR and N of each view (see ``alpha``)."""
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
    carriers_max: Ints
    """[nodes] most carriers of a group."""
    full: Ints
    """[nodes] frequent terms, and kinds, of which no group under the node can take another case."""


@njit(cache=True)
def new_groups(task: Task, group: NDArray[np.int32], count: int) -> Groups:
    """The groups of stage 1 as hulls with member lists."""
    n, d = task.low.shape
    groups = Groups(
        np.full((count, d), NONE, np.int64),
        np.full((count, d), -NONE, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros((count, 2, VIEWS), np.int64),
        np.full(count, -1, np.int32),
        np.full(n, -1, np.int32),
    )
    groups.state[:, 1, :] = task.k
    for r in range(n - 1, -1, -1):
        if group[r] >= 0:
            _enter(r, whole(group[r]), task, groups, False)
    for g in range(count):
        groups.loss[g] = region_loss(g, groups, task.losses)
    return groups


@njit(cache=True)
def join(r: int, g: int, task: Task, group: NDArray[np.int32], groups: Groups) -> None:
    """Add the remaining case ``r`` to group ``g``."""
    group[r] = g
    _enter(r, g, task, groups, True)
    groups.loss[g] = region_loss(g, groups, task.losses)


@njit(cache=True)
def _enter(r: int, g: int, task: Task, groups: Groups, remaining: bool) -> None:
    groups.following[r] = groups.head[g]
    groups.head[g] = r
    groups.size[g] += 1
    groups.carriers[g] += task.carrier[r]
    update_group(groups.state[g], task.kind[r], remaining)
    for i in range(task.low.shape[1]):
        groups.low[g, i] = min(groups.low[g, i], task.low[r, i])
        groups.high[g, i] = max(groups.high[g, i], task.high[r, i])


@njit(cache=True)
def region_loss(g: int, groups: Groups, losses: Losses) -> int:
    """The sum of the QIDs' losses of the group's region."""
    loss = 0
    for i in range(groups.low.shape[1]):
        loss += hull_loss(losses, i, groups.low[g, i], groups.high[g, i])
    return loss


@njit(cache=True)
def new_reach(shape: Shape, groups: Groups, full: Ints, losses: Losses) -> Reach:
    """What every node knows of the groups as they are; ``full`` per group."""
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
        np.empty(nodes, np.int64),
    )
    for node in range(nodes - 1, -1, -1):
        refresh_reach(node, shape, groups, full, losses, reach)
    return reach


@njit(cache=True)
def refresh_reach(
    node: int, shape: Shape, groups: Groups, full: Ints, losses: Losses, reach: Reach
) -> None:
    """Recompute one node from its children or groups."""
    d = groups.low.shape[1]
    reach.low_min[node], reach.low_max[node] = NONE, -NONE
    reach.high_min[node], reach.high_max[node] = NONE, -NONE
    reach.loss_max[node] = 0
    reach.size_min[node] = reach.loss_min[node] = reach.least[node] = NONE
    reach.carriers_max[node] = 0
    reach.full[node] = -1
    if shape.left[node] < 0:
        for j in range(shape.begin[node], shape.end[node]):
            g = shape.order[j]
            reach.size_min[node] = min(reach.size_min[node], groups.size[g])
            reach.loss_min[node] = min(reach.loss_min[node], groups.loss[g])
            reach.least[node] = min(reach.least[node], g)
            reach.carriers_max[node] = max(reach.carriers_max[node], groups.carriers[g])
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
        reach.carriers_max[node] = max(reach.carriers_max[node], reach.carriers_max[child])
        reach.full[node] &= reach.full[child]
        for i in range(d):
            reach.low_min[node, i] = min(reach.low_min[node, i], reach.low_min[child, i])
            reach.low_max[node, i] = max(reach.low_max[node, i], reach.low_max[child, i])
            reach.high_min[node, i] = min(reach.high_min[node, i], reach.high_min[child, i])
            reach.high_max[node, i] = max(reach.high_max[node, i], reach.high_max[child, i])
            reach.loss_max[node, i] = max(reach.loss_max[node, i], reach.loss_max[child, i])


@njit(cache=True)
def least_added(node: int, low: Ints, high: Ints, losses: Losses, reach: Reach) -> int:
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
