"""The replay of a minimality attack, against worlds that plain Python enumerates."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import exp, log
from typing import Any

import numpy as np
import pytest
from support.benchmark import load

worlds, tables = load("minimality.worlds"), load("minimality.tables")
near_choice = load("minimality.near_choice")
AGES = range(5)


def by_age(values: Any, first: int) -> Any:
    """A toy algorithm: pairs by age, from case ``first`` on where ages are equal."""
    order = sorted(range(len(values)), key=lambda r: (values[r][0], (r - first) % len(values)))
    groups = np.empty(len(values), np.int64)
    groups[order] = np.arange(len(values)) // 2
    return tables.regions(np.asarray(values), groups)


def effective(weights: list[float]) -> float:
    shares = [w / sum(weights) for w in weights if w]
    return exp(-sum(share * log(share) for share in shares))


@pytest.mark.parametrize(("members", "width"), [(1, 1), (2, 1), (2, 2), (2, 5), (3, 4), (4, 3)])
def test_assignments_are_those_that_reach_both_ends(members: int, width: int) -> None:
    expected = [v for v in product(range(width), repeat=members) if {0, width - 1} <= set(v)]
    assert sorted(map(tuple, worlds.assignments(members, width).tolist())) == expected
    assert worlds.assignment_count(members, width) == len(expected)


@pytest.mark.parametrize("ages", [(0, 1, 3, 4), (0, 4, 1, 3), (2, 2, 2, 3), (0, 2, 2, 4)])
def test_an_exact_attack_is_the_one_that_tries_every_table(ages: tuple[int, ...]) -> None:
    """All ages of all cases and all first cases, of which none is left out."""
    values = np.array([(age, 3, 1) for age in ages])
    table = tables.Table(values, np.arange(5), np.zeros(4, np.int32))
    how = worlds.Replay(np.random.default_rng(1), 10_000)
    found = worlds.attack(by_age, table, 0, how)
    shown = by_age(values, 0)
    fitting = []
    kept: Counter[tuple[int, ...]] = Counter()
    for world in product(AGES, repeat=4):
        rows = np.array([(age, 3, 1) for age in world])
        hulls = all(
            rows[same].min() == shown[same][:, :3].min()
            and rows[same][:, 0].min() == shown[same][0, 0]
            and rows[same][:, 0].max() == shown[same][0, 3]
            for region in np.unique(shown, axis=0)
            for same in [(shown == region).all(axis=1)]
        )
        inside = ((shown[:, 0] <= rows[:, 0]) & (rows[:, 0] <= shown[:, 3])).all()
        if hulls and inside:
            fitting.append(world)
        for first in range(4):
            kept[world] += bool((by_age(rows, first) == shown).all())
    assert all(world in fitting for world, times in kept.items() if times)
    assert found.exact
    assert found.share == pytest.approx(kept.total() / (4 * len(fitting)))
    for case, age in enumerate(ages):
        before = Counter(world[case] for world in fitting)
        after = Counter[int]()
        for world, times in kept.items():
            after[world[case]] += times
        ratio = effective(list(after.values())) / effective(list(before.values()))
        assert found.values[case] == pytest.approx(ratio)
        hulls_of = [sum(world[c] == age for world in fitting) for c in range(4)]
        left = [sum(t for world, t in kept.items() if world[c] == age) for c in range(4)]
        assert found.candidates[case] == pytest.approx(effective(left) / effective(hulls_of))
        assert found.possible[case].tolist() == [np.count_nonzero(hulls_of), np.count_nonzero(left)]
        covering = sum(shown[c, 0] <= age <= shown[c, 3] for c in range(4))
        assert found.guess[case] == pytest.approx(
            [1 / covering, max(hulls_of) / sum(hulls_of), max(left) / sum(left)]
        )


def test_a_sample_of_worlds_comes_near_to_all_of_them() -> None:
    values = np.array([(age, 3, 1) for age in (0, 1, 3, 4)])
    table = tables.Table(values, np.arange(5), np.zeros(4, np.int32))
    exact, sampled = (
        worlds.attack(by_age, table, 0, worlds.Replay(np.random.default_rng(1), 4_000, draws))
        for draws in (False, True)
    )
    assert (exact.exact, sampled.exact) == (True, False)
    assert sampled.share == pytest.approx(exact.share, abs=0.05)
    assert sampled.candidates == pytest.approx(exact.candidates, abs=0.05)
    assert sampled.values == pytest.approx(exact.values, abs=0.05)


@pytest.mark.parametrize("k", [2, 3])
def test_the_variant_without_slack_groups_as_the_product_does(k: int) -> None:
    rng = np.random.default_rng(7)
    compared = 0
    for _ in range(150):
        n = int(rng.integers(2 * k, 10))
        values = np.column_stack(
            [rng.integers(0, 9, n), rng.integers(0, 6, n), rng.integers(1, 3, n)]
        )
        terms = [sorted(set(rng.integers(0, 20, rng.integers(1, 7)).tolist())) for _ in range(n)]
        number = {t: at for at, t in enumerate(sorted({t for held in terms for t in held}))}
        table = tables.Table(
            values,
            np.cumsum([0, *map(len, terms)]),
            np.array([number[t] for held in terms for t in held], np.int32),
        )
        first = int(rng.integers(n))
        ours, variant = table.grouped(values, "ms", k, first), table.near(values, k, first, -1.0)
        assert (ours is None) == (variant is None)
        if ours is not None:
            compared += 1
            assert (ours == variant).all()
    assert compared > 50


def test_a_draw_among_near_candidates_repeats_with_its_seed_and_keeps_k() -> None:
    values = np.array([(age, 3, 1) for age in (0, 1, 1, 2, 2, 3, 7, 8)])
    table = tables.Table(values, np.arange(9), np.arange(8, dtype=np.int32))
    drawn = []
    for _ in range(2):
        near_choice.seed_generator(3)
        drawn.append([table.near(values, 2, 0, 0.25).tolist() for _ in range(20)])
    assert drawn[0] == drawn[1]
    assert len({str(shown) for shown in drawn[0]}) > 1
    for shown in drawn[0]:
        assert min(Counter(map(tuple, shown)).values()) >= 2
