"""The best partition of a few cases into a few groups, by branch and bound; and plain cuts.

Cases are dealt one after the other, those first that lie farthest apart. What the parts dealt so
far lose only grows, so a branch that loses no less than the best partition known is left out; so is
one in which a part holds a term too often for the carriers it could ever have, or in which too few
carriers are left. Complete partitions are judged by ``keeps_bounds``. The search is exact unless
its steps run out, and takes what it has found then.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.compiled import njit
from srsql.udfs.exact_search import as_int64, hull_loss
from srsql.udfs.grouping.members import Dealt, Members, bits, keeps_bounds
from srsql.udfs.grouping.risk_cache import eta_at

NO_LIMIT = 2**62
CUTS = 8
"""Cuts along one QID that are judged, at most."""


@njit()
def deal(
    who: Ints, count: int, parts: int, limit: int, steps: int, members: Members
) -> tuple[int, NDArray[np.int8]]:
    """Partition cases into groups that lose least together.

    Args:
        who: [count] the cases; brought into another order.
        count: how many.
        parts: how many groups.
        limit: they have to lose less than that.
        steps: cases dealt at most, counted over the whole search.
        members: with the problem.

    Returns:
        What they lose, and the part of each case in the new order; -1 and no use where nothing was
        found.
    """
    problem = members.problem
    k = problem.k
    part_of, best_part = np.zeros(count, np.int8), np.zeros(count, np.int8)
    best, common = as_int64(-1), as_int64(-1)
    for j in range(count):
        common &= members.known[who[j]]
    carriers_after = np.zeros(count + 1, np.int64)
    _order_for_dealing(who, count, parts, common, members)
    for j in range(count - 1, -1, -1):
        carriers_after[j] = carriers_after[j + 1] + problem.carrier[who[j]]
    if carriers_after[0] < parts * k:
        return best, best_part
    begin, local, weight, cap = _local_terms(
        who, count, carriers_after[0] - (parts - 1) * k, members
    )
    sigma = np.zeros((parts, len(cap)), np.int64)
    dealt = members.dealt
    for c in range(parts):
        dealt.pattern[0, c] = -1
        dealt.loss[0, c] = dealt.least[0, c] = dealt.hidden[0, c] = 0
    size, carriers = np.zeros(parts, np.int64), np.zeros(parts, np.int64)
    choice = np.full((count + 1, parts), -1, np.int8)
    tried = np.zeros(count + 1, np.int64)
    depth = as_int64(0)
    _rank_parts(who[0], depth, members, dealt, size, choice)
    while depth >= 0:
        if tried[depth] == parts or choice[depth, tried[depth]] < 0:
            depth -= 1
            if depth >= 0:  # take the case back
                b = part_of[depth]
                size[b] -= 1
                carriers[b] -= problem.carrier[who[depth]]
                for t in range(begin[depth], begin[depth + 1]):
                    sigma[b, local[t]] -= weight[t]
            continue
        b = choice[depth, tried[depth]]
        tried[depth] += 1
        fits = True
        for t in range(begin[depth], begin[depth + 1]):
            if sigma[b, local[t]] + weight[t] > cap[local[t]]:
                fits = False
                break
        if not fits:
            continue
        steps -= 1
        if steps < 0:
            break
        size[b] += 1
        carriers[b] += problem.carrier[who[depth]]
        _deal_one(who[depth], depth, b, common, members, dealt, size)
        lost, least, lacking = as_int64(0), as_int64(NO_LIMIT), as_int64(0)
        for c in range(parts):
            lost += size[c] * dealt.loss[depth + 1, c]
            lost += members.unit * dealt.hidden[depth + 1, c]
            least = min(least, dealt.least[depth + 1, c])
            lacking += max(0, k - carriers[c])
        hopeless = lost + (count - depth - 1) * least >= (limit if best < 0 else best)
        last = depth + 1 == count
        if not hopeless and lacking <= carriers_after[depth + 1]:
            part_of[depth] = b
            if not last:
                for t in range(begin[depth], begin[depth + 1]):
                    sigma[b, local[t]] += weight[t]
                depth += 1
                tried[depth] = 0
                _rank_parts(who[depth], depth, members, dealt, size, choice)
                continue
            if _parts_keep_bounds(who, count, part_of, parts, members):
                best = lost
                best_part[:] = part_of
        size[b] -= 1
        carriers[b] -= problem.carrier[who[depth]]
    return best, best_part


@njit()
def _parts_keep_bounds(
    who: Ints, count: int, part_of: NDArray[np.int8], parts: int, members: Members
) -> bool:
    """Whether every part may be a group."""
    chosen = np.empty(count, np.int64)
    for c in range(parts):
        m = as_int64(0)
        for j in range(count):
            if part_of[j] == c:
                chosen[m] = who[j]
                m += 1
        if not keeps_bounds(chosen, m, members):
            return False
    return True


@njit()
def _deal_one(
    r: int, depth: int, b: int, common: int, members: Members, dealt: Dealt, size: Ints
) -> None:
    """Work out what the parts have once case ``r`` is in part ``b``; ``size`` counts it."""
    problem = members.problem
    d = problem.low.shape[1]
    after = depth + 1
    for c in range(len(size)):
        dealt.pattern[after, c], dealt.loss[after, c] = (
            dealt.pattern[depth, c],
            dealt.loss[depth, c],
        )
        dealt.least[after, c], dealt.hidden[after, c] = (
            dealt.least[depth, c],
            dealt.hidden[depth, c],
        )
        for i in range(d):
            dealt.low[after, c, i], dealt.high[after, c, i] = (
                dealt.low[depth, c, i],
                dealt.high[depth, c, i],
            )
    known = members.known[r]
    before = dealt.pattern[depth, b]
    pattern = known if size[b] == 1 else before & known
    loss, least = as_int64(0), as_int64(0)
    for i in range(d):
        if pattern >> i & 1:
            low, high = problem.low[r, i], problem.high[r, i]
            if size[b] > 1:
                low, high = min(low, dealt.low[depth, b, i]), max(high, dealt.high[depth, b, i])
            dealt.low[after, b, i], dealt.high[after, b, i] = low, high
            own = hull_loss(problem.losses, i, low, high)
            loss += own
            if common >> i & 1:
                least += own
    dealt.pattern[after, b], dealt.loss[after, b], dealt.least[after, b] = pattern, loss, least
    if pattern != known or (size[b] > 1 and pattern != before):
        hidden = bits(known & ~pattern)
        if size[b] > 1:
            hidden += (size[b] - 1) * bits(before & ~pattern)
        dealt.hidden[after, b] += hidden


@njit()
def _rank_parts(
    r: int, depth: int, members: Members, dealt: Dealt, size: Ints, choice: NDArray[np.int8]
) -> None:
    """Write to ``choice[depth]`` the parts in the order of what case ``r`` adds to them.

    Of the parts that are empty only the first counts: they are alike.
    """
    problem = members.problem
    parts, d = len(size), dealt.low.shape[2]
    known = members.known[r]
    added_of = np.empty(parts, np.int64)
    choice[depth, :] = -1
    count = as_int64(0)
    for c in range(parts):
        added = as_int64(0)
        if size[c] > 0:
            pattern = dealt.pattern[depth, c] & known
            joint = as_int64(0)
            for i in range(d):
                if pattern >> i & 1:
                    joint += hull_loss(
                        problem.losses, i,
                        min(dealt.low[depth, c, i], problem.low[r, i]),
                        max(dealt.high[depth, c, i], problem.high[r, i]),
                    )  # fmt: skip
            hidden = bits(known & ~pattern)
            if pattern != dealt.pattern[depth, c]:
                hidden += size[c] * bits(dealt.pattern[depth, c] & ~pattern)
            added = size[c] * (joint - dealt.loss[depth, c]) + joint + hidden * members.unit
        at = count
        while at > 0 and added_of[at - 1] > added:
            added_of[at], choice[depth, at] = added_of[at - 1], choice[depth, at - 1]
            at -= 1
        added_of[at], choice[depth, at] = added, c
        count += 1
        if size[c] == 0:
            break


@njit()
def _apart(r: int, other: int, pattern: int, members: Members) -> int:
    """What two cases lose as one group, each."""
    problem = members.problem
    loss = as_int64(0)
    for i in range(problem.low.shape[1]):
        if pattern >> i & 1:
            loss += hull_loss(
                problem.losses, i,
                min(problem.low[r, i], problem.low[other, i]),
                max(problem.high[r, i], problem.high[other, i]),
            )  # fmt: skip
    return int(loss)


@njit()
def _order_for_dealing(who: Ints, count: int, parts: int, pattern: int, members: Members) -> None:
    """The farthest from the first case, the farthest from those ..., then who is most decided."""
    near = np.empty((count, parts), np.int64)
    placed = as_int64(0)
    start = who[0]
    far, at = as_int64(-1), as_int64(0)
    for j in range(count):
        apart = _apart(start, who[j], pattern, members)
        if apart > far:
            far, at = apart, as_int64(j)
    who[0], who[at] = who[at], who[0]
    placed = 1
    for j in range(count):
        near[j, 0] = _apart(who[0], who[j], pattern, members)
    while placed < min(parts, count):
        far, at = as_int64(-1), placed
        for j in range(placed, count):
            least = near[j, 0]
            for c in range(1, placed):
                least = min(least, near[j, c])
            if least > far:
                far, at = least, as_int64(j)
        who[placed], who[at] = who[at], who[placed]
        for c in range(placed):
            near[placed, c], near[at, c] = near[at, c], near[placed, c]
        for j in range(count):
            near[j, placed] = _apart(who[placed], who[j], pattern, members)
        placed += 1
    decided = np.empty(count, np.int64)
    for j in range(placed, count):
        least, second = near[j, 0], as_int64(NO_LIMIT)
        for c in range(1, placed):
            if near[j, c] < least:
                least, second = near[j, c], least
            else:
                second = min(second, near[j, c])
        key = second - least if placed > 1 else -least
        r, at = who[j], as_int64(j)
        while at > placed and decided[at - 1] < key:
            who[at], decided[at] = who[at - 1], decided[at - 1]
            at -= 1
        who[at], decided[at] = r, key


@njit()
def _local_terms(
    who: Ints, count: int, carriers: int, members: Members
) -> tuple[Ints, Ints, Ints, Ints]:
    """The terms that could break a bound in a part of at most so many carriers, numbered anew.

    Returns:
        [count + 1] where each case's terms begin, the terms, their weights, and of each term
        how much a part may hold.
    """
    problem, sigma = members.problem, members.sigma
    terms = problem.terms
    begin = np.zeros(count + 1, np.int64)
    total = as_int64(0)
    for j in range(count):
        for t in range(terms.offsets[who[j]], terms.offsets[who[j] + 1]):
            sigma[terms.terms[t]] += terms.weights[t]
            total += 1
    local, weight, cap = (
        np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    )  # fmt: skip
    listed = as_int64(0)
    used = as_int64(0)
    for j in range(count):
        for t in range(terms.offsets[who[j]], terms.offsets[who[j] + 1]):
            s = terms.terms[t]
            number = -sigma[s] - 1
            if sigma[s] > 0:
                most = eta_at(s, carriers, problem)
                number = as_int64(-1)
                bounded = members.diversity == 0 and problem.theta_num[s] < problem.theta_den[s]
                if bounded and sigma[s] > terms.eta[s]:
                    number = used
                    cap[used] = most
                    used += 1
                sigma[s] = -number - 1 if number >= 0 else -NO_LIMIT
            elif sigma[s] == -NO_LIMIT:
                number = as_int64(-1)
            if number >= 0:
                local[listed], weight[listed] = number, terms.weights[t]
                listed += 1
        begin[j + 1] = listed
    for j in range(count):
        for t in range(terms.offsets[who[j]], terms.offsets[who[j] + 1]):
            sigma[terms.terms[t]] = 0
    return begin, local[:listed], weight[:listed], cap[:used]


@njit()
def cut(who: Ints, count: int, pattern: int, limit: int, members: Members) -> int:
    """Cut cases in two along the order of one QID, where both parts keep the bounds.

    Args:
        who: [count] the cases; brought into the order of the cut.
        count: how many.
        pattern: the QIDs that both parts show.
        limit: they have to lose less than that, what the pattern does not show aside.
        members: with the problem.

    Returns:
        How many cases are in the first part; 0: there is no such cut among the ``CUTS`` of least
        loss along each QID.
    """
    best, best_order = as_int64(0), who[:count].copy()
    for axis in range(members.problem.low.shape[1]):
        if pattern >> axis & 1 == 0:
            continue
        by_axis, lost = _losses_of_cuts(who, count, axis, pattern, members)
        for place in np.argsort(lost, kind="mergesort")[:CUTS]:
            if lost[place] >= limit:
                break
            if keeps_bounds(by_axis, place + 1, members) and keeps_bounds(
                by_axis[place + 1 :], count - place - 1, members
            ):
                limit, best = lost[place], as_int64(place + 1)
                best_order[:] = by_axis
                break
    if best > 0:
        who[:count] = best_order
    return best


@njit()
def _losses_of_cuts(
    who: Ints, count: int, axis: int, pattern: int, members: Members
) -> tuple[Ints, Ints]:
    """The cases in the order of one QID, and what both parts lose when cut behind each of them."""
    problem = members.problem
    d = problem.low.shape[1]
    middle = np.empty(count, np.int64)
    for j in range(count):
        middle[j] = problem.low[who[j], axis] + problem.high[who[j], axis]
    by_axis = who[:count][np.argsort(middle, kind="mergesort")]
    lost = np.zeros(count - 1, np.int64)
    ends = np.empty((2, d), np.int64)
    for forward in range(2):
        for at in range(count - 1):
            r = by_axis[at if forward else count - 1 - at]
            loss = as_int64(0)
            for i in range(d):
                if pattern >> i & 1:
                    low, high = problem.low[r, i], problem.high[r, i]
                    ends[0, i] = low if at == 0 else min(ends[0, i], low)
                    ends[1, i] = high if at == 0 else max(ends[1, i], high)
                    loss += hull_loss(problem.losses, i, ends[0, i], ends[1, i])
            lost[at if forward else count - 2 - at] += (at + 1) * loss
    return by_axis, lost
