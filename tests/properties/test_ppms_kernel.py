"""The kernel gives the oracle's groups for every periodical model, and keeps their bounds."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import ms, ppms
from properties.test_ms_kernel import (
    DETERMINISTIC,
    ONE,
    POLICIES,
    PROBABILITIES,
    THETAS,
    kernel_attributes,
    kernel_cases,
    trees,
    values_of,
)
from properties.test_ms_kernel import Problem as Records
from support.amount import some_of

from srsql.udfs.grouping.greedy import group_cases
from srsql.udfs.grouping_problem import Bounding

pytestmark = pytest.mark.slow

MODELS = {
    "ppms": ppms.Model(),
    "ppms++": ppms.Model(core_only=True),
    "ppms-alpha": ppms.Model(alpha=Fraction(1)),
}
ALPHAS = [Fraction(a) for a in ("1/2", "1/4", "1/3", "2/5", "1")]


@dataclass(frozen=True)
class Problem:
    """One grouping problem of a quarter that has a past."""

    records: Records
    cases: tuple[ppms.Case, ...]
    model: ppms.Model

    def oracle(self, leftovers: str) -> list[int]:
        return ppms.group(self.reference(), self.records.first, leftovers)

    def reference(self) -> ppms.Problem:
        thetas = dict(enumerate(self.records.thetas))
        unit = Fraction(1, self.records.one)
        return ppms.Problem(
            self.cases, self.records.attributes, self.records.k, thetas, self.model, unit
        )

    def kernel(self, leftovers: str) -> list[int]:
        carrier = np.array([c.carries(self.model) for c in self.cases], dtype=np.bool_)
        alpha = self.model.alpha
        kind = [1 + (not c.stops) + 2 * (not c.new) if c.substantial else 0 for c in self.cases]
        found = group_cases(
            kernel_cases(self.records),
            kernel_attributes(self.records.attributes),
            np.array([t.numerator for t in self.records.thetas], dtype=np.int64),
            np.array([t.denominator for t in self.records.thetas], dtype=np.int64),
            self.records.k,
            self.records.first,
            Bounding(
                carrier,
                carrier if self.model.core_only else np.ones_like(carrier),
                np.array(kind if alpha is not None else [0] * len(kind), dtype=np.int8),
                *((alpha.numerator, alpha.denominator) if alpha is not None else (1, 1)),
                after_join=True,
                from_last=alpha is not None,
                leftovers=leftovers,
            ),
        )
        return found.tolist()

    def growers(self) -> int:
        return sum(c.carries(self.model) or not self.model.core_only for c in self.cases)


def assert_bounds_hold(problem: Problem, groups: list[int]) -> None:
    """Definition 7 of Huang 2021 in every group, whoever else other releases exclude."""
    reference = problem.reference()
    numbers = sorted(set(groups) - {-1})
    assert numbers == list(range(len(numbers)))
    for number in numbers:
        members = [m for m, g in enumerate(groups) if g == number]
        core = reference.carriers(members)
        assert core >= problem.records.k
        for term, theta in enumerate(problem.records.thetas):
            held = ms.sigma([problem.cases[m].record for m in members], term)
            assert theta == 1 or held <= theta * core
        if problem.model.alpha is not None:
            others = [m for m in members if not problem.cases[m].carries(problem.model)]
            if len(others) <= 10:
                assert ppms.worst_share(reference, members) <= problem.model.alpha


def assert_kernel_equals_oracle(problem: Problem, leftovers: str) -> None:
    groups = problem.kernel(leftovers)
    assert_bounds_hold(problem, groups)
    assert groups == problem.oracle(leftovers)


Draw = Callable[[st.SearchStrategy], object]


@st.composite
def problems(draw: Draw, model: ppms.Model, external: bool, largest: int = 45) -> Problem:
    """Few cells, few terms: many ties, and risks that bind. k·θ and k·α are at least 1."""
    numeric = st.sampled_from([1, 2, 3, 4, 6, 7, 30, 97]).map(ms.Numeric)
    attributes = tuple(draw(st.lists(st.one_of(numeric, trees()), min_size=0, max_size=3)))
    k = draw(st.integers(1, 5))
    allowed = [theta for theta in THETAS if k * theta >= 1]
    thetas = tuple(draw(st.lists(st.sampled_from(allowed), min_size=1, max_size=8)))
    if model.alpha is not None:
        model = ppms.Model(alpha=draw(st.sampled_from([a for a in ALPHAS if k * a >= 1])))
    probability = PROBABILITIES if external else st.just(Fraction(1))
    record = st.builds(
        ms.Record,
        st.tuples(*map(values_of, attributes)),
        st.dictionaries(st.integers(0, len(thetas) - 1), probability, max_size=3),
    )
    likely = st.sampled_from([True, True, False])
    case = st.builds(ppms.Case, record, likely, likely, likely.map(lambda x: not x))
    size = draw(st.integers(1, largest))
    cases = tuple(draw(st.lists(case, min_size=size, max_size=size)))
    growers = sum(c.carries(model) or not model.core_only for c in cases)
    first = draw(st.integers(0, max(0, growers - 1)))
    records = Records(
        tuple(c.record for c in cases), attributes, thetas, k, first, ONE if external else 1
    )
    return Problem(records, cases, model)


@pytest.mark.parametrize("leftovers", POLICIES)
@pytest.mark.parametrize("name", list(MODELS))
@settings(DETERMINISTIC, max_examples=some_of(60))
@given(data=st.data())
def test_kernel_equals_oracle_on_any_quarter(
    name: str, leftovers: str, data: st.DataObject
) -> None:
    assert_kernel_equals_oracle(data.draw(problems(MODELS[name], external=False)), leftovers)


@pytest.mark.parametrize("name", list(MODELS))
@settings(DETERMINISTIC, max_examples=some_of(30))
@given(data=st.data())
def test_kernel_equals_oracle_with_external_knowledge(name: str, data: st.DataObject) -> None:
    assert_kernel_equals_oracle(data.draw(problems(MODELS[name], external=True)), "withhold")


def seeded_problem(seed: int, size: int, model: ppms.Model, degenerate: bool) -> Problem:
    """Ages, weights and sexes (``degenerate``: sex alone), old cases as boxes, a tail of terms."""
    rng = random.Random(seed)
    sex = ms.Categorical((None, 0, 0))
    attributes: tuple[ms.Attribute, ...] = (sex,)
    if not degenerate:
        attributes = (ms.Numeric(120), ms.Numeric(400), sex)
    thetas = tuple(rng.choice([Fraction(2, 5), Fraction(1, 5), Fraction(1, 3)]) for _ in range(40))

    def case() -> ppms.Case:
        new = rng.random() < 0.7
        age, weight = rng.randrange(0, 121, 5), rng.randrange(0, 401, 20)
        wide = 0 if new else rng.choice([0, 5, 10])
        values = ((age, min(120, age + wide)), (weight, min(400, weight + 3 * wide)))
        terms = {int(40 * rng.random() ** 2) for _ in range(rng.randint(0, 4))}
        box = (rng.choice([1, 1, 2, 2] if new else [0, 1, 2]),)
        record = ms.Record(
            box if degenerate else (*values, *box), dict.fromkeys(terms, Fraction(1))
        )
        return ppms.Case(record, new, rng.random() < 0.8, len(terms) == 4)

    cases = tuple(case() for _ in range(size))
    records = Records(tuple(c.record for c in cases), attributes, thetas, 5, 0, 1)
    first = rng.randrange(Problem(records, cases, model).growers())
    records = Records(records.records, attributes, thetas, 5, first, 1)
    return Problem(records, cases, model)


@pytest.mark.thorough
@pytest.mark.parametrize("degenerate", [False, True], ids=["three QIDs", "sex alone"])
@pytest.mark.parametrize(
    "model",
    [ppms.Model(), ppms.Model(core_only=True), ppms.Model(alpha=Fraction(2, 5))],
    ids=list(MODELS),
)
def test_kernel_equals_oracle_on_four_hundred_cases(model: ppms.Model, degenerate: bool) -> None:
    """Large enough that a leftover looks up the holders of its terms."""
    assert_kernel_equals_oracle(seeded_problem(3, 400, model, degenerate), "withhold")


def point(weight: int, *terms: int) -> ms.Record:
    return ms.Record(((weight, weight),), dict.fromkeys(terms, Fraction(1)))


def test_an_old_case_counts_towards_sigma_but_not_towards_k() -> None:
    cases = (
        ppms.Case(point(0, 0), new=False),
        ppms.Case(point(0)),
        ppms.Case(point(1, 0)),
        ppms.Case(point(2)),
    )
    records = Records(tuple(c.record for c in cases), (ms.Numeric(10),), (Fraction(1, 2),), 2, 0, 1)
    problem = Problem(records, cases, ppms.Model())
    assert problem.kernel("withhold") == problem.oracle("withhold") == [0, 0, -1, 0]


def test_fewer_carriers_than_k_release_nobody() -> None:
    cases = tuple(ppms.Case(point(i), new=i < 2) for i in range(6))
    records = Records(tuple(c.record for c in cases), (ms.Numeric(10),), (Fraction(1),), 3, 0, 1)
    for model in MODELS.values():
        assert Problem(records, cases, model).kernel("withhold") == [-1] * 6


def test_alpha_is_kept_in_what_exclusions_leave() -> None:
    """Huang's Table 3, 2011Q2: 1 of 5 is within 1/4, but the two old cases can be excluded."""
    alpha = Fraction(1, 4)
    k = ceil(1 / alpha)
    cases = (
        *(ppms.Case(point(5)) for _ in range(k)),
        *(ppms.Case(point(5), new=False) for _ in range(3)),
        ppms.Case(point(5), new=False, substantial=True),
        ppms.Case(point(5), new=False, substantial=True),
    )
    records = Records(tuple(c.record for c in cases), (ms.Numeric(10),), (Fraction(1),), k, 0, 1)
    problem = Problem(records, cases, ppms.Model(alpha=alpha))
    groups = problem.kernel("withhold")
    assert groups == problem.oracle("withhold")
    assert groups.count(-1) == 1
