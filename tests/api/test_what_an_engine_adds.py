"""What an engine adds to a connection of the caller's, and how it is taken away again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from support.quarters import crowd, write_quarter

from srsql import Engine
from srsql.engine.errors import WarehouseError

pytestmark = pytest.mark.slow

OURS = """
    SELECT DISTINCT f.function_name FROM duckdb_functions() AS f
    WHERE f.internal AND starts_with(f.function_name, 'srsql_')
"""
THINGS = """
    SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name <> 'system'
    UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal
    UNION ALL SELECT schema_name, function_name FROM duckdb_functions() WHERE NOT internal
    UNION ALL SELECT schema_name, '' FROM duckdb_schemas()
    WHERE NOT internal AND schema_name <> 'main'
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("added")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q3", crowd(40))])
        engine.release.make("2011Q3", k=3, theta="1", seed=1, allow_linkable=True)
    return folder / "w.duckdb"


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        yield con


def test_all_that_an_engine_adds_can_be_taken_away_again(
    tmp_path: Path, con: duckdb.DuckDBPyConnection
) -> None:
    """The statements are those of the table in docs/embedding.md."""
    con.execute(f"ATTACH '{tmp_path / 'theirs.duckdb'}' AS theirs")
    con.execute("USE theirs; CREATE TABLE own AS SELECT 1 AS x")
    settings = con.execute("SELECT name, value FROM duckdb_settings()").fetchall()
    before = con.execute(THINGS).fetchall()
    engine = Engine(con)
    engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(40))])
    engine.release.make("2011Q3", k=3, theta="1", seed=1, allow_linkable=True)
    assert engine.audit.run().safe
    assert con.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall() == []
    assert con.execute("SELECT name, value FROM duckdb_settings()").fetchall() == settings
    assert con.execute(OURS).fetchall() != []
    schemas = con.execute(
        "SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database() AND "
        "NOT internal AND regexp_full_match(schema_name, "
        "'srsql(_data|_internal|_reader)?|raw_.*|draft_.*|released.*|release_.*')"
    ).fetchall()
    for (name,) in schemas:
        con.execute(f'DROP SCHEMA "{name}" CASCADE')
    for (name,) in con.execute(OURS).fetchall():
        con.remove_function(name)
    assert con.execute(OURS).fetchall() == []
    assert con.execute(THINGS).fetchall() == before
    assert con.execute("FROM own").fetchall() == [(1,)]


def test_engines_on_several_warehouses_of_one_connection_stay_with_theirs(
    made: Path, tmp_path: Path, con: duckdb.DuckDBPyConnection
) -> None:
    """Whatever the databases are called and whatever USE says later; one is open for reading."""
    for name in ("a", "b"):
        shutil.copy(made, tmp_path / f"{name}.duckdb")
    con.execute(f"""ATTACH '{tmp_path / "a.duckdb"}' AS "the ""first"" one" (READ_ONLY)""")
    con.execute(f"ATTACH '{tmp_path / 'b.duckdb'}' AS second")
    con.execute('USE "the ""first"" one"')
    first = Engine(con)
    con.execute("USE second")
    second = Engine(con)
    con.execute("USE memory")
    assert first.audit.run().safe
    assert second.audit.run().safe
    second.series.create("narrow", k=4)
    assert [each.series for each in first.series.show()] == ["main"]
    assert [each.series for each in second.series.show()] == ["main", "narrow"]
    with pytest.raises(WarehouseError, match=r"open for reading alone: .* without READ_ONLY"):
        first.series.create("narrow", k=4)
    assert con.execute("SELECT current_database()").fetchall() == [("memory",)]


def test_the_schema_of_the_catalog_has_no_other_name(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(WarehouseError, match="Engine takes no option schema"):
        Engine(con, schema="anonymous")  # type: ignore[call-arg]


def test_views_of_the_callers_follow_what_is_out(made: Path, tmp_path: Path) -> None:
    """Such as models of dbt, beside ours; nothing of a release drops or hides them."""
    file = tmp_path / "w.duckdb"
    shutil.copy(made, file)
    with duckdb.connect(file) as con:
        con.execute(
            "CREATE SCHEMA marts; CREATE VIEW marts.sizes AS SELECT quarter, count(*) AS reports "
            "FROM released.demo GROUP BY quarter"
        )
        engine = Engine(con)
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(40, 21, version=2))])
        engine.release.make("2011Q4", allow_linkable=True)
        assert con.execute("FROM marts.sizes ORDER BY ALL").fetchall() == [
            ("2011Q3", 40), ("2011Q4", 40)
        ]  # fmt: skip
        engine.steward.split(tmp_path / "public.duckdb")  # from a connection of the caller's
    with duckdb.connect(tmp_path / "public.duckdb", read_only=True) as con:
        assert con.execute("SELECT count(*) FROM srsql.series()").fetchall() == [(2,)]
        assert con.execute("FROM duckdb_schemas() WHERE schema_name = 'marts'").fetchall() == []
