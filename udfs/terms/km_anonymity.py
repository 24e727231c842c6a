"""k^m-anonymity: may a term join a chunk, and which sets of terms are too rare?

A chunk is k^m-anonymous if every combination of at most m of its terms that occurs in a record
occurs in at least k (Loukides 2014, Definition 1; SPEC section 11). Records are bits. Of a chunk
that is so already only combinations with the new term can break it, and of these only such where
each term added takes records away: a term that does not leaves the same records to a smaller
combination.

Sets of terms that some but fewer than k records hold are found for one size, level by level. A set
is the set of its first terms with one more behind them. Only sets that k records hold are made
longer, and none by a term that all its records have: without it the same records hold a smaller
set, which is looked at anyway.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64

Bits = NDArray[np.uint64]
"""[terms, words]: bit r of row t: record r has term t."""
WORD = 64
BUDGET = 1 << 17
"""So many combinations are looked at for one term before it is refused unseen, which is safe.

Only a chunk of dozens of terms over many records comes here, with m neither small nor large:
whether some m terms are rare together is NP-hard in m (a hitting set).
"""
_SAFE, _OPEN, _BROKEN = 0, 1, 2


class RankedBaskets(NamedTuple):
    """Records of terms that are numbered by rank."""

    starts: Ints
    """[R + 1] where each record's terms start."""
    terms: Ints
    """[starts[R]] from 0 on, ascending within a record."""


class _Prefixes(NamedTuple):
    """Sets of terms and the records that hold them."""

    terms: Ints
    """[P, size]"""
    begin: Ints
    """[P + 1] where the records of each set start."""
    record: Ints
    """[H]"""
    after: Ints
    """[H] where in ``RankedBaskets.terms`` the record goes on behind the last term of the set."""


