"""Whoever attaches, shadows or sets what he likes sees the same released rows, or an error."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from support.files import copied
from support.quarters import crowd

from srsql import Engine, install
from srsql.engine.errors import SrsqlError, WarehouseError
from srsql.engine.store.guard import SETTINGS

pytestmark = pytest.mark.thorough

Connection = duckdb.DuckDBPyConnection
OPTIONS: dict[str, Any] = {"k": 3, "theta": "0.5", "seed": 1, "allow_linkable": True}
QUARTERS = {"2011Q3": crowd(40), "2011Q4": crowd(40, first=21, version=2)}
PUBLISHED = [
    *(f"release_2011q{n}.{v}" for n in (3, 4) for v in ("demo", "drug", "reac", "manifest")),
    *(f"released.{v}" for v in ("demo", "drug", "reac", "indi", "outc", "case_latest")),
]


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse file with two quarters out."""
    folder = tmp_path_factory.mktemp("embedding")
    db = copied(folder / "kept", folder / "w.duckdb", QUARTERS)
    with Engine(db) as engine:
        engine.release_range("2011Q3:2011Q4", **OPTIONS)
    return db


@pytest.fixture(scope="session")
def expected(released: Path) -> dict[str, list[tuple[Any, ...]]]:
    with duckdb.connect(str(released), read_only=True) as con:
        found = seen(con)
    assert all(found.values())
    return found


@pytest.fixture
def con() -> Iterator[Connection]:
    with duckdb.connect() as opened:
        yield opened


def seen(con: Connection, prefix: str = "") -> dict[str, list[tuple[Any, ...]]]:
    """The rows of what is published, in the order in which they come."""
    return {name: con.execute(f"FROM {prefix}{name}").fetchall() for name in PUBLISHED}


def attached(con: Connection, db: Path, alias: str) -> str:
    quoted = '"' + alias.replace('"', '""') + '"'
    con.execute(f"ATTACH '{db}' AS {quoted} (READ_ONLY)")
    return quoted


@pytest.mark.parametrize(
    "alias",
    ["w", "srsql", "demo", "release_2011q4", "released", "memory2", "it's \"theirs\"", "Ünïcode",
     "pg_catalog", "srsql_warehouse"],
)  # fmt: skip
def test_attached_under_any_alias_the_views_show_the_same_rows(
    con: Connection, released: Path, expected: dict[str, Any], alias: str
) -> None:
    assert seen(con, f"{attached(con, released, alias)}.") == expected


@pytest.mark.parametrize("alias", ["w", "srsql", 'it\'s "theirs"'])
def test_used_under_another_alias_the_views_show_the_same_rows(
    con: Connection, released: Path, expected: dict[str, Any], alias: str
) -> None:
    con.execute(f"USE {attached(con, released, alias)}")
    assert seen(con) == expected


def test_attached_under_the_one_name_that_is_ambiguous_there_is_an_error_and_no_other_row(
    con: Connection, released: Path
) -> None:
    attached(con, released, "srsql_data")
    with pytest.raises(duckdb.BinderException, match="Ambiguous reference"):
        con.execute("FROM srsql_data.release_2011q4.demo").fetchall()


def test_a_database_attached_beside_it_under_a_name_of_ours_lends_no_row(
    con: Connection, released: Path, expected: dict[str, Any]
) -> None:
    attached(con, released, "w")
    for schema in ("release_2011q4", "released"):
        con.execute(f"ATTACH ':memory:' AS {schema}; CREATE TABLE {schema}.main.demo (evil INT)")
    assert seen(con, "w.") == expected
    con.execute("ATTACH ':memory:' AS srsql_data")
    for name in ("release_1_demo", "release_2_demo", "latest_released"):
        con.execute(f"CREATE TABLE srsql_data.main.{name} AS SELECT 'evil' AS caseid")
    with pytest.raises(duckdb.BinderException, match="Ambiguous reference"):
        con.execute("FROM w.release_2011q4.demo").fetchall()


