"""Refined groups keep every bound of every model, and are better in the order that is promised."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import ms, ppms
from oracles.refine import World
from properties.test_ms_kernel import (
    DETERMINISTIC,
    ONE,
    PROBABILITIES,
    THETAS,
    kernel_attributes,
    last_in_subtree,
    trees,
    values_of,
)
from properties.test_ppms_kernel import ALPHAS, MODELS
from support.amount import some_of

from srsql.udfs.grouping.greedy import group_cases
from srsql.udfs.grouping.refine import EFFORTS, Refinement, Standing, refine_groups
from srsql.udfs.grouping_problem import Bounding, Cases

pytestmark = pytest.mark.slow

EFFORT = pytest.mark.parametrize("effort", EFFORTS)


@dataclass(frozen=True)
class Quarter:
    """The cases of all missingness patterns, and the groups that they are in at first."""

    world: World
    group: tuple[int, ...]
    one: int = 1

    def cases(self) -> Cases:
        problem = self.world.problem
        boxes = [
            [
                (0, 0)
                if value is None
                else (value, last_in_subtree(attribute, value))
                if isinstance(attribute, ms.Categorical)
                else value
                for attribute, value in zip(problem.attributes, c.record.values, strict=True)
            ]
            for c in problem.cases
        ]
        shape = (len(boxes), len(problem.attributes))
        terms = [sorted(c.record.sensitive.items()) for c in problem.cases]
        flat = [pair for pairs in terms for pair in pairs]
        return Cases(
            low=np.array([[b[0] for b in box] for box in boxes], np.int64).reshape(shape),
            high=np.array([[b[1] for b in box] for box in boxes], np.int64).reshape(shape),
            offsets=np.cumsum([0, *map(len, terms)], dtype=np.int64),
            terms=np.array([term for term, _ in flat], np.int32),
            weights=np.array([int(p * self.one) for _, p in flat], np.int64),
            weight_scale=self.one,
        )

    def bounding(self) -> Bounding:
        problem = self.world.problem
        carrier = np.array([c.carries(problem.model) for c in problem.cases], np.bool_)
        alpha = problem.model.alpha
        kind = [1 + (not c.stops) + 2 * (not c.new) if c.substantial else 0 for c in problem.cases]
        return Bounding(
            carrier,
            carrier if problem.model.core_only else np.ones_like(carrier),
            np.array(kind if alpha is not None else [0] * len(kind), np.int8),
            *((alpha.numerator, alpha.denominator) if alpha is not None else (1, 1)),
            after_join=True,
        )

    def thetas(self) -> tuple[np.ndarray, np.ndarray]:
        thetas = list(self.world.problem.thetas.values())
        return (
            np.array([t.numerator for t in thetas], np.int64),
            np.array([t.denominator for t in thetas], np.int64),
        )

    def known(self) -> np.ndarray:
        masks = [sum(1 << i for i in self.world.known(r)) for r in self.world.everybody]
        return np.array(masks, np.int64)

    def greedy(self, more_seeds: int = 0) -> Quarter:
        """With the groups of the greedy, each pattern by itself."""
        known, group = self.known(), np.full(len(self.group), -1)
        cases, bounding = self.cases(), self.bounding()
        for pattern in sorted(set(known.tolist())):
            who = np.flatnonzero(known == pattern)
            carrier, grows = bounding.carrier[who], bounding.grows[who]
            if carrier.sum() < self.world.problem.k:
                continue
            chosen = [i for i in range(cases.low.shape[1]) if pattern >> i & 1]
            ends = [slice(cases.offsets[r], cases.offsets[r + 1]) for r in who]
            part = Cases(
                cases.low[who][:, chosen],
                cases.high[who][:, chosen],
                np.cumsum([0, *(cases.offsets[r + 1] - cases.offsets[r] for r in who)]),
                np.concatenate([cases.terms[e] for e in ends]),
                np.concatenate([cases.weights[e] for e in ends]),
                self.one,
            )
            found = group_cases(
                part,
                kernel_attributes(tuple(self.world.problem.attributes[i] for i in chosen)),
                *self.thetas(),
                self.world.problem.k,
                0,
                replace(
                    bounding,
                    carrier=carrier,
                    grows=grows,
                    kind=bounding.kind[who],
                    more_seeds=more_seeds,
                ),
            )
            group[who[found >= 0]] = found[found >= 0] + group.max() + 1
        return replace(self, group=tuple(group.tolist()))

    def attributes(self) -> object:
        return kernel_attributes(tuple(self.world.problem.attributes))

    def refined(self, effort: Refinement) -> list[int]:
        return refine_groups(
            self.cases(),
            self.attributes(),
            *self.thetas(),
            self.world.problem.k,
            self.bounding(),
            Standing(self.known(), np.array(self.group), effort),
        ).tolist()


Draw = Callable[[st.SearchStrategy], object]


@st.composite
def quarters(
    draw: Draw, model: ppms.Model, external: bool = False, largest: int = 40, least: int = 1
) -> Quarter:
    """Few cells and terms, some values missing; every case is in no group, or in the greedy's."""
    numeric = st.sampled_from([1, 2, 3, 6, 7, 30, 97]).map(ms.Numeric)
    attributes = tuple(draw(st.lists(st.one_of(numeric, trees()), min_size=0, max_size=3)))
    k = draw(st.integers(least, 5))
    allowed = [theta for theta in THETAS if k * theta >= 1]
    thetas = tuple(draw(st.lists(st.sampled_from(allowed), min_size=1, max_size=6)))
    if model.alpha is not None:
        model = ppms.Model(alpha=draw(st.sampled_from([a for a in ALPHAS if k * a >= 1])))
    probability = PROBABILITIES if external else st.just(Fraction(1))
    missing = st.sampled_from([False] * 5 + [draw(st.booleans())])
    value = [
        st.tuples(missing, values_of(a)).map(lambda pair: None if pair[0] else pair[1])
        for a in attributes
    ]
    record = st.builds(
        ms.Record,
        st.tuples(*value),
        st.dictionaries(st.integers(0, len(thetas) - 1), probability, max_size=3),
    )
    likely = st.sampled_from([True, True, False])
    case = st.builds(ppms.Case, record, likely, likely, likely.map(lambda x: not x))
    size = draw(st.integers(1, largest))
    cases = tuple(draw(st.lists(case, min_size=size, max_size=size)))
    problem = ppms.Problem(cases, attributes, k, dict(enumerate(thetas)), model)
    quarter = Quarter(World(problem), (-1,) * size, ONE if external else 1)
    return quarter.greedy() if draw(st.sampled_from([True, True, False])) else quarter


