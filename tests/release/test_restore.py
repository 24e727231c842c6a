"""Backups of a warehouse, and what becomes of forgotten cases when one is restored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ForgetError, WarehouseError
from srsql.engine.steward.copies import OF_DATASETS, OF_RELEASES
from srsql.engine.steward.restore import restore
from srsql.engine.store.definitions import install
from srsql.engine.store.statements import dotted, quoted

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {
    "model": "ms", "k": 3, "theta": "1", "seed": 1, "allow_linkable": True
}  # fmt: skip


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A warehouse with a quarter that is out, and a backup of it beside it."""
    path = tmp_path / "w.duckdb"
    with Engine(path) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(30))])
        engine.release("2011Q3", **OPTIONS)
        engine.backup(tmp_path / "backup.duckdb")
    return path


def cases(db: Path) -> set[int]:
    with Engine(db, read_only=True) as engine:
        return {case for (case,) in engine.sql("SELECT caseid FROM raw_faers.demo")}


@pytest.mark.thorough
def test_a_backup_is_the_warehouse_and_its_owners_alone(db: Path, tmp_path: Path) -> None:
    made = tmp_path / "backup.duckdb"
    assert made.stat().st_mode & 0o777 == 0o600
    with Engine(made) as copy, Engine(db) as engine:
        for text in ("FROM release_2011q3.demo", "FROM raw_faers.drug", "FROM srsql.member"):
            assert copy.sql(text) == engine.sql(text)
        # numbers go on where they were
        later = write_quarter(tmp_path, "2011Q4", crowd(30, first=11, version=2))
        assert [each.ingest([later])[0].status for each in (copy, engine)] == ["loaded"] * 2
        assert [each.release("2011Q4", **OPTIONS).release_id for each in (copy, engine)] == [2, 2]


@pytest.mark.thorough
def test_a_backup_overwrites_nothing(db: Path, tmp_path: Path) -> None:
    before = (tmp_path / "backup.duckdb").read_bytes()
    answer = srsql("backup", "--to", tmp_path / "backup.duckdb", "--db", db)
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "is there already" in answer.err
    assert (tmp_path / "backup.duckdb").read_bytes() == before
    missing = srsql("backup", "--to", tmp_path / "no" / "b.duckdb", "--db", db)
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert sorted(file.name for file in tmp_path.glob(".*")) == []


@pytest.mark.thorough
def test_a_callers_database_is_copied_with_what_is_theirs(tmp_path: Path) -> None:
    con = duckdb.connect()
    con.execute("CREATE TABLE theirs AS SELECT 7 AS kept")
    engine = Engine(con)
    engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(10))])
    made = engine.backup(tmp_path / "backup.duckdb")
    assert made.rows > 50
    with Engine(tmp_path / "backup.duckdb") as copy:
        assert copy.sql("FROM main.theirs") == [(7,)]
        assert copy.sql("SELECT count(*) FROM raw_faers.demo") == [(10,)]
    con.close()


