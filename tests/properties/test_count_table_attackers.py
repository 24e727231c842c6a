"""Random count tables with strata, against one who knows the rules and one who uses every cell."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from oracles.count_table_attackers import Alike, way_out
from oracles.count_tables import NOTHING, Counts, Item, Key, Maker, Node, Rules, Tree, Unit
from support.amount import some_of
from support.count_tables import told_by_macro, without_empty

TREES = (
    Tree({"all": ("F", "M")}),
    Tree({"all": ("a", "b", "c")}),
    Tree({"all": ("F", "not F"), "not F": ("M", "U")}),
    Tree({"all": ("F", "M"), "F": ("F old", "F young"), "M": ("M old", "M young")}),
    Tree(
        {"all": ("F", "not F"), "not F": ("M", "U"), "F": ("old", "rest"), "rest": ("child", "?")}
    ),
)
KINDS = frozenset(
    frozenset(kind) for kind in (("drug", "reac"), ("drug", "outc"), ("outc", "reac"))
)
DRUGS: list[Item] = [("drug", t) for t in "abc"]
REACTIONS: list[Item] = [("reac", t) for t in "pqr"]
HOSPITAL, DEATH = ("outc", "H"), ("outc", "D")
ITEMS: list[Item] = [*DRUGS, *REACTIONS, HOSPITAL, DEATH]
THETAS = [Fraction(theta) for theta in ("1/4", "2/5", "1/2", "3/4", "1")]


def world(seed: int, most: int = 60) -> tuple[list[Unit], Tree, Rules]:
    """Random units, whose items are rare in one stratum and frequent in another."""
    luck = random.Random(seed)
    tree, k = luck.choice(TREES), luck.choice((2, 3, 3, 4, 5))
    leaves = tree.leaves(tree.root)
    weights = [luck.random() + 0.1 for _ in leaves]
    single = frozenset({"outc"} if luck.random() < 0.4 else ())
    share = {item: luck.choice((0.1, 0.25, 0.4, 0.7)) for item in ITEMS}
    times = {leaf: {item: luck.choice((0.3, 1, 1, 1.5)) for item in ITEMS} for leaf in leaves}
    theta = {item: luck.choice([t for t in THETAS if t * k >= 1]) for item in REACTIONS}
    theta |= {HOSPITAL: Fraction(1, 2)} if luck.random() < 0.3 else {}
    together = luck.random() < 0.5
    units = []
    for _ in range(luck.randint(8, most)):
        leaf = luck.choices(leaves, weights)[0]
        held = {item for item in ITEMS if luck.random() < share[item] * times[leaf][item]}
        if together and DRUGS[0] in held and luck.random() < 0.4:
            held.add(REACTIONS[0])
        if single and HOSPITAL in held:
            held.discard(DEATH)
        units.append((leaf, frozenset(held)))
    return units, tree, Rules(k, theta, KINDS, single)


def targets(maker: Maker) -> Iterator[tuple[Node, Key, Item]]:
    """(stratum, at most two known items, sensitive item) of claims (b) and (c).

    Only those of which the true share is above the threshold: of the others the truth is a witness.
    """
    told, counts, rules = maker.told, maker.counts, maker.rules
    items = [key for key in told if len(key) == 1]
    for known in [NOTHING, *items, *(one | other for one, other in combinations(items, 2))]:
        for sensitive in sorted(rules.theta, key=str):
            if not rules.sensitive(sensitive) or sensitive[0] in {item[0] for item in known}:
                continue
            for node in maker.tree.nodes():
                if len(known) < 2:
                    asked = node in told.get(known, {})
                else:
                    halves = [frozenset({item, sensitive}) for item in known]
                    third = frozenset({sensitive})
                    asked = all(maker.known(node, key) for key in (third, *halves))
                holders = counts.of(node, known)
                if asked and counts.of(node, known | {sensitive}) > (
                    rules.theta[sensitive] * holders
                ):
                    yield node, known, sensitive


def within_claim(maker: Maker, node: Node, known: Key, sensitive: Item) -> bool:
    """Whether there is a data set as claims (b) and (c) say."""
    if len(known) < 2:
        units = maker.counts.units
        made = way_out(units, maker.told, maker.tree, maker.rules, node, known, sensitive)
        if made is None:
            return False
        again = Counts(made, maker.tree)
        held = again.of(node, known)
        assert held == maker.counts.of(node, known)
        return again.of(node, known | {sensitive}) <= maker.rules.theta[sensitive] * held
    third = frozenset({sensitive})
    keys = [NOTHING, third, known, *(frozenset({i}) for i in known)]
    keys += [frozenset({item, sensitive}) for item in known]
    cells = {key: {node: maker.counts.of(node, key)} for key in keys}  # (c) takes (x, y) as it is
    alike = Alike(cells, maker.tree, keys, len(maker.counts.units))
    return not alike.forces(node, known, sensitive, maker.rules.theta[sensitive])


def attacked(seeds: Iterable[int]) -> Counter[str]:
    """How many claims were tried, and broken."""
    found: Counter[str] = Counter()
    for seed in seeds:
        units, tree, rules = world(seed)
        maker = Maker(units, tree, rules)
        told = maker.tell()
        found["data sets"] += 1
        found["strata told of a pair"] += sum(len(told[key]) > 1 for key in told if len(key) == 2)
        for node, known, sensitive in targets(maker):
            claim = "(c)" if len(known) == 2 else "(b)"
            found[claim] += 1
            found[f"{claim} of a told pair"] += known | {sensitive} in told
            if not within_claim(maker, node, known, sensitive):
                found[f"{claim} broken: {seed} {node} {sorted(known, key=str)} {sensitive}"] += 1
    return found


def test_what_is_told_leaves_a_way_out_to_who_knows_the_rules() -> None:
    """Claims (b) and (c)."""
    found = attacked(range(some_of(400)))
    assert found["(b)"] > 100
    assert not [name for name in found if "broken" in name], found


@pytest.mark.thorough
def test_so_do_two_thousand_tables_with_strata() -> None:
    found = attacked(range(10_000, 12_000))
    print(dict(found))
    assert found["data sets"] == 2000
    assert found["(b) of a told pair"] > 100
    assert found["(c)"] > 0
    assert not [name for name in found if "broken" in name], found


class Unmoved(Maker):
    """Rule G2 with what each finest stratum holds of either item as it is."""

    def _movable(self, key: Key) -> bool:
        return False


def test_the_macro_tells_pairs_whose_item_may_lie_elsewhere(sql: Any) -> None:
    """What the rules say, of random tables on which they tell more by that."""
    more = 0
    for seed in range(some_of(240)):
        units, tree, rules = world(seed)
        told = Maker(units, tree, rules).tell()
        if told.keys() != Unmoved(units, tree, rules).tell().keys():
            more += 1
            assert told_by_macro(sql, units, tree, rules) == without_empty(told)
    assert more


def joined(seeds: Iterable[int]) -> tuple[Counter[str], list[str]]:
    """What all told cells together say, beyond the claim; and where they say it."""
    found: Counter[str] = Counter()
    where: list[str] = []
    for seed in seeds:
        units, tree, rules = world(seed, most=40)
        maker = Maker(units, tree, rules)
        told = maker.tell()
        if not told:
            continue
        alike = Alike(told, tree, list(told), len(units))
        for node, known, sensitive in targets(maker):
            if not alike.knows(known | {sensitive}):
                continue
            found["above theta"] += 1
            if alike.forces(node, known, sensitive, rules.theta[sensitive]):
                found["forced"] += 1
                where.append(f"forced: {seed} {node} {sorted(known, key=str)} {sensitive}")
        for node, key in untold_few(maker):
            found["few"] += 1
            if not alike.varies(node, key) and len(set(alike.ends(node, key))) == 1:
                found["pinned"] += 1
                where.append(f"pinned: {seed} {node} {sorted(key, key=str)}")
    return found, where


def untold_few(maker: Maker) -> Iterator[tuple[Node, Key]]:
    """Cells of told items and of pairs of these that 1 to k - 1 units have."""
    items = [key for key in maker.told if len(key) == 1]
    pairs = [
        one | other
        for one, other in combinations(items, 2)
        if maker.rules.paired(next(iter(one)), next(iter(other)))
    ]
    for key in [*items, *pairs]:
        for node in maker.tree.nodes():
            if 1 <= maker.counts.of(node, key) < maker.rules.k:
                yield node, key


def test_every_cell_together_may_pin_what_no_key_alone_does() -> None:
    """Not claimed. All 5 women have r, and 3 of them a; 4 have both: so 1 of the 5 men with a."""
    units, tree, rules = world(2, most=40)
    maker = Maker(units, tree, rules)
    told = maker.tell()
    drug, reaction = frozenset({DRUGS[0]}), frozenset({REACTIONS[2]})
    assert told[NOTHING]["F"] == told[reaction]["F"] == 5
    assert (told[drug], told[drug | reaction]) == ({"F": 3, "M": 5}, {"all": 4})
    alike = Alike(told, tree, list(told), len(units))
    assert alike.ends("M", drug | reaction) == (1, 1)
    assert not rules.sensitive(REACTIONS[2])
    found, where = joined(range(some_of(60)))
    assert found["few"] > 100
    assert found["pinned"] * 100 < found["few"], where
    assert found["forced"] == 0, where


@pytest.mark.thorough
def test_every_cell_of_a_thousand_tables_together_forces_no_share() -> None:
    found, where = joined(range(1000))
    print(dict(found), *where, sep="\n")
    assert found["above theta"] > 500
    assert found["forced"] == 0
    assert found["pinned"] * 500 < found["few"]
