"""What every set of one and of two known items of a case leaves, and which terms follow from it.

Each set is looked at once, through the list of the cases that hold it: a candidate of a case holds
the set and has a region that covers the case's point. A term follows from a set where all
candidates (or nine in ten) have it and the case has it, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.compiled import njit
from srsql.udfs.risk.holders import (
    BLOCK,
    Cases,
    Hulls,
    Lists,
    after,
    covers,
    entries_of,
    fill_hulls,
    has,
    leaves_of,
    next_block,
)

DRUGS, TERMS, BOTH = range(3)
"""Kinds of known items."""
NONE, ONE, TWO, THREE, ALL = range(5)
"""How many of them."""
_SMALL = 32
"""Lists below are compared case by case."""
_FEW = 4
"""So are those with at most so many targets."""


class Items(NamedTuple):
    """What cases hold: each case's items, each item's cases, each case's values."""

    of_case: Lists
    holders: Lists
    """By item; one list more, the last, has every case."""
    hulls: Hulls
    values: Lists
    """By case: the sensitive values it has, whatever attribute tells them."""
    is_term: NDArray[np.bool_]
    value: Ints
    """[items] the sensitive value that an item is, or -1 for a drug."""


class Exposure(NamedTuple):
    """[3 kinds of known items, 5 numbers of them, targets]; numbers are over a target's sets."""

    sets: Ints
    """Looked at."""
    fewest: Ints
    """Candidates of the worst of them, at most k."""
    below: Ints
    """Sets that leave fewer than k."""
    alone: Ints
    """Sets that leave one."""
    certain: Ints
    """Sets from which a further term follows, for one and two items."""
    likely: Ints
    """The same with nine candidates in ten."""


@njit()
def record(found: Exposure, kind: int, known: int, case: int, size: int, k: int, sure: int) -> None:
    """One set of a case: how many candidates, and what follows (2: certain, 1: likely)."""
    if found.sets[kind, known, case] == 0 or size < found.fewest[kind, known, case]:
        found.fewest[kind, known, case] = min(size, k)
    found.sets[kind, known, case] += 1
    found.below[kind, known, case] += size < k
    found.alone[kind, known, case] += size == 1
    found.certain[kind, known, case] += sure == 2
    found.likely[kind, known, case] += sure >= 1


@njit()
def _kinds(
    items: Items, one: int, other: int, found: Exposure, case: int, size: int, k: int, sure: int
) -> None:
    """Record a set of one item (``other`` is -1) or two under each kind that it is of."""
    known = ONE if other < 0 else TWO
    record(found, BOTH, known, case, size, k, sure)
    if other < 0 or items.is_term[one] == items.is_term[other]:
        record(found, TERMS if items.is_term[one] else DRUGS, known, case, size, k, sure)


@njit()
def _follows(items: Items, case: int, one: int, other: int, candidates: Ints) -> int:
    """2 where a further value of the case is one of all candidates, 1 of nine in ten, else 0."""
    best = 0
    own = entries_of(items.values, case)
    for value in own:
        if value in (one, other):
            continue
        missed = 0
        for candidate in candidates:
            theirs = entries_of(items.values, candidate)
            missed += not has(theirs, value)
            if missed * 10 > len(candidates):
                break
        if missed == 0:
            return 2
        if missed * 10 <= len(candidates):
            best = 1
    return best


@njit()
def _few_holders(
    cases: Cases, items: Items, held: Ints, one: int, other: int, k: int, found: Exposure
) -> None:
    """The sets {one, other} of the cases of a short list."""
    candidates = np.empty(len(held), np.int64)
    value, second = items.value[one], -1 if other < 0 else items.value[other]
    for case in held:
        if cases.target[case] < 0:
            continue
        size = 0
        for candidate in held:
            if covers(cases.region_low, cases.region_high, candidate, cases, case):
                candidates[size] = candidate
                size += 1
        sure = _follows(items, case, value, second, candidates[:size])
        _kinds(items, one, other, found, cases.target[case], size, k, sure)


