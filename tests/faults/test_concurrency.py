"""Two at a time, no room, no permission: one clear line, and the warehouse is as it was."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.files import copied
from support.quarters import crowd
from support.released import content, schemas

from srsql.engine.api.engine import Engine
from srsql.engine.errors import BUSY, DAMAGED, WarehouseError

pytestmark = pytest.mark.thorough

OPTIONS: dict[str, Any] = {"k": 3, "theta": "0.5", "seed": 1}
RELEASE = ["release", "--quarter", "2011Q4", "--theta", "0.5", "--k", "3", "--seed", "1"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def db(kept: Path, tmp_path: Path) -> Path:
    return copied(kept / "quarters", tmp_path / "w.duckdb", {"2011Q4": crowd(400)})


def srsql(db: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "srsql.cli", *arguments, "--db", str(db)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


def refused(done: subprocess.CompletedProcess[str], code: int = 2) -> str:
    assert (done.returncode, done.stdout) == (code, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("srsql: ")
    return line


def works(db: Path) -> None:
    """The warehouse takes the release that failed before."""
    with Engine(db) as engine:
        assert schemas(engine.con) == set()
        engine.release("2011Q4", **OPTIONS)
        assert engine.sql("SELECT count(*) FROM release_2011q4.demo") == [(400,)]


@contextmanager
def held(db: Path, *, read_only: bool) -> Iterator[None]:
    """Another process has the file open."""
    text = (
        f"import duckdb; c = duckdb.connect({str(db)!r}, read_only={read_only}); print(1); input()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "1\n"
        yield
    finally:
        child.communicate("\n", timeout=30)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_release_beside_another_process_is_refused_in_one_line_and_works_later(
    db: Path, read_only: bool
) -> None:
    with held(db, read_only=read_only):
        assert f"{db} is in use by another process" in refused(srsql(db, *RELEASE), BUSY)
    works(db)


def test_reading_beside_a_reader_works(db: Path) -> None:
    with Engine(db) as engine:
        engine.release("2011Q4", **OPTIONS)
    with (
        held(db, read_only=True),
        duckdb.connect(str(db), read_only=True) as con,
        Engine(db, read_only=True) as engine,
    ):
        assert con.execute("SELECT count(*) FROM release_2011q4.demo").fetchall() == [(400,)]
        assert [row.measure for row in engine.metrics("2011Q4")][:1] == ["nil"]
        assert engine.status().releases[0]["released_cases"] == 400


@pytest.mark.parametrize("command", [["status"], ["metrics", "--quarter", "2011Q4"]])
def test_status_and_metrics_work_beside_a_reader(db: Path, command: list[str]) -> None:
    with Engine(db) as engine:
        engine.release("2011Q4", **OPTIONS)
    with held(db, read_only=True):
        done = srsql(db, *command)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_read_only_engine_refuses_to_release_and_changes_nothing(db: Path) -> None:
    before = db.read_bytes()
    with Engine(db, read_only=True) as engine, pytest.raises(Exception, match="read-only"):
        engine.release("2011Q4", **OPTIONS)
    assert db.read_bytes() == before
    works(db)


def test_two_engines_on_two_cursors_make_one_release(db: Path) -> None:
    with Engine(db) as engine:
        other = Engine(engine.con.cursor())
        other.release("2011Q4", **OPTIONS)
        with pytest.raises(Exception, match="already released"):
            engine.release("2011Q4", **OPTIONS)
        other.con.close()
        assert engine.sql("SELECT count(*) FROM srsql.release") == [(1,)]


def test_a_warehouse_of_an_unknown_layout_is_refused(db: Path) -> None:
    with duckdb.connect(str(db)) as con:
        con.execute("UPDATE srsql.warehouse SET layout = 99")
    with pytest.raises(WarehouseError, match="layout 99"):
        Engine(db)


@pytest.mark.parametrize("limit", [4096, 60_000])
def test_a_file_that_may_not_grow_fails_in_one_line_and_a_rerun_works(db: Path, limit: int) -> None:
    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    with Engine(db) as engine:
        before = content(engine.con)
    line = refused(srsql(db, *RELEASE, preexec_fn=limited), DAMAGED)
    assert "room" in line or "as it was" in line
    with Engine(db) as engine:
        assert content(engine.con) == before
    works(db)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small file system")
@pytest.mark.parametrize("room", [20_000, 100_000, 4_000_000])
def test_a_full_disk_fails_in_one_line_and_a_rerun_works(
    db: Path, tmp_path: Path, room: int
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    size = db.stat().st_size + room
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        moved = copied(db.parent, small / "w.duckdb", {})
        done = srsql(moved, *RELEASE)
        if done.returncode:
            line = refused(done, DAMAGED)
            assert "as it was" in line or "room" in line
            (tmp_path / "after.duckdb").write_bytes(moved.read_bytes())
            wal = moved.with_name("w.duckdb.wal")
            if wal.exists():
                (tmp_path / "after.duckdb.wal").write_bytes(wal.read_bytes())
            works(tmp_path / "after.duckdb")
        else:
            with Engine(moved, read_only=True) as engine:
                assert engine.sql("SELECT count(*) FROM release_2011q4.demo") == [(400,)]
        assert bool(done.returncode) == (room < 4_000_000)
    finally:
        subprocess.run(["umount", str(small)], check=True)
