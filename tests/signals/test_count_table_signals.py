"""Count tables are read from themselves alone: exact where told, bounds around the truth else."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest
from oracles.count_tables import NOTHING, Counts, Item, Key, Maker, Node, Rules, Told, Tree, Unit
from oracles.signals import measures
from support.count_tables import without_empty
from support.sql import Sql

TREE = Tree({"all": ("F", "not F"), "not F": ("M", "U"), "F": ("F65", "F0")})
ITEMS: list[Item] = [("drug", t) for t in "ab"] + [("reac", t) for t in "pq"] + [("outc", "H")]
RULES = Rules(
    3,
    {item: Fraction(2, 5) for item in ITEMS[2:4]},
    frozenset(frozenset(kind) for kind in (("drug", "reac"), ("drug", "outc"), ("outc", "reac"))),
)


def world(seed: int) -> list[Unit]:
    luck = random.Random(seed)
    share = {item: luck.choice((0.05, 0.15, 0.3)) for item in ITEMS}
    return [
        (
            luck.choices(TREE.leaves("all"), (0.1, 0.4, 0.4, 0.1))[0],
            frozenset(item for item in ITEMS if luck.random() < share[item]),
        )
        for _ in range(luck.randint(30, 200))
    ]


def publish(sql: Sql, told: Told) -> str:
    """The published tables and the tree, as arguments."""
    item = "attribute VARCHAR, term VARCHAR, "
    columns = ("", item, item + "other_attribute VARCHAR, other_term VARCHAR, ")
    tables = []
    for size, name in enumerate(("case_count", "item_count", "pair_count")):
        rows = [
            (node, *(part for found in sorted(key, key=str) for part in found), count)
            for key, cells in told.items()
            for node, count in cells.items()
            if len(key) == size and count
        ]
        tables.append(sql.table(name, f"stratum VARCHAR, {columns[size]}cases BIGINT", rows))
    parents = {child: parent for parent, found in TREE.children.items() for child in found}
    tree = [(node, parents.get(node)) for node in TREE.nodes()]
    return ", ".join([*tables, sql.table("tree", "stratum VARCHAR, parent VARCHAR", tree)])


def known(told: Told, node: Node, key: Key) -> bool:
    """Whether no told cell of the key is wider than the stratum."""
    return key in told and not any(
        node in TREE.below(cell) and cell != node for cell, count in told[key].items() if count
    )


def least_margin(told: Told, counts: Counts, node: Node, key: Key) -> int:
    """By rule R5: of what contains the stratum or is told of fewer items, the least."""
    found = []
    for size in range(len(key) + 1):
        for part in (frozenset(items) for items in combinations(key, size)):
            if known(told, node, part):
                found.append(counts.of(node, part))
            elif part in told:
                found += [n for cell, n in told[part].items() if n and node in TREE.below(cell)]
    return min(found)


@pytest.mark.parametrize("seed", range(12))
def test_counts_are_exact_where_told_and_bounded_by_told_margins_else(sql: Any, seed: int) -> None:
    units = world(seed)
    maker = Maker(units, TREE, RULES)
    told, counts = maker.tell(), Counts(units, TREE)
    keys = [frozenset(items) for size in range(3) for items in combinations(ITEMS, size)]
    asked = [(node, key) for node in TREE.nodes() for key in keys]
    table = sql.table(
        "asked",
        "ask INTEGER, stratum VARCHAR, attribute VARCHAR, term VARCHAR, "
        "other_attribute VARCHAR, other_term VARCHAR",
        [
            (n, node, *((*(v for item in sorted(key) for v in item), None, None, None, None)[:4]))
            for n, (node, key) in enumerate(asked)
        ],
    )
    rows = sql.rows(
        f"SELECT b.ask, b.lower, b.upper, b.exact "
        f"FROM srsql.count_table_bounds({publish(sql, told)}, {table}) AS b ORDER BY b.ask"
    )
    assert [row[0] for row in rows] == list(range(len(asked)))
    for (node, key), (_, lower, upper, exact) in zip(asked, rows, strict=True):
        truth = counts.of(node, key)
        assert exact == known(told, node, key), (node, key)
        assert (lower, upper) == (
            (truth, truth) if exact else (0, least_margin(told, counts, node, key))
        ), (node, key)
        assert lower <= truth <= upper
    assert any(row[3] for row in rows)
    assert not all(row[3] for row in rows)


def test_bounds_do_not_tell_for_what_reason_a_pair_is_untold(sql: Any) -> None:
    """2 of 57 are below k, and 40 of 57 above theta: of both pairs 0 to 57 is known."""
    rare, frequent, reaction = ITEMS[:3]
    made: list[tuple[tuple[Item, ...], int]] = [
        ((rare, reaction), 2),
        ((rare,), 55),
        ((frequent, reaction), 40),
        ((frequent,), 17),
        ((reaction,), 58),
        ((), 200),
    ]
    units = [("M", frozenset(items)) for items, count in made for _ in range(count)]
    told = without_empty(Maker(units, TREE, RULES).tell())
    assert told == {NOTHING: {"M": 372}} | {
        frozenset({item}): {"M": count}
        for item, count in zip(ITEMS[:3], (57, 57, 100), strict=True)
    }
    asked = sql.table(
        "asked",
        "ask INTEGER, stratum VARCHAR, attribute VARCHAR, term VARCHAR, "
        "other_attribute VARCHAR, other_term VARCHAR",
        [
            (number, stratum, *drug, *reaction)
            for number, (drug, stratum) in enumerate(product((rare, frequent), ("all", "M")))
        ],
    )
    rows = sql.rows(
        f"SELECT b.lower, b.upper, b.exact "
        f"FROM srsql.count_table_bounds({publish(sql, told)}, {asked}) AS b"
    )
    assert rows == [(0, 57, False)] * 4


@pytest.mark.parametrize("stratum", ["all", "F", "not F", "M"])
@pytest.mark.parametrize("seed", range(4))
def test_signals_of_told_pairs_are_those_of_the_originals(
    sql: Any, seed: int, stratum: str
) -> None:
    units = world(seed)
    maker = Maker(units, TREE, RULES)
    told, counts = maker.tell(), Counts(units, TREE)
    tables = f"srsql.count_table_pairs({publish(sql, told)}, 'drug', 'reac', '{stratum}')"
    sql.rows(f"CREATE OR REPLACE TEMP TABLE told_pair AS SELECT * FROM {tables}")
    rows = sql.records("SELECT * FROM srsql.signal_measures('temp.main.told_pair')")
    expected = {
        (drug[1], reaction[1])
        for drug in ITEMS[:2]
        for reaction in ITEMS[2:4]
        if known(told, stratum, frozenset({drug, reaction}))
        and counts.of(stratum, {drug, reaction})
    }
    assert {(row["drug"], row["reaction"]) for row in rows} == expected
    for row in rows:
        drug, reaction = ("drug", row["drug"]), ("reac", row["reaction"])
        both = counts.of(stratum, {drug, reaction})
        b, c = counts.of(stratum, {drug}) - both, counts.of(stratum, {reaction}) - both
        d = counts.of(stratum, NOTHING) - both - b - c
        assert (row["a"], row["b"], row["c"], row["d"]) == (both, b, c, d)
        for name, value in measures(both, b, c, d).items():
            if name in row:
                assert row[name] == pytest.approx(value, rel=1e-12)
