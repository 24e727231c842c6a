"""A warehouse file that a stranger prepared: its own macros and views are not run."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter

import srsql as package
from srsql import Engine
from srsql.engine.errors import DamagedError, OutdatedError
from srsql.engine.steward.backup import rebuild
from srsql.engine.store import definitions as made_here
from srsql.engine.store import guard, unchanged, warehouse
from srsql.engine.store.comments import PUBLIC
from srsql.engine.store.definitions import definitions, described
from srsql.engine.store.statements import statements
from srsql.engine.store.warehouse import Warehouse
from srsql.sql_macros import MACRO_FILES

SECRET = "CANARY9c1e"
COUNT = "SELECT count(DISTINCT caseid) FROM demo WHERE age >= 40"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q3", crowd(12))])
        engine.release("2011Q3", k=3, theta="1", seed=1)
    return folder / "w.duckdb"


@pytest.fixture
def db(made: Path, tmp_path: Path) -> Path:
    (tmp_path / "w.duckdb").write_bytes(made.read_bytes())
    return tmp_path / "w.duckdb"


def prepare(db: Path, *texts: str) -> None:
    """As a stranger: with plain DuckDB, on the file."""
    with duckdb.connect(db) as con:
        for text in texts:
            con.execute(text)


def defined(db: Path) -> bool:
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{db}' AS w (READ_ONLY)")
        due = made_here._due_definitions(definitions())
        return guard.same_definitions(con, guard.definitions_in(con, "w"), due)


def parameters_of(db: Path, name: str) -> str:
    with duckdb.connect(db, read_only=True) as con:
        ((found,),) = con.execute(
            "SELECT parameters FROM duckdb_functions() WHERE schema_name = 'srsql' "
            "AND function_name = ?",
            [name],
        ).fetchall()
    return ", ".join(found)


MASKS: dict[str, Callable[[Path], str]] = {
    "a pseudonym is the id itself": lambda db: (
        f"CREATE OR REPLACE MACRO srsql.pseudonym_attempt({parameters_of(db, 'pseudonym_attempt')})"
        f" AS {parameters_of(db, 'pseudonym_attempt').split(', ')[-1]}"
    ),
    "a built-in is hidden": lambda db: "CREATE MACRO srsql.sha256(x) AS x",
    "a view of the catalog": lambda db: (
        "CREATE OR REPLACE VIEW srsql.exposed_release AS SELECT r.* FROM srsql.release AS r"
    ),
    "a type": lambda db: "CREATE TYPE srsql.amount AS VARCHAR",
}


@pytest.mark.slow
@pytest.mark.parametrize("mask", MASKS)
def test_definitions_of_a_stranger_are_made_anew_whatever_the_file_says_of_itself(
    db: Path, mask: str
) -> None:
    prepare(db, MASKS[mask](db))
    assert not defined(db)
    with pytest.raises(OutdatedError):
        Engine(db, read_only=True)
    assert srsql("status", "--db", db).code == 0  # which opens it once for writing
    assert defined(db)
    Engine(db, read_only=True).close()


def test_a_file_that_was_looked_at_is_known_to_other_processes_until_it_is_written(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    looked: list[Path] = []
    own = warehouse.need_own_views

    def seen(*asked: Any) -> None:
        looked.append(db)
        own(*asked)

    monkeypatch.setattr(warehouse, "need_own_views", seen)

    def opened() -> int:
        warehouse._known.clear()  # as another process has it
        before = len(looked)
        Engine(db, read_only=True).close()
        return len(looked) - before

    assert [opened() for _ in range(2)] == [1, 1]  # just made: a clock may not tell two writes
    later = time.time_ns() + 10**10
    monkeypatch.setattr(unchanged.time, "time_ns", lambda: later)
    assert [opened() for _ in range(3)] == [1, 0, 0]
    os.utime(db)
    assert [opened() for _ in range(2)] == [1, 0]
    prepare(db, MASKS["a pseudonym is the id itself"](db))
    warehouse._known.clear()
    with pytest.raises(OutdatedError):
        Engine(db, read_only=True)
    other = tmp_path / "other.duckdb"
    shutil.copy2(db, other)
    warehouse._known.clear()
    with pytest.raises(OutdatedError):
        Engine(other, read_only=True)


def test_definitions_that_were_compared_once_are_known_again_and_no_others(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compared: list[bool] = []

    def counted(con: duckdb.DuckDBPyConnection, *both: guard.Definitions) -> bool:
        compared.append(guard.same_definitions(con, *both))
        return compared[-1]

    monkeypatch.setattr(made_here, "same_definitions", counted)
    for _ in range(3):
        Engine(db, read_only=True).close()
    assert compared == [True]
    prepare(db, MASKS["a pseudonym is the id itself"](db))
    with pytest.raises(OutdatedError):
        Engine(db, read_only=True)
    assert compared == [True, False]
    with pytest.raises(OutdatedError):
        Engine(db, read_only=True)
    assert compared == [True, False, False]


@pytest.mark.slow
def test_pseudonyms_of_a_prepared_warehouse_are_no_original_ids(db: Path) -> None:
    prepare(db, MASKS["a pseudonym is the id itself"](db))
    with Engine(db) as engine:
        engine.create_series("other", ids="pseudonym", k=3, theta="1")
        made = engine.release("2011Q3", series="other", seed=1, allow_linkable=True)
        shown = {row[0] for row in engine.sql(f"SELECT d.caseid FROM {made.schema}.demo AS d")}
        raw = {row[0] for row in engine.sql("SELECT d.caseid FROM raw_faers.demo AS d")}
    assert shown
    assert not {str(each) for each in shown} & {str(each) for each in raw}


@pytest.mark.parametrize(
    "body",
    [
        "SELECT content AS caseid FROM read_text('{secret}')",
        "SELECT * FROM '{secret}'",
        "SELECT (SELECT content FROM read_text('{secret}')) AS caseid",
        "SELECT * FROM main.stranger('{secret}')",
        "SELECT main.stranger_value() AS caseid FROM srsql_data.release_1_demo",
        "SELECT * FROM main.detour",
        "SELECT * FROM query_table('main.detour')",
        "SELECT 1 AS caseid LIMIT (SELECT count(*) FROM glob('{secret}'))",
    ],
)
@pytest.mark.parametrize("view", ["release_2011q3.demo", "released.demo"])
def test_a_view_over_rows_that_reads_elsewhere_is_refused_before_it_is_run(
    db: Path, tmp_path: Path, body: str, view: str
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text(f"caseid\n{SECRET}\n")
    prepare(
        db,
        "CREATE MACRO main.stranger(path) AS TABLE SELECT content FROM read_text(path)",
        f"CREATE MACRO main.stranger_value() AS (SELECT content FROM read_text('{secret}'))",
        f"CREATE VIEW main.detour AS SELECT content FROM read_text('{secret}')",
        f"CREATE OR REPLACE VIEW {view} AS {body.format(secret=secret)}",
    )
    for words in (("query", COUNT), ("publish", "--quarter", "2011Q3", "--to", tmp_path / "out")):
        told = srsql(*words, "--db", db)
        assert told.code == DamagedError.exit_code
        assert f"the view {view} reads something else than the tables" in told.err
        assert SECRET not in told.out + told.err
    assert not (tmp_path / "out").exists()


def test_a_view_of_raw_rows_reads_no_file_but_those_of_the_lake(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(12))], lake=tmp_path / "lake")
    elsewhere = tmp_path / "quarter=2011Q3" / "elsewhere.parquet"
    elsewhere.parent.mkdir()
    with duckdb.connect(db) as con:
        ((text,),) = con.execute(
            "SELECT sql FROM duckdb_views() WHERE schema_name = 'raw_faers' AND view_name = 'demo'"
        ).fetchall()
    Engine(db, read_only=True).close()
    listed = re.search(r"'[^']*[.]parquet'", text)
    assert listed is not None
    elsewhere.write_bytes(Path(listed[0].strip("'")).read_bytes())
    changed = text.replace(listed[0], f"'{elsewhere}'")
    prepare(db, changed.replace("CREATE VIEW", "CREATE OR REPLACE VIEW"))
    with pytest.raises(DamagedError, match=r"the view raw_faers\.demo reads something else"):
        Engine(db, read_only=True)


def test_questions_are_answered_by_a_duckdb_that_opens_no_other_file(
    db: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text(SECRET)
    with Engine(db, read_only=True) as engine:
        own = engine.warehouse
        own.confine()
        for text in (
            f"FROM read_text('{tmp_path / 'secret.txt'}')",
            f"ATTACH '{tmp_path / 'other.duckdb'}'",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error):
                own.con.execute(text)
        with own.guarded(), own.let_go():  # the file itself is attached again
            pass
        assert engine.query(COUNT).rows
        assert own.scratch is not None
        own.con.execute(f"COPY (SELECT 1) TO '{own.scratch / 'own.csv'}'")


@pytest.mark.slow
def test_copies_of_a_warehouse_have_the_definitions_of_this_version(
    db: Path, tmp_path: Path
) -> None:
    with Engine(db) as engine:
        rebuild(engine.warehouse)
        engine.backup(tmp_path / "one.duckdb")
    with Engine(tmp_path / "one.duckdb", read_only=True) as engine:
        engine.backup(tmp_path / "two.duckdb")
    assert [defined(each) for each in (db, tmp_path / "one.duckdb", tmp_path / "two.duckdb")] == [
        True, True, True
    ]  # fmt: skip


@pytest.mark.slow
def test_no_definition_can_be_left_out_added_or_worded_otherwise() -> None:
    due = made_here._due_definitions(definitions())
    with duckdb.connect() as con:
        assert guard.same_definitions(con, dict(due), due)
        for name, texts in due.items():
            assert not guard.same_definitions(con, {n: t for n, t in due.items() if n != name}, due)
            for other in ("1", "no syntax (", "CREATE VIEW srsql.v AS SELECT 1;"):
                assert not guard.same_definitions(con, due | {name: [other] * len(texts)}, due)
        assert not guard.same_definitions(con, due | {"more": ["1"]}, due)


def test_no_macro_of_the_engine_has_a_default_which_duckdb_does_not_tell() -> None:
    files = [file for file in MACRO_FILES if not file.startswith(PUBLIC)]
    made = [text for file in files for text in statements("srsql.sql_macros", file)]
    heads = [match[0] for text in made if (match := re.search(r"MACRO[^(]*\([^)]*\)", text))]
    assert len(heads) > 200
    assert not [head for head in heads if ":=" in head or "=" in head]


def test_the_engine_calls_no_macro_with_defaults() -> None:
    public = [each.name for each in described() if each.public and each.kind.startswith("MACRO")]
    assert len(public) > 10
    call = re.compile(rf"\bsrsql\.({'|'.join(public)})\(")
    root = Path(package.__file__).parent
    console = root / "engine" / "console"  # it tells of them, and runs no SQL
    files = [*root.glob("engine/**/*.py"), *root.glob("sql_macros/**/*.sql")]
    files = [file for file in files if not file.is_relative_to(console)]
    calls = {
        str(file.relative_to(root)) for file in files
        if any(not line.lstrip().startswith(("--", "#")) and call.search(line)
               for line in file.read_text(encoding="utf-8").splitlines())
    }  # fmt: skip
    assert {each for each in calls if not each.startswith(f"sql_macros/{PUBLIC}")} == set()


def test_a_file_that_this_process_wrote_last_is_not_compared_again(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Warehouse(db).close()

    def never(*_: object) -> bool:
        raise AssertionError("it was compared again")

    with monkeypatch.context() as patched:
        patched.setattr(made_here, "same_definitions", never)
        Warehouse(db).close()
        Warehouse(db, read_only=True).close()
        prepare(db, "CREATE MACRO srsql.sha256(x) AS x")
        with pytest.raises(AssertionError):
            Warehouse(db, read_only=True)
