"""The replay of a minimality attack, against worlds that plain Python enumerates."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import exp, log
from typing import Any

import numpy as np
import pytest
from support.benchmark import load

pytestmark = pytest.mark.slow

worlds, tables = load("minimality.worlds"), load("minimality.tables")
near_choice = load("minimality.near_choice")
whole_quarter = load("minimality.whole_quarter")
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.parametrize("refine", ["fast", "full"])
def test_refined_groups_keep_k_and_lose_no_more(refine: str) -> None:
    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(40):
        n = int(rng.integers(4, 10))
        values = np.column_stack(
            [rng.integers(0, 9, n), rng.integers(0, 6, n), rng.integers(1, 3, n)]
        )
        table = tables.Table(values, np.arange(n + 1), np.arange(n, dtype=np.int32))
        off = table.grouped(values, "ms", 2, 0)
        on = table.grouped(values, "ms", 2, 0, refine)
        if off is not None:
            compared += 1
            assert min(Counter(map(tuple, on)).values()) >= 2
            lost = [((s[:, 3:] - s[:, :3]) * tables.UNIT).sum() for s in (on, off)]
            assert lost[0] <= lost[1]
    assert compared > 20


@pytest.mark.parametrize(("members", "width"), [(2, 3), (3, 1), (3, 2), (3, 4), (4, 3)])
def test_drawn_worlds_are_uniform_among_those_that_have_the_hull(members: int, width: int) -> None:
    low = np.array([7])
    drawn = whole_quarter.draw_worlds(
        members, low, low + width - 1, 40_000, np.random.default_rng(2)
    )
    times = Counter(map(tuple, (drawn[:, :, 0] - 7).tolist()))
    expected = set(map(tuple, worlds.assignments(members, width).tolist()))
    assert set(times) == expected
    for world in expected:
        assert times[world] / 40_000 == pytest.approx(1 / len(expected), abs=0.02)


def test_a_world_survives_where_no_exchange_and_no_move_that_is_allowed_loses_less() -> None:
    rng = np.random.default_rng(3)
    unit = np.array([10, 3, 1_200])

    def lost(*groups: Any) -> int:
        return sum(len(g) * int((np.ptp(np.array(g), axis=0) * unit).sum()) for g in groups)

    for _ in range(200):
        a, b = (
            np.column_stack([rng.integers(0, 6, m), rng.integers(0, 6, m), rng.integers(1, 3, m)])
            for m in rng.integers(2, 5, 2)
        )
        swaps = rng.random((len(a), len(b))) < 0.5
        gone, come = rng.random(len(a)) < 0.3, rng.random(len(b)) < 0.3
        before, rows_a, rows_b = lost(a, b), a.tolist(), b.tolist()
        after = [
            lost(
                [r for x, r in enumerate(rows_a) if x != i] + [rows_b[j]],
                [r for x, r in enumerate(rows_b) if x != j] + [rows_a[i]],
            )
            for i, j in np.argwhere(swaps)
        ]
        after += [
            lost([r for x, r in enumerate(rows_a) if x != i], [*rows_b, rows_a[i]])
            for i in np.flatnonzero(gone)
        ]
        after += [
            lost([*rows_a, rows_b[j]], [r for x, r in enumerate(rows_b) if x != j])
            for j in np.flatnonzero(come)
        ]
        found = whole_quarter.survive(a[None], b[None, None], swaps, gone, come, unit)
        assert found.tolist() == [float(all(each >= before for each in after))]


def test_originals_of_which_an_exchange_would_be_better_are_said_to_break_it() -> None:
    """With pairs of ages, 0 and 2 beside 1 and 9 are worse than 0 and 1 beside 2 and 9."""
    values = np.array([(age, 50, 1) for age in (0, 2, 1, 9)])
    table = tables.Table(values, np.arange(5), np.arange(4, dtype=np.int32), tables.FINE)
    own, other = np.array([0, 1]), np.array([2, 3])
    found = whole_quarter.shrink(table, own, [other], 500, np.random.default_rng(1), 2)
    assert found.broken
    values = np.array([(age, 50, 1) for age in (0, 2, 3, 5)])
    table = tables.Table(values, np.arange(5), np.arange(4, dtype=np.int32), tables.FINE)
    found = whole_quarter.shrink(table, own, [other], 500, np.random.default_rng(1), 2)
    assert not found.broken
    assert found.share == 1
