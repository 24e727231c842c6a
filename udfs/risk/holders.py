"""Who holds what, laid out so that the cases whose regions cover a point are found quickly.

Cases are renumbered by which values their regions tell, those that tell least first, and then in
the order of a space-filling curve through the middles of their regions. Every list of cases is in
that order and cut into blocks; a tree has the hull of the regions of each block, and what a hull
that does not cover a point has under it is passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints, numbered
from srsql.udfs.compiled import leaf, njit

BLOCK = 32
"""Cases of a list that share a hull."""
UNBOUNDED = 2**62
"""The end of what is not known or not published, and its negative."""
_BITS = 10


class Cases(NamedTuple):
    """n cases with d quasi-identifiers, renumbered."""

    low: Ints
    high: Ints
    """[targets, d] the point: what the attacker knows of one; -UNBOUNDED, UNBOUNDED for nothing."""
    region: Ints
    """[n] which region is published of a case; ascending."""
    region_low: Ints
    region_high: Ints
    """[regions, d] in the order in which they are searched."""
    target: Ints
    """[n] the number of a case of which it is looked at what known items leave, or -1."""


class Lists(NamedTuple):
    """Lists of numbers, one after the other."""

    start: Ints
    """[lists + 1]"""
    entry: Ints
    """[start[-1]] ascending within a list."""


class Hulls(NamedTuple):
    """Trees over the blocks of lists of cases: 1 is a root, 2 i and 2 i + 1 are under i.

    A tree of so many nodes that half of them, the later half, are at least as many as the blocks.
    """

    start: Ints
    """[lists + 1] where the tree of each list begins; nodes are counted from there, 0 is unused."""
    low: Ints
    high: Ints
    """[start[-1], d] hull of the regions under a node; low above high where there is none."""


class Boxes(NamedTuple):
    """What is known of the targets among n cases with d quasi-identifiers, and the regions of the
    groups of all."""

    low: Ints
    high: Ints
    """[targets, d] in the order of the cases; -UNBOUNDED, UNBOUNDED where nothing is known."""
    region_low: Ints
    region_high: Ints
    """[groups, d]"""
    group: Ints
    """[n] whose region is published of a case."""


def renumbered(readings: Sequence[Boxes], target: NDArray[np.bool_]) -> tuple[list[Cases], Ints]:
    """The cases in the order in which they are searched, by each reading, and what number each had.

    Args:
        readings: boxes of the same cases in the same groups, as each reading of the release has
            them, one at least. All are in the order of the first, which is as good for the others:
            any order finds the same.
        target: [n] whether it is looked at what known items leave of the case.
    """
    first = readings[0]
    told = (first.region_low > -UNBOUNDED) | (first.region_high < UNBOUNDED)
    which = told @ (1 << np.arange(told.shape[1]))
    curve = _curve(first.region_low, first.region_high, told)
    groups = np.lexsort((curve, (told.sum(axis=1) << told.shape[1]) + which))
    turn = np.empty(len(groups), np.int64)
    turn[groups] = np.arange(len(groups))
    region = turn[first.group]
    order = _in_order(region, len(groups))
    chosen = np.flatnonzero(target[order])
    number_of = np.full(len(order), -1, np.int64)
    number_of[chosen] = np.arange(len(chosen))
    row = np.searchsorted(np.flatnonzero(target), order[chosen])
    return [
        Cases(
            boxes.low[row], boxes.high[row], region[order], boxes.region_low[groups],
            boxes.region_high[groups], number_of,
        )
        for boxes in readings
    ], order  # fmt: skip


@leaf()
def _add_up(counts: Ints) -> None:
    """Add to each what is before it."""
    for i in range(1, len(counts)):
        counts[i] += counts[i - 1]


@njit()
def _in_order(region: Ints, regions: int) -> Ints:
    """The cases by their regions, and those of one as they are."""
    end = np.zeros(regions + 1, np.int64)
    for one in region:
        end[one + 1] += 1
    _add_up(end)
    order = np.empty(len(region), np.int64)
    for case in range(len(region)):
        order[end[region[case]]] = case
        end[region[case]] += 1
    return order


def _curve(low: Ints, high: Ints, told: NDArray[np.bool_]) -> Ints:
    """Where the middle of each region is on a Z-order curve."""
    place = np.zeros(len(low), dtype=np.int64)
    for column in range(low.shape[1]):
        middle = np.where(told[:, column], low[:, column] // 2 + high[:, column] // 2, 0)
        _, rank = numbered(middle - middle.min(initial=0))
        rank = rank << _BITS
        rank //= max(int(rank.max(initial=0)) >> _BITS, 1)
        for bit in range(_BITS + 1):
            place |= ((rank >> bit) & 1) << (bit * low.shape[1] + column)
    return place


@njit()
def lists_of(owner: Ints, entry: Ints, owners: int) -> Lists:
    """Lists from rows (owner, entry), in any order; a row that is there twice is one entry."""
    end = np.zeros(owners + 1, np.int64)
    for row in owner:
        end[row + 1] += 1
    _add_up(end)
    first = end.copy()
    placed = np.empty(len(entry), np.int64)
    for row in range(len(owner)):
        placed[end[owner[row]]] = entry[row]
        end[owner[row]] += 1
    start = np.zeros(owners + 1, np.int64)
    for one in range(owners):  # where what was read before stood
        start[one + 1] = _settle(placed, first[one], first[one + 1], start[one])
    return Lists(start, placed[: start[owners]].copy())


@njit()
def values_of(of_case: Lists, value: Ints) -> Lists:
    """The values of the items in each list, without those that have none (-1)."""
    start = np.zeros(len(of_case.start), np.int64)
    entry = np.empty(len(of_case.entry), np.int64)
    for owner in range(len(start) - 1):
        end = start[owner]
        for row in range(of_case.start[owner], of_case.start[owner + 1]):
            told = value[of_case.entry[row]]
            if told >= 0:
                entry[end] = told
                end += 1
        start[owner + 1] = _settle(entry, start[owner], end, start[owner])
    return Lists(start, entry[: start[-1]].copy())


@leaf()
def _settle(entries: Ints, first: int, last: int, place: int) -> int:
    """Write what is in a part of the entries, ascending and once each, from ``place`` on, which is
    not after the part; where it ends.

    By insertion, which is fast where the part is short or ascends; of a long one, first of those
    that are far apart (Shell 1959, with the gaps of Knuth). ``sort`` takes longer to compile.
    """
    apart = 1
    while last - first > BLOCK and 3 * apart < last - first:
        apart = 3 * apart + 1
    while apart:
        for i in range(first + apart, last):
            entry, hole = entries[i], i
            while hole >= first + apart and entries[hole - apart] > entry:
                entries[hole] = entries[hole - apart]
                hole -= apart
            entries[hole] = entry
        apart //= 3
    begin = place
    for i in range(first, last):
        if place == begin or entries[i] != entries[place - 1]:
            entries[place] = entries[i]
            place += 1
    return place


@njit()
def holders_of(of_case: Lists, items: int) -> Lists:
    """The cases that hold each item; one list more, the last, has every case."""
    count = len(of_case.start) - 1
    start = np.zeros(items + 2, np.int64)
    for item in of_case.entry:
        start[item + 1] += 1
    start[items + 1] = count
    _add_up(start)
    entry = np.empty(start[items + 1], np.int64)
    end = start.copy()
    for case in range(count):
        for item in entries_of(of_case, case):
            entry[end[item]] = case
            end[item] += 1
        entry[start[items] + case] = case
    return Lists(start, entry)


@leaf()
def leaves_of(size: int) -> int:
    """Blocks that the tree of a list of that size has room for."""
    leaves = 1
    while leaves * BLOCK < size:
        leaves *= 2
    return leaves


@njit()
def hulls_of(lists: Lists, cases: Cases) -> Hulls:
    """The trees of every list of cases."""
    owners = len(lists.start) - 1
    start = np.zeros(owners + 1, np.int64)
    for owner in range(owners):
        size = lists.start[owner + 1] - lists.start[owner]
        start[owner + 1] = start[owner] + 2 * leaves_of(size)
    low = np.empty((start[owners], cases.low.shape[1]), np.int64)
    high = np.empty_like(low)
    for owner in range(owners):
        fill_hulls(entries_of(lists, owner), cases, low[start[owner] :], high[start[owner] :])
    return Hulls(start, low, high)


@leaf()
def fill_hulls(part: Ints, cases: Cases, low: Ints, high: Ints) -> None:
    """The tree of one list into the first rows of ``low`` and ``high``."""
    leaves = leaves_of(len(part))
    low[: 2 * leaves] = UNBOUNDED
    high[: 2 * leaves] = -UNBOUNDED
    last = -1
    for i in range(len(part)):
        leaf, region = leaves + i // BLOCK, cases.region[part[i]]
        if region == last and i % BLOCK:  # many cases, one after the other, have one region
            continue
        last = region
        for d in range(cases.low.shape[1]):
            low[leaf, d] = min(low[leaf, d], cases.region_low[region, d])
            high[leaf, d] = max(high[leaf, d], cases.region_high[region, d])
    for node in range(leaves - 1, 0, -1):
        for d in range(cases.low.shape[1]):
            low[node, d] = min(low[2 * node, d], low[2 * node + 1, d])
            high[node, d] = max(high[2 * node, d], high[2 * node + 1, d])


@njit(inline="always")
def entries_of(lists: Lists, owner: int) -> Ints:
    """One of the lists."""
    return lists.entry[lists.start[owner] : lists.start[owner + 1]]


@leaf()
def after(node: int) -> int:
    """The node that follows when nothing under this one is looked at; 0: none."""
    while node & 1:
        node >>= 1
    return node + 1 if node else 0


@leaf()
def covers(low: Ints, high: Ints, row: int, cases: Cases, target: int) -> bool:
    """Whether the box in that row covers the point of the target."""
    for d in range(low.shape[1]):
        if cases.low[target, d] < low[row, d] or high[row, d] < cases.high[target, d]:
            return False
    return True


@leaf()
def has(entries: Ints, wanted: int) -> bool:
    """Whether an ascending list has that number."""
    first, last = 0, len(entries)
    while first < last:
        middle = (first + last) // 2
        if entries[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first < len(entries) and bool(entries[first] == wanted)


@leaf()
def may_be(candidate: int, cases: Cases, target: int) -> bool:
    """Whether the region of a case covers the point of the target."""
    return covers(cases.region_low, cases.region_high, cases.region[candidate], cases, target)


@leaf()
def next_block(low: Ints, high: Ints, leaves: int, node: int, cases: Cases, target: int) -> int:
    """From that node on, the next leaf whose hull covers the point of the target; 0: none."""
    while node:
        if not covers(low, high, node, cases, target):
            node = after(node)
        elif node < leaves:
            node *= 2
        else:
            return node
    return 0
