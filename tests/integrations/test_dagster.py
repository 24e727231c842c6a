"""The recipe for Dagster, run end to end in a process of its own, where Dagster is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.quarters import crowd, write_quarter

from srsql import Engine

RECIPE = Path(__file__).parents[2] / "integrations" / "dagster"
QUARTERS = {"2011-07-01": "2011Q3", "2011-10-01": "2011Q4"}
AFTER_A_GAP = {"2012-04-01": "2012Q2"}
RUN = """
import json, sys
import dagster as dg
import srsql_quarters as recipe

settings = recipe.Srsql(k=3, theta="0.5", audit_k=json.loads(sys.argv[2]))
chosen = [recipe.raw_quarter, recipe.release, recipe.artifact, recipe.audit]
selected = sys.argv[3:] or None
with dg.DagsterInstance.ephemeral() as instance:
    ran = dg.materialize(chosen, partition_key=sys.argv[1], resources={"settings": settings},
                         instance=instance, raise_on_error=False, selection=selected)
    print(json.dumps({
        "success": ran.success,
        "made": {event.asset_key.to_user_string(): {name: value.value for name, value
                 in event.materialization.metadata.items()}
                 for event in ran.get_asset_materialization_events()},
        "checks": {found.check_name: [found.passed, found.description]
                   for found in ran.get_asset_check_evaluations()},
    }))
"""
ASKED = """
from datetime import UTC, datetime
import dagster as dg
import srsql_quarters as recipe

for month in (2, 5):
    day = datetime(2012, month, 15, 2, tzinfo=UTC)
    now = dg.build_schedule_context(scheduled_execution_time=day)
    print(recipe.six_weeks_after(now).partition_key)
"""

CHECKED = """
import srsql_quarters as recipe

checks = recipe.quarterly.selection.resolve_checks(recipe.defs.resolve_asset_graph())
print(*(word for key in checks for word in (key.asset_key.to_user_string(), key.name)))
"""

pytestmark = pytest.mark.skipif(
    find_spec("dagster") is None, reason="dagster is not installed (.ci/integrations has it)"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dagster")
    for number, quarter in enumerate((QUARTERS | AFTER_A_GAP).values()):
        reports = crowd(60, first=1 + 30 * number, version=1 + number)
        write_quarter(folder / "quarters", quarter, reports)
    return folder


def dagster(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    own = {
        "SRSQL_DB": str(place / "w.duckdb"),
        "SRSQL_SOURCES": str(place / "quarters"),
        "SRSQL_PUBLISHED": str(place / "published"),
        "SRSQL_FIRST": min(QUARTERS),
        "DAGSTER_HOME": "",
        "DAGSTER_DISABLE_TELEMETRY": "1",
        "PYTHONPATH": str(RECIPE),
    }
    return subprocess.run(
        [sys.executable, *words],
        cwd=place,
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
    )


def materialized(
    place: Path, partition: str, *selected: str, audit_k: int | None = None
) -> dict[str, Any]:
    ran = dagster(place, "-c", RUN, partition, json.dumps(audit_k), *selected)
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return told


def test_a_series_goes_from_files_to_verified_folders(place: Path) -> None:
    for partition, quarter in QUARTERS.items():
        told = materialized(place, partition)
        assert told["success"]
        assert set(told["made"]) == {"raw_quarter", "release", "artifact"}
        assert told["made"]["release"]["quarter"] == quarter
        assert 0 <= told["made"]["release"]["information lost (NIL)"] < 1
        assert told["checks"]["audit"][0]
        assert told["checks"]["audit"][1].startswith("Safe: ")
        assert (place / "published" / quarter / "manifest.json").is_file()
    with Engine(place / "w.duckdb", read_only=True) as engine:
        series = engine.sql("SELECT DISTINCT quarter FROM released.demo ORDER BY quarter")
    assert [quarter for (quarter,) in series] == list(QUARTERS.values())


def test_a_step_that_is_done_is_passed_over(place: Path) -> None:
    told = materialized(place, max(QUARTERS))
    assert told["success"]
    assert told["made"]["raw_quarter"]["status"] != "loaded"


def test_nothing_is_published_of_a_series_that_is_not_safe(place: Path) -> None:
    told = materialized(place, max(QUARTERS), audit_k=30)
    assert not told["success"]
    assert "artifact" not in told["made"]
    assert told["checks"]["audit"][1].startswith("Unsafe: ")


def test_an_artifact_alone_is_not_published_of_a_series_that_is_not_safe(place: Path) -> None:
    told = materialized(place, max(QUARTERS), "artifact", audit_k=30)
    assert not told["success"]
    assert told["made"] == told["checks"] == {}


def test_a_quarter_after_a_gap_is_not_released(place: Path) -> None:
    told = materialized(place, max(AFTER_A_GAP))
    assert not told["success"]
    assert set(told["made"]) == {"raw_quarter"}
    with Engine(place / "w.duckdb", read_only=True) as engine:
        assert {row["quarter"] for row in engine.status().releases} == set(QUARTERS.values())


def test_the_scheduled_job_has_the_check(place: Path) -> None:
    ran = dagster(place, "-c", CHECKED)
    assert ran.stdout.split() == ["release", "audit"], ran.stderr


def test_the_schedule_takes_the_last_quarter_that_ended(place: Path) -> None:
    ran = dagster(place, "-c", ASKED)
    assert ran.stdout.split() == ["2011-10-01", "2012-01-01"], ran.stderr


def test_the_definitions_load_as_dagster_loads_them(place: Path) -> None:
    file = str(RECIPE / "srsql_quarters.py")
    loaded = dagster(place, "-m", "dagster", "definitions", "validate", "-f", file)
    assert loaded.returncode == 0, loaded.stdout + loaded.stderr
