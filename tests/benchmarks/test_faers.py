"""The quarters of FAERS at a scale: what is measured is kept, and the exponents are those of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.benchmark import load

faers = load("faers")
QUARTERS = {"2004Q1", "2004Q2", "2004Q3"}


def test_the_exponents_are_those_that_the_times_were_made_with() -> None:
    rows = [
        (number, f"Q{number}", "release", reports, 9.0, 2e-6 * reports**1.2 * number**0.4, 1.0)
        for number in range(1, 31)
        for reports in (500 + 7 * number % 90, 5_000)
    ]
    assert faers.exponents(rows) == pytest.approx((1.2, 0.4))


def test_few_quarters_and_quarters_alike_tell_no_exponent() -> None:
    rows = [(number, "", "", 500, 9.0, 0.1 * number, 1.0) for number in range(1, 31)]
    of_reports, of_number = faers.exponents(rows)
    assert of_reports is None
    assert of_number == pytest.approx(1)
    assert faers.exponents(rows[:5]) == (None, None)


@pytest.mark.thorough
def test_a_later_run_goes_on_where_one_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--scale", "0.001", "--folder", str(tmp_path), "--to"]
    faers.command([*asked, "2004Q1"])
    with faers.Engine(tmp_path / "faers-0.001.duckdb") as engine:
        kept = "SELECT * FROM benchmark.stage WHERE stage <> 'audit in full' ORDER BY ALL"
        before = engine.sql(kept)
    assert [row[2] for row in before] == ["audit in release", "ingest", "release", "synth"]
    faers.command([*asked, "2004Q2"])
    with faers.Engine(tmp_path / "faers-0.001.duckdb") as engine:
        after = engine.sql(kept)
    assert set(before) < set(after)
    assert len(after) == 2 * len(before)
    assert not [*tmp_path.glob("files-*")]
    told = capsys.readouterr().out
    assert "audit in full" in told
    with pytest.raises(SystemExit, match="a run of its own"):
        faers.command([*asked, "2004Q2", "--k", "6"])


@pytest.mark.thorough
def test_quarters_that_are_taken_in_ahead_are_measured_with_the_release_before_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--scale", "0.001", "--folder", str(tmp_path), "--ahead", "--to"]
    faers.command([*asked, "2004Q2"])
    faers.command([*asked, "2004Q3"])
    with faers.Engine(tmp_path / "faers-0.001.duckdb") as engine:
        found = engine.sql("SELECT quarter, stage FROM benchmark.stage WHERE seconds > 0")
        assert {row["quarter"] for row in engine.status().quarters} == QUARTERS
    own = {"synth", faers.TOGETHER, "audit in release"}
    assert set(found) == {(q, s) for q in QUARTERS for s in own} | {("2004Q3", "audit in full")}
    assert not [*tmp_path.glob("files-*")]
    assert "2004Q3 is out" in capsys.readouterr().out
