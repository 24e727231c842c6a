"""A backup that is there is passed over only where it is just what was asked for."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter

from srsql import Engine

pytestmark = pytest.mark.slow


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A warehouse with one quarter, and a backup of it in ``backup.duckdb``."""
    db = tmp_path / "w.duckdb"
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(20, terms=3))])
        engine.steward.backup(tmp_path / "backup.duckdb")
    return db


def again(db: Path) -> tuple[int, str]:
    done = srsql(
        "backup", "--db", str(db), "--to", str(db.with_name("backup.duckdb")), "--if-needed"
    )
    return done.code, done.out + done.err


def test_a_copy_of_the_warehouse_as_it_is_now_ends_with_0_and_is_left_as_it_is(db: Path) -> None:
    before = db.with_name("backup.duckdb").read_bytes()
    code, text = again(db)
    assert code == 0
    assert text.endswith("backup.duckdb is there already, a copy of the warehouse as it is now: "
                         "nothing to do\n")  # fmt: skip
    assert db.with_name("backup.duckdb").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("UPDATE raw_faers.demo SET age = '77' WHERE rowid = 0", "raw_faers.demo has other rows"),
        ("DELETE FROM raw_faers.drug WHERE rowid = 0", "raw_faers.drug has other rows"),
        ("CREATE TABLE release_2011q4.later AS SELECT 1 AS one", "other tables"),
    ],
)
def test_a_copy_of_what_is_otherwise_now_is_refused(db: Path, change: str, why: str) -> None:
    with duckdb.connect(db) as con:
        con.execute("CREATE SCHEMA IF NOT EXISTS release_2011q4")
        con.execute(change)
    code, text = again(db)
    assert code == 2
    assert "no copy of the warehouse as it is now" in text
    assert why in text
    assert srsql("backup", "--db", str(db), "--to", str(db.with_name("new.duckdb"))).code == 0


def test_a_copy_that_others_may_read_or_that_is_no_warehouse_is_refused(db: Path) -> None:
    there = db.with_name("backup.duckdb")
    there.chmod(0o644)
    assert again(db)[0] == 2
    assert "not this account's alone" in again(db)[1]
    there.write_bytes(b"no database")
    there.chmod(0o600)
    assert again(db)[0] == 2
    assert "it cannot be read" in again(db)[1]
    assert there.read_bytes() == b"no database"


def test_a_backup_of_a_warehouse_with_a_lake_is_never_passed_over(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    with Engine(db) as engine:
        source = write_quarter(tmp_path, "2011Q4", crowd(20, terms=3))
        engine.ingest([source], lake=tmp_path / "lake")
    assert again(db)[0] == 0  # nothing is there: it is made
    files = {p: p.read_bytes() for p in tmp_path.rglob("backup*") if p.is_file()}
    code, text = again(db)
    assert code == 2
    assert "backup.duckdb is there already, and a lake is copied each time: give --to" in text
    assert all(p.read_bytes() == content for p, content in files.items())
