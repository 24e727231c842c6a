"""Disclosure risk and what was left out, against the definitions in exact fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.releases import Case, Group, Release, releases

# Lin 2016, Table 3, retyped: (ISR, case, age low, age high, gender, country, drugs), and E.
TABLE_3 = [
    ("001", "001", 20, 30, "M", "USA", ["Paracetamol"]),
    ("002", "001", 20, 30, "M", "USA", ["Paracetamol"]),
    ("003", "002", 20, 30, "M", "USA", ["Intron A", "Antacid"]),
    ("004", "002", 20, 30, "M", "USA", ["Intron A", "Antacid"]),
    ("005", "003", 30, 40, "F", "UK", ["Paracetamol"]),
    ("006", "004", 30, 40, "F", "UK", ["Antacid"]),
]
EXTERNAL = {
    "Asprin": ["Flu", "Headache", "Fever"],
    "Intron A": ["Hepatitis B", "Hepatitis C", "Leukemia", "Melanoma"],
    "Paracetamol": ["Headache", "Fever"],
    "Antacid": ["Stomachache", "GERD"],
}


def store_table_3(sql: Any, theta: str) -> None:
    """The released groups of Table 3, with the values that the macro infers from the drugs."""
    numbers = {"001": 0, "002": 1, "003": 2, "004": 3}
    drugs = sql.table(
        "case_drug",
        "case_no INTEGER, drug VARCHAR",
        {(numbers[row[1]], drug) for row in TABLE_3 for drug in row[6]},
    )
    pairs = [(drug, disease, len(known)) for drug, known in EXTERNAL.items() for disease in known]
    columns = "drug VARCHAR, disease VARCHAR, diseases BIGINT"
    knowledge = sql.table("knowledge", columns, pairs)
    weights = sql.rows(f"FROM srsql.inferred_terms({drugs}, {knowledge}, 12)")
    terms = {
        case: {disease: Fraction(weight, 12) for n, disease, weight in weights if n == number}
        for case, number in numbers.items()
    }
    groups = [
        Group(tuple(Case((ages,), terms[case]) for case in cases), 1)
        for ages, cases in (((20, 30), ("001", "002")), ((30, 40), ("003", "004")))
    ]
    thetas = {disease: Fraction(theta) for _, disease, _ in pairs}
    Release((120,), tuple(groups), thetas).store(sql, 1)


def confidence(sql: Any) -> list[dict[str, Any]]:
    return sql.records("FROM srsql.confidence(1)")


def danger_ratio(sql: Any, *, with_knowledge: bool) -> dict[str, Any]:
    rows = sql.records("FROM srsql.danger_ratio(1)")
    assert sorted(row["scope"] for row in rows) == ["with E", "without E"]
    return next(row for row in rows if (row["scope"] == "with E") is with_knowledge)


@pytest.mark.slow
def test_every_confidence_of_table_3_is_below_two_fifths(sql: Any) -> None:
    store_table_3(sql, "2/5")
    rows = confidence(sql)
    assert {row["term"] for row in rows} == {
        "Headache", "Fever", "Stomachache", "GERD",
        "Hepatitis B", "Hepatitis C", "Leukemia", "Melanoma",
    }  # fmt: skip
    assert all(row["conf_e"] < 0.4 and not row["breached_e"] for row in rows)
    assert all(row["conf"] == 0 and not row["breached"] for row in rows)


def test_the_confidence_of_headache_in_the_uk_group_of_table_3_is_a_quarter(sql: Any) -> None:
    store_table_3(sql, "2/5")
    rows = confidence(sql)
    (headache,) = [row for row in rows if (row["group_id"], row["term"]) == (1, "Headache")]
    assert (headache["cases"], headache["conf_e"]) == (2, 0.25)


@pytest.mark.parametrize(("theta", "dangerous"), [("2/5", 0), ("1/4", 0), ("1/5", 2), ("1/8", 2)])
def test_table_3_has_dangerous_groups_only_below_a_quarter(
    sql: Any, theta: str, dangerous: int
) -> None:
    store_table_3(sql, theta)
    row = danger_ratio(sql, with_knowledge=True)
    assert (row["violating"], row["total"], row["passed"]) == (dangerous, 2, not dangerous)
    assert danger_ratio(sql, with_knowledge=False)["ratio"] == 0


@pytest.mark.slow
@REPEATABLE
@given(release=releases(), other=releases())
def test_confidences_are_those_of_definition_1_and_compared_with_theta_exactly(
    sql: Any, release: Release, other: Release
) -> None:
    release.store(sql, 1)
    other.store(sql, 2)
    believed = release.confidences(with_knowledge=True)
    shown = release.confidences(with_knowledge=False)
    rows = confidence(sql)
    assert sorted((row["group_id"], row["term"]) for row in rows) == sorted(believed)
    for row in rows:
        key, theta = (row["group_id"], row["term"]), release.thetas[row["term"]]
        own = shown.get(key, Fraction(0))
        assert row["cases"] == len(release.groups[key[0]].cases)
        assert row["theta"] == pytest.approx(float(theta))
        assert row["conf"] == pytest.approx(float(own))
        assert row["conf_e"] == pytest.approx(float(believed[key]))
        assert (row["breached"], row["breached_e"]) == (own > theta, believed[key] > theta)
    bounded = sql.records("FROM srsql.confidence_by_theta(1, false)")
    assert sorted((row["group_id"], row["term"]) for row in bounded) == sorted(
        key for key in believed if release.thetas[key[1]] < 1
    )
    assert all(row in rows for row in bounded)


@pytest.mark.slow
@REPEATABLE
@given(release=releases(), with_knowledge=st.booleans())
def test_the_danger_ratio_is_the_share_of_groups_with_a_confidence_above_theta(
    sql: Any, release: Release, with_knowledge: bool
) -> None:
    release.store(sql, 1)
    confidences = release.confidences(with_knowledge=with_knowledge)
    dangerous = {g for (g, term), conf in confidences.items() if conf > release.thetas[term]}
    row = danger_ratio(sql, with_knowledge=with_knowledge)
    assert (row["violating"], row["total"]) == (len(dangerous), len(release.groups))
    share = len(dangerous) / len(release.groups) if release.groups else None
    assert row["ratio"] == pytest.approx(share)
    assert row["passed"] is (not dangerous)


@pytest.mark.parametrize(
    ("holders", "cases", "theta", "dangerous"),
    [(3, 5, "3/5", False), (3, 5, "599999999/1000000000", True), (1, 3, "1/3", False)],
)
def test_a_confidence_of_exactly_theta_is_not_dangerous(
    sql: Any, holders: int, cases: int, theta: str, dangerous: bool
) -> None:
    held = [Case(((1, 1),), {"s": Fraction(1)})] * holders + [Case(((1, 1),))] * (cases - holders)
    Release((9,), (Group(tuple(held), 1),), {"s": Fraction(theta)}).store(sql, 1)
    assert danger_ratio(sql, with_knowledge=False)["violating"] == dangerous


def test_an_inferred_value_endangers_a_group_only_with_external_knowledge(sql: Any) -> None:
    cases = (Case(((1, 1),), {"s": Fraction(1)}), Case(((1, 1),), {"s": Fraction(1, 2)}))
    Release((9,), (Group(cases, 1),), {"s": Fraction(1, 2)}).store(sql, 1)
    assert danger_ratio(sql, with_knowledge=False)["passed"]
    assert not danger_ratio(sql, with_knowledge=True)["passed"]


@pytest.mark.thorough
@REPEATABLE
@given(release=releases())
def test_the_withheld_rate_counts_cases_and_reports_in_all_and_by_reason(
    sql: Any, release: Release
) -> None:
    release.store(sql, 1)
    cases = len(release.cases) + len(release.withheld)
    lost = sum(reports for _, reports in release.withheld)
    reports = sum(case.reports for case in release.cases) + lost
    expected = {"cases": (len(release.withheld), cases), "reports": (lost, reports)}
    for reason, times in Counter(reason for reason, _ in release.withheld).items():
        expected[f"cases: {reason}"] = (times, cases)
    rows = sql.records("FROM srsql.withheld_rate(1)")
    assert {row["scope"]: (row["violating"], row["total"]) for row in rows} == expected
    for row in rows:
        assert row["ratio"] == (row["violating"] / row["total"] if row["total"] else None)


@pytest.mark.slow
@REPEATABLE
@given(release=releases())
def test_the_suppression_rate_is_the_share_of_known_values_released_as_null(
    sql: Any, release: Release
) -> None:
    release.store(sql, 1)
    expected = {}
    for q in range(len(release.qids)):
        known = [
            not group.pattern >> q & 1
            for group in release.groups
            for case in group.cases
            if case.values[q] is not None
        ]
        if release.cases:
            expected[f"q{q}"] = (sum(known), len(known), sum(known) / len(known) if known else None)
    rows = sql.rows("SELECT scope, violating, total, ratio FROM srsql.suppression_rate(1)")
    assert {row[0]: row[1:] for row in rows} == expected


@pytest.mark.slow
@REPEATABLE
@given(release=releases())
def test_group_sizes_are_summarized_in_cases_not_reports(sql: Any, release: Release) -> None:
    release.store(sql, 1)
    sizes = sorted(len(group.cases) for group in release.groups)

    def quantile(share: Fraction) -> int:
        return sizes[max(0, ceil(share * len(sizes)) - 1)]

    expected: dict[str, Any] = {}
    if sizes:
        expected = {
            "min": sizes[0],
            "p25": quantile(Fraction(1, 4)),
            "median": quantile(Fraction(1, 2)),
            "p75": quantile(Fraction(3, 4)),
            "max": sizes[-1],
            "mean": pytest.approx(sum(sizes) / len(sizes)),
        }
    rows = sql.records("FROM srsql.group_sizes(1)")
    assert {row["scope"]: row["ratio"] for row in rows} == expected
    small = sum(size < release.k for size in sizes)
    for row in rows:
        figures = (row["violating"], row["total"], row["threshold"], row["passed"])
        assert figures == (small, len(sizes), release.k, small == 0)
