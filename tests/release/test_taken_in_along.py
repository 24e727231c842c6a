"""Quarters that are taken in while the one before them is released, beside one after the other."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.command import srsql
from support.quarters import crowd, next_version, write_quarter
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import IngestError, ReleaseError
from srsql.engine.store import warehouse

QUARTERS = ("2011Q1", "2011Q2", "2011Q3", "2011Q4")
CHILD = """
import os, signal, sys
from srsql.engine.api.engine import Engine

db, point, *files = sys.argv[1:]

def die_at(said):
    if said.endswith(point):
        os.kill(os.getpid(), signal.SIGKILL)

with Engine(db) as engine:
    asked = dict(k=3, theta="0.5", seed=1, ids="original")
    engine.release_range("2011Q1:2011Q4", sources=files, progress=die_at, **asked)
"""
TERMINATED = """
import os, signal, sys
from srsql.engine.api import engine

def said(stage):
    if stage.endswith("2011Q3: tables"):
        os.kill(os.getpid(), signal.SIGTERM)

made = engine.release_range
engine.release_range = lambda warehouse, dataset, asked, _, own: made(
    warehouse, dataset, asked, said, own
)
from srsql.__main__ import main
asked = "release --quarter 2011Q1:2011Q4 --k 3 --theta 0.5 --seed 1 --ids original --db"
sys.argv = ["srsql", *asked.split(), *sys.argv[1:]]
main()
"""
ASKED: dict[str, Any] = {"k": 3, "theta": "0.5", "seed": 1, "ids": "original"}


def sources(folder: Path, labels: tuple[str, ...] = QUARTERS) -> list[Path]:
    """Sixty new cases a quarter, and follow-ups of twenty of the quarter before."""
    found = []
    for place, label in enumerate(labels):
        first = 1 + 60 * place
        again = map(next_version, crowd(20, first - 60)) if place else ()
        found.append(write_quarter(folder, label, [*crowd(60, first), *again]))
    return found


def shown(engine: Engine, labels: tuple[str, ...] = QUARTERS) -> list[Any]:
    """What the releases show, and who is in which group."""
    views = [
        rows(engine.con, f'SELECT * FROM "release_{label.lower()}".{name} ORDER BY ALL')
        for label in labels
        for name in ("demo", "drug", "reac", "indi")
    ]
    return [*views, engine.sql("SELECT * FROM srsql.member ORDER BY ALL")]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return sources(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def in_turn(tmp_path_factory: pytest.TempPathFactory, files: list[Path]) -> list[Any]:
    """What the releases show that are made one after the other."""
    with Engine(tmp_path_factory.mktemp("in_turn") / "w.duckdb") as engine:
        for label, file in zip(QUARTERS, files, strict=True):
            engine.ingest([file])
            engine.release(label, **ASKED)
        return shown(engine)


def test_the_releases_are_those_of_one_after_the_other(
    tmp_path: Path, files: list[Path], in_turn: list[Any]
) -> None:
    with Engine(tmp_path / "along.duckdb") as engine:
        made = engine.release_range("2011Q1:2011Q4", sources=files[::-1], **ASKED)
        assert [(one.quarter, one.status) for one in made.ingested] == [
            (label, "loaded") for label in QUARTERS
        ]
        assert [one.quarter for one in made.released] == list(QUARTERS)
        assert made.audit is not None
        assert made.audit.safe
        along = shown(engine)
        again = engine.release_range("2011Q1:2011Q4", sources=files, seed=1)
        assert {one.status for one in again.ingested} == {"unchanged"}
        assert again.released == []
    assert along == in_turn


@pytest.mark.thorough
def test_a_release_sees_nothing_of_the_quarter_that_is_taken_in_beside_it(
    tmp_path: Path, files: list[Path]
) -> None:
    seen: list[tuple[str, set[str]]] = []
    with Engine(tmp_path / "w.duckdb") as engine:

        def look(said: str) -> None:
            """From a connection of its own: what is committed at this stage."""
            quarter = said.split("; ")[1].split(":")[0] if "; " in said else ""
            with engine.con.cursor() as other:
                loaded = other.execute("SELECT quarter FROM srsql_warehouse.srsql.ingestion")
                seen.append((quarter, {label for (label,) in loaded.fetchall()}))

        engine.release_range("2011Q1:2011Q4", sources=files, progress=look, **ASKED)
    told = [(quarter, loaded) for quarter, loaded in seen if quarter in QUARTERS]
    assert len(told) > 20
    for quarter, loaded in told:
        assert loaded == set(QUARTERS[: QUARTERS.index(quarter) + 1])


@pytest.mark.thorough
def test_a_model_that_asks_who_stops_has_the_next_quarter(
    tmp_path: Path, files: list[Path]
) -> None:
    asked = {**ASKED, "model": "ppms-alpha", "alpha": "0.9", "on_infeasible": "withhold"}
    with Engine(tmp_path / "along.duckdb") as engine:
        made = engine.release_range("2011Q1:2011Q3", sources=files, **asked)
        assert [one.quarter for one in made.ingested] == list(QUARTERS)
        along = shown(engine, QUARTERS[:3])
        assert engine.audit(attacks=["b", "f", "l", "md"]).safe
    with Engine(tmp_path / "all.duckdb") as engine:
        engine.ingest(files)
        engine.release_range("2011Q1:2011Q3", **asked)
        assert shown(engine, QUARTERS[:3]) == along


@pytest.mark.thorough
def test_what_lies_behind_the_range_is_taken_in_by_nobody_else(
    tmp_path: Path, files: list[Path]
) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        made = engine.release_range("2011Q1:2011Q2", sources=files, **ASKED)
        assert [one.quarter for one in made.ingested] == ["2011Q1", "2011Q2"]
        assert [row["quarter"] for row in engine.status().quarters] == ["2011Q1", "2011Q2"]


@pytest.mark.thorough
def test_a_source_that_cannot_be_read_is_told_when_its_turn_has_come(
    tmp_path: Path, files: list[Path], in_turn: list[Any]
) -> None:
    bad = tmp_path / files[2].name
    whole = files[2].read_bytes()  # of which the list of its files stands at the end
    bad.write_bytes(whole[:200] + bytes(50) + whole[250:])
    with Engine(tmp_path / "w.duckdb") as engine:
        given = [*files[:2], bad, files[3]]
        with pytest.raises(IngestError, match=bad.name):
            engine.release_range("2011Q1:2011Q4", sources=given, **ASKED)
        assert engine.sql("SELECT quarter FROM srsql.release ORDER BY 1") == [
            ("2011Q1",), ("2011Q2",),
        ]  # fmt: skip
        assert [row["quarter"] for row in engine.status().quarters] == ["2011Q1", "2011Q2"]
        engine.release_range("2011Q1:2011Q4", sources=files, seed=1)
        assert shown(engine) == in_turn


@pytest.mark.thorough
def test_of_a_release_that_is_refused_the_quarter_behind_it_is_given_up(
    tmp_path: Path, files: list[Path]
) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.release_range("2011Q1:2011Q1", sources=files, **ASKED)
        refused = {**ASKED, "theta": "0.0001", "change": True}
        with pytest.raises(ReleaseError):
            engine.release_range("2011Q1:2011Q4", sources=files, **refused)
        assert [row["quarter"] for row in engine.status().quarters] == ["2011Q1", "2011Q2"]
        assert not [each for each in threading.enumerate() if "ThreadPool" in each.name]
        engine.release_range("2011Q1:2011Q4", sources=files, **ASKED)
        assert len(engine.sql("SELECT 1 FROM srsql.release")) == 4


@pytest.mark.thorough
@pytest.mark.parametrize("stage", ["cases", "tables", "metrics"])
def test_a_process_that_is_killed_leaves_whole_quarters(
    tmp_path: Path, files: list[Path], in_turn: list[Any], stage: str
) -> None:
    db = tmp_path / "w.duckdb"
    command = [sys.executable, "-c", CHILD, db, f"2011Q3: {stage}", *files]
    ended = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    with Engine(db) as engine:
        out = engine.sql("SELECT quarter FROM srsql.release ORDER BY 1")
        assert out == [("2011Q1",), ("2011Q2",)]
        assert [row["quarter"] for row in engine.status().quarters] == list(QUARTERS[:3])
        engine.release_range("2011Q1:2011Q4", sources=files, seed=1)
        assert shown(engine) == in_turn


@pytest.mark.thorough
def test_what_is_taken_in_ahead_ends_with_an_interrupted_command(
    tmp_path: Path, files: list[Path]
) -> None:
    db = tmp_path / "w.duckdb"
    given = [part for file in files for part in ("--ingest", file)]
    command = [sys.executable, "-c", TERMINATED, db, *given]
    ended = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True)
    assert ended.returncode == 128 + signal.SIGTERM, ended.stderr
    assert "interrupted by SIGTERM; what was not finished was rolled back" in ended.stderr
    with Engine(db) as engine:
        assert [row["quarter"] for row in engine.status().quarters] == list(QUARTERS[:3])
        assert engine.sql("SELECT count(*) FROM srsql.release") == [(2,)]


@pytest.mark.thorough
def test_a_long_log_is_written_into_the_file_between_two_releases(
    tmp_path: Path, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB writes it by itself only where one connection alone has anything open."""

    def longest(limit: int) -> int:
        monkeypatch.setattr(warehouse, "LONG_LOG", limit)
        db = tmp_path / f"{limit}.duckdb"
        sizes: list[int] = []

        def look(_: str) -> None:
            sizes.extend(log.stat().st_size for log in tmp_path.glob(f"{limit}.duckdb.wal"))

        with Engine(db) as engine:
            engine.release_range("2011Q1:2011Q3", sources=files, progress=look, **ASKED)
        return max(sizes)

    assert longest(1 << 16) < longest(1 << 40) / 1.5