@leaf()
def _ones(word: np.uint64) -> int:
    """How many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@leaf()
def count_ones(row: Bits) -> int:
    """How many bits of a row of words are set."""
    total = 0
    for word in row:
        total += _ones(word)
    return total


@leaf()
def may_join(
    bits: Bits, chunk: NDArray[np.int64], size: int, t: int, k: int, m: int, stack: Bits
) -> bool:
    """Whether chunk + {t} is k^m-anonymous; chunk is, and t occurs k times or more.

    Args:
        bits: [terms, words] the records of every term.
        chunk: rows of ``bits``, the first ``size`` of them.
        size: terms in the chunk.
        t: row of the new term.
        k: at least 1.
        m: at least 1; from the longest record on it makes no difference.
        stack: [size + 2, words] scratch.

    Source: Loukides 2014, Definition 1; SPEC section 11.
    """
    support = count_ones(bits[t])
    if m == 1 or size == 0:
        return True
    # Each term takes a record or more away, so no combination longer than this is needed.
    unlimited = m >= min(size + 1, support - k + 2)
    if unlimited or m > 3:
        if _all_supported(bits, chunk, size, t, k, stack):
            return True
        if unlimited:
            return False
    return _search(bits, chunk, size, t, k, m, support, stack)


@leaf()
def _all_supported(
    bits: Bits, chunk: NDArray[np.int64], size: int, t: int, k: int, stack: Bits
) -> bool:
    """Whether each subrecord with t lies in k subrecords or more; all its parts then do, too."""
    waiting, holders, same = stack[0], stack[1], stack[2]
    for w in range(len(waiting)):
        waiting[w] = bits[t, w]
    for word in range(len(waiting)):
        while waiting[word] != np.uint64(0):
            lowest = waiting[word] & (np.uint64(0) - waiting[word])
            for w in range(len(same)):
                holders[w], same[w] = bits[t, w], waiting[w]
            for i in range(size):
                row = bits[chunk[i]]
                has = (row[word] & lowest) != np.uint64(0)
                for w in range(len(row)):
                    if has:
                        holders[w] &= row[w]
                        same[w] &= row[w]
                    else:
                        same[w] &= ~row[w]
            if count_ones(holders) < k:
                return False
            for w in range(len(same)):
                waiting[w] &= ~same[w]
    return True


@njit()
def _search(
    bits: Bits, chunk: NDArray[np.int64], size: int, t: int, k: int, m: int, support: int,
    stack: Bits,
) -> bool:  # fmt: skip
    """Depth first over the combinations with t of at most m terms; false at the first rare one."""
    following = np.zeros(min(size + 1, m) + 1, np.int64)
    counts = np.zeros(min(size + 1, m) + 1, np.int64)
    stack[0] = bits[t]
    counts[0] = support
    verdict = _look(bits, chunk, as_int64(0), size, stack[0], support, k, m - 1)
    if verdict != _OPEN:
        return bool(verdict == _SAFE)
    looked_at = size
    level = 0
    while level >= 0:
        i = following[level]
        if i >= size:
            level -= 1
            continue
        following[level] += 1
        row, above, below = bits[chunk[i]], stack[level], stack[level + 1]
        for w in range(len(row)):
            below[w] = above[w] & row[w]
        count = count_ones(below)
        if count == 0 or count == counts[level]:
            continue
        looked_at += size - i
        if looked_at > BUDGET:
            return False
        verdict = _look(bits, chunk, i + 1, size, below, count, k, m - level - 2)
        if verdict == _BROKEN:
            return False
        if verdict == _OPEN:
            level += 1
            following[level] = i + 1
            counts[level] = count
    return True


@leaf()
def _look(
    bits: Bits, chunk: NDArray[np.int64], start: int, size: int, holders: Bits, count: int, k: int,
    left: int,
) -> int:  # fmt: skip
    """Whether one more term of the chunk is rare among the ``holders``, or ``left`` could be.

    What a term takes away shrinks as terms are added, so ``left`` of them take at most ``left``
    times the most that one takes now.
    """
    most = 0
    for i in range(start, size):
        row = bits[chunk[i]]
        together = 0
        for w in range(len(holders)):
            together += _ones(holders[w] & row[w])
        if 0 < together < k:
            return _BROKEN
        if together > 0:
            most = max(most, count - together)
    return _OPEN if left > 1 and most > 0 and count - left * most < k else _SAFE


@leaf()
def set_bits(row: Bits, places: Ints, offset: int) -> None:
    """Set the bits of records.

    Args:
        row: [words] changed.
        places: of the records.
        offset: the bit of place 0.
    """
    for place in places:
        bit = place + offset
        row[bit // WORD] |= np.uint64(1) << np.uint64(bit % WORD)


def rare_sets(baskets: RankedBaskets, vocabulary: int, size: int, k: int) -> tuple[Ints, Ints]:
    """Every set of ``size`` terms that at least one and fewer than ``k`` records hold.

    Sets of fewer terms must be held by ``k`` records or none. A set that is rare only because a
    smaller one is does not occur then.

    Args:
        baskets: the records.
        vocabulary: terms are below; rare ones should have the small numbers.
        size: terms of a set, 1 or more.
        k: at least 1.

    Returns:
        [S, size] terms, ascending in each set, and [S] the number of records.

    Source: k^m-anonymity as in Loukides 2014, Definition 1.
    """
    prefixes = _start(baskets, vocabulary)
    for _ in range(size - 1):
        prefix, term, records = _longer_sets(*prefixes[1:], *baskets, vocabulary, k, 0)
        begin = np.concatenate((np.zeros(1, np.int64), np.cumsum(records)))
        record, after = _records_of(*prefixes[1:], *baskets, vocabulary, prefix, term, begin)
        prefixes = _Prefixes(np.column_stack((prefixes.terms[prefix], term)), begin, record, after)
    prefix, term, records = _longer_sets(*prefixes[1:], *baskets, vocabulary, 1, k)
    return np.column_stack((prefixes.terms[prefix], term)), records


def _start(baskets: RankedBaskets, vocabulary: int) -> _Prefixes:
    """The empty set, which all records hold."""
    records = len(baskets.starts) - 1
    return _Prefixes(
        np.empty((1, 0), np.int64),
        np.array([0, records], np.int64),
        np.arange(records, dtype=np.int64),
        baskets.starts[:-1].copy(),
    )


@njit()
def _longer_sets(
    begin: Ints, record: Ints, after: Ints, starts: Ints, terms: Ints, vocabulary: int,
    min_support: int, below: int,
) -> tuple[Ints, Ints, Ints]:  # fmt: skip
    """Sets of one term more that ``min_support`` records hold, and fewer than ``below``.

    0: fewer than hold the set itself; of the empty set, as many are allowed. Returns their prefix,
    the term, and how many records hold them.
    """
    counts = np.zeros(vocabulary, np.int64)
    distinct = np.empty(vocabulary, np.int64)
    rows = np.int64(0)
    prefix, term, records = _rows(0), _rows(0), _rows(0)
    for turn in range(2):  # count, then fill
        if turn == 1:
            prefix, term, records = _rows(rows), _rows(rows), _rows(rows)
        rows = np.int64(0)
        for p in range(len(begin) - 1):
            terms_met = np.int64(0)
            for h in range(begin[p], begin[p + 1]):
                for i in range(after[h], starts[record[h] + 1]):
                    t = terms[i]
                    if counts[t] == 0:
                        distinct[terms_met] = t
                        terms_met += 1
                    counts[t] += 1
            most = below if below > 0 else begin[p + 1] - begin[p]
            if below == 0 and len(begin) == 2:
                most += 1
            for j in range(terms_met):
                t = distinct[j]
                if min_support <= counts[t] < most:
                    if turn == 1:
                        prefix[rows], term[rows], records[rows] = p, t, counts[t]
                    rows += 1
                counts[t] = 0
    return prefix, term, records


@njit()
def _records_of(
    begin: Ints, record: Ints, after: Ints, starts: Ints, terms: Ints, vocabulary: int,
    prefix: Ints, term: Ints, longer: Ints,
) -> tuple[Ints, Ints]:  # fmt: skip
    """The records of the longer sets, whose rows stand from ``longer`` on, and where they go on."""
    records, following = _rows(longer[-1]), _rows(longer[-1])
    place = np.full(vocabulary, -1, np.int64)
    first = np.int64(0)
    while first < len(prefix):
        p = prefix[first]
        end = first
        while end < len(prefix) and prefix[end] == p:
            place[term[end]] = longer[end]
            end += 1
        for h in range(begin[p], begin[p + 1]):
            for i in range(after[h], starts[record[h] + 1]):
                at = place[terms[i]]
                if at >= 0:
                    records[at], following[at] = record[h], i + 1
                    place[terms[i]] = at + 1
        for j in range(first, end):
            place[term[j]] = -1
        first = end
    return records, following


@njit()
def _rows(rows: np.int64 | int) -> Ints:
    """[rows] room for numbers."""
    return np.empty(rows, np.int64)