def assert_better(quarter: Quarter, refined: list[int]) -> None:
    """All bounds hold, groups are numbered by their first cases, and the order is kept."""
    world = quarter.world
    firsts = list(dict.fromkeys(g for g in refined if g >= 0))
    assert firsts == list(range(len(firsts)))
    for members in world.groups(refined):
        assert world.broken(members) == []
    before, after = world.outcome(quarter.group), world.outcome(refined)
    assert after <= before
    assert {r for r, g in enumerate(refined) if g < 0} <= {
        r for r, g in enumerate(quarter.group) if g < 0
    }


@EFFORT
@pytest.mark.parametrize("name", MODELS)
@settings(DETERMINISTIC, max_examples=some_of(60))
@given(data=st.data())
def test_refined_groups_keep_all_bounds_and_nothing_gets_worse(
    name: str, effort: Refinement, data: st.DataObject
) -> None:
    quarter = data.draw(quarters(MODELS[name]))
    assert_better(quarter, quarter.refined(effort))


@pytest.mark.parametrize("effort", ["fast", pytest.param("full", marks=pytest.mark.thorough)])
@settings(DETERMINISTIC, max_examples=some_of(60))
@given(data=st.data())
def test_so_it_is_with_external_knowledge(effort: Refinement, data: st.DataObject) -> None:
    quarter = data.draw(quarters(MODELS["ppms"], external=True))
    assert_better(quarter, quarter.refined(effort))


@pytest.mark.parametrize("name", MODELS)
@settings(DETERMINISTIC, max_examples=some_of(60))
@given(data=st.data())
def test_full_leaves_no_single_change_that_would_be_better(name: str, data: st.DataObject) -> None:
    quarter = data.draw(quarters(MODELS[name], largest=12, least=2))
    refined = quarter.refined("full")
    assert list(quarter.world.better_changes(refined)) == []
    again = replace(quarter, group=tuple(refined)).refined("full")
    assert again == refined


def random_quarter(seed: int, n: int, k: int, theta: Fraction) -> Quarter:
    """Two numbers and a category, terms of which some are frequent."""
    rng = random.Random(seed)
    tree = ms.Categorical((None, 0, 0))
    attributes = (ms.Numeric(120), ms.Numeric(60), tree)
    cases = []
    for _ in range(n):
        age, weight, sex = rng.randrange(121), rng.randrange(61), rng.randrange(1, 3)
        terms = {min(rng.randrange(12), rng.randrange(12)) for _ in range(rng.randrange(3))}
        record = ms.Record(((age, age), (weight, weight), sex), dict.fromkeys(terms, Fraction(1)))
        cases.append(ppms.Case(record))
    thetas = dict.fromkeys(range(12), theta)
    problem = ppms.Problem(tuple(cases), attributes, k, thetas, ppms.Model())
    return Quarter(World(problem), (-1,) * n).greedy()


