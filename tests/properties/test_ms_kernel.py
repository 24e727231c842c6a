"""The fast kernel of MS(k, θ*)-bounding gives the oracle's groups, ties included."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from oracles import ms
from support.amount import some_of

from srsql.udfs.grouping.greedy import ms_group
from srsql.udfs.grouping_problem import Attributes, Cases

pytestmark = pytest.mark.slow

POLICIES = ("withhold", "merge")
THETAS = tuple(Fraction(t) for t in ("1", "1/2", "2/5", "3/5", "1/3", "1/5", "2/3", "3/7"))

# lcm(1..20) · 27720: fine enough to tell products of 1/|E(d)| apart; p is rounded up to it.
ONE = 232792560 * 27720


@dataclass(frozen=True)
class Problem:
    """One grouping problem in the oracle's words; terms are numbered from 0."""

    records: tuple[ms.Record, ...]
    attributes: tuple[ms.Attribute, ...]
    thetas: tuple[Fraction, ...]
    k: int
    first: int
    one: int = 1

    def oracle(self, leftovers: str) -> list[int]:
        thetas = dict(enumerate(self.thetas))
        unit = Fraction(1, self.one)
        return ms.group(self.records, self.attributes, self.k, thetas, self.first, leftovers, unit)

    def kernel(self, leftovers: str) -> list[int]:
        found = ms_group(
            kernel_cases(self),
            kernel_attributes(self.attributes),
            np.array([t.numerator for t in self.thetas], dtype=np.int64),
            np.array([t.denominator for t in self.thetas], dtype=np.int64),
            self.k,
            self.first,
            leftovers,
        )
        assert (found.dtype, found.shape) == (np.dtype(np.int32), (len(self.records),))
        return found.tolist()


def last_in_subtree(tree: ms.Categorical, node: int) -> int:
    return max(n for n in range(len(tree.parent)) if node in tree.path(n))


def kernel_attributes(attributes: tuple[ms.Attribute, ...]) -> Attributes:
    trees = [a if isinstance(a, ms.Categorical) else ms.Categorical(()) for a in attributes]
    nodes = [(tree, node) for tree in trees for node in range(len(tree.parent))]
    parents = [tree.parent[node] for tree, node in nodes]
    return Attributes(
        span=np.array([getattr(a, "span", 0) for a in attributes], dtype=np.int64),
        tree_start=np.cumsum([0, *(len(tree.parent) for tree in trees)], dtype=np.int64),
        parent=np.array([-1 if p is None else p for p in parents], dtype=np.int64),
        last=np.array([last_in_subtree(*node) for node in nodes], dtype=np.int64),
        height=np.array([tree.height(node) for tree, node in nodes], dtype=np.int64),
    )


def kernel_cases(problem: Problem) -> Cases:
    boxes = [
        [
            (value, last_in_subtree(attribute, value))
            if isinstance(attribute, ms.Categorical)
            else value
            for attribute, value in zip(problem.attributes, record.values, strict=True)
        ]
        for record in problem.records
    ]
    shape = (len(problem.records), len(problem.attributes))
    terms = [sorted(record.sensitive.items()) for record in problem.records]
    flat = [pair for pairs in terms for pair in pairs]
    return Cases(
        low=np.array([[b[0] for b in box] for box in boxes], dtype=np.int64).reshape(shape),
        high=np.array([[b[1] for b in box] for box in boxes], dtype=np.int64).reshape(shape),
        offsets=np.cumsum([0, *map(len, terms)], dtype=np.int64),
        terms=np.array([term for term, _ in flat], dtype=np.int32),
        weights=np.array([int(p * problem.one) for _, p in flat], dtype=np.int64),
        weight_scale=problem.one,
    )


Draw = Callable[[st.SearchStrategy], object]


@st.composite
def trees(draw: Draw) -> ms.Categorical:
    """A random tree in preorder: every next node hangs on the path of the one before it."""
    parent: list[int | None] = [None]
    for node in range(1, draw(st.integers(1, 9))):
        path = ms.Categorical(tuple(parent)).path(node - 1)
        parent.append(draw(st.sampled_from(path)))
    return ms.Categorical(tuple(parent))


def values_of(attribute: ms.Attribute) -> st.SearchStrategy:
    """Points mostly, some boxes; leaves and inner nodes alike."""
    if isinstance(attribute, ms.Categorical):
        return st.integers(0, len(attribute.parent) - 1)
    point = st.integers(0, attribute.span)
    box = st.tuples(point, point).map(lambda pair: (min(pair), max(pair)))
    return st.one_of(point.map(lambda p: (p, p)), point.map(lambda p: (p, p)), box)


def inferred_probability(sizes: list[int]) -> Fraction:
    """1 - Π (1 - 1/|E(d)|), rounded up to units of 1/ONE."""
    missed = Fraction(1)
    for size in sizes:
        missed *= 1 - Fraction(1, size)
    return Fraction(ceil((1 - missed) * ONE), ONE)


