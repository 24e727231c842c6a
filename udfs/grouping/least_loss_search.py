"""The argmin of dIL' over the cases that remain: the next case of a group; and its next seed.

Both searches are exact: a branch-and-bound over the tree of cells, ties included.
"""

from __future__ import annotations

import numpy as np

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import BoxTree, as_int64, exact_order, hull_loss, near, row_of
from srsql.udfs.grouping.cells import NONE, CellBounds, Cells
from srsql.udfs.grouping.privacy_risk import cannot_win, mask_risk, privacy_risk, risk_fractions
from srsql.udfs.grouping_problem import Losses, Terms


@leaf()
def added_loss(
    low: Ints, high: Ints, size: int, loss: int, box_low: Ints, box_high: Ints, losses: Losses
) -> int:
    """dIL: what the loss of a group grows by when a case joins, in loss units.

    Args:
        low: [d] low ends of the group's region.
        high: [d] high ends.
        size: cases of the group.
        loss: the sum of its QIDs' losses, in loss units.
        box_low: [d] low ends of the case's box. With ``low_max`` of a node here and its
            ``high_min`` below, the result is a lower bound over the node, since every hull with one
            of its boxes contains the hull with that interval.
        box_high: [d] high ends of the case's box.
        losses: of the QIDs.

    Source: Lin 2016, eq. (2).
    """
    joint = as_int64(0)
    for i in range(len(low)):
        joint += hull_loss(losses, i, min(low[i], box_low[i]), max(high[i], box_high[i]))
    return size * (joint - loss) + joint


@leaf()
def _ranks_before(
    r: int,
    loss: int,
    risk: float,
    plain: bool,
    best: int,
    best_loss: int,
    best_risk: float,
    best_plain: bool,
    terms: Terms,
) -> bool:
    """Whether case ``r`` is a better choice than ``best`` (-1: none yet), ties by case number."""
    if best < 0:
        return True
    if loss == best_loss and plain and best_plain:
        return risk < best_risk or (risk == best_risk and r < best)
    product, best_product = loss * risk, best_loss * best_risk
    if not near(product, best_product):
        return product < best_product
    if loss == best_loss and not near(risk, best_risk):
        return risk < best_risk
    order = _exact_order(r, loss, best, best_loss, terms)
    return order < 0 or (order == 0 and r < best)


@njit()
def _exact_order(r: int, loss: int, best: int, best_loss: int, terms: Terms) -> int:
    """``exact_order`` of two cases that could join the group under construction."""
    numerators, denominators = risk_fractions(r, terms)
    best_numerators, best_denominators = risk_fractions(best, terms)
    return int(
        exact_order(loss, numerators, denominators, best_loss, best_numerators, best_denominators)
    )


@leaf()
def least_loss_case(
    low: Ints,
    high: Ints,
    size: int,
    loss: int,
    group_mask: int,
    kinds: int,
    tree: BoxTree,
    cells: Cells,
    losses: Losses,
    bounds: CellBounds,
    terms: Terms,
) -> int:
    """The argmin of dIL': the case that a group takes next.

    A subtree is left out only where no case in it can rank before the best one found, PR being at
    least the least plain risk in it.

    Args:
        low: [d] low ends of the group's region.
        high: [d] high ends.
        size: cases of the group.
        loss: the sum of its QIDs' losses, in loss units.
        group_mask: the frequent terms that the group holds.
        kinds: the kinds that it may still take, as a bit mask.
        tree: over the cells.
        cells: with the cases that remain.
        losses: of the QIDs.
        bounds: what the nodes of the tree know.
        terms: with sigma and eta of the group.

    Returns:
        The case, or -1 where every dIL' is infinite.

    Source: Lin 2016, eqs. (7) and (8); ties as in SPEC section 7.
    """
    best, best_loss = as_int64(-1), as_int64(0)
    best_risk, best_plain = np.inf, best >= 0
    if bounds.kinds[0] & kinds == 0:
        return best
    node_stack, loss_stack = bounds.waiting.node, bounds.waiting.bound
    node_stack[0] = 0
    loss_stack[0] = added_loss(
        low, high, size, loss, row_of(bounds.low_max, 0), row_of(bounds.high_min, 0), losses
    )
    top = 1
    while top > 0:
        top -= 1
        node, node_loss = node_stack[top], loss_stack[top]
        if cannot_win(
            node_loss, bounds.floor[node], bounds.least[node],
            best, best_loss, best_risk, best_plain,
        ):  # fmt: skip
            continue
        left = tree.left[node]
        if left >= 0:
            right = tree.right[node]
            left_loss = right_loss = NONE
            if bounds.kinds[left] & kinds:
                left_loss = added_loss(
                    low,
                    high,
                    size,
                    loss,
                    row_of(bounds.low_max, left),
                    row_of(bounds.high_min, left),
                    losses,
                )
            if bounds.kinds[right] & kinds:
                right_loss = added_loss(
                    low,
                    high,
                    size,
                    loss,
                    row_of(bounds.low_max, right),
                    row_of(bounds.high_min, right),
                    losses,
                )
            if _comes_first(right, right_loss, left, left_loss, bounds):
                left, right = right, left
                left_loss, right_loss = right_loss, left_loss
            if right_loss != NONE:
                node_stack[top], loss_stack[top] = right, right_loss
                top += 1
            if left_loss != NONE:
                node_stack[top], loss_stack[top] = left, left_loss
                top += 1
            continue
        for j in range(tree.begin[node], tree.end[node]):
            cell = tree.order[j]
            r = as_int64(cells.head[cell])
            if r < 0 or kinds >> cells.kind[cell] & 1 == 0:
                continue
            cell_loss = added_loss(
                low, high, size, loss, row_of(cells.low, cell), row_of(cells.high, cell), losses
            )
            if cannot_win(
                cell_loss, cells.base_risk[cell], r, best, best_loss, best_risk, best_plain
            ):
                continue
            shared = cells.mask[cell] & group_mask
            if shared:
                floor = cells.base_risk[cell] + mask_risk(shared, terms)
                if floor == np.inf or cannot_win(
                    cell_loss, floor, r, best, best_loss, best_risk, False
                ):
                    continue
            while r >= 0:
                risk, plain, unmasked = privacy_risk(r, terms)
                if risk < np.inf and _ranks_before(
                    r, cell_loss, risk, plain, best, best_loss, best_risk, best_plain, terms
                ):
                    best, best_loss, best_risk, best_plain = r, cell_loss, risk, plain
                if plain or (unmasked == 0 and (terms.weight_scale == 1 or not terms.after_join)):
                    break  # least PR of its cell, and least case number at that PR
                r = as_int64(cells.after[r])
    return best


