"""Refinement: less loss at the same bounds, by a local search over the groups that are there.

The greedy takes its cases one by one and never looks back: its last groups collect what is left
from everywhere. Here every group that loses anything is looked at again, the one that loses most
first: it is split where it has the carriers of two, its members go to other groups where they cost
less, all of them or one by one, and it is dealt anew together with its neighbours. Before that,
cases that no group could take are placed, if need be by letting another one go elsewhere or by
joining groups and splitting what they become.

First fewer cases are withheld, then less is lost; a change is made only if it is better in this
order and every group that it touches keeps its bounds (``members.keeps_bounds``). Nothing is drawn,
and what bounds the work are steps, never the clock: the same groups are refined to the same groups.

Source: SPEC section 7; local recoding by exchange of neighbours is ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64, warm_up_boxes
from srsql.udfs.grouping.greedy import problem_of
from srsql.udfs.grouping.members import (
    Members,
    assign,
    keeps_bounds,
    members_of,
    new_dealt,
)
from srsql.udfs.grouping.neighbours import grow_forest
from srsql.udfs.grouping.regroup import Effort, improve, place
from srsql.udfs.grouping.resplit import NO_LIMIT
from srsql.udfs.grouping_problem import Attributes, Bounding, Cases, integer_losses

Refinement = Literal["fast", "full"]
WHOLE = 512
"""Cases at most that may become one group where there is none at all."""
EFFORTS: dict[Refinement, Effort] = {
    "fast": Effort(2, 60, 1, 12, 2000, 12, 400, False),
    "full": Effort(24, 300, 5, NO_LIMIT, NO_LIMIT, 48, 4, True),
}
FEW = 2000
"""Cases up to which ``fast`` goes farther than among many, where that takes no time."""
AMONG_FEW = Effort(4, 300, 3, 12, 2000, 12, 400, False)


@dataclass(frozen=True)
class Standing:
    """Where n cases stand, how far to go, and what is asked beside k, theta and alpha."""

    known: Ints
    """[n] the QIDs that each case may be grouped by, as a bit mask."""
    group: Ints
    """[n] the group of each case, from 0 on; -1 for one that is to be placed."""
    effort: Refinement
    """How far to go."""
    diversity: int = 0
    """l distinct values of each sensitive attribute, held by l cases (Gal et al. 2008); 0: any."""
    attribute_of: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """[V] the sensitive attribute of each value, from 0 on, where ``diversity`` is asked."""
    attribute_count: int = 0
    """How many sensitive attributes there are."""

    def check(self, n: int, vocabulary: int) -> None:
        """Refuse what compiled code would read past the ends of arrays for.

        Raises:
            ValueError: a length is wrong, or a number is out of range.
        """
        if not n == len(self.known) == len(self.group):
            raise ValueError("known and group must have one entry per case")
        if self.effort not in EFFORTS:
            raise ValueError(f"effort is {self.effort!r}: give {' or '.join(EFFORTS)}")
        if n and int(self.group.min()) < -1:
            raise ValueError("groups are numbered from 0 on; -1 stands for none")
        if self.diversity == 0:
            return
        if len(self.attribute_of) != vocabulary:
            raise ValueError("a value has no attribute")
        if vocabulary and not 0 <= self.attribute_of.min() <= self.attribute_of.max() < (
            self.attribute_count
        ):
            raise ValueError("the attribute of a value is out of range")


def refine_groups(
    cases: Cases,
    attributes: Attributes,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    bounding: Bounding,
    standing: Standing,
) -> NDArray[np.int32]:
    """Refine groups, and place cases that are in none.

    Args:
        cases: n super-records in case-id order, of all missingness patterns; ends of a QID that a
            case does not know are 0.
        attributes: the d QIDs.
        theta_num: [V] numerators of the thresholds; theta_s = num / den.
        theta_den: [V] denominators.
        k: k_effective.
        bounding: which cases carry the bounds, and alpha.
        standing: the groups that there are, how far to go, and what else groups have to keep.

    Returns:
        [n] group numbers in the order of their first cases; -1 for a case that was not placed.

    Raises:
        ValueError: a box lies outside its tree, a length is wrong, a number is out of range, or a
            group breaks a bound.

    Source: SPEC section 7.
    """
    n, d = cases.low.shape
    standing.check(n, len(theta_num))
    if n != len(bounding.carrier) or k < 1:
        raise ValueError("bounding must have one entry per case, and k must be 1 or more")
    cases.check_boxes(attributes)
    problem = problem_of(cases, attributes, theta_num, theta_den, k, bounding)
    _, unit = integer_losses(attributes, n)
    alive = int(standing.group.max(initial=-1)) + 1
    room = alive + alive // 2 + int(bounding.carrier.sum()) // k // 2 + 16
    members = Members(
        problem, standing.known.astype(np.int64), int(unit),
        np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.full(room, -1, np.int32),
        np.zeros((room, d), np.int64), np.zeros((room, d), np.int64),
        np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room, np.int64),
        np.zeros(room, np.int64), np.zeros(room, np.bool_), np.zeros(len(theta_num), np.int64),
        new_dealt(d),
        int(standing.diversity), standing.attribute_of.astype(np.int64),
        int(standing.attribute_count),
    )  # fmt: skip
    effort = AMONG_FEW if standing.effort == "fast" and n <= FEW else EFFORTS[standing.effort]
    if not _refine(standing.group.astype(np.int64), members, effort):
        raise ValueError("a group breaks a bound before it is refined")
    return np.asarray(_numbered(members.group))


def warm_up() -> None:
    """Load the compiled kernel from the cache, or compile it (once per installation)."""
    warm_up_boxes()
    ends = np.array([0, 9, 0, 9, 5, 4], dtype=np.int64)[:, None]
    ones = np.ones(6, np.int64)
    none = np.empty(0, np.int64)
    cases = Cases(ends, ends, np.arange(7, dtype=np.int64), np.zeros(6, np.int32), ones, 1)
    refine_groups(
        cases, Attributes(np.array([9]), np.array([0, 0]), none, none, none), ones[:1], ones[:1], 2,
        Bounding.of_all(6), Standing(ones, np.array([0, 0, 1, 1, -1, 0]), "fast"),
    )  # fmt: skip


@njit()
def _numbered(group: NDArray[np.int32]) -> NDArray[np.int32]:
    """The groups numbered in the order of their first cases."""
    number = np.full(len(group) + group.max() + 2, -1, np.int32)
    count = 0
    for r in range(len(group)):
        if group[r] >= 0:
            if number[group[r]] < 0:
                number[group[r]] = count
                count += 1
            group[r] = number[group[r]]
    return group


@njit()
def _refine(start: Ints, members: Members, effort: Effort) -> bool:
    """Refine until nothing changes any more, or the passes are used up.

    Returns:
        False where a group breaks a bound to begin with.
    """
    count = _fill(start, members)
    who = np.empty(len(start) + 1, np.int64)
    for g in range(count):
        if not keeps_bounds(who, members_of(g, members, who, as_int64(0)), members):
            return False
    if count == 0:
        count = _all_in_one(members, who)
    whole = True  # every group is to be looked at
    for _ in range(effort.passes):
        if count == 0:
            break
        forest = grow_forest(members, count)
        # the next group that is made, and how many cases may be placed at the expense of others
        slots = np.array([count, len(start) // effort.allowance + 100])
        better = False
        waiting = np.flatnonzero(members.group < 0)
        for at in range(len(waiting)):
            if members.group[waiting[at]] < 0 and place(
                waiting, at, members, forest, slots, effort, who
            ):
                better = True
        for g in _ranked(members, count):
            tries = 0
            while tries < 4 and members.changed[g] and members.cost[g] > 0:
                members.changed[g] = False
                tries += 1
                if improve(g, members, forest, slots, effort, who):
                    better = True
        count = _close_ranks(members, slots[0])
        if not better and (whole or not effort.thorough):
            break
        whole = effort.thorough and not better
        if whole:
            members.changed[:count] = True
    return True


@njit()
def _ranked(members: Members, count: int) -> Ints:
    """The first ``count`` groups, the largest loss of a member first, then the least number."""
    per_case = np.zeros(count, np.int64)
    for g in range(count):
        if members.size[g] > 0:
            per_case[g] = -(members.cost[g] // members.size[g])
    return np.argsort(per_case, kind="mergesort")


@njit()
def _fill(start: Ints, members: Members) -> int:
    """Enter the groups that cases are in at first; returns how many there are."""
    n = len(start)
    count = as_int64(start.max() + 1)
    begin = np.zeros(count + 1, np.int64)
    for g in start:
        if g >= 0:
            begin[g + 1] += 1
    for g in range(count):
        begin[g + 1] += begin[g]
    at = begin[:-1].copy()
    listed = np.empty(n, np.int64)
    for r in range(n):
        if start[r] >= 0:
            listed[at[start[r]]] = r
            at[start[r]] += 1
    for g in range(count):
        assign(g, listed[begin[g] : begin[g + 1]], begin[g + 1] - begin[g], members)
    return _close_ranks(members, count)


@njit()
def _close_ranks(members: Members, count: int) -> int:
    """Number the groups that are left from 0 on; returns how many."""
    left = as_int64(0)
    for g in range(count):
        if members.size[g] == 0:
            continue
        if left < g:
            members.head[left] = members.head[g]
            members.low[left], members.high[left] = members.low[g], members.high[g]
            members.size[left], members.carriers[left] = members.size[g], members.carriers[g]
            members.pattern[left], members.cost[left] = members.pattern[g], members.cost[g]
            members.changed[left] = members.changed[g]
            members.size[g] = 0
            r = members.head[left]
            while r >= 0:
                members.group[r] = left
                r = members.following[r]
        left += 1
    return left


@leaf()
def _all_in_one(members: Members, who: Ints) -> int:
    """Make one group of all cases where there is none and they may be one; 1 or 0 groups then."""
    n = len(members.group)
    if n == 0 or n > WHOLE:
        return as_int64(0)
    for r in range(n):
        who[r] = r
    if not keeps_bounds(who, n, members):
        return as_int64(0)
    assign(as_int64(0), who, n, members)
    return as_int64(1)
