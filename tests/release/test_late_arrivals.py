"""Reports that come when their period is out: which release takes them, and what it tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.dumps import OPTIONS, Q1, Q2, Q3, dump, measured, members, withheld
from support.quarters import Report, crowd, next_version
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import CheckFailedError, ReleaseError


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


def one_released(engine: Engine, late: list[Report], **options: Any) -> None:
    """A quarter is out; then late reports of it come."""
    dump(engine, Q1, crowd(8))
    engine.release.make(Q1, **OPTIONS | options)
    dump(engine, Q1, [*crowd(8), *late])


def manifest(engine: Engine, quarter: str) -> dict[str, Any]:
    (told,) = rows(engine.con, f"SELECT * FROM release_{quarter.lower()}.manifest")
    return told


def test_a_late_report_of_a_new_case_goes_into_the_next_release(engine: Engine) -> None:
    one_released(engine, crowd(4, 30))
    (series,) = engine.status().series
    assert series["late"].startswith("4 cases came late and wait for the next release; 0 late")
    dump(engine, Q2, crowd(6, 50))
    engine.release.make(Q2, **OPTIONS)
    assert members(engine, Q2) == {30, 31, 32, 33, *range(50, 56)}
    assert members(engine, Q1) == set(range(1, 9))
    assert manifest(engine, Q2)["late_cases"] == "4"
    assert manifest(engine, Q1)["late_cases"] == "fewer than 3"
    assert measured(engine, Q2, "check_late") == [("reports", 0, 4)]
    assert measured(engine, Q2, "check_delay")[0][1] == 0
    assert measured(engine, Q2, "known_report_period")
    assert engine.audit.run().safe
    (series,) = engine.status().series
    assert series["late"].startswith("0 cases came late")


@pytest.mark.slow
def test_a_late_report_of_a_released_case_waits_for_a_report_of_another_period(
    engine: Engine,
) -> None:
    version = replace(next_version(crowd(1)[0]), pt=("Rash",))
    one_released(engine, [version, replace(next_version(crowd(2)[1]), pt=("Cough",))])
    (series,) = engine.status().series
    assert "; 2 late reports of released cases" in series["late"]
    back = replace(crowd(1)[0], primaryid=9001)
    dump(engine, Q2, [*crowd(6, 50), back])
    engine.release.make(Q2, **OPTIONS)
    assert members(engine, Q2) == {1, *range(50, 56)}  # 2 has no report of the quarter
    seen = [pt for (pt,) in engine.sql("SELECT pt FROM release_2021q2.reac")]
    assert "Rash" in seen
    assert "Cough" not in seen
    assert engine.audit.run().safe
    (series,) = engine.status().series
    assert "; 1 late reports of released cases" in series["late"]


@pytest.mark.slow
def test_a_changed_report_is_a_version_and_its_quarter_stays_as_it_is(engine: Engine) -> None:
    first = crowd(8)
    dump(engine, Q1, first)
    engine.release.make(Q1, **OPTIONS)
    shown = rows(engine.con, "SELECT * FROM release_2021q1.reac ORDER BY ALL")
    dump(engine, Q1, [replace(first[0], pt=("Rash",)), *first[1:]])
    assert [each["stale"] for each in engine.status().releases] == [{}]
    dump(engine, Q2, [*crowd(6, 50), replace(first[0], primaryid=9001)])
    engine.release.make(Q2, **OPTIONS)
    assert rows(engine.con, "SELECT * FROM release_2021q1.reac ORDER BY ALL") == shown
    assert ("Rash",) in engine.sql("SELECT pt FROM release_2021q2.reac")
    assert 1 in members(engine, Q2)


@pytest.mark.slow
def test_a_quarter_that_is_not_out_takes_all_that_came_of_it(engine: Engine) -> None:
    first = crowd(8)
    dump(engine, Q1, first)
    dump(engine, Q1, [replace(first[0], pt=("Rash",)), *first[1:], *crowd(2, 30)])
    engine.release.make(Q1, **OPTIONS)
    assert members(engine, Q1) == {*range(1, 9), 30, 31}
    seen = [pt for (pt,) in engine.sql("SELECT pt FROM release_2021q1.reac")]
    assert sorted(seen) == sorted(
        ["Rash", *(pt for r in [*first[1:], *crowd(2, 30)] for pt in r.pt)]
    )
    assert manifest(engine, Q1)["late_cases"] == "fewer than 3"


@pytest.mark.thorough
def test_a_model_that_lags_takes_late_reports_into_the_quarter_that_is_not_out(
    engine: Engine,
) -> None:
    lagging = OPTIONS | {"model": "ppms-alpha", "alpha": "0.9"}
    dump(engine, Q1, crowd(8))
    dump(engine, Q2, crowd(8, 50))
    dump(engine, Q1, crowd(12))  # Q1 is not out: these are its own
    engine.release.make(Q1, **lagging)
    assert set(range(9, 13)) <= members(engine, Q1) | set(withheld(engine, Q1))
    dump(engine, Q1, [*crowd(12), *crowd(3, 20)])
    dump(engine, Q3, crowd(8, 80))
    engine.release.make(Q2, **lagging)
    assert {20, 21, 22} <= members(engine, Q2) | set(withheld(engine, Q2))
    assert engine.audit.run().safe


@pytest.mark.slow
def test_no_version_of_a_quarter_gains_a_late_case(engine: Engine) -> None:
    plain = OPTIONS | {"model": "ms", "theta": "0.9"}
    dump(engine, Q1, crowd(8))
    engine.release.make(Q1, **plain)
    dump(engine, Q1, crowd(12))
    engine.release.make(Q1, supersede=True, **plain)
    assert members(engine, Q1) == set(range(1, 9))
    dump(engine, Q1, crowd(12)[1:])  # case 1 vanishes
    engine.correct(Q1)
    assert members(engine, Q1) < set(range(2, 9))
    dump(engine, Q2, crowd(6, 50))
    engine.release.make(Q2, **plain)
    assert members(engine, Q2) >= {9, 10, 11, 12}


@pytest.mark.slow
def test_late_cases_wait_while_the_next_quarter_is_empty(engine: Engine) -> None:
    one_released(engine, crowd(4, 30))
    with pytest.raises(ReleaseError, match="is not in the warehouse"):
        engine.release.make(Q2, **OPTIONS)
    dump(engine, Q3, crowd(6, 50))
    engine.release.make(Q3, **OPTIONS)
    assert members(engine, Q3) >= {30, 31, 32, 33}


@pytest.mark.slow
def test_a_series_with_ids_of_the_source_withholds_late_cases(engine: Engine) -> None:
    given = OPTIONS | {"ids": "original"}
    one_released(engine, [*crowd(4, 30), next_version(crowd(1)[0])], ids="original")
    dump(engine, Q2, [*crowd(6, 50), replace(crowd(1)[0], primaryid=9001)])
    engine.release.make(Q2, **given)
    assert withheld(engine, Q2) == dict.fromkeys(range(30, 34), "late_not_released")
    assert members(engine, Q2) == {1, *range(50, 56)}
    assert (12,) not in engine.sql("SELECT primaryid FROM release_2021q2.demo")
    assert "late_not_released" in str(engine.explain(Q2, "30").reason)
    dump(engine, Q3, crowd(6, 80))
    engine.release.make(Q3, **given)
    assert not {30, 31, 32, 33} & (members(engine, Q3) | set(withheld(engine, Q3)))


@pytest.mark.thorough
def test_each_series_takes_late_reports_by_its_own_releases(engine: Engine) -> None:
    one_released(engine, crowd(4, 30))
    other = OPTIONS | {"series": "other", "weaker": True, "allow_linkable": True}
    engine.release.make(Q1, **other)
    assert members(engine, Q1, "other") == {*range(1, 9), *range(30, 34)}
    dump(engine, Q2, crowd(6, 50))
    engine.release.make(Q2, **OPTIONS | {"allow_linkable": True})  # Q1 of the other has the late
    engine.release.make(Q2, **other)
    assert members(engine, Q2) >= {30, 31, 32, 33}
    assert members(engine, Q2, "other") == set(range(50, 56))


@pytest.mark.thorough
def test_a_draft_takes_what_had_come_and_nothing_that_comes_before_it_is_confirmed(
    engine: Engine,
) -> None:
    one_released(engine, crowd(4, 30))
    dump(engine, Q2, crowd(6, 50))
    engine.release.make(Q2, draft=True, **OPTIONS)
    dump(engine, Q2, crowd(9, 50))
    dump(engine, Q1, [*crowd(8), *crowd(6, 30)])
    engine.confirm(Q2)
    assert members(engine, Q2) == {*range(30, 34), *range(50, 56)}
    dump(engine, Q3, crowd(6, 80))
    engine.release.make(Q3, **OPTIONS)
    assert members(engine, Q3) == {34, 35, 56, 57, 58, *range(80, 86)}
    assert engine.audit.run().safe


@pytest.mark.slow
def test_late_cases_without_a_group_wait_as_others_do(engine: Engine) -> None:
    waiting = OPTIONS | {"max_delay": 3}
    one_released(engine, crowd(1, 30), max_delay=3)
    dump(engine, Q2, crowd(1, 50))
    engine.release.make(Q2, **waiting)
    assert withheld(engine, Q2) == dict.fromkeys([30, 50], "too_few_new_cases")
    dump(engine, Q1, [*crowd(8), *crowd(2, 30)])
    dump(engine, Q3, crowd(2, 80))
    engine.release.make(Q3, **waiting)
    assert members(engine, Q3) == {30, 31, 50, 80, 81}
    assert measured(engine, Q3, "check_delay")[0][1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["elsewhere", "not out"])
def test_the_check_finds_a_late_report_that_should_not_be_there(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    """A maker that takes every late report, of released cases or of quarters that are not out."""
    from srsql.engine.release.features import late

    own = late.query

    def careless(topic: str, name: str) -> str:
        text = own(topic, name)
        if name != "take_late":
            return text
        if wrong == "elsewhere":
            return text.replace(
                "ELSE f.case_id NOT IN (SELECT d.case_id FROM released AS d)", "ELSE true"
            )
        return text.replace("AND f.quarter IN (SELECT k.quarter FROM known AS k)", "")

    if wrong == "elsewhere":
        one_released(engine, [next_version(crowd(1)[0])])
    else:
        dump(engine, Q1, crowd(8))
        dump(engine, Q1, crowd(12))
    dump(engine, Q2, crowd(6, 50))
    monkeypatch.setattr(late, "query", careless)
    with pytest.raises(CheckFailedError, match="check_late"):
        engine.release.make(Q2, **OPTIONS)
