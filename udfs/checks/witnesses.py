"""k^m-anonymity of published chunks: does a set of at most m terms lie in too few subrecords?

A *breach* is a set of at most m terms that lies in one subrecord or more and in fewer than k
(Loukides 2014, Definition 1). It lies within a subrecord that no other one contains, its *witness*;
one with k copies has none, and one of at most m terms is a breach itself. Each of the others is
searched (``cuts``). Where a witness has no breach, no breach lies in it or in what it contains:
these count as k copies from then on, and every breach of another witness has to cut them.

Whether there is a breach is NP-hard in m (a partial set cover), so the search ends after a number
of steps, and does not begin where it would take too much room. A chunk that is not decided then
counts as broken.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from srsql.udfs.checks.cuts import (
    ANONYMOUS,
    BROKEN,
    ROW,
    UNDECIDED,
    Words,
    cuts_of,
    is_inside,
    no_failures,
    put,
    search_witness,
)
from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit

ROOM = 1 << 24
"""Words of a table at most: a chunk that needs larger ones is none that anybody makes."""
CELLS = 8
"""Cells of a table that are filled in the time of a step."""
SLICES = 32
"""Shares of the chunks that threads take one after the other."""


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


@leaf()
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
    if (int(copies.sum()) + 2 * ROW) * term_words > ROOM:
        return UNDECIDED, 0
    rows = np.zeros((last - first, term_words), np.uint64)
    for s in range(len(rows)):
        for i in range(start[first + s], start[first + s + 1]):
            put(rows[s], int(np.searchsorted(vocabulary, chunks.term[i])))
    witnesses = np.zeros(len(rows), np.bool_)
    steps = 0
    for s in range(len(rows)):
        if copies[s] < k:
            steps += len(rows) * term_words
            if steps > limit:
                return UNDECIDED, steps
            witnesses[s] = not _is_inside_another(rows, s)
            if witnesses[s] and start[first + s + 1] - start[first + s] <= m:
                known[start[first + s] : start[first + s + 1]] = 1
                return BROKEN, steps
    words = int(copies.sum()) // ROW + 2  # every bit of a witness is a copy
    failed = no_failures(words)
    for s in range(len(rows)):
        if not witnesses[s]:
            continue
        own = np.searchsorted(vocabulary, chunks.term[start[first + s] : start[first + s + 1]])
        if len(own) * max(words, m + 1) > ROOM:
            return UNDECIDED, steps
        cuts = cuts_of(rows, copies, s, own, k)
        steps += cuts.lacks.size + len(cuts.lacks) * len(own) // CELLS
        verdict, steps = search_witness(
            s, cuts, m, limit, steps, failed, known[start[first + s] : start[first + s + 1]]
        )
        if verdict != ANONYMOUS:
            return verdict, steps
        for d in range(len(rows)):
            if is_inside(rows[d], rows[s]):
                copies[d] = k
    return ANONYMOUS, steps


@leaf()
def _is_inside_another(rows: Words, s: int) -> bool:
    """Whether another row has all bits of row ``s``; no two rows are equal."""
    found = False
    for d in range(len(rows)):
        found |= d != s and is_inside(rows[s], rows[d])
    return found


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
