"""VERPART: the terms of a cluster into chunks (Loukides 2014, Fig. 9 and section 4).

The chunks of one cluster and the shared chunks of a joint cluster are made by the same lines; the
subrecords of a chunk are published in a random order.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64
from srsql.udfs.mechanisms import Uniform
from srsql.udfs.terms.km_anonymity import WORD, Bits, count_ones, may_join, set_bits

SLICES = 64
Int32s = NDArray[np.int32]


class Holdings(NamedTuple):
    """Which records of C clusters have which terms."""

    pair: Ints
    """[C + 1] where each cluster's terms start."""
    term: Ints
    """[T] ascending within a cluster."""
    holder: Ints
    """[T + 1] where the records of each of these terms start."""
    records: Ints
    """[holder[T]] places within the cluster, from 0 on."""


class Offers(NamedTuple):
    """What C clusters bring to refining."""

    items: Holdings
    """The terms of item chunks that may be shared, each numbered by its rank by falling support in
    the data, so that sets of terms compare by their most frequent terms."""
    numbers: Ints
    """[V] of each rank, the term's own number, which decides ties."""
    constraint: Int32s
    """[V] of each rank, the term's utility constraint, -1 for none."""
    sizes: Ints
    """[C] records."""
    may_empty: NDArray[np.bool_]
    """[C] whether the cluster's item chunk may lose all these terms."""