def test_two_warehouses_attached_at_once_keep_to_their_own_rows(
    con: Connection, released: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    with Engine(copied(tmp_path / "kept", tmp_path / "other.duckdb", QUARTERS)) as engine:
        engine.release("2011Q3", **(OPTIONS | {"k": 6}))
    attached(con, released, "one")
    attached(con, tmp_path / "other.duckdb", "two")
    for use in ("one", "two", "memory"):
        con.execute(f"USE {use}")
        assert seen(con, "one.") == expected
        assert con.execute("FROM two.release_2011q3.demo").fetchall() != expected[PUBLISHED[0]]


SHADOWS = [
    "CREATE SCHEMA evil",
    "CREATE SCHEMA srsql_data",
    "CREATE SCHEMA release_2011q4",
    "CREATE SCHEMA released",
    *(
        f"CREATE TABLE {schema}.{name} AS SELECT 'evil' AS primaryid, 'evil' AS caseid"
        for schema in ("main", "evil", "srsql_data", "release_2011q4")
        for name in ("demo", "release_1_demo", "release_2_demo", "latest_released")
    ),
    *(
        f"CREATE TEMP {kind} {name} AS SELECT 'evil' AS primaryid, 'evil' AS caseid"
        for kind, name in [("TABLE", "demo"), ("VIEW", "release_1_demo"), ("VIEW", "released")]
    ),
]
FUNCTIONS = [
    "upper(x) AS 'evil'", "count() AS 7, (x) AS 7", "coalesce(x, y) AS 'evil'", "max(x) AS 'evil'",
    "list_contains(x, y) AS true", "sum(x) AS 7", "nullif(x, y) AS 'evil'", "list_value(x) AS 'e'",
    "list_extract(x, y) AS 'evil'", "sha256(x) AS 'evil'", "current_database() AS 'evil'",
    "current_setting(x) AS 'main'", "starts_with(x, y) AS false",
    "duckdb_functions() AS TABLE SELECT 'evil' AS function_name",
    "duckdb_tables() AS TABLE SELECT 'evil' AS table_name", "txid_current() AS 7",
]  # fmt: skip


def test_tables_schemas_and_search_paths_of_the_reader_do_not_change_a_published_view(
    con: Connection, released: Path, expected: dict[str, Any]
) -> None:
    attached(con, released, "w")
    for statement in SHADOWS:
        con.execute(statement)
    for path in ("evil", "evil,w.main", "release_2011q4,main", "w.released,evil", "w.srsql"):
        con.execute("SET search_path = ?", [path])
        assert seen(con, "w.") == expected


@pytest.mark.parametrize("kind", ["MACRO main.", "TEMP MACRO "])
def test_macros_of_the_reader_that_hide_built_in_functions_do_not_change_a_published_view(
    con: Connection, released: Path, expected: dict[str, Any], kind: str
) -> None:
    attached(con, released, "w")
    for function in FUNCTIONS:
        con.execute(f"CREATE {kind}{function}")
    assert seen(con, "w.") == expected


def test_a_local_data_frame_does_not_stand_in_for_a_published_view(
    con: Connection, released: Path, expected: dict[str, Any]
) -> None:
    demo = release_1_demo = released_demo = pd.DataFrame({"caseid": ["evil"]})
    assert len(demo) == len(release_1_demo) == len(released_demo) == 1
    con.execute(f"USE {attached(con, released, 'w')}")
    assert {name: con.sql(f"FROM {name}").fetchall() for name in PUBLISHED} == expected
    assert con.sql("FROM demo").fetchall() == [("evil",)]


HOSTILE = {
    "arrow_large_buffer_size": "true",
    "arrow_lossless_conversion": "true",
    "arrow_output_list_view": "true",
    "arrow_output_version": "1.4",
    "Calendar": "japanese",
    "default_collation": "nocase",
    "default_null_order": "NULLS_FIRST",
    "default_order": "DESCENDING",
    "dialect_compatibility_mode": "SPARK",
    "disable_timestamptz_casts": "true",
    "enable_view_dependencies": "true",
    "error_on_division_by_zero": "false",
    "ieee_floating_point_ops": "false",
    "integer_division": "true",
    "legacy_disable_null_type": "true",
    "preserve_identifier_case": "uppercase",
    "preserve_insertion_order": "false",
    "python_enable_replacements": "true",
    "regex_match_operator_semantics": "full",
    "scalar_subquery_error_on_multiple_rows": "false",
    "table_function_identifier_conversion": "ENABLE_DEPRECATED_IDENTIFIER_CONVERSION",
    "TimeZone": "Asia/Tokyo",
}


def sets(con: Connection) -> dict[str, str]:
    """The settings of ``HOSTILE`` as they are; ``duckdb_settings()`` does not list all of them."""
    asked = ", ".join(f"CAST(current_setting('{name}') AS VARCHAR)" for name in HOSTILE)
    return dict(zip(HOSTILE, con.execute(f"SELECT {asked}").fetchall()[0], strict=True))


def make_hostile(con: Connection) -> dict[str, str]:
    for name, value in HOSTILE.items():
        if name != "table_function_identifier_conversion":
            con.execute(f"SET {name} = '{value}'")
    return sets(con)


def test_every_setting_that_the_guard_watches_is_one_of_this_duckdb(con: Connection) -> None:
    assert set(HOSTILE) == set(SETTINGS)
    assert sets(con) | {"python_enable_replacements": "false"} == SETTINGS


def test_settings_of_the_reader_do_not_change_a_published_view(
    con: Connection, released: Path, expected: dict[str, Any]
) -> None:
    attached(con, released, "w")
    make_hostile(con)
    assert {name: sorted(map(repr, rows)) for name, rows in seen(con, "w.").items()} == {
        name: sorted(map(repr, rows)) for name, rows in expected.items()
    }


def test_ids_that_differ_in_case_only_are_two_cases_under_any_collation(
    con: Connection, tmp_path: Path
) -> None:
    """Text ids: nothing in a view compares them under the reader's collation."""
    from oracles import clinic

    visits = [(f"v{i}", "pP"[i % 2] + str(i // 2), 20 + i, "M", "w", "s") for i in range(12)]
    data = clinic.write(tmp_path / "c", visits, [(v[0], f"ache {v[0]}", "D", "x") for v in visits])
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([data], dataset=tmp_path / "c" / "clinic.toml", period="2011Q1")
        engine.release("2011Q1", k=2, theta="1", seed=1, ids="original")
    attached(con, tmp_path / "w.duckdb", "w")
    con.execute("SET default_collation = 'nocase'")
    found = con.execute("FROM w.released.case_latest").fetchall()
    assert sorted(case for case, _ in found) == sorted(v[1] for v in visits)


def engine_results(con: Connection, db: Path | None, folder: Path) -> dict[str, Any]:
    """What every call of the engine gives on the caller's connection."""
    if db is not None:
        con.execute(f"ATTACH '{db}' AS w; USE w")
    engine = Engine(con)
    found: dict[str, Any] = {"release": engine.release("2011Q4", **OPTIONS).rows}
    for quarter in ("2011Q3", "2011Q4"):
        found[f"metrics {quarter}"] = [repr(row) for row in engine.metrics(quarter)]
    found["audit"] = repr(engine.audit(k=4, theta="1/3"))
    found["attack"] = repr(engine.attack("2011Q4", {"age": 44, "sex": "M"}, new=True))
    found["signals"] = repr(engine.signals(every_pair=True, min_age=30, sex="F"))
    found["status"] = engine.status().releases
    found["views"] = {
        name: con.execute(f"FROM {name}").fetchall() for name in PUBLISHED if "manifest" not in name
    }
    return found


@pytest.fixture(scope="session")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse file with the first of two quarters out."""
    folder = tmp_path_factory.mktemp("half")
    db = copied(folder / "kept", folder / "w.duckdb", QUARTERS)
    with Engine(db) as engine:
        engine.release("2011Q3", **OPTIONS)
    return db


@pytest.fixture(scope="session")
def undisturbed(half: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("undisturbed")
    db = folder / "w.duckdb"
    db.write_bytes(half.read_bytes())
    with duckdb.connect() as con:
        return engine_results(con, db, folder)


def test_the_engine_gives_the_same_under_hostile_settings_and_restores_them(
    con: Connection, half: Path, undisturbed: dict[str, Any], tmp_path: Path
) -> None:
    db = tmp_path / "w.duckdb"
    db.write_bytes(half.read_bytes())
    con.execute(f"ATTACH '{db}' AS w; USE w")
    before = make_hostile(con)
    found = engine_results(con, None, tmp_path)
    assert sets(con) == before
    assert {k: v for k, v in found.items() if k != "views"} == {
        k: v for k, v in undisturbed.items() if k != "views"
    }
    for name, rows in found["views"].items():
        assert sorted(map(repr, rows)) == sorted(map(repr, undisturbed["views"][name]))


def test_the_engine_gives_the_same_among_shadows_of_its_names(
    con: Connection, half: Path, undisturbed: dict[str, Any], tmp_path: Path
) -> None:
    db = tmp_path / "w.duckdb"
    db.write_bytes(half.read_bytes())
    con.execute(f"ATTACH '{db}' AS w; USE w; CREATE SCHEMA evil")
    for function in FUNCTIONS:
        con.execute(f"CREATE MACRO main.{function}")
        con.execute(f"CREATE MACRO evil.{function}")
    for name in ("demo", "release", "member", "srsql_case_report", "srsql_node", "srsql_identity"):
        for schema in ("main", "evil"):
            con.execute(f"CREATE TABLE {schema}.{name} AS SELECT 'evil' AS release_id")
        if not name.startswith("srsql_"):
            con.execute(f"CREATE TEMP TABLE {name} AS SELECT 'evil' AS release_id")
    con.execute("SET search_path = 'evil,main'")
    srsql_node = pd.DataFrame({"evil": [1]})
    assert len(srsql_node) == 1
    assert engine_results(con, None, tmp_path) == undisturbed
    path = con.execute("SELECT system.main.current_setting('search_path')").fetchall()[0][0]
    assert path.replace("w.", "") == "evil,main"


@pytest.mark.parametrize(
    "macro", ["upper(x) AS 'evil'", FUNCTIONS[-3], "srsql_group_cases(x) AS 1"]
)
def test_a_temporary_macro_that_hides_a_function_is_refused_in_one_line(
    con: Connection, macro: str
) -> None:
    engine = Engine(con)
    con.execute(f"CREATE TEMP MACRO {macro}")
    with pytest.raises(WarehouseError, match="temporary macro") as caught:
        engine.status()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("way", ["con", "sql", "frame"])
def test_a_temporary_macro_is_found_however_it_was_made_on_a_warehouse_of_ours(
    tmp_path: Path, way: str
) -> None:
    made = "CREATE TEMP MACRO upper(x) AS 'evil'"
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.sql("SELECT 1")
        engine.status()
        {
            "con": lambda: engine.con.execute(made),
            "sql": lambda: engine.sql(f"SELECT 1; {made}"),
            "frame": lambda: engine.frame(f"{made}; SELECT 1"),
        }[way]()
        with pytest.raises(WarehouseError, match="temporary macro 'upper'"):
            engine.status()


def test_a_locked_configuration_is_taken_as_it_is_or_refused_by_its_name(con: Connection) -> None:
    con.execute("SET python_enable_replacements = false; SET TimeZone = 'Etc/UTC'")
    con.execute("SET lock_configuration = true")
    assert Engine(con).status().releases == []
    with duckdb.connect() as other:
        engine = Engine(other)
        other.execute("SET default_collation = 'nocase'")
        other.execute("SET lock_configuration = true")
        with pytest.raises(WarehouseError, match="default_collation is 'nocase' and locked"):
            engine.status()
        assert other.execute("SELECT current_schema()").fetchall() == [("main",)]


def test_the_engine_stays_with_its_database_when_the_caller_uses_another(
    con: Connection, released: Path, tmp_path: Path
) -> None:
    db = tmp_path / "w.duckdb"
    db.write_bytes(released.read_bytes())
    con.execute(f"ATTACH '{db}' AS w; USE w")
    engine = Engine(con)
    con.execute('ATTACH \':memory:\' AS "o\'ther ""one"""; USE "o\'ther ""one"""')
    assert [r["quarter"] for r in engine.status().releases] == ["2011Q3", "2011Q4"]
    assert con.execute("SELECT current_database()").fetchall() == [('o\'ther "one"',)]
    con.execute("USE memory; DETACH w")
    with pytest.raises(WarehouseError, match="not attached any more"):
        engine.status()


def test_what_was_begun_in_another_database_leaves_that_one_as_it_was(
    con: Connection, tmp_path: Path
) -> None:
    con.execute(f"ATTACH '{tmp_path / 'w.duckdb'}' AS w; USE w")
    Engine(con)
    made = con.execute(
        "SELECT DISTINCT database_name FROM duckdb_schemas() WHERE schema_name = 'srsql'"
    ).fetchall()
    assert made == [("w",)]


def test_a_file_opened_for_reading_serves_the_engine_and_is_not_written(
    released: Path, tmp_path: Path
) -> None:
    before = released.read_bytes()
    with duckdb.connect(str(released), read_only=True) as con:
        engine = Engine(con)
        assert len(engine.status().releases) == 2
        assert engine.metrics("2011Q4")
        with pytest.raises(SrsqlError, match="open for reading alone") as caught:
            engine.release("2011Q4", **OPTIONS, series="other")
        assert "\n" not in str(caught.value)
    assert released.read_bytes() == before
    duckdb.connect(str(tmp_path / "empty.duckdb")).close()
    with (
        duckdb.connect(str(tmp_path / "empty.duckdb"), read_only=True) as con,
        pytest.raises(WarehouseError, match="cannot be installed in empty"),
    ):
        install(con)


def test_plain_duckdb_without_srsql_reads_every_published_view(
    released: Path, expected: dict[str, Any]
) -> None:
    code = (
        "import sys, json, duckdb\n"
        "con = duckdb.connect(sys.argv[1], read_only=True)\n"
        "print(json.dumps({n: len(con.execute('FROM ' + n).fetchall()) for n in sys.argv[2:]}))\n"
        "assert not any(m.startswith('srsql') for m in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, str(released), *PUBLISHED],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout) == {name: len(rows) for name, rows in expected.items()}


def test_a_macro_works_after_use_and_never_reads_the_tables_of_an_attached_file_without(
    con: Connection, released: Path
) -> None:
    """Which is why macros are not published, and why the guide says so."""
    attached(con, released, "w")
    con.execute("CREATE SCHEMA srsql; CREATE TABLE srsql.member (evil INTEGER)")
    with pytest.raises(duckdb.Error, match=r"release|member"):
        con.execute("FROM w.srsql.group_sizes(1)").fetchall()
    con.execute("USE w")
    assert len(con.execute("FROM srsql.group_sizes(1)").fetchall()) == 6


def test_published_views_name_no_function_no_macro_and_no_other_schema(released: Path) -> None:
    """So there is nothing in them that a reader's search path could decide."""
    with duckdb.connect(str(released), read_only=True) as con:
        texts = con.execute(
            "SELECT sql FROM duckdb_views() WHERE NOT internal AND schema_name LIKE 'release%'"
        ).fetchall()
    assert len(texts) == 2 * 6 + 6
    for (text,) in texts:
        body = text.partition(" AS ")[2]
        assert "(" not in body.replace("(SELECT", "").replace("((", "")
        assert "srsql_data." in body
