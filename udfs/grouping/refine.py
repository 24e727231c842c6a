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

A case only goes where all is shown that is shown of it, and no more than it knows. So cases that
know different things mostly never meet: such parts are refined at the same time, and become what
they would one after the other.

Source: SPEC section 7; local recoding by exchange of neighbours is ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints, at_once, numbered
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64, warm_up_boxes
from srsql.udfs.grouping.greedy import problem_of
from srsql.udfs.grouping.members import (
    Members,
    assign,
    keeps_bounds,
    new_dealt,
)
from srsql.udfs.grouping.neighbours import Forest, new_forest, plant_trees
from srsql.udfs.grouping.regroup import Effort, improve, place
from srsql.udfs.grouping.resplit import NO_LIMIT
from srsql.udfs.grouping_problem import (
    Attributes,
    Bounding,
    Cases,
    GroupingProblem,
    integer_losses,
)

Refinement = Literal["fast", "full"]
MASKS = 512
"""Sets of known QIDs at most that are looked at in pairs; where there are more, all is one part."""
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
    threads: int = 1
    """How many parts that never meet are refined at a time; the groups are the same."""

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
    n = len(cases.low)
    standing.check(n, len(theta_num))
    if n != len(bounding.carrier) or k < 1:
        raise ValueError("bounding must have one entry per case, and k must be 1 or more")
    cases.check_boxes(attributes)
    problem = problem_of(cases, attributes, theta_num, theta_den, k, bounding)
    _, unit = integer_losses(attributes, n)
    effort = AMONG_FEW if standing.effort == "fast" and n <= FEW else EFFORTS[standing.effort]
    parts = parts_by_known(standing.known, standing.group)
    found = _refined(problem, int(unit), standing, effort, parts)
    if found is None:
        found = _refined(problem, int(unit), standing, effort, np.zeros(n, np.int64))
    assert found is not None  # of one part there is always something
    return np.asarray(_numbered(found))


def parts_by_known(known: Ints, group: Ints) -> Ints:
    """Parts of the cases that never meet while their groups are refined.

    A case goes from a group that shows P to one that shows all of P, and nothing that the case does
    not know. What a group of some cases shows is what they all know, and so at least what all cases
    of their part know. Two parts that know L and L' of each of their cases are therefore apart
    unless a case of the one knows K, one of the other K', and both K and K' hold all of L and L'.

    Args:
        known: [n] the QIDs that each case knows, as a bit mask.
        group: [n] its group; where one has none it may go anywhere, so that there is one part.

    Returns:
        [n] the part of each case, from 0 on.

    Source: ours; a sufficient condition.
    """
    if not len(group) or group.min() < 0:
        return np.zeros(len(group), np.int64)
    masks, place = numbered(known)
    if len(masks) > MASKS:
        return np.zeros(len(group), np.int64)
    some = np.zeros(int(group.max()) + 1, np.int64)
    some[group] = place
    met, _ = numbered(some[group] * len(masks) + place)
    part = np.arange(len(masks))
    for one, other in zip(*np.divmod(met, len(masks)), strict=True):
        part[part == part[one]] = part[other]
    while True:
        all_know = np.full(len(masks), -1)
        np.bitwise_and.at(all_know, part, masks)
        least = all_know[part]
        meet = ((least[:, None] | least) & ~(masks[:, None] & masks)) == 0
        joined = np.argwhere(meet & (part[:, None] < part))
        if not len(joined):
            return np.unique(part, return_inverse=True)[1][place]
        for one, other in np.unique(part[joined], axis=0):  # who meets now meets in any union
            part[part == part[one]] = part[other]


@dataclass(frozen=True)
class _Part:
    """Cases that never meet others, and their groups."""

    members: Members
    """All cases; the groups of this part alone, numbered from 0 on."""
    scratch: Ints
    """[cases of the part + 1]"""
    groups: int
    """How many groups there are, none of which is empty."""


def _refined(
    problem: GroupingProblem, unit: int, standing: Standing, effort: Effort, part_of: Ints
) -> NDArray[np.int32] | None:
    """Enter the groups and refine them until nothing changes any more, or the passes are used up.

    Returns:
        [n] the groups, -1 for a case that was not placed; None where one of several parts had no
        room for all groups that it wanted: whether one part would have had it, is not known then.

    Raises:
        ValueError: a group breaks a bound.
    """
    start, alive = _by_part(standing.group, part_of)
    count = len(alive)
    listed, begin = _listed(start, int(alive.sum()))
    cases = np.bincount(part_of, minlength=count)
    carriers = np.bincount(part_of[problem.carrier], minlength=count)
    numbers = alive if count > 1 else standing.group.max(initial=-1, keepdims=True) + 1
    room = numbers + numbers // 2 + carriers // problem.k // 2 + (16 if count == 1 else 0)
    every = _no_members(problem, unit, standing, int(room.sum()))

    def enter(part: int) -> _Part:
        first, slots = int(alive[:part].sum()), int(room[:part].sum())
        members = _groups_between(every, slots, slots + int(room[part]))
        scratch = np.empty(cases[part] + 1, np.int64)
        made = _enter(listed, begin[first : first + alive[part] + 1], members, scratch)
        if made < 0:
            raise ValueError("a group breaks a bound before it is refined")
        return _Part(members, scratch, made)

    def look(part: _Part) -> tuple[_Part, bool, bool]:
        """One pass: whether anything became better, and whether a group found no room."""
        waiting = np.flatnonzero(every.group < 0) if count == 1 else np.empty(0, np.int64)
        if part.groups == 0:
            return part, False, False
        forest = new_forest(part.members, part.groups)
        plant_trees(forest, part.members, part.groups)
        better, groups, full = _pass(
            part.members, forest, part.groups, waiting, effort, part.scratch
        )
        return replace(part, groups=groups), better, full

    parts = at_once(enter, range(count), standing.threads, lambda part: int(alive[part]))
    left = effort.passes
    while left > 0:  # every group is to be looked at
        passes, better = 0, True
        while better and passes < left:  # all take as many: a pass may leave some to be looked at
            looked = at_once(look, parts, standing.threads, lambda part: part.groups)
            parts = [part for part, _, _ in looked]
            if count > 1 and any(full for _, _, full in looked):
                return None
            better, passes = any(improved for _, improved, _ in looked), passes + 1
        if passes == 1 or not effort.thorough:
            break
        left -= passes
        for part in parts:
            part.members.changed[: part.groups] = True
    shift = np.cumsum([0, *(part.groups for part in parts)])[part_of]
    return np.where(every.group < 0, -1, every.group + shift).astype(np.int32)


