"""Refining: neighbouring clusters share chunks of terms of their item chunks (Loukides 2014, 4).

A *node* is a cluster or a joint cluster. In a pass nodes stand in the order of what their (virtual)
item chunks still offer, frequent terms first, and neighbours are joined pair by pair, from the left
(Terrovitis et al. 2012). Passes end with one that joins nothing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.exact_search import whole
from srsql.udfs.terms.vertical import Holdings, Offers, find_term, share

PASSES = 64
"""Passes at most: beyond, single pairs would be joined at the price of sorting all nodes."""


class Shared(NamedTuple):
    """Rows (joint, cluster) and (joint, chunk, rank of a term); numbers from 1 on, but clusters."""

    members: Ints
    terms: Ints


class Nodes(NamedTuple):
    """The nodes of one pass that still offer something.

    ident: what a node is recognized by; first: its least cluster; head, tail: its chain of
    clusters; size: records; offered, rank, support: what its item chunks offer, ascending, and how
    many records have it; barred, bar: terms that its record or shared chunks have.
    """

    ident: Ints
    first: Ints
    head: Ints
    tail: Ints
    size: Ints
    offered: Ints
    rank: Ints
    support: Ints
    barred: Ints
    bar: Ints


def refine(
    offers: Offers, barred: Ints, bar: Ints, k: int, m: int, limit: int, passes: int = PASSES
) -> Shared:
    """Join clusters that gain by it.

    Two nodes are joined over the terms R that the item chunks of both offer, that occur in k of
    their records and in no record chunk or shared chunk of either. Where a cluster would lose its
    whole item chunk and may not, the rarest of the terms that such clusters offer leaves R, until
    none would. They are joined if R is not empty, they have at most ``limit`` records, and
    sum of supports / records > sum of |R in P's item chunk| / sum of |P| over the clusters P whose
    item chunk has a term of R: a share of the records larger than the one that item chunks promise
    (after Terrovitis et al. 2012). VERPART makes shared chunks of R, and R leaves the item chunks.

    Args:
        offers: the clusters.
        barred: [C + 1] where the terms of each cluster's record chunks start in ``bar``.
        bar: ranks of terms.
        k: at least 1.
        m: at least 1.
        limit: records of a joint cluster; what is shared is placed anywhere in it, so a large one
            tells less of what goes with what.
        passes: how many at most.

    Returns:
        Every cluster under every joint cluster it belongs to, and the terms of the shared chunks.
    """
    items = offers.items
    clusters = np.arange(len(offers.sizes))
    nodes = Nodes(
        clusters, clusters, clusters, clusters, offers.sizes, items.pair, items.term,
        np.diff(items.holder), barred, bar,
    )  # fmt: skip
    following = np.full(len(clusters), -1, np.int64)
    shared = np.zeros(len(items.term), np.bool_)
    failed = np.full(2 * len(clusters), -1, np.int64)
    members, terms = [np.empty((0, 2), np.int64)], [np.empty((0, 3), np.int64)]
    joints = 0
    for _ in range(passes):
        order = _neighbours(nodes)
        nodes, rows, found = _join(
            nodes, order, offers, following, shared, failed, joints, k, m, limit
        )
        if len(rows) == 0:
            break
        joints = int(rows[-1, 0])
        members.append(rows)
        terms.append(found)
    return Shared(np.concatenate(members), np.concatenate(terms))


def _neighbours(nodes: Nodes) -> Ints:
    """Nodes in the order of what they offer, then of their least cluster."""
    text = nodes.rank.astype(">i4").tobytes()
    ends = (4 * nodes.offered).tolist()
    keys = [text[a:b] for a, b in pairwise(ends)]
    start = np.argsort(nodes.first, kind="stable").tolist()
    return np.array(sorted(start, key=keys.__getitem__), np.int64)


@njit(cache=True)
def _join(
    nodes: Nodes, order: Ints, offers: Offers, following: Ints, shared: NDArray[np.bool_],
    failed: Ints, joints: int, k: int, m: int, limit: int,
) -> tuple[Nodes, Ints, Ints]:  # fmt: skip
    """One pass; the nodes of the next one, and the rows of the joint clusters made."""
    n, clusters = len(order), len(offers.sizes)
    made = Nodes(
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64),
        np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n + 1, np.int64),
        np.empty(len(nodes.rank), np.int64), np.empty(len(nodes.rank), np.int64),
        np.zeros(n + 1, np.int64), np.empty(len(nodes.bar) + len(nodes.rank), np.int64),
    )  # fmt: skip
    members = np.empty((clusters, 2), np.int64)
    terms = np.empty((len(nodes.rank), 3), np.int64)
    barred = np.zeros(len(offers.numbers), np.bool_)
    i = out = rows = found = whole(0)
    while i < n:
        a = order[i]
        b = order[i + 1] if i + 1 < n else -1
        i += 1
        refining = np.empty(0, np.int64)
        if b >= 0 and failed[nodes.ident[a]] != nodes.ident[b]:
            if nodes.size[a] + nodes.size[b] <= limit:
                refining = refining_terms(nodes, a, b, offers, following, shared, k)
            failed[nodes.ident[a]] = nodes.ident[b]
        if len(refining) == 0:
            out = _keep(nodes, a, made, out)
            continue
        i += 1
        joints += 1
        following[nodes.tail[a]] = nodes.head[b]
        chunk = share(nodes.head[a], refining, offers, following, shared, k, m)
        for j in range(len(refining)):
            terms[found, 0], terms[found, 1], terms[found, 2] = joints, chunk[j], refining[j]
            found += 1
        c = nodes.head[a]
        while c >= 0:
            members[rows, 0], members[rows, 1] = joints, c
            rows += 1
            c = following[c]
        out = _unite(nodes, a, b, refining, clusters + joints - 1, made, out, barred)
    left = Nodes(
        made.ident[:out].copy(), made.first[:out].copy(), made.head[:out].copy(),
        made.tail[:out].copy(), made.size[:out].copy(), made.offered[: out + 1].copy(),
        made.rank[: made.offered[out]].copy(), made.support[: made.offered[out]].copy(),
        made.barred[: out + 1].copy(), made.bar[: made.barred[out]].copy(),
    )  # fmt: skip
    return left, members[:rows].copy(), terms[:found].copy()


@njit(cache=True)
def _keep(nodes: Nodes, a: int, made: Nodes, out: int) -> int:
    """Node ``a`` as it was, unless it offers nothing; the number of nodes."""
    if nodes.offered[a] == nodes.offered[a + 1]:
        return out
    made.ident[out], made.first[out] = nodes.ident[a], nodes.first[a]
    made.head[out], made.tail[out], made.size[out] = nodes.head[a], nodes.tail[a], nodes.size[a]
    fill = made.offered[out]
    for i in range(nodes.offered[a], nodes.offered[a + 1]):
        made.rank[fill], made.support[fill] = nodes.rank[i], nodes.support[i]
        fill += 1
    made.offered[out + 1] = fill
    fill = made.barred[out]
    for i in range(nodes.barred[a], nodes.barred[a + 1]):
        made.bar[fill] = nodes.bar[i]
        fill += 1
    made.barred[out + 1] = fill
    return out + 1


@njit(cache=True)
def _unite(
    nodes: Nodes, a: int, b: int, refining: Ints, ident: int, made: Nodes, out: int,
    barred: NDArray[np.bool_],
) -> int:  # fmt: skip
    """The joint cluster of ``a`` and ``b``; the number of nodes."""
    made.ident[out], made.first[out] = ident, min(nodes.first[a], nodes.first[b])
    made.head[out], made.tail[out] = nodes.head[a], nodes.tail[b]
    made.size[out] = nodes.size[a] + nodes.size[b]
    fill = made.barred[out]
    for node in (a, b):
        for i in range(nodes.barred[node], nodes.barred[node + 1]):
            fill = _bar(nodes.bar[i], made.bar, fill, barred)
    for term in refining:
        fill = _bar(term, made.bar, fill, barred)
    made.barred[out + 1] = fill
    i, stop = nodes.offered[a], nodes.offered[a + 1]
    j, end = nodes.offered[b], nodes.offered[b + 1]
    fill = made.offered[out]
    while i < stop or j < end:
        left = i < stop and (j == end or nodes.rank[i] <= nodes.rank[j])
        right = j < end and (i == stop or nodes.rank[j] <= nodes.rank[i])
        rank = nodes.rank[i] if left else nodes.rank[j]
        support = 0
        if left:
            support += nodes.support[i]
            i += 1
        if right:
            support += nodes.support[j]
            j += 1
        if not barred[rank]:
            made.rank[fill], made.support[fill] = rank, support
            fill += 1
    made.offered[out + 1] = fill
    for i in range(made.barred[out], made.barred[out + 1]):
        barred[made.bar[i]] = False
    return out + 1 if fill > made.offered[out] else out


@njit(cache=True)
def _bar(term: int, bar: Ints, fill: int, barred: NDArray[np.bool_]) -> int:
    """Append a term that is not barred yet; where the next one goes."""
    if not barred[term]:
        barred[term] = True
        bar[fill] = term
        fill += 1
    return fill


@njit(cache=True)
def refining_terms(
    nodes: Nodes, a: int, b: int, offers: Offers, following: Ints, shared: NDArray[np.bool_], k: int
) -> Ints:
    """R, empty where the nodes are not to be joined."""
    terms, support = _common(nodes, a, b, k)
    if len(terms) == 0:
        return terms
    lost = np.zeros(len(terms), np.bool_)
    while True:
        lost[:] = False
        losing = False
        promised = promising = 0
        for node in (a, b):
            c = nodes.head[node]
            while c >= 0:
                offered, taken = _taken(c, terms, offers.items, shared)
                if taken > 0:
                    promised += taken
                    promising += offers.sizes[c]
                    if taken == offered and not offers.may_empty[c]:
                        losing = True
                        _mark(c, terms, offers.items, shared, lost)
                c = following[c]
        if not losing:
            break
        terms, support = _without_rarest(terms, support, lost, offers.numbers)
    total = 0
    for count in support:
        total += count
    if total * promising > promised * (nodes.size[a] + nodes.size[b]):
        return terms
    return terms[:0]


@njit(cache=True)
def _common(nodes: Nodes, a: int, b: int, k: int) -> tuple[Ints, Ints]:
    """Terms that both nodes offer and that have support k together, with their support."""
    i, stop = nodes.offered[a], nodes.offered[a + 1]
    j, end = nodes.offered[b], nodes.offered[b + 1]
    terms, support = np.empty(stop - i, np.int64), np.empty(stop - i, np.int64)
    found = 0
    while i < stop and j < end:
        if nodes.rank[i] < nodes.rank[j]:
            i += 1
        elif nodes.rank[i] > nodes.rank[j]:
            j += 1
        else:
            if nodes.support[i] + nodes.support[j] >= k:
                terms[found] = nodes.rank[i]
                support[found] = nodes.support[i] + nodes.support[j]
                found += 1
            i += 1
            j += 1
    return terms[:found].copy(), support[:found].copy()


@njit(cache=True)
def _taken(c: int, terms: Ints, items: Holdings, shared: NDArray[np.bool_]) -> tuple[int, int]:
    """How many terms the cluster's item chunk still offers, and how many of them are refining."""
    offered = taken = 0
    for p in range(items.pair[c], items.pair[c + 1]):
        if not shared[p]:
            offered += 1
            taken += find_term(terms, items.term[p]) >= 0
    return offered, taken


@njit(cache=True)
def _mark(
    c: int, terms: Ints, items: Holdings, shared: NDArray[np.bool_], lost: NDArray[np.bool_]
) -> None:
    for p in range(items.pair[c], items.pair[c + 1]):
        if not shared[p]:
            j = find_term(terms, items.term[p])
            if j >= 0:
                lost[j] = True


@njit(cache=True)
def _without_rarest(
    terms: Ints, support: Ints, lost: NDArray[np.bool_], numbers: Ints
) -> tuple[Ints, Ints]:
    """All but the least frequent of the marked terms; ties by the terms' own numbers."""
    rarest = -1
    for j in range(len(terms)):
        if lost[j] and (
            rarest < 0
            or support[j] < support[rarest]
            or (support[j] == support[rarest] and numbers[terms[j]] < numbers[terms[rarest]])
        ):
            rarest = j
    for j in range(rarest, len(terms) - 1):
        terms[j], support[j] = terms[j + 1], support[j + 1]
    return terms[:-1], support[:-1]
