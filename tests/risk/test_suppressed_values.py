"""What is suppressed, and how far it can be guessed, against the definitions in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.releases import Release, releases


def store(sql: Any, release: Release, gone: set[tuple[int, str]]) -> None:
    """The release, of whose cases (by number) values are suppressed that they do not show."""
    release.store(sql, 1)
    numbers = {term: number for number, term in enumerate(release.thetas)}
    sql.rows("DELETE FROM srsql.suppressed")
    sql.insert("srsql.suppressed", [(1, case, numbers[term]) for case, term in gone])


@st.composite
def suppressed(draw: st.DrawFn) -> tuple[Release, set[tuple[int, str]]]:
    """A release, and values that its cases do not show (but drugs may suggest)."""
    release = draw(releases())
    able = [
        (number, term)
        for number, case in enumerate(release.cases)
        for term in release.thetas
        if case.terms.get(term) != 1
    ]
    return release, set(draw(st.lists(st.sampled_from(able), max_size=8)) if able else [])


@pytest.mark.slow
@REPEATABLE
@given(suppressed())
def test_the_worst_share_counts_whoever_shows_a_value_or_lost_it(
    sql: Any, made: tuple[Release, set[tuple[int, str]]]
) -> None:
    release, gone = made
    store(sql, release, gone)
    due: dict[str, list[Fraction]] = {}
    number = 0
    for group in release.groups:
        cases = range(number, number + len(group.cases))
        number += len(group.cases)
        for term in release.thetas:
            if any((n, term) in gone for n in cases):
                weights = [
                    Fraction(1) if (n, term) in gone else case.terms.get(term, Fraction(0))
                    for n, case in zip(cases, group.cases, strict=True)
                ]
                due.setdefault(term, []).append(sum(weights, Fraction(0)) / len(weights))
    rows = {row["term"]: row for row in sql.records("FROM srsql.suppressed_confidence(1)")}
    assert rows.keys() == due.keys()
    for term, shares in due.items():
        row, theta = rows[term], release.thetas[term]
        assert row["cases"] == sum(t == term for _, t in gone)
        assert row["groups"] == len(shares)
        assert row["above"] == sum(share > theta for share in shares)
        assert row["worst"] == pytest.approx(float(max(shares)))
        assert row["theta"] == pytest.approx(float(theta))


@pytest.mark.slow
@REPEATABLE
@given(suppressed())
def test_the_shares_are_of_all_values_cases_and_reports_that_are_released(
    sql: Any, made: tuple[Release, set[tuple[int, str]]]
) -> None:
    release, gone = made
    store(sql, release, gone)
    rows = {
        (row["measure"], row["scope"]): row
        for row in sql.records("FROM srsql.suppressed_value_rate(1)")
    }
    if not gone:
        assert rows == {}
        return
    shown = sum(p == 1 for case in release.cases for p in case.terms.values())
    losers = {case for case, _ in gone}
    most = max(sum(t == term for _, t in gone) for term in release.thetas)
    due = {
        "values of cases": (len(gone), len(gone) + shown),
        "cases": (len(losers), len(release.cases)),
        "reports": (
            sum(release.cases[n].reports for n in losers),
            sum(case.reports for case in release.cases),
        ),
        "cases, worst value": (most, len(release.cases)),
    }
    for scope, (n, total) in due.items():
        row = rows["suppressed_values", scope]
        assert (row["violating"], row["total"]) == (n, total)
        assert row["ratio"] == pytest.approx(n / total)
        assert row["passed"] is None
    by_value = sql.records("FROM srsql.suppressed_confidence(1)")
    worst = rows["suppressed_confidence", "worst value"]
    assert worst["violating"] == sum(row["above"] for row in by_value)
    assert worst["total"] == sum(row["groups"] for row in by_value)
    assert worst["ratio"] == max(row["worst"] for row in by_value)
    assert len(rows) == len(due) + 1
    told = dict(
        sql.rows(
            "SELECT v.scope, (v.violating::BIGINT * 10000 + v.total::BIGINT - 1) // v.total::BIGINT"
            " FROM srsql.suppressed_value_rate(1) AS v WHERE v.measure = 'suppressed_values'"
        )
    )
    assert told == {scope: ceil(Fraction(n, total) * 10_000) for scope, (n, total) in due.items()}
