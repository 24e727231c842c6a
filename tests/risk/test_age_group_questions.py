"""Q1 to Q4 of Lee 2020, of released rows and of the originals, against plain Python."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest
from support.lattice_quarters import reports

from srsql.engine.api.engine import Engine

SHARE = {"M": {"M": 1.0, "F": 0.0, "": 0.5}, "F": {"M": 0.0, "F": 1.0, "": 0.5}}


@pytest.fixture
def engine(lattice_engine: Engine) -> Engine:
    return lattice_engine


def truth(value: str, sex: str, width: int) -> tuple[dict[int, float], dict[int, float]]:
    """Cases of the value by age group and their mean weight, from the reports as they were made."""
    cases: dict[int, list[Any]] = {}
    for report in reports(1):
        cases.setdefault(report.caseid, []).append(report)
    counts: dict[int, float] = {}
    amounts: dict[int, list[tuple[float, float]]] = {}
    for mine in cases.values():
        if not any(value.upper() in (term.upper() for term in report.pt) for report in mine):
            continue
        ages = [int(report.age) for report in mine if report.age]
        known = {report.sex for report in mine if report.sex}
        share = SHARE[sex][known.pop() if len(known) == 1 else ""]
        if not share:
            continue
        years = range(min(ages), max(ages) + 1) if ages else range(121)
        weight = fmean([float(report.wt) for report in mine])
        for year in years:
            group = year // width * width
            counts[group] = counts.get(group, 0.0) + share / len(years)
            amounts.setdefault(group, []).append((share / len(years), weight))
    means = {
        group: sum(w * a for w, a in pairs) / sum(w for w, _ in pairs)
        for group, pairs in amounts.items()
    }
    return counts, means


@pytest.mark.slow
@pytest.mark.parametrize("width", [5, pytest.param(10, marks=pytest.mark.thorough)])
def test_the_originals_answer_as_plain_python_does(engine: Engine, width: int) -> None:
    engine.release("2011Q1", model="full-domain", k=5, informative="pt", dimensions="age,sex,wt")
    found = engine.age_groups("2011Q1", " rash ", width=width)
    assert {row.value for row in found} == {"rash"}
    for sex in ("M", "F"):
        counts, means = truth("Rash", sex, width)
        mine = {row.age_group: row for row in found if row.condition == sex}
        assert {g for g, row in mine.items() if row.original} == set(counts)
        for group, count in counts.items():
            assert mine[group].original == pytest.approx(count)
            assert mine[group].original_mean == pytest.approx(means[group])
            assert mine[group].lower <= mine[group].expected + 1e-9
            assert mine[group].expected <= mine[group].upper + 1e-9


@pytest.mark.thorough
def test_the_metrics_tell_how_far_the_answers_are_off(engine: Engine) -> None:
    engine.release("2011Q1", model="full-domain", k=5, informative="pt", dimensions="age,sex")
    errors = {
        row.scope: row for row in engine.metrics("2011Q1") if row.measure == "group_count_error"
    }
    assert len(errors) == 2
    for scope, row in errors.items():
        sex = scope.rpartition(", ")[2]
        mine = [a for a in engine.age_groups("2011Q1") if a.condition == sex]
        assert row.violating == pytest.approx(sum(abs(a.expected - a.original) for a in mine))
        assert row.total == pytest.approx(sum(a.original for a in mine))


@pytest.mark.slow
def test_without_a_value_that_of_most_cases_is_asked_for(engine: Engine) -> None:
    engine.release("2011Q1", model="ipa", epsilon="1", informative="pt", dimensions="age,sex")
    held: dict[str, set[int]] = {}
    for report in reports(1):
        for term in report.pt:
            held.setdefault(term.lower(), set()).add(report.caseid)
    most = min(held, key=lambda term: (-len(held[term]), term))
    assert {row.value for row in engine.age_groups("2011Q1")} == {most}


@pytest.mark.slow
def test_nothing_is_asked_where_no_number_is_released(engine: Engine) -> None:
    engine.release("2011Q1", model="full-domain", k=5, informative="pt", dimensions="sex")
    assert engine.age_groups("2011Q1") == []
    assert not [row for row in engine.metrics("2011Q1") if row.measure.startswith("group_")]


@pytest.mark.thorough
def test_a_release_of_cases_has_no_such_questions(engine: Engine) -> None:
    engine.release("2011Q1", model="xy-anonymity", k=5)
    assert engine.age_groups("2011Q1") == []


@pytest.mark.slow
def test_rows_without_an_age_may_be_of_any_group(engine: Engine) -> None:
    made = engine.release("2011Q1", model="full-domain", k=60, informative="pt", dimensions="age")
    hidden = [
        row
        for row in engine.con.execute(
            f"SELECT age_low, pt FROM {made.schema}.released_rows"
        ).fetchall()
        if row[0] is None and row[1].upper() == "RASH"
    ]
    found = engine.age_groups("2011Q1", "Rash")
    assert hidden
    assert found
    assert all(row.upper >= len(hidden) for row in found)
    assert len(found) == 25  # of 5 years each from 0 to 120, which every one may be of
    told = sum(row.expected for row in found)
    assert told == pytest.approx(len(hidden) + sum(row.lower for row in found), abs=len(hidden))
    assert min(row.expected for row in found) >= len(hidden) / 121 - 1e-9
