"""Two attackers of count tables: one who knows the rules, one who uses all told cells at once.

:func:`way_out` looks for what claim (b) says there is: a data set that is published alike and keeps
to the threshold. It moves a sensitive item from unit to unit, publishes what comes of it by the
definitions, and compares. :class:`Alike` asks integer programming about all data sets that agree
with told cells, of some keys or of all of them.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice, product

import numpy as np
from oracles.count_tables import (
    NOTHING,
    Counts,
    Item,
    Key,
    Maker,
    Node,
    Rules,
    Told,
    Tree,
    Unit,
)

TRIED = 4000
"""Data sets that are tried for one way out, those with the smallest share first."""
ORDERS = 12
"""Ways to choose who has what, where other terms of one attribute with one term a unit go along."""


class Alike:
    """All data sets that agree with told cells: a whole number of units a leaf and set of items."""

    def __init__(self, told: Told, tree: Tree, keys: Iterable[Key], units: int) -> None:
        wanted = [key for key in keys if key in told]
        self._tree = tree
        self._items = sorted({item for key in wanted for item in key}, key=str)
        self._leaves = tree.leaves(tree.root)
        size = 2 ** len(self._items)
        bits = (np.arange(size)[:, None] >> np.arange(len(self._items))) & 1
        self._held = np.tile(bits.astype(bool), (len(self._leaves), 1))
        self._leaf = np.repeat(np.arange(len(self._leaves)), size)
        rows = [self.row(tree.root, NOTHING)]
        right = [units]
        for key in wanted:
            for node, count in told[key].items():
                rows.append(self.row(node, key))
                right.append(count)
        self._matrix, self._right = np.array(rows), np.array(right)
        self._found: list[np.ndarray] = []
        """Data sets that agree, as earlier questions found them."""

    def row(self, node: Node, key: Collection[Item]) -> np.ndarray:
        """Which units a count counts."""
        inside = [self._leaves.index(leaf) for leaf in self._tree.leaves(node)]
        held = [self._items.index(item) for item in key]
        counted = np.isin(self._leaf, inside) & self._held[:, held].all(axis=1)
        return counted.astype(np.int64)

    def knows(self, key: Collection[Item]) -> bool:
        """Whether any told cell is of each of the items."""
        return set(key) <= set(self._items)

    def least(self, aim: np.ndarray, *, somebody: np.ndarray | None = None) -> int:
        """The least value of a sum over units.

        Args:
            aim: by whom it grows.
            somebody: at least one of these units is there.
        """
        from scipy.optimize import LinearConstraint, milp
        from scipy.sparse import csr_array

        limits = [LinearConstraint(csr_array(self._matrix), self._right, self._right)]
        if somebody is not None:
            limits.append(LinearConstraint(csr_array(somebody[None, :]), 1, np.inf))
        result = milp(aim, constraints=limits, integrality=np.ones(len(aim)))
        assert result.success, "the data set that was published agrees with what was published"
        world = np.rint(result.x).astype(np.int64)
        assert (self._matrix @ world == self._right).all()
        self._found.append(world)
        return int(aim @ world)

    def forces(self, node: Node, known: Key, sensitive: Item, theta: Fraction) -> bool:
        """Whether in all data sets more than theta of the holders of what is known have an item."""
        holders = self.row(node, known)
        aim = theta.denominator * self.row(node, known | {sensitive}) - theta.numerator * holders
        if any(holders @ world > 0 and aim @ world <= 0 for world in self._found):
            return False
        return self.least(aim, somebody=holders) > 0

    def ends(self, node: Node, key: Key) -> tuple[int, int]:
        """The least and the greatest count."""
        aim = self.row(node, key)
        return self.least(aim), -self.least(-aim)

    def varies(self, node: Node, key: Key) -> bool:
        """Whether two data sets that were found have different counts."""
        aim = self.row(node, key)
        return len({int(aim @ world) for world in self._found}) > 1


def way_out(
    units: list[Unit], told: Told, tree: Tree, rules: Rules, node: Node, known: Key, other: Item
) -> list[Unit] | None:
    """A data set that is published alike, as far as what is known, an item, and both are told.

    In it at most its threshold's share of the holders of what is known have the item in the
    stratum. What G3 leaves out is an untold pair to who reads this (claim b).

    Returns:
        Its units; None if none was found.
    """
    third = frozenset({other})
    keys = (NOTHING, known, third, known | third)
    published = {key: told.get(key, {}) for key in keys}
    plain = Rules(rules.k, rules.theta, rules.kinds, rules.single, bridges=False)
    for made in _tried(units, told, tree, rules, node, known, other):
        counts = Counts(made, tree)
        if counts.of(node, known | third) > rules.theta[other] * counts.of(node, known):
            continue
        again = Maker(made, tree, plain).tell()
        if all(again.get(key, {}) == cells for key, cells in published.items()):
            return made
    return None


def _tried(
    units: list[Unit], told: Told, tree: Tree, rules: Rules, node: Node, known: Key, other: Item
) -> Iterator[list[Unit]]:
    """What others hold is no part of the claim: as it is, and with nobody holding it."""
    asked = known | {other}
    groups = {item[0] for item in asked} & rules.single

    def without(kept: Collection[str]) -> list[Unit]:
        return [(n, frozenset(i for i in held if i in asked or i[0] in kept)) for n, held in units]

    starts = [units, without(groups)]
    if not any(item[1] is None for item in asked):
        starts.append(without(()))
    for start in starts:
        yield from islice(_moved(start, told, tree, rules, node, known, other), TRIED)
    for start in starts:
        yield from islice(_elsewhere(start, told, tree, node, known, other), TRIED)


def _moved(
    units: list[Unit], told: Told, tree: Tree, rules: Rules, node: Node, known: Key, other: Item
) -> Iterator[list[Unit]]:
    """Data sets with the sensitive item at other units, and everything else as it is.

    Something known: each finest told stratum keeps its holders of either, and of both it has any
    number that there is a place for. Nothing known: any number of the item's holders. Nobody has an
    item that is not told, to begin with.
    """
    places = [leaf for leaf in tree.nodes() if leaf in told[NOTHING]]
    where = {leaf: place for place in places for leaf in tree.leaves(place)}
    third = frozenset({other})
    groups = {item[0] for item in known | third} & rules.single
    if third not in told:
        yield [(leaf, items - third) for leaf, items in units]
    ranges, now = [], []
    for place in places:
        inside = [items for leaf, items in units if where[leaf] == place]
        holders = sum(known <= items for items in inside)
        sick = sum(other in items for items in inside)
        now.append(sum(known | third <= items for items in inside))
        if known:
            ranges.append(range(max(0, holders + sick - len(inside)), min(holders, sick) + 1))
        else:
            ranges.append(range(len(inside) + 1))
    cells = told.get(known | third, {})
    sums = [([n for n, p in enumerate(places) if p in tree.below(c)], c) for c in cells]
    fixed = [(within, cells[c]) for within, c in sums]
    inner = [n for n, place in enumerate(places) if place in tree.below(node)]
    wanted = [
        counts
        for counts in product(*ranges)
        if all(sum(counts[n] for n in within) == total for within, total in fixed)
        and (known or sum(counts) == sum(now))
    ]
    wanted.sort(
        key=lambda c: (
            sum(c[n] for n in inner),
            sum(abs(a - b) for a, b in zip(c, now, strict=True)),
        )
    )
    luck = random.Random(len(units))
    for counts in wanted:
        for _ in range(ORDERS if groups else 1):
            yield _with(units, dict(zip(places, counts, strict=True)), where, rules, known, other)
            units = luck.sample(units, len(units))


def _elsewhere(
    units: list[Unit], told: Told, tree: Tree, node: Node, known: Key, other: Item
) -> Iterator[list[Unit]]:
    """Data sets with the holders of the sensitive item in other strata, where it and the pair are
    told of one that has the asked one inside: those with the fewest of both there come first."""
    third = frozenset({other})
    wide = [n for n in told.get(third, {}) if node in tree.below(n) and n != node]
    if not known or not wide or wide[0] not in told.get(known | third, {}):
        return
    places = [n for n in tree.below(wide[0]) if n in told[NOTHING]]
    where = {leaf: place for place in places for leaf in tree.leaves(place)}
    inside = {p: [n for n, (leaf, _) in enumerate(units) if where.get(leaf) == p] for p in places}
    holders = {p: [n for n in inside[p] if known <= units[n][1]] for p in places}
    others = {p: [n for n in inside[p] if not known <= units[n][1]] for p in places}
    both, alone = told[known | third][wide[0]], told[third][wide[0]]
    within = [n for n, p in enumerate(places) if p in tree.below(node)]
    first = sorted(
        _sums([len(holders[p]) for p in places], both),
        key=lambda counts: sum(counts[n] for n in within),
    )
    luck = random.Random(len(units))
    rest = list(_sums([len(others[p]) for p in places], alone - both))
    for counts in first:
        for beside in luck.sample(rest, min(len(rest), 4 * ORDERS)):
            sick = {
                n
                for p, one, two in zip(places, counts, beside, strict=True)
                for n in [*holders[p][:one], *others[p][:two]]
            }
            yield [
                (
                    leaf,
                    items if leaf not in where else items | third if n in sick else items - third,
                )
                for n, (leaf, items) in enumerate(units)
            ]


def _sums(most: list[int], total: int) -> Iterator[tuple[int, ...]]:
    """Whole numbers up to these that sum up to a total."""
    if not most:
        if total == 0:
            yield ()
        return
    for first in range(max(0, total - sum(most[1:])), min(most[0], total) + 1):
        for others in _sums(most[1:], total - first):
            yield (first, *others)


def _with(
    units: list[Unit],
    counts: Mapping[Node, int],
    where: Mapping[Node, Node],
    rules: Rules,
    known: Key,
    other: Item,
) -> list[Unit]:
    """The units, with so many who hold both in each finest told stratum.

    Of an attribute with one term a unit, two units exchange their terms.
    """
    made = [(leaf, set(items)) for leaf, items in units]
    single = other[0] in rules.single

    def has(n: int, place: Node, holds: bool, sick: bool) -> bool:
        leaf, items = made[n]
        return where[leaf] == place and (known <= items) == holds and (other in items) == sick

    def some(place: Node, holds: bool, sick: bool) -> list[int]:
        return [n for n in range(len(made)) if has(n, place, holds, sick)]

    def swap(one: int, two: int) -> None:
        """The second gets the item of the first."""
        given = {i for i in made[one][1] if i[0] == other[0]} if single else {other}
        back = {i for i in made[two][1] if i[0] == other[0]} if single else set()
        made[one][1].difference_update(given)
        made[one][1].update(back)
        made[two][1].difference_update(back)
        made[two][1].update(given)

    surplus: list[int] = []
    gaps: list[int] = []
    for place, count in counts.items():
        sick, well = some(place, True, True), some(place, True, False)
        more = count - len(sick)
        if known and more > 0:
            for one, two in zip(some(place, False, True)[:more], well[:more], strict=True):
                swap(one, two)
        elif known and more < 0:
            for one, two in zip(sick[:-more], some(place, False, False)[:-more], strict=True):
                swap(one, two)
        elif more > 0:
            gaps += well[:more]
        else:
            surplus += sick[: -more or None] if more else []
    for one, two in zip(surplus, gaps, strict=True):
        swap(one, two)
    return [(leaf, frozenset(items)) for leaf, items in made]
