"""The recipe for Airflow, run end to end by Airflow, in an environment of its own beside srsql's.

``SRSQL_AIRFLOW_PYTHON`` names the interpreter that has Airflow (`.ci/integrations` makes it).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.quarters import crowd, write_quarter

RECIPE = Path(__file__).parents[2] / "integrations" / "airflow"
PYTHON = os.environ.get("SRSQL_AIRFLOW_PYTHON")
QUARTERS = ("2011Q3", "2011Q4")
AFTER_A_GAP = "2012Q2"
RUN = """
import json, sys
from srsql_quarters import dag

ran = dag.test(run_conf=json.loads(sys.argv[1]))
print("STATES " + json.dumps({task.task_id: task.state for task in ran.get_task_instances()}))
"""
NAMED = """
from datetime import datetime
from srsql_quarters import period_before

days = [(2023, 2, 15), (2023, 3, 31), (2023, 4, 1), (2023, 12, 31), (2024, 1, 1)]
print(*(period_before(datetime(*day)) for day in days))
"""

pytestmark = pytest.mark.skipif(
    PYTHON is None, reason="SRSQL_AIRFLOW_PYTHON names no Airflow (.ci/integrations does)"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("airflow")
    for number, quarter in enumerate((*QUARTERS, AFTER_A_GAP)):
        reports = crowd(60, first=1 + 30 * number, version=1 + number)
        write_quarter(folder / "quarters", quarter, reports)
    assert PYTHON is not None
    made = airflow(folder, "-m", "airflow", "db", "migrate")
    assert made.returncode == 0, made.stderr
    return folder


def airflow(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    assert PYTHON is not None
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    kept |= {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
    own = {
        "HOME": str(place),
        "AIRFLOW_HOME": str(place / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(RECIPE),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__LOGGING__COLORED_CONSOLE_LOG": "False",
        "SRSQL_COMMAND": f"{sys.executable} -m srsql",
        "SRSQL_DB": str(place / "w.duckdb"),
        "SRSQL_SOURCES": str(place / "quarters"),
        "SRSQL_PUBLISHED": str(place / "published"),
        "PYTHONPATH": str(RECIPE),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        [PYTHON, *words],
        cwd=place,
        env=kept | own,
        capture_output=True,
        text=True,
        check=False,
    )


def states(place: Path, **conf: object) -> dict[str, str]:
    ran = airflow(place, "-c", RUN, json.dumps({"k": 3, **conf}))
    told = [line for line in ran.stdout.splitlines() if line.startswith("STATES ")]
    assert told, ran.stdout + ran.stderr
    found: dict[str, str] = json.loads(told[0].removeprefix("STATES "))
    return found


def test_a_series_goes_from_files_to_verified_folders(place: Path) -> None:
    for quarter in QUARTERS:
        assert states(place, period=quarter) == dict.fromkeys(
            ("ingest", "need_no_gap", "release", "audit", "publish", "verify"), "success"
        )
        assert (place / "published" / quarter / "manifest.json").is_file()


def test_tasks_that_are_done_are_run_again_without_harm(place: Path) -> None:
    assert set(states(place, period=QUARTERS[-1]).values()) == {"success"}


def test_nothing_is_published_of_a_series_that_is_not_safe(place: Path) -> None:
    ended = states(place, period=QUARTERS[-1], audit_k=30)
    assert ended["release"] == "success"
    assert ended["audit"] == "failed"
    assert ended["publish"] == ended["verify"] == "upstream_failed"


def test_a_quarter_after_a_gap_is_not_released(place: Path) -> None:
    ended = states(place, period=AFTER_A_GAP)
    assert ended["ingest"] == "success"
    assert ended["need_no_gap"] == "failed"
    assert ended["release"] == ended["verify"] == "upstream_failed"


@pytest.mark.parametrize(
    "period", ["2011Q4; touch hurt", "$(touch hurt)", "2011Q5", "2011Q3:2011Q4"]
)
def test_nothing_but_a_quarter_becomes_a_word_of_a_command(place: Path, period: str) -> None:
    ran = airflow(place, "-c", RUN, json.dumps({"period": period}))
    assert "Invalid input for param period" in ran.stdout + ran.stderr
    assert '"success"' not in ran.stdout
    assert list(place.rglob("hurt")) == []


def test_a_run_takes_the_last_quarter_that_ended(place: Path) -> None:
    named = airflow(place, "-c", NAMED)
    assert named.stdout.split() == ["2022Q4", "2022Q4", "2023Q1", "2023Q3", "2023Q4"], named.stderr
