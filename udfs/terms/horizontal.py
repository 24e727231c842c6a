"""HORPART: records into clusters of similar ones (Loukides 2014, Fig. 8 and section 4).

A part D is split on its most frequent term a into D1 (with a) and D2 (without). D2 is split again,
and so on: such a *chain* of parts is worked off at once, over lists of the records of each term
that are built once a chain. Each D1 starts a chain of its own. A record of L terms is in at most
L + 1 nested chains, since each used one of its terms up: the cost is linear in the records. Parts
that are too small are pooled into clusters of similar records.

D1 ignores what D ignored and a; D2 ignores nothing (section 5). So the terms of earlier splits,
which all records of a nested chain hold, come up in D2 again. They part nothing and start no chain,
but each is ignored from then on and has the terms of its constraint come next.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64

_FULL = 1 << 31
_CONSTRAINED = 1 << 62
Int32s = NDArray[np.int32]


class Baskets(NamedTuple):
    """The records and what is known of their terms."""

    offsets: Ints
    """[n + 1] where each record's terms start."""
    terms: Int32s
    """[offsets[n]] distinct within a record."""
    constraint: Int32s
    """[V] number of the term's utility constraint, -1 for none."""
    usable: NDArray[np.bool_]
    """[V] false for a term that no split may use: it is kept in item chunks."""


class Chains(NamedTuple):
    """Where the chains lie in the order of the records; parents before their children."""

    start: Ints
    stop: Ints


def split_records(
    baskets: Baskets,
    part: Ints,
    max_size: int,
    min_size: int,
    weight: Ints | None = None,
    *,
    lexicographic: bool = False,
) -> Int32s:
    """The cluster of every record, numbered from 1 on in the order of the splits.

    A part with fewer than ``max_size`` records is a leaf, and so is one with no usable term. A leaf
    with fewer than ``min_size`` records is pooled with the other small leaves of its chain, in the
    order of the splits, until they are as many; what is left of a chain goes to the pool of the
    chain around it, and what is left at the end to the cluster finished last.

    Args:
        baskets: the records.
        part: [n] numbers; no cluster has records of two parts.
        max_size: at least 1.
        min_size: records that every cluster must have.
        weight: [n] as how many records each counts, such as the cases of a group of them, which
            is not cut; None: as one.
        lexicographic: the records of the small leaves of a chain are pooled one by one, in the
            order of their terms, those that most records have first; else leaf by leaf.

    Returns:
        [n] cluster numbers.

    Raises:
        ValueError: a part has fewer than ``min_size`` records.

    Source: Loukides 2014, Fig. 8; ties by term number.
    """
    order = np.argsort(part, kind="stable")
    weight = np.ones(len(order), np.int64) if weight is None else weight
    starts = np.flatnonzero(np.append(True, np.diff(part[order]) != 0)) if len(order) else order
    bounds = np.append(starts, len(order)).astype(np.int64)
    if len(order) and int(np.diff(_before_each(weight, order)[bounds]).min()) < min_size:
        raise ValueError(f"a part has fewer than {min_size} records")
    starts_leaf, chains = _split(order, bounds, _mutable(baskets), weight, max_size)
    leaf_start = np.flatnonzero(starts_leaf)
    outer_first = np.argsort(chains.start, kind="stable")
    chains = Chains(chains.start[outer_first], chains.stop[outer_first])
    if lexicographic:
        leaf_start, chains = _loosen(order, leaf_start, chains, baskets, weight, min_size)
    leaf = _pool_leaves(leaf_start, chains, bounds, _before_each(weight, order), min_size)
    place = np.repeat(leaf, np.diff(leaf_start))
    cluster = np.empty(len(order), np.int32)
    _, first, inverse = np.unique(place, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int32)
    number[np.argsort(first)] = np.arange(1, len(first) + 1)
    cluster[order] = number[inverse]
    return cluster


