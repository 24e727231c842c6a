"""A warehouse that another process has: who has it is told, and it is waited for."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from support.command import srsql
from support.files import copied
from support.quarters import crowd

from srsql.engine.api.engine import Engine
from srsql.engine.errors import BUSY, BusyError, DamagedError, WarehouseError
from srsql.engine.steward.migrate import migrate
from srsql.engine.store import database_file
from srsql.engine.store.database_file import Wait

pytestmark = pytest.mark.thorough

HOLD = (
    "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == 'r'); print(1, "
    "flush=True); input()"
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def db(kept: Path, tmp_path: Path) -> Path:
    return copied(kept / "quarters", tmp_path / "w.duckdb", {"2011Q4": crowd(60)})


@contextmanager
def held(db: Path, how: str = "w", code: str = HOLD) -> Iterator[subprocess.Popen[str]]:
    """Another process has the file open until its input ends."""
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(db), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "1\n"
        yield child
    finally:
        child.communicate("\n", timeout=30)


@contextmanager
def let_go_after(child: subprocess.Popen[str], seconds: float) -> Iterator[None]:
    def let_go() -> None:
        time.sleep(seconds)
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()

    thread = threading.Thread(target=let_go)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@pytest.mark.parametrize("how", ["r", "w"])
def test_the_refusal_has_the_number_of_the_process_and_exit_4(db: Path, how: str) -> None:
    release = ("release", "--quarter", "2011Q4", "--theta", "0.5", "--db", db)
    with held(db, how) as child:
        answer = srsql(*release)
        told = srsql(*release, "--json")
    assert (answer.code, answer.out) == (BUSY, "")
    (line,) = answer.err.splitlines()
    assert f"{db} is in use by another process (pid {child.pid}, python" in line
    assert "--wait SECONDS" in line
    assert told.json["error"]["pid"] == child.pid
    assert (told.json["error"]["kind"], told.json["error"]["exit_code"]) == ("busy", BUSY)


def test_a_reader_waits_for_a_writer_and_is_told_once_who_that_is(db: Path) -> None:
    with held(db) as child, let_go_after(child, 0.7):
        answer = srsql("status", "--wait", 20, "--db", db)
    assert answer.code == 0, answer.err
    (line,) = answer.err.splitlines()
    assert f"in use by another process (pid {child.pid}, " in line
    assert "waiting for it, 20 s at most" in line


def test_a_release_waits_for_a_reader_and_quiet_keeps_the_note_back(db: Path) -> None:
    with held(db, "r") as child, let_go_after(child, 0.7):
        answer = srsql("release", "--quarter", "2011Q4", "--theta", "0.5", "--ids", "pseudonym",
                       "--wait", 20, "--quiet", "--db", db)  # fmt: skip
    assert (answer.code, answer.err) == (0, "")
    assert "2011Q4 released" in answer.out


def test_after_the_time_it_is_busy_with_the_number_in_the_line(db: Path) -> None:
    began = time.monotonic()
    with held(db) as child:
        answer = srsql("status", "--wait", 0.3, "--db", db, "--json")
    assert 0.3 <= time.monotonic() - began < 20
    assert answer.code == BUSY
    assert f"(pid {child.pid}, " in answer.json["error"]["message"]
    assert "after 0.3 s of waiting" in answer.json["error"]["message"]


@pytest.mark.parametrize("command", ["migrate", "restore"])
def test_migrations_and_restores_wait_as_well(db: Path, tmp_path: Path, command: str) -> None:
    with Engine(db) as engine:
        engine.backup(tmp_path / "backup.duckdb")
    more = ["--from", tmp_path / "backup.duckdb"] if command == "restore" else []
    with held(db) as child:
        assert srsql(command, *more, "--db", db).code == BUSY
        with let_go_after(child, 0.5):
            assert srsql(command, *more, "--db", db, "--wait", 20).code == 0
    with Engine(db, read_only=True) as engine:
        commands = [run["command"] for run in engine.status().runs]
    assert commands == (["restore"] if command == "restore" else [])


def test_the_engine_waits_and_its_error_has_the_number(db: Path) -> None:
    said: list[str] = []
    with held(db) as child:
        with pytest.raises(BusyError) as caught:
            Engine(db)
        assert caught.value.pid == child.pid
        with pytest.raises(BusyError, match=r"after 0\.2 s of waiting"):
            Engine(db, wait=0.2, progress=said.append)
        with pytest.raises(BusyError):
            migrate(db, wait=Wait(0.1))
        with let_go_after(child, 0.5), Engine(db, wait=20, progress=said.append) as engine:
            assert engine.status().quarters
    assert [text.count(f"pid {child.pid}") for text in said] == [1, 1]
    for wait in (-1, "soon", float("nan")):
        with pytest.raises(WarehouseError, match="--wait"):
            Engine(db, wait=wait)  # type: ignore[arg-type]


def test_what_another_process_runs_is_told_without_its_arguments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "cmdline"
    monkeypatch.setattr(database_file, "Path", lambda p: file if "cmdline" in p else Path(p))
    for words, told in (
        (["/usr/bin/python3", "/opt/bin/srsql", "forget", "8123456", "--db", "w"], "srsql forget"),
        (["python3", "-P", "-m", "srsql.cli", "--quiet", "lookup", "123"], "srsql lookup"),
        (["srsql", "--debug"], "srsql"),
        (["/usr/local/bin/duckdb", "w.duckdb", "-c", "secret"], "duckdb"),
        (["python3", "/srv/nightly.py", "8123456"], "python3 nightly.py"),
        (["python3", "-c", "print('secret')"], "python3"),
        (["\x1b[31mred"], "\\x1b[31mred"),
        ([], ""),
    ):
        file.write_bytes("".join(f"{word}\0" for word in words).encode())
        assert database_file._command(1) == told, words


def test_a_process_that_nobody_can_name_is_in_use_all_the_same(tmp_path: Path) -> None:
    for text in ("Could not set lock on file: PID unknown", "Could not set lock on file (PID 0)"):
        error = database_file.told(tmp_path / "w", duckdb.IOException(text), Wait())
        assert isinstance(error, BusyError)
        assert error.pid is None
        assert "in use by another process: wait for it" in str(error)


def test_a_damaged_file_is_not_in_use(tmp_path: Path) -> None:
    """Its message has the word block, in which there is lock."""
    db = tmp_path / "blocks.duckdb"
    with Engine(db):
        pass
    content = bytearray(db.read_bytes())
    content[4096 * 3 : 4096 * 3 + 64] = bytes(64)
    content[-2000:] = bytes(2000)
    for damaged in (bytes(content), bytes(content[: len(content) // 2]), b"Dear steward"):
        db.write_bytes(damaged)
        with pytest.raises(DamagedError, match="restore a backup") as caught:
            Engine(db)
        assert "in use" not in str(caught.value)
        assert caught.value.exit_code == 5


def test_a_comparison_lets_the_warehouse_go_while_it_measures(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    write = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute('CREATE TABLE mine (a INT)')"

    def measure(self: object, cell: object, task: dict[str, str]) -> str:
        command = [sys.executable, "-c", write, str(db)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        written.append(done.stderr)
        return "not measured"

    monkeypatch.setattr("srsql.engine.extras.study.run._Processes.measure", measure)
    answer = srsql("compare", "--quarters", "2011Q4", "--models", "ms", "--k", 3, "--jobs", 1,
                   "--db", db, "--out", tmp_path / "out")  # fmt: skip
    assert written == [""]
    assert answer.code == 2
    assert "no cell was measured: not measured" in answer.err
    with duckdb.connect(str(db), read_only=True) as con:
        assert con.execute("SELECT count(*) FROM mine").fetchall() == [(0,)]


def test_a_file_that_was_let_go_is_the_same_afterwards(db: Path) -> None:
    with Engine(db, read_only=True) as engine:
        warehouse = engine.warehouse
        with warehouse.guarded():
            before = warehouse.value("SELECT system.main.current_setting('search_path')")
            with warehouse.let_go(), held(db, "w"):
                pass
            now = warehouse.value("SELECT system.main.current_setting('search_path')")
            assert now == before
        assert engine.status().quarters
        assert engine.sql("SELECT count(*) FROM raw_faers.demo") == [(60,)]
    with Engine(db) as engine, engine.warehouse.let_go():  # what may write keeps it
        assert engine.sql("SELECT count(*) FROM raw_faers.demo") == [(60,)]
