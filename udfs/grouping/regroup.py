"""One change for the better: how a group is regrouped, and how a case without one is placed.

A group is split where it has the carriers of two; its members go to other groups where they cost
less, all of them or one by one; it is dealt anew together with one or two of its neighbours. A case
joins the group where it costs least; or takes the place of one that finds another group; or groups
are joined until it fits, and what they become is split.

Every change is judged by ``members.keeps_bounds`` in every group that it touches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64
from srsql.udfs.grouping.members import (
    WIDE,
    Members,
    assign,
    bits,
    cost_of,
    join,
    join_cost,
    keeps_bounds,
    members_of,
    without,
)
from srsql.udfs.grouping.neighbours import Forest, best_join, follow, nearest_groups
from srsql.udfs.grouping.resplit import NO_LIMIT, cut, deal

BUNDLE = 6
"""Cases without a group that are placed together at most."""
CROWD = 500
"""Members of a group that are looked at one by one, at most."""
SPLIT = 20
"""Times the usual steps that the search for a split may take: there are few."""
TRIPLES = 5
"""Near groups of which two are dealt anew together with a group, at most."""


class Effort(NamedTuple):
    """How far the search goes."""

    passes: int
    """Times that all groups which changed are looked at."""
    steps: int
    """Cases dealt in the search for one partition."""
    neighbours: int
    """Groups near each case with which its own is dealt anew."""
    tries: int
    """Groups judged when a case looks for a better one."""
    tries_to_place: int
    """Groups judged when it has none."""
    merged: int
    """Groups that are joined at most to place a case, and times k that they may have as members;
    as many groups are asked for a case that could go elsewhere."""
    allowance: int
    """One of so many cases at most is placed at the expense of others, in a pass."""
    thorough: bool
    """Whether three groups are dealt anew together, too, and every group is looked at again before
    the search ends."""


@njit()
def improve(
    g: int, members: Members, forest: Forest, slots: Ints, effort: Effort, who: Ints
) -> bool:
    """Make one change for the better to group ``g``, if one is found."""
    if members.carriers[g] >= 2 * members.problem.k and _split(
        g, members, forest, slots, effort, who
    ):
        return True
    if _dissolve(g, members, forest, effort, who):
        return True
    if _let_go(g, members, forest, effort, who):
        return True
    return _deal_with_neighbours(g, members, forest, slots, effort, who)


@njit()
def _split(
    g: int, members: Members, forest: Forest, slots: Ints, effort: Effort, who: Ints
) -> bool:
    """Split a group into two that lose less than it does."""
    if _is_full(members, slots):
        return False
    count = members_of(g, members, who, as_int64(0))
    pattern, cost = members.pattern[g], members.cost[g]
    if count <= WIDE:
        own = who[:count].copy()
        lost, part = deal(own, count, as_int64(2), cost, effort.steps * SPLIT, members)
        if lost < 0:
            return False
        _assign_parts(own, part, np.array([g, slots[0]]), members, forest)
        slots[0] += 1
        return True
    own = who[:count].copy()
    limit = cost - _hidden(who, count, pattern, members)
    first = cut(own, count, pattern, limit, members)
    if first == 0:
        return False
    assign(g, own, first, members)
    assign(slots[0], own[first:], count - first, members)
    slots[0] += 1
    follow(g, members, forest)
    return True


@leaf()
def _is_full(members: Members, slots: Ints) -> bool:
    """Whether there is no room for one more group, which is counted where there is none."""
    full = slots[0] >= len(members.size)
    slots[2] += full
    return bool(full)


@leaf()
def _hidden(who: Ints, count: int, pattern: int, members: Members) -> int:
    """What the cases ``who[:count]`` lose by what they know and the pattern does not show."""
    lost = as_int64(0)
    for j in range(count):
        lost += bits(members.known[who[j]] & ~pattern)
    return int(lost * members.unit)


@njit()
def _assign_parts(who: Ints, part: Ints, groups: Ints, members: Members, forest: Forest) -> None:
    """Make the parts of the cases ``who`` the groups of these numbers."""
    chosen = np.empty(len(who), np.int64)
    for c in range(len(groups)):
        count = as_int64(0)
        for j in range(len(who)):
            if part[j] == c:
                chosen[count] = who[j]
                count += 1
        assign(groups[c], chosen, count, members)
    for g in groups:
        follow(g, members, forest)


@njit()
def _dissolve(g: int, members: Members, forest: Forest, effort: Effort, who: Ints) -> bool:
    """Let all members of a group go to others, if they lose less there together."""
    count, before = members.size[g], members.cost[g]
    if count > WIDE:
        return False
    own = np.empty(count, np.int64)
    members_of(g, members, own, as_int64(0))
    went = np.full(count, -1, np.int64)
    spent = as_int64(0)
    for j in range(count):
        h, added = best_join(own[j], g, before - spent, effort.tries, members, forest, who)
        if h < 0:
            break
        spent += added
        went[j] = h
        join(own[j], h, members)
        follow(h, members, forest)
    if went[count - 1] >= 0:
        assign(g, own, as_int64(0), members)
        follow(g, members, forest)
        return True
    for j in range(count - 1, -1, -1):
        if went[j] >= 0:
            kept = without(own[j], went[j], members, who)
            assign(went[j], who, kept, members)  # which has it looked at once more
            follow(went[j], members, forest)
    changed = members.changed[g]
    assign(g, own, count, members)
    members.changed[g] = changed
    return False


@njit()
def _let_go(g: int, members: Members, forest: Forest, effort: Effort, who: Ints) -> bool:
    """Let the member go to another group that makes the most of it, if one does at all."""
    problem = members.problem
    count = members.size[g]
    if count > CROWD:
        return False
    own = np.empty(count, np.int64)
    members_of(g, members, own, as_int64(0))
    rest = np.empty(count, np.int64)
    best_gain, best_case, best_group = as_int64(0), as_int64(-1), as_int64(-1)
    for j in range(count):
        r = own[j]
        if count == 1 or (problem.carrier[r] and members.carriers[g] <= problem.k):
            continue
        kept = without(r, g, members, rest)
        saved = members.cost[g] - cost_of(rest, kept, members)
        if saved <= best_gain or not keeps_bounds(rest, kept, members):
            continue
        h, added = best_join(r, g, saved - best_gain, effort.tries, members, forest, who)
        if h >= 0:
            best_gain, best_case, best_group = saved - added, r, h
    if best_case < 0:
        return False
    kept = without(best_case, g, members, rest)
    assign(g, rest, kept, members)
    join(best_case, best_group, members)
    follow(g, members, forest)
    follow(best_group, members, forest)
    return True


@njit()
def _deal_with_neighbours(
    g: int, members: Members, forest: Forest, slots: Ints, effort: Effort, who: Ints
) -> bool:
    """Deal the members of a group and of one near it anew, or of two, that show the same."""
    p = np.searchsorted(forest.pattern, members.pattern[g])
    if p >= len(forest.pattern) or forest.pattern[p] != members.pattern[g]:
        return False  # its pattern has no tree before the next pass
    count = members.size[g]
    if count > WIDE:
        return False
    own = np.empty(count, np.int64)
    members_of(g, members, own, as_int64(0))
    near = np.empty(count * effort.neighbours, np.int64)
    found = np.empty(effort.neighbours, np.int64)
    added = np.empty_like(found)
    listed = as_int64(0)
    for j in range(count):
        for h in found[: nearest_groups(own[j], g, members, forest, p, found, added)]:
            if members.pattern[h] == members.pattern[g]:
                near[listed] = h  # behind those that are listed, which ends the search
                at = 0
                while near[at] != h:
                    at += 1
                listed += at == listed
    groups = np.empty(2, np.int64)
    groups[0] = g
    for j in range(listed):
        groups[1] = near[j]
        if _deal(groups, members, forest, slots, effort, who):
            return True
    if effort.thorough:
        three = np.empty(3, np.int64)
        three[0] = g
        for j in range(min(listed, TRIPLES)):
            for i in range(j):
                three[1], three[2] = near[i], near[j]
                if _deal(three, members, forest, slots, effort, who):
                    return True
    return False


@njit()
def _deal(
    groups: Ints, members: Members, forest: Forest, slots: Ints, effort: Effort, who: Ints
) -> bool:
    """Deal the members of these groups anew: into as many, or one more."""
    count, cost, carriers = as_int64(0), as_int64(0), as_int64(0)
    for g in groups:
        if count + members.size[g] > WIDE:
            return False
        count = members_of(g, members, who, count)
        cost += members.cost[g]
        carriers += members.carriers[g]
    own = who[:count].copy()
    lost, part = deal(own, count, len(groups), cost, effort.steps, members)
    if lost >= 0:
        _assign_parts(own, part, groups, members, forest)
        return True
    more = len(groups) + 1
    if carriers < more * members.problem.k or _is_full(members, slots):
        return False
    lost, part = deal(own, count, more, cost, effort.steps, members)
    if lost < 0:
        return False
    _assign_parts(own, part, np.append(groups, slots[:1]), members, forest)
    slots[0] += 1
    return True


@njit()
def place(
    waiting: Ints, at: int, members: Members, forest: Forest, slots: Ints, effort: Effort, who: Ints
) -> bool:
    """Place the case ``waiting[at]``: where it costs least, in another's place, or by merging."""
    r = waiting[at]
    g, _ = best_join(
        r, as_int64(-1), as_int64(NO_LIMIT), effort.tries_to_place, members, forest, who
    )
    if g >= 0:
        join(r, g, members)
        follow(g, members, forest)
        return True
    slots[1] -= 1
    if slots[1] < 0:  # the rest has to wait: the work is bounded
        return False
    reached = False
    for p in range(len(forest.pattern) - 1, -1, -1):
        if forest.pattern[p] & ~members.known[r]:
            continue
        reached = True
        found = np.empty(effort.merged, np.int64)
        added = np.empty_like(found)
        near = found[: nearest_groups(r, as_int64(-1), members, forest, p, found, added)]
        if _exchange(r, near, members, forest, effort, who):
            return True
        bundle = _bundle(waiting, at, near, members)
        if _merge(bundle, near, members, forest, slots, effort, who):
            return True
    if not reached:
        return _join_any(r, members, forest, slots[0], who)
    return False


