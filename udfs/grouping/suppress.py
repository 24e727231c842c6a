"""Which sensitive values to suppress, so that cases can stay (a way out that Lin 2016 names).

A value is suppressed of a case: nothing published of that case has it, while the rest of the case
is released. Of a value that too many cases hold, the least number of them lose it that makes room;
they are drawn at random among those that may. Who may not: a case of which an earlier release told
the value, and one with a report that would be left without a value of that attribute, since
absence tells.

Values of one case are bound together by that alone. Where the holders of a value run out because
they lost another one, that one is taken from another of its holders, as long as a single exchange
is enough; the rest stays as it was, to be withheld.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import as_int64

LAST = 2**62
"""Behind every number of a pair."""


class Holdings(NamedTuple):
    """E pairs of a case and a value that it holds, by value."""

    start: Ints
    """[T + 1] where the pairs of each of the T values begin."""
    case: Ints
    """[E] the case, as an index."""
    weight: Ints
    """[E] what the value counts for the case; changed."""
    freed: Ints
    """[E] by how much less it counts once it is suppressed; 0: it may not be, or it is. Changed."""
    slot_start: Ints
    """[E + 1] where the slots of each pair begin."""
    slots: Ints
    """A slot is an attribute of a report: those in which the value of the pair stands."""
    room: Ints
    """[slots] how many values each may lose before it is down to its last one; changed."""
    rank: Ints
    """[E] a random order."""


@dataclass(frozen=True)
class Pairs:
    """Which pairs may be suppressed, and what binds them."""

    case: Ints
    """[P] index of the case, distinct with the term."""
    term: Ints
    freed: Ints
    slot_case: Ints
    """[S] for each pair the slots that its value stands in."""
    slot_term: Ints
    slot: Ints
    room: Ints
    """[S] of the slot: how many values it may lose."""


def suppress_surplus(terms: Ints, excess: Ints, pairs: Pairs, rank: Ints) -> NDArray[np.bool_]:
    """The pairs to suppress so that each value has as much less as it has too much.

    Args:
        terms: [T] the values of which there is too much, ascending.
        excess: [T] by how much.
        pairs: of these values.
        rank: [P] a random order of the pairs.

    Returns:
        [P] of each value the least number of pairs that come to its excess; where those that may be
        suppressed do not, all of them.
    """
    order = np.lexsort((pairs.case, pairs.term))
    held = holdings_of(pairs, order, np.searchsorted(terms, pairs.term[order]), len(terms), rank)
    freed = held.freed.copy()
    _suppress_surplus(excess.astype(np.int64), held)
    lost = np.zeros(len(order), np.bool_)
    lost[order] = (freed > 0) & (held.freed == 0)
    return lost


def holdings_of(
    pairs: Pairs, order: Ints, place: Ints, count: int, rank: Ints, weight: Ints | None = None
) -> Holdings:
    """The pairs in the order ``order``, by value, whose number there is ``place``."""
    case, term = pairs.case[order], pairs.term[order]
    start = np.searchsorted(place, np.arange(count + 1)).astype(np.int64)
    by_pair = np.lexsort((pairs.slot, pairs.slot_case, pairs.slot_term))
    width = max(int(pairs.case.max(initial=0)), int(pairs.slot_case.max(initial=0))) + 1
    keys = pairs.slot_term[by_pair] * width + pairs.slot_case[by_pair]
    slot_start = np.searchsorted(keys, np.append(term * width + case, LAST)).astype(np.int64)
    numbers, slots = np.unique(pairs.slot[by_pair], return_inverse=True)
    room = np.zeros(len(numbers), np.int64)
    room[slots] = pairs.room[by_pair]
    return Holdings(
        start,
        case.astype(np.int64),
        (pairs.freed if weight is None else weight)[order].astype(np.int64),
        pairs.freed[order].astype(np.int64),
        slot_start,
        slots.astype(np.int64),
        room,
        rank[order].astype(np.int64),
    )


@leaf()
def may_lose(e: int, held: Holdings) -> bool:
    """Whether a pair can be suppressed as things are."""
    if held.freed[e] == 0:
        return False
    for j in range(held.slot_start[e], held.slot_start[e + 1]):
        if held.room[held.slots[j]] <= 0:
            return False
    return True


@leaf()
def lose(e: int, held: Holdings) -> int:
    """Suppress a pair; by how much less its value counts."""
    freed = held.freed[e]
    held.weight[e] -= freed
    held.freed[e] = 0
    for j in range(held.slot_start[e], held.slot_start[e + 1]):
        held.room[held.slots[j]] -= 1
    return int(freed)


@leaf()
def give_back(e: int, freed: int, held: Holdings) -> None:
    """Take the suppression of a pair back."""
    held.weight[e] += freed
    held.freed[e] = freed
    for j in range(held.slot_start[e], held.slot_start[e + 1]):
        held.room[held.slots[j]] += 1


@njit()
def draw_holders(among: Ints, excess: int, held: Holdings) -> Ints:
    """The least number of pairs of one value that free at least ``excess``, drawn at random.

    Those of least rank, equal ones being equally likely; where they free too little, the one that
    frees least gives way to the one of the others that frees most, until they free enough.

    Args:
        among: pairs of one value.
        excess: above 0.
        held: says which of them may be suppressed.

    Returns:
        The pairs; all that may where even those free less.
    """
    able = np.empty(len(among), np.int64)
    count = 0
    for e in among:
        if may_lose(e, held):
            able[count] = e
            count += 1
    able = able[:count]
    most = np.sort(held.freed[able])[::-1]
    least, total = 0, as_int64(0)
    while least < count and total < excess:
        total += most[least]
        least += 1
    if total < excess or least == count:
        return able
    by_rank = able[np.argsort(held.rank[able])]
    chosen, others = by_rank[:least].copy(), by_rank[least:]
    free = as_int64(0)
    for e in chosen:
        free += held.freed[e]
    if free < excess:
        chosen = chosen[np.argsort(held.freed[chosen], kind="mergesort")]
        others = others[np.argsort(-held.freed[others], kind="mergesort")]
        at = 0
        while free < excess:
            free += held.freed[others[at]] - held.freed[chosen[at]]
            chosen[at] = others[at]
            at += 1
    return chosen


@njit()
def _suppress_surplus(excess: Ints, held: Holdings) -> None:
    """As ``suppress_surplus``, those values first that have fewest holders to spare."""
    count = len(excess)
    was = held.freed.copy()
    spare = np.zeros(count, np.float64)
    for s in range(count):
        free = as_int64(0)
        for e in range(held.start[s], held.start[s + 1]):
            if may_lose(e, held):
                free += held.freed[e]
        spare[s] = free / excess[s]
    lacking = excess.copy()
    for s in np.argsort(spare, kind="mergesort"):
        for e in draw_holders(np.arange(held.start[s], held.start[s + 1]), lacking[s], held):
            lacking[s] -= lose(e, held)
    if (lacking > 0).any():
        _exchange(lacking, was, held)


@njit()
def _exchange(lacking: Ints, was: Ints, held: Holdings) -> None:
    """Let a case lose a value that is still too frequent in the place of another one.

    That one is lost by another of its holders. Holders of least rank come first.
    """
    at_slot, begins = _pairs_of_slots(held)
    value_of = np.empty(len(held.case), np.int64)
    for s in range(len(lacking)):
        value_of[held.start[s] : held.start[s + 1]] = s
    for s in range(len(lacking)):
        if lacking[s] <= 0:
            continue
        own = np.arange(held.start[s], held.start[s + 1])
        for e in own[np.argsort(held.rank[own])]:
            if lacking[s] <= 0:
                break
            if held.freed[e] == 0:
                continue
            if not may_lose(e, held):
                _make_room(e, was, value_of, at_slot, begins, held)
            if may_lose(e, held):
                lacking[s] -= lose(e, held)


@leaf()
def _make_room(
    e: int, was: Ints, value_of: Ints, at_slot: Ints, begins: Ints, held: Holdings
) -> None:
    """Have another holder lose a value in the place of the case of pair ``e``, if one can."""
    for j in range(held.slot_start[e], held.slot_start[e + 1]):
        slot = held.slots[j]
        if held.room[slot] > 0:
            continue
        for i in range(begins[slot], begins[slot + 1]):
            f = at_slot[i]
            if was[f] == 0 or held.freed[f] > 0:
                continue
            t = value_of[f]
            best = -1
            for g in range(held.start[t], held.start[t + 1]):
                if held.case[g] == held.case[f] or not may_lose(g, held):
                    continue
                if held.freed[g] >= was[f] and (best < 0 or held.rank[g] < held.rank[best]):
                    best = g
            if best >= 0:
                give_back(f, was[f], held)
                lose(best, held)
                break


@njit()
def _pairs_of_slots(held: Holdings) -> tuple[Ints, Ints]:
    """The pairs in each slot: ``at[begins[slot]:begins[slot + 1]]``."""
    begins = np.zeros(len(held.room) + 1, np.int64)
    for slot in held.slots:
        begins[slot + 1] += 1
    for slot in range(len(held.room)):
        begins[slot + 1] += begins[slot]
    fill = begins[:-1].copy()
    at = np.empty(len(held.slots), np.int64)
    for e in range(len(held.case)):
        for j in range(held.slot_start[e], held.slot_start[e + 1]):
            at[fill[held.slots[j]]] = e
            fill[held.slots[j]] += 1
    return at, begins
