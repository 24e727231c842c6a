"""The day of a release, in both manifests, and the one field in which equal releases differ."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import RELEASED_ON
from support.quarters import crowd, write_quarter
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ReleaseError

pytestmark = pytest.mark.thorough

OPTIONS: dict[str, Any] = {"model": "ms", "k": 3, "theta": "1/2", "seed": 1}


@pytest.fixture
def filled(engine: Engine, tmp_path: Path) -> Engine:
    engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(30))])
    return engine


def told(engine: Engine, schema: str) -> dict[str, Any]:
    (facts,) = rows(engine.con, f"FROM {schema}.manifest")
    return facts


def test_both_manifests_tell_the_day_and_nothing_else_differs(
    filled: Engine, tmp_path: Path
) -> None:
    one = filled.release("2011Q4", **OPTIONS, date="2024-02-29")
    assert one.manifest["release_date"] == "2024-02-29"
    other = filled.release(
        "2011Q4", **OPTIONS, date=datetime.date(2025, 1, 1), series="other", ids="original",
        allow_linkable=True,
    )  # fmt: skip
    before, after = told(filled, one.schema), told(filled, other.schema)
    assert (before.pop("release_date"), after.pop("release_date")) == ("2024-02-29", "2025-01-01")
    assert before == after


def test_without_a_day_it_is_today_or_that_of_source_date_epoch(
    filled: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert filled.release("2011Q4", **OPTIONS).manifest["release_date"] == RELEASED_ON
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    days = {datetime.datetime.now(datetime.UTC).date().isoformat()}
    made = filled.release("2011Q4", **OPTIONS, series="now", allow_linkable=True)
    days.add(datetime.datetime.now(datetime.UTC).date().isoformat())
    assert made.manifest["release_date"] in days
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ReleaseError, match="SOURCE_DATE_EPOCH='yesterday': give whole seconds"):
        filled.release("2011Q4", **OPTIONS, series="third", allow_linkable=True)


@pytest.mark.parametrize("day", ["2024-02-30", "24-02-03", "2024-2-3", "20240203", "today", ""])
def test_what_is_no_day_is_refused(filled: Engine, day: str) -> None:
    with pytest.raises(ReleaseError, match=r"--date .*: give a day as YYYY-MM-DD"):
        filled.release("2011Q4", **OPTIONS, date=day)


def test_a_draft_tells_the_day_on_which_it_is_exposed(filled: Engine) -> None:
    filled.release("2011Q4", **OPTIONS, date="2024-01-01", draft=True)
    made = filled.confirm("2011Q4", date="2024-03-01")
    assert made.manifest["release_date"] == "2024-03-01"
    assert told(filled, "release_2011q4")["release_date"] == "2024-03-01"
    (private,) = filled.sql("SELECT private_manifest->>'release_date' FROM srsql.release")
    assert private == ("2024-03-01",)


def test_a_correction_has_a_day_of_its_own(filled: Engine) -> None:
    filled.release("2011Q4", **OPTIONS, date="2024-01-01")
    filled.forget(["7"], reason="request")
    filled.correct("2011Q4")
    assert told(filled, "release_2011q4")["release_date"] == RELEASED_ON
    filled.forget(["8"], reason="request")
    filled.correct("2011Q4", date="2024-03-01")
    assert told(filled, "release_2011q4")["release_date"] == "2024-03-01"


def test_the_artifact_its_readme_and_its_report_tell_the_day(
    filled: Engine, tmp_path: Path
) -> None:
    filled.release("2011Q4", **OPTIONS, date="2024-02-29")
    filled.publish("2011Q4", tmp_path / "out")
    told = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert told["parameters"]["release_date"] == "2024-02-29"
    assert "Released on 2024-02-29: 30 cases" in (tmp_path / "out" / "README.md").read_text()
    assert "2024-02-29" in (tmp_path / "out" / "report.html").read_text()
    assert "2024-02-29" in filled.report("2011Q4").html


def test_a_series_does_not_remember_the_day(filled: Engine) -> None:
    filled.release("2011Q4", **OPTIONS, date="2024-01-01")
    assert "date" not in filled.series("main")[0].parameters
    with pytest.raises(ReleaseError):
        filled.create_series("b", date="2024-01-01")