@njit()
def _exchange(
    r: int, near: Ints, members: Members, forest: Forest, effort: Effort, who: Ints
) -> bool:
    """Let a case take the place of one that finds another group."""
    for h in near:
        count = members.size[h]
        if count > WIDE:
            continue
        own = np.empty(count, np.int64)
        members_of(h, members, own, as_int64(0))
        best, best_added, best_group = as_int64(-1), as_int64(NO_LIMIT), as_int64(-1)
        for j in range(count):
            t, own[j] = own[j], r
            if keeps_bounds(own, count, members):
                added = cost_of(own, count, members) - members.cost[h]
                to, more = best_join(t, h, best_added - added, effort.tries, members, forest, who)
                if to >= 0:
                    best, best_added, best_group = as_int64(j), added + more, to
            own[j] = t
        if best >= 0:
            t, own[best] = own[best], r
            assign(h, own, count, members)
            join(t, best_group, members)
            follow(h, members, forest)
            follow(best_group, members, forest)
            return True
    return False


@njit()
def _merge(
    bundle: Ints, near: Ints, members: Members, forest: Forest, slots: Ints, effort: Effort,
    who: Ints,
) -> bool:  # fmt: skip
    """Join the groups nearest to a case until it fits them, and split what they become.

    A union keeps the bounds that its parts keep, and has more room. Cases that wait as well come
    along where that makes room for all of them: each carrier raises what is allowed.
    """
    count = as_int64(0)
    most = effort.merged * members.problem.k
    for j in range(len(near)):
        # where nothing is shown, nothing is lost by the size of a group
        if count + members.size[near[j]] > most and members.pattern[near[j]] != 0:
            return False
        count = members_of(near[j], members, who, count)
        for extra in range(len(bundle)):
            who[count + extra] = bundle[extra]
            if not keeps_bounds(who, count + extra + 1, members):
                continue
            own = who[: count + extra + 1].copy()
            for i in range(1, j + 1):
                assign(near[i], own, as_int64(0), members)
            assign(near[0], own, len(own), members)
            for i in range(j + 1):
                follow(near[i], members, forest)
            parts = [as_int64(near[0])]
            while len(parts):
                g = parts.pop()
                while members.carriers[g] >= 2 * members.problem.k:
                    made = slots[0]
                    if not _split(g, members, forest, slots, effort, who):
                        break
                    parts.append(as_int64(made))
            return True
    return False


@njit()
def _bundle(waiting: Ints, at: int, near: Ints, members: Members) -> Ints:
    """The case ``waiting[at]`` and some of those behind it that know what the groups show."""
    found = np.empty(BUNDLE, np.int64)
    found[0] = waiting[at]
    count = as_int64(1)
    for j in range(at + 1, min(len(waiting), at + BUNDLE * BUNDLE)):
        r = waiting[j]
        if count == BUNDLE or len(near) == 0:
            break
        if members.group[r] < 0 and not members.pattern[near[0]] & ~members.known[r]:
            found[count] = r
            count += 1
    return found[:count]


@leaf()
def _join_any(r: int, members: Members, forest: Forest, count: int, who: Ints) -> bool:
    """Let a case join the group where that costs least, though the group then shows less."""
    best, best_added = as_int64(-1), as_int64(NO_LIMIT)
    who[0] = r
    for g in range(count):
        if members.size[g] > 0:
            added = join_cost(r, g, members)
            if added < best_added and keeps_bounds(
                who, members_of(g, members, who, as_int64(1)), members
            ):
                best, best_added = as_int64(g), added
    if best < 0:
        return False
    join(r, best, members)
    follow(best, members, forest)
    return True
