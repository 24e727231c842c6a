"""Which terms two nodes share, and in which chunks (Loukides 2014, refining)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.problem import Ints
from srsql.udfs.terms.km import WORD
from srsql.udfs.terms.vertical import Holdings, Words, assign_chunks, set_bits


class Offers(NamedTuple):
    """What clusters bring to refining.

    items: the terms of item chunks that may be shared; a term's number is its rank by falling
    support in the data, so that sets of terms compare by their most frequent terms.
    numbers: [V] of each rank, the term's own number, which decides ties; constraint: [V] of each
    rank; sizes: [C] records; may_empty: [C] whether the cluster's item chunk may lose all these.
    """

    items: Holdings
    numbers: Ints
    constraint: Words
    sizes: Ints
    may_empty: NDArray[np.bool_]


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
            taken += _find(terms, items.term[p]) >= 0
    return offered, taken


@njit(cache=True)
def _mark(
    c: int, terms: Ints, items: Holdings, shared: NDArray[np.bool_], lost: NDArray[np.bool_]
) -> None:
    for p in range(items.pair[c], items.pair[c + 1]):
        if not shared[p]:
            j = _find(terms, items.term[p])
            if j >= 0:
                lost[j] = True


@njit(cache=True)
def _find(terms: Ints, term: int) -> int:
    low, high = 0, len(terms)
    while low < high:
        middle = (low + high) // 2
        if terms[middle] < term:
            low = middle + 1
        else:
            high = middle
    return low if low < len(terms) and terms[low] == term else -1


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


@njit(cache=True)
def share(
    head: int, terms: Ints, offers: Offers, following: Ints, shared: NDArray[np.bool_], k: int,
    m: int,
) -> Ints:  # fmt: skip
    """Chunks of the refining terms over the chain of clusters; the terms leave the item chunks."""
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
            j = _find(terms, items.term[p]) if not shared[p] else -1
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
    assign_chunks(bits, support, owner, ties, k, m, chunk)
    return chunk
