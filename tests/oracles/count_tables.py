"""Count tables by their definitions (SPEC section 19), and what they force on an attacker.

Nothing here is fast. :func:`tell` counts by going through all units, node by node. Two attackers
follow: :func:`extremes` asks integer programming for the least and the greatest count among all
data sets that agree with published cells; :func:`least_shares` lists *every* data set of two items,
publishes each, and takes the least share among those that look alike: this attacker knows the
rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product

import numpy as np

Node = str
Item = tuple[str, str | None]
"""Attribute and term; None: no told term of an attribute that has one term a unit."""
Key = frozenset[Item]
Unit = tuple[Node, frozenset[Item]]
"""A leaf of the strata, and the items that the unit holds."""
Told = dict[Key, dict[Node, int]]
NOTHING: Key = frozenset()


@dataclass(frozen=True)
class Tree:
    """Strata: a node has two or more children, or none."""

    children: Mapping[Node, tuple[Node, ...]]
    root: Node = "all"

    def below(self, node: Node) -> list[Node]:
        """The node and all nodes below it."""
        found = [node]
        for child in self.children.get(node, ()):
            found += self.below(child)
        return found

    def leaves(self, node: Node) -> list[Node]:
        return [n for n in self.below(node) if not self.children.get(n)]

    def nodes(self) -> list[Node]:
        return self.below(self.root)


@dataclass(frozen=True)
class Rules:
    """What is asked of a table."""

    k: int
    theta: Mapping[Item, Fraction]
    kinds: frozenset[frozenset[str]]
    """Pairs of attributes whose pairs of items are counted."""
    single: frozenset[str] = field(default_factory=frozenset)
    """Attributes of which a unit holds at most one term."""
    bridges: bool = True
    """Whether rule G3 is kept; it is no part of claim (b)."""

    def sensitive(self, item: Item) -> bool:
        return self.theta.get(item, Fraction(1)) < 1

    def paired(self, one: Item, other: Item) -> bool:
        return one[0] != other[0] and frozenset({one[0], other[0]}) in self.kinds


class Counts:
    """Units by leaf and items."""

    def __init__(self, units: Iterable[Unit], tree: Tree) -> None:
        self.units = list(units)
        self.tree = tree
        self._leaves = {node: frozenset(tree.leaves(node)) for node in tree.nodes()}
        self._known: dict[tuple[Node, Key], int] = {}
        self.finest: Collection[Node] = ()
        """The strata of which the units are told; no item is told of a finer one."""

    def of(self, node: Node, key: Collection[Item] = NOTHING) -> int:
        """n(S, X): the units of a stratum that hold all of the items."""
        asked = (node, frozenset(key))
        if asked not in self._known:
            self._known[asked] = sum(
                leaf in self._leaves[node] and asked[1] <= items for leaf, items in self.units
            )
        return self._known[asked]

    def overlap(self, node: Node, one: Item, other: Item) -> int:
        """The units that must hold both, by what its finest strata hold of each."""
        return sum(
            max(0, self.of(leaf, {one}) + self.of(leaf, {other}) - self.of(leaf))
            for leaf in self._told_leaves(node)
        )

    def room(self, node: Node, one: Item, other: Item) -> int:
        """The units that may hold both, by what its finest strata hold of each."""
        return sum(
            min(self.of(leaf, {one}), self.of(leaf, {other})) for leaf in self._told_leaves(node)
        )

    def _told_leaves(self, node: Node) -> list[Node]:
        """The finest strata of which the units are told, within one of which they are."""
        return [leaf for leaf in self.tree.below(node) if leaf in self.finest]


class Maker:
    """The rules, one after the other."""

    def __init__(self, units: Iterable[Unit], tree: Tree, rules: Rules) -> None:
        self.rules = rules
        self.tree = tree
        bare = Counts(units, tree)
        fit = {item for item in _items(bare.units) if self._fits(bare, tree.root, item)}
        self.counts = Counts(list(self._with_rest(bare.units, fit)), tree)
        self.candidates = {
            item for item in _items(self.counts.units) if self._fits(self.counts, tree.root, item)
        }
        self.told: Told = {}

    def _with_rest(self, units: Iterable[Unit], fit: set[Item]) -> Iterator[Unit]:
        """R3: of an attribute with one term a unit, what is no told term is one more item."""
        for leaf, items in units:
            kept = {item for item in items if item[0] not in self.rules.single or item in fit}
            rest = {(name, None) for name in self.rules.single - {item[0] for item in kept}}
            yield leaf, frozenset(kept | rest)

    def tell(self) -> Told:
        tree = self.tree
        self._tell_group([NOTHING], lambda node, _: self.counts.of(node) >= self.rules.k)
        self.counts.finest = self.told.get(NOTHING, {})
        for group in self._groups([frozenset({item}) for item in _items(self.counts.units)]):
            self._tell_group(group, self._item_passes)
        items = [item for item in _items(self.counts.units) if frozenset({item}) in self.told]
        pairs = [
            frozenset({one, other})
            for one, other in combinations(items, 2)
            if self.rules.paired(one, other)
        ]
        for group in self._groups(pairs):
            if self._tell_group(group, self._pair_passes):
                told = [key for key in group if key in self.told]
                if all(self._movable(key) for key in told):
                    continue
                if any(self._forces(key) for key in told):  # G2: of all units alone, or not
                    for key in told:
                        self.told[key] = {tree.root: self.counts.of(tree.root, key)}
                if any(self._forces(key) for key in told):
                    for key in told:
                        del self.told[key]
        if self.rules.bridges:
            self._cut_bridges()
        return self.told

    def _groups(self, keys: Iterable[Key]) -> list[list[Key]]:
        """Keys that are told together: those of an attribute with one term a unit (R3)."""
        groups: dict[frozenset[Item | str], list[Key]] = defaultdict(list)
        for key in keys:
            name = frozenset(i[0] if i[0] in self.rules.single else i for i in key)
            groups[name].append(key)
        return list(groups.values())

    def _tell_group(self, group: list[Key], passes) -> bool:  # type: ignore[no-untyped-def]
        """R2: the root, replaced by children as long as every one is empty or passes."""

        def fine(node: Node) -> bool:
            return all(self.counts.of(node, key) == 0 or passes(node, key) for key in group)

        def finest(node: Node) -> list[Node]:
            children = self.tree.children.get(node, ())
            if children and all(fine(child) for child in children):
                return [found for child in children for found in finest(child)]
            return [node]

        if not fine(self.tree.root):
            return False
        nodes = finest(self.tree.root)
        for key in group:
            if self.counts.of(self.tree.root, key):
                self.told[key] = {node: self.counts.of(node, key) for node in nodes}
        return True

    def known(self, node: Node, key: Key) -> bool:
        """Whether a count is told at the node or finer, so that its sum is known."""
        return key in self.told and any(n in self.told[key] for n in self.tree.below(node))

    def _fits(self, counts: Counts, node: Node, item: Item) -> bool:
        """R2 of an item, without the other items."""
        units, holders = counts.of(node), counts.of(node, {item})
        return (
            holders >= self.rules.k
            and (units - holders == 0 or units - holders >= self.rules.k)
            and holders <= self.rules.theta.get(item, Fraction(1)) * units
        )

    def _item_passes(self, node: Node, key: Key) -> bool:
        """R2 of an item, and G1: few of its holders must hold a sensitive item of another kind."""
        (item,) = key
        return (
            self._fits(self.counts, node, item)
            and self.known(node, NOTHING)
            and self._uncrowded(node, item)
        )

    def _uncrowded(self, node: Node, item: Item) -> bool:
        """G1 alone."""
        holders = self.counts.of(node, {item})
        return all(
            self.counts.overlap(node, item, other) <= self.rules.k - 1
            and self.counts.overlap(node, item, other) <= self.rules.theta[other] * holders
            for other in self.candidates
            if self.rules.sensitive(other) and self.rules.paired(item, other)
        )

    def _pair_passes(self, node: Node, key: Key) -> bool:
        both = self.counts.of(node, key)
        return (
            both >= self.rules.k
            and all(self.known(node, frozenset({item})) for item in key)
            and all(
                both <= self.rules.theta.get(item, Fraction(1)) * self.counts.of(node, key - {item})
                for item in key
            )
        )

    def _forces(self, key: Key) -> bool:
        """G2: a stratum below a told node has no way out, though the pair is not told in it."""
        return any(
            not self._way_out(key, one, other, parent, child, stratum)
            for one, other in (sorted(key, key=str), sorted(key, key=str)[::-1])
            if self.rules.sensitive(other)
            for parent in self.told[key]
            for child in self.tree.children.get(parent, ())
            for stratum in self.tree.below(child)
            if self.told[frozenset({one})].get(stratum)
        )

    def _way_out(
        self, key: Key, one: Item, other: Item, parent: Node, child: Node, stratum: Node
    ) -> bool:
        """Whether some number of those who hold both lies in the child, unsplit and within theta.

        Every number of them is tried, with what each leaf holds of either item as it is.
        """

        def ends(node: Node) -> tuple[int, int]:
            return self.counts.overlap(node, one, other), self.counts.room(node, one, other)

        least, most = ends(child)
        in_all = ends(parent)
        in_stratum = ends(stratum)
        total = self.told[key][parent]
        if in_stratum[1] == 0:
            return True
        return any(
            in_all[0] - least <= total - here <= in_all[1] - most
            and (1 <= here <= self.rules.k - 1 or 1 <= total - here <= self.rules.k - 1)
            and max(in_stratum[0], here - (most - in_stratum[1]))
            <= self.rules.theta[other] * self.counts.of(stratum, {one})
            for here in range(max(1, least), most + 1)
        )

    def _movable(self, key: Key) -> bool:
        """G2, where the sensitive item is told of a told node and not finer: it can lie elsewhere.

        Its holders are put into the child and the rest of the node, so that one of these has 1 to
        k - 1 of them and no leaf must hold both; every way to do so is tried.
        """
        if any(item[0] in self.rules.single or self._is_crowded(item) for item in key):
            return False
        return all(
            self.told[frozenset({other})].get(parent) is not None
            and self._lies_elsewhere(key, one, other, parent, child, stratum)
            for one, other in (sorted(key, key=str), sorted(key, key=str)[::-1])
            if self.rules.sensitive(other)
            for parent in self.told[key]
            for child in self.tree.children.get(parent, ())
            for stratum in self.tree.below(child)
            if self.told[frozenset({one})].get(stratum)
        )

    def _is_crowded(self, item: Item) -> bool:
        """Whether G1 bars the item from any stratum."""
        return not all(self._uncrowded(node, item) for node in self.tree.nodes())

    def _lies_elsewhere(
        self, key: Key, one: Item, other: Item, parent: Node, child: Node, stratum: Node
    ) -> bool:
        def free(node: Node) -> tuple[int, int]:
            """Who may hold the other item without overlap, and who of these may hold both."""
            counts = [
                (self.counts.of(leaf, {one}), self.counts.of(leaf))
                for leaf in self.tree.below(node)
                if leaf in self.counts.finest
            ]
            return sum(n - x for x, n in counts), sum(min(x, n - x) for x, n in counts)

        (all_free, all_both), (child_free, child_both) = free(parent), free(child)
        _, stratum_both = free(stratum)
        rest_free, rest_both = all_free - child_free, all_both - child_both
        total, holders = self.told[key][parent], self.counts.of(parent, {other})
        few = range(1, self.rules.k)
        return any(
            (here in few or holders - here in few)
            and inside + beside <= here <= child_free
            and total - inside - beside <= holders - here <= rest_free
            and 0 <= total - inside - beside <= rest_both
            and inside <= self.rules.theta[other] * self.counts.of(stratum, {one})
            for here in range(1, holders)
            for inside in range(stratum_both + 1)
            for beside in range(child_both - stratum_both + 1)
        )

    def _cut_bridges(self) -> None:
        """G3: from the largest down, a pair is told beside those that are told before it.

        Not if its count and that of one of these force their sensitive item on who holds both.
        """
        groups = self._groups(key for key in self.told if len(key) == 2)
        kept: list[Key] = []
        for group in sorted(groups, key=self.order, reverse=True):
            if any(self._bridges(key, other) for key in group for other in [*kept, *group]):
                for key in group:
                    del self.told[key]
            else:
                kept += group

    def order(self, group: list[Key]) -> tuple[int, list[str]]:
        """By units; of equal ones by name."""
        single = self.rules.single
        names = {str((i[0], "") if i[0] in single else i) for key in group for i in key}
        return sum(self.counts.of(self.tree.root, key) for key in group), sorted(names)

    def _bridges(self, one: Key, other: Key) -> bool:
        return one != other and any(
            self._bridge(one, other, item) for item in one & other if self.rules.sensitive(item)
        )

    def _bridge(self, one: Key, other: Key, sensitive: Item) -> bool:
        theta = self.rules.theta.get(sensitive, Fraction(1))
        both = (one | other) - {sensitive}
        return any(
            self.counts.of(node, one)
            + self.counts.of(node, other)
            - self.counts.of(node, {sensitive})
            > theta * self.counts.of(node, both)
            for node in self.tree.nodes()
            if self.known(node, one) and self.known(node, other)
        )


def _items(units: Iterable[Unit]) -> list[Item]:
    return sorted({item for _, items in units for item in items}, key=str)


def tell(units: Iterable[Unit], tree: Tree, rules: Rules) -> Told:
    """The told cells of each key; those without a unit are 0, which no table needs to print."""
    return Maker(units, tree, rules).tell()


def extremes(
    told: Told, tree: Tree, keys: Iterable[Key], node: Node, asked: Key, units: int
) -> tuple[int, int]:
    """The least and the greatest n(S, X) of all data sets that agree with the cells of the keys.

    A data set is a whole number of units for each leaf and each set of the items that occur in the
    keys; nothing but the cells is known.

    Args:
        units: of all strata, which are told.
    """
    from scipy.optimize import LinearConstraint, milp

    wanted = [key for key in keys if key in told]
    items = sorted({item for key in [*wanted, asked] for item in key}, key=str)
    worlds = [
        (leaf, frozenset(item for item, held in zip(items, bits, strict=True) if held))
        for leaf in tree.leaves(tree.root)
        for bits in product((False, True), repeat=len(items))
    ]

    def row(where: Node, key: Key) -> list[int]:
        inside = set(tree.leaves(where))
        return [int(leaf in inside and key <= held) for leaf, held in worlds]

    cells = [(row(tree.root, NOTHING), units)]
    cells += [(row(n, key), count) for key in wanted for n, count in told[key].items()]
    matrix = np.array([left for left, _ in cells])
    right = np.array([count for _, count in cells])
    aim = np.array(row(node, asked))
    found = []
    for sign in (1, -1):
        result = milp(
            sign * aim,
            constraints=LinearConstraint(matrix, right, right),
            integrality=np.ones(len(worlds)),
        )
        assert result.success, "the data set that was published agrees with what was published"
        found.append(sign * round(result.fun))
    return found[0], found[1]


def two_items(
    sizes: Mapping[Node, int], one: Item, other: Item
) -> Iterator[list[tuple[Node, int, int, int]]]:
    """Every data set of two items: in each leaf the holders of one, of the other, and of both."""
    per_leaf = [
        [
            (leaf, left, right, both)
            for left in range(size + 1)
            for right in range(size + 1)
            for both in range(max(0, left + right - size), min(left, right) + 1)
        ]
        for leaf, size in sizes.items()
    ]
    for found in product(*per_leaf):
        yield list(found)


def as_units(
    world: Sequence[tuple[Node, int, int, int]], sizes: Mapping[Node, int], one: Item, other: Item
) -> list[Unit]:
    """The units of such a data set."""
    units: list[Unit] = []
    for leaf, left, right, both in world:
        units += [(leaf, frozenset({one, other}))] * both
        units += [(leaf, frozenset({one}))] * (left - both)
        units += [(leaf, frozenset({other}))] * (right - both)
        units += [(leaf, NOTHING)] * (sizes[leaf] - left - right + both)
    return units


def least_shares(
    sizes: Mapping[Node, int], tree: Tree, rules: Rules, one: Item, other: Item
) -> dict[tuple[Key, Item, Node], Fraction]:
    """The greatest forced share, over every data set of two items in strata of these sizes.

    Data sets that publish the same are one class for the attacker, who knows the rules. What a
    class forces is the least share in it: of the sensitive item among the holders of the other one,
    or, where nothing is known, among all units; then a class is made of the cells of that item.

    Returns:
        What is known, the sensitive item, the stratum -> the greatest of the least shares.
    """
    lone, second, pair = frozenset({one}), frozenset({other}), frozenset({one, other})
    asked = [
        (known, sensitive, keys)
        for known, sensitive, keys in (
            (lone, other, (lone, second, pair)),
            (second, one, (lone, second, pair)),
            (NOTHING, other, (second,)),
            (NOTHING, one, (lone,)),
        )
        if rules.sensitive(sensitive)
    ]
    classes: dict[tuple[Key, Item, Node, tuple[object, ...]], Fraction] = {}
    for world in two_items(sizes, one, other):
        maker = Maker(as_units(world, sizes, one, other), tree, rules)
        told = maker.tell()
        cells = {key: tuple(sorted(told.get(key, {}).items())) for key in (NOTHING, *asked[0][2])}
        for known, sensitive, keys in asked:
            seen = (cells[NOTHING], *(cells[key] for key in keys))
            for node, holders in told.get(known, {}).items():
                if holders:
                    share = Fraction(maker.counts.of(node, known | {sensitive}), holders)
                    place = (known, sensitive, node, seen)
                    classes[place] = min(share, classes.get(place, share))
    worst: dict[tuple[Key, Item, Node], Fraction] = {}
    for (known, sensitive, node, _), share in classes.items():
        worst[known, sensitive, node] = max(share, worst.get((known, sensitive, node), share))
    return worst
