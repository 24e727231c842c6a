"""CBA, the Clustering-Based Anonymizer: terms into sets of terms, or out (Loukides 2013).

Source: Loukides and Gkoulalas-Divanis, "Utility-aware anonymization of diagnosis codes", IEEE JBHI
17(1), as algorithm 1 of doi 10.1109/ITAB.2010.5687720 has it: while a set of terms that an attacker
may know is held by too few records, the pair of generalized terms of one utility constraint whose
union loses least is united, one of them being in the set; where there is none, a term is
suppressed. Supports only grow by uniting, so a set that is safe stays safe: one pass is enough.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.terms.km_anonymity import RankedBaskets, rare_sets

MAX_DOUBLINGS = 1_000
"""The loss of a generalized term doubles with each term, up to so many: else it would overflow."""


class _Nodes(NamedTuple):
    """Generalized terms; each has the number of its least term."""

    parent: Ints
    """[V] towards that number."""
    size: Ints
    """[V] terms."""
    suppressed: NDArray[np.bool_]
    """[V]"""
    begin: Ints
    length: Ints
    """[V] its records are ``pool[begin:begin + length]``, ascending."""
    pool: Ints
    pool_end: Ints
    """[1] how much of the pool is in use."""
    constraint: Ints
    """[V] the utility constraint, from 0 on; of a term in none one of its own."""
    peers: Ints
    """[V] terms by utility constraint."""
    peer_start: Ints
    """[U + 1] where the terms of each constraint start among them."""


def generalize(record: Ints, term: Ints, constraint: Ints, k: int, m: int) -> Ints:
    """The generalized term of every term: every <= m of them are held by k records or none.

    Sets that an attacker may know are taken by size, then by falling support, then in the order of
    their terms; those of a size are found anew in what the smaller ones have left.

    Args:
        record: [N] the record of each held term, from 0 on; (record, term) is distinct.
        term: [N] terms from 0 to V - 1.
        constraint: [V] utility constraint of each term; -1: none. A term of none is united with
            no other: algorithm 1 unites within a constraint alone.
        k: at least 1.
        m: at least 1.

    Returns:
        [V] number of the least term united with each term; -1: suppressed.

    Source: see the module; SPEC section 13.
    """
    nodes = _new_nodes(record, term, constraint)
    for size in range(1, m + 1):
        of = _roots(nodes.parent)
        of[nodes.suppressed[of]] = -1
        present = of[term] >= 0
        baskets, names = _ranked_baskets(record[present], of[term[present]])
        if not len(names) or size > int(np.diff(baskets.starts).max()):
            break
        ranks, supports = rare_sets(baskets, len(names), size, k)
        sets = np.sort(names[ranks], axis=1)
        order = np.lexsort((*sets.T[::-1], -supports))
        _protect(nodes, sets[order], k)
    of = _roots(nodes.parent)
    of[nodes.suppressed[of]] = -1
    return of


def _new_nodes(record: Ints, term: Ints, constraint: Ints) -> _Nodes:
    """Every term alone; arguments as for ``generalize``."""
    vocabulary = len(constraint)
    order = np.lexsort((record, term))
    length = np.bincount(term, minlength=vocabulary).astype(np.int64)
    alone = constraint.max(initial=-1) + 1 + np.arange(vocabulary)
    own = np.where(constraint < 0, alone, constraint)
    group = np.unique(own, return_inverse=True)[1].astype(np.int64)
    pool = np.empty(2 * len(term) + 1, np.int64)
    pool[: len(term)] = record[order]
    return _Nodes(
        parent=np.arange(vocabulary, dtype=np.int64),
        size=np.ones(vocabulary, np.int64),
        suppressed=length == 0,
        begin=np.cumsum(length) - length,
        length=length,
        pool=pool,
        pool_end=np.array([len(term)], np.int64),
        constraint=group,
        peers=np.argsort(group, kind="stable").astype(np.int64),
        peer_start=np.concatenate(([0], np.cumsum(np.bincount(group)))).astype(np.int64),
    )


def _ranked_baskets(record: Ints, node: Ints) -> tuple[RankedBaskets, Ints]:
    """Records of generalized terms, numbered from the rarest on, and the names of the numbers."""
    width = int(node.max(initial=0)) + 1
    record, node = np.divmod(np.unique(record * width + node), width)
    names, place, supports = np.unique(node, return_inverse=True, return_counts=True)
    order = np.argsort(supports, kind="stable")
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    by_record = np.lexsort((rank[place], record))
    sizes = np.unique(record, return_counts=True)[1]
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return RankedBaskets(starts, rank[place][by_record]), names[order]


@leaf()
def loss(size: int, records: int) -> float:
    """What a generalized term of so many terms and records loses: UL (COAT) up to a constant.

    It stands for any of 2^size - 1 sets of terms in each of its records.
    """
    return (math.ldexp(1.0, int(min(size, MAX_DOUBLINGS))) - 1.0) * records


@njit()
def _protect(nodes: _Nodes, sets: Ints, k: int) -> None:
    """Unite or suppress until k records hold each set, or none can be known to."""
    members = np.empty(sets.shape[1], np.int64)
    for row in range(len(sets)):
        while True:
            count = _members(nodes, sets[row], members)
            if count == 0 or _supported(nodes, members[:count], k):
                break
            one, other = _cheapest_pair(nodes, members[:count])
            if one < 0:
                nodes.suppressed[_cheapest(nodes, members[:count])] = True
                break
            _unite(nodes, min(one, other), max(one, other))


@leaf()
def _root(parent: Ints, term: int) -> int:
    """The generalized term of a term; the way to it is shortened."""
    while parent[term] != term:
        parent[term] = parent[parent[term]]
        term = parent[term]
    return term


@njit()
def _roots(parent: Ints) -> Ints:
    """[V] the generalized term of every term."""
    found = np.empty(len(parent), np.int64)
    for term in range(len(parent)):
        found[term] = _root(parent, term)
    return found


@njit()
def _members(nodes: _Nodes, terms: Ints, members: Ints) -> int:
    """Number of generalized terms that the set has become; 0: one of them is suppressed."""
    count = 0
    for term in terms:
        root = _root(nodes.parent, term)
        if nodes.suppressed[root]:
            return 0
        new = 0
        while new < count and members[new] != root:
            new += 1
        if new == count:
            members[count] = root
            count += 1
    members[:count].sort()
    return count


@leaf()
def _holds(nodes: _Nodes, node: int, record: int) -> bool:
    """Whether a record holds a generalized term."""
    low, high = nodes.begin[node], nodes.begin[node] + nodes.length[node]
    while low < high:
        middle = (low + high) >> 1
        if nodes.pool[middle] < record:
            low = middle + 1
        else:
            high = middle
    end = nodes.begin[node] + nodes.length[node]
    return bool(low < end and nodes.pool[low] == record)


@leaf()
def _supported(nodes: _Nodes, members: Ints, k: int) -> bool:
    """Whether at least k records hold them all."""
    rarest = members[0]
    for node in members:
        if nodes.length[node] < nodes.length[rarest]:
            rarest = node
    count = 0
    for i in range(nodes.begin[rarest], nodes.begin[rarest] + nodes.length[rarest]):
        if _holds_all(nodes, members, nodes.pool[i]):
            count += 1
            if count >= k:
                return True
    return False


@leaf()
def _holds_all(nodes: _Nodes, members: Ints, record: int) -> bool:
    """Whether a record holds all these generalized terms."""
    i = 0
    while i < len(members) and _holds(nodes, members[i], record):
        i += 1
    return i == len(members)


@leaf()
def _union_support(nodes: _Nodes, one: int, other: int) -> int:
    """Records that hold one of two generalized terms or both."""
    if nodes.length[one] > nodes.length[other]:
        one, other = other, one
    total = nodes.length[one] + nodes.length[other]
    for i in range(nodes.begin[one], nodes.begin[one] + nodes.length[one]):
        if _holds(nodes, other, nodes.pool[i]):
            total -= 1
    return int(total)


@leaf()
def _cheapest_pair(nodes: _Nodes, members: Ints) -> tuple[int, int]:
    """A member and a peer of its constraint whose union loses least; the first in term order."""
    best = np.inf
    pair = (np.int64(-1), np.int64(-1))
    for one in members:
        group = nodes.constraint[one]
        for j in range(nodes.peer_start[group], nodes.peer_start[group + 1]):
            other = nodes.peers[j]
            if other == one or nodes.parent[other] != other or nodes.suppressed[other]:
                continue
            size = nodes.size[one] + nodes.size[other]
            if loss(size, max(nodes.length[one], nodes.length[other])) >= best:
                continue
            cost = loss(size, _union_support(nodes, one, other))
            if cost < best:
                best = cost
                pair = (one, other)
    return int(pair[0]), int(pair[1])


@leaf()
def _cheapest(nodes: _Nodes, members: Ints) -> int:
    """The member whose suppression takes a term from the fewest records, then the fewest terms."""
    found = members[0]
    for node in members:
        if nodes.length[node] < nodes.length[found] or (
            nodes.length[node] == nodes.length[found] and nodes.size[node] < nodes.size[found]
        ):
            found = node
    return int(found)


@leaf()
def _unite(nodes: _Nodes, target: int, source: int) -> None:
    """Unite the terms of ``source`` with those of ``target``, which has the smaller number."""
    if nodes.pool_end[0] + nodes.length[target] + nodes.length[source] > len(nodes.pool):
        _compact(nodes)
    pool, at = nodes.pool, nodes.pool_end[0]
    a, b = nodes.begin[target], nodes.begin[source]
    a_end, b_end = a + nodes.length[target], b + nodes.length[source]
    while a < a_end or b < b_end:
        if b == b_end or (a < a_end and pool[a] < pool[b]):
            pool[at] = pool[a]
            a += 1
        else:
            if a < a_end and pool[a] == pool[b]:
                a += 1
            pool[at] = pool[b]
            b += 1
        at += 1
    nodes.begin[target] = nodes.pool_end[0]
    nodes.length[target] = at - nodes.pool_end[0]
    nodes.length[source] = 0
    nodes.pool_end[0] = at
    nodes.size[target] += nodes.size[source]
    nodes.parent[source] = target


@njit()
def _compact(nodes: _Nodes) -> None:
    """Move the records of all generalized terms to the front; together they are at most N."""
    at = np.int64(0)
    for node in np.argsort(nodes.begin):
        start = nodes.begin[node]
        nodes.begin[node] = at
        for i in range(nodes.length[node]):
            nodes.pool[at + i] = nodes.pool[start + i]
        at += nodes.length[node]
    nodes.pool_end[0] = at
