"""HAVING, LIMIT and OFFSET against every count that the bounds leave possible."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace
from typing import Any

import sqlglot

from srsql.engine.query.aggregates import Measure
from srsql.engine.query.chosen_groups import Group, chosen
from srsql.engine.query.having import Having, read_having
from srsql.engine.query.question import Order

ORDERS: list[tuple[Order, ...]] = [
    (),
    (Order(None, True, False),),
    (Order(None, False, False),),
    (Order(0, True, False),),
]
CONDITIONS = [None, "n > 2", "NOT n BETWEEN 2 AND 4", "n = 1 OR 4 <= n", "n IN (0, 3)", "n <> 2",
              "n < 3.5 AND NOT n = 2"]  # fmt: skip


def having_of(text: str | None) -> Having | None:
    tree = sqlglot.parse_one(f"SELECT 1 HAVING {text}", read="duckdb") if text else None
    return read_having(tree.args["having"] if tree else None, lambda node: 0)


def holds(text: str | None, count: int) -> bool:
    """By Python, whose words for it are alike."""
    if text is None:
        return True
    if "BETWEEN" in text:
        return not 2 <= count <= 4
    words = text.replace("NOT", "not").replace("OR", "or").replace("AND", "and")
    words = words.replace("IN", "in").replace(" = ", " == ").replace("<>", "!=")
    return bool(eval(words, {"n": count}))


def left(
    counts: dict[str, int], order: tuple[Order, ...], text: str | None, start: int, stop: int
) -> set[str]:
    """The groups of one world, ties broken by their names."""
    names = sorted(name for name, count in counts.items() if count and holds(text, count))
    for key in order:
        if key.group is None:
            names.sort(key=counts.__getitem__, reverse=key.descending)
            # a stable sort that is reversed keeps the order of ties
        elif key.descending:
            names.reverse()
    return set(names[start:stop])


def test_certain_groups_are_left_in_every_world_and_the_others_in_some() -> None:
    rng = random.Random(5)
    outcomes = {"certain": 0, "possible": 0, "out": 0}
    for _ in range(500):
        bounds = {"d": (rng.randint(1, 6),) * 2}
        for g in "abc"[: rng.randint(1, 3)]:
            low, high = sorted(rng.choices(range(7), k=2))
            bounds[g] = low, max(1, high)
        order, text = rng.choice(ORDERS), rng.choice(CONDITIONS)
        limit, start = rng.choice([None, 1, 2, 3]), rng.choice([0, 0, 0, 1])
        question: Any = SimpleNamespace(
            groups=(("g", None),), order=order, limit=limit, offset=start,
            having=having_of(text), measures=(Measure("n", "rows", None),),
        )  # fmt: skip
        groups = [
            Group((g,), ((low, (low + high) / 2, high, 0),), low > 0, (False,))
            for g, (low, high) in bounds.items()
        ]
        found = {group.key[0]: group.is_certain for group in chosen(question, groups, 0)}
        stop = len(groups) if limit is None else start + limit
        worlds = [
            left(dict(zip(bounds, counts, strict=True)), order, text, start, stop)
            for counts in itertools.product(*(range(lo, hi + 1) for lo, hi in bounds.values()))
        ]
        always, ever = set.intersection(*worlds), set.union(*worlds)
        certain = {g for g, is_certain in found.items() if is_certain}
        if limit is None and not start and text is None:
            assert set(found) == set(bounds)  # nothing is cut: no group is told apart
            continue
        assert certain <= always
        assert ever <= set(found)
        if text is None:
            assert (certain, ever) == (always, set(found))
        outcomes["certain"] += len(certain)
        outcomes["possible"] += len(found) - len(certain)
        outcomes["out"] += len(bounds) - len(found)
    assert min(outcomes.values()) > 50


def test_nothing_is_certain_that_a_group_no_row_shows_may_come_before() -> None:
    order = (Order(None, True, False),)
    question: Any = SimpleNamespace(
        groups=(("g", None),), order=order, limit=1, offset=0, having=None,
        measures=(Measure("n", "cases", "t0"),),
    )  # fmt: skip
    groups = [Group(("a",), ((9, 9.0, 9, 9),), True, (False,)),
              Group(("b",), ((3, 3.0, 3, 3),), True, (False,))]  # fmt: skip
    for hidden, is_certain in ((0, True), (8, True), (9, False)):
        assert [(g.key[0], g.is_certain) for g in chosen(question, groups, hidden)] == [
            ("a", is_certain)
        ]
