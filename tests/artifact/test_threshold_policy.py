"""What released rows say of thresholds by frequency: nothing against true ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srsql.engine.artifact.format import Manifest
from srsql.engine.artifact.verify.frequency import (
    LEVELS,
    RankedValue,
    least_hidden,
    policy_verdict,
)

CASES = st.lists(
    st.frozensets(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), max_size=4), max_size=40
)


def manifest(cases: int, withheld: int | None, **changes: Any) -> Manifest:
    """As much of a manifest as the policy asks for."""
    told: dict[str, Any] = {
        "quarter": "2011Q3",
        "dataset": "clinic",
        "terms": None,
        "every_term_published": True,
        "parameters": {"theta": "frequency", "external_knowledge": "no"},
        "counts": SimpleNamespace(released_cases=cases, withheld_cases=withheld),
        "counted": None,
        "noisy": None,
    }
    return cast(Manifest, SimpleNamespace(**told | changes))


def by_frequency(cases: list[frozenset[str]]) -> dict[str, Fraction]:
    """The policy by its words (Lin 2016; SPEC section 6), over all cases of a quarter."""
    counts = Counter(value for case in cases for value in case)
    ranked = sorted(counts, key=lambda value: (-counts[value], value))
    first, last = len(ranked) // 10, -(-len(ranked) // 10)
    return {
        value: LEVELS[0] if n < first else LEVELS[2] if n >= len(ranked) - last else LEVELS[1]
        for n, value in enumerate(ranked)
    }


def shown(released: list[frozenset[str]], theta: dict[str, Fraction]) -> list[RankedValue]:
    counts = Counter(value for case in released for value in case)
    return [RankedValue(value, theta[value], counts[value]) for value in counts]


@pytest.mark.slow
@given(released=CASES, withheld=CASES)
def test_thresholds_that_follow_the_policy_are_never_refused(
    released: list[frozenset[str]], withheld: list[frozenset[str]]
) -> None:
    theta = by_frequency([*released, *withheld])
    values = shown(released, theta)
    faults, unknown = policy_verdict(manifest(len(released), len(withheld)), values)
    assert faults == []
    assert bool(unknown) == bool(values and withheld)
    hidden = least_hidden(values, len(withheld))
    assert hidden is not None
    assert hidden <= len(theta) - len(values)


@pytest.mark.slow
@given(released=CASES, change=st.data())
def test_without_withheld_cases_every_other_threshold_is_refused(
    released: list[frozenset[str]], change: st.DataObject
) -> None:
    theta = by_frequency(released)
    values = shown(released, theta)
    levels = st.lists(st.sampled_from(LEVELS), min_size=len(values), max_size=len(values))
    other = [
        RankedValue(v.value, level, v.cases)
        for v, level in zip(values, change.draw(levels), strict=True)
    ]
    faults, unknown = policy_verdict(manifest(len(released), 0), other)
    assert bool(faults) == (other != values)
    assert unknown == []


SPELLED = st.lists(
    st.frozensets(st.sampled_from(["".join(w) for w in product("aA", "bB", "cdefgh")]), max_size=4),
    max_size=40,
)


def of_terms(cases: list[frozenset[str]]) -> list[frozenset[str]]:
    return [frozenset(map(str.lower, case)) for case in cases]


def by_both(cases: list[frozenset[str]]) -> dict[str, Fraction]:
    """The stricter of the term's place and of its commonest spelling's (SPEC section 2)."""
    of_term, of_spelling = by_frequency(of_terms(cases)), by_frequency(cases)
    counts = Counter(spelling for case in cases for spelling in case)
    commonest: dict[str, str] = {}
    for spelling in sorted(counts, key=lambda spelling: (-counts[spelling], spelling)):
        commonest.setdefault(spelling.lower(), spelling)
    return {term: min(of_term[term], of_spelling[commonest[term]]) for term in of_term}


def shown_with_spellings(
    released: list[frozenset[str]], theta: dict[str, Fraction]
) -> tuple[list[RankedValue], list[tuple[str, int]]]:
    counts = Counter(spelling for case in released for spelling in case)
    found = []
    for value in shown(of_terms(released), theta):
        own = {s: n for s, n in counts.items() if s.lower() == value.value}
        spelling = min(own, key=lambda s: (-own[s], s))
        found.append(replace(value, spelling=spelling, spelled=own[spelling]))
    return found, list(counts.items())


@pytest.mark.slow
@given(released=SPELLED, withheld=SPELLED)
def test_thresholds_by_terms_and_spellings_are_never_refused(
    released: list[frozenset[str]], withheld: list[frozenset[str]]
) -> None:
    theta = by_both([*released, *withheld])
    values, spellings = shown_with_spellings(released, theta)
    faults, unknown = policy_verdict(manifest(len(released), len(withheld)), values, spellings)
    assert faults == []
    assert bool(unknown) == bool(values and withheld)


@pytest.mark.slow
@given(released=SPELLED, change=st.data())
def test_without_withheld_cases_every_other_threshold_of_spelled_terms_is_refused(
    released: list[frozenset[str]], change: st.DataObject
) -> None:
    values, spellings = shown_with_spellings(released, by_both(released))
    levels = st.lists(st.sampled_from(LEVELS), min_size=len(values), max_size=len(values))
    other = [replace(v, theta=level) for v, level in zip(values, change.draw(levels), strict=True)]
    faults, unknown = policy_verdict(manifest(len(released), 0), other, spellings)
    assert bool(faults) == (other != values)
    assert unknown == []


def test_a_term_whose_count_and_spelling_stay_ahead_keeps_its_threshold() -> None:
    values = [RankedValue(f"a{n}", LEVELS[1], 1, f"A{n}", 1) for n in range(18)]
    often = RankedValue("often", LEVELS[2], 9, "OFTEN", 9)
    seldom = RankedValue("seldom", LEVELS[0], 3, "SELDOM", 3)
    told = manifest(40, 5)
    (fault, *_), _ = policy_verdict(told, [*values, often, seldom], [("OFTEN", 9)])
    assert fault.startswith("often, which 9 cases hold, has the threshold 1/5, and seldom, which 3")
    spread = replace(often, spelled=8)  # five withheld cases may lift SELDOM to the same number
    faults, _ = policy_verdict(told, [*values, spread, seldom], [("OFTEN", 8)])
    assert not any("seldom" in fault for fault in faults)


def test_all_thresholds_one_need_nine_values_of_withheld_cases_for_each_that_is_released() -> None:
    values = [RankedValue(str(n), Fraction(1), 1) for n in range(400)]
    assert least_hidden(values, 5) == 3600
    (fault,), unknown = policy_verdict(manifest(400, 5), values)
    assert "the 5 withheld cases alone hold 3,600 values, and no more than 1,050" in fault
    assert unknown == []
    faults, (text,) = policy_verdict(manifest(400, 500), values)
    assert faults == []
    assert "at least 3,600 values are held by them alone, beside 400 that are released" in text


def test_a_value_that_more_cases_hold_than_were_withheld_keeps_its_rank() -> None:
    values = [RankedValue(f"a{n}", LEVELS[1], 1) for n in range(18)]
    values += [RankedValue("often", LEVELS[2], 9), RankedValue("seldom", LEVELS[0], 3)]
    (fault, *_), _ = policy_verdict(manifest(40, 5), values)
    assert fault.startswith("often, which 9 cases hold, has the threshold 1/5, and seldom, which 3")
    faults, _ = policy_verdict(manifest(40, 9), values)
    assert faults == []


def test_where_cases_cannot_be_counted_it_is_said_why_and_only_strange_thresholds_are_refused() -> (
    None
):
    values = [RankedValue("a", Fraction(1), 5), RankedValue("b", Fraction(1, 5), 50)]
    knowing = {"theta": "frequency", "external_knowledge": "yes"}
    for changes, why in (
        ({"every_term_published": False}, "not every sensitive column is in the released rows"),
        ({"terms": object()}, "not every sensitive column is in the released rows"),
        ({"parameters": knowing}, "external knowledge added values"),
    ):
        told = manifest(60, 0, **changes)
        faults, (text,) = policy_verdict(told, values)
        assert faults == []
        assert why in text
        faults, _ = policy_verdict(told, [RankedValue("a", Fraction(1, 2), 5)])
        assert faults == ["a has the threshold 1/2, the policy frequency knows 1, 2/5, 1/5"]
    _, (text,) = policy_verdict(manifest(60, None), values)
    assert "is not told of a model with noise" in text
    _, (text,) = policy_verdict(manifest(60, 0, parameters={"theta": "levels"}), values)
    assert "it is in a file that is not published" in text
    assert policy_verdict(manifest(60, 0, parameters={"theta": "1/2"}), values) == ([], [])
