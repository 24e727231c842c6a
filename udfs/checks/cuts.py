"""The search for a breach of k^m-anonymity within one subrecord, its witness.

A term *cuts* the subrecords that do not have it: a breach is a set of m of the witness's terms, or
fewer, that cuts all but fewer than k of the subrecords. Terms are chosen depth first:

* Of so many open subrecords that they cannot all stay, one has to be cut: of those that the fewest
  terms cut, so the next term is one of these, the one that cuts most first.
* The terms still to be chosen cut at most the sum of what the best of them cut alone.
* A term that was tried is *out*: no breach has it beside the terms chosen before it. So is one that
  cuts nothing beyond one that is out: if it were in a breach, the other could stand in its place.
* What subrecords stay open decides the rest, so open subrecords that failed once with as many
  terms to choose fail again, whatever was chosen and whatever is out.

Every rule is exact. "Failed" and "out" say that no breach of the witness has the terms chosen so
far (and that one), whatever else it has, so each may rest on the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit

ANONYMOUS, BROKEN, UNDECIDED = 0, 1, 2
"""What is found of a chunk, or of a witness."""
ROW = 64
"""Bits of a word."""
MEMORY = 1 << 14
"""Words of the sets of subrecords that are remembered as having failed."""
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]


class Cuts(NamedTuple):
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


class Failed(NamedTuple):
    """Sets of open subrecords from which no breach is reached; a later one takes the place of an
    earlier one of the same slot."""

    open: Words
    """[slots, words]"""
    terms: Ints
    """[slots] with so many terms or fewer to choose."""
    witness: Ints
    """[slots] of which witness."""


@leaf()
def put(row: Words, bit: int) -> None:
    """Set a bit."""
    row[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@leaf()
def _has(row: Words, bit: int) -> bool:
    """Whether a bit is set."""
    return bool((row[bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1))


@leaf()
def _size(word: np.uint64) -> int:
    """How many bits of a word are set (the compiler knows this loop, Wegner 1960)."""
    size = 0
    while word:
        word &= word - np.uint64(1)
        size += 1
    return size


@leaf()
def is_inside(inner: Words, outer: Words) -> bool:
    """Whether all bits of one row are in another one."""
    left = np.uint64(0)
    for w in range(len(inner)):
        left |= inner[w] & ~outer[w]
    return bool(left == np.uint64(0))


@njit()
def no_failures(words: int) -> Failed:
    """Room for sets of so many words."""
    slots = 1
    while 2 * slots * words <= MEMORY:
        slots *= 2
    slots = max(slots, 64)
    return Failed(
        np.zeros((slots, words), np.uint64), np.zeros(slots, np.int64), np.full(slots, -1, np.int64)
    )


@njit()
def cuts_of(rows: Words, copies: Ints, s: int, own: Ints, k: int) -> Cuts:
    """What the terms of a witness cut; ``own``: which they are."""
    spare = k - 1 - copies[s]
    musts = others = 0
    for d in range(len(rows)):
        if d != s:
            musts += int(copies[d] > spare)
            others += copies[d] if copies[d] <= spare else 0
    must_words = (musts + ROW - 1) // ROW
    words = must_words + (others + ROW - 1) // ROW
    held = np.zeros((len(own), words), np.uint64)
    lacks = np.zeros((words * ROW, rows.shape[1]), np.uint64)
    everything = np.zeros(words, np.uint64)
    must, other = 0, must_words * ROW
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
            put(everything, bit)
            for i in range(len(own)):
                if _has(rows[d], own[i]):
                    put(held[i], bit)
                else:
                    put(lacks[bit], i)
    return Cuts(held, lacks, everything, must_words, spare)


@njit()
def search_witness(
    s: int, cuts: Cuts, m: int, limit: int, steps: int, failed: Failed, known: Ints
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


@leaf()
def _count_cuts(cuts: Cuts, stack: _Stack, level: int) -> int:
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
        must_cut = cut = 0
        if not stack.out[level, i]:
            for w in range(words):
                size = _size(row[w] & ~cuts.held[i, w])
                cut += size
                if w < cuts.musts:
                    must_cut += size
        stack.must_cut[level, i], stack.cut[level, i] = must_cut, cut
        if cut == 0:
            stack.out[level, i] = True
    return int(n * words)


@leaf()
def _next_term(
    cuts: Cuts, stack: _Stack, level: int, left: int, asked: Words, best: Ints
) -> tuple[int, int]:
    """The term to be tried next, -1 where none is left to be; and the words that were looked at."""
    n, words = cuts.held.shape
    row, out = stack.open[level], stack.out[level]
    looked_at = 0
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
def _ask(cuts: Cuts, row: Words, out: Flags, must: bool, asked: Words) -> int:
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
            put(allowed, i)
    wanted = 1 if must else cuts.spare + 1
    bits, sizes = np.empty(wanted, np.int64), np.empty(wanted, np.int64)
    found = looked_at = 0
    for w in range(0 if must else cuts.musts, cuts.musts if must else len(row)):
        word, bit = row[w], w * ROW
        while word:
            if word & np.uint64(1):
                size = 0
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


@leaf()
def _most(values: Ints, out: Flags, count: int, best: Ints) -> int:
    """The sum of the largest values, at most ``count`` of them, of terms that are not out.

    ``best`` [count or more] is scratch.
    """
    found = total = 0
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


@leaf()
def _cuts_as_much(row: Words, one: Words, other: Words) -> bool:
    """Whether a term cuts all of the open subrecords that another one cuts."""
    beyond = np.uint64(0)
    for w in range(len(row)):
        beyond |= row[w] & one[w] & ~other[w]
    return bool(beyond == np.uint64(0))


@leaf()
def _slot(failed: Failed, row: Words) -> int:
    """Where a set of open subrecords is remembered."""
    mixed = np.uint64(0)
    for word in row:
        mixed = (mixed ^ word) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return int(mixed & np.uint64(len(failed.terms) - 1))


@njit()
def _remember(failed: Failed, row: Words, s: int, left: int) -> None:
    """No breach of witness ``s`` is reached from these open subrecords with so many terms."""
    slot = _slot(failed, row)
    failed.open[slot, : len(row)] = row
    failed.terms[slot], failed.witness[slot] = left, s


@leaf()
def _has_failed(failed: Failed, row: Words, s: int, left: int) -> bool:
    """Whether that is known."""
    slot = _slot(failed, row)
    if failed.witness[slot] != s or failed.terms[slot] < left:
        return False
    differing = np.uint64(0)
    for w in range(len(row)):
        differing |= failed.open[slot, w] ^ row[w]
    return bool(differing == np.uint64(0))
