"""What is published of count tables is checked anew, and forgeries are found."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from oracles.count_tables import NOTHING, Item, Key, Maker, Node, Rules, Told, Tree, Unit
from support.amount import some_of
from support.sql import Sql

KINDS = (("drug", "reac"), ("drug", "outc"), ("outc", "reac"))
TREE = Tree({"all": ("F", "not F"), "not F": ("M", "U"), "F": ("F65", "F0")})
THETA = Fraction(2, 5)
X, Y, S, T, H, D = (
    ("drug", "x"),
    ("drug", "y"),
    ("reac", "s"),
    ("reac", "t"),
    ("outc", "H"),
    ("outc", "D"),
)
K = 3
RULES = Rules(K, {S: THETA, T: THETA}, frozenset(frozenset(kind) for kind in KINDS))


def some_units(seed: int) -> list[Unit]:
    luck = random.Random(seed)
    share = {X: 0.3, Y: 0.25, S: 0.25, T: 0.2, H: 0.5, D: 0.1}
    return [
        (
            luck.choice(TREE.leaves("all")),
            frozenset(item for item, rate in share.items() if luck.random() < rate),
        )
        for _ in range(160)
    ]


class Published:
    """The tables of a release, and the checks of them."""

    def __init__(self, sql: Sql, units: list[Unit], told: Told, rules: Rules = RULES) -> None:
        self.sql, self.units, self.rules = sql, units, rules
        cells = [(key, n, count) for key, found in told.items() for n, count in found.items()]
        self.cells = [(sorted(key, key=str), node, count) for key, node, count in cells if count]

    def verdicts(self) -> dict[str, bool]:
        """Check -> whether it passes."""
        table = self.sql.table
        count = "stratum VARCHAR, {}cases BIGINT"
        item, other = (
            "attribute VARCHAR, term VARCHAR, ",
            "other_attribute VARCHAR, other_term VARCHAR, ",
        )
        parents = {c: p for p, children in TREE.children.items() for c in children}
        cells = ", ".join(
            table(
                name,
                columns,
                [
                    (n, *(v for i in key for v in i), c)
                    for key, n, c in self.cells
                    if len(key) == size
                ],
            )
            for size, (name, columns) in enumerate(
                (
                    ("case_count", count.format("")),
                    ("item_count", count.format(item)),
                    ("pair_count", count.format(item + other)),
                )
            )
        )
        tree = table(
            "tree",
            "stratum VARCHAR, parent VARCHAR",
            [(n, parents.get(n)) for n in TREE.nodes()],
        )
        thresholds = table(
            "thresholds",
            item + "theta_num BIGINT, theta_den BIGINT",
            [(*i, theta.numerator, theta.denominator) for i, theta in self.rules.theta.items()],
        )
        counted = table(
            "counted",
            "unit INTEGER, stratum VARCHAR",
            [(u, leaf) for u, (leaf, _) in enumerate(self.units)],
        )
        held = table(
            "held",
            "unit INTEGER, attribute VARCHAR, term VARCHAR",
            [(u, *i) for u, (_, items) in enumerate(self.units) for i in sorted(items, key=str)],
        )
        single = table("single", "attribute VARCHAR", [(name,) for name in self.rules.single])
        kinds = table("kinds", "attribute VARCHAR, other VARCHAR", KINDS)
        calls = {
            "check_count_cells": f"{cells}, {tree}, {K}",
            "check_count_theta": f"{cells}, {tree}, {thresholds}, {K}",
            "check_count_bridges": f"{cells}, {tree}, {thresholds}",
            "check_count_truth": f"{cells}, {tree}, {counted}, {held}, {single}",
            "check_count_ways_out": ", ".join(
                (cells, tree, thresholds, counted, held, kinds, str(K))
            ),
        }
        rows = [
            row
            for name, arguments in calls.items()
            for row in self.sql.records(f"SELECT * FROM srsql.{name}({arguments}, 1)")
        ]
        assert {row["measure"] for row in rows} == {*calls, "count_bridges_not_shown"}
        return {row["measure"]: row["passed"] for row in rows if row["passed"] is not None}


def honest(sql: Sql, seed: int = 1) -> Published:
    units = some_units(seed)
    return Published(sql, units, Maker(units, TREE, RULES).tell())


@pytest.mark.parametrize("seed", range(3))
def test_what_the_rules_tell_passes(sql: Any, seed: int) -> None:
    found = honest(sql, seed)
    assert {len(key) for key, _, _ in found.cells} == {0, 1, 2}
    assert set(found.verdicts().values()) == {True}


def place(published: Published, *items: Item) -> int:
    """Where a cell of these items stands."""
    wanted = sorted(items, key=str)
    return next(n for n, (key, _, _) in enumerate(published.cells) if key == wanted)


def change(published: Published, at: int, *, count: int = 0, node: Node | None = None) -> None:
    key, stratum, cases = published.cells[at]
    published.cells[at] = (key, node or stratum, cases + count)


def below_k(p: Published) -> None:
    at = place(p, X, S)
    change(p, at, count=K - 1 - p.cells[at][2])


def one_more(p: Published) -> None:
    change(p, place(p, X, S), count=1)


def one_less_unit(p: Published) -> None:
    change(p, place(p), count=-1)


def left_out(p: Published) -> None:
    del p.cells[place(p, X)]


def told_twice(p: Published) -> None:
    p.cells.append(p.cells[place(p, X)])


def sum_beside_its_parts(p: Published) -> None:
    total = sum(X in items for _, items in p.units)
    p.cells.append(([X], "all", total))


def of_no_stratum(p: Published) -> None:
    change(p, place(p, X), node="elsewhere")


def of_another_stratum(p: Published) -> None:
    at = place(p, X)
    others = {"F65", "F0", "M", "U", "not F", "F"} - {n for _, n, _ in p.cells}
    change(p, at, node=sorted(others)[0] if others else "F")


def without_a_count(p: Published) -> None:
    at = place(p, X)
    p.cells[at] = (p.cells[at][0], p.cells[at][1], None)  # type: ignore[assignment]


def beyond_theta(p: Published) -> None:
    at = place(p, X, S)
    key, node, _ = p.cells[at]
    p.cells[at] = (key, node, sum(c for other, n, c in p.cells if other == [X]))


def more_than_the_item(p: Published) -> None:
    change(p, place(p, X, H), count=1000)


def pair_without_its_item(p: Published) -> None:
    p.cells = [cell for cell in p.cells if cell[0] != [S]]


def all_but_one(p: Published) -> None:
    at = place(p, H)
    node = p.cells[at][1]
    units = sum(c for key, n, c in p.cells if not key and n in TREE.below(node))
    p.cells[at] = ([H], node, units - 1)


def another_quarter(p: Published) -> None:
    p.units = some_units(99)


def of_no_attribute(p: Published) -> None:
    p.cells.append(([(None, None)], "all", len(p.units)))  # type: ignore[list-item]


def nobody_of_the_quarter(p: Published) -> None:
    p.units = p.units[:-4]


@pytest.mark.parametrize(
    ("forge", "check"),
    [
        (below_k, "check_count_cells"),
        (told_twice, "check_count_cells"),
        (sum_beside_its_parts, "check_count_cells"),
        (of_no_stratum, "check_count_cells"),
        (without_a_count, "check_count_cells"),
        (beyond_theta, "check_count_theta"),
        (more_than_the_item, "check_count_theta"),
        (pair_without_its_item, "check_count_theta"),
        (all_but_one, "check_count_theta"),
        (one_more, "check_count_truth"),
        (one_less_unit, "check_count_truth"),
        (left_out, "check_count_truth"),
        (of_another_stratum, "check_count_truth"),
        (another_quarter, "check_count_truth"),
        (nobody_of_the_quarter, "check_count_truth"),
        (of_no_attribute, "check_count_truth"),
    ],
)
def test_a_forgery_is_found(sql: Any, forge: Callable[[Published], None], check: str) -> None:
    published = honest(sql)
    forge(published)
    assert published.verdicts()[check] is False


class WithoutG1(Maker):
    def _item_passes(self, node: Node, key: Key) -> bool:
        (item,) = key
        return self._fits(self.counts, node, item) and self.known(node, NOTHING)


class WithoutG2(Maker):
    def _forces(self, key: Key) -> bool:
        return False


class MovesAnyway(Maker):
    """Takes the sensitive item of a pair as one that may lie anywhere."""

    def _lies_elsewhere(self, *asked: Any) -> bool:
        return True


class WithoutK(Maker):
    def _pair_passes(self, node: Node, key: Key) -> bool:
        return self.counts.of(node, key) >= 1 and all(
            self.known(node, frozenset({item})) for item in key
        )


class FinestFirst(Maker):
    """Each child by itself: a stratum that does not pass is left out."""

    def _tell_group(self, group: list[Key], passes: Any) -> bool:
        for key in group:
            cells = {
                node: self.counts.of(node, key)
                for node in self.tree.leaves("all")
                if passes(node, key)
            }
            if cells:
                self.told[key] = cells
        return True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("maker", "check"),
    [
        (WithoutG1, "check_count_ways_out"),
        (WithoutG2, "check_count_ways_out"),
        (MovesAnyway, "check_count_ways_out"),
        (WithoutK, "check_count_cells"),
        (FinestFirst, "check_count_truth"),
    ],
)
def test_a_maker_that_leaves_a_rule_out_is_found(sql: Any, maker: type[Maker], check: str) -> None:
    """On some data of many; the right maker passes on all of them."""
    found = 0
    for seed in range(some_of(40)):
        luck = random.Random(seed)
        units = [
            (
                luck.choices(TREE.leaves("all"), (0.1, 0.3, 0.4, 0.2))[0],
                frozenset(
                    item
                    for item, rate in ((X, 0.7), (S, 0.3), (H, 0.75), (T, 0.35))
                    if luck.random() < rate
                ),
            )
            for _ in range(luck.randint(14, 40))
        ]
        found += not Published(sql, units, maker(units, TREE, RULES).tell()).verdicts()[check]
        right = Published(sql, units, Maker(units, TREE, RULES).tell()).verdicts()
        assert set(right.values()) == {True}, (seed, right)
    assert found


def test_a_pair_passes_whose_sensitive_item_may_lie_in_another_stratum(sql: Any) -> None:
    """8 of 14 women with x have s, and 2 men: it may as well be 2 women, and 8 men."""
    counts: list[tuple[Node, tuple[Item, ...], int]] = [
        ("F0", (X, S), 8),
        ("F0", (X,), 6),
        ("F0", (), 30),
        ("M", (S,), 2),
        ("M", (X,), 18),
        ("M", (), 30),
    ]
    units = [(leaf, frozenset(items)) for leaf, items, count in counts for _ in range(count)]
    made = Published(sql, units, Maker(units, TREE, RULES).tell())
    assert (sorted([X, S], key=str), "all", 8) in made.cells
    assert set(made.verdicts().values()) == {True}
    made.cells = [cell for cell in made.cells if cell[0] != [S]]
    made.cells += [([S], "F0", 8), ([S], "M", 2)]
    assert made.verdicts()["check_count_ways_out"] is False


@pytest.mark.parametrize(("one", "other"), [(H, S), (S, H)])
def test_a_way_out_of_one_item_is_none_of_the_other(sql: Any, one: Item, other: Item) -> None:
    """7 have both, at most 3 of them women: so 4 of the 7 men with one, and 4 of the 5 with other.

    Both are sensitive, and only the first of the two shares is within the threshold.
    """
    counts: list[tuple[Node, tuple[Item, ...], int]] = [
        ("F0", (one, other), 3),
        ("F0", (other,), 2),
        ("F0", (), 3),
        ("M", (one, other), 4),
        ("M", (one,), 3),
        ("M", (other,), 1),
        ("M", (), 4),
    ]
    units = [(leaf, frozenset(items)) for leaf, items, count in counts for _ in range(count)]
    rules = Rules(K, {H: Fraction(3, 4), S: Fraction(3, 4)}, RULES.kinds)
    forged = Published(sql, units, WithoutG2(units, TREE, rules).tell(), rules)
    assert (sorted([H, S], key=str), "all", 7) in forged.cells
    assert {name for name, passed in forged.verdicts().items() if not passed} == {
        "check_count_ways_out"
    }
    right = Published(sql, units, Maker(units, TREE, rules).tell(), rules)
    assert set(right.verdicts().values()) == {True}


def bridged() -> list[Unit]:
    """Most holders of x and of H have s, and few have both: 8 + 8 - 10 of 6."""
    counts: list[tuple[tuple[Item, ...], int]] = [
        ((X, H, S), 6),
        ((X, S), 2),
        ((H, S), 2),
        ((X,), 92),
        ((H,), 92),
        ((), 200),
    ]
    return [("M", frozenset(items)) for items, count in counts for _ in range(count)]


def test_a_maker_that_leaves_bridges_is_found(sql: Any) -> None:
    rules = Rules(K, RULES.theta, RULES.kinds, bridges=False)
    assert Published(sql, bridged(), Maker(bridged(), TREE, rules).tell()).verdicts() == {
        "check_count_cells": True,
        "check_count_theta": True,
        "check_count_bridges": False,
        "check_count_truth": True,
        "check_count_ways_out": True,
    }
    right = Published(sql, bridged(), Maker(bridged(), TREE, RULES).tell())
    assert set(right.verdicts().values()) == {True}


def test_a_term_left_out_of_a_single_valued_attribute_is_found(sql: Any) -> None:
    rules = Rules(K, RULES.theta, RULES.kinds, single=frozenset({"outc"}))
    units = [(leaf, items - {D} if H in items else items) for leaf, items in some_units(5)]
    published = Published(sql, units, Maker(units, TREE, rules).tell(), rules)
    checks = ("check_count_cells", "check_count_theta", "check_count_truth")
    assert all(published.verdicts()[check] for check in checks)
    published.cells = [cell for cell in published.cells if cell[0] != sorted([X, H], key=str)]
    assert published.verdicts()["check_count_truth"] is False
