"""Groups with their regions and members, and a tree over them for the leftovers' search.

What a node knows only loosens as groups grow, so it is recomputed along one path after each join.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import BoxTree, Waiting, as_int64, hull_loss, new_waiting, row_of
from srsql.udfs.grouping.cells import NONE
from srsql.udfs.grouping.privacy_risk import VIEWS, update_group
from srsql.udfs.grouping_problem import GroupingProblem, Losses
from srsql.udfs.passed import addressed, by_address


@by_address
class Groups(NamedTuple):
    """G groups with their regions and members; size 0 marks a group merged into another."""

    low: Ints
    high: Ints
    """[G, d] ends of the regions."""
    size: Ints
    """[G] members."""
    carriers: Ints
    """[G] members that carry the bounds."""
    loss: Ints
    """[G] sum of the QIDs' losses, in loss units (IL is size x loss)."""
    state: Ints
    """[G, 2, 4] MSAVR and N of each view (see ``privacy_risk``)."""
    head: NDArray[np.int32]
    """[G] first member."""
    following: NDArray[np.int32]
    """[n] next member of the same group, or -1."""


@by_address
class RegionEnds(NamedTuple):
    """What each node of a tree knows of the regions of the groups under it."""

    low_min: Ints
    low_max: Ints
    high_min: Ints
    high_max: Ints
    """[nodes, d] extremes of the regions' ends."""
    loss_max: Ints
    """[nodes, d] largest loss of each QID."""
    size_min: Ints
    loss_min: Ints
    """[nodes] least size and least total loss; NONE where all groups are empty."""


@by_address
class GroupBounds(NamedTuple):
    """What each node of the tree knows of the groups under it."""

    ends: RegionEnds
    least: Ints
    """[nodes] least group number."""
    carriers_max: Ints
    """[nodes] most carriers of a group."""
    full: Ints
    """[nodes] frequent terms, and kinds, of which no group under the node can take another case."""
    waiting: Waiting


