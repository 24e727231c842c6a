"""Refining: clusters share chunks of terms of their item chunks (Loukides 2014, section 4).

A *node* is a cluster or a joint cluster. The paper does not say in which order nodes meet. In a
pass either

* *neighbours* meet: nodes stand in the order of what their (virtual) item chunks still offer,
  frequent terms first, and neighbours are joined pair by pair, from the left (Terrovitis et al.
  2012); or
* those meet that *share* terms: each term has a list of the nodes that offer it, those of most
  records with it first, then in the order of neighbours, and a node meets the next ``partners`` of
  each list. The pair of which the largest share of records would be told is joined first.

Passes end with one that joins nothing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64
from srsql.udfs.terms.vertical import Holdings, Offers, find_term, shared_chunks

PASSES = 64
"""Passes at most: beyond, single pairs would be joined at the price of sorting all nodes."""


class Rules(NamedTuple):
    """What joint clusters and their chunks must keep, and who meets."""

    k: int
    """At least 1."""
    m: int
    """At least 1."""
    records: int
    """Of a joint cluster, at most; what is shared is placed anywhere in it, so a large one tells
    less of what goes with what."""
    terms: int
    """Of a shared chunk, 1 or more."""
    partners: int
    """Nodes that a node meets in the list of each term; 0: neighbours meet."""


class JointClusters(NamedTuple):
    """What refining makes of clusters; joint clusters and their chunks are numbered from 1 on."""

    members: Ints
    """[rows, 2] joint cluster, cluster."""
    terms: Ints
    """[rows, 3] joint cluster, chunk, rank of a term."""


class Nodes(NamedTuple):
    """The N nodes of one pass that still offer something."""

    ident: Ints
    """[N] what a node is recognized by."""
    first: Ints
    """[N] its least cluster."""
    head: Ints
    tail: Ints
    """[N] the first and the last cluster of its chain."""
    size: Ints
    """[N] records."""
    item_start: Ints
    """[N + 1] where the terms that its item chunks offer start in the two arrays below."""
    rank: Ints
    support: Ints
    """The ranks of these terms, ascending within a node, and how many of its records have each."""
    chunk_start: Ints
    """[N + 1] where the terms that its record or shared chunks have start in the array below."""
    chunk_rank: Ints


def refine(offers: Offers, chunk_start: Ints, chunk_rank: Ints, rules: Rules) -> JointClusters:
    """Join clusters that gain by it.

    Two nodes are joined over the terms R that the item chunks of both offer, that occur in k of
    their records and in no record chunk or shared chunk of either. Where a cluster would lose its
    whole item chunk and may not, the rarest of the terms that such clusters offer leaves R, until
    none would. They are joined if R is not empty, they have at most ``rules.records`` records, and
    sum of supports / records > sum of |R in P's item chunk| / sum of |P| over the clusters P whose
    item chunk has a term of R: a share of the records larger than the one that item chunks promise
    (after Terrovitis et al. 2012). VERPART makes shared chunks of R, and R leaves the item chunks.

    Args:
        offers: the C clusters.
        chunk_start: [C + 1] where the terms of each cluster's record chunks start.
        chunk_rank: [chunk_start[C]] ranks of these terms.
        rules: k, m, sizes, and who meets.

    Returns:
        Every cluster under every joint cluster it belongs to, and the terms of the shared chunks.

    Source: Loukides 2014, section 4; Terrovitis et al. 2012; SPEC section 11.
    """
    items = offers.items
    clusters = np.arange(len(offers.sizes))
    nodes = Nodes(
        clusters, clusters, clusters, clusters, offers.sizes, items.pair, items.term,
        np.diff(items.holder), chunk_start, chunk_rank,
    )  # fmt: skip
    following = np.full(len(clusters), -1, np.int64)
    shared = np.zeros(len(items.term), np.bool_)
    last_partner = np.full(2 * len(clusters), -1, np.int64)
    members, terms = [np.empty((0, 2), np.int64)], [np.empty((0, 3), np.int64)]
    joints = oldest_new = 0
    for _ in range(PASSES):
        order = _neighbours(nodes)
        if rules.partners:
            pairs = _partners(nodes, order, oldest_new, rules)
        else:
            pairs = np.stack([order[:-1], order[1:]], 1)
        oldest_new = len(clusters) + joints
        nodes, new_members, new_terms = _join_pairs(
            nodes, pairs, offers, following, shared, last_partner, joints, rules
        )
        if len(new_members) == 0:
            break
        joints = int(new_members[-1, 0])
        members.append(new_members)
        terms.append(new_terms)
    return JointClusters(np.concatenate(members), np.concatenate(terms))


def _neighbours(nodes: Nodes) -> Ints:
    """Nodes in the order of what they offer, then of their least cluster."""
    text = nodes.rank.astype(">i4").tobytes()
    ends = (4 * nodes.item_start).tolist()
    keys = [text[a:b] for a, b in pairwise(ends)]
    start = np.argsort(nodes.first, kind="stable").tolist()
    return np.array(sorted(start, key=keys.__getitem__), np.int64)


def _partners(nodes: Nodes, order: Ints, oldest_new: int, rules: Rules) -> Ints:
    """[pairs, 2] nodes that meet because they share terms, those that would share most first.

    Two nodes that met in an earlier pass and were not joined are left out: nothing has changed.
    What a pair would share are the records with each term that both offer and that k of their
    records have, divided by its records; ties by the nodes' least clusters.

    Args:
        nodes: of the pass.
        order: of neighbours.
        oldest_new: nodes are new that are recognized by this number or a higher one.
        rules: see :func:`refine`.
    """
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    owner = np.repeat(np.arange(len(order)), np.diff(nodes.item_start))
    listed = np.lexsort((place[owner], -nodes.support, nodes.rank))
    term, node, support = nodes.rank[listed], owner[listed], nodes.support[listed]
    found = [np.empty(0, np.int64)]
    for step in range(1, rules.partners + 1):
        a, b = node[:-step], node[step:]
        meets = (term[:-step] == term[step:]) & (support[:-step] + support[step:] >= rules.k)
        meets &= nodes.size[a] + nodes.size[b] <= rules.records
        meets &= (nodes.ident[a] >= oldest_new) | (nodes.ident[b] >= oldest_new)
        low, high = np.minimum(a, b)[meets], np.maximum(a, b)[meets]
        found.append(np.unique(low * len(order) + high))
    pairs = np.stack(np.divmod(np.unique(np.concatenate(found)), max(len(order), 1)), 1)
    share = _shared_records(nodes, pairs, rules.k) / nodes.size[pairs].sum(axis=1)
    first = np.sort(nodes.first[pairs], axis=1)
    return pairs[np.lexsort((first[:, 1], first[:, 0], -share))]


@njit()
def _shared_records(nodes: Nodes, pairs: Ints, k: int) -> Ints:
    """[pairs] the records with each term that both nodes offer and k of them have, added up."""
    gain = np.zeros(len(pairs), np.int64)
    for i in range(len(pairs)):
        a, b = pairs[i]
        x, stop = nodes.item_start[a], nodes.item_start[a + 1]
        y, end = nodes.item_start[b], nodes.item_start[b + 1]
        while x < stop and y < end:
            if nodes.rank[x] < nodes.rank[y]:
                x += 1
            elif nodes.rank[x] > nodes.rank[y]:
                y += 1
            else:
                both = nodes.support[x] + nodes.support[y]
                gain[i] += both if both >= k else 0
                x += 1
                y += 1
    return gain


@njit()
def _join_pairs(
    nodes: Nodes, pairs: Ints, offers: Offers, following: Ints, shared: NDArray[np.bool_],
    last_partner: Ints, joints: int, rules: Rules,
) -> tuple[Nodes, Ints, Ints]:  # fmt: skip
    """One pass: the nodes of the next one, and the rows of the new joint clusters.

    Each of the ``pairs`` [pairs, 2] is joined in their order, unless one of the two is already.
    ``last_partner`` [2 C] holds, by what a node is recognized by, with whom joining it failed last.
    """
    n, clusters = len(nodes.ident), len(offers.sizes)
    new = Nodes(
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64),
        np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n + 1, np.int64),
        np.empty(len(nodes.rank), np.int64), np.empty(len(nodes.rank), np.int64),
        np.zeros(n + 1, np.int64), np.empty(len(nodes.chunk_rank) + len(nodes.rank), np.int64),
    )  # fmt: skip
    members = np.empty((clusters, 2), np.int64)
    terms = np.empty((len(nodes.rank), 3), np.int64)
    in_chunk = np.zeros(len(offers.numbers), np.bool_)
    joined = np.zeros(n, np.bool_)
    count = member_rows = term_rows = as_int64(0)
    for i in range(len(pairs)):
        a, b = pairs[i]
        if joined[a] or joined[b] or last_partner[nodes.ident[a]] == nodes.ident[b]:
            continue
        refining = np.empty(0, np.int64)
        if nodes.size[a] + nodes.size[b] <= rules.records:
            refining = _refining_terms(nodes, a, b, offers, following, shared, rules.k)
        last_partner[nodes.ident[a]] = nodes.ident[b]
        if len(refining) == 0:
            continue
        joined[a] = joined[b] = True
        joints += 1
        following[nodes.tail[a]] = nodes.head[b]
        chunk = shared_chunks(
            nodes.head[a], refining, offers, following, shared, rules.k, rules.m, rules.terms
        )
        for j in range(len(refining)):
            terms[term_rows, 0], terms[term_rows, 1] = joints, chunk[j]
            terms[term_rows, 2] = refining[j]
            term_rows += 1
        c = nodes.head[a]
        while c >= 0:
            members[member_rows, 0], members[member_rows, 1] = joints, c
            member_rows += 1
            c = following[c]
        count = _join_nodes(nodes, a, b, refining, clusters + joints - 1, new, count, in_chunk)
    for a in range(n):
        if not joined[a]:
            count = _copy_node(nodes, a, new, count)
    left = Nodes(
        new.ident[:count].copy(), new.first[:count].copy(), new.head[:count].copy(),
        new.tail[:count].copy(), new.size[:count].copy(), new.item_start[: count + 1].copy(),
        new.rank[: new.item_start[count]].copy(), new.support[: new.item_start[count]].copy(),
        new.chunk_start[: count + 1].copy(), new.chunk_rank[: new.chunk_start[count]].copy(),
    )  # fmt: skip
    return left, members[:member_rows].copy(), terms[:term_rows].copy()


@leaf()
def _copy_node(nodes: Nodes, a: int, new: Nodes, count: int) -> int:
    """Append node ``a`` as it was, unless it offers nothing; the number of new nodes."""
    if nodes.item_start[a] == nodes.item_start[a + 1]:
        return count
    new.ident[count], new.first[count] = nodes.ident[a], nodes.first[a]
    new.head[count], new.tail[count], new.size[count] = nodes.head[a], nodes.tail[a], nodes.size[a]
    fill = new.item_start[count]
    for i in range(nodes.item_start[a], nodes.item_start[a + 1]):
        new.rank[fill], new.support[fill] = nodes.rank[i], nodes.support[i]
        fill += 1
    new.item_start[count + 1] = fill
    fill = new.chunk_start[count]
    for i in range(nodes.chunk_start[a], nodes.chunk_start[a + 1]):
        new.chunk_rank[fill] = nodes.chunk_rank[i]
        fill += 1
    new.chunk_start[count + 1] = fill
    return count + 1


@leaf()
def _join_nodes(
    nodes: Nodes, a: int, b: int, refining: Ints, ident: int, new: Nodes, count: int,
    in_chunk: NDArray[np.bool_],
) -> int:  # fmt: skip
    """Append the joint cluster of ``a`` and ``b`` if it offers something; the number of new nodes.

    ``in_chunk`` [V] is scratch, false between uses: which terms some chunk of the two has.
    """
    new.ident[count], new.first[count] = ident, min(nodes.first[a], nodes.first[b])
    new.head[count], new.tail[count] = nodes.head[a], nodes.tail[b]
    new.size[count] = nodes.size[a] + nodes.size[b]
    fill = new.chunk_start[count]
    for node in (a, b):
        for i in range(nodes.chunk_start[node], nodes.chunk_start[node + 1]):
            fill = _append_once(nodes.chunk_rank[i], new.chunk_rank, fill, in_chunk)
    for term in refining:
        fill = _append_once(term, new.chunk_rank, fill, in_chunk)
    new.chunk_start[count + 1] = fill
    i, stop = nodes.item_start[a], nodes.item_start[a + 1]
    j, end = nodes.item_start[b], nodes.item_start[b + 1]
    fill = new.item_start[count]
    while i < stop or j < end:
        of_a = i < stop and (j == end or nodes.rank[i] <= nodes.rank[j])
        of_b = j < end and (i == stop or nodes.rank[j] <= nodes.rank[i])
        rank = nodes.rank[i] if of_a else nodes.rank[j]
        support = 0
        if of_a:
            support += nodes.support[i]
            i += 1
        if of_b:
            support += nodes.support[j]
            j += 1
        if not in_chunk[rank]:
            new.rank[fill], new.support[fill] = rank, support
            fill += 1
    new.item_start[count + 1] = fill
    for i in range(new.chunk_start[count], new.chunk_start[count + 1]):
        in_chunk[new.chunk_rank[i]] = False
    return count + 1 if fill > new.item_start[count] else count


@leaf()
def _append_once(term: int, ranks: Ints, fill: int, in_chunk: NDArray[np.bool_]) -> int:
    """Append a term that is not there yet; where the next one goes."""
    if not in_chunk[term]:
        in_chunk[term] = True
        ranks[fill] = term
        fill += 1
    return fill


@njit()
def _refining_terms(
    nodes: Nodes, a: int, b: int, offers: Offers, following: Ints, shared: NDArray[np.bool_], k: int
) -> Ints:
    """R of two nodes (see ``refine``), empty where they are not to be joined."""
    terms, support = _common_terms(nodes, a, b, k)
    if len(terms) == 0:
        return terms
    last_items = np.zeros(len(terms), np.bool_)
    while True:
        last_items[:] = False
        too_many = False
        occurrences = records = 0
        for node in (a, b):
            c = nodes.head[node]
            while c >= 0:
                items, refining = _item_counts(c, terms, offers.items, shared)
                if refining > 0:
                    occurrences += refining
                    records += offers.sizes[c]
                    if refining == items and not offers.may_empty[c]:
                        too_many = True
                        _mark_items(c, terms, offers.items, shared, last_items)
                c = following[c]
        if not too_many:
            break
        terms, support = _without_rarest(terms, support, last_items, offers.numbers)
    total = 0
    for count in support:
        total += count
    if total * records > occurrences * (nodes.size[a] + nodes.size[b]):
        return terms
    return terms[:0]


@njit()
def _common_terms(nodes: Nodes, a: int, b: int, k: int) -> tuple[Ints, Ints]:
    """Terms that both nodes offer and that have support k together, with their support."""
    i, stop = nodes.item_start[a], nodes.item_start[a + 1]
    j, end = nodes.item_start[b], nodes.item_start[b + 1]
    terms, support = np.empty(stop - i, np.int64), np.empty(stop - i, np.int64)
    count = 0
    while i < stop and j < end:
        if nodes.rank[i] < nodes.rank[j]:
            i += 1
        elif nodes.rank[i] > nodes.rank[j]:
            j += 1
        else:
            if nodes.support[i] + nodes.support[j] >= k:
                terms[count] = nodes.rank[i]
                support[count] = nodes.support[i] + nodes.support[j]
                count += 1
            i += 1
            j += 1
    return terms[:count].copy(), support[:count].copy()


@leaf()
def _item_counts(
    c: int, terms: Ints, items: Holdings, shared: NDArray[np.bool_]
) -> tuple[int, int]:
    """How many terms the cluster's item chunk still offers, and how many of them are in R."""
    offered = refining = 0
    for p in range(items.pair[c], items.pair[c + 1]):
        if not shared[p]:
            offered += 1
            refining += find_term(terms, items.term[p]) >= 0
    return offered, refining


@leaf()
def _mark_items(
    c: int, terms: Ints, items: Holdings, shared: NDArray[np.bool_], marks: NDArray[np.bool_]
) -> None:
    """Mark which of the ``terms`` the cluster's item chunk still offers."""
    for p in range(items.pair[c], items.pair[c + 1]):
        if not shared[p]:
            j = find_term(terms, items.term[p])
            if j >= 0:
                marks[j] = True


@njit()
def _without_rarest(
    terms: Ints, support: Ints, marks: NDArray[np.bool_], numbers: Ints
) -> tuple[Ints, Ints]:
    """All but the least frequent of the marked terms; ties by the terms' own numbers."""
    rarest = -1
    for j in range(len(terms)):
        if marks[j] and (
            rarest < 0
            or support[j] < support[rarest]
            or (support[j] == support[rarest] and numbers[terms[j]] < numbers[terms[rarest]])
        ):
            rarest = j
    for j in range(rarest, len(terms) - 1):
        terms[j], support[j] = terms[j + 1], support[j + 1]
    return terms[:-1], support[:-1]
