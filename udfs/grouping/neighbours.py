"""The nearest groups of a case, of all missingness patterns it could be in: one tree for each.

A tree is over the regions of the groups as they were when it was built; what its nodes know of them
follows every change (see ``group_tree``). A search is exact as long as its tries last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import (
    BoxTree,
    Waiting,
    as_int64,
    build_box_tree,
    hull_loss,
    new_waiting,
    row_of,
)
from srsql.udfs.grouping.cells import NONE
from srsql.udfs.grouping.group_tree import (
    RegionEnds,
    least_added,
    new_region_ends,
    region_loss,
)
from srsql.udfs.grouping.members import (
    Members,
    bits,
    join_cost,
    keeps_bounds,
    members_of,
)
from srsql.udfs.grouping_problem import Losses
from srsql.udfs.passed import addressed, by_address

MANY = 64
"""Members whose judging is as much work as another try."""


@by_address
class Forest(NamedTuple):
    """A tree for each of P patterns; nodes are numbered through, and so are the groups."""

    pattern: Ints
    """[P] the QIDs that the groups under a tree show, at least."""
    root: Ints
    """[P]"""
    weight: Ints
    """[P, d] loss units of the QIDs of a pattern, 0 for the others."""
    numeric: NDArray[np.bool_]
    """[P, d] true for the others, too, so that they lose nothing."""
    tree_of: Ints
    """[nodes] which tree a node is of."""
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    parent: NDArray[np.int32]
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    order: NDArray[np.int32]
    """[nodes], [groups] as in ``BoxTree``."""
    leaf_of: NDArray[np.int32]
    """[G] the leaf of each group, -1 for one that was made later."""
    ends: RegionEnds
    """Of what the patterns of the trees show."""
    waiting: Waiting


@njit(inline="always")
def losses_of(p: int, forest: Forest, losses: Losses) -> Losses:
    """The losses of the QIDs of tree ``p``, those of the others being 0."""
    return addressed(
        Losses(
            row_of(forest.numeric, p), row_of(forest.weight, p),
            losses.start, losses.parent, losses.last, losses.height,
        )
    )  # fmt: skip


@njit()
def new_forest(members: Members, count: int) -> Forest:
    """Room for the trees over the first ``count`` groups, none of which is empty."""
    d = members.low.shape[1]
    losses = members.problem.losses
    patterns = np.unique(members.pattern[:count])
    trees = len(patterns)
    room = 2 * count + trees
    forest = Forest(
        patterns, np.zeros(trees, np.int64), np.zeros((trees, d), np.int64),
        np.ones((trees, d), np.bool_), np.zeros(room, np.int64),
        np.full(room, -1, np.int32), np.full(room, -1, np.int32), np.full(room, -1, np.int32),
        np.zeros(room, np.int32), np.zeros(room, np.int32), np.zeros(count, np.int32),
        np.full(len(members.size), -1, np.int32),
        new_region_ends(room, d), new_waiting(),
    )  # fmt: skip
    for p in range(trees):
        for i in range(d):
            if patterns[p] >> i & 1:
                forest.numeric[p, i] = losses.numeric[i]
                forest.weight[p, i] = losses.weight[i]
    return forest


@njit()
def plant_trees(forest: Forest, members: Members, count: int) -> None:
    """Let the trees of ``new_forest`` grow over its groups."""
    d, patterns = members.low.shape[1], forest.pattern
    losses = members.problem.losses
    nodes = placed = as_int64(0)
    for p in range(len(patterns)):
        own = np.flatnonzero(members.pattern[:count] == patterns[p])
        low, high = members.low[own], members.high[own]
        for i in range(d):
            if patterns[p] >> i & 1 == 0:
                low[:, i] = high[:, i] = 0
        tree = build_box_tree(low, high, own.astype(np.float64), losses_of(p, forest, losses))
        forest.root[p] = nodes
        _plant(tree, own, p, nodes, placed, forest)
        nodes += len(tree.left)
        placed += len(own)
    for node in range(nodes - 1, -1, -1):
        _refresh_node(node, members, forest)


@leaf()
def _plant(tree: BoxTree, own: Ints, p: int, nodes: int, placed: int, forest: Forest) -> None:
    """Copy a tree of the groups ``own`` behind ``nodes`` nodes and ``placed`` groups."""
    for j in range(len(own)):
        forest.order[placed + j] = own[tree.order[j]]
        forest.leaf_of[own[j]] = nodes + tree.leaf_of[j]
    for node in range(len(tree.left)):
        at = nodes + node
        forest.tree_of[at] = p
        forest.begin[at], forest.end[at] = placed + tree.begin[node], placed + tree.end[node]
        if tree.left[node] >= 0:
            forest.left[at], forest.right[at] = nodes + tree.left[node], nodes + tree.right[node]
        if tree.parent[node] >= 0:
            forest.parent[at] = nodes + tree.parent[node]


@leaf()
def _refresh_node(node: int, members: Members, forest: Forest) -> bool:
    """Recompute what one node knows from its children or groups; whether anything changed."""
    d, ends = members.low.shape[1], forest.ends
    p = forest.tree_of[node]
    losses = losses_of(p, forest, members.problem.losses)
    left, right = forest.left[node], forest.right[node]
    changed = False
    size_min, loss_min = NONE, NONE
    if left < 0:
        for j in range(forest.begin[node], forest.end[node]):
            g = forest.order[j]
            if members.size[g] > 0:
                loss = region_loss(row_of(members.low, g), row_of(members.high, g), losses)
                size_min, loss_min = min(size_min, members.size[g]), min(loss_min, loss)
    else:
        size_min = min(ends.size_min[left], ends.size_min[right])
        loss_min = min(ends.loss_min[left], ends.loss_min[right])
    if size_min != ends.size_min[node] or loss_min != ends.loss_min[node]:
        changed = True
    ends.size_min[node], ends.loss_min[node] = size_min, loss_min
    for i in range(d):
        low_min, low_max, high_min, high_max, loss_max = NONE, -NONE, NONE, -NONE, as_int64(0)
        if left < 0:
            for j in range(forest.begin[node], forest.end[node]):
                g = forest.order[j]
                if members.size[g] > 0:
                    a, b = members.low[g, i], members.high[g, i]
                    low_min, low_max = min(low_min, a), max(low_max, a)
                    high_min, high_max = min(high_min, b), max(high_max, b)
                    loss_max = max(loss_max, hull_loss(losses, i, a, b))
        else:
            for child in (left, right):
                if ends.size_min[child] != NONE:
                    low_min = min(low_min, ends.low_min[child, i])
                    low_max = max(low_max, ends.low_max[child, i])
                    high_min = min(high_min, ends.high_min[child, i])
                    high_max = max(high_max, ends.high_max[child, i])
                    loss_max = max(loss_max, ends.loss_max[child, i])
        if (
            low_min != ends.low_min[node, i]
            or low_max != ends.low_max[node, i]
            or high_min != ends.high_min[node, i]
            or high_max != ends.high_max[node, i]
            or loss_max != ends.loss_max[node, i]
        ):
            changed = True
            ends.low_min[node, i], ends.low_max[node, i] = low_min, low_max
            ends.high_min[node, i], ends.high_max[node, i] = high_min, high_max
            ends.loss_max[node, i] = loss_max
    return bool(changed)


@leaf()
def follow(g: int, members: Members, forest: Forest) -> None:
    """Let the trees know that group ``g`` changed."""
    node = as_int64(forest.leaf_of[g])
    while node >= 0 and _refresh_node(node, members, forest):
        node = as_int64(forest.parent[node])


@leaf()
def _least_added(node: int, low: Ints, high: Ints, losses: Losses, forest: Forest) -> int:
    """As ``least_added``; what the pattern does not show is left out, and so are empty groups."""
    if forest.ends.size_min[node] == NONE:
        return NONE
    return int(least_added(node, low, high, losses, forest.ends))


@leaf()
def best_join(
    r: int, own: int, limit: int, tries: int, members: Members, forest: Forest, who: Ints
) -> tuple[int, int]:
    """The group in which a case costs least, of those that keep the bounds with it.

    No value that is shown of a case is given up for less loss: a later release of the series could
    not show it again.

    Args:
        r: the case.
        own: its group, which is left out, and so is what shows less; -1: it has none.
        limit: it has to cost less.
        tries: so many groups are judged at most, fewer where they are large.
        members: as they are.
        forest: over their groups.
        who: [n] scratch.

    Returns:
        The group and what it adds there; -1 where there is none.
    """
    losses = members.problem.losses
    low, high = row_of(members.problem.low, r), row_of(members.problem.high, r)
    best, best_added = as_int64(-1), limit
    shown_now = members.pattern[own] if own >= 0 else 0
    node_stack, bound_stack = forest.waiting.node, forest.waiting.bound
    for p in range(len(forest.pattern) - 1, -1, -1):
        pattern = forest.pattern[p]
        base = members.unit * bits(members.known[r] & ~pattern)
        if pattern & ~members.known[r] or shown_now & ~pattern or base >= best_added:
            continue
        shown = losses_of(p, forest, losses)
        node_stack[0] = forest.root[p]
        bound_stack[0] = base + _least_added(forest.root[p], low, high, shown, forest)
        top = 1
        while top > 0:
            top -= 1
            node = node_stack[top]
            if bound_stack[top] >= best_added:
                continue
            left, right = forest.left[node], forest.right[node]
            if left >= 0:
                left_bound = base + _least_added(left, low, high, shown, forest)
                right_bound = base + _least_added(right, low, high, shown, forest)
                if right_bound < left_bound or (
                    right_bound == left_bound
                    and forest.ends.size_min[right] < forest.ends.size_min[left]
                ):
                    left, right = right, left
                    left_bound, right_bound = right_bound, left_bound
                if right_bound < best_added:
                    node_stack[top], bound_stack[top] = right, right_bound
                    top += 1
                if left_bound < best_added:
                    node_stack[top], bound_stack[top] = left, left_bound
                    top += 1
                continue
            for j in range(forest.begin[node], forest.end[node]):
                g = as_int64(forest.order[j])
                if g == own or members.size[g] == 0 or shown_now & ~members.pattern[g]:
                    continue
                added = join_cost(r, g, members)
                if added < best_added:
                    who[0] = r
                    if keeps_bounds(who, members_of(g, members, who, as_int64(1)), members):
                        best, best_added = g, added
                    tries -= 1 + members.size[g] // MANY
                    if tries <= 0:
                        return best, best_added
    return best, best_added


@leaf()
def nearest_groups(
    r: int, own: int, members: Members, forest: Forest, p: int, found: Ints, added_of: Ints
) -> int:
    """The groups of tree ``p``, which shows nothing that case ``r`` does not know, where it costs
    least, the bounds aside; nearest first, without group ``own``.

    They are written to ``found``, and what they add to ``added_of``, as many as there is room for;
    returns how many they are.
    """
    wanted = len(found)
    for at in range(wanted):
        found[at], added_of[at] = -1, NONE
    low, high = row_of(members.problem.low, r), row_of(members.problem.high, r)
    shown = losses_of(p, forest, members.problem.losses)
    node_stack, bound_stack = forest.waiting.node, forest.waiting.bound
    base = members.unit * bits(members.known[r] & ~forest.pattern[p])
    node_stack[0] = forest.root[p]
    bound_stack[0] = base + _least_added(forest.root[p], low, high, shown, forest)
    top = 1
    while top > 0:
        top -= 1
        node = node_stack[top]
        if bound_stack[top] >= added_of[wanted - 1]:
            continue
        left, right = forest.left[node], forest.right[node]
        if left >= 0:
            left_bound = base + _least_added(left, low, high, shown, forest)
            right_bound = base + _least_added(right, low, high, shown, forest)
            if right_bound < left_bound:
                left, right = right, left
                left_bound, right_bound = right_bound, left_bound
            if right_bound < added_of[wanted - 1]:
                node_stack[top], bound_stack[top] = right, right_bound
                top += 1
            if left_bound < added_of[wanted - 1]:
                node_stack[top], bound_stack[top] = left, left_bound
                top += 1
            continue
        for j in range(forest.begin[node], forest.end[node]):
            g = as_int64(forest.order[j])
            if g == own or members.size[g] == 0:
                continue
            added = join_cost(r, g, members)
            at = wanted - 1
            if added >= added_of[at]:
                continue
            while at > 0 and added_of[at - 1] > added:
                found[at], added_of[at] = found[at - 1], added_of[at - 1]
                at -= 1
            found[at], added_of[at] = g, added
    count = as_int64(0)
    while count < wanted and found[count] >= 0:
        count += 1
    return count
