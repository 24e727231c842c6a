"""Cases that never meet are refined apart, and have the groups that all of them have at once."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import ms, ppms
from oracles.refine import World
from properties.test_ms_kernel import DETERMINISTIC
from properties.test_refine_kernel import Quarter
from support.amount import some_of
from support.lanes import thorough_but

from srsql.udfs.grouping import refine
from srsql.udfs.grouping.refine import Refinement, Standing, parts_by_known, refine_groups


def quarter_of(seed: int, joined: int, amount: tuple[int, int] = (40, 300)) -> Quarter:
    """Cases that know other things, all in groups of the greedy; so many of them join another's."""
    rng = random.Random(seed)
    attributes = (ms.Numeric(40), ms.Numeric(30), ms.Categorical((None, 0, 0)))
    known = [rng.choice([7, 7, 6, 5, 3, 4, 0]) for _ in range(rng.randrange(*amount))]
    cases = []
    for pattern in known:
        age, weight, sex = rng.randrange(41), rng.randrange(31), rng.randrange(1, 3)
        values = [(age, age), (weight, weight), sex]
        shown = [value if pattern >> i & 1 else None for i, value in enumerate(values)]
        terms = {rng.randrange(12) for _ in range(rng.randrange(3))}
        cases.append(ppms.Case(ms.Record(tuple(shown), dict.fromkeys(terms, Fraction(1)))))
    problem = ppms.Problem(
        tuple(cases), attributes, 3, dict.fromkeys(range(12), Fraction(2, 3)), ppms.Model()
    )
    drawn = Quarter(World(problem), (-1,) * len(cases)).greedy()
    placed = [r for r, g in enumerate(drawn.group) if g >= 0]
    group = [drawn.group[r] for r in placed]
    for _ in range(joined):
        one, other = rng.choice(group), rng.choice(group)
        group = [other if g == one else g for g in group]
    left = replace(problem, cases=tuple(cases[r] for r in placed))
    return Quarter(World(left), tuple(group))


def refined(quarter: Quarter, effort: Refinement, threads: int) -> list[int]:
    groups = np.array(quarter.group, np.int64)
    return refine_groups(
        quarter.cases(), quarter.attributes(), *quarter.thetas(), quarter.world.problem.k,
        quarter.bounding(), Standing(quarter.known(), groups, effort, threads=threads),
    ).tolist()  # fmt: skip


def as_one_part(known: Any, group: Any) -> Any:
    return np.zeros(len(known), np.int64)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joined", "effort"),
    thorough_but(
        [(0, "fast"), (1, "fast"), (1, "full"), (4, "fast")],
        product([0, 1, 4], ["fast", "full"]),
    ),
)
def test_the_groups_are_those_of_one_part(
    monkeypatch: pytest.MonkeyPatch, effort: Refinement, joined: int
) -> None:
    parts = 0
    for seed in range(12):
        quarter = quarter_of(seed, joined)
        parts = max(parts, len(set(parts_by_known(quarter.known(), np.array(quarter.group)))))
        found = [refined(quarter, effort, threads) for threads in (1, 3)]
        with monkeypatch.context() as patch:
            patch.setattr(refine, "parts_by_known", as_one_part)
            at_once = refined(quarter, effort, 1)
        assert found == [at_once, at_once]
        assert at_once != list(quarter.group)
    assert parts > 2 or joined > 1


def parts_refined(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of how many parts there are, whenever groups are refined from now on."""
    told: list[int] = []
    once = refine._refined

    def seen(*task: Any) -> Any:
        told.append(int(task[-1].max()) + 1)
        return once(*task)

    monkeypatch.setattr(refine, "_refined", seen)
    return told


def test_a_part_that_rests_goes_on_while_another_becomes_better(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of these cases a part has a pass that changes nothing and leaves a group to be looked at,
    which becomes better in the pass that another part needs."""
    quarter = quarter_of(48, 0, (600, 1500))
    apart = refined(quarter, "fast", 2)
    monkeypatch.setattr(refine, "parts_by_known", as_one_part)
    assert apart == refined(quarter, "fast", 1)


def test_where_a_part_has_no_room_all_are_refined_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One group of many cases falls apart into more than there is room for beside another part."""
    quarter = quarter_of(5, 0)
    known = quarter.known()
    patterns = {pattern: at for at, pattern in enumerate(sorted(set(known.tolist())))}
    whole = replace(quarter, group=tuple(patterns[pattern] for pattern in known.tolist()))
    thetas = dict.fromkeys(range(12), Fraction(1))
    problem = replace(whole.world.problem, thetas=thetas, k=1)
    whole = replace(whole, world=World(problem))
    told = parts_refined(monkeypatch)
    found = refined(whole, "full", 2)
    monkeypatch.setattr(refine, "parts_by_known", as_one_part)
    assert found == refined(whole, "full", 1)
    assert told == [len(patterns), 1, 1]


def test_a_part_of_one_small_group_does_not_have_all_refined_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has no room for another group, and never asks for one."""
    told = parts_refined(monkeypatch)
    small, seeds = 0, range(30)
    for seed in seeds:
        quarter = quarter_of(seed, 0)
        group, twice = np.array(quarter.group), 2 * quarter.world.problem.k
        cases = np.bincount(parts_by_known(quarter.known(), group))
        small += cases.min() < twice
        refined(quarter, "fast", 1)
    assert small > 0
    assert len(told) == len(seeds)
    assert min(told) > 1


@settings(DETERMINISTIC, max_examples=some_of(200))
@given(cases=st.lists(st.tuples(st.integers(0, 31), st.integers(0, 9)), min_size=1, max_size=14))
def test_no_case_can_go_to_a_group_of_another_part(cases: list[tuple[int, int]]) -> None:
    """What a group of a part shows is what some of its cases all know: any such set is tried."""
    known, group = (np.array(column, np.int64) for column in zip(*cases, strict=True))
    part = parts_by_known(known, group).tolist()
    assert sorted(set(part)) == list(range(max(part) + 1))
    for own in set(group.tolist()):
        assert len({p for p, g in zip(part, group.tolist(), strict=True) if g == own}) == 1
    shown: dict[int, set[int]] = {own: set() for own in part}
    for own, masks in shown.items():
        for mask in {k for k, p in zip(known.tolist(), part, strict=True) if p == own}:
            masks |= {mask} | {mask & other for other in masks}
    for own, mask in zip(part, known.tolist(), strict=True):
        for now in shown[own]:
            for other in set(part) - {own}:
                assert not any(now & ~to == 0 and to & ~mask == 0 for to in shown[other])


def test_cases_in_groups_of_what_they_know_are_apart_and_one_without_a_group_is_with_all() -> None:
    known, group = np.array([3, 1, 3, 1, 0]), np.array([0, 1, 0, 1, 2])
    assert parts_by_known(known, group).tolist() == [2, 1, 2, 1, 0]
    group[4] = -1
    assert parts_by_known(known, group).tolist() == [0] * 5
    assert parts_by_known(np.array([3, 1]), np.array([0, 0])).tolist() == [0, 0]


def test_among_too_many_known_sets_none_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    known = np.array([3, 1, 0])
    assert parts_by_known(known, np.arange(3)).tolist() == [2, 1, 0]
    monkeypatch.setattr(refine, "MASKS", 2)
    assert parts_by_known(known, np.arange(3)).tolist() == [0] * 3
