"""Count tables of random data: the macro is the oracle, and no attacker breaks the claim."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.count_tables import (
    NOTHING,
    Counts,
    Item,
    Key,
    Maker,
    Rules,
    Told,
    Tree,
    Unit,
    extremes,
    tell,
)
from oracles.examples import REPEATABLE
from support.amount import IN_FULL
from support.count_tables import told_by_macro, without_empty

TREES = (
    Tree({}),
    Tree({"all": ("F", "M")}),
    Tree({"all": ("F", "not F"), "not F": ("M", "U")}),
    Tree({"all": ("a", "b", "c")}),
    Tree(
        {"all": ("F", "not F"), "not F": ("M", "U"), "F": ("old", "rest"), "rest": ("child", "?")}
    ),
)
KINDS = frozenset(
    frozenset(kind) for kind in (("drug", "reac"), ("drug", "outc"), ("outc", "reac"))
)
ITEMS: list[Item] = [("drug", t) for t in "abc"] + [("reac", t) for t in "pqr"]
ITEMS += [("outc", t) for t in "HD"]
SEEDS = st.integers(0, 10**6)


def world(seed: int, most: int = 60) -> tuple[list[Unit], Tree, Rules]:
    """Random units, where items are rare and frequent, together and apart."""
    luck = random.Random(seed)
    tree, k = luck.choice(TREES), luck.choice((3, 3, 4, 5))
    leaves = tree.leaves(tree.root)
    weights = [luck.random() for _ in leaves]
    share = {item: luck.choice((0.1, 0.25, 0.4, 0.7)) for item in ITEMS}
    single = frozenset({"outc"} if luck.random() < 0.4 else ())
    units = []
    for _ in range(luck.randint(5, most)):
        rate = luck.choice((0.5, 1.0))
        held = {item for item in ITEMS if luck.random() < rate * share[item]}
        if single:
            held -= {("outc", "D")} if ("outc", "H") in held else set()
        units.append((luck.choices(leaves, weights)[0], frozenset(held)))
    theta = {item: Fraction(luck.choice(("2/5", "1/2", "3/4", "1"))) for item in ITEMS[3:6]}
    theta |= {("outc", "H"): Fraction(1, 2)} if luck.random() < 0.3 else {}
    return units, tree, Rules(k, theta, KINDS, single)


@settings(REPEATABLE, max_examples=200 if IN_FULL else 40)
@given(seed=SEEDS)
def test_the_macro_tells_what_the_rules_say(sql: Any, seed: int) -> None:
    units, tree, rules = world(seed)
    assert told_by_macro(sql, units, tree, rules) == without_empty(tell(units, tree, rules))


def star(seed: int) -> tuple[list[Unit], Rules]:
    """One reaction, of whose holders half or more have each of many drugs: some pairs meet."""
    luck = random.Random(seed)
    drugs: list[Item] = [("drug", t) for t in "abcdefgh"[: luck.randint(7, 8)]]
    held = [luck.sample(range(20), luck.randint(10, 15)) for _ in drugs]
    sick = [
        frozenset({ITEMS[3], *(d for d, of in zip(drugs, held, strict=True) if n in of)})
        for n in range(20)
    ]
    well = [frozenset({drug}) for drug in drugs for _ in range(60)]
    for two in combinations(drugs, 2):
        well += [frozenset(two)] * luck.choice((0, 20, 40))
    rules = Rules(4, {ITEMS[3]: Fraction(1, 4)}, KINDS)
    return [("all", items) for items in sick + well], rules


@settings(REPEATABLE, max_examples=100 if IN_FULL else 20)
@given(seed=SEEDS)
def test_of_many_partners_of_one_item_the_macro_tells_the_same_from_the_largest_down(
    sql: Any, seed: int
) -> None:
    units, rules = star(seed)
    assert told_by_macro(sql, units, TREES[0], rules) == tell(units, TREES[0], rules)


@settings(REPEATABLE, max_examples=200 if IN_FULL else 40)
@given(seed=SEEDS)
def test_told_counts_and_their_differences_are_none_or_at_least_k(seed: int) -> None:
    """Claim (a): told strata of a key are disjoint, and have all of its units."""
    units, tree, rules = world(seed)
    for key, cells in Maker(units, tree, rules).tell().items():
        assert all(count == 0 or count >= rules.k for count in cells.values())
        leaves = [leaf for node in cells for leaf in tree.leaves(node)]
        assert sorted(leaves) == sorted(tree.leaves(tree.root))
        if len(key) == 1:
            others = {n: sum(leaf in tree.leaves(n) for leaf, _ in units) for n in cells}
            left = [others[n] - count for n, count in cells.items() if count]
            assert all(count == 0 or count >= rules.k for count in left)


def violators(
    counts: Counts, told: Told, tree: Tree, rules: Rules
) -> Iterator[tuple[str, Key, Item]]:
    """(stratum, known items, sensitive item) of which the true share is above the threshold."""
    items = [key for key in told if len(key) == 1]
    pairs = [one | other for one, other in combinations(items, 2)]
    for known in [NOTHING, *items, *pairs]:
        for sensitive in sorted(rules.theta):
            attributes = {item[0] for item in known}
            if not rules.sensitive(sensitive) or sensitive[0] in attributes:
                continue
            for node in tree.nodes():
                holders = counts.of(node, known)
                if counts.of(node, known | {sensitive}) > rules.theta[sensitive] * holders:
                    yield node, known, sensitive


def broken(seed: int) -> list[tuple[Any, ...]]:
    """What the told cells of claims (b) and (c) force above a threshold."""
    units, tree, rules = world(seed, most=30)
    maker = Maker(units, tree, rules)
    told = maker.tell()
    forced = []
    for node, known, sensitive in violators(maker.counts, told, tree, rules):
        third = frozenset({sensitive})
        asked = known | third
        if len(known) < 2:  # (b): all cells of these keys, of any stratum
            if node not in told.get(known, {}):
                continue
            keys = [NOTHING, known, third, asked]
        else:  # (c): where the pairs with the sensitive item are known
            halves = [frozenset({item, sensitive}) for item in known]
            if not all(maker.known(node, key) for key in (third, *halves)):
                continue
            keys = [NOTHING, third, known, *halves, *(frozenset({item}) for item in known)]
            cells = {key: {node: maker.counts.of(node, key)} for key in keys if key in told}
            least = extremes(cells, tree, keys, node, asked, len(units))[0]
            if least > rules.theta[sensitive] * maker.counts.of(node, known):
                forced.append((seed, node, known, sensitive, least))
            continue
        least = extremes(told, tree, keys, node, asked, len(units))[0]
        if least > rules.theta[sensitive] * maker.counts.of(node, known):
            forced.append((seed, node, known, sensitive, least))
    return forced


@settings(REPEATABLE, max_examples=40)
@given(seed=SEEDS)
def test_no_told_counts_force_an_item_on_more_than_its_threshold(seed: int) -> None:
    """Claims (b) and (c), by integer programming over all data sets that agree."""
    assert broken(seed) == []


@pytest.mark.thorough
def test_nor_do_those_of_two_thousand_tables() -> None:
    assert [found for seed in range(2000) for found in broken(seed)] == []
