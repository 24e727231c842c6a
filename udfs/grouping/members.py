"""Who is in which group while groups are refined, what that costs, and whether bounds are kept.

The members of all missingness patterns stand side by side here, unlike in the greedy: a case may be
in any group whose quasi-identifiers it knows. A group's *pattern* is the set of QIDs that all its
members know; every other QID is released as missing, which costs 1 for each member that knows it
(SPEC section 2). ``keeps_bounds`` is the one judge of what a group may be, for every model.

Source: Lin 2016, eqs. (1) and (4), Definition 3; Huang 2021, Definitions 4 and 7; SPEC sections 7
and 8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64, hull_loss
from srsql.udfs.grouping.cells import NONE
from srsql.udfs.grouping.risk_cache import eta_at
from srsql.udfs.grouping_problem import GroupingProblem
from srsql.udfs.passed import by_address

WIDE = 24
"""Cases that are dealt anew at most; more are cut."""
PARTS = 4
"""Groups that they are dealt into at most."""


@by_address
class Dealt(NamedTuple):
    """Scratch of the search for a partition of a few cases: what each part has when so many are
    dealt, [``WIDE`` + 1, ``PARTS``] where nothing else is said."""

    low: Ints
    high: Ints
    """[.., d]"""
    pattern: Ints
    """The QIDs that the part shows; -1: it has no case."""
    loss: Ints
    """What each member loses by the region."""
    least: Ints
    """What any other case would lose by it, at least."""
    hidden: Ints
    """QIDs that members know and the part does not show."""
    choice: Ints
    """The parts in the order in which they are tried for the next case; -1 behind the last."""
    apart: Ints
    """What each case and the first one of a part lose as one group."""
    tried: Ints
    """[``WIDE`` + 1] how many of ``choice`` were tried."""
    carriers_after: Ints
    """[``WIDE`` + 1] carriers that are still to be dealt."""
    part_of: Ints
    """[``WIDE`` + 1] the part of each case that is dealt."""
    best_part: Ints
    """[``WIDE`` + 1] the part of each case in the best partition known."""
    decided: Ints
    """[``WIDE`` + 1] how much more a case loses in the second-best part than in the best."""
    chosen: Ints
    """[``WIDE`` + 1] the cases of one part."""
    size: Ints
    carriers: Ints
    added: Ints
    """[``PARTS``] members, carriers, and what the next case adds."""


def new_dealt(d: int) -> Dealt:
    """Room for the search among cases with ``d`` QIDs."""
    cases = WIDE + 1
    return Dealt(
        *np.zeros((2, cases, PARTS, d), np.int64),
        *np.zeros((6, cases, PARTS), np.int64),
        *np.zeros((6, cases), np.int64),
        *np.zeros((3, PARTS), np.int64),
    )


@by_address
class Members(NamedTuple):
    """n cases with d QIDs, and room for G groups; size 0 marks a group that is none any more."""

    problem: GroupingProblem
    known: Ints
    """[n] the QIDs that a case may be grouped by, as a bit mask."""
    unit: int
    """Loss units that a QID costs a member that knows it where the group does not show it."""
    group: NDArray[np.int32]
    """[n] the group of each case, -1 for none."""
    following: NDArray[np.int32]
    """[n] next member of the same group, or -1."""
    head: NDArray[np.int32]
    """[G] first member, or -1."""
    low: Ints
    high: Ints
    """[G, d] ends of the regions; of QIDs outside the pattern they mean nothing."""
    size: Ints
    carriers: Ints
    """[G] members, and those that carry the bounds."""
    pattern: Ints
    """[G] the QIDs that all members know."""
    cost: Ints
    """[G] what all members of a group lose together: IL, and what is not shown."""
    changed: NDArray[np.bool_]
    """[G] groups to look at (again)."""
    sigma: Ints
    """[V] scratch: sigma of the cases that are judged, 0 between uses."""
    dealt: Dealt
    diversity: int
    """l distinct values of each attribute, held by l members; 0: nothing of the kind is asked."""
    attribute_of: Ints
    """[V] the sensitive attribute of each value, where ``diversity`` is asked."""
    attribute_count: int


@leaf()
def bits(mask: int) -> int:
    """How many bits are set."""
    count = as_int64(0)
    while mask:
        mask &= mask - 1
        count += 1
    return count


@leaf()
def keeps_bounds(who: Ints, count: int, members: Members) -> bool:
    """Whether the cases ``who[:count]`` may be a group.

    They may where k of them carry the bounds, and each term is held within its threshold of the
    carriers, who remain whatever an attacker excludes: sigma_s <= theta_s |carriers|, sigma of all,
    floored where counts are whole (``eta_at``). Of what may remain no more than alpha has
    substantial symptoms, in each of the four views: the carriers are in all of them, and of the
    others none but those with symptoms may remain, so the view of all cases decides. And each
    sensitive attribute has l values and l holders, where that is asked.

    Source: Lin 2016, Definition 3 and eq. (4); Huang 2021, Definitions 4 and 7, Lemma 2.
    """
    problem = members.problem
    carriers, of_carriers, of_others = as_int64(0), as_int64(0), as_int64(0)
    for j in range(count):
        r = who[j]
        carriers += problem.carrier[r]
        if problem.kind[r] > 0:
            of_carriers += problem.carrier[r]
            of_others += not problem.carrier[r]
    if carriers < problem.k:
        return False
    symptoms = (of_carriers + of_others) * problem.alpha_den
    if symptoms > (carriers + of_others) * problem.alpha_num:
        return False
    if members.diversity > 0:
        return _diverse(who, count, members)
    terms, sigma = problem.terms, members.sigma
    kept, done = True, count
    for j in range(count):
        r = who[j]
        for t in range(terms.offsets[r], terms.offsets[r + 1]):
            s = terms.terms[t]
            sigma[s] += terms.weights[t]
            if sigma[s] > terms.eta[s] and problem.theta_num[s] < problem.theta_den[s]:
                kept = kept and sigma[s] <= eta_at(s, carriers, problem)
        if not kept:
            done = j + 1
            break
    for j in range(done):
        for t in range(terms.offsets[who[j]], terms.offsets[who[j] + 1]):
            sigma[terms.terms[t]] = 0
    return kept


@njit()
def _diverse(who: Ints, count: int, members: Members) -> bool:
    """Whether each attribute has l distinct values among the cases, and l that hold one of it."""
    terms, sigma = members.problem.terms, members.sigma
    distinct = np.zeros(members.attribute_count, np.int64)
    holders = np.zeros(members.attribute_count, np.int64)
    last = np.full(members.attribute_count, -1, np.int64)
    for j in range(count):
        r = who[j]
        for t in range(terms.offsets[r], terms.offsets[r + 1]):
            s = terms.terms[t]
            a = members.attribute_of[s]
            distinct[a] += sigma[s] == 0
            sigma[s] = 1
            holders[a] += last[a] != r
            last[a] = r
    for j in range(count):
        for t in range(terms.offsets[who[j]], terms.offsets[who[j] + 1]):
            sigma[terms.terms[t]] = 0
    least = members.diversity
    return bool((distinct >= least).all() and (holders >= least).all())


@leaf()
def members_of(g: int, members: Members, who: Ints, count: int) -> int:
    """Write the members of group ``g`` to ``who[count:]``; returns where they end."""
    r = as_int64(members.head[g])
    while r >= 0:
        who[count] = r
        count += 1
        r = as_int64(members.following[r])
    return count


@leaf()
def cost_of(who: Ints, count: int, members: Members) -> int:
    """What the cases ``who[:count]`` would lose together as one group, in loss units."""
    problem = members.problem
    pattern = members.known[who[0]]
    for j in range(1, count):
        pattern &= members.known[who[j]]
    loss, hidden = as_int64(0), as_int64(0)
    for i in range(problem.low.shape[1]):
        if pattern >> i & 1:
            low, high = problem.low[who[0], i], problem.high[who[0], i]
            for j in range(1, count):
                low, high = min(low, problem.low[who[j], i]), max(high, problem.high[who[j], i])
            loss += hull_loss(problem.losses, i, low, high)
    for j in range(count):
        hidden += bits(members.known[who[j]] & ~pattern)
    return int(count * loss + hidden * members.unit)


@leaf()
def assign(g: int, who: Ints, count: int, members: Members) -> None:
    """Make the cases ``who[:count]`` the members of group ``g``; with none it ends."""
    problem = members.problem
    members.head[g] = -1
    members.size[g], members.carriers[g], members.cost[g] = count, 0, 0
    members.changed[g] = count > 0
    if count == 0:
        return
    pattern = members.known[who[0]]
    for i in range(problem.low.shape[1]):
        members.low[g, i], members.high[g, i] = NONE, -NONE
    for j in range(count - 1, -1, -1):
        r = who[j]
        members.group[r] = g
        members.following[r] = members.head[g]
        members.head[g] = r
        members.carriers[g] += problem.carrier[r]
        pattern &= members.known[r]
        for i in range(problem.low.shape[1]):
            members.low[g, i] = min(members.low[g, i], problem.low[r, i])
            members.high[g, i] = max(members.high[g, i], problem.high[r, i])
    members.pattern[g] = pattern
    members.cost[g] = cost_of(who, count, members)


@leaf()
def join_cost(r: int, g: int, members: Members) -> int:
    """By how much the cost of group ``g`` grows when case ``r`` joins it."""
    problem, size = members.problem, members.size[g]
    pattern = members.pattern[g] & members.known[r]
    loss = before = as_int64(0)
    for i in range(problem.low.shape[1]):
        low, high = members.low[g, i], members.high[g, i]
        if members.pattern[g] >> i & 1:
            own = hull_loss(problem.losses, i, low, high)
            before += own
            if pattern >> i & 1 == 0:
                loss += members.unit
            elif problem.low[r, i] < low or problem.high[r, i] > high:
                loss += hull_loss(
                    problem.losses, i, min(low, problem.low[r, i]), max(high, problem.high[r, i])
                )
            else:
                loss += own
    shown = loss - members.unit * bits(members.pattern[g] & ~pattern)
    hidden = members.unit * bits(members.known[r] & ~pattern)
    return int(size * (loss - before) + shown + hidden)


@leaf()
def join(r: int, g: int, members: Members) -> None:
    """Add case ``r`` to group ``g``."""
    problem = members.problem
    members.cost[g] += join_cost(r, g, members)
    members.group[r] = g
    members.following[r] = members.head[g]
    members.head[g] = r
    members.size[g] += 1
    members.carriers[g] += problem.carrier[r]
    members.pattern[g] &= members.known[r]
    members.changed[g] = True
    for i in range(problem.low.shape[1]):
        members.low[g, i] = min(members.low[g, i], problem.low[r, i])
        members.high[g, i] = max(members.high[g, i], problem.high[r, i])


@leaf()
def without(r: int, g: int, members: Members, who: Ints) -> int:
    """Write the members of group ``g`` but ``r`` to ``who``; returns how many."""
    count = members_of(g, members, who, as_int64(0))
    kept = as_int64(0)
    for j in range(count):
        if who[j] != r:
            who[kept] = who[j]
            kept += 1
    return kept
