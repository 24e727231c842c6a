"""The greedy grouping of the bounding models, exactly as Lin 2016 and Huang 2021 define it.

``group_cases`` returns what the papers' quadratic algorithms return, ties included (SPEC section
7), at a cost that grows nearly linearly: each argmin is a branch-and-bound over the cells that
remain (``search``), and leftovers look for their group in a tree over the groups (``leftovers``).

Source: Lin 2016, Algorithms 1 and 2; Huang 2021, Algorithm 1 (HA) and procedure 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import njit
from srsql.udfs.exact_search import BoxTree, as_int64, build_box_tree, hull_loss, warm_up_boxes
from srsql.udfs.grouping.cells import (
    CellBounds,
    Cells,
    build_cells,
    case_masks,
    frequent_terms,
    new_cell_bounds,
    refresh_after_removal,
    refresh_after_return,
    remove_case,
    return_case,
)
from srsql.udfs.grouping.group_tree import new_groups
from srsql.udfs.grouping.least_loss_search import farthest_case, least_loss_case
from srsql.udfs.grouping.leftovers import merge_leftovers, place_leftovers
from srsql.udfs.grouping.privacy_risk import (
    allowed_kinds,
    new_alpha_state,
    set_base_risks,
    update_group,
)
from srsql.udfs.grouping_problem import (
    Attributes,
    Bounding,
    Cases,
    GroupingProblem,
    Leftovers,
    Terms,
    etas,
    integer_losses,
)


class Start(NamedTuple):
    """Where stage 1 begins, and how it goes on."""

    first: int
    """The first record of the first group."""
    from_last: bool
    """See ``Bounding``, like the next."""
    more_seeds: int


def group_cases(
    cases: Cases,
    attributes: Attributes,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    first: int,
    bounding: Bounding,
) -> NDArray[np.int32]:
    """Group cases so that each group has >= k carriers and sigma_s <= theta_s |carriers| for all s.

    Args:
        cases: n super-records in case-id order; an old case's box covers its earlier regions.
        attributes: the d QIDs.
        theta_num: [V] numerators of the thresholds; theta_s = num / den.
        theta_den: [V] denominators.
        k: k_effective, at least 1; every term that occurs needs floor(k theta_s) >= 1.
        first: which of the cases that groups are grown on opens the first group, counted from 0.
        bounding: which cases carry the bounds, how groups are grown, or which there are, and what
            happens to a case that no group can take.

    Returns:
        [n] group numbers in order of creation, -1 for a case that was not placed.

    Raises:
        ValueError: k is too small for a threshold, a box lies outside its tree, or ``first`` is out
            of range.

    Source: Lin 2016, Algorithms 1 and 2; Huang 2021, procedures 1 to 3; SPEC sections 7 and 8.
    """
    _check(cases, attributes, theta_num, theta_den, k, len(bounding.carrier))
    n = len(cases.low)
    group = np.full(n, -1, np.int32)
    if int(bounding.carrier.sum()) < k:
        return group
    problem = problem_of(cases, attributes, theta_num, theta_den, k, bounding)
    set_base_risks(problem.terms)
    if bounding.standing is None:
        count = _stage_1(problem, bounding, first, group)
    else:
        group[:] = bounding.standing
        count = int(group.max()) + 1
    if count == 0:
        return group
    groups = new_groups(problem, group, count)
    place_leftovers(problem, group, groups)
    if bounding.leftovers == "merge" and bool((group < 0).any()):
        merge_leftovers(problem, group, groups)
        _, dense = np.unique(group, return_inverse=True)
        group = (dense - int((group < 0).any())).astype(np.int32)
    return group


def _stage_1(
    problem: GroupingProblem, bounding: Bounding, first: int, group: NDArray[np.int32]
) -> int:
    """Grow groups, which fill ``group`` [n]; returns how many were completed."""
    growers = np.flatnonzero(bounding.grows)
    if not 0 <= first < len(growers):
        raise ValueError(f"first must be an index below {len(growers)}")
    terms = problem.terms
    masks = case_masks(terms.offsets, terms.terms, terms.bit)
    cells = build_cells(problem.low, problem.high, masks, problem.kind, terms.base_risk, growers)
    tree = build_box_tree(cells.low, cells.high, cells.base_risk, problem.losses)
    bounds = new_cell_bounds(tree, cells, problem.losses)
    start = Start(int(growers[first]), bounding.from_last, bounding.more_seeds)
    return int(_grow_groups(problem, tree, cells, bounds, start, group))


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
        cases: as for ``group_cases``, like the next four.
        attributes: see there.
        theta_num: see there.
        theta_den: see there.
        k: see there.
        first: which of all cases opens the first group, counted from 0.
        leftovers: what happens to a case that no group can take.

    Returns:
        [n] group numbers in order of creation, -1 for a case that was not placed.

    Raises:
        ValueError: as ``group_cases`` does.

    Source: Lin 2016, Definition 3 and Algorithms 1 and 2.
    """
    bounding = Bounding.of_all(len(cases.low), leftovers)
    return group_cases(cases, attributes, theta_num, theta_den, k, first, bounding)