@pytest.mark.thorough
def test_a_restored_backup_takes_the_place_and_the_old_file_stays(db: Path, tmp_path: Path) -> None:
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(30, first=11, version=2))])
    later = cases(db)
    answer = srsql("restore", "--from", tmp_path / "backup.duckdb", "--db", db, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["kept"] == f"{db}.before-restore"
    assert cases(db) == set(range(1, 31))
    assert cases(Path(answer.json["kept"])) == later
    again = srsql("restore", "--from", tmp_path / "backup.duckdb", "--db", db)
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "before-restore is there already" in again.err


def test_a_restore_brings_no_forgotten_case_back(db: Path, tmp_path: Path) -> None:
    with Engine(db) as engine:
        engine.forget([7, 8, 999], reason="asked for")
        tokens = engine.sql("SELECT token FROM srsql.forgotten_case ORDER BY 1")
    made = restore(db, tmp_path / "backup.duckdb")
    assert made.forgotten == {"faers": 2}
    assert cases(db) == set(range(1, 31)) - {7, 8}
    with Engine(db) as engine:
        assert engine.sql("SELECT token FROM srsql.forgotten_case ORDER BY 1") == tokens
        assert [each.cases for each in engine.stale()] == [{"forgotten": 2}]
        (found,) = engine.ingest(
            [write_quarter(tmp_path, "2011Q4", crowd(1, first=999))], max_reject_rate=0.0
        )
        assert found.files[0].reasons == {"forgotten_case": 1}


def test_restoring_asks_every_table_of_the_catalog_that_has_case_ids() -> None:
    con = duckdb.connect()
    install(con)
    there = con.execute(
        "SELECT c.table_name, c.column_name FROM duckdb_columns() AS c"
        " INNER JOIN duckdb_tables() AS t"
        " ON c.database_name = t.database_name AND c.table_oid = t.table_oid"
        " WHERE c.schema_name = 'srsql' AND c.column_name LIKE '%case_id'"
    ).fetchall()
    asked = {(name, "case_id") for name in OF_RELEASES} | set(OF_DATASETS)
    assert set(there) == asked


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(
            "INSERT INTO srsql.suspected_duplicate VALUES ('faers', '999', '1', 0.99)",
            marks=pytest.mark.thorough,
        ),
        "INSERT INTO srsql.suspected_duplicate VALUES ('faers', '1', '999', 0.99)",
        pytest.param(
            "INSERT INTO srsql.counted_person VALUES (1, '999', 1)", marks=pytest.mark.thorough
        ),
        "INSERT INTO srsql.waiting VALUES (1, '999', '2011Q3')",
    ],
)
def test_a_forgotten_case_is_found_wherever_a_backup_has_its_id(
    db: Path, tmp_path: Path, left: str
) -> None:
    """Its reports may have been replaced by then, so that no raw table has it any more."""
    with Engine(tmp_path / "backup.duckdb") as engine:
        engine.con.execute(left)
    with Engine(db) as engine:
        engine.forget([999], reason="asked for")
    assert restore(db, tmp_path / "backup.duckdb").forgotten == {"faers": 1}
    with Engine(db, read_only=True) as engine:
        named = [*((name, "case_id") for name in OF_RELEASES), *OF_DATASETS]
        ids = {
            i
            for t, c in named
            for (i,) in engine.sql(f"SELECT {quoted(c)} FROM {dotted('srsql', t)}")
        }
    assert "999" not in ids


@pytest.mark.thorough
def test_a_restore_without_a_warehouse_has_to_be_told(db: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    with pytest.raises(ForgetError, match="--without-forgotten"):
        restore(other, tmp_path / "backup.duckdb")
    assert not other.exists()
    made = restore(other, tmp_path / "backup.duckdb", without_forgotten=True)
    assert (made.kept, made.carried) == (None, False)
    assert cases(other) == set(range(1, 31))
    damaged = tmp_path / "damaged.duckdb"
    damaged.write_bytes(b"nothing" * 5000)
    with pytest.raises(ForgetError, match="cannot be read"):
        restore(damaged, tmp_path / "backup.duckdb")
    assert damaged.read_bytes().startswith(b"nothing")
    assert restore(damaged, tmp_path / "backup.duckdb", without_forgotten=True).kept


@pytest.mark.thorough
def test_tokens_of_another_key_are_not_mixed(db: Path, tmp_path: Path) -> None:
    with Engine(tmp_path / "backup.duckdb") as engine:
        engine.forget([3], reason="in the backup")
    with Engine(db) as engine:
        engine.forget([7], reason="in the warehouse")
    before = db.read_bytes()
    with pytest.raises(ForgetError, match="another key"):
        restore(db, tmp_path / "backup.duckdb")
    assert db.read_bytes() == before
    assert sorted(file.name for file in tmp_path.glob(".*")) == []


@pytest.mark.thorough
def test_what_is_no_backup_is_refused(db: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database")
    with duckdb.connect(str(tmp_path / "foreign.duckdb")) as con:
        con.execute("CREATE TABLE t AS SELECT 1")
    with Engine(tmp_path / "backup.duckdb") as engine:
        engine.con.execute("UPDATE srsql.warehouse SET layout = 3")
    for name, text in (
        ("absent", "no backup at"),
        ("text", "is damaged or not a DuckDB file"),
        ("foreign.duckdb", "no warehouse of srsql"),
        ("backup.duckdb", "srsql migrate --db"),
        ("w.duckdb", "is the warehouse itself"),
    ):
        with pytest.raises(WarehouseError, match=text):
            restore(db, tmp_path / name)
    assert cases(db) == set(range(1, 31))
