"""A new warehouse has its catalog from a template of the user's cache, or makes it itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from srsql import Engine
from srsql.engine.store import definitions as module

LISTED = {
    "tables": "SELECT schema_name, table_name, sql FROM duckdb_tables()",
    "views": "SELECT schema_name, view_name, sql FROM duckdb_views()",
    "functions": "SELECT schema_name, function_name, parameters, function_type "
    "FROM duckdb_functions()",
    "columns": "SELECT schema_name, table_name, column_name, column_default, is_nullable, "
    "data_type FROM duckdb_columns()",
    "constraints": "SELECT schema_name, table_name, constraint_text FROM duckdb_constraints()",
    "sequences": "SELECT schema_name, sequence_name, start_value, last_value FROM "
    "duckdb_sequences()",
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "srsql" / "catalogs"


def _holds(path: Path | str) -> dict[str, list[Any]]:
    with Engine(path) as engine:
        own = " WHERE database_name = current_database() AND schema_name LIKE 'srsql%' ORDER BY ALL"
        found = {name: engine.sql(query + own) for name, query in LISTED.items()}
        return {**found, "warehouse": engine.sql("FROM srsql.warehouse")}


def _never_defined(*_: Any) -> None:
    raise AssertionError("the catalog was made again")


def test_a_warehouse_of_the_template_holds_what_one_without_holds(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_template = _holds(tmp_path / "first.duckdb")
    (template,) = cache.iterdir()
    assert template.stat().st_mode & 0o777 == 0o600
    assert cache.stat().st_mode & 0o777 == 0o700
    with monkeypatch.context() as patched:
        patched.setattr(module, "_define", _never_defined)
        assert _holds(tmp_path / "second.duckdb") == of_template
        assert _holds(":memory:") == of_template
    monkeypatch.setattr(module, "cache_folder", lambda kind: None)
    assert _holds(tmp_path / "third.duckdb") == of_template
    assert len(of_template["functions"]) > 200


@pytest.mark.parametrize(
    "content",
    [pytest.param(b"", marks=pytest.mark.thorough), b"no database", None],
    ids=["empty", "text", "other"],
)
def test_a_template_that_is_none_is_not_used(
    tmp_path: Path, cache: Path, content: bytes | None
) -> None:
    whole = _holds(tmp_path / "first.duckdb")
    (template,) = cache.iterdir()
    if content is None:  # a database without our catalog
        template.unlink()
        duckdb.connect(str(template)).close()
    else:
        template.write_bytes(content)
    assert _holds(tmp_path / "second.duckdb") == whole
    assert not template.exists()
    assert _holds(tmp_path / "third.duckdb") == whole
    assert template.exists()


def test_a_template_of_other_definitions_is_not_used(tmp_path: Path, cache: Path) -> None:
    whole = _holds(tmp_path / "first.duckdb")
    (template,) = cache.iterdir()
    with duckdb.connect(str(template)) as con:
        con.execute("UPDATE srsql.warehouse SET definitions = 'others'")
        con.execute("CREATE TABLE srsql.stranger (x INTEGER)")
    assert _holds(tmp_path / "second.duckdb") == whole


def test_a_database_that_holds_other_things_gets_the_catalog_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "own.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE mine AS SELECT 7 AS x")
        con.execute("CREATE SCHEMA srsql")
    with Engine(path) as engine:
        assert engine.sql("SELECT x FROM main.mine") == [(7,)]
        assert engine.sql("SELECT count(*) FROM srsql.release") == [(0,)]