@leaf()
def _comes_first(node: int, loss: int, other: int, other_loss: int, bounds: CellBounds) -> bool:
    """Whether a node is likelier than the other to hold the best case, and is searched first."""
    if loss == NONE or other_loss == NONE:
        return loss < other_loss
    product, other_product = loss * bounds.floor[node], other_loss * bounds.floor[other]
    if product != other_product:
        return bool(product < other_product)
    if bounds.floor[node] != bounds.floor[other]:
        return bool(bounds.floor[node] < bounds.floor[other])
    return bool(bounds.least[node] < bounds.least[other])


@leaf()
def farthest_case(
    low: Ints, high: Ints, tree: BoxTree, cells: Cells, losses: Losses, bounds: CellBounds
) -> int:
    """The case farthest from a box: the seed of the next group.

    Distance: |difference of midpoints| / span per numeric QID, h(LCA) / h(root) per categorical;
    at equal distance the least case number.

    Args:
        low: [d] low ends of the box.
        high: [d] high ends.
        tree: over the cells, as what follows.
        cells: with the cases that remain.
        losses: of the QIDs.
        bounds: what the nodes of the tree know.

    Returns:
        The case, or -1 where none remains.

    Source: Lin 2016, Algorithm 1; SPEC section 7.
    """
    best, best_far = as_int64(-1), as_int64(-1)
    if bounds.least[0] == NONE:
        return best
    node_stack, far_stack = bounds.waiting.node, bounds.waiting.bound
    node_stack[0], far_stack[0] = 0, NONE
    top = 1
    while top > 0:
        top -= 1
        node, far = node_stack[top], far_stack[top]
        if far < best_far or (far == best_far and bounds.least[node] > best):
            continue
        left = tree.left[node]
        if left >= 0:
            right = tree.right[node]
            left_far = _reach(left, low, high, losses, bounds)
            right_far = _reach(right, low, high, losses, bounds)
            if right_far > left_far or (
                right_far == left_far and bounds.least[right] < bounds.least[left]
            ):
                left, right = right, left
                left_far, right_far = right_far, left_far
            if right_far >= 0:
                node_stack[top], far_stack[top] = right, right_far
                top += 1
            if left_far >= 0:
                node_stack[top], far_stack[top] = left, left_far
                top += 1
            continue
        for j in range(tree.begin[node], tree.end[node]):
            cell = tree.order[j]
            r = cells.head[cell]
            if r < 0:
                continue
            far = 0
            for i in range(len(low)):
                if losses.numeric[i]:
                    distance = abs(cells.low[cell, i] + cells.high[cell, i] - low[i] - high[i])
                    far += distance * losses.weight[i]
                else:
                    far += 2 * hull_loss(
                        losses,
                        i,
                        min(low[i], cells.low[cell, i]),
                        max(high[i], cells.high[cell, i]),
                    )
            if far > best_far or (far == best_far and r < best):
                best, best_far = r, far
    return best


@leaf()
def _reach(node: int, low: Ints, high: Ints, losses: Losses, bounds: CellBounds) -> int:
    """Upper bound of twice the distance to any record under the node; -1 where none remains."""
    if bounds.least[node] == NONE:
        return -1
    far = 0
    for i in range(len(low)):
        a, b = bounds.mid_min[node, i], bounds.mid_max[node, i]
        if losses.numeric[i]:
            mid = low[i] + high[i]
            far += max(abs(a - mid), abs(b - mid)) * losses.weight[i]
        else:
            far += 2 * hull_loss(losses, i, min(low[i], a), max(high[i], b))
    return far