def _check(
    cases: Cases, attributes: Attributes, theta_num: Ints, theta_den: Ints, k: int, carriers: int
) -> None:
    """Refuse what compiled code would go wrong on; ``carriers`` is the length of that array."""
    if k < 1 or cases.weight_scale < 1:
        raise ValueError("k and the weight scale must be 1 or more")
    if carriers != len(cases.low):
        raise ValueError("bounding must have one entry per case")
    cases.check_boxes(attributes)
    eta = etas(k, theta_num.astype(np.int64), theta_den.astype(np.int64), cases.weight_scale)
    if len(cases.terms) and bool((cases.weights > eta[cases.terms]).any()):
        raise ValueError("k x theta is below 1 for a term that occurs: raise k to 1 / theta")


def problem_of(
    cases: Cases,
    attributes: Attributes,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    bounding: Bounding,
) -> GroupingProblem:
    """The arrays that the compiled code takes; arguments as for ``group_cases``.

    Base risks are still to be filled in, where they are needed (``set_base_risks``).
    """
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
        eta=etas(k, theta_num, theta_den, cases.weight_scale),
        frequent=frequent,
        bit=bit,
        base_risk=np.ones(n),
        unbounded=(theta_num >= theta_den) & bounding.after_join,
        weight_scale=int(cases.weight_scale),
        after_join=bounding.after_join,
    )
    return GroupingProblem(
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
    warm_up_boxes()
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


@njit()
def _grow_groups(
    problem: GroupingProblem,
    tree: BoxTree,
    cells: Cells,
    bounds: CellBounds,
    start: Start,
    group: NDArray[np.int32],
) -> int:
    """Stage 1 (Lin 2016, Algorithm 1; Huang 2021, procedure 1): grow groups of k carriers.

    Fills ``group`` [n]; returns how many groups were completed. A group that finds no further case
    before it has k carriers is given up. That ends the stage, or its first record is left over and
    the others are free again, as long as there are ``start.more_seeds``.
    """
    low, high, losses, terms = problem.low, problem.high, problem.losses, problem.terms
    d = low.shape[1]
    hull_low, hull_high = np.empty(d, np.int64), np.empty(d, np.int64)
    members = np.empty(len(low), np.int64)
    count = 0
    seed, more_seeds = as_int64(start.first), start.more_seeds
    while seed >= 0:
        r = seed
        size, carriers, group_mask = as_int64(0), as_int64(0), as_int64(0)
        state = new_alpha_state(problem.k)
        while True:
            remove_case(cells, r)
            refresh_after_removal(r, tree, cells, losses, bounds)
            loss = as_int64(0)
            for i in range(d):
                hull_low[i] = low[r, i] if size == 0 else min(hull_low[i], low[r, i])
                hull_high[i] = high[r, i] if size == 0 else max(hull_high[i], high[r, i])
                loss += hull_loss(losses, i, hull_low[i], hull_high[i])
            for j in range(terms.offsets[r], terms.offsets[r + 1]):
                terms.sigma[terms.terms[j]] += terms.weights[j]
            group_mask |= cells.mask[cells.of_case[r]]
            update_group(state, problem.kind[r], False)
            members[size] = r
            size += 1
            carriers += problem.carrier[r]
            if carriers == problem.k:
                break
            kinds = allowed_kinds(state, False, problem.alpha_num, problem.alpha_den)
            next_case = least_loss_case(
                hull_low,
                hull_high,
                size,
                loss,
                group_mask,
                kinds,
                tree,
                cells,
                losses,
                bounds,
                terms,
            )
            if next_case < 0:
                break
            r = next_case
        for j in range(size):
            for t in range(terms.offsets[members[j]], terms.offsets[members[j] + 1]):
                terms.sigma[terms.terms[t]] = 0
            if carriers == problem.k:
                group[members[j]] = count
        if carriers < problem.k and more_seeds == 0:
            return count
        if carriers < problem.k:
            more_seeds -= 1
            for j in range(size - 1, 0, -1):
                return_case(cells, members[j])
                refresh_after_return(members[j], tree, cells, losses, bounds)
        else:
            count += 1
        origin = r if start.from_last and carriers == problem.k else seed
        seed = farthest_case(low[origin], high[origin], tree, cells, losses, bounds)
    return count
