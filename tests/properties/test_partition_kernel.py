"""The kernel of multi-sensitive l-diversity gives the oracle's partition, and keeps its bound."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import comparators, ms
from oracles.examples import REPEATABLE

from srsql.udfs.grouping.partition import partition_cases
from srsql.udfs.grouping_problem import Attributes, Cases

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Problem:
    """Points in two numbers and one tree; values of two sensitive attributes."""

    points: tuple[tuple[int, int, int], ...]
    values: tuple[tuple[frozenset[int], frozenset[int]], ...]
    parent: tuple[int | None, ...]
    least: int

    @property
    def tree(self) -> ms.Categorical:
        return ms.Categorical(self.parent)

    def last(self, node: int) -> int:
        return max(n for n in range(len(self.parent)) if node in self.tree.path(n))

    def oracle(self) -> list[int]:
        records = [ms.Record(((a, a), (b, b), node), {}) for a, b, node in self.points]
        attributes = [ms.Numeric(9), ms.Numeric(4), self.tree]
        held = [tuple(map(set, pair)) for pair in self.values]
        return comparators.from_top_down(records, held, attributes, 2, self.least)

    def kernel(self) -> list[int]:
        nodes = range(len(self.parent))
        low = np.array(self.points, np.int64).reshape(len(self.points), 3)
        high = low.copy()
        high[:, 2] = [self.last(node) for _, _, node in self.points]
        held = [
            [*sorted(first), *(10 + v for v in sorted(second))] for first, second in self.values
        ]
        flat = np.array([v for one in held for v in one], np.int32)
        found = partition_cases(
            Cases(low, high, np.cumsum([0, *map(len, held)]), flat, np.ones(len(flat), int), 1),
            Attributes(
                span=np.array([9, 4, 0]),
                tree_start=np.array([0, 0, 0, len(nodes)]),
                parent=np.array([-1 if p is None else p for p in self.parent]),
                last=np.array([self.last(n) for n in nodes]),
                height=np.array([self.tree.height(n) for n in nodes]),
            ),
            np.repeat([0, 1], 10),
            2,
            self.least,
        )
        assert found.dtype == np.int32
        return found.tolist()


def trees() -> st.SearchStrategy[tuple[int | None, ...]]:
    """In preorder: one node, a star, or two levels."""
    return st.sampled_from([(None,), (None, 0, 0, 0), (None, 0, 1, 1, 0, 4, 4, 4)])


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    parent = draw(trees())
    point = st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(0, len(parent) - 1))
    points = draw(st.lists(point, min_size=0, max_size=24))
    some = st.frozensets(st.integers(0, 9), max_size=3)
    values = draw(st.lists(st.tuples(some, some), min_size=len(points), max_size=len(points)))
    return Problem(tuple(points), tuple(values), parent, draw(st.integers(1, 4)))


@REPEATABLE
@given(problems())
def test_the_kernel_gives_the_partition_of_the_oracle(problem: Problem) -> None:
    assert problem.kernel() == problem.oracle()


def random_problem(n: int, least: int) -> Problem:
    random = np.random.default_rng(7)
    points = zip(
        random.integers(0, 10, n), random.integers(0, 5, n), random.integers(0, 8, n), strict=True
    )
    values = [
        (frozenset(random.integers(0, 10, 2).tolist()), frozenset([int(random.integers(0, 10))]))
        for _ in range(n)
    ]
    tree = (None, 0, 1, 1, 0, 4, 4, 4)
    return Problem(
        tuple((int(a), int(b), int(c)) for a, b, c in points), tuple(values), tree, least
    )


@pytest.mark.parametrize("least", [2, 5])
def test_many_records_are_split_as_the_oracle_splits_them_and_every_group_keeps_l(
    least: int,
) -> None:
    problem = random_problem(400, least)
    found = problem.kernel()
    assert found == problem.oracle()
    groups = defaultdict(list)
    for number, pair in zip(found, problem.values, strict=True):
        groups[number].append(pair)
    assert len(groups) > 5
    assert all(comparators.keeps_values(group, 2, least) for group in groups.values())


def test_too_few_values_in_all_make_no_group() -> None:
    nine = frozenset(range(9))
    problem = Problem(((0, 0, 0),) * 9, ((nine, frozenset()),) * 9, (None,), 2)
    assert problem.kernel() == [-1] * 9


def test_one_record_with_many_values_is_not_enough() -> None:
    nine = frozenset(range(9))
    problem = Problem(((0, 0, 0), (9, 4, 0)), ((nine, nine),) * 2, (None,), 2)
    assert problem.kernel() == [0, 0]