@njit()
def new_groups(problem: GroupingProblem, group: NDArray[np.int32], count: int) -> Groups:
    """The groups of stage 1 with their regions and members.

    Args:
        problem: n cases with d QIDs.
        group: [n] the group of each case, -1 for none.
        count: how many groups there are.
    """
    n, d = problem.low.shape
    made = Groups(
        np.full((count, d), NONE, np.int64),
        np.full((count, d), -NONE, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros((count, 2, VIEWS), np.int64),
        np.full(count, -1, np.int32),
        np.full(n, -1, np.int32),
    )
    groups = addressed(made)
    groups.state[:, 1, :] = problem.k
    for r in range(n - 1, -1, -1):
        if group[r] >= 0:
            _enter(r, as_int64(group[r]), problem, groups, False)
    for g in range(count):
        groups.loss[g] = region_loss(row_of(groups.low, g), row_of(groups.high, g), problem.losses)
    return made


@leaf()
def join(
    r: int, g: int, problem: GroupingProblem, group: NDArray[np.int32], groups: Groups
) -> None:
    """Add a remaining case to a completed group.

    Args:
        r: the case.
        g: the group.
        problem: n cases.
        group: [n] the group of each case, -1 for none; changed.
        groups: changed.
    """
    group[r] = g
    _enter(r, g, problem, groups, True)
    groups.loss[g] = region_loss(row_of(groups.low, g), row_of(groups.high, g), problem.losses)


@leaf()
def _enter(r: int, g: int, problem: GroupingProblem, groups: Groups, remaining: bool) -> None:
    """Put a case at the head of a group's members, and extend the region and the counts."""
    groups.following[r] = groups.head[g]
    groups.head[g] = r
    groups.size[g] += 1
    groups.carriers[g] += problem.carrier[r]
    update_group(row_of(groups.state, g), problem.kind[r], remaining)
    for i in range(problem.low.shape[1]):
        groups.low[g, i] = min(groups.low[g, i], problem.low[r, i])
        groups.high[g, i] = max(groups.high[g, i], problem.high[r, i])


@leaf()
def region_loss(low: Ints, high: Ints, losses: Losses) -> int:
    """The sum of the losses of a region with these ends over the QIDs, in loss units (eq. (1))."""
    loss = as_int64(0)
    for i in range(len(low)):
        loss += hull_loss(losses, i, low[i], high[i])
    return int(loss)


@njit()
def new_region_ends(nodes: int, d: int) -> RegionEnds:
    """Room for ``nodes`` nodes and ``d`` QIDs, of which nothing is known yet."""
    return RegionEnds(
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty((nodes, d), np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
    )


@njit()
def new_group_bounds(tree: BoxTree, groups: Groups, full: Ints, losses: Losses) -> GroupBounds:
    """What every node knows of the groups as they are.

    Args:
        tree: over the regions of the groups as they were when it was built.
        groups: as they are.
        full: [G] frequent terms, and kinds, of which a group can take no other case.
        losses: of the QIDs.
    """
    nodes, d = len(tree.left), groups.low.shape[1]
    made = GroupBounds(
        new_region_ends(nodes, d),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        new_waiting(),
    )
    bounds = addressed(made)
    for node in range(nodes - 1, -1, -1):
        refresh_group_bounds(node, tree, groups, full, losses, bounds)
    return made


@leaf()
def refresh_group_bounds(
    node: int, tree: BoxTree, groups: Groups, full: Ints, losses: Losses, bounds: GroupBounds
) -> None:
    """Recompute what one node knows from its children or groups.

    Args:
        node: of the tree.
        tree: over the regions of the groups as they were when it was built.
        groups: as they are.
        full: [G] frequent terms, and kinds, of which a group can take no other case.
        losses: of the QIDs.
        bounds: what the nodes know; changed.
    """
    d, ends = groups.low.shape[1], bounds.ends
    for i in range(d):
        ends.low_min[node, i], ends.low_max[node, i] = NONE, -NONE
        ends.high_min[node, i], ends.high_max[node, i] = NONE, -NONE
        ends.loss_max[node, i] = 0
    ends.size_min[node] = ends.loss_min[node] = bounds.least[node] = NONE
    bounds.carriers_max[node] = 0
    bounds.full[node] = -1
    if tree.left[node] < 0:
        for j in range(tree.begin[node], tree.end[node]):
            g = tree.order[j]
            ends.size_min[node] = min(ends.size_min[node], groups.size[g])
            ends.loss_min[node] = min(ends.loss_min[node], groups.loss[g])
            bounds.least[node] = min(bounds.least[node], g)
            bounds.carriers_max[node] = max(bounds.carriers_max[node], groups.carriers[g])
            bounds.full[node] &= full[g]
            for i in range(d):
                a, b = groups.low[g, i], groups.high[g, i]
                loss = hull_loss(losses, i, a, b)
                ends.low_min[node, i] = min(ends.low_min[node, i], a)
                ends.low_max[node, i] = max(ends.low_max[node, i], a)
                ends.high_min[node, i] = min(ends.high_min[node, i], b)
                ends.high_max[node, i] = max(ends.high_max[node, i], b)
                ends.loss_max[node, i] = max(ends.loss_max[node, i], loss)
        return
    for child in (tree.left[node], tree.right[node]):
        ends.size_min[node] = min(ends.size_min[node], ends.size_min[child])
        ends.loss_min[node] = min(ends.loss_min[node], ends.loss_min[child])
        bounds.least[node] = min(bounds.least[node], bounds.least[child])
        bounds.carriers_max[node] = max(bounds.carriers_max[node], bounds.carriers_max[child])
        bounds.full[node] &= bounds.full[child]
        for i in range(d):
            ends.low_min[node, i] = min(ends.low_min[node, i], ends.low_min[child, i])
            ends.low_max[node, i] = max(ends.low_max[node, i], ends.low_max[child, i])
            ends.high_min[node, i] = min(ends.high_min[node, i], ends.high_min[child, i])
            ends.high_max[node, i] = max(ends.high_max[node, i], ends.high_max[child, i])
            ends.loss_max[node, i] = max(ends.loss_max[node, i], ends.loss_max[child, i])


@leaf()
def least_added(node: int, low: Ints, high: Ints, losses: Losses, ends: RegionEnds) -> int:
    """A lower bound of dIL over the groups under a node.

    Args:
        node: of the tree.
        low: [d] low ends of the box that joins one of the groups.
        high: [d] high ends.
        losses: of the QIDs.
        ends: what the nodes know of the regions.

    Returns:
        The bound, in loss units (Lin 2016, eq. (2)).
    """
    joint = growth = 0
    for i in range(len(low)):
        widest = hull_loss(
            losses, i, min(low[i], ends.low_max[node, i]), max(high[i], ends.high_min[node, i])
        )
        joint += widest
        if losses.numeric[i]:
            distance = max(0, ends.low_min[node, i] - low[i]) + max(
                0, high[i] - ends.high_max[node, i]
            )
            growth += distance * losses.weight[i]
        else:
            growth += max(0, widest - ends.loss_max[node, i])
    joint = max(joint, ends.loss_min[node] + growth)
    return int(ends.size_min[node] * growth + joint)