@pytest.mark.parametrize(("theta", "most"), [("1", 1.03), ("2/3", 1.1), ("2/5", 1.1)])
def test_full_is_near_the_best_of_all_groupings(theta: str, most: float) -> None:
    ratios = []
    for seed in range(6):
        quarter = random_quarter(seed, 9, 3, Fraction(theta))
        withheld, lost = quarter.world.outcome(quarter.refined("full"))
        best_withheld, best = quarter.world.best()
        assert withheld == best_withheld
        ratios.append(float(lost / best) if best else 1.0)
    assert sum(ratios) / len(ratios) <= most


def test_the_groups_that_a_split_leaves_are_split_again() -> None:
    quarter = random_quarter(3, 60, 4, Fraction(1))
    whole = replace(quarter, group=(0,) * 60)
    refined = whole.refined("full")
    assert max(refined) >= 9
    assert quarter.world.outcome(refined)[1] < quarter.world.outcome(quarter.group)[1]


def test_a_case_withheld_for_want_of_a_group_is_placed_and_room_is_made_for_it() -> None:
    values = [(0, 0), (0, 0), (9, 9), (9, 9), (5, 5)]
    held = [{0}, {1}, {0}, {1}, {0}]
    cases = tuple(
        ppms.Case(ms.Record((value,), dict.fromkeys(terms, Fraction(1))))
        for value, terms in zip(values, held, strict=True)
    )
    thetas = {0: Fraction(3, 5), 1: Fraction(3, 5)}
    problem = ppms.Problem(cases, (ms.Numeric(9),), 2, thetas, ppms.Model())
    quarter = Quarter(World(problem), (0, 0, 1, 1, -1))
    refined = quarter.refined("fast")
    assert -1 not in refined
    assert_better(quarter, refined)


def test_a_first_record_that_completes_no_group_is_not_the_end_of_a_pattern() -> None:
    values = [0, 1, 2, 3, 100]
    held = [{1}, {1}, set(), set(), {0, 1, 2}]
    thetas = {0: Fraction(1, 2), 1: Fraction(1, 2), 2: Fraction(1, 2)}
    cases = tuple(
        ppms.Case(ms.Record(((v, v),), dict.fromkeys(terms, Fraction(1))))
        for v, terms in zip(values, held, strict=True)
    )
    problem = ppms.Problem(cases, (ms.Numeric(100),), 2, thetas, ppms.Model())
    quarter = Quarter(World(problem), (-1,) * 5)
    papers = quarter.greedy().group
    more = quarter.greedy(more_seeds=8).group
    assert more.count(-1) <= papers.count(-1)


@EFFORT
@settings(DETERMINISTIC, max_examples=some_of(40))
@given(data=st.data())
def test_refined_groups_of_l_diversity_keep_l_values_that_l_cases_hold(
    effort: Refinement, data: st.DataObject
) -> None:
    """Values 0 to 3 are of one attribute, 4 to 7 of another."""
    least = data.draw(st.integers(1, 3))
    held = data.draw(st.lists(st.sets(st.integers(0, 7), max_size=4), min_size=1, max_size=30))
    points = [data.draw(st.integers(0, 50)) for _ in held]
    cases = tuple(
        ppms.Case(ms.Record(((p, p),), dict.fromkeys(values, Fraction(1))))
        for p, values in zip(points, held, strict=True)
    )
    thetas = dict.fromkeys(range(8), Fraction(1))
    world = World(ppms.Problem(cases, (ms.Numeric(50),), least, thetas, ppms.Model()))

    def diverse(members: list[int]) -> bool:
        return all(
            len({v for r in members for v in held[r] if v // 4 == attribute}) >= least
            and sum(any(v // 4 == attribute for v in held[r]) for r in members) >= least
            for attribute in (0, 1)
        )

    whole = diverse(list(range(len(held))))
    quarter = Quarter(world, (0 if whole else -1,) * len(held))
    refined = refine_groups(
        quarter.cases(),
        quarter.attributes(),
        *quarter.thetas(),
        least,
        quarter.bounding(),
        Standing(quarter.known(), np.array(quarter.group), effort, least, np.arange(8) // 4, 2),
    ).tolist()
    assert all(diverse(members) for members in world.groups(refined))
    assert world.outcome(refined) <= world.outcome(quarter.group)
