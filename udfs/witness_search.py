"""k^m-anonymity of published chunks: does a set of at most m terms lie in too few subrecords?

It belongs to the checks. What makes chunks (``udfs/terms``) has a search of its own; the two share
nothing.

A *breach* is a set of at most m terms that lies in one subrecord or more and in fewer than k
(Loukides 2014, Definition 1). It lies within a subrecord that no other one contains, its *witness*;
one with k copies has none. A term *cuts* the subrecords that do not have it: a breach of a witness
is a set of its terms that cuts all but fewer than k. Terms are chosen depth first:

* Of so many open subrecords that they cannot all stay, one has to be cut: of those that the fewest
  terms cut, so the next term is one of these, the one that cuts most first.
* The terms still to be chosen cut at most the sum of what the best of them cut alone.
* A term that was tried is *out*: no breach has it beside the terms chosen before it. So is one that
  cuts nothing beyond one that is out: if it were in a breach, the other could stand in its place.
* What subrecords stay open decides the rest, so open subrecords that failed once with as many
  terms to choose fail again, whatever was chosen and whatever is out.
* Where a witness has no breach, no breach lies in it or in what it contains: these count as k
  copies from then on, and every breach of another witness has to cut them.

Every rule is exact. Whether there is a breach is NP-hard in m (a partial set cover), so the search
ends after a number of steps, and does not begin where it would take too much room. A chunk that is
not decided then counts as broken.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.compiled import njit

ANONYMOUS, BROKEN, UNDECIDED = 0, 1, 2
"""What is found of a chunk."""
ROW = 64
"""Bits of a word."""
ROOM = 1 << 24
"""Words of a table at most: a chunk that needs larger ones is none that anybody makes."""
CELLS = 8
"""Cells of a table that are filled in the time of a step."""
MEMORY = 1 << 14
"""Words of the sets of subrecords that are remembered as having failed."""
SLICES = 32
"""Shares of the chunks that threads take one after the other."""
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]


class Chunks(NamedTuple):
    """C chunks with their K distinct subrecords."""

    first: Ints
    """[C + 1] where the subrecords of each chunk start."""
    copies: Ints
    """[K] equal ones, 1 or more."""
    start: Ints
    """[K + 1] where the terms of each subrecord start."""
    term: Ints
    """[start[K]] numbers from 0 on, ascending within a subrecord."""


class Searched(NamedTuple):
    """What was found."""

    verdict: Ints
    """[C] ANONYMOUS, BROKEN or UNDECIDED."""
    steps: Ints
    """[C] how many were taken."""
    known: Ints
    """[B, 2] chunk, term: the terms of one breach of each broken chunk."""


class _Cuts(NamedTuple):
    """The subrecords beside a witness, a bit each: first those that must be cut, from a new word on
    a bit for each copy of the others."""

    held: Words
    """[n, words] which have each of the witness's n terms."""
    lacks: Words
    """[bits, term words] which of these terms each of them lacks."""
    everything: Words
    """[words] the bits that stand for a subrecord."""
    musts: int
    """Words of those that must be cut."""
    spare: int
    """So many copies may stay."""


class _Stack(NamedTuple):
    """One line for each number of chosen terms."""

    open: Words
    """[m, words] subrecords that are not cut."""
    out: Flags
    """[m, n]"""
    must_cut: Ints
    """[m, n] how many of the open ones that must be cut each term cuts."""
    cut: Ints
    """[m, n] how many of all."""
    left: Ints
    """[m, 2] open ones that must be cut, and all."""
    chosen: Ints
    """[m]"""


class _Failed(NamedTuple):
    """Sets of open subrecords from which no breach is reached; a later one takes the place of an
    earlier one of the same slot."""

    open: Words
    """[slots, words]"""
    terms: Ints
    """[slots] with so many terms or fewer to choose."""
    witness: Ints
    """[slots] of which witness."""


def search(chunks: Chunks, k: int, m: int, limit: int) -> Searched:
    """Decide for each chunk whether it is k^m-anonymous.

    Args:
        chunks: with their distinct subrecords.
        k: subrecords that must hold what one holds, 1 or more.
        m: terms of a set, 1 or more.
        limit: of the steps for one chunk; a step is a word of subrecords that is looked at.

    Returns:
        The verdicts, and a breach of each chunk that has one.

    Source: Loukides 2014, Definition 1; SPEC section 11.
    """
    count = len(chunks.first) - 1
    verdict, steps = np.zeros(count, np.int64), np.zeros(count, np.int64)
    # the terms of a breach stand where the chunk's first witness has its own
    known = np.zeros(len(chunks.term), np.int64)
    bounds = np.searchsorted(chunks.start[chunks.first], _shares(len(chunks.term)))
    bounds[0], bounds[-1] = 0, count
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [
            pool.submit(_search_chunks, a, b, chunks, k, m, limit, verdict, steps, known)
            for a, b in pairwise(bounds.tolist())
            if a < b
        ]
        for task in tasks:
            task.result()
    place = np.flatnonzero(known)
    chunk = np.searchsorted(chunks.start[chunks.first], place, side="right") - 1
    return Searched(verdict, steps, np.column_stack((chunk, chunks.term[place])))


