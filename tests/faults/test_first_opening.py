"""Who fails at a new file takes nothing of anybody's away; files with answers are their owner's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter

from srsql import Engine
from srsql.engine.errors import BusyError, IngestError, SrsqlError, WarehouseError
from srsql.engine.store.database_file import Wait, may_concern
from srsql.engine.store.warehouse import Warehouse

pytestmark = pytest.mark.thorough

HOLD = (
    "import sys\n"
    "from srsql.engine.store.warehouse import Warehouse\n"
    "with Warehouse(sys.argv[1]) as w:\n"
    "    print('open', flush=True)\n"
    "    input()\n"
    "    w.con.execute('CREATE TABLE mine AS SELECT 7 AS a')\n"
)


@pytest.mark.parametrize("seconds", [0, 30])
def test_who_is_refused_a_file_that_another_one_made_leaves_it(
    tmp_path: Path, seconds: int
) -> None:
    db = tmp_path / "w.duckdb"
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(db)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert other.stdout is not None
    assert other.stdout.readline() == "open\n"
    if seconds:
        assert other.stdin is not None
        other.stdin.write("\n")
        other.stdin.flush()

        def fail() -> None:
            with Engine(db, wait=seconds) as engine:
                engine.ingest([tmp_path / "nothing.zip"])

        with pytest.raises(SrsqlError):
            fail()
    else:
        with pytest.raises(BusyError):
            Warehouse(db, wait=Wait(0.2))
    other.communicate("" if seconds else "\n", timeout=60)
    with duckdb.connect(str(db), read_only=True) as con:
        assert con.execute("SELECT a FROM mine").fetchall() == [(7,)]


def test_a_table_of_the_caller_outlives_a_command_that_fails(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"

    def fail() -> None:
        with Engine(db) as engine:
            engine.con.execute("CREATE TABLE srsql_warehouse.main.cohort AS SELECT 1 AS a")
            engine.ingest([tmp_path / "nothing.zip"])

    with pytest.raises(IngestError):
        fail()
    with duckdb.connect(str(db), read_only=True) as con:
        assert con.execute("SELECT a FROM cohort").fetchall() == [(1,)]


def test_a_first_ingestion_that_fails_leaves_no_file(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"

    def fail() -> None:
        with Engine(db) as engine:
            engine.ingest([tmp_path / "nothing.zip"])

    with pytest.raises(IngestError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_damage_of_another_file_is_not_told_of_the_warehouse(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    said = 'Could not read enough bytes from file "{}": attempted to read 4 bytes'
    assert may_concern(db, duckdb.IOException(said.format(db)))
    assert may_concern(db, duckdb.IOException(said.format(f"{db}.wal")))
    assert may_concern(db, duckdb.IOException("Corrupt database file"))
    assert not may_concern(db, duckdb.IOException(said.format(tmp_path / "m.parquet")))


def test_a_warehouse_that_would_keep_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = srsql("status", "--db", ":memory:")
    assert answer.code == 2
    assert srsql("ingest", "x.zip", "--db", ":memory:").code == 2
    assert list(tmp_path.iterdir()) == []
    with Warehouse(":memory:") as warehouse:  # in Python it is what DuckDB calls so
        warehouse.con.execute("CREATE TABLE a (b INT)")
    assert list(tmp_path.iterdir()) == []


def test_an_answer_in_a_file_is_its_owners_and_never_takes_the_place_of_the_warehouse(
    tmp_path: Path,
) -> None:
    db, out = tmp_path / "w.duckdb", tmp_path / "out.txt"
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q1", crowd(12))])
    out.write_text("before")
    out.chmod(0o644)
    assert srsql("status", "--db", db, "--out", out).code == 0
    assert out.stat().st_mode & 0o777 == 0o600
    assert "2011Q1" in out.read_text()
    before = db.read_bytes()
    answer = srsql("status", "--db", db, "--out", db)
    assert (answer.code, "is the warehouse itself" in answer.err) == (2, True)
    assert db.read_bytes() == before


def test_a_lock_that_cannot_be_had_again_is_told_as_busy(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    Warehouse(db).close()
    reader = Warehouse(db, read_only=True)

    def moved() -> None:
        with reader.guarded():
            reader.con.close()
            raise WarehouseError("the file was moved away")

    with pytest.raises(WarehouseError, match="moved away"):
        moved()
