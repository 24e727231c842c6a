"""Kill -9 during a release, at every stage of it: no trace, and a rerun is the same release."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.files import copied
from support.quarters import crowd
from support.released import content, exported, schemas

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.slow

STAGES = [
    "cases",
    "history",
    "kernels",
    "thresholds",
    "grouping",
    "regions",
    "catalog",
    "tables",
    "singling out",
    "views",
    "links",
    "checks",
    "audit",
    "metrics",
]
CHILD = """
import os, signal, sys
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.api.engine import Engine

point, db = sys.argv[1:]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def progress(stage):
    print(stage, flush=True)
    if stage == point:
        die()

if point == "before the commit":
    done = Warehouse.drop_temporary_tables
    Warehouse.drop_temporary_tables = lambda *given: (done(*given), die())
with Engine(db) as engine:
    engine.release("2011Q4", k=3, theta="0.5", seed=1, progress=progress)
    if point == "after the commit":
        die()
"""
OPTIONS: dict[str, Any] = {"k": 3, "theta": "0.5", "seed": 1, "ids": "original"}
"""Original ids, which two warehouses have in common."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def db(kept: Path, tmp_path: Path) -> Path:
    quarters = {"2011Q3": crowd(60), "2011Q4": crowd(60, first=31, version=2)}
    return copied(kept / "quarters", tmp_path / "w.duckdb", quarters)


@pytest.fixture(scope="module")
def undisturbed(kept: Path) -> dict[str, str]:
    """Hash of every view of the release that nobody killed."""
    quarters = {"2011Q3": crowd(60), "2011Q4": crowd(60, first=31, version=2)}
    with Engine(copied(kept / "quarters", kept / "undisturbed.duckdb", quarters)) as engine:
        engine.release("2011Q3", **OPTIONS)
        made = engine.release("2011Q4", **OPTIONS)
        return exported(engine.con, made.schema, kept / "csv")


def test_the_stages_named_here_are_all_stages_of_a_release(db: Path) -> None:
    said: list[str] = []
    with Engine(db) as engine:
        engine.release("2011Q3", **OPTIONS, progress=said.append)
    assert said == STAGES


@pytest.mark.thorough
@pytest.mark.parametrize("point", [*STAGES, "before the commit", "after the commit"])
def test_a_killed_release_leaves_all_or_nothing_and_a_rerun_is_the_same_release(
    db: Path, undisturbed: dict[str, str], point: str, tmp_path: Path
) -> None:
    with Engine(db) as engine:
        engine.release("2011Q3", **OPTIONS)
        before = content(engine.con)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, point, str(db)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    reached = STAGES[: STAGES.index(point) + 1] if point in STAGES else STAGES
    assert done.stdout.splitlines() == reached
    with Engine(db) as engine:
        if point == "after the commit":
            assert schemas(engine.con) == {"release_2011q3", "release_2011q4"}
        else:
            assert content(engine.con) == before
            engine.release("2011Q4", **OPTIONS)
        assert exported(engine.con, "release_2011q4", tmp_path / "csv") == undisturbed
        assert engine.sql("SELECT count(*) FROM srsql.release") == [(2,)]


@pytest.mark.thorough
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
def test_a_release_killed_at_any_time_leaves_all_or_nothing(
    db: Path, undisturbed: dict[str, str], share: float, tmp_path: Path
) -> None:
    command = [
        sys.executable, "-m", "srsql.cli", "release", "--quarter", "2011Q4", "--k", "3",
        "--theta", "0.5", "--seed", "1", "--db",
    ]  # fmt: skip
    with Engine(db) as engine:
        engine.release("2011Q3", **OPTIONS)
        before = content(engine.con)
    child = subprocess.Popen([*command, str(db)])
    try:
        child.wait(timeout=share * 2)
    except subprocess.TimeoutExpired:
        child.kill()
    killed = child.wait() != 0
    with Engine(db) as engine:
        out = "release_2011q4" in schemas(engine.con)
        assert killed or out
        if not out:
            assert content(engine.con) == before
            engine.release("2011Q4", **OPTIONS)
        assert exported(engine.con, "release_2011q4", tmp_path / "csv") == undisturbed
