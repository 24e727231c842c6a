"""Cases that no group has room for wait for the next period: what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.quarters import Report, crowd, next_version, write_quarter
from support.released import rows

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.console.release import release_lines
from srsql.engine.errors import ReleaseError

ONE, TWO, THREE, FOUR = "2026W52", "2026W53", "2027W01", "2027W02"
OPTIONS: dict[str, Any] = {
    "model": "ppms++", "k": 3, "theta": "0.5", "seed": 1, "max_delay": 2, "ids": "pseudonym",
}  # fmt: skip


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


def bring(engine: Engine, label: str, reports: list[Report], gone: list[int] | None = None) -> None:
    folder = Path(str(engine.warehouse.path)).parent / label
    engine.ingest(
        [write_quarter(folder, label, reports, gone or [])], replace=True, allow_incomplete=True
    )


def shown(engine: Engine, label: str) -> list[dict[str, Any]]:
    """Rows of a release without ids."""
    view = f"release_{label}".lower()
    return rows(
        engine.con,
        f"SELECT d.* EXCLUDE (primaryid, caseid), r.pt FROM {view}.demo AS d "
        f"JOIN {view}.reac AS r USING (primaryid, caseid) ORDER BY ALL",
    )


def waiting(engine: Engine) -> list[tuple[Any, ...]]:
    return engine.sql(
        "SELECT r.quarter, w.case_id, w.since FROM srsql.waiting AS w "
        "JOIN srsql.release AS r USING (release_id) ORDER BY ALL"
    )


def two_weeks(engine: Engine) -> None:
    """Two cases find no third; in the next week two others come."""
    bring(engine, ONE, crowd(2))
    bring(engine, TWO, crowd(2, 3))
    engine.release_range(f"{ONE}:{TWO}", **OPTIONS)


@pytest.mark.thorough
def test_a_waiting_case_whose_report_comes_again_under_another_id_is_told(engine: Engine) -> None:
    first = crowd(2)
    bring(engine, ONE, first)
    bring(engine, TWO, [replace(first[0], caseid=77), *crowd(2, 3)])
    engine.release(ONE, **OPTIONS)
    made = engine.release(TWO, **OPTIONS)
    assert made.manifest["taken_in"] == made.manifest["reported_otherwise"] == 1
    assert any("1 cases waited whose reports all came" in line for line in release_lines(made))
    members = engine.sql("SELECT m.case_id FROM srsql.member AS m ORDER BY ALL")
    assert [case for (case,) in members] == ["2", "3", "4", "77"]
    explained = engine.explain(TWO, "1")
    assert explained.outcome == "not in the release"
    assert f"it waited since {ONE}, and all of its reports came again under" in explained.why[0]
    asked = engine.query("SELECT count(DISTINCT caseid) FROM demo", include_withheld=True)
    assert any("those that wait count in each quarter" in note for note in asked.notes)


def test_a_case_waits_and_is_released_with_those_who_come_later(
    engine: Engine, tmp_path: Path
) -> None:
    two_weeks(engine)
    assert shown(engine, ONE) == []
    assert [row["pt"] for row in shown(engine, TWO)] == [f"Reaction 0{n}" for n in (1, 2, 3, 4)]
    assert {row["quarter"] for row in shown(engine, TWO)} == {TWO}
    assert waiting(engine) == [(ONE, "1", ONE), (ONE, "2", ONE)]
    told = {row.measure: row for row in engine.metrics(TWO)}
    assert (told["delay"].violating, told["delay"].total, told["delay"].ratio) == (2, 4, 0)
    assert told["known_report_period"].violating == 1
    (series,) = engine.status().series
    assert series["waiting"].startswith("0 cases wait; those released waited 0 period(s)")
    first, second = engine.explain(ONE, "1"), engine.explain(TWO, "1")
    assert (first.outcome, first.reason) == ("withheld", "too_few_new_cases")
    assert f"it waits since {ONE}" in " ".join(first.why)
    assert second.outcome == "released"
    assert f"it waited since {ONE}" in " ".join(second.why)
    engine.publish(f"{ONE}:{TWO}", tmp_path / "both")
    assert verify([tmp_path / "both"]).passed
    points = {
        (point.span, point.period): point for point in engine.trend("Drug 1", "Reaction 01").points
    }
    cells = {key: point.original and sum(cells_of(point.original)) for key, point in points.items()}
    assert cells == {
        ("period", ONE): 0, ("period", TWO): 4, ("cumulative", ONE): 0, ("cumulative", TWO): 4,
    }  # fmt: skip


def cells_of(measures: Any) -> list[float]:
    return [measures.a, measures.b, measures.c, measures.d]


@pytest.mark.thorough
def test_a_case_that_waited_long_enough_is_withheld_for_good(engine: Engine) -> None:
    for label, reports in ((ONE, crowd(2)), (TWO, crowd(1, 90)), (THREE, crowd(4, 3))):
        bring(engine, label, reports)
    engine.release_range(f"{ONE}:{THREE}", **OPTIONS | {"max_delay": 1, "k": 4})
    assert waiting(engine) == [(ONE, "1", ONE), (ONE, "2", ONE), (TWO, "90", TWO)]
    (gone,) = engine.sql(
        "SELECT list(w.case_id ORDER BY w.case_id) FROM srsql.withheld AS w "
        "JOIN srsql.release AS r USING (release_id) WHERE r.quarter = ?",
        [TWO],
    )
    assert gone == (["1", "2", "90"],)
    assert len(shown(engine, THREE)) == 5  # case 90 is one of them


@pytest.mark.thorough
def test_without_max_delay_the_pool_empties_and_nobody_joins_it(engine: Engine) -> None:
    bring(engine, ONE, crowd(2))
    bring(engine, TWO, crowd(2, 3))
    bring(engine, THREE, crowd(2, 5))
    engine.release(ONE, **OPTIONS)
    engine.set_series("main", unset=["max_delay"])
    made = engine.release(TWO)
    assert (made.manifest["taken_in"], made.manifest["cases"]["released"]) == (2, 4)
    last = engine.release_range(f"{THREE}:{THREE}").released[0]
    assert last.manifest["cases"] == {"released": 0, "new": 0, "old": 0, "withheld": 2}
    assert "waiting" not in last.manifest


@pytest.mark.thorough
def test_rows_of_a_lake_and_of_a_file_are_the_same(engine: Engine, tmp_path: Path) -> None:
    two_weeks(engine)
    with Engine(tmp_path / "lake.duckdb") as other:
        for label, reports in ((ONE, crowd(2)), (TWO, crowd(2, 3))):
            file = write_quarter(tmp_path / "again" / label, label, reports)
            other.ingest([file], lake=tmp_path / "lake", allow_incomplete=True)
        other.release_range(f"{ONE}:{TWO}", workers=2, **OPTIONS)
        assert shown(other, TWO) == shown(engine, TWO)
        assert other.audit().safe


@pytest.mark.thorough
def test_a_report_that_comes_again_is_released_once_as_it_was_told_last(engine: Engine) -> None:
    bring(engine, ONE, crowd(2))
    again = replace(crowd(1)[0], pt=("Another",))
    bring(engine, TWO, [again, next_version(crowd(2)[1]), *crowd(2, 3)])
    engine.release_range(f"{ONE}:{TWO}", **OPTIONS)
    reports = rows(engine.con, f"SELECT caseid, count(*) AS n FROM release_{TWO}.demo GROUP BY 1")
    assert sorted(row["n"] for row in reports) == [1, 1, 1, 2]
    assert "Reaction 01" not in {row["pt"] for row in shown(engine, TWO)}
    assert "Another" in {row["pt"] for row in shown(engine, TWO)}


@pytest.mark.thorough
def test_a_draft_holds_nobody_back_until_it_is_exposed(engine: Engine) -> None:
    bring(engine, ONE, crowd(2))
    bring(engine, TWO, crowd(2, 3))
    engine.release(ONE, draft=True, **OPTIONS)
    engine.release(ONE, draft=True, **OPTIONS)
    assert waiting(engine) == [(ONE, "1", ONE), (ONE, "2", ONE)]
    engine.confirm(ONE)
    engine.release(TWO, draft=True, **OPTIONS)
    assert {row.measure for row in engine.metrics(TWO)} >= {"delay", "waiting"}
    assert engine.confirm(TWO).rows["demo"] == 4


@pytest.mark.thorough
def test_a_withdrawn_case_that_waited_leaves_with_its_group(engine: Engine) -> None:
    two_weeks(engine)
    bring(engine, THREE, crowd(3, 10), gone=[1])
    (stale,) = engine.stale()
    assert (stale.quarter, stale.cases) == (TWO, {"deleted": 1})
    corrected = engine.correct(TWO)
    assert (corrected.withdrawn, corrected.groups) == ({"deleted": 1}, 1)
    made = engine.release(THREE, **OPTIONS)
    assert made.manifest["cases"]["released"] == 3
    assert engine.audit().safe


@pytest.mark.thorough
def test_a_forgotten_case_waits_no_more(engine: Engine) -> None:
    bring(engine, ONE, crowd(2))
    bring(engine, TWO, crowd(3, 3))
    engine.release(ONE, **OPTIONS)
    receipt = engine.forget(["1"], reason="asked")
    assert receipt.renamed["srsql.waiting"] == 1
    assert "1" not in {case for _, case, _ in waiting(engine)}
    made = engine.release(TWO, **OPTIONS)
    assert made.manifest["cases"]["released"] == 4


@pytest.mark.thorough
def test_a_period_of_such_a_series_cannot_be_superseded(engine: Engine) -> None:
    bring(engine, ONE, crowd(2))
    bring(engine, TWO, crowd(2, 3))
    engine.release_range(f"{ONE}:{TWO}", **OPTIONS | {"model": "ms"})
    with pytest.raises(ReleaseError, match="would release them twice"):
        engine.release(TWO, supersede=True)
    engine.set_series("main", unset=["max_delay"])
    with pytest.raises(ReleaseError, match="would release them twice"):
        engine.release(TWO, supersede=True)


@pytest.mark.thorough
def test_a_report_that_comes_again_in_a_skipped_period_is_released_as_it_waited(
    engine: Engine,
) -> None:
    bring(engine, ONE, crowd(2))
    bring(engine, TWO, [replace(crowd(1)[0], pt=("Skipped",)), *crowd(4, 50)])
    bring(engine, THREE, crowd(2, 3))
    for label in (ONE, THREE):
        engine.release(label, **OPTIONS)
    assert [row["pt"] for row in shown(engine, THREE)] == [f"Reaction 0{n}" for n in (1, 2, 3, 4)]


@pytest.mark.thorough
def test_what_came_in_a_skipped_period_comes_out_in_no_later_one(engine: Engine) -> None:
    """Also where its case waits before and after it; nor is a case stale by what it has there."""
    follow_up = replace(next_version(crowd(1)[0]), pt=("Skipped",))
    again = replace(crowd(2)[1], pt=("Skipped",))
    bring(engine, ONE, crowd(2))
    bring(engine, TWO, [follow_up, again, *crowd(4, 50)])
    bring(engine, THREE, [])
    bring(engine, FOUR, crowd(3, 60))
    for label in (ONE, THREE, FOUR):
        engine.release(label, **OPTIONS | {"max_delay": 5})
    assert waiting(engine)[2:] == [(THREE, "1", ONE), (THREE, "2", ONE)]
    assert sorted(row["pt"] for row in shown(engine, FOUR)) == [
        f"Reaction {n}" for n in ("01", "02", "20", "21", "22")
    ]
    bring(engine, TWO, [])
    assert engine.stale() == []