@njit()
def _many_holders(
    cases: Cases,
    items: Items,
    held: Ints,
    one: int,
    other: int,
    k: int,
    found: Exposure,
    tally: Ints,
) -> None:
    """The same of a long list.

    Candidates are counted by what their regions tell: for each pattern of it, once for all points
    that are equal there. ``tally`` [values] is 0 and stays so.
    """
    targets = held[cases.target[held] >= 0]
    size = np.zeros(len(targets), np.int64)
    start = np.zeros(len(targets) + 1, np.int64)
    for i in range(len(targets)):
        case = targets[i]
        start[i + 1] = start[i] + items.values.start[case + 1] - items.values.start[case]
    having = np.zeros(start[len(targets)], np.int64)
    candidates = np.empty(len(held), np.int64)
    first = 0
    while first < len(held):
        pattern = cases.pattern[held[first]]
        last = _pattern_end(cases, held, first)
        part = held[first:last]
        low = np.empty((2 * leaves_of(len(part)), cases.low.shape[1]), np.int64)
        high = np.empty_like(low)
        fill_hulls(part, cases, low, high)
        point = cases.point[pattern][cases.target[targets]]
        by_point = np.argsort(point, kind="mergesort")
        i = int(np.searchsorted(point[by_point], 0))
        while i < len(targets):
            place = point[by_point[i]]
            count = _covering(cases, part, low, high, targets[by_point[i]], candidates)
            for candidate in candidates[:count]:
                _count(items, candidate, tally, 1)
            while i < len(targets) and point[by_point[i]] == place:
                row = by_point[i]
                size[row] += count
                own = entries_of(items.values, targets[row])
                for j in range(len(own)):
                    having[start[row] + j] += tally[own[j]]
                i += 1
            for candidate in candidates[:count]:
                _count(items, candidate, tally, -1)
        first = last
    value, second = items.value[one], -1 if other < 0 else items.value[other]
    for row in range(len(targets)):
        sure = 0
        own = entries_of(items.values, targets[row])
        for j in range(len(own)):
            if own[j] != value and own[j] != second:
                missed = size[row] - having[start[row] + j]
                sure = max(sure, 2 if missed == 0 else 1 if missed * 10 <= size[row] else 0)
        _kinds(items, one, other, found, cases.target[targets[row]], size[row], k, sure)


@njit()
def _pattern_end(cases: Cases, held: Ints, first: int) -> int:
    """Up to where the regions of a list tell the same values as the one at ``first`` does."""
    pattern, last = cases.pattern[held[first]], len(held)
    while first < last:
        middle = (first + last) // 2
        if cases.pattern[held[middle]] > pattern:
            last = middle
        else:
            first = middle + 1
    return first


@njit()
def _covering(
    cases: Cases, part: Ints, low: Ints, high: Ints, target: int, candidates: Ints
) -> int:
    """The cases of a list with that tree that may be the target, and how many they are."""
    leaves = len(low) // 2
    count = 0
    node = next_block(low, high, leaves, 1, cases, target)
    while node:
        begin = (node - leaves) * BLOCK
        for candidate in part[begin : begin + BLOCK]:
            if covers(cases.region_low, cases.region_high, candidate, cases, target):
                candidates[count] = candidate
                count += 1
        node = next_block(low, high, leaves, after(node), cases, target)
    return count


@njit()
def _count(items: Items, case: int, tally: Ints, by: int) -> None:
    for value in entries_of(items.values, case):
        tally[value] += by


@njit()
def _sets_with(
    cases: Cases,
    items: Items,
    held: Ints,
    one: int,
    other: int,
    k: int,
    found: Exposure,
    tally: Ints,
) -> None:
    targets = 0
    for case in held:
        targets += cases.target[case] >= 0
    if len(held) < _SMALL or targets <= _FEW:
        _few_holders(cases, items, held, one, other, k, found)
    else:
        _many_holders(cases, items, held, one, other, k, found, tally)


@njit(nogil=True)
def ones_and_twos(
    cases: Cases, items: Items, part: Ints, k: int, values: int, found: Exposure
) -> None:
    """Every set of one item of ``part``, and of it with an item of a lower number."""
    tally = np.zeros(values, np.int64)
    slot = np.zeros(len(items.value), np.int64)
    for one in part:
        held = entries_of(items.holders, one)
        _sets_with(cases, items, held, one, -1, k, found, tally)
        others = _others(cases, items, held, one, slot)
        # the lists of the cases that hold one and another, one list after the other
        total = 0
        for case in held:
            for other in entries_of(items.of_case, case):
                if other >= one:
                    break
                if slot[other] > 0:
                    slot[other] += 1
                    total += 1
        end = 1
        for other in others:  # from how many, and one, to where the list begins, and one
            size = slot[other] - 1
            slot[other] = end
            end += size
        together = np.empty(total, np.int64)
        for case in held:
            for other in entries_of(items.of_case, case):
                if other >= one:
                    break
                if slot[other] > 0:
                    together[slot[other] - 1] = case
                    slot[other] += 1
        begin = 0
        for other in others:
            end = slot[other] - 1
            _sets_with(cases, items, together[begin:end], one, other, k, found, tally)
            begin = end
            slot[other] = 0


@njit()
def _others(cases: Cases, items: Items, held: Ints, one: int, slot: Ints) -> Ints:
    """The items of a lower number that some target among the holders has, marked by a 1."""
    others = np.empty(len(slot), np.int64)
    count = 0
    for case in held:
        if cases.target[case] >= 0:
            for other in entries_of(items.of_case, case):
                if other >= one:
                    break
                if slot[other] == 0:
                    slot[other] = 1
                    others[count] = other
                    count += 1
    return others[:count].copy()
