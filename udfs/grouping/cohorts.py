"""Groups for those who stay: units that share one group, in classes that have k new cases each.

A *unit* is a set of cases that are released in one group or not at all: the cohort of a group of
the release before, or one case by itself. A group has two *classes*, those who go on to the next
quarter and those who stop; each is empty or has at least k new cases, and no term has more weight
in it than theta of max(k, its new cases).

Units are placed one after the other, those with most cases first. Each takes the cheapest of three
ways, where "cheap" is the loss that it adds to all cases concerned:

* it joins a group that has the classes it needs;
* it opens a group with new cases that are free: for each class that it has so many that the class
  has k, or as many more as its terms ask for, the ones next to it first;
* it joins two groups into one, one of which has those who go on and the other those who stop.

A class that keeps its bound does so with another one added that keeps it: the floor of a sum is not
below the sum of floors.

Source: docs/models.md (ppms-stay); docs/decisions.md, D287, D288.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import njit
from srsql.udfs.exact_search import hull_loss, warm_up_boxes
from srsql.udfs.grouping_problem import Attributes, Cases, Losses, integer_losses

GOES_ON, STOPS = 0, 1
TRIED = 64
"""Groups that are tried for a unit, the cheapest first, before it is left over."""
AROUND = 16
"""So many times as many new cases as are needed are looked at to open a group."""
Weights = dict[int, int]
"""Term -> its weight."""


@dataclass(frozen=True)
class Staying:
    """What decides where n cases may stand."""

    goes_on: NDArray[np.bool_]
    """[n] the case is in the next quarter."""
    new: NDArray[np.bool_]
    """[n] the case is in no earlier release: it counts towards k."""
    known: Ints
    """[n] the QIDs that each case may be grouped by, as a bit mask."""
    unit: Ints
    """[n] cases of one number share a group; numbers are any."""
    group: Ints
    """[n] the group that a case stands in, from 0 on; -1: none."""
    free: NDArray[np.bool_]
    """[n] a new case without a group that may be taken to open one, and is placed no other way."""

    def check(self, n: int) -> None:
        """Refuse what could not be meant.

        Raises:
            ValueError: a length is wrong, or a case that is free is not new, has a group, or shares
                a unit.
        """
        for values in (self.goes_on, self.new, self.known, self.unit, self.group, self.free):
            if len(values) != n:
                raise ValueError("everything that is said of the cases must have n entries")
        if n and int(self.group.min()) < -1:
            raise ValueError("groups are numbered from 0 on; -1 stands for none")
        if bool((self.free & (~self.new | (self.group >= 0))).any()):
            raise ValueError("only new cases without a group are free")


def place_units(
    cases: Cases,
    attributes: Attributes,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    staying: Staying,
) -> NDArray[np.int32]:
    """Place units in groups that there are, or that free new cases open with them.

    Args:
        cases: n super-records in case-id order, of all missingness patterns; ends of a QID that a
            case does not know are 0.
        attributes: the d QIDs.
        theta_num: [V] numerators of the thresholds; theta_s = num / den.
        theta_den: [V] denominators.
        k: k_effective.
        staying: classes, units and groups.

    Returns:
        [n] group numbers, -1 for a case that was not placed; those of groups that there were are
        what they were, unless two were joined, which have the number of the one.

    Raises:
        ValueError: a box lies outside its tree, or see ``Staying``.
    """
    n = len(cases.low)
    staying.check(n)
    cases.check_boxes(attributes)
    if n == 0:
        return np.empty(0, np.int32)
    return _Placing(cases, attributes, (theta_num, theta_den), k, staying).place()


@njit()
def _losses_of_hulls(
    low: Ints,
    high: Ints,
    known: NDArray[np.bool_],
    counts: Ints,
    box: Ints,
    box_known: NDArray[np.bool_],
    box_counts: Ints,
    losses: Losses,
    scale: int,
    chosen: NDArray[np.bool_],
) -> Ints:
    """What each of m boxes and one more lose together; the largest number where not ``chosen``.

    Args:
        low: [m, d], as ``high``, ``known`` (the QID may be shown) and ``counts`` (its cases that
            know it).
        high: see ``low``.
        known: see ``low``.
        counts: see ``low``.
        box: [2, d] ends of the other one; ``box_known``, ``box_counts`` as above.
        box_known: [d].
        box_counts: [d].
        losses: of the d QIDs.
        scale: loss of a value that is not shown.
        chosen: [m] which to look at.
    """
    m, d = low.shape
    found = np.full(m, np.iinfo(np.int64).max, np.int64)
    for g in range(m):
        if not chosen[g]:
            continue
        total = 0
        for q in range(d):
            holders = counts[g, q] + box_counts[q]
            if known[g, q] and box_known[q]:
                ends = min(low[g, q], box[0, q]), max(high[g, q], box[1, q])
                total += holders * hull_loss(losses, q, ends[0], ends[1])
            else:
                total += holders * scale
        found[g] = total
    return found


@dataclass
class _Party:
    """Some cases as one: a unit, or a group under construction."""

    members: list[int]
    box: Ints
    """[2, d]"""
    known: NDArray[np.bool_]
    """[d]"""
    counts: Ints
    """[d] members that know the QID."""
    loss: int
    new: list[int]
    """Of each class."""
    has: list[bool]
    """Whether the class has anybody."""
    weights: tuple[Weights, Weights]
    """Of each class."""


class _Placing:
    """The state of one run."""

    def __init__(
        self,
        cases: Cases,
        attributes: Attributes,
        theta: tuple[Ints, Ints],
        k: int,
        staying: Staying,
    ) -> None:
        n, d = cases.low.shape
        self.cases, self.staying, self.k = cases, staying, k
        self.num, self.den = (part.astype(np.int64).tolist() for part in theta)
        self.losses, self.scale = integer_losses(attributes, n)
        self.low = np.ascontiguousarray(cases.low, np.int64)
        self.high = np.ascontiguousarray(cases.high, np.int64)
        self.known = ((staying.known[:, None] >> np.arange(d)) & 1).astype(np.bool_)
        self.ones = self.known.astype(np.int64)
        self.free = staying.free.copy()
        self.group = np.full(n, -1, np.int32)
        self.groups: list[_Party] = []
        self.numbers: list[int] = []

    def place(self) -> NDArray[np.int32]:
        """See ``place_units``."""
        standing, waiting = self._parties()
        self.groups, self.numbers = [party for _, party in standing], [no for no, _ in standing]
        self._lay_out(len(waiting))
        waiting.sort(key=lambda party: (-len(party.members), party.members[0]))
        for party in waiting:
            self._place_one(party)
        for number, party in zip(self.numbers, self.groups, strict=True):
            self.group[party.members] = number
        return self.group

    def _parties(self) -> tuple[list[tuple[int, _Party]], list[_Party]]:
        """The groups that stand with their numbers, and the units that have none."""
        group, unit = self.staying.group, self.staying.unit
        standing = [
            (int(group[members[0]]), self._party(members))
            for members in _sets(group, np.flatnonzero(group >= 0))
        ]
        waiting = np.flatnonzero((group < 0) & ~self.staying.free)
        return standing, [self._party(members) for members in _sets(unit, waiting)]

    def _party(self, members: Ints) -> _Party:
        known = np.asarray(self.known[members].all(axis=0), np.bool_)
        box = np.stack([self.low[members].min(axis=0), self.high[members].max(axis=0)])
        counts = self.ones[members].sum(axis=0)
        weights: tuple[Weights, Weights] = ({}, {})
        new, has = [0, 0], [False, False]
        for case in members.tolist():
            side = GOES_ON if self.staying.goes_on[case] else STOPS
            has[side] = True
            new[side] += bool(self.staying.new[case])
            for term, weight in self._terms(case):
                weights[side][term] = weights[side].get(term, 0) + weight
        loss = self._loss(box, known, counts)
        return _Party(members.tolist(), box, known, counts, loss, new, has, weights)

    def _united(self, one: _Party, other: _Party) -> _Party:
        """Both as one."""
        weights: tuple[Weights, Weights] = (dict(one.weights[0]), dict(one.weights[1]))
        for side in (GOES_ON, STOPS):
            for term, weight in other.weights[side].items():
                weights[side][term] = weights[side].get(term, 0) + weight
        low = np.minimum(one.box[0], other.box[0])
        box = np.stack([low, np.maximum(one.box[1], other.box[1])])
        known, counts = one.known & other.known, one.counts + other.counts
        return _Party(
            [*one.members, *other.members],
            box,
            known,
            counts,
            self._loss(box, known, counts),
            [a + b for a, b in zip(one.new, other.new, strict=True)],
            [a or b for a, b in zip(one.has, other.has, strict=True)],
            weights,
        )

    def _loss(self, box: Ints, known: NDArray[np.bool_], counts: Ints) -> int:
        return sum(
            int(counts[q])
            * (hull_loss(self.losses, q, box[0, q], box[1, q]) if known[q] else self.scale)
            for q in range(len(known))
        )

    def _terms(self, case: int) -> Iterator[tuple[int, int]]:
        begin, end = self.cases.offsets[case : case + 2]
        terms, weights = self.cases.terms[begin:end], self.cases.weights[begin:end]
        for term, weight in zip(terms.tolist(), weights.tolist(), strict=True):
            if self.num[term] < self.den[term]:  # a share of all bounds nothing
                yield term, weight

    def _lay_out(self, more: int) -> None:
        """The groups as arrays, with room for ``more``."""
        size, d = len(self.groups) + more, self.low.shape[1]
        self.g_low = np.zeros((size, d), np.int64)
        self.g_high = np.zeros((size, d), np.int64)
        self.g_known = np.zeros((size, d), np.bool_)
        self.g_counts = np.zeros((size, d), np.int64)
        self.g_loss = np.zeros(size, np.int64)
        self.g_has = np.zeros((size, 2), np.bool_)
        for g in range(len(self.groups)):
            self._enter(g)

    def _enter(self, g: int) -> None:
        party = self.groups[g]
        self.g_low[g], self.g_high[g] = party.box
        self.g_known[g], self.g_counts[g] = party.known, party.counts
        self.g_loss[g] = party.loss
        self.g_has[g] = [new >= self.k for new in party.new]

    def _place_one(self, unit: _Party) -> None:
        ways = [
            way for way in (self._joining(unit), self._opening(unit), self._uniting(unit)) if way
        ]
        if not ways:
            return
        _, home, party, gone = min(ways, key=lambda way: way[0])
        if home is None:
            self.groups.append(party)
            self.numbers.append(max(self.numbers, default=-1) + 1)
            self._enter(len(self.groups) - 1)
            self.free[party.members] = False
        else:
            self.groups[home] = party
            self._enter(home)
        if gone is not None:
            self._leave(gone)

    def _leave(self, g: int) -> None:
        """Take a group out that became part of another one."""
        last = len(self.groups) - 1
        self.groups[g], self.numbers[g] = self.groups[last], self.numbers[last]
        self.groups.pop()
        self.numbers.pop()
        if g < last:
            self._enter(g)
        self.g_has[last] = False

    def _added(self, unit: _Party, chosen: NDArray[np.bool_]) -> Ints:
        """What each of the chosen groups and the unit lose more together."""
        m = len(self.groups)
        found = _losses_of_hulls(
            self.g_low[:m], self.g_high[:m], self.g_known[:m], self.g_counts[:m],
            unit.box, unit.known, unit.counts, self.losses, self.scale, chosen,
        )  # fmt: skip
        found[chosen] -= self.g_loss[:m][chosen] + unit.loss
        return found

    def _cheapest(self, unit: _Party, chosen: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """(what it adds, group) of the chosen groups, the cheapest first, some of them."""
        if not chosen.any():
            return
        added = self._added(unit, chosen)
        most = min(TRIED, int(chosen.sum()))
        near = np.flatnonzero(added <= np.partition(added, most - 1)[most - 1])
        for g in near[np.argsort(added[near], kind="stable")][:most].tolist():
            yield int(added[g]), g

    def _joining(self, unit: _Party) -> tuple[int, int, _Party, None] | None:
        has = self.g_has[: len(self.groups)]
        chosen = np.ones(len(has), np.bool_)
        for side in (GOES_ON, STOPS):
            if unit.has[side]:
                chosen &= has[:, side]
        for added, g in self._cheapest(unit, chosen):
            joint = self._fit(self.groups[g], unit)
            if joint is not None:
                return added, g, joint, None
        return None

    def _uniting(self, unit: _Party) -> tuple[int, int, _Party, int] | None:
        """With a group of those who go on and one of those who stop, which become one."""
        if not all(unit.has):
            return None
        has = self.g_has[: len(self.groups)]
        first = next(self._cheapest(unit, has[:, GOES_ON] & ~has[:, STOPS]), None)
        if first is None:
            return None
        home = first[1]
        mixed = self._united(self.groups[home], unit)
        for added, other in self._cheapest(mixed, has[:, STOPS] & ~has[:, GOES_ON]):
            joint = self._fit(self._united(self.groups[home], self.groups[other]), unit)
            if joint is not None:
                return first[0] + added, home, joint, other
        return None

    def _opening(self, unit: _Party) -> tuple[int, None, _Party, None] | None:
        """With free new cases, the nearest that fit."""
        party = unit
        for side in (GOES_ON, STOPS):
            if unit.has[side]:
                opened = self._filled(party, side)
                if opened is None:
                    return None
                party = opened
        if party is unit:
            return None
        return party.loss - unit.loss, None, party, None

    def _filled(self, party: _Party, side: int) -> _Party | None:
        """The party with so many new cases of a class that the class keeps its bounds."""
        weights = dict(party.weights[side])
        missing = self._needed(weights) - party.new[side]
        if missing <= 0:
            return party
        goes_on = self.staying.goes_on
        chosen = self.free & (goes_on if side == GOES_ON else ~goes_on)
        there = int(chosen.sum())
        if there < missing:
            return None
        found = _losses_of_hulls(
            self.low, self.high, self.known, self.ones,
            party.box, party.known, party.counts, self.losses, self.scale, chosen,
        )  # fmt: skip
        most = min(there, AROUND * missing)
        near = np.flatnonzero(chosen & (found <= np.partition(found, most - 1)[most - 1]))
        taken: list[int] = []
        for case in near[np.argsort(found[near], kind="stable")].tolist():
            new = party.new[side] + len(taken) + 1
            terms = list(self._terms(case))
            bound = max(self.k, new, party.new[side] + missing)
            if all(self._allowed(t, weights.get(t, 0) + w, bound) for t, w in terms):
                taken.append(case)
                for term, weight in terms:
                    weights[term] = weights.get(term, 0) + weight
            if len(taken) >= missing:
                return self._united(party, self._party(np.array(sorted(taken))))
        return None

    def _needed(self, weights: Weights) -> int:
        """New cases that a class with these weights needs."""
        scale = self.cases.weight_scale
        needed = self.k
        for term, weight in weights.items():
            num, den = int(self.num[term]), int(self.den[term])
            needed = max(needed, -(-weight * den // (num * scale)) if num else len(self.group) + 1)
        return needed

    def _allowed(self, term: int, weight: int, new: int) -> bool:
        share = int(self.num[term]) * new * self.cases.weight_scale
        return weight * int(self.den[term]) <= share

    def _fit(self, group: _Party, unit: _Party) -> _Party | None:
        """Both together, if every class keeps its bounds."""
        for side in (GOES_ON, STOPS):
            new = max(self.k, group.new[side] + unit.new[side])
            there = group.weights[side]
            if not all(
                self._allowed(term, there.get(term, 0) + weight, new)
                for term, weight in unit.weights[side].items()
            ):
                return None
        return self._united(group, unit)


def _sets(number: Ints, rows: Ints) -> list[Ints]:
    """The rows by their number, each set in order."""
    if not len(rows):
        return []
    order = rows[np.argsort(number[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(number[order])) + 1
    return [np.sort(part) for part in np.split(order, cuts)]


def warm_up() -> None:
    """Load the compiled kernel from the cache, or compile it (once per installation)."""
    warm_up_boxes()
    ends = np.arange(6, dtype=np.int64)[:, None]
    none = np.empty(0, np.int64)
    cases = Cases(ends, ends, np.zeros(7, np.int64), np.empty(0, np.int32), none, 1)
    every = np.ones(6, np.bool_)
    place_units(
        cases, Attributes(np.array([9]), np.array([0, 0]), none, none, none), none, none, 2,
        Staying(
            every, every, np.ones(6, np.int64), np.arange(6),
            np.array([0, 0, 0, -1, -1, -1]), np.array([False, False, False, False, True, True]),
        ),
    )  # fmt: skip
