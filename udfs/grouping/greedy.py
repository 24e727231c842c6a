"""The greedy grouping of the bounding models, exact: Lin 2016, Algorithms 1 and 2; Huang 2021, HA.

``group_cases`` returns what the papers' quadratic algorithms return, ties included (SPEC section
7), at a cost that grows nearly linearly: each argmin is a branch-and-bound over the cells that
remain (``search``), and leftovers look for their group in a tree over the groups (``leftovers``).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.exact_search import Shape, build_shape, hull_loss, whole
from srsql.udfs.grouping.cells import (
    Bounds,
    Cells,
    build_cells,
    case_masks,
    forget,
    frequent_terms,
    new_bounds,
    take,
)
from srsql.udfs.grouping.group_tree import new_groups
from srsql.udfs.grouping.grouping_problem import (
    Attributes,
    Bounding,
    Cases,
    Task,
    Terms,
    integer_losses,
)
from srsql.udfs.grouping.leftovers import merge_leftovers, place_leftovers
from srsql.udfs.grouping.privacy_risk import allowed_kinds, new_state, set_base, update_group
from srsql.udfs.grouping.search import farthest, nearest

Leftovers = Literal["withhold", "merge"]


def group_cases(
    cases: Cases,
    attributes: Attributes,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    first: int,
    bounding: Bounding,
    leftovers: Leftovers = "withhold",
) -> NDArray[np.int32]:
    """Group cases so that each group has >= k carriers and sigma_s <= theta_s |carriers| for all s.

    Args:
        cases: n super-records in case-id order; an old case's box covers its earlier regions.
        attributes: the d QIDs.
        theta_num: [V] numerators of the thresholds; theta_s = num / den.
        theta_den: [V] denominators.
        k: k_effective, at least 1; every term that occurs needs floor(k theta_s) >= 1.
        first: which of the cases that groups are grown on opens the first group, counted from 0.
        bounding: which cases carry the bounds, and the rules of growth.
        leftovers: what happens to a case that no group can take: it stays out (``withhold``), or
            groups are merged until one can (``merge``).

    Returns:
        [n] group numbers in order of creation, -1 for a case that was not placed.

    Raises:
        ValueError: k is too small for a threshold, or ``first`` is out of range.
    """
    _check(cases, attributes, theta_num, theta_den, k, bounding, leftovers)
    n = len(cases.low)
    group = np.full(n, -1, np.int32)
    growers = np.flatnonzero(bounding.grows)
    if int(bounding.carrier.sum()) < k:
        return group
    if not 0 <= first < len(growers):
        raise ValueError(f"first must be an index below {len(growers)}")
    task = _task(cases, attributes, theta_num, theta_den, k, bounding)
    terms = task.terms
    masks = case_masks(terms.offsets, terms.terms, terms.bit)
    cells = build_cells(task.low, task.high, masks, task.kind, terms.base, growers)
    shape = build_shape(cells.low, cells.high, cells.base, task.losses)
    bounds = new_bounds(shape, cells, task.losses)
    count = _grow(task, shape, cells, bounds, int(growers[first]), bounding.from_last, group)
    if count == 0:
        return group
    groups = new_groups(task, group, count)
    place_leftovers(task, group, groups)
    if leftovers == "merge" and bool((group < 0).any()):
        merge_leftovers(task, group, groups)
        _, dense = np.unique(group, return_inverse=True)
        group = (dense - int((group < 0).any())).astype(np.int32)
    return group


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

    Arguments and result as for ``group_cases``; every case carries the bounds.
    """
    everyone = Bounding.of_all(len(cases.low))
    return group_cases(cases, attributes, theta_num, theta_den, k, first, everyone, leftovers)


def _check(
    cases: Cases,
    attributes: Attributes,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    bounding: Bounding,
    leftovers: str,
) -> None:
    """Refuse what compiled code would go wrong on."""
    if leftovers not in ("withhold", "merge"):
        raise ValueError(f"leftovers is {leftovers!r}: give withhold or merge")
    if k < 1 or cases.one < 1:
        raise ValueError("k and the unit must be 1 or more")
    if len(bounding.carrier) != len(cases.low):
        raise ValueError("bounding must have one entry per case")
    sizes = np.diff(attributes.tree_start)
    trees = sizes > 0
    if bool((cases.low > cases.high).any() or (cases.low[:, trees] < 0).any()):
        raise ValueError("a box ends before it begins, or before its tree")
    if bool((cases.high[:, trees] >= sizes[trees]).any()):
        raise ValueError("a box ends behind its tree")
    eta = k * theta_num.astype(np.int64) // theta_den.astype(np.int64) * cases.one
    if len(cases.terms) and bool((cases.weights > eta[cases.terms]).any()):
        raise ValueError("k x theta is below 1 for a term that occurs: raise k to 1 / theta")


