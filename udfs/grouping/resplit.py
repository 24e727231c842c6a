"""The best partition of a few cases into a few groups, by branch and bound; and plain cuts.

Cases are dealt one after the other, those first that lie farthest apart. What the parts dealt so
far lose only grows, so a branch that loses no less than the best partition known is left out; so is
one in which a part holds a term too often for the carriers it could ever have, or in which too few
carriers are left. Complete partitions are judged by ``keeps_bounds``. The search is exact unless
its steps run out, and takes what it has found then.
"""

from __future__ import annotations

import numpy as np

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64, hull_loss
from srsql.udfs.grouping.members import Members, bits, keeps_bounds
from srsql.udfs.grouping.risk_cache import eta_at

NO_LIMIT = 2**62
CUTS = 8
"""Cuts along one QID that are judged, at most."""


@njit()
def deal(
    who: Ints, count: int, parts: int, limit: int, steps: int, members: Members
) -> tuple[int, Ints]:
    """Partition cases into groups that lose least together.

    Args:
        who: [count] the cases; brought into another order.
        count: how many.
        parts: how many groups.
        limit: they have to lose less than that.
        steps: cases dealt at most, counted over the whole search.
        members: with the problem.

    Returns:
        What they lose, and the part of each case in the new order, which the next call overwrites;
        -1 and no use where nothing was found.
    """
    k, dealt = members.problem.k, members.dealt
    common = _prepare(who, count, parts, members)
    if dealt.carriers_after[0] < parts * k:
        return as_int64(-1), dealt.best_part
    begin, local, weight, cap = _local_terms(
        who, count, dealt.carriers_after[0] - (parts - 1) * k, members
    )
    sigma = np.zeros((parts, len(cap)), np.int64)
    best = _search(
        who, count, parts, common, limit, steps, members, begin, local, weight, cap, sigma
    )
    return best, dealt.best_part


@leaf()
def _prepare(who: Ints, count: int, parts: int, members: Members) -> int:
    """Put the cases into the order in which they are dealt; the QIDs that all of them know."""
    common = as_int64(-1)
    for j in range(count):
        common &= members.known[who[j]]
    _order_for_dealing(who, count, parts, common, members)
    after = members.dealt.carriers_after
    after[count] = 0
    for j in range(count - 1, -1, -1):
        after[j] = after[j + 1] + members.problem.carrier[who[j]]
    return int(common)


@leaf()
def _search(
    who: Ints, count: int, parts: int, common: int, limit: int, steps: int, members: Members,
    begin: Ints, local: Ints, weight: Ints, cap: Ints, sigma: Ints,
) -> int:  # fmt: skip
    """The branch and bound; the best partition is in ``best_part``, and -1 stands for none.

    ``begin`` to ``cap``: as ``_local_terms`` returns them; ``sigma`` [parts, terms]: zeros.
    """
    problem, dealt = members.problem, members.dealt
    k, size, carriers = problem.k, dealt.size, dealt.carriers
    best = as_int64(-1)
    for c in range(parts):
        dealt.pattern[0, c] = -1
        dealt.loss[0, c] = dealt.least[0, c] = dealt.hidden[0, c] = 0
        size[c] = carriers[c] = 0
    dealt.tried[0] = 0
    depth = as_int64(0)
    _rank_parts(who[0], depth, parts, members)
    while depth >= 0:
        tried = dealt.tried[depth]
        if tried == parts or dealt.choice[depth, tried] < 0:
            depth -= 1
            if depth >= 0:  # take the case back
                b = dealt.part_of[depth]
                size[b] -= 1
                carriers[b] -= problem.carrier[who[depth]]
                for t in range(begin[depth], begin[depth + 1]):
                    sigma[b, local[t]] -= weight[t]
            continue
        b = dealt.choice[depth, tried]
        dealt.tried[depth] += 1
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
        _deal_one(who[depth], depth, b, parts, common, members)
        lost, least, lacking = as_int64(0), as_int64(NO_LIMIT), as_int64(0)
        for c in range(parts):
            lost += size[c] * dealt.loss[depth + 1, c]
            lost += members.unit * dealt.hidden[depth + 1, c]
            least = min(least, dealt.least[depth + 1, c])
            lacking += max(0, k - carriers[c])
        hopeless = lost + (count - depth - 1) * least >= (limit if best < 0 else best)
        last = depth + 1 == count
        if not hopeless and lacking <= dealt.carriers_after[depth + 1]:
            dealt.part_of[depth] = b
            if not last:
                for t in range(begin[depth], begin[depth + 1]):
                    sigma[b, local[t]] += weight[t]
                depth += 1
                dealt.tried[depth] = 0
                _rank_parts(who[depth], depth, parts, members)
                continue
            if _parts_keep_bounds(who, count, parts, members):
                best = lost
                for j in range(count):
                    dealt.best_part[j] = dealt.part_of[j]
        size[b] -= 1
        carriers[b] -= problem.carrier[who[depth]]
    return int(best)


@leaf()
def _parts_keep_bounds(who: Ints, count: int, parts: int, members: Members) -> bool:
    """Whether every part may be a group."""
    dealt = members.dealt
    for c in range(parts):
        m = as_int64(0)
        for j in range(count):
            if dealt.part_of[j] == c:
                dealt.chosen[m] = who[j]
                m += 1
        if not keeps_bounds(dealt.chosen, m, members):
            return False
    return True


@leaf()
def _deal_one(r: int, depth: int, b: int, parts: int, common: int, members: Members) -> None:
    """Work out what the parts have once case ``r`` is in part ``b``; its size counts it."""
    problem, dealt = members.problem, members.dealt
    size, d = dealt.size, problem.low.shape[1]
    after = depth + 1
    for c in range(parts):
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


@leaf()
def _rank_parts(r: int, depth: int, parts: int, members: Members) -> None:
    """Write to ``choice`` the parts in the order of what case ``r`` adds to them.

    Of the parts that are empty only the first counts: they are alike.
    """
    problem, dealt = members.problem, members.dealt
    size, choice, added_of, d = dealt.size, dealt.choice, dealt.added, problem.low.shape[1]
    known = members.known[r]
    for c in range(parts):
        choice[depth, c] = -1
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


@leaf()
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


@leaf()
def _order_for_dealing(who: Ints, count: int, parts: int, pattern: int, members: Members) -> None:
    """The farthest from the first case, the farthest from those ..., then who is most decided."""
    near, decided = members.dealt.apart, members.dealt.decided
    start = who[0]
    far, at = as_int64(-1), as_int64(0)
    for j in range(count):
        apart = _apart(start, who[j], pattern, members)
        if apart > far:
            far, at = apart, as_int64(j)
    who[0], who[at] = who[at], who[0]
    placed = as_int64(1)
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
