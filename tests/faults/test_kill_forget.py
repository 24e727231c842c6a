"""Kill -9 while a patient is forgotten: all or nothing, and a rerun writes the file anew."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough

SECRET = "ZQ9FX7LMPW3TTKH5VBN2RD8YC4JG6SE1"
CHILD = """
import os, signal, sys
from srsql.engine.api.engine import Engine
from srsql.engine.steward import forget
from srsql.engine.steward import backup

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

point, db = sys.argv[1:]
if point == "before the commit":
    forget._drop = die
elif point == "after the commit":
    forget.rebuild = die
elif point == "before the swap":
    backup.os.replace = die
elif point == "after the swap":
    real = backup.os.replace
    backup.os.replace = lambda *a: (real(*a), die())
with Engine(db) as engine:
    engine.forget(["7"], reason="asked for")
"""


@pytest.mark.parametrize(
    ("point", "forgotten", "clean"),
    [
        ("before the commit", False, False),
        ("after the commit", True, False),
        ("before the swap", True, False),
        ("after the swap", True, True),
    ],
)
def test_a_killed_erasure_leaves_all_or_nothing_and_a_rerun_ends_it(
    tmp_path: Path, point: str, forgotten: bool, clean: bool
) -> None:
    db = tmp_path / "w.duckdb"
    with Engine(db) as engine:
        rare = [replace(r, pt=(SECRET,)) if r.caseid == 7 else r for r in crowd(20)]
        engine.ingest([write_quarter(tmp_path, "2011Q3", rare)])
    done = subprocess.run([sys.executable, "-c", CHILD, point, str(db)], timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (SECRET.encode() not in db.read_bytes()) == clean
    with Engine(db) as engine:
        held = engine.sql("SELECT count(*) FROM raw_faers.demo WHERE caseid = 7")
        assert held == [(0 if forgotten else 1,)]
        assert engine.sql("SELECT count(*) FROM srsql.forgotten_case") == [(int(forgotten),)]
        if forgotten:
            engine.rebuild()
        else:
            engine.forget(["7"], reason="asked for")
        assert engine.sql("SELECT count(*) FROM raw_faers.demo") == [(19,)]
    assert SECRET.encode() not in db.read_bytes()
    assert sorted(file.name for file in tmp_path.glob("*w.duckdb*")) == [db.name]
    assert list(tmp_path.glob(".*")) == []