PROBABILITIES = st.one_of(
    st.just(Fraction(1)),
    st.lists(st.integers(2, 13), min_size=1, max_size=3).map(inferred_probability),
)


@st.composite
def problems(draw: Draw, external: bool, largest: int = 60) -> Problem:
    """Few cells, few terms: many ties, and a risk that binds. k·θ >= 1 as in every release."""
    numeric = st.sampled_from([1, 2, 3, 4, 6, 7, 30, 97]).map(ms.Numeric)
    attributes = tuple(draw(st.lists(st.one_of(numeric, trees()), min_size=1, max_size=4)))
    k = draw(st.integers(1, 7))
    allowed = [theta for theta in THETAS if k * theta >= 1]
    uniform = draw(st.booleans())
    choice = st.just(draw(st.sampled_from(allowed))) if uniform else st.sampled_from(allowed)
    thetas = tuple(draw(st.lists(choice, min_size=1, max_size=8)))
    probability = PROBABILITIES if external else st.just(Fraction(1))
    record = st.builds(
        ms.Record,
        st.tuples(*map(values_of, attributes)),
        st.dictionaries(st.integers(0, len(thetas) - 1), probability, max_size=3),
    )
    size = draw(st.integers(1, largest))
    records = tuple(draw(st.lists(record, min_size=size, max_size=size)))
    first = draw(st.integers(0, size - 1))
    return Problem(records, attributes, thetas, k, first, ONE if external else 1)


def assert_bounds_hold(problem: Problem, groups: list[int]) -> None:
    """Definition 3 in every group, exactly; groups are numbered without gaps."""
    numbers = sorted(set(groups) - {-1})
    assert numbers == list(range(len(numbers)))
    for number in numbers:
        members = [record for record, g in zip(problem.records, groups, strict=True) if g == number]
        assert len(members) >= problem.k
        for term, theta in enumerate(problem.thetas):
            assert ms.confidence(members, term) <= theta


def assert_kernel_equals_oracle(problem: Problem, leftovers: str) -> None:
    groups = problem.kernel(leftovers)
    assert_bounds_hold(problem, groups)
    assert groups == problem.oracle(leftovers)