def _task(
    cases: Cases,
    attributes: Attributes,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    bounding: Bounding,
) -> Task:
    n, vocabulary = len(cases.low), len(theta_num)
    theta_num, theta_den = theta_num.astype(np.int64), theta_den.astype(np.int64)
    losses, _ = integer_losses(attributes, n)
    frequent = frequent_terms(cases.terms, n, vocabulary, k)
    bit = np.full(vocabulary, -1, np.int8)
    bit[frequent] = np.arange(len(frequent))
    terms = Terms(
        offsets=cases.offsets.astype(np.int64),
        terms=cases.terms,
        weights=cases.weights.astype(np.int64),
        sigma=np.zeros(vocabulary, np.int64),
        eta=k * theta_num // theta_den * cases.one,
        frequent=frequent,
        bit=bit,
        base=np.ones(n),
        free=(theta_num >= theta_den) & bounding.after_join,
        one=int(cases.one),
        after_join=bounding.after_join,
    )
    set_base(terms)
    return Task(
        low=np.ascontiguousarray(cases.low, np.int64),
        high=np.ascontiguousarray(cases.high, np.int64),
        losses=losses,
        terms=terms,
        theta_num=theta_num,
        theta_den=theta_den,
        k=int(k),
        carrier=bounding.carrier,
        kind=bounding.kind,
        alpha_num=int(bounding.alpha_num),
        alpha_den=int(bounding.alpha_den),
    )


def warm_up() -> None:
    """Load the compiled kernel from the cache, or compile it (once per installation)."""
    ends = np.arange(6, dtype=np.int64)[:, None]
    offsets = np.arange(7, dtype=np.int64)
    ones = np.ones(6, np.int64)
    cases = Cases(ends, ends, offsets, np.zeros(6, np.int32), ones, 1)
    none = np.empty(0, np.int64)
    attributes = Attributes(np.array([5]), np.array([0, 0]), none, none, none)
    new = np.arange(6) < 5
    group_cases(
        cases, attributes, ones[:1], ones[:1], 2, 0,
        Bounding(new, new, np.zeros(6, np.int8), after_join=True),
    )  # fmt: skip


@njit(cache=True)
def _grow(
    task: Task,
    shape: Shape,
    cells: Cells,
    bounds: Bounds,
    first: int,
    from_last: bool,
    group: NDArray[np.int32],
) -> int:
    """Stage 1 (Algorithm 1; HA, procedure 1): fill ``group``, return how many were completed."""
    low, high, losses, terms = task.low, task.high, task.losses, task.terms
    d = low.shape[1]
    hull_low, hull_high = np.empty(d, np.int64), np.empty(d, np.int64)
    members = np.empty(len(low), np.int64)
    count = 0
    seed = first
    while seed >= 0:
        r = seed
        size, carriers, held = whole(0), whole(0), whole(0)
        state = new_state(task.k)
        while True:
            take(cells, r)
            forget(r, shape, cells, losses, bounds)
            loss = whole(0)
            for i in range(d):
                hull_low[i] = low[r, i] if size == 0 else min(hull_low[i], low[r, i])
                hull_high[i] = high[r, i] if size == 0 else max(hull_high[i], high[r, i])
                loss += hull_loss(losses, i, hull_low[i], hull_high[i])
            for j in range(terms.offsets[r], terms.offsets[r + 1]):
                terms.sigma[terms.terms[j]] += terms.weights[j]
            held |= cells.mask[cells.of_case[r]]
            update_group(state, task.kind[r], False)
            members[size] = r
            size += 1
            carriers += task.carrier[r]
            if carriers == task.k:
                break
            kinds = allowed_kinds(state, False, task.alpha_num, task.alpha_den)
            chosen = nearest(
                hull_low, hull_high, size, loss, held, kinds, shape, cells, losses, bounds, terms
            )
            if chosen < 0:
                break
            r = chosen
        for j in range(size):
            for t in range(terms.offsets[members[j]], terms.offsets[members[j] + 1]):
                terms.sigma[terms.terms[t]] = 0
            if carriers == task.k:
                group[members[j]] = count
        if carriers < task.k:
            return count
        count += 1
        origin = r if from_last else seed
        seed = farthest(low[origin], high[origin], shape, cells, losses, bounds)
    return count