def _by_part(group: Ints, part_of: Ints) -> tuple[Ints, Ints]:
    """The groups of the cases, -1 for none, numbered anew from 0 on, those of a part in their order
    one after the other; and how many groups each part has."""
    within = group >= 0
    groups, place = numbered(group[within])
    part = np.zeros(len(groups), np.int64)
    part[place] = part_of[within]
    turn = np.empty_like(part)
    turn[np.argsort(part, kind="stable")] = np.arange(len(part))
    start = np.full(len(group), -1, np.int64)
    start[within] = turn[place]
    return start, np.bincount(part, minlength=int(part_of.max(initial=0)) + 1)


def _no_members(problem: GroupingProblem, unit: int, standing: Standing, room: int) -> Members:
    """All cases, and room for so many groups, of which there is none yet."""
    n, d = problem.low.shape
    return Members(
        problem, standing.known.astype(np.int64), unit,
        np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.full(room, -1, np.int32),
        np.zeros((room, d), np.int64), np.zeros((room, d), np.int64),
        np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room, np.int64),
        np.zeros(room, np.int64), np.zeros(room, np.bool_),
        np.zeros(len(problem.theta_num), np.int64), new_dealt(d),
        int(standing.diversity), standing.attribute_of.astype(np.int64),
        int(standing.attribute_count),
    )  # fmt: skip


def _groups_between(every: Members, begin: int, end: int) -> Members:
    """The same with these groups alone, and scratch of its own."""
    by_group = ("head", "low", "high", "size", "carriers", "pattern", "cost", "changed")
    return every._replace(
        sigma=np.zeros_like(every.sigma),
        dealt=new_dealt(every.low.shape[1]),
        **{name: getattr(every, name)[begin:end] for name in by_group},
    )


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
def _listed(start: Ints, count: int) -> tuple[Ints, Ints]:
    """The cases group by group, in ascending order, and [count + 1] where each group begins."""
    begin = np.zeros(count + 1, np.int64)
    for g in start:
        if g >= 0:
            begin[g + 1] += 1
    for g in range(count):
        begin[g + 1] += begin[g]
    at = begin[:-1].copy()
    listed = np.empty(begin[count], np.int64)
    for r in range(len(start)):
        if start[r] >= 0:
            listed[at[start[r]]] = r
            at[start[r]] += 1
    return listed, begin


@njit()
def _enter(listed: Ints, begin: Ints, members: Members, who: Ints) -> int:
    """Enter the groups that cases are in; without any, all cases where they may be one.

    Args:
        listed: the cases group by group.
        begin: [groups + 1] where each of these groups begins.
        members: room for them.
        who: scratch, with room for one more than the cases.

    Returns:
        How many groups there are; -1 where one breaks a bound.
    """
    count = as_int64(len(begin) - 1)
    for g in range(count):
        own = listed[begin[g] : begin[g + 1]]
        assign(g, own, len(own), members)
        if not keeps_bounds(own, len(own), members):
            return as_int64(-1)
    return _all_in_one(members, who) if count == 0 else count


@njit()
def _pass(
    members: Members, forest: Forest, count: int, waiting: Ints, effort: Effort, who: Ints
) -> tuple[bool, int, bool]:
    """Place the cases that wait, and look at every one of the groups that changed.

    Returns:
        Whether anything became better, how many groups there are, and whether one more was wanted
        for which there was no room.
    """
    # the next group that is made, how many cases may be placed at the expense of others, and how
    # often a group was wanted for which there was no room
    slots = np.array([count, len(members.group) // effort.allowance + 100, 0])
    better = False
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
    return better, _close_ranks(members, slots[0]), slots[2] > 0


@njit()
def _ranked(members: Members, count: int) -> Ints:
    """The first ``count`` groups, the largest loss of a member first, then the least number."""
    per_case = np.zeros(count, np.int64)
    for g in range(count):
        if members.size[g] > 0:
            per_case[g] = -(members.cost[g] // members.size[g])
    return np.argsort(per_case, kind="mergesort")


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
