"""Damage is told as damage, with the way back; a full disk as a full disk; a lock as a lock."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from support.command import Answer, srsql
from support.files import copied
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import DamagedError, WarehouseError, storage_fault
from srsql.engine.store.warehouse import Warehouse

pytestmark = pytest.mark.slow

QUARTERS = {"2011Q3": crowd(60), "2011Q4": crowd(60, first=31, version=2)}
RELEASE = ("release", "--quarter", "2011Q4", "--theta", "0.5", "--k", "3", "--seed", "1")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def db(kept: Path, tmp_path: Path) -> Path:
    """In a folder whose name has "lock" in it."""
    (tmp_path / "block").mkdir()
    return copied(kept / "quarters", tmp_path / "block" / "clock.duckdb", QUARTERS)


def damaged(answer: Answer) -> str:
    """The one line of a command that met damage."""
    assert (answer.code, answer.out) == (5, "")
    (line,) = answer.err.splitlines()
    assert "is damaged or not a DuckDB file: restore a backup with 'srsql restore" in line
    assert "in use" not in line
    return line


FOREIGN = {
    "text": b"Dear steward,\n" * 1000,
    "short": b"hello",
    "empty": b"",
    "zip": b"PK\3\4" + bytes(5000),
    "sqlite": b"SQLite format 3\0" + bytes(5000),
    "parquet": b"PAR1" + bytes(5000) + b"PAR1",
    "zeros": bytes(20_000),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_told_as_such(db: Path, what: str) -> None:
    db.write_bytes(FOREIGN[what])
    for command in (("status",), RELEASE, ("backup", "--to", db.with_name("copy.duckdb"))):
        assert str(db) in damaged(srsql(*command, "--db", db))
    assert db.read_bytes() == FOREIGN[what]
    assert [path.name for path in db.parent.iterdir()] == [db.name, *wal(db)]


def wal(db: Path) -> list[str]:
    return [f"{db.name}.wal"] if db.with_name(f"{db.name}.wal").exists() else []


@pytest.mark.parametrize("share", [0.0001, 0.01, 0.5, 0.9999])
def test_a_cut_off_file_is_told_as_damaged(db: Path, share: float) -> None:
    whole = db.read_bytes()
    db.write_bytes(whole[: int(len(whole) * share)])
    damaged(srsql("status", "--db", db))
    damaged(srsql(*RELEASE, "--db", db))


@pytest.mark.thorough
def test_a_block_that_changed_is_told_as_damaged_by_whoever_reads_it(db: Path) -> None:
    whole = db.read_bytes()
    told = 0
    for place in range(0, len(whole), 1 << 16):
        db.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        answer = srsql(*RELEASE, "--db", db)
        if answer.code:
            damaged(answer)
            told += 1
    assert told > 3


@pytest.mark.thorough
def test_a_damaged_warehouse_is_restored_as_the_message_says(db: Path) -> None:
    backup = db.with_name("backup.duckdb")
    assert srsql("backup", "--to", backup, "--db", db).code == 0
    db.write_bytes(db.read_bytes()[:10_000])
    line = damaged(srsql("status", "--db", db))
    assert f"srsql restore --from BACKUP --db {db}" in line
    refused = srsql("restore", "--from", backup, "--db", db)
    assert (refused.code, "--without-forgotten" in refused.err) == (5, True)
    assert srsql("restore", "--from", backup, "--without-forgotten", "--db", db).code == 0
    assert srsql("status", "--db", db).code == 0


def test_a_damaged_backup_is_not_restored(db: Path) -> None:
    backup = db.with_name("backup.duckdb")
    backup.write_bytes(db.read_bytes()[:100_000])
    before = db.read_bytes()
    damaged(srsql("restore", "--from", backup, "--db", db))
    assert db.read_bytes() == before


def test_in_use_is_told_as_in_use(db: Path) -> None:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(db)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert other.stdout is not None
    assert other.stdout.readline() == "1\n"
    try:
        answer = srsql("status", "--db", db)
        assert answer.code != 5
        assert "is in use by another process" in answer.err
    finally:
        other.communicate("\n")


def test_what_duckdb_says_is_told_apart_and_what_a_caller_gave_is_not_listened_to() -> None:
    lock = duckdb.IOException('IO Error: Could not set lock on file "x": Conflicting lock is held')
    assert storage_fault(lock) is None
    assert storage_fault(duckdb.IOException("No space left on device")) == "no_room"
    assert storage_fault(WarehouseError("/block/no space left on device.duckdb: no")) is None
    with pytest.raises(WarehouseError) as caught:
        wrapped()
    assert storage_fault(caught.value) == "no_room"


def wrapped() -> None:
    try:
        raise OSError(28, "No space left on device")
    except OSError:
        raise WarehouseError("nothing was made") from None


def test_a_statement_that_fails_for_another_reason_stays_what_it_is(db: Path) -> None:
    with Warehouse(db) as warehouse:
        with pytest.raises(duckdb.CatalogException):
            warehouse.rows("FROM nowhere")
        assert issubclass(DamagedError, WarehouseError)


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """A folder on a disk of so many bytes."""
    small = folder / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(small)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield small
    finally:
        subprocess.run(["umount", str(small)], check=True)


def process(*arguments: object, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    def limited() -> None:
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "srsql", *map(str, arguments)],
        capture_output=True, text=True, timeout=120, check=False, preexec_fn=limited,
    )  # fmt: skip


def no_room(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (5, ""), done.stderr
    (line,) = (each for each in done.stderr.splitlines() if " elapsed" not in each)
    assert "rollback" not in line.lower()
    return line


@pytest.mark.thorough
@pytest.mark.parametrize("size", [4096, 16_384, 200_000])
def test_a_full_disk_at_the_first_opening_is_one_line_and_leaves_no_file(
    tmp_path: Path, size: int
) -> None:
    archive = write_quarter(tmp_path, "2011Q3", crowd(30))
    with small_disk(tmp_path, size) as small:
        line = no_room(process("ingest", archive, "--db", small / "w.duckdb"))
        assert "room" in line
        assert list(small.iterdir()) == []


@pytest.mark.thorough
@pytest.mark.parametrize("limit", [0, 10_000, 50_000, 300_000])
def test_a_file_that_may_not_grow_at_the_first_opening_is_the_same(
    tmp_path: Path, limit: int
) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    archive = write_quarter(tmp_path, "2011Q3", crowd(30))
    no_room(process("ingest", archive, "--db", folder / "w.duckdb", limit=limit))
    assert list(folder.iterdir()) == []


@pytest.mark.thorough
def test_a_full_disk_while_a_quarter_is_ingested_released_and_published_changes_nothing(
    db: Path, tmp_path: Path
) -> None:
    archive = write_quarter(tmp_path, "2012Q1", crowd(3000, first=1000))
    with Engine(db) as engine:
        engine.release("2011Q3", model="ms", k=3, theta="0.5", seed=1)
    size = (db.stat().st_size // 4096 + 12) * 4096
    with small_disk(tmp_path, size) as small:
        tight = small / "w.duckdb"
        tight.write_bytes(db.read_bytes())
        for command in (
            ("ingest", archive),
            RELEASE,
            ("publish", "--quarter", "2011Q3", "--to", small / "out"),
            ("backup", "--to", small / "b.duckdb"),
            ("compare", "--quarters", "2011Q3", "--models", "ms", "--out", tmp_path / "compared"),
        ):
            no_room(process(*command, "--db", tight))
            names = {path.name for path in small.iterdir()} - {"w.duckdb.wal"}
            assert names == {"w.duckdb"}, command
        with Engine(tight, read_only=True) as engine:
            assert engine.sql("SELECT quarter FROM srsql.release") == [("2011Q3",)]
            assert len(engine.status().quarters) == 2