def group_holdings(cluster: Ints, record: Ints, term: Ints, clusters: int) -> Holdings:
    """Group (cluster, record, term) rows, all distinct; each record belongs to one cluster.

    Args:
        cluster: [N] numbers from 0 to ``clusters`` - 1.
        record: [N] numbers.
        term: [N] numbers from 0 on.
        clusters: how many there are; one may have no row.
    """
    records, first, row = np.unique(record, return_index=True, return_inverse=True)
    order = np.argsort(cluster[first], kind="stable")
    starts = np.searchsorted(cluster[first][order], np.arange(clusters))
    place = np.empty(len(records), np.int64)
    place[order] = np.arange(len(records)) - starts[cluster[first][order]]
    width = int(place.max(initial=0)) + 1
    vocabulary = int(term.max(initial=0)) + 1
    key = (cluster * vocabulary + term) * width + place[row]
    key.sort()
    pairs, start = np.unique(key // width, return_index=True)
    bounds = np.searchsorted(pairs, np.arange(clusters + 1) * vocabulary)
    return Holdings(
        bounds.astype(np.int64),
        pairs % vocabulary,
        np.append(start, len(key)).astype(np.int64),
        key % width,
    )


def vertical_chunks(
    holdings: Holdings, sizes: Ints, constraint: Int32s, usable: NDArray[np.bool_], k: int, m: int,
    most: int,
) -> Int32s:  # fmt: skip
    """The chunk of every term of every cluster: 0 the item chunk, record chunks from 1 on.

    Terms of a constraint come before all others, constraints by the support of their most frequent
    term, terms of a constraint and other terms by support, ties by number. A term of a constraint
    that is not the first term's is taken out of a chunk again when not all terms of its constraint
    that had no chunk yet are in it. Where every term has a record chunk, the rarest goes to the
    item chunk unless the non-empty subrecords are so many that no record needs more than
    min(m, v) of them: sum >= |P| + k (min(m, v) - 1) over v chunks.

    Args:
        holdings: the terms of each cluster.
        sizes: [C] records of each cluster, those without a term included.
        constraint: [V] the utility constraint of a term, -1 for none.
        usable: [V] false for terms that are only ever in item chunks.
        k: at least 1.
        m: at least 1.
        most: terms of a chunk, 1 or more.

    Returns:
        [T] chunk numbers, aligned with ``holdings.term``.

    Source: Loukides 2014, Fig. 9; SPEC section 11.
    """
    chunk = np.zeros(len(holdings.term), np.int32)
    bounds = np.searchsorted(holdings.pair, np.linspace(0, len(holdings.term), SLICES + 1)).tolist()
    bounds[0], bounds[-1] = 0, len(sizes)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [
            pool.submit(
                _chunks_of_clusters, a, b, holdings, sizes, constraint, usable, k, m, most, chunk
            )
            for a, b in pairwise(bounds)
            if a < b
        ]
        for task in tasks:
            task.result()
    return chunk


@njit(nogil=True)
def _chunks_of_clusters(
    start: int, stop: int, holdings: Holdings, sizes: Ints, constraint: Int32s,
    usable: NDArray[np.bool_], k: int, m: int, most: int, chunk: Int32s,
) -> None:  # fmt: skip
    """Fill ``chunk`` for the clusters from ``start`` to ``stop`` - 1."""
    for c in range(start, stop):
        first, last = holdings.pair[c], holdings.pair[c + 1]
        pairs = np.empty(last - first, np.int64)
        frequent = 0
        for p in range(first, last):
            if usable[holdings.term[p]] and holdings.holder[p + 1] - holdings.holder[p] >= k:
                pairs[frequent] = p
                frequent += 1
        if frequent == 0:
            continue
        bits = np.zeros((frequent, (sizes[c] + WORD - 1) // WORD), np.uint64)
        support, owner = np.empty(frequent, np.int64), np.empty(frequent, np.int64)
        for i in range(frequent):
            p = pairs[i]
            support[i] = holdings.holder[p + 1] - holdings.holder[p]
            owner[i] = constraint[holdings.term[p]]
            set_bits(
                bits[i], holdings.records[holdings.holder[p] : holdings.holder[p + 1]], as_int64(0)
            )
        found = np.zeros(frequent, np.int64)
        chunks = assign_chunks(bits, support, owner, pairs, k, m, most, found)
        if frequent == last - first and not _may_empty_item_chunk(
            bits, found, chunks, sizes[c], k, m
        ):
            _drop_rarest(support, found)
        for i in range(frequent):
            chunk[pairs[i]] = found[i]


@njit()
def assign_chunks(
    bits: Bits, support: Ints, constraint: Ints, ties: Ints, k: int, m: int, most: int, chunk: Ints
) -> int:
    """Lines 5 to 20 of VERPART over terms with support >= k; the number of chunks.

    Args:
        bits: [T, words] the records of each term.
        support: [T] bits set in each row.
        constraint: [T] utility constraint, -1 for none.
        ties: [T] what comes first at equal support.
        k: at least 1.
        m: at least 1.
        most: terms of a chunk, 1 or more.
        chunk: [T] zeros; gets the number of each term's chunk, from 1 on.

    Source: Loukides 2014, Fig. 9; SPEC section 11.
    """
    order = _order(support, constraint, ties)
    terms = len(order)
    current = np.empty(terms, np.int64)
    stack = np.empty((max(min(terms, m) + 1, 3), bits.shape[1]), np.uint64)
    unassigned, number = terms, 0
    while unassigned > 0:
        number += 1
        size = as_int64(0)
        first_constraint = -1
        for t in order:
            if size == most:
                break
            if chunk[t] == 0 and may_join(bits, current, size, t, k, m, stack):
                if size == 0:
                    first_constraint = constraint[t]
                current[size] = t
                size += 1
                chunk[t] = number
        for t in order:  # a constraint that is torn is tried again as a whole
            if chunk[t] == 0 and constraint[t] >= 0 and constraint[t] != first_constraint:
                for i in range(size):
                    if constraint[current[i]] == constraint[t]:
                        chunk[current[i]] = 0
        for i in range(size):
            unassigned -= chunk[current[i]] != 0
    return number


@njit()
def _order(support: Ints, constraint: Ints, ties: Ints) -> Ints:
    """Line 5: constrained terms by constraint and support, then the others by support."""
    terms = len(support)
    leader = np.empty(terms, np.int64)
    for t in range(terms):
        leader[t] = t
        for other in range(terms):
            if constraint[t] >= 0 and constraint[other] == constraint[t]:
                lead = leader[t]
                if support[other] > support[lead] or (
                    support[other] == support[lead] and ties[other] < ties[lead]
                ):
                    leader[t] = other
    order = np.empty(terms, np.int64)
    for t in range(terms):
        i = t
        while i > 0 and _before(t, order[i - 1], support, constraint, ties, leader):
            order[i] = order[i - 1]
            i -= 1
        order[i] = t
    return order


@leaf()
def _before(a: int, b: int, support: Ints, constraint: Ints, ties: Ints, leader: Ints) -> bool:
    """Whether term ``a`` comes before ``b`` in line 5."""
    if (constraint[a] >= 0) != (constraint[b] >= 0):
        return bool(constraint[a] >= 0)
    if constraint[a] >= 0 and leader[a] != leader[b]:
        a, b = leader[a], leader[b]
    return bool(support[a] > support[b] or (support[a] == support[b] and ties[a] < ties[b]))


@njit()
def _may_empty_item_chunk(
    bits: Bits, chunk: Ints, chunks: int, records: int, k: int, m: int
) -> bool:
    """Whether the item chunk may be empty: enough non-empty subrecords for every record."""
    union = np.empty(bits.shape[1], np.uint64)
    total = 0
    for number in range(1, chunks + 1):
        union[:] = np.uint64(0)
        for t in range(len(chunk)):
            if chunk[t] == number:
                for w in range(len(union)):
                    union[w] |= bits[t, w]
        total += count_ones(union)
    return bool(total >= records + k * (min(m, chunks) - 1))


@leaf()
def _drop_rarest(support: Ints, chunk: Ints) -> None:
    """The rarest term goes to the item chunk; a chunk that has no term left gives its number up."""
    rarest = 0
    for t in range(len(chunk)):
        if support[t] < support[rarest]:
            rarest = t
    number = chunk[rarest]
    chunk[rarest] = 0
    for t in range(len(chunk)):
        if chunk[t] == number:
            return
    for t in range(len(chunk)):
        chunk[t] -= chunk[t] > number


@leaf()
def find_term(terms: Ints, term: int) -> int:
    """Where a term stands among ``terms``, which ascend; -1: nowhere."""
    low, high = 0, len(terms)
    while low < high:
        middle = (low + high) // 2
        if terms[middle] < term:
            low = middle + 1
        else:
            high = middle
    return low if low < len(terms) and terms[low] == term else -1


@njit()
def shared_chunks(
    head: int, terms: Ints, offers: Offers, following: Ints, shared: NDArray[np.bool_], k: int,
    m: int, most: int,
) -> Ints:  # fmt: skip
    """Chunks of refining terms over the clusters of a joint cluster; they leave the item chunks.

    Args:
        head: the first of these clusters.
        terms: [R] ranks, ascending.
        offers: of all clusters.
        following: [C] the next cluster of the same joint cluster, -1 after the last.
        shared: [T] which of ``offers.items`` left their item chunks; changed.
        k: at least 1.
        m: at least 1.
        most: terms of a chunk, 1 or more.

    Returns:
        [R] chunk numbers, from 1 on.
    """
    items = offers.items
    size = 0
    c = head
    while c >= 0:
        size += offers.sizes[c]
        c = following[c]
    bits = np.zeros((len(terms), (size + WORD - 1) // WORD), np.uint64)
    support = np.zeros(len(terms), np.int64)
    size = 0
    c = head
    while c >= 0:
        for p in range(items.pair[c], items.pair[c + 1]):
            j = find_term(terms, items.term[p]) if not shared[p] else -1
            if j >= 0:
                shared[p] = True
                set_bits(bits[j], items.records[items.holder[p] : items.holder[p + 1]], size)
                support[j] += items.holder[p + 1] - items.holder[p]
        size += offers.sizes[c]
        c = following[c]
    owner, ties = np.empty(len(terms), np.int64), np.empty(len(terms), np.int64)
    for j in range(len(terms)):
        owner[j], ties[j] = offers.constraint[terms[j]], offers.numbers[terms[j]]
    chunk = np.zeros(len(terms), np.int64)
    assign_chunks(bits, support, owner, ties, k, m, most, chunk)
    return chunk


def random_permutations(sizes: Ints, seed: int | None) -> Ints:
    """Independent uniform permutations of 1 .. size, one after the other (Fisher and Yates).

    Args:
        sizes: [n] lengths, 0 or more.
        seed: of a NumPy generator, for experiments; None: the secure generator.

    Returns:
        [sum of sizes] the permutations.
    """
    ends = np.cumsum(sizes)
    place = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)
    return _permute(place, Uniform(seed).below(place + 1))


@njit()
def _permute(place: Ints, draw: Ints) -> Ints:
    """Each element takes the seat that was drawn for it; who sat there moves to the end."""
    order = np.empty(len(place), np.int64)
    for i in range(len(place)):
        start = i - place[i]
        order[i] = order[start + draw[i]] if draw[i] < place[i] else 0
        order[start + draw[i]] = place[i] + 1
    return order
