"""The rules for those who stay, on random series: whoever keeps them leaves k to every attack."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import floor

import pytest
from oracles.stay import (
    Box,
    Group,
    Point,
    Quarter,
    broken_rules,
    released_before,
    too_little_is_left,
)

pytestmark = pytest.mark.thorough

QUARTERS = 5
THETAS = {"a": Fraction(1, 2), "b": Fraction(2, 3), "c": Fraction(1)}
Raw = list[tuple[dict[int, Point], dict[int, frozenset[str]]]]


def reported(luck: random.Random, cases: int) -> Raw:
    """Who reports what in each quarter: most stay for a while, some return, some values drift."""
    quarters: Raw = [({}, {}) for _ in range(QUARTERS + 1)]
    for case in range(cases):
        values = [luck.randrange(6), luck.randrange(6)]
        present = luck.random() < 0.3
        for at, terms in quarters:
            present = luck.random() < (0.7 if present else 0.25)
            if luck.random() < 0.1:
                values[luck.randrange(2)] = luck.randrange(6)
            if present:
                at[case] = values[0], values[1]
                terms[case] = frozenset(t for t in "abc" if luck.random() < 0.2)
    return quarters


def hull(boxes: Sequence[Box]) -> Box:
    return tuple(
        (min(low for low, _ in ends), max(high for _, high in ends))
        for ends in zip(*boxes, strict=True)
    )


class Maker:
    """Releases quarter after quarter by the rules, at random within them."""

    def __init__(self, luck: random.Random, k: int) -> None:
        self.luck, self.k = luck, k
        self.series: list[Quarter] = []

    def release(self, values: dict[int, Point], terms: dict[int, frozenset[str]], after: set[int],
                deleted: set[int]) -> None:  # fmt: skip
        """``deleted``: of the quarter, after the one before was released."""
        values = {case: v for case, v in values.items() if case not in deleted}
        quarter = Quarter(values, terms, frozenset(after))
        old = released_before(self.series, len(self.series))
        new = sorted(values.keys() - old)
        cohorts = []
        if self.series:
            before = self.series[-1]
            cohorts = [group.cases & before.goes_on for group in before.groups]
        several = frozenset().union(*cohorts)
        units = [(c, len(c - self.old_then())) for c in cohorts if c and c <= values.keys()]
        single = [(frozenset({c}), 0) for c in sorted(values.keys() & old - several)]
        groups = self.cores(new, quarter)
        for unit, size in [*units, *single]:
            if size and not self.few(unit, size, quarter):
                continue
            for home in self.luck.sample(range(len(groups)), len(groups)):
                if self.fits(groups[home] | unit, quarter, old):
                    groups[home] |= unit
                    break
        for there in groups:
            region = hull([self.covered(case, values[case]) for case in there])
            quarter.groups.append(Group(region, there))
        self.series.append(quarter)

    def old_then(self) -> frozenset[int]:
        return released_before(self.series, len(self.series) - 1)

    def cores(self, new: list[int], quarter: Quarter) -> list[frozenset[int]]:
        """Groups of new cases: k or more who go on, k or more who stop, or both."""
        parts = []
        for goes_on in (True, False):
            left = [case for case in new if (case in quarter.goes_on) == goes_on]
            self.luck.shuffle(left)
            while len(left) >= self.k:
                size = min(len(left), self.k + self.luck.randrange(3))
                part, left = frozenset(left[:size]), left[size:]
                if self.fits(part, quarter, frozenset()):
                    parts.append((part, goes_on))
        groups: list[frozenset[int]] = []
        for part, goes_on in parts:
            if not goes_on and groups and self.luck.random() < 0.7:
                groups[self.luck.randrange(len(groups))] |= part
            else:
                groups.append(part)
        return groups

    def fits(self, cases: frozenset[int], quarter: Quarter, old: frozenset[int]) -> bool:
        """Whether rule 2 holds in the group."""
        for part in (cases & quarter.goes_on, cases - quarter.goes_on):
            fresh = len(part - old)
            if part and (fresh < self.k or not self.few(part, fresh, quarter)):
                return False
        return True

    def few(self, cases: frozenset[int], size: int, quarter: Quarter) -> bool:
        held = [quarter.terms[case] for case in cases]
        return all(
            sum(term in one for one in held) <= floor(theta * max(self.k, size))
            for term, theta in THETAS.items()
        )

    def covered(self, case: int, value: Point) -> Box:
        own: Box = tuple((v, v) for v in value)
        for quarter in self.series:
            group = quarter.group_of(case)
            if group:
                return hull([own, group.region])
        return own


def made(seed: int, k: int) -> list[Quarter]:
    luck = random.Random(seed)
    quarters = reported(luck, 60)
    maker = Maker(luck, k)
    for (values, terms), (after, _) in pairwise(quarters):
        gone = set(luck.sample(sorted(values), len(values) // 30))
        maker.release(values, terms, set(after), gone)
    return maker.series


@pytest.mark.parametrize("k", [2, 3])
def test_a_series_that_keeps_the_rules_leaves_k_and_theta_to_every_attack(k: int) -> None:
    cohorts = released = 0
    for seed in range(40):
        series = made(seed, k)
        assert broken_rules(series, k, THETAS) == []
        assert too_little_is_left(series, k, THETAS) == []
        released += sum(len(quarter.released) for quarter in series)
        cohorts += sum(
            len(quarter.released & released_before(series, i)) for i, quarter in enumerate(series)
        )
    assert released > 1000
    assert cohorts > 100  # old cases are released, too


def series_of(
    *quarters: tuple[Mapping[int, frozenset[str]], set[int], list[set[int]]],
) -> list[Quarter]:
    """Quarters of (cases with their terms, who goes on, groups); all have the same values."""
    return [
        Quarter(
            dict.fromkeys(terms, (0, 0)),
            dict(terms),
            frozenset(after),
            [Group(((0, 0), (0, 0)), frozenset(group)) for group in groups],
        )
        for terms, after, groups in quarters
    ]


def nothing(*cases: int) -> dict[int, frozenset[str]]:
    return dict.fromkeys(cases, frozenset())


def test_few_new_ones_among_those_who_go_on_are_left_alone() -> None:
    """1, 2, 3 are new and stop, 4 is new and goes on with 5 and 6, who are old: who knows that the
    target is new and goes on has 4."""
    series = series_of(
        (nothing(5, 6, 7), {5, 6}, [{5, 6, 7}]),
        (nothing(1, 2, 3, 4, 5, 6), {4, 5, 6}, [{1, 2, 3, 4, 5, 6}]),
        (nothing(4, 5, 6), set(), [{4, 5, 6}]),
    )
    assert (2, 1) in broken_rules(series, 3, THETAS)
    left = [known for known, what in too_little_is_left(series, 3, THETAS) if what == "k"]
    assert frozenset({4}) in {known.remaining for known in left if known.quarter == 1}


def test_a_cohort_that_loses_one_member_leaves_two() -> None:
    """1, 2 and 3 go on; 3 is withheld or deleted in the next release."""
    series = series_of(
        (nothing(1, 2, 3), {1, 2, 3}, [{1, 2, 3}]),
        (nothing(1, 2, 4, 5, 6), set(), [{1, 2, 4, 5, 6}]),
    )
    assert broken_rules(series, 3, THETAS) == [(3, 0)]
    left = {known.remaining for known, what in too_little_is_left(series, 3, THETAS) if what == "k"}
    assert frozenset({1, 2}) in left


def test_one_who_returns_although_counted_as_gone_is_alone() -> None:
    series = series_of(
        (nothing(1, 2, 3), set(), [{1, 2, 3}]),
        (nothing(1, 4, 5, 6), set(), [{1, 4, 5, 6}]),
    )
    assert broken_rules(series, 3, THETAS) == [(3, 0)]
    left = {known.remaining for known, what in too_little_is_left(series, 3, THETAS) if what == "k"}
    assert left >= {frozenset({1}), frozenset({2, 3})}


def test_a_cohort_that_is_torn_leaves_its_parts() -> None:
    series = series_of(
        (nothing(1, 2, 3), {1, 2, 3}, [{1, 2, 3}]),
        (nothing(*range(1, 10)), set(), [{1, 2, 4, 5, 6}, {3, 7, 8, 9}]),
    )
    assert broken_rules(series, 3, THETAS) == [(3, 0)]
    left = {
        (known.scope, known.remaining)
        for known, _ in too_little_is_left(series, 3, THETAS)
        if known.window == "previous"
    }
    assert ("group", frozenset({3})) in left
