"""How many cases are left for one who knows where a patient is and some of their items.

Every set of one and of two items of every case is looked at (``known_items``). Of three items a
fixed number of sets is drawn for each case; all items together are one set.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints, numbered, places_of
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.risk.holders import (
    BLOCK,
    UNBOUNDED,
    Boxes,
    Cases,
    after,
    entries_of,
    has,
    holders_of,
    hulls_of,
    leaves_of,
    lists_of,
    may_be,
    next_block,
    renumbered,
    values_of,
)
from srsql.udfs.risk.known_items import (
    ALL,
    BOTH,
    NONE,
    ONE,
    TERMS,
    THREE,
    TWO,
    Exposure,
    Items,
    ones_and_twos,
    record,
)

SETS = 4
"""Sets of three items that are drawn of a case, of each kind of items."""


@leaf()
def _candidates(cases: Cases, items: Items, target: int, known: Ints, k: int) -> int:
    """Cases that hold the known items (none: every case) and may be the target, counted up to k."""
    rarest = len(items.value)
    for item in known:
        if (
            items.holders.start[item + 1] - items.holders.start[item]
            < items.holders.start[rarest + 1] - items.holders.start[rarest]
        ):
            rarest = item
    held = entries_of(items.holders, rarest)
    root = items.hulls.start[rarest]
    low, high = items.hulls.low[root:], items.hulls.high[root:]
    leaves = leaves_of(len(held))
    count = 0
    node = next_block(low, high, leaves, 1, cases, target)
    while node:
        begin = (node - leaves) * BLOCK
        for candidate in held[begin : begin + BLOCK]:
            if _holds(items, candidate, known, rarest) and may_be(candidate, cases, target):
                count += 1
                if count == k:
                    return count
        node = next_block(low, high, leaves, after(node), cases, target)
    return count


@leaf()
def _holds(items: Items, case: int, known: Ints, rarest: int) -> bool:
    """Whether a holder of the rarest item has the others."""
    theirs = entries_of(items.of_case, case)
    holds = True
    for item in known:
        holds = holds and (item == rarest or has(theirs, item))
    return holds


@njit()
def _draw(state: np.uint64) -> np.uint64:
    """The output of SplitMix64 (Steele et al. 2014) at that state."""
    z = state + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(nogil=True)
def _larger_sets(
    cases: Cases, items: Items, part: Ints, number: Ints, k: int, seed: int, found: Exposure
) -> None:
    """No item, drawn sets of three, and all items of the targets in ``part``.

    ``number`` [n]: what a case was called by the caller, which seeds its draws.
    """
    nothing = np.empty(0, np.int64)
    three = np.empty(3, np.int64)
    for case in part:
        target = cases.target[case]
        region = _candidates(cases, items, target, nothing, k)
        own = entries_of(items.of_case, case)
        terms = items.is_term[own]
        for kind in range(3):
            record(found, kind, NONE, target, region, k, 0)
            known = own if kind == BOTH else own[terms == (kind == TERMS)]
            if len(known) < 3:
                continue
            record(found, kind, ALL, target, _candidates(cases, items, target, known, k), k, 0)
            if len(known) == 3:
                continue
            state = _draw(np.uint64(seed) ^ _draw(np.uint64(number[case] * 3 + kind)))
            for _ in range(SETS):
                chosen = 0
                while chosen < 3:
                    state = _draw(state)
                    item = known[np.int64(state % np.uint64(len(known)))]
                    if not ((chosen > 0 and three[0] == item) or (chosen > 1 and three[1] == item)):
                        three[chosen] = item
                        chosen += 1
                left = _candidates(cases, items, target, three, k)
                record(found, kind, THREE, target, left, k, 0)


def warm_up() -> None:
    """Load the compiled kernels from the cache, or compile them (once per installation)."""
    ends = np.zeros((40, 1), np.int64)
    boxes = Boxes(ends[:39], ends[:39], ends, ends, np.arange(40))
    cases, items = np.repeat(np.arange(40), 4), np.tile(np.arange(4), 40)
    value = np.array([-1, 0, 1, 2])
    target = np.isin(cases[::4], drawn_cases(cases[::4], 39, 0))
    exposure([boxes], (cases, items), value, 2, 0, target)


class Summary(NamedTuple):
    """One kind of known items and one number of them, over the cases that have such items."""

    known: int
    """``DRUGS``, ``TERMS`` or ``BOTH``."""
    items: int
    """``NONE`` to ``ALL``."""
    cases: int
    worst_below_k: int
    worst_alone: int
    worst_certain: int
    worst_likely: int
    """Cases some set of which leaves fewer than k, leaves one, lets a further term follow."""
    below_k: float
    alone: float
    certain: float
    likely: float
    """The sums over the cases of the shares of their sets that do."""


def summaries(found: Exposure, k: int) -> list[Summary]:
    """``Exposure`` added up over the cases."""
    rows = []
    for known, items in np.ndindex(found.sets.shape[:2]):
        sets, fewest, *outcomes = (numbers[known, items] for numbers in found)
        some = sets > 0
        worst = [fewest[some] < k, fewest[some] == 1, *(part[some] > 0 for part in outcomes[2:])]
        shares = (np.sum(part[some] / sets[some]) for part in outcomes)
        counts = [int(some.sum()), *(int(flags.sum()) for flags in worst)]
        rows.append(Summary(known, items, *counts, *map(float, shares)))
    return [row for row in rows if row.cases]


def told_boxes(targets: Ints, groups: Ints, own: list[Ints], published: list[Ints]) -> Boxes:
    """Boxes that are told row by row, as ``exposure`` takes them.

    Args:
        targets: the cases to look at, ascending.
        groups: [n] of all cases.
        own: what is known of the targets, rows of case, place, low, high.
        published: the regions, rows of group, place, low, high.
    """
    group_nos, group = numbered(groups)
    positions = np.unique(np.concatenate([own[1], published[1]]))
    width = max(len(positions), 1)
    ends = []
    for owners, (owner, place, low, high) in ((targets, own), (group_nos, published)):
        cell = places_of(owner, owners) * width + np.searchsorted(positions, place)
        for end, missing in ((low, -UNBOUNDED), (high, UNBOUNDED)):
            filled = np.full(len(owners) * width, missing, np.int64)
            filled[cell] = end
            ends.append(filled.reshape(-1, width))
    return Boxes(ends[0], ends[1], ends[2], ends[3], group)


@njit()
def _chances(numbers: NDArray[np.uint64], seed: np.uint64) -> NDArray[np.uint64]:
    found = np.empty_like(numbers)
    for i in range(len(numbers)):
        found[i] = _draw(seed ^ _draw(numbers[i]))
    return found


def drawn_cases(case_nos: Ints, count: int, seed: int) -> Ints:
    """So many cases drawn at random, ascending; all where there are no more."""
    if count >= len(case_nos):
        return np.sort(case_nos)
    chance = _chances(case_nos.astype(np.uint64), np.uint64(seed))
    return np.sort(case_nos[np.argpartition(chance, count - 1)[:count]])  # no two have the same


def exposure(
    readings: Sequence[Boxes],
    held: tuple[Ints, Ints],
    value: Ints,
    k: int,
    seed: int,
    target: NDArray[np.bool_],
) -> list[Exposure]:
    """How few candidates known items leave of every case, and which terms follow from them.

    Args:
        readings: what is known of each case, and its region, as each reading of the release has
            them; the groups are the same, and the lists of items are made once for all.
        held: case and item of each row, [rows] each; a row once or more often.
        value: [items] the sensitive value that it is, of 0, 1, ...; -1 for a drug.
        k: candidates beyond so many are not counted.
        seed: of the sets that are drawn.
        target: [n] the cases to look at; candidates are among all.

    Returns:
        By reading, numbers of the targets, in the order of the cases given. A case with fewer than
        m items of a kind is taken as known by all of them; one that has none has no set of that
        kind.

    Source: SPEC section 18.
    """
    by_reading, order = renumbered(readings, target)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    case, item = place[held[0]], held[1]
    of_case = lists_of(case, item, len(order))
    values = int(value.max(initial=-1)) + 1
    looked_at = np.flatnonzero(by_reading[0].target >= 0)
    found = [Exposure(*np.zeros((6, 3, 5, len(looked_at)), np.int32)) for _ in by_reading]
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        told = pool.submit(values_of, of_case, value)
        holders = holders_of(of_case, len(value))
        items = [
            Items(of_case, holders, hulls_of(holders, cases), told.result(), value >= 0, value)
            for cases in by_reading
        ]

        def look_at(reading: int, part: Ints) -> None:
            cases = by_reading[reading]
            ones_and_twos(cases, items[reading], part, k, values, found[reading])
            _larger_sets(cases, items[reading], part, order, k, seed, found[reading])

        parts = [looked_at[i::threads].copy() for i in range(threads)]
        list(pool.map(look_at, *zip(*product(range(len(found)), parts), strict=True)))
    as_given = np.argsort(order[looked_at])
    for each in found:
        _complete(each)
    return [
        Exposure(*(np.ascontiguousarray(numbers[:, :, as_given]) for numbers in each))
        for each in found
    ]


def _complete(found: Exposure) -> None:
    """Fewer items of a kind than asked are all of them; three leave no more than two do."""
    some = found.sets[:, ONE] > 0
    for known, fewer in ((TWO, ONE), (ALL, TWO), (THREE, ALL)):
        missing = some & (found.sets[:, known] == 0)
        for numbers in found:
            numbers[:, known][missing] = numbers[:, fewer][missing]
    np.minimum(found.fewest[:, THREE], found.fewest[:, TWO], out=found.fewest[:, THREE])
