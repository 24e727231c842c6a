"""What every set of one and of two known items of a case leaves, and which terms follow from it.

A candidate of a case holds the set and has a region that covers the case's point. A term follows
from a set where all candidates (or nine in ten) have it and the case has it, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.risk.holders import (
    BLOCK,
    Cases,
    Hulls,
    Lists,
    after,
    entries_of,
    leaves_of,
    may_be,
    next_block,
)

DRUGS, TERMS, BOTH = range(3)
"""Kinds of known items."""
NONE, ONE, TWO, THREE, ALL = range(5)
"""How many of them."""


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


@leaf()
def record(found: Exposure, kind: int, known: int, case: int, size: int, k: int, sure: int) -> None:
    """One set of a case: how many candidates, and what follows (2: certain, 1: likely)."""
    if found.sets[kind, known, case] == 0 or size < found.fewest[kind, known, case]:
        found.fewest[kind, known, case] = min(size, k)
    found.sets[kind, known, case] += 1
    found.below[kind, known, case] += size < k
    found.alone[kind, known, case] += size == 1
    found.certain[kind, known, case] += sure == 2
    found.likely[kind, known, case] += sure >= 1


@leaf()
def _kinds(
    items: Items, one: int, other: int, found: Exposure, case: int, size: int, k: int, sure: int
) -> None:
    """Record a set of one item (``other`` is -1) or two under each kind that it is of."""
    known = ONE if other < 0 else TWO
    record(found, BOTH, known, case, size, k, sure)
    if other < 0 or items.is_term[one] == items.is_term[other]:
        record(found, TERMS if items.is_term[one] else DRUGS, known, case, size, k, sure)


@leaf()
def _sure(held: Ints, size: int, own: Ints, value: int, second: int) -> int:
    """2 where a further value of the case is one of all candidates, 1 of nine in ten, else 0.

    ``held``: how many of the ``size`` candidates have each value of ``own``, those of the case.
    """
    best = 0
    for i in range(len(own)):
        if own[i] != value and own[i] != second:
            missed = size - held[i]
            best = max(best, 2 if missed == 0 else 1 if missed * 10 <= size else 0)
    return best


@leaf()
def _candidates_of(cases: Cases, items: Items, target: int, item: int, candidates: Ints) -> int:
    """The cases that hold the item and may be the target, and how many they are."""
    held = entries_of(items.holders, item)
    root = items.hulls.start[item]
    low, high = items.hulls.low[root:], items.hulls.high[root:]
    leaves = leaves_of(len(held))
    count = 0
    node = next_block(low, high, leaves, 1, cases, target)
    while node:
        begin = (node - leaves) * BLOCK
        for candidate in held[begin : begin + BLOCK]:
            if may_be(candidate, cases, target):
                candidates[count] = candidate
                count += 1
        node = next_block(low, high, leaves, after(node), cases, target)
    return count


@leaf()
def _mark(place: Ints, entries: Ints) -> None:
    """Write where in the list each of its entries stands, and one."""
    for i in range(len(entries)):
        place[entries[i]] = i + 1


@leaf()
def _count_common(
    items: Items, candidates: Ints, one: int, item_place: Ints, value_place: Ints, shared: Ints,
    size: Ints, held: Ints,
) -> None:  # fmt: skip
    """Count among the candidates of item ``one`` those that have what the target has, too.

    Args:
        items: what cases hold.
        candidates: [count] those of the item.
        one: the item; of the others those of lower numbers are counted.
        item_place: [items] as ``_mark`` leaves it, of the target's items.
        value_place: [values] of its values.
        shared: [values of the target] scratch.
        size: [items of the target + 1] candidates that have the other item; added to.
        held: [items of the target + 1, values of it] of these, those that have the value; the last
            row is of all candidates. Added to.
    """
    last = len(held) - 1
    for candidate in candidates:
        common = 0
        for value in entries_of(items.values, candidate):
            if value_place[value]:
                shared[common] = value_place[value] - 1
                held[last, shared[common]] += 1
                common += 1
        for other in entries_of(items.of_case, candidate):
            if other >= one:
                break
            if item_place[other]:
                row = item_place[other] - 1
                size[row] += 1
                for i in range(common):
                    held[row, shared[i]] += 1


@njit(nogil=True)
def ones_and_twos(
    cases: Cases, items: Items, part: Ints, k: int, values: int, found: Exposure
) -> None:
    """Every set of one and of two items of the targets in ``part``.

    The candidates of one item are found through the list of its holders; what else of the target
    they have tells how many are left of each set of it and an item of a lower number.
    """
    item_place = np.zeros(len(items.value), np.int64)
    value_place = np.zeros(values, np.int64)
    candidates = np.empty(len(items.of_case.start), np.int64)
    for case in part:
        target = cases.target[case]
        own, told = entries_of(items.of_case, case), entries_of(items.values, case)
        _mark(item_place, own)
        _mark(value_place, told)
        shared = np.empty(len(told), np.int64)
        size = np.empty(len(own) + 1, np.int64)
        held = np.empty((len(own) + 1, len(told)), np.int64)  # the last row: of the item alone
        for number in range(len(own)):
            one = own[number]
            size[:] = 0
            held[:] = 0
            count = _candidates_of(cases, items, target, one, candidates)
            _count_common(
                items, candidates[:count], one, item_place, value_place, shared, size, held
            )
            sure = _sure(held[len(own)], count, told, items.value[one], -1)
            _kinds(items, one, -1, found, target, count, k, sure)
            for row in range(number):
                other = own[row]
                sure = _sure(held[row], size[row], told, items.value[one], items.value[other])
                _kinds(items, one, other, found, target, size[row], k, sure)
        for item in own:
            item_place[item] = 0
        for value in told:
            value_place[value] = 0