@pytest.mark.thorough
def test_a_connection_of_the_callers_takes_them_in_in_turn(
    tmp_path: Path, files: list[Path], in_turn: list[Any]
) -> None:
    with duckdb.connect(tmp_path / "theirs.duckdb") as con:
        con.execute("ATTACH ':memory:' AS elsewhere")
        con.execute("USE elsewhere")
        engine = Engine(con)
        made = engine.release_range("2011Q1:2011Q4", sources=files, **ASKED)
        assert len(made.ingested) == 4
        assert shown(engine) == in_turn


@pytest.mark.thorough
def test_the_command_and_what_it_refuses(tmp_path: Path, files: list[Path]) -> None:
    db = tmp_path / "w.duckdb"
    where = ("--db", db)
    given = [part for file in files[:2] for part in ("--ingest", file)]
    asked = ("--k", 3, "--theta", "0.5", "--seed", 1)
    one = srsql("release", "--quarter", "2011Q1", *given, *asked, *where)
    assert (one.code, one.out) == (2, "")
    assert "--ingest goes with a range" in one.err
    none = srsql("release", "--quarter", "2012Q1:2012Q2", *given, *asked, *where)
    assert none.code == 2
    assert none.notes == [
        "srsql: no source of a period from 2012Q1 to 2012Q2: what was given is of 2011Q1, 2011Q2"
    ]
    done = srsql("release", "--quarter", "2011Q1:2011Q2", *given, *asked, *where)
    assert done.code == 0, done.err
    assert "2011Q2 loaded" in done.out
    assert "the whole series in full (2 releases" in done.out
    told = srsql("release", "--quarter", "2011Q1:2011Q2", *given, *where, "--json").json
    assert [each["status"] for each in told["ingested"]] == ["unchanged", "unchanged"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"source": []}, "source"),
        ({"thetas": 1}, "thetas"),
        ({"k": 0}, "k is 0"),
        ({"draft": True}, "--draft"),
    ],
    ids=str,
)
def test_what_is_refused_is_refused_before_anything_is_taken_in(
    tmp_path: Path, files: list[Path], wrong: dict[str, Any], says: str
) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        with pytest.raises(ReleaseError, match=says):
            engine.release_range("2011Q1:2011Q2", sources=files, **{**ASKED, **wrong})
        assert engine.status().quarters == []