def _before_each(weight: Ints, order: Ints) -> Ints:
    """[n + 1] what the records before each place of the order weigh together."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(weight[order])))


def _loosen(
    order: Ints, leaf_start: Ints, chains: Chains, baskets: Baskets, weight: Ints, min_size: int
) -> tuple[Ints, Chains]:
    """Sort the records of the small leaves of each chain, and make each a leaf of its own.

    A leaf that a split took out of a chain belongs to that chain here. ``order`` is changed: the
    records of a chain's small leaves change places with each other.

    Returns:
        Where the leaves start, and the chains of more than one leaf.
    """
    stop_of_first = leaf_start[np.searchsorted(leaf_start, chains.start) + 1]
    kept = chains.stop > stop_of_first
    chains = Chains(chains.start[kept], chains.stop[kept])
    before = _before_each(weight, order)[leaf_start]
    small = np.diff(before) < min_size
    loose = np.flatnonzero(np.repeat(small, np.diff(leaf_start)))
    chain = _innermost(loose, chains)
    records = order[loose]
    by_terms = _by_terms(records, baskets)
    by_chain = by_terms[np.argsort(chain[by_terms], kind="stable")]
    order[loose[np.argsort(chain, kind="stable")]] = records[by_chain]
    return np.union1d(leaf_start, loose), chains


def _innermost(places: Ints, chains: Chains) -> Ints:
    """The chain of each place, which ascend: of those around it the one that starts last."""
    found = np.empty(len(places), np.int64)
    around: list[int] = []
    c = 0
    for i, place in enumerate(places.tolist()):
        while c < len(chains.start) and chains.start[c] <= place:
            around.append(c)
            c += 1
        while chains.stop[around[-1]] <= place:
            around.pop()
        found[i] = around[-1]
    return found


def _by_terms(records: Ints, baskets: Baskets) -> Ints:
    """Where the records stand that come first, second ... by the ranks of their usable terms.

    Ranks are by falling support; those of a record ascend. Ties by the records' numbers.
    """
    support = np.bincount(baskets.terms, minlength=len(baskets.constraint))
    rank = np.empty(len(support), np.int64)
    rank[np.lexsort((np.arange(len(support)), -support))] = np.arange(len(support))
    holder = np.repeat(np.arange(len(baskets.offsets) - 1), np.diff(baskets.offsets))
    kept = baskets.usable[baskets.terms]
    holder, ranks = holder[kept], rank[baskets.terms[kept]]
    text = ranks[np.lexsort((ranks, holder))].astype(">i4").tobytes()
    ends = 4 * np.searchsorted(holder, np.arange(len(baskets.offsets)))
    starts, stops = ends[records].tolist(), ends[records + 1].tolist()
    keys = [text[a:b] for a, b in zip(starts, stops, strict=True)]
    by_number = np.argsort(records, kind="stable").tolist()
    return np.array(sorted(by_number, key=keys.__getitem__), np.int64)


def _mutable(baskets: Baskets) -> Baskets:
    """A copy whose records give their terms up as splits use them."""
    return baskets._replace(terms=baskets.terms.copy())


@njit()
def _split(
    order: Ints, bounds: Ints, baskets: Baskets, weight: Ints, max_size: int
) -> tuple[NDArray[np.bool_], Chains]:
    """Bring ``order`` into the order of the splits; where a leaf starts, and the chains."""
    n, v = len(order), len(baskets.constraint)
    length = _unusable_last(baskets)
    leaf = np.zeros(n + 1, np.bool_)
    leaf[n] = True
    count = np.zeros(v, np.int64)
    begin = np.zeros(v, np.int64)
    holders = np.empty(len(baskets.terms), np.int64)
    assigned = np.zeros(n, np.bool_)
    new_order = np.empty(n, np.int64)
    ignored = np.zeros(v, np.bool_)
    constrained = bool((baskets.constraint >= 0).any())
    stack = [(bounds[i], bounds[i + 1], -1, 0)
             for i in range(len(bounds) - 2, -1, -1)]  # fmt: skip
    to_ignore = [0 for _ in range(0)]  # of the chains on the stack, the lowest first
    chain_start = [0 for _ in range(0)]
    chain_stop = [0 for _ in range(0)]
    while len(stack) > 0:
        start, stop, u, known = stack.pop()
        ignore = to_ignore[len(to_ignore) - known :]
        for _ in range(known):
            to_ignore.pop()
        chain_start.append(start)
        chain_stop.append(stop)
        leaf[start] = True
        left = remaining = as_int64(0)
        for i in range(start, stop):
            remaining += weight[order[i]]
        if remaining < max_size:
            continue
        chain_terms = _postings(order[start:stop], baskets, length, count, begin, holders)
        used = _used_terms(order[start], baskets, length)
        by_walk = constrained and len(used) > 0
        heap = _heap(chain_terms[:0] if by_walk else chain_terms, count, baskets)
        for t in ignore:
            ignored[t] = True
        left, end = stop - start, start
        while remaining >= max_size:
            if by_walk:
                a = _next_after_used(chain_terms, used, ignored, count, baskets.constraint, u, left)
            else:
                a = _next_split_term(heap, count, baskets.constraint)
            u = -1
            if a < 0:
                break
            base = end
            at = begin[a]
            while count[a] > 0:
                r = holders[at]
                at += 1
                if assigned[r]:
                    continue
                assigned[r] = True
                new_order[end] = r
                end += 1
                remaining -= weight[r]
                _retire_term(r, a, baskets, length)
                for j in range(baskets.offsets[r], baskets.offsets[r] + length[r] + 1):
                    count[baskets.terms[j]] -= 1
            left -= end - base
            known = 1
            to_ignore.append(a)
            for t in used:
                if ignored[t]:
                    to_ignore.append(t)
                    known += 1
                    ignored[t] = False
            stack.append((base, end, int(baskets.constraint[a]), known))
        for t in used:
            ignored[t] = False
        if left > 0:
            leaf[end] = True
            for i in range(start, stop):
                if not assigned[order[i]]:
                    new_order[end] = order[i]
                    end += 1
        for i in range(start, stop):
            order[i] = new_order[i]
            assigned[order[i]] = False
        for t in chain_terms:
            count[t] = 0
    return leaf, Chains(np.array(chain_start), np.array(chain_stop))


@njit()
def _unusable_last(baskets: Baskets) -> Ints:
    """How many usable terms each record has; they come first."""
    n = len(baskets.offsets) - 1
    length = np.zeros(n, np.int64)
    for r in range(n):
        base = baskets.offsets[r]
        for j in range(base, baskets.offsets[r + 1]):
            t = baskets.terms[j]
            if baskets.usable[t]:
                baskets.terms[j] = baskets.terms[base + length[r]]
                baskets.terms[base + length[r]] = t
                length[r] += 1
    return length


@njit()
def _postings(
    records: Ints, baskets: Baskets, length: Ints, count: Ints, begin: Ints, holders: Ints
) -> Ints:
    """The terms of a chain's records; fills ``count``, ``begin`` and ``holders``."""
    kinds = 0
    for r in records:
        for j in range(baskets.offsets[r], baskets.offsets[r] + length[r]):
            kinds += count[baskets.terms[j]] == 0
            count[baskets.terms[j]] += 1
    chain_terms = np.empty(kinds, np.int64)
    kinds = total = 0
    for r in records:
        for j in range(baskets.offsets[r], baskets.offsets[r] + length[r]):
            t = baskets.terms[j]
            if count[t] > 0:  # seen for the first time: the sign says that it has its place
                chain_terms[kinds] = t
                kinds += 1
                begin[t] = total
                total += count[t]
                count[t] = -count[t]
            holders[begin[t]] = r
            begin[t] += 1
    for t in chain_terms:
        count[t] = -count[t]
        begin[t] -= count[t]
    return chain_terms


