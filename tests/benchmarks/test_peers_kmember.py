"""k-member clustering, a comparator, against the paper's greedy algorithm step by step."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.peers import load

judge, kmember, theirs = load("judge"), load("kmember"), load("theirs")

Record = tuple[int | None, ...]
SPANS = (4, 8, 1)
"""Powers of two: the shares of the module are exact."""


def loss(records: list[Record]) -> Fraction:
    """Of a group: each known value costs what is shown of its quasi-identifier."""
    total = Fraction(0)
    for column, span in zip(zip(*records, strict=True), SPANS, strict=True):
        known = [value for value in column if value is not None]
        if len(known) < len(column):
            total += len(known)
        elif known:
            total += len(known) * min(Fraction(max(known) - min(known), span), Fraction(1))
    return total


def difference(one: Record, other: Record) -> Fraction:
    total = Fraction(0)
    for a, b, span in zip(one, other, SPANS, strict=True):
        if a is None or b is None:
            total += (a is None) != (b is None)
        else:
            total += min(Fraction(abs(a - b), span), Fraction(1))
    return total


def greedy(records: list[Record], k: int, seed: int) -> list[list[int]]:
    """The algorithm as it is told: furthest record, best records, then the last ones."""
    rest, draw, groups = list(range(len(records))), np.random.default_rng(seed), []

    def take(place: int) -> int:
        taken, rest[place] = rest[place], rest[-1]
        rest.pop()
        return taken

    def of(rows: list[int]) -> Fraction:
        return loss([records[row] for row in rows])

    latest = int(draw.integers(len(records)))
    while len(rest) >= k:
        far = [difference(records[row], records[latest]) for row in rest]
        latest = take(far.index(max(far)))
        group = [latest]
        while len(group) < k:
            costs = [of([*group, row]) for row in rest]
            group.append(take(costs.index(min(costs))))
        groups.append(group)
    for place in draw.permutation(len(rest)):
        row = rest[place]
        growth = [of([*group, row]) - of(group) for group in groups] or [Fraction(0)]
        if not groups:
            groups.append([])
        groups[growth.index(min(growth))].append(row)
    return groups


def values(records: list[Record]) -> Any:
    made = np.array([[np.nan if v is None else v for v in row] for row in records], dtype=float)
    return made / np.array(SPANS)


VALUE = st.none() | st.integers(0, 4)
RECORDS = st.lists(
    st.tuples(VALUE, st.none() | st.integers(0, 8), st.none() | st.integers(0, 2)),
    min_size=1,
    max_size=14,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(RECORDS, st.integers(1, 4), st.integers(0, 3))
def test_groups_are_those_of_the_papers_algorithm(records: list[Record], k: int, seed: int) -> None:
    found = kmember.greedy_k_member(values(records), k, seed)
    expected = greedy(records, k, seed)
    assert [sorted(np.flatnonzero(found == n).tolist()) for n in range(len(expected))] == [
        sorted(group) for group in expected
    ]
    if len(records) >= k:
        assert min(np.bincount(found)) >= k


def test_no_records_are_no_group() -> None:
    assert kmember.greedy_k_member(np.empty((0, 3)), 5).tolist() == []


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_what_it_loses_is_what_the_judge_counts(missing: float) -> None:
    luck = random.Random(2007)

    def some(value: Any) -> Any:
        return None if luck.random() < missing else value

    people = pd.DataFrame(
        [
            (n, some(luck.randrange(100)), some(luck.randrange(40, 140)), some(luck.choice("FM")))
            for n in range(60)
        ],
        columns=["row", "age", "wt", "sex"],
    ).astype({"age": float, "wt": float})
    people["term"] = "a"
    codes = pd.factorize(people["sex"])[0].astype(float)
    columns = [people["age"] / 120, people["wt"] / 400, np.where(codes < 0, np.nan, codes)]
    groups = kmember.greedy_k_member(np.column_stack(columns), 5)
    released = theirs.rows_of_numbers(people, groups)
    verdict = judge.judge(people, released)
    shares = np.column_stack(columns)
    total = 0.0
    for number in set(groups):
        for column in shares[groups == number].T:
            known = column[~np.isnan(column)]
            if len(known) < len(column):
                total += len(known)
            elif len(known):
                total += len(known) * min(float(known.max() - known.min()), 1.0)
    assert verdict.loss == pytest.approx(total / 180)
    assert (verdict.k >= 5, verdict.untrue, verdict.told_as_known) == (True, 0, 0)
    assert verdict.released == 60
