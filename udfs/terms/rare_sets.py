"""Sets of terms that some but fewer than k records hold, of one size, level by level.

A set is the set of its first terms with one more behind them. Only sets that k records hold are
made longer, and none by a term that all its records have: without it the same records hold a
smaller set, which is looked at anyway.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from srsql.udfs.problem import Ints


class Baskets(NamedTuple):
    """starts: [R + 1]; terms: [N] ascending within a record, from 0 on."""

    starts: Ints
    terms: Ints


class _Prefixes(NamedTuple):
    """Sets and their records: terms: [P, size]; begin: [P + 1]; record: [H]; after: [H] where in
    ``Baskets.terms`` the record goes on behind the last term of the set."""

    terms: Ints
    begin: Ints
    record: Ints
    after: Ints


def rare_sets(baskets: Baskets, vocabulary: int, size: int, k: int) -> tuple[Ints, Ints]:
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
    """
    found = _start(baskets, vocabulary)
    for _ in range(size - 1):
        prefix, term, records = _extended(*found[1:], *baskets, vocabulary, k, 0)
        begin = np.concatenate((np.zeros(1, np.int64), np.cumsum(records)))
        record, after = _held(*found[1:], *baskets, vocabulary, prefix, term, begin)
        found = _Prefixes(np.column_stack((found.terms[prefix], term)), begin, record, after)
    prefix, term, records = _extended(*found[1:], *baskets, vocabulary, 1, k)
    return np.column_stack((found.terms[prefix], term)), records


def _start(baskets: Baskets, vocabulary: int) -> _Prefixes:
    """The empty set, which all records hold."""
    records = len(baskets.starts) - 1
    return _Prefixes(
        np.empty((1, 0), np.int64),
        np.array([0, records], np.int64),
        np.arange(records, dtype=np.int64),
        baskets.starts[:-1].copy(),
    )


@njit(cache=True)
def _extended(
    begin: Ints, record: Ints, after: Ints, starts: Ints, terms: Ints, vocabulary: int, least: int,
    below: int,
) -> tuple[Ints, Ints, Ints]:  # fmt: skip
    """Sets of one term more that ``least`` records hold, and fewer than ``below`` (0: than the set
    itself; of the empty set, as many are allowed): their prefix, the term, and how many do."""
    counts = np.zeros(vocabulary, np.int64)
    met = np.empty(vocabulary, np.int64)
    rows = np.int64(0)
    prefix, term, records = _room(0), _room(0), _room(0)
    for turn in range(2):  # count, then fill
        if turn == 1:
            prefix, term, records = _room(rows), _room(rows), _room(rows)
        rows = np.int64(0)
        for p in range(len(begin) - 1):
            seen = np.int64(0)
            for h in range(begin[p], begin[p + 1]):
                for i in range(after[h], starts[record[h] + 1]):
                    t = terms[i]
                    if counts[t] == 0:
                        met[seen] = t
                        seen += 1
                    counts[t] += 1
            most = below if below > 0 else begin[p + 1] - begin[p]
            if below == 0 and len(begin) == 2:
                most += 1
            for j in range(seen):
                t = met[j]
                if least <= counts[t] < most:
                    if turn == 1:
                        prefix[rows], term[rows], records[rows] = p, t, counts[t]
                    rows += 1
                counts[t] = 0
    return prefix, term, records


@njit(cache=True)
def _held(
    begin: Ints, record: Ints, after: Ints, starts: Ints, terms: Ints, vocabulary: int,
    prefix: Ints, term: Ints, longer: Ints,
) -> tuple[Ints, Ints]:  # fmt: skip
    """The records of the longer sets, whose rows stand from ``longer`` on, and where they go on."""
    records, following = _room(longer[-1]), _room(longer[-1])
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


@njit(cache=True)
def _room(rows: np.int64 | int) -> Ints:
    return np.empty(rows, np.int64)
