"""What known terms tell of a sensitive value: chunks in which it stays below its threshold.

Whoever knows that a record is in a cluster and holds a set X of at most m of its terms takes every
placement of the cluster's subrecords for equally likely. Subrecords of different chunks meet
independently, so the part of X within a chunk says something of the terms of that chunk alone: the
share of the subrecords with it that hold the value as well. A term of the item chunk is expected in
one record. Where terms of a value stand in several places, the shares of these places added up are
no less than the probability of any of them, and the sum is what is bounded here.

A value that is told too much is taken out of its chunks: its terms get chunks of their own, in
which nothing is known of them but how many of the cluster's records hold them, and where even that
is too much, they go to the item chunk. What is taken out of a chunk leaves k^m-anonymity and the
shares of other values as they are or smaller, so each value is looked at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64
from srsql.udfs.terms.km_anonymity import WORD, Bits, count_ones, set_bits
from srsql.udfs.terms.vertical import Holdings

BUDGET = 1 << 16
"""So many sets of known terms are looked at for one value in one chunk before it counts as told."""
_ROUNDING = 1e-9
"""A sum of shares has to stay so much below a threshold, since doubles round."""


class Thresholds(NamedTuple):
    """The sensitive values of V terms."""

    value: Ints
    """[V] the value that a term stands for, from 0 on; -1: it is not sensitive."""
    num: Ints
    den: Ints
    """[V] its threshold, a fraction."""


def bounded_chunks(
    holdings: Holdings, sizes: Ints, chunk: Ints, theta: Thresholds, k: int, m: int
) -> Ints:
    """The chunk of every term of every cluster, with no value above its threshold.

    Args:
        holdings: the terms of each cluster.
        sizes: [C] records of each cluster, those without a term included; at least the number of
            terms of a value, divided by its threshold.
        chunk: [T] chunk numbers, aligned with ``holdings.term``: 0 the item chunk, record chunks
            from 1 on, in each of which every set of m terms that occurs does k times.
        theta: of all terms.
        k: at least 1.
        m: at least 1.

    Returns:
        [T] chunk numbers. An item chunk is empty only where that leaves k records that hold what an
        attacker knows (see ``vertical_chunks``).

    Source: SPEC section 11 (whole rows); the module.
    """
    found = chunk.astype(np.int64)
    for c in range(len(sizes)):
        first, last = int(holdings.pair[c]), int(holdings.pair[c + 1])
        if first < last:
            bits = _bits(holdings, first, last, int(sizes[c]))
            _bound_cluster(
                bits, holdings.term[first:last], int(sizes[c]), found[first:last], theta.value,
                theta.num, theta.den, k, m,
            )  # fmt: skip
    return found


@njit()
def _bits(holdings: Holdings, first: int, last: int, size: int) -> Bits:
    """[terms, words] the records of each term of a cluster."""
    bits = np.zeros((last - first, (size + WORD - 1) // WORD), np.uint64)
    for i in range(last - first):
        p = first + i
        set_bits(bits[i], holdings.records[holdings.holder[p] : holdings.holder[p + 1]],
                 as_int64(0))  # fmt: skip
    return bits


@njit()
def _bound_cluster(
    bits: Bits, term: Ints, size: int, chunk: Ints, value: Ints, num: Ints, den: Ints, k: int,
    m: int,
) -> None:  # fmt: skip
    """Change ``chunk`` of one cluster."""
    n = len(chunk)
    members = np.zeros(n, np.bool_)
    done = np.zeros(n, np.bool_)
    chunks = int(chunk.max())
    for i in range(n):
        if value[term[i]] < 0 or done[i]:
            continue
        for j in range(n):
            members[j] = value[term[j]] == value[term[i]]
            done[j] |= members[j]
        top, bottom = num[term[i]], den[term[i]]
        if _is_bounded(bits, size, chunk, members, top, bottom, m):
            continue
        for j in range(n):
            if members[j] and chunk[j] > 0 and not _is_alone(chunk, j):
                chunks += 1
                chunk[j] = chunks
        while not _is_bounded(bits, size, chunk, members, top, bottom, m):
            rarest = _rarest(bits, members & (chunk > 0))
            if rarest < 0:
                break
            chunk[rarest] = 0
    if not _has_room(bits, size, chunk, k, m):
        chunk[_rarest(bits, np.ones(n, np.bool_))] = 0
    _close_gaps(chunk)


@leaf()
def _rarest(bits: Bits, among: NDArray[np.bool_]) -> int:
    """The first of the terms that the fewest records hold; -1: there is none among them."""
    found, least = as_int64(-1), as_int64(0)
    for j in range(len(among)):
        if among[j]:
            support = count_ones(bits[j])
            if found < 0 or support < least:
                found, least = as_int64(j), support
    return found


@leaf()
def _is_alone(chunk: Ints, j: int) -> bool:
    """Whether a term has its chunk for itself."""
    alone = True
    for i in range(len(chunk)):
        alone &= i == j or chunk[i] != chunk[j]
    return alone


@leaf()
def _is_bounded(
    bits: Bits, size: int, chunk: Ints, members: NDArray[np.bool_], top: int, bottom: int, m: int
) -> bool:
    """Whether the shares of a value, the terms ``members``, keep ``top`` / ``bottom`` together."""
    places = items = as_int64(0)
    part = whole = as_int64(0)
    total = 0.0
    for j in range(len(chunk)):
        if not members[j]:
            continue
        if chunk[j] == 0:
            items += 1
            continue
        is_first = True
        for i in range(j):
            is_first &= not (members[i] and chunk[i] == chunk[j])
        if is_first:
            places += 1
            part, whole = _most_told(bits, size, chunk, members, chunk[j], m)
            total += part / whole
    if places == 0:
        return bool(items * bottom <= top * size)
    if places == 1 and items == 0:
        return bool(part * bottom <= top * whole)
    return bool(total + items / size <= top / bottom - _ROUNDING)


@njit()
def _most_told(
    bits: Bits, size: int, chunk: Ints, members: NDArray[np.bool_], number: int, m: int
) -> tuple[int, int]:
    """The largest share of a value in a chunk, among the records with some m other terms of it.

    Two whole numbers, of records with the value and of records; 1, 1 after too many steps.
    """
    n, words = bits.shape
    wanted = np.zeros(words, np.uint64)
    others = np.empty(n, np.int64)
    count = as_int64(0)
    for j in range(n):
        if chunk[j] == number:
            if members[j]:
                for w in range(words):
                    wanted[w] |= bits[j, w]
            else:
                others[count] = j
                count += 1
    depth = min(m, count)
    rows = np.zeros((depth + 1, words), np.uint64)
    told = np.zeros(words, np.uint64)
    following = np.zeros(depth + 1, np.int64)
    best_part, best_whole = count_ones(wanted), as_int64(size)
    steps = as_int64(0)
    level = as_int64(0)
    while level >= 0:
        i = following[level]
        if level == depth or i >= count:
            level -= 1
            continue
        following[level] += 1
        below = rows[level + 1]
        for w in range(words):
            below[w] = bits[others[i], w] if level == 0 else rows[level, w] & bits[others[i], w]
            told[w] = below[w] & wanted[w]
        whole, part = count_ones(below), count_ones(told)
        if part == 0:
            continue
        steps += 1
        if steps > BUDGET:
            return as_int64(1), as_int64(1)
        if part * best_whole > best_part * whole:
            best_part, best_whole = part, whole
        level += 1
        following[level] = i + 1
    return best_part, best_whole


@njit()
def _has_room(bits: Bits, size: int, chunk: Ints, k: int, m: int) -> bool:
    """Whether the item chunk has a term, or may be empty: enough non-empty subrecords."""
    n, words = bits.shape
    for j in range(n):
        if chunk[j] == 0:
            return True
    chunks = total = as_int64(0)
    union = np.empty(words, np.uint64)
    for number in range(1, chunk.max() + 1):
        union[:] = np.uint64(0)
        for j in range(n):
            if chunk[j] == number:
                for w in range(words):
                    union[w] |= bits[j, w]
        records = count_ones(union)
        total += records
        chunks += records > 0
    return bool(total >= size + k * (min(m, chunks) - 1))


@leaf()
def _close_gaps(chunk: Ints) -> None:
    """Number the record chunks from 1 on, in their order."""
    number = as_int64(0)
    for old in range(1, chunk.max() + 1):
        found = False
        for j in range(len(chunk)):
            found |= chunk[j] == old
        if found:
            number += 1
            for j in range(len(chunk)):
                if chunk[j] == old:
                    chunk[j] = number