@njit()
def _heap(chain_terms: Ints, count: Ints, baskets: Baskets) -> list[int]:
    """The keys of the terms as a heap, the least first."""
    heap = [_key(t, count, baskets.constraint) for t in chain_terms]
    heapq.heapify(heap)
    return heap


@leaf()
def _key(t: int, count: Ints, constraint: Int32s) -> int:
    """What orders the terms: the constrained ones first, then by support, then by number."""
    key = int(t - count[t] * _FULL)
    return key - _CONSTRAINED if constraint[t] >= 0 else key


@njit()
def _next_split_term(heap: list[int], count: Ints, constraint: Int32s) -> int:
    """The term that a chain is split on next, -1 for none; what has fallen behind is put back."""
    while len(heap) > 0:
        key = heapq.heappop(heap)
        t = key % _FULL
        if count[t] == 0:
            continue
        current = _key(t, count, constraint)
        if current == key:
            return t
        heapq.heappush(heap, current)
    return -1


@njit()
def _used_terms(record: int, baskets: Baskets, length: Ints) -> Ints:
    """The terms that a chain was split off by: usable, and used up in each of its records."""
    first = baskets.offsets[record] + length[record]
    last = first
    while last < baskets.offsets[record + 1] and baskets.usable[baskets.terms[last]]:
        last += 1
    return np.sort(baskets.terms[first:last].astype(np.int64))