# No shrinking: with an oracle run at every step it takes minutes.
DETERMINISTIC = settings(
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize(
    "leftovers", ["withhold", pytest.param("merge", marks=pytest.mark.thorough)]
)
@settings(DETERMINISTIC, max_examples=some_of(75))
@given(problem=problems(external=False))
def test_kernel_equals_oracle_on_any_problem(problem: Problem, leftovers: str) -> None:
    assert_kernel_equals_oracle(problem, leftovers)


@pytest.mark.parametrize("leftovers", POLICIES)
@settings(DETERMINISTIC, max_examples=some_of(40))
@given(problem=problems(external=True))
def test_kernel_equals_oracle_with_external_knowledge(problem: Problem, leftovers: str) -> None:
    assert_kernel_equals_oracle(problem, leftovers)


def seeded_problem(seed: int, size: int, terms_at_most: int = 5, one: int = 1) -> Problem:
    """Ages, weights, sexes and a country tree, with terms of a heavy tail."""
    rng = random.Random(seed)
    sex = ms.Categorical((None, 0, 0))
    country = ms.Categorical((None, 0, 1, 1, 1, 0, 5, 5, 0))
    attributes: tuple[ms.Attribute, ...] = (ms.Numeric(120), ms.Numeric(400), sex, country)
    thetas = tuple(rng.choice([Fraction(2, 5), Fraction(1, 5), Fraction(1, 3)]) for _ in range(40))
    sizes = [2, 3, 4, 5, 7, 11]

    def record() -> ms.Record:
        age, weight = rng.randrange(0, 121, 5), rng.randrange(0, 401, 20)
        ages = (age, min(120, age + rng.choice([0, 0, 0, 5])))
        terms = {int(40 * rng.random() ** 2) for _ in range(rng.randint(0, terms_at_most))}
        likely = [one == 1 or rng.random() < 0.5 for _ in terms]
        known = [inferred_probability(rng.choices(sizes, k=rng.randint(1, 3))) for _ in terms]
        certain = zip(terms, likely, known, strict=True)
        return ms.Record(
            (ages, (weight, weight), rng.choice([0, 1, 1, 2, 2]), rng.randrange(9)),
            {term: Fraction(1) if sure else p for term, sure, p in certain},
        )

    records = tuple(record() for _ in range(size))
    return Problem(records, attributes, thetas, 5, rng.randrange(size), one)


@pytest.mark.thorough
@pytest.mark.parametrize("leftovers", POLICIES)
@pytest.mark.parametrize("one", [1, ONE], ids=["certain", "external"])
def test_kernel_equals_oracle_on_five_hundred_cases(one: int, leftovers: str) -> None:
    assert_kernel_equals_oracle(seeded_problem(seed=7, size=500, one=one), leftovers)


HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
WEIGHT = (ms.Numeric(10),)


def point(weight: int, *terms: int) -> ms.Record:
    return ms.Record(((weight, weight),), dict.fromkeys(terms, Fraction(1)))


DEGENERATE = {
    "one cell for all": Problem(
        tuple(point(3, i % 4) for i in range(23)), WEIGHT, (HALF,) * 4, 4, 11
    ),
    "every term common and unprotected": Problem(
        tuple(point(i % 7, 0, 1) for i in range(23)), WEIGHT, (Fraction(1),) * 2, 5, 0
    ),
    "no terms at all": Problem(tuple(point(i % 7) for i in range(23)), WEIGHT, (), 5, 22),
    "fewer cases than k": Problem(tuple(point(i, i) for i in range(3)), WEIGHT, (HALF,) * 3, 4, 1),
    "exactly k cases": Problem(tuple(point(i, i) for i in range(4)), WEIGHT, (HALF,) * 4, 4, 1),
    "k is one": Problem(tuple(point(i % 7, 0) for i in range(9)), WEIGHT, (Fraction(1),), 1, 4),
    "one case, k is one": Problem((point(3, 0),), WEIGHT, (Fraction(1),), 1, 0),
    "the seed cannot be joined": Problem(
        tuple(point(i % 3, 0) for i in range(9)), WEIGHT, (THIRD,), 3, 0
    ),
    "a tree of one node": Problem(
        tuple(ms.Record((0,), {i % 3: Fraction(1)}) for i in range(14)),
        (ms.Categorical((None,)),),
        (HALF,) * 3,
        3,
        0,
    ),
    "equal inner nodes keep their height": Problem(
        tuple(ms.Record((node,), {}) for node in (3, 1, 1, 4, 0, 0, 2, 5, 5)),
        (ms.Categorical((None, 0, 1, 1, 0, 4)),),
        (),
        2,
        0,
    ),
}


@pytest.mark.parametrize("leftovers", POLICIES)
@pytest.mark.parametrize("problem", DEGENERATE.values(), ids=list(DEGENERATE))
def test_kernel_equals_oracle_where_the_problem_is_degenerate(
    problem: Problem, leftovers: str
) -> None:
    assert_kernel_equals_oracle(problem, leftovers)


@pytest.mark.parametrize("leftovers", POLICIES)
def test_fewer_cases_than_k_are_all_left_out(leftovers: str) -> None:
    assert DEGENERATE["fewer cases than k"].kernel(leftovers) == [-1, -1, -1]


def test_merging_makes_room_for_a_case_that_fits_no_group() -> None:
    """θ = 3/5 lets one of 3 cases have s, but three of 5."""
    records = (point(0, 0), point(0), point(9, 0), point(9), point(4, 0))
    problem = Problem(records, WEIGHT, (Fraction(3, 5),), 2, 0)
    assert problem.kernel("withhold") == problem.oracle("withhold") == [0, 0, 1, 1, -1]
    assert problem.kernel("merge") == problem.oracle("merge") == [0] * 5


def test_a_case_that_fits_a_group_is_not_merged_for() -> None:
    """Case 4 fits no group until case 5, after it, makes the second group larger."""
    thetas = (Fraction(3, 5),) * 3
    records = (point(0, 0, 2), point(2, 0), point(1, 2), point(0), point(0, 1, 2), point(1, 1))
    problem = Problem(records, WEIGHT, thetas, 2, 0)
    assert problem.oracle("withhold") == [0, 1, 1, 0, -1, 1]
    assert problem.kernel("merge") == problem.oracle("merge") == [0, 1, 1, 0, 1, 1]


def test_risks_closer_than_floating_point_are_told_apart() -> None:
    """σ/(η - σ) is convex: two terms at σ ± 1 unit weigh more than two at σ, by about 1e-26."""
    quarter, unit = Fraction(1, 4), Fraction(1, ONE)
    held = {0: 0, 1: -2, 2: 2, 3: 1, 4: 2, 5: 1}
    seed = ms.Record(((0, 0),), {s: quarter + steps * unit for s, steps in held.items()})
    pairs = [ms.Record(((0, 0),), {s: quarter, t: quarter}) for s, t in ((2, 5), (4, 0), (3, 5))]
    problem = Problem((seed, *pairs), WEIGHT, (Fraction(1),) * 6, 2, 0, ONE)
    assert problem.kernel("withhold") == problem.oracle("withhold") == [0, 1, 1, 0]


@settings(DETERMINISTIC, max_examples=12)
@given(problem=problems(external=False), leftovers=st.sampled_from(POLICIES))
def test_the_same_problem_gives_the_same_groups_again(problem: Problem, leftovers: str) -> None:
    assert problem.kernel(leftovers) == replace(problem).kernel(leftovers)