def _shares(total: int) -> Ints:
    """Where shares of equal size end."""
    return np.linspace(0, total, SLICES + 1).astype(np.int64)


@njit()
def _search_chunks(
    begin: int, end: int, chunks: Chunks, k: int, m: int, limit: int, verdict: Ints, steps: Ints,
    known: Ints,
) -> None:  # fmt: skip
    """Fill the results of the chunks from ``begin`` to ``end`` - 1."""
    for c in range(begin, end):
        first, last = chunks.first[c], chunks.first[c + 1]
        rare = False
        for s in range(first, last):
            rare |= chunks.copies[s] < k
        if rare:
            verdict[c], steps[c] = _search_chunk(first, last, chunks, k, m, limit, known)


@njit()
def _search_chunk(
    first: int, last: int, chunks: Chunks, k: int, m: int, limit: int, known: Ints
) -> tuple[int, int]:
    """What is found of the chunk with these subrecords, and the steps; a breach is marked."""
    start = chunks.start
    vocabulary = np.unique(chunks.term[start[first] : start[last]])
    term_words = (len(vocabulary) + ROW - 1) // ROW
    copies = np.minimum(chunks.copies[first:last], k)
    if (copies.sum() + 2 * ROW) * term_words > ROOM:
        return UNDECIDED, 0
    rows = np.zeros((last - first, term_words), np.uint64)
    for s in range(len(rows)):
        for i in range(start[first + s], start[first + s + 1]):
            _put(rows[s], np.searchsorted(vocabulary, chunks.term[i]))
    witnesses = np.zeros(len(rows), np.bool_)
    steps = np.int64(0)
    for s in range(len(rows)):
        if copies[s] < k:
            steps += len(rows) * term_words
            if steps > limit:
                return UNDECIDED, steps
            witnesses[s] = not _is_inside_another(rows, s)
            if witnesses[s] and start[first + s + 1] - start[first + s] <= m:
                known[start[first + s] : start[first + s + 1]] = 1
                return BROKEN, steps
    words = copies.sum() // ROW + 2  # every bit of a witness is a copy
    failed = _no_failures(words)
    for s in range(len(rows)):
        if not witnesses[s]:
            continue
        own = np.searchsorted(vocabulary, chunks.term[start[first + s] : start[first + s + 1]])
        if len(own) * max(words, m + 1) > ROOM:
            return UNDECIDED, steps
        cuts = _cuts_of(rows, copies, s, own, k)
        steps += cuts.lacks.size + len(cuts.lacks) * len(own) // CELLS
        verdict, steps = _search_witness(
            s, cuts, own, m, limit, steps, failed, known[start[first + s] : start[first + s + 1]]
        )
        if verdict != ANONYMOUS:
            return verdict, steps
        for d in range(len(rows)):
            if _is_inside(rows[d], rows[s]):
                copies[d] = k
    return ANONYMOUS, steps