@njit()
def _next_after_used(
    chain_terms: Ints, used: Ints, ignored: NDArray[np.bool_], count: Ints, constraint: Int32s,
    u: int, left: int,
) -> int:  # fmt: skip
    """The term that a nested chain is split on next, -1 for none (Fig. 8, lines 3 to 10).

    Terms of the constraint ``u`` come first, then those of any, then all others; the most frequent
    of them, then the first by number. ``used`` terms, which all ``left`` records hold, are
    ``ignored`` once they have come up, and their constraints become ``u``.
    """
    while True:
        best, best_tier, best_count = -1, 3, as_int64(0)
        for t in used:
            tier = _tier(constraint[t], u)
            if not ignored[t] and tier < best_tier:
                best, best_tier, best_count = int(t), tier, left
        came_up = best
        for t in chain_terms:
            tier = _tier(constraint[t], u)
            if count[t] == 0 or tier > best_tier:
                continue
            if tier < best_tier or count[t] > best_count or (count[t] == best_count and t < best):
                best, best_tier, best_count = int(t), tier, count[t]
        if best < 0 or best != came_up:
            return int(best)
        ignored[best] = True
        u = int(constraint[best])


@leaf()
def _tier(own: int, u: int) -> int:
    """The order in which terms are considered: of ``u``, of another constraint, of none."""
    if own < 0:
        return 2
    return 0 if own == u else 1


@leaf()
def _retire_term(r: int, a: int, baskets: Baskets, length: Ints) -> None:
    """Move term ``a`` behind the terms that record ``r`` can still be split on."""
    length[r] -= 1
    last = baskets.offsets[r] + length[r]
    for j in range(baskets.offsets[r], last):
        if baskets.terms[j] == a:
            baskets.terms[j] = baskets.terms[last]
            baskets.terms[last] = a
            return


@njit()
def _pool_leaves(
    leaf_start: Ints, chains: Chains, bounds: Ints, before: Ints, min_size: int
) -> Ints:
    """[leaves] the cluster of every leaf: a number that its leaves share.

    ``bounds`` [parts + 1] says where the parts begin, whose leaves are not pooled together;
    ``before`` [n + 1] what the records before each place weigh.
    """
    leaves = len(leaf_start) - 1
    cluster = np.full(leaves, -1, np.int64)
    following = np.full(leaves, -1, np.int64)
    depth = as_int64(0)
    deepest = len(chains.start) + 1
    head, tail = np.full(deepest, -1, np.int64), np.full(deepest, -1, np.int64)
    size, stop = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64)
    c = part = as_int64(0)
    last = as_int64(-1)
    for i in range(leaves):
        while c < len(chains.start) and chains.start[c] == leaf_start[i]:
            depth += 1
            stop[depth] = chains.stop[c]
            size[depth], head[depth] = 0, -1
            c += 1
        records = before[leaf_start[i + 1]] - before[leaf_start[i]]
        if records >= min_size:
            cluster[i] = last = i
        else:
            last = _into_pool(
                depth, i, i, records, min_size, head, tail, size, following, cluster, last
            )
        while depth > 0 and stop[depth] == leaf_start[i + 1]:
            depth -= 1
            above, below = depth, depth + 1
            if size[below] == 0:
                continue
            if depth > 0:
                last = _into_pool(
                    above, head[below], tail[below], size[below], min_size,
                    head, tail, size, following, cluster, last,
                )  # fmt: skip
            else:
                _assign_cluster(head[below], last, following, cluster)
        if leaf_start[i + 1] == bounds[part + 1]:
            part += 1
            last = -1
    return cluster


@leaf()
def _into_pool(
    depth: int, first: int, final: int, records: int, min_size: int, head: Ints, tail: Ints,
    size: Ints, following: Ints, cluster: Ints, last: int,
) -> int:  # fmt: skip
    """Add leaves ``first`` to ``final`` to a pool; the cluster finished last."""
    if size[depth] == 0:
        head[depth] = first
    else:
        following[tail[depth]] = first
    tail[depth] = final
    size[depth] += records
    if size[depth] < min_size:
        return last
    number = int(head[depth])
    _assign_cluster(number, number, following, cluster)
    size[depth] = 0
    return number


@leaf()
def _assign_cluster(leaf: int, number: int, following: Ints, cluster: Ints) -> None:
    """Give a pool's leaves, from its first on, the number of their cluster."""
    while leaf >= 0:
        cluster[leaf] = number
        leaf = following[leaf]
