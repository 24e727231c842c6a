"""The greedy grouping of MS(k, theta*)-bounding (Lin 2016, Algorithms 1 and 2), exact.

``ms_group`` returns what the quadratic algorithm of the paper returns, ties included (SPEC
section 7), at a cost that grows nearly linearly: each argmin is a branch-and-bound over the cells
that remain (``search``), and leftovers look for their group in a tree over the groups
(``leftovers``).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.box_tree import Shape, build_shape, hull_loss
from srsql.udfs.cell_tree import Bounds, forget, new_bounds
from srsql.udfs.cells import Cells, build_cells, case_masks, frequent_terms, take
from srsql.udfs.group_tree import Groups
from srsql.udfs.leftovers import place_leftovers
from srsql.udfs.merging import merge_leftovers
from srsql.udfs.problem import Attributes, Cases, Ints, Losses, integer_losses
from srsql.udfs.search import Terms, farthest, nearest

Leftovers = Literal["withhold", "merge"]


def ms_group(
    cases: Cases,
    attributes: Attributes,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    first: int,
    leftovers: Leftovers = "withhold",
) -> NDArray[np.int32]:
    """Group cases so that each group has >= k cases and sigma_s <= theta_s |g| for every term s.

    Args:
        cases: n super-records in case-id order.
        attributes: the d QIDs.
        theta_num: [V] numerators of the thresholds; theta_s = num / den.
        theta_den: [V] denominators.
        k: k_effective, at least 1; every term that occurs needs floor(k theta_s) >= 1.
        first: index of the record that opens the first group.
        leftovers: what happens to a case that no group can take: it stays out (``withhold``), or
            groups are merged until one can (``merge``).

    Returns:
        [n] group numbers in order of creation, -1 for a case that was not placed.

    Raises:
        ValueError: k is too small for a threshold, or ``first`` is out of range.
    """
    if leftovers not in ("withhold", "merge"):
        raise ValueError(f"leftovers is {leftovers!r}: give withhold or merge")
    if k < 1 or cases.one < 1:
        raise ValueError("k and the unit must be 1 or more")
    sizes = np.diff(attributes.tree_start)
    trees = sizes > 0
    if bool((cases.low > cases.high).any() or (cases.low[:, trees] < 0).any()):
        raise ValueError("a box ends before it begins, or before its tree")
    if bool((cases.high[:, trees] >= sizes[trees]).any()):
        raise ValueError("a box ends behind its tree")
    n = len(cases.low)
    if n == 0:
        return np.empty(0, np.int32)
    if not 0 <= first < n:
        raise ValueError(f"first must be an index below {n}")
    theta_num, theta_den = theta_num.astype(np.int64), theta_den.astype(np.int64)
    eta = k * theta_num // theta_den * cases.one
    if len(cases.terms) and bool((cases.weights > eta[cases.terms]).any()):
        raise ValueError("k x theta is below 1 for a term that occurs: raise k to 1 / theta")
    if n < k:
        return np.full(n, -1, np.int32)
    losses, _ = integer_losses(attributes, n)
    frequent = frequent_terms(cases.terms, n, len(theta_num), k)
    bit = np.full(len(theta_num), -1, np.int8)
    bit[frequent] = np.arange(len(frequent))
    offsets = cases.offsets.astype(np.int64)
    weights = cases.weights.astype(np.int64)
    terms = Terms(
        offsets, cases.terms, weights, np.zeros(len(theta_num), np.int64), eta, frequent, bit
    )
    low = np.ascontiguousarray(cases.low, np.int64)
    high = np.ascontiguousarray(cases.high, np.int64)
    group = np.full(n, -1, np.int32)
    cells = build_cells(low, high, case_masks(offsets, cases.terms, bit))
    shape = build_shape(cells.low, cells.high, losses)
    count = _grow(
        low, high, shape, cells, losses, new_bounds(shape, cells, losses), terms, k, first, group
    )
    if count == 0:
        return group
    groups = _groups(group, count, low, high, losses)
    place_leftovers(low, high, losses, terms, theta_num, theta_den, k, cases.one, group, groups)
    if leftovers == "merge" and bool((group < 0).any()):
        merge_leftovers(low, high, losses, terms, theta_num, theta_den, k, cases.one, group, groups)
        _, dense = np.unique(group, return_inverse=True)
        group = (dense - int((group < 0).any())).astype(np.int32)
    return group


def warm_up() -> None:
    """Load the compiled kernel from the cache, or compile it (once per installation)."""
    ends = np.arange(5, dtype=np.int64)[:, None]
    offsets = np.arange(6, dtype=np.int64)
    one_each = np.ones(5, np.int64)
    cases = Cases(ends, ends, offsets, np.zeros(5, np.int32), one_each, 1)
    none = np.empty(0, np.int64)
    attributes = Attributes(np.array([4]), np.array([0, 0]), none, none, none)
    ms_group(cases, attributes, one_each[:1], one_each[:1], 2, 0)


@njit(cache=True)
def _grow(
    low: Ints,
    high: Ints,
    shape: Shape,
    cells: Cells,
    losses: Losses,
    bounds: Bounds,
    terms: Terms,
    k: int,
    first: int,
    group: NDArray[np.int32],
) -> int:
    """Stage 1 (Algorithm 1): fill ``group``, return how many groups were completed."""
    d = low.shape[1]
    hull_low, hull_high = np.empty(d, np.int64), np.empty(d, np.int64)
    members = np.empty(k, np.int64)
    count = 0
    seed = first
    while seed >= 0:
        r = seed
        size, held = 0, 0
        while True:
            take(cells, r)
            forget(r, shape, cells, losses, bounds)
            loss = 0
            for i in range(d):
                hull_low[i] = low[r, i] if size == 0 else min(hull_low[i], low[r, i])
                hull_high[i] = high[r, i] if size == 0 else max(hull_high[i], high[r, i])
                loss += hull_loss(losses, i, hull_low[i], hull_high[i])
            for j in range(terms.offsets[r], terms.offsets[r + 1]):
                terms.sigma[terms.terms[j]] += terms.weights[j]
            held |= cells.mask[cells.of_case[r]]
            members[size] = r
            size += 1
            if size == k:
                break
            r = nearest(hull_low, hull_high, size, loss, held, shape, cells, losses, bounds, terms)
            if r < 0:
                break
        for j in range(size):
            for t in range(terms.offsets[members[j]], terms.offsets[members[j] + 1]):
                terms.sigma[terms.terms[t]] = 0
            if size == k:
                group[members[j]] = count
        if size < k:
            return count
        count += 1
        seed = farthest(low[seed], high[seed], shape, cells, losses, bounds)
    return count


@njit(cache=True)
def _groups(group: NDArray[np.int32], count: int, low: Ints, high: Ints, losses: Losses) -> Groups:
    """The groups of stage 1 as hulls with member lists."""
    n, d = low.shape
    groups = Groups(
        np.empty((count, d), np.int64),
        np.empty((count, d), np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.full(count, -1, np.int32),
        np.full(n, -1, np.int32),
    )
    for r in range(n - 1, -1, -1):
        g = group[r]
        if g < 0:
            continue
        for i in range(d):
            new = groups.size[g] == 0
            groups.low[g, i] = low[r, i] if new else min(groups.low[g, i], low[r, i])
            groups.high[g, i] = high[r, i] if new else max(groups.high[g, i], high[r, i])
        groups.size[g] += 1
        groups.following[r] = groups.head[g]
        groups.head[g] = r
    for g in range(count):
        for i in range(d):
            groups.loss[g] += hull_loss(losses, i, groups.low[g, i], groups.high[g, i])
    return groups
