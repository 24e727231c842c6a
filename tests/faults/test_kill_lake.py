"""Kill -9 while a lake is changed: the rows of before or of after, and nothing is left behind."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.quarters import crowd, write_quarter

from srsql import Engine

pytestmark = pytest.mark.thorough

CHILD = """
import os, signal, sys
from srsql import Engine
from srsql.engine.lake import lake
from srsql.engine.store import lake_files, warehouse

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def nth(call, number):
    def called(*given, **named):
        called.count += 1
        return die() if called.count == number else call(*given, **named)
    called.count = 0
    return called

point, command, db, folder, source = sys.argv[1:]
with Engine(db) as engine:
    if point == "before anything is written":
        lake.private_folder = die
    elif point == "while a file is staged":
        lake.digest = nth(lake.digest, 3)
    elif point == "before a file has its name":
        os.rename = nth(os.rename, 4)
    elif point == "before the commit":
        warehouse._commit = nth(warehouse._commit, 2)  # the first notes that a change begins
    elif point == "after the commit":
        lake.clear_leftovers = die
    elif point == "while files are removed":
        lake_files._remove = nth(lake_files._remove, 2)
    elif point == "before the marker counts":
        lake_files.write_marker = die
    if command == "first":
        engine.ingest([source], lake=folder)
    elif command == "replace":
        engine.ingest([source], replace=True)
    else:
        engine.forget(["7"], reason="asked")
    die()
"""
BEFORE = (
    "before anything is written",
    "while a file is staged",
    "before a file has its name",
    "before the commit",
)
AFTER = ("after the commit", "while files are removed", "before the marker counts", "at the end")


def rows(engine: Engine) -> Any:
    """The cases that are there; None: no raw table is."""
    if not engine.sql("SELECT 1 FROM srsql.ingestion"):
        return None
    return engine.sql("SELECT t.caseid, t.age FROM raw_faers.demo AS t ORDER BY ALL")


def lies_there(lake: Path) -> dict[str, str]:
    """Every file that is there, hidden ones included, the marker aside."""
    return {
        str(path.relative_to(lake)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in lake.rglob("*")
        if path.is_file() and path.name != "srsql-lake.json"
    }


@pytest.mark.parametrize("command", ["first", "replace", "forget"])
@pytest.mark.parametrize("point", [*BEFORE, *AFTER])
def test_a_killed_change_leaves_all_or_nothing_and_a_rerun_works(
    tmp_path: Path, command: str, point: str
) -> None:
    if command == "first" and point == "while files are removed":
        pytest.skip("a first change replaces no file")
    db, lake = tmp_path / "w.duckdb", tmp_path / "lake"
    first = write_quarter(tmp_path / "one", "2011Q4", crowd(30))
    second = write_quarter(tmp_path / "two", "2011Q4", crowd(20, first=5, version=2))
    with Engine(db) as engine:
        before = None
        if command != "first":
            engine.ingest([first], lake=lake)
            before = rows(engine)
    source = first if command == "first" else second
    done = subprocess.run(
        [sys.executable, "-c", CHILD, point, command, str(db), str(lake), str(source)],
        timeout=300,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    with Engine(db) as engine:  # the next command that writes
        found = rows(engine)
        assert (found == before) == (point in BEFORE)
        listed = dict(engine.sql("SELECT f.file, f.sha256 FROM srsql.lake_file AS f"))
        if lake.exists():
            assert lies_there(lake) == listed
        assert engine.sql("SELECT count(*) FROM srsql.lake_leftover") == [(0,)]
        if command == "forget":
            engine.forget(["7"], reason="asked")
            assert 7 not in [case for case, _ in rows(engine)]
        else:
            engine.ingest([source], lake=lake, replace=True)
            assert len(rows(engine)) == (30 if command == "first" else 20)
        assert lies_there(lake) == dict(
            engine.sql("SELECT f.file, f.sha256 FROM srsql.lake_file AS f")
        )
    with Engine(db, read_only=True) as engine:
        assert engine.status().lake is not None