@njit()
def _put(row: Words, bit: int) -> None:
    """Set a bit."""
    row[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@njit()
def _has(row: Words, bit: int) -> bool:
    """Whether a bit is set."""
    return bool((row[bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1))


@njit()
def _size(word: np.uint64) -> int:
    """How many bits of a word are set (the compiler knows this loop, Wegner 1960)."""
    size = np.int64(0)
    while word:
        word &= word - np.uint64(1)
        size += 1
    return size


@njit()
def _is_inside(inner: Words, outer: Words) -> bool:
    """Whether all bits of one row are in another one."""
    left = np.uint64(0)
    for w in range(len(inner)):
        left |= inner[w] & ~outer[w]
    return bool(left == np.uint64(0))


@njit()
def _is_inside_another(rows: Words, s: int) -> bool:
    """Whether another row has all bits of row ``s``; no two rows are equal."""
    found = False
    for d in range(len(rows)):
        found |= d != s and _is_inside(rows[s], rows[d])
    return found


@njit()
def _no_failures(words: int) -> _Failed:
    """Room for sets of so many words."""
    slots = 1
    while 2 * slots * words <= MEMORY:
        slots *= 2
    slots = max(slots, 64)
    return _Failed(
        np.zeros((slots, words), np.uint64), np.zeros(slots, np.int64), np.full(slots, -1, np.int64)
    )


@njit()
def _cuts_of(rows: Words, copies: Ints, s: int, own: Ints, k: int) -> _Cuts:
    """What the terms of a witness cut; ``own``: which they are."""
    spare = k - 1 - copies[s]
    musts = others = np.int64(0)
    for d in range(len(rows)):
        if d != s:
            musts += copies[d] > spare
            others += copies[d] if copies[d] <= spare else 0
    must_words = (musts + ROW - 1) // ROW
    words = must_words + (others + ROW - 1) // ROW
    held = np.zeros((len(own), words), np.uint64)
    lacks = np.zeros((words * ROW, rows.shape[1]), np.uint64)
    everything = np.zeros(words, np.uint64)
    must, other = np.int64(0), must_words * ROW
    for d in range(len(rows)):
        if d == s:
            continue
        for _ in range(1 if copies[d] > spare else copies[d]):
            if copies[d] > spare:
                bit = must
                must += 1
            else:
                bit = other
                other += 1
            _put(everything, bit)
            for i in range(len(own)):
                if _has(rows[d], own[i]):
                    _put(held[i], bit)
                else:
                    _put(lacks[bit], i)
    return _Cuts(held, lacks, everything, must_words, spare)


@njit()
def _search_witness(
    s: int, cuts: _Cuts, own: Ints, m: int, limit: int, steps: int, failed: _Failed, known: Ints
) -> tuple[int, int]:
    """What is found of witness ``s``, and the steps; a breach is marked among its terms."""
    n, words = cuts.held.shape
    stack = _Stack(
        np.empty((m + 1, words), np.uint64), np.zeros((m + 1, n), np.bool_),
        np.zeros((m + 1, n), np.int64), np.zeros((m + 1, n), np.int64),
        np.zeros((m + 1, 2), np.int64), np.zeros(m + 1, np.int64),
    )  # fmt: skip
    asked = np.zeros((n + ROW - 1) // ROW, np.uint64)
    best = np.zeros(m + 1, np.int64)
    stack.open[0] = cuts.everything
    steps += _count_cuts(cuts, stack, 0)
    level = 0
    while True:
        if steps > limit:
            return UNDECIDED, steps
        if stack.left[level, 0] == 0 and stack.left[level, 1] <= cuts.spare:
            known[0] = level == 0  # so few subrecords that any term is a breach
            for i in range(level):
                known[stack.chosen[i]] = 1
            return BROKEN, steps
        t = -1
        if level < m:
            t, looked_at = _next_term(cuts, stack, level, m - level, asked, best)
            steps += looked_at
        if t < 0:
            _remember(failed, stack.open[level], s, m - level)
            level -= 1
            if level < 0:
                return ANONYMOUS, steps
            continue
        stack.out[level, t] = True
        below = stack.open[level + 1]
        for w in range(words):
            below[w] = stack.open[level, w] & cuts.held[t, w]
        if _has_failed(failed, below, s, m - level - 1):
            continue
        stack.chosen[level] = t
        stack.out[level + 1] = stack.out[level]
        level += 1
        steps += _count_cuts(cuts, stack, level)


@njit()
def _count_cuts(cuts: _Cuts, stack: _Stack, level: int) -> int:
    """Count what each term cuts of the open subrecords; the words that are looked at."""
    n, words = cuts.held.shape
    row = stack.open[level]
    stack.left[level] = 0
    for w in range(words):
        size = _size(row[w])
        stack.left[level, 1] += size
        if w < cuts.musts:
            stack.left[level, 0] += size
    for i in range(n):
        must_cut = cut = np.int64(0)
        if not stack.out[level, i]:
            for w in range(words):
                size = _size(row[w] & ~cuts.held[i, w])
                cut += size
                if w < cuts.musts:
                    must_cut += size
        stack.must_cut[level, i], stack.cut[level, i] = must_cut, cut
        if cut == 0:
            stack.out[level, i] = True
    return n * words


@njit()
def _next_term(
    cuts: _Cuts, stack: _Stack, level: int, left: int, asked: Words, best: Ints
) -> tuple[int, int]:
    """The term to be tried next, -1 where none is left to be; and the words that were looked at."""
    n, words = cuts.held.shape
    row, out = stack.open[level], stack.out[level]
    looked_at = np.int64(0)
    while True:
        if _most(stack.must_cut[level], out, left, best) < stack.left[level, 0]:
            return -1, looked_at
        if _most(stack.cut[level], out, left, best) < stack.left[level, 1] - cuts.spare:
            return -1, looked_at
        looked_at += n + _ask(cuts, row, out, stack.left[level, 0] > 0, asked)
        t = -1
        for i in range(n):
            if (
                not out[i]
                and _has(asked, i)
                and (t < 0 or stack.cut[level, i] > stack.cut[level, t])
            ):
                t = i
        if t < 0:
            return -1, looked_at
        covered = False
        for i in range(n):
            if out[i] and _cuts_as_much(row, cuts.held[i], cuts.held[t]):
                covered = True
                break
        looked_at += n * words
        if not covered:
            return t, looked_at
        out[t] = True


@njit()
def _ask(cuts: _Cuts, row: Words, out: Flags, must: bool, asked: Words) -> int:
    """Mark in ``asked`` the terms of which one has to be chosen; the words that were looked at.

    Args:
        cuts: of the witness.
        row: the open subrecords.
        out: terms that are not to be chosen.
        must: some of these subrecords must be cut: the one that the fewest terms cut is taken.
            Else one more of them than may stay is.
        asked: [term words] changed.
    """
    allowed = np.zeros(len(asked), np.uint64)
    for i in range(len(out)):
        if not out[i]:
            _put(allowed, i)
    wanted = 1 if must else cuts.spare + 1
    bits, sizes = np.empty(wanted, np.int64), np.empty(wanted, np.int64)
    found = looked_at = np.int64(0)
    for w in range(0 if must else cuts.musts, cuts.musts if must else len(row)):
        word, bit = row[w], w * ROW
        while word:
            if word & np.uint64(1):
                size = np.int64(0)
                for i in range(len(asked)):
                    size += _size(cuts.lacks[bit, i] & allowed[i])
                looked_at += len(asked)
                if found < wanted or size < sizes[wanted - 1]:
                    place = min(found, wanted - 1)
                    while place > 0 and sizes[place - 1] > size:
                        bits[place], sizes[place] = bits[place - 1], sizes[place - 1]
                        place -= 1
                    bits[place], sizes[place] = bit, size
                    found = min(found + 1, wanted)
            word >>= np.uint64(1)
            bit += 1
    asked[:] = np.uint64(0)
    for place in range(found):
        for i in range(len(asked)):
            asked[i] |= cuts.lacks[bits[place], i] & allowed[i]
    return looked_at


@njit()
def _most(values: Ints, out: Flags, count: int, best: Ints) -> int:
    """The sum of the largest values, at most ``count`` of them, of terms that are not out.

    ``best`` [count or more] is scratch.
    """
    found = total = np.int64(0)
    for i in range(len(values)):
        if out[i] or values[i] == 0 or (found == count and values[i] <= best[count - 1]):
            continue
        place = min(found, count - 1)
        total += values[i] - (best[place] if found == count else 0)
        found = min(found + 1, count)
        while place > 0 and best[place - 1] < values[i]:
            best[place] = best[place - 1]
            place -= 1
        best[place] = values[i]
    return total


@njit()
def _cuts_as_much(row: Words, one: Words, other: Words) -> bool:
    """Whether a term cuts all of the open subrecords that another one cuts."""
    beyond = np.uint64(0)
    for w in range(len(row)):
        beyond |= row[w] & one[w] & ~other[w]
    return bool(beyond == np.uint64(0))


@njit()
def _slot(failed: _Failed, row: Words) -> int:
    """Where a set of open subrecords is remembered."""
    mixed = np.uint64(0)
    for word in row:
        mixed = (mixed ^ word) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return int(mixed & np.uint64(len(failed.terms) - 1))


@njit()
def _remember(failed: _Failed, row: Words, s: int, left: int) -> None:
    """No breach of witness ``s`` is reached from these open subrecords with so many terms."""
    slot = _slot(failed, row)
    failed.open[slot, : len(row)] = row
    failed.terms[slot], failed.witness[slot] = left, s


@njit()
def _has_failed(failed: _Failed, row: Words, s: int, left: int) -> bool:
    """Whether that is known."""
    slot = _slot(failed, row)
    if failed.witness[slot] != s or failed.terms[slot] < left:
        return False
    differing = np.uint64(0)
    for w in range(len(row)):
        differing |= failed.open[slot, w] ^ row[w]
    return bool(differing == np.uint64(0))


def warm_up() -> None:
    """Search small chunks with every kernel, which loads or compiles them."""
    pieces = [[0, 1, 2], [1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1], [4]]
    starts = np.cumsum([0, *map(len, pieces)])
    search(
        Chunks(
            np.array([0, 5, 6]),
            np.array([1, 2, 2, 2, 1, 1]),
            starts.astype(np.int64),
            np.array([term for piece in pieces for term in piece], np.int64),
        ),
        3, 2, 1000,
    )  # fmt: skip
