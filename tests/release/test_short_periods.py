"""Months, ISO weeks and days as periods of a series, across the end of a year."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile

import pytest
from support.quarters import crowd, next_version, write_quarter
from support.released import rows

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.errors import IngestError, ReleaseError
from srsql.engine.extras.synth import SynthError, quarter_range

PERIODS = {
    "month": ("2025-12", "2026-01", "2026-02"),
    "week": ("2026W52", "2026W53", "2027W01"),
    "day": ("2024-02-28", "2024-02-29", "2024-03-01"),
}


def bring(engine: Engine, folder: Path, label: str, first: int, again: int = 0) -> None:
    """Thirty new cases, and follow-ups of some that came before; the period is said."""
    reports = [*crowd(30, first), *map(next_version, crowd(again, first - 30 or 1))]
    file = write_quarter(folder / label, "batch", reports)
    engine.ingest([file], period=label)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", PERIODS)
def test_a_series_of_short_periods_lives_as_one_of_quarters_does(tmp_path: Path, kind: str) -> None:
    labels = PERIODS[kind]
    with Engine(tmp_path / "w.duckdb") as engine:
        for place, label in enumerate(labels):
            bring(engine, tmp_path, label, 1 + 30 * place, 12 if place else 0)
        made = engine.release_range(
            f"{labels[0]}:{labels[1]}", model="ppms-alpha", k=3, theta="0.5", alpha="0.9",
            on_infeasible="withhold", seed=1,
        )  # fmt: skip
        assert made.missing == []
        for released in made.released:
            assert released.schema == f"release_{released.quarter}".lower()
            shown = rows(engine.con, f'SELECT DISTINCT quarter FROM "{released.schema}".demo')
            assert shown == [{"quarter": released.quarter}]
        second = made.released[1].manifest
        assert second["cases"]["old"] > 0
        found = engine.audit(attacks=["b", "f", "l", "md", "p"])
        assert (*found.gaps, *found.without_calendar) == ()
        with pytest.raises(ReleaseError, match=f"after {labels[2]}"):
            engine.release(labels[2], model="ppms-alpha", k=3, theta="0.5", change=True)
        artifact = tmp_path / "artifact"
        engine.publish(f"{labels[0]}:{labels[1]}", artifact)
        assert labels[1] in engine.report(labels[1]).html
        assert [row["quarter"] for row in engine.status().quarters] == list(labels)
    assert verify([artifact]).passed


def test_a_period_that_is_missing_is_none_that_follows(tmp_path: Path) -> None:
    """MD and what was promised absent are of the next week, not of the next one that is there."""
    with Engine(tmp_path / "w.duckdb") as engine:
        for place, label in enumerate(("2026W52", "2027W01")):
            bring(engine, tmp_path, label, 1 + 30 * place)
        with pytest.raises(ReleaseError, match="after 2026W52"):
            engine.release("2026W52", model="ppms-alpha", k=3, theta="0.5", alpha="0.9")


def test_periods_of_another_kind_and_names_are_refused_in_a_line(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        bring(engine, tmp_path, "2026W06", 1)
        for label, told in (("2026Q1", "one kind"), ("2025W53", "calendar")):
            file = write_quarter(tmp_path / label, "batch", crowd(3))
            with pytest.raises(IngestError, match=told) as refused:
                engine.ingest([file], period=label)
            assert "\n" not in str(refused.value)
        file = write_quarter(tmp_path / "as written", "batch", crowd(3))
        (loaded,) = engine.ingest([file], period="2026-W07")
        assert loaded.quarter == "2026W07", "the spelling of the periods that are there"


def test_a_week_is_read_off_a_name_and_a_quarter_gives_way_to_a_week_of_it(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        (named,) = engine.ingest([write_quarter(tmp_path, "2026w01", crowd(3))])
        assert named.quarter == "2026W01"
        quarterly = write_quarter(tmp_path, "2026Q1", crowd(3, 4))
        (given,) = engine.ingest([quarterly], period="2026W14")  # March 30 to April 5
        assert given.quarter == "2026W14"
        for label in ("2026W15", "2026", "2026Q2"):
            with pytest.raises(IngestError, match="is 2026Q1 by its file names"):
                engine.ingest([quarterly], period=label)


def test_the_week_in_the_name_of_an_archive_goes_before_the_quarter_of_its_files(
    tmp_path: Path,
) -> None:
    file = write_quarter(tmp_path, "2026Q1", crowd(3))
    with Engine(tmp_path / "w.duckdb") as engine:
        for week, told in (("2026W14", ""), ("2026W15", "is 2026W15 by .*, or rename it")):
            archive = file.with_name(f"faers_ascii_{week.lower()}.zip")
            copyfile(file, archive)
            if told:
                with pytest.raises(IngestError, match=told) as refused:
                    engine.ingest([archive])
                assert "\n" not in str(refused.value)
                continue
            assert [each.quarter for each in engine.ingest([archive])] == [week]


def test_weeks_that_lie_in_two_layouts_are_not_made() -> None:
    assert quarter_range("2026W52", "2027W01") == ["2026W52", "2026W53", "2027W01"]
    with pytest.raises(SynthError, match="not an ISO week"):
        quarter_range("2025W53", "2026W01")
    with pytest.raises(SynthError, match="reversed"):
        quarter_range("2026W02", "2026W01")
