"""Tables that the warehouse has already, read as a source: by name, period and type."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from oracles.hospital import Hospital, toml
from support.command import srsql

from srsql import Engine
from srsql.engine.errors import DatasetError, IngestError, SrsqlError, WarehouseError
from srsql.engine.ingest import IngestedPeriod

pytestmark = pytest.mark.thorough

OPTIONS: dict[str, Any] = {"k": 2, "theta": "1", "seed": 1}


def rows(count: int, period: str = "2022Q4", first: int = 1) -> Hospital:
    numbers = range(first, first + count)
    return Hospital(
        [
            (period, f"V{n}", f"P{n}", str(20 + n % 50), "MF"[n % 2], f"ward {n % 3}")
            for n in numbers
        ],
        [(period, f"V{n}", f"ache {n}", "ASPIRIN") for n in numbers],
    )


def both(*parts: Hospital) -> Hospital:
    return Hospital([v for p in parts for v in p.visits], [f for p in parts for f in p.findings])


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def dataset(folder: Path, **changes: str) -> Path:
    file = folder / "clinic.toml"
    file.write_text(toml(**changes), encoding="utf-8")
    return file


def take(
    con: duckdb.DuckDBPyConnection, file: Path, period: str | None = None, **options: Any
) -> list[IngestedPeriod]:
    done = Engine(con, dataset=file).ingest(period=period, **options)
    for item in done:
        assert all(f.records == f.loaded + f.rejected for f in item.files)
    return done


def ids(con: duckdb.DuckDBPyConnection, table: str = "visit") -> list[tuple[Any, ...]]:
    return con.execute(f"SELECT quarter, visit_id FROM raw_clinic.{table} ORDER BY ALL").fetchall()


def refused(con: duckdb.DuckDBPyConnection, file: Path, period: str | None = None) -> str:
    with pytest.raises(SrsqlError) as caught:
        take(con, file, period)
    assert "\n" not in str(caught.value)
    assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
    assert con.execute("SELECT count(*) FROM srsql.ingestion").fetchall() == [(0,)]
    return str(caught.value)


def test_only_the_rows_of_the_period_are_taken_and_children_follow_their_report(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    both(rows(3), rows(2, "2023Q1", first=4)).create(con)
    (done,) = take(con, dataset(tmp_path), "2022Q4")
    assert (done.quarter, done.status) == ("2022Q4", "loaded")
    assert [(f.table, f.file, f.records, f.loaded) for f in done.files] == [
        ("visit", "hospital.Adverse Events", 3, 3),
        ("finding", "hospital.finding", 3, 3),
    ]
    expected = [("2022Q4", f"V{n}") for n in (1, 2, 3)]
    assert ids(con) == ids(con, "finding") == expected


def test_without_a_period_every_period_of_the_table_is_taken(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    both(rows(2), rows(2, "2023Q1", first=4)).create(con)
    file = dataset(tmp_path, finding_period='period_column = "quarter"')
    assert [d.quarter for d in take(con, file)] == ["2022Q4", "2023Q1"]
    assert [d.status for d in take(con, file)] == ["unchanged", "unchanged"]
    assert len(ids(con, "finding")) == 4


def test_a_report_table_without_a_period_column_holds_the_period_that_is_given(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    rows(2).create(con)
    file = dataset(tmp_path, visit_period="")
    assert "--period" in refused(con, file)
    take(con, file, "any label; it's data")
    assert {quarter for quarter, _ in ids(con, "finding")} == {"any label; it's data"}


@pytest.mark.parametrize(
    ("rule", "kind", "value", "label"),
    [
        ("quarter", "DATE", "2022-10-01", "2022Q4"),
        ("quarter", "TIMESTAMP", "2022-12-31 23:59:59", "2022Q4"),
        ("quarter", "TIMESTAMP WITH TIME ZONE", "2022-12-31 23:59:59+00", "2022Q4"),
        ("quarter", "VARCHAR", " 20221231 ", "2022Q4"),
        ("quarter", "INTEGER", "202203", "2022Q1"),
        ("month", "DATE", "2022-03-31", "2022-03"),
        ("year", "SMALLINT", "2022", "2022"),
        ("year", "DATE", "2022-03-31", "2022"),
        ("label", "VARCHAR", " 2022Q4 ", "2022Q4"),
    ],
)
def test_the_period_of_a_row_is_told_by_a_label_or_a_date(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, rule: str, kind: str, value: str, label: str
) -> None:
    rows(2).create(con)
    con.execute("SET TimeZone = 'Asia/Tokyo'")
    con.execute('ALTER TABLE hospital."Adverse Events" DROP "Quarter"')
    con.execute(f'ALTER TABLE hospital."Adverse Events" ADD "Reported on" {kind}')
    con.execute('UPDATE hospital."Adverse Events" SET "Reported on" = ?', [value])
    column = 'period_column = "Reported On"'
    (done,) = take(con, dataset(tmp_path, period=rule, visit_period=column))
    assert done.quarter == label
    assert ids(con) == ids(con, "finding") == [(label, "V1"), (label, "V2")]
    assert con.execute("SELECT current_setting('TimeZone')").fetchall() == [("Asia/Tokyo",)]


@pytest.mark.parametrize("value", [None, "", " ", "2022-13-01", "soon"])
def test_a_row_whose_period_cannot_be_told_is_rejected_and_not_forgotten(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, value: str | None
) -> None:
    hospital = both(rows(3), rows(1, "x", first=9))
    hospital.create(con)
    con.execute('UPDATE hospital."Adverse Events" SET "Quarter" = \'2022-10-01\'')
    con.execute(
        'UPDATE hospital."Adverse Events" SET "Quarter" = ? WHERE "Patient" = \'P9\'', [value]
    )
    con.execute("INSERT INTO hospital.finding VALUES ('', 'V77', 'of nobody', 'X', 'Doe')")
    (done,) = take(con, dataset(tmp_path, period="quarter"), max_reject_rate=0.5, max_unread=1)
    assert [(f.loaded, f.reasons) for f in done.files] == [
        (3, {"no period": 1}),
        (3, {"no period": 1, "no report has its key": 1}),
    ]
    found = con.execute("SELECT file, line, reason, record FROM srsql.reject ORDER BY ALL")
    assert found.fetchall() == [
        ("hospital.Adverse Events", 5, "no period", "V9,P9,29,F,ward 0"),
        ("hospital.finding", 5, "no report has its key", "V77,of nobody,X"),
        ("hospital.finding", 6, "no period", "V9,ache 9,ASPIRIN"),
    ]


def test_other_types_than_text_are_read_without_loss(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    con.execute("CREATE SCHEMA hospital; CREATE TYPE hospital.sexes AS ENUM ('M', 'F')")
    con.execute(
        'CREATE TABLE hospital."Adverse Events" ("Visit No." HUGEINT, "Patient" UINTEGER, '
        '"Âge (years)" DECIMAL(9, 3), sex hospital.sexes, ward UUID, "Quarter" INTEGER)'
    )
    con.execute(
        'INSERT INTO hospital."Adverse Events" VALUES '
        "(9223372036854775807, 4294967295, 40.499, 'F', "
        "'00000000-0000-0000-0000-000000000001', 2022), (2, 1, 121, NULL, NULL, 2022)"
    )
    con.execute(
        'CREATE TABLE hospital.finding ("Visit No." BIGINT, "what\'s found" BOOLEAN, drug DOUBLE)'
    )
    con.execute("INSERT INTO hospital.finding VALUES (9223372036854775807, true, 0.1)")
    take(con, dataset(tmp_path, id_type="integer"), "2022", max_unread=1)
    assert con.execute(
        "SELECT visit_id, patient_id, age, srsql_age, sex, srsql_sex, ward FROM raw_clinic.visit "
        "ORDER BY visit_id"
    ).fetchall() == [
        (2, 1, "121.000", None, None, None, None),
        (
            9223372036854775807, 4294967295, "40.499", 40, "F", "F",
            "00000000-0000-0000-0000-000000000001",
        ),
    ]  # fmt: skip
    assert con.execute("SELECT finding, drug FROM raw_clinic.finding").fetchall() == [
        ("true", "0.1")
    ]
    assert con.execute("SELECT line, column_name, value, reason FROM srsql.reject").fetchall() == [
        (2, "age", "121.000", "outside 0 to 120")
    ]


@pytest.mark.parametrize("kind", ["VARCHAR[]", "STRUCT(x INTEGER)", "BLOB", "MAP(INTEGER, DATE)"])
def test_a_column_that_is_no_single_text_is_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str
) -> None:
    rows(2).create(con)
    con.execute("ALTER TABLE hospital.finding DROP drug")
    con.execute(f"ALTER TABLE hospital.finding ADD drug {kind}")
    assert "column drug is of type" in refused(con, dataset(tmp_path), "2022Q4")


def test_a_view_of_the_callers_is_read_as_he_reads_it(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    rows(3).create(con)
    con.execute("CREATE MACRO main.tidy(x) AS trim(x) || '!'")
    con.execute("CREATE SCHEMA srsql")  # empty, so no one's
    con.execute("SET search_path = 'hospital,main'")
    con.execute(
        'CREATE VIEW hospital.wide AS SELECT "Visit No.", unnest([tidy("what\'s found"), \'b\']) '
        'AS "what\'s found", drug FROM finding'
    )
    take(con, dataset(tmp_path, finding="hospital.wide"), "2022Q4")
    found = con.execute("SELECT DISTINCT finding FROM raw_clinic.finding ORDER BY ALL").fetchall()
    assert found == [("ache 1!",), ("ache 2!",), ("ache 3!",), ("b",)]
    assert con.execute("SELECT current_schema()").fetchall() == [("hospital",)]


def test_one_table_may_fill_two(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows(3).create(con)
    con.execute(
        'CREATE TABLE hospital.flat AS SELECT v.*, f."what\'s found", f.drug '
        'FROM hospital."Adverse Events" AS v JOIN hospital.finding AS f USING ("Visit No.")'
    )
    con.execute('UPDATE hospital.flat SET "Visit No." = NULL WHERE "Patient" = \'P2\'')
    file = dataset(
        tmp_path, visit="hospital.flat", finding="hospital.flat",
        finding_period='period_column = "Quarter"',
    )  # fmt: skip
    (done,) = take(con, file, "2022Q4", max_reject_rate=1, max_unread=1)
    assert [(f.file, f.loaded, f.reasons) for f in done.files] == [
        ("hospital.flat", 2, {"blank report id": 1}),
        ("hospital.flat (finding)", 2, {"blank report id": 1}),
    ]


def test_a_table_is_found_in_another_database_whatever_it_is_called(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    con.execute('ATTACH \':memory:\' AS "it\'s ""theirs"""')
    con.execute('USE "it\'s ""theirs"""')
    rows(3).create(con)
    con.execute("CREATE TABLE main.finding AS FROM hospital.finding")
    con.execute("USE memory")
    file = tmp_path / "clinic.toml"
    database = '"it\'s ""theirs"""'
    text = toml(visit="VISIT", finding="FINDING")
    for word, name in (("VISIT", '"Hospital"."adverse EVENTS"'), ("FINDING", "Finding")):
        text = text.replace(f"'{word}'", json.dumps(f"{database}.{name}"))
    file.write_text(text, encoding="utf-8")
    take(con, file, "2022Q4")
    assert len(ids(con)) == 3
    schemas = con.execute(
        "SELECT database_name, schema_name FROM duckdb_schemas() WHERE NOT internal "
        "AND schema_name NOT IN ('main') ORDER BY ALL"
    ).fetchall()
    assert schemas == [
        ('it\'s "theirs"', "hospital"),
        ("memory", "raw_clinic"), ("memory", "srsql"), ("memory", "srsql_data"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"visit": "hospital.nothing"}, "no table or view hospital.nothing"),
        ({"visit": "visits"}, "no table or view visits"),
        ({"finding": "twice.finding"}, "memory.twice.finding or twice.main.finding"),
        ({"finding": "hospital.narrow"}, "has no column finding or what's found"),
        ({"visit_period": 'period_column = "When"'}, "has no column When"),
        ({"period": "year"}, "periods it tells: none"),
    ],
)
def test_what_the_dataset_names_and_is_not_there_is_named(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, changes: dict[str, str], says: str
) -> None:
    rows(2).create(con)
    con.execute("ATTACH ':memory:' AS twice; CREATE SCHEMA memory.twice")
    for schema in ("twice.main", "memory.twice"):
        con.execute(f"CREATE TABLE {schema}.finding AS FROM hospital.finding")
    con.execute('CREATE VIEW hospital.narrow AS SELECT "Visit No.", drug FROM hospital.finding')
    assert says in refused(con, dataset(tmp_path, **changes), "2022Q4")


def test_a_period_that_the_table_has_not_is_refused_with_those_it_has(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    both(rows(2), rows(2, "2023Q1", first=4)).create(con)
    assert "2022Q4 to 2023Q1 (2)" in refused(con, dataset(tmp_path), "2031Q1")
    assert "blank" in refused(con, dataset(tmp_path), " ")


def test_files_for_tables_and_no_files_for_files_are_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    rows(2).create(con)
    engine = Engine(con)
    with pytest.raises(IngestError, match="read from tables"):
        engine.ingest([tmp_path], dataset=dataset(tmp_path))
    with pytest.raises(IngestError, match="read from files: name them"):
        engine.ingest()


def test_the_command_line_reads_the_tables_of_the_file_it_is_given(tmp_path: Path) -> None:
    db, file = tmp_path / "w.duckdb", dataset(tmp_path)
    nothing = srsql("ingest", "--db", db, "--dataset", file, "--period", "2022Q4")
    assert (nothing.code, db.exists()) == (2, False)
    with duckdb.connect(str(db)) as con:
        both(rows(2), rows(3, "2023Q1", first=4)).create(con)
    one = srsql("ingest", "--db", db, "--dataset", file, "--period", "2022Q4", "--json")
    assert [(item["quarter"], item["status"]) for item in one.json] == [("2022Q4", "loaded")]
    every = srsql("ingest", "--db", db, "--dataset", file)
    assert "2022Q4: the same files are loaded already" in every.out
    assert "2023Q1 loaded" in every.out
    wrong = srsql("ingest", "--db", db, "--dataset", file, "--period", "2031Q1")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)


def test_unchanged_rows_are_unchanged_in_any_order_and_changed_ones_need_replace(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    rows(40).create(con)
    file = dataset(tmp_path)
    (first,) = take(con, file, "2022Q4")
    con.execute(
        "CREATE OR REPLACE TABLE hospital.finding AS FROM hospital.finding ORDER BY drug, 3"
    )
    con.execute("UPDATE hospital.finding SET surname = 'not read'")
    (again,) = take(con, file, "2022Q4")
    assert again.status == "unchanged"
    assert again.files == first.files
    con.execute("UPDATE hospital.finding SET drug = 'OTHER' WHERE \"Visit No.\" = 'V7'")
    with pytest.raises(IngestError, match="--replace"):
        take(con, file, "2022Q4")
    assert con.execute("SELECT DISTINCT drug FROM raw_clinic.finding").fetchall() == [("ASPIRIN",)]
    (changed,) = take(con, file, "2022Q4", replace=True)
    assert changed.status == "replaced"
    assert len({f.sha256 for f in (*first.files, *changed.files)}) == 3
    found = con.execute("SELECT count(*) FROM raw_clinic.finding WHERE drug = 'OTHER'").fetchall()
    assert found == [(1,)]
    assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]


def test_an_open_transaction_of_the_caller_is_refused_and_survives(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    rows(3).create(con)
    engine = Engine(con, dataset=dataset(tmp_path))
    con.execute("BEGIN")
    con.execute("DELETE FROM hospital.finding WHERE \"Visit No.\" = 'V1'")
    with pytest.raises(WarehouseError, match="open transaction"):
        engine.ingest(period="2022Q4")
    con.execute("COMMIT")
    assert con.execute("SELECT count(*) FROM hospital.finding").fetchall() == [(2,)]


@pytest.mark.parametrize("schema", ["srsql", "srsql_data", "raw_clinic"])
def test_a_schema_of_the_callers_with_a_name_of_ours_is_refused_before_anything_is_written(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, schema: str
) -> None:
    rows(3).create(con)
    con.execute(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.visit AS SELECT 'mine' AS x")
    if schema == "raw_clinic":
        Engine(con)
    before = objects(con)
    with pytest.raises(SrsqlError, match=schema):
        Engine(con, dataset=dataset(tmp_path)).ingest(period="2022Q4")
    assert objects(con) == before
    assert con.execute(f"FROM {schema}.visit").fetchall() == [("mine",)]


def objects(con: duckdb.DuckDBPyConnection) -> set[tuple[str, ...]]:
    """Every schema, table, view, macro, type and sequence that is not built in."""
    return {
        tuple(row)
        for row in con.execute(
            "SELECT 'schema', database_name, schema_name, '' FROM duckdb_schemas() "
            "WHERE NOT internal UNION ALL "
            "SELECT 'table', database_name, schema_name, table_name FROM duckdb_tables() UNION ALL "
            "SELECT 'view', database_name, schema_name, view_name FROM duckdb_views() "
            "WHERE NOT internal UNION ALL "
            "SELECT 'macro', database_name, schema_name, function_name FROM duckdb_functions() "
            "WHERE NOT internal UNION ALL "
            "SELECT 'type', database_name, schema_name, type_name FROM duckdb_types() "
            "WHERE NOT internal UNION ALL "
            "SELECT 'sequence', database_name, schema_name, sequence_name FROM duckdb_sequences()"
        ).fetchall()
    }


def dump(con: duckdb.DuckDBPyConnection) -> list[Any]:
    """The caller's own: definitions and rows of everything in ``hospital`` and ``main``."""
    tables = con.execute(
        "SELECT schema_name, table_name, sql, column_count FROM duckdb_tables() "
        "WHERE schema_name IN ('hospital', 'main') ORDER BY ALL"
    ).fetchall()
    views = con.execute(
        "SELECT schema_name, view_name, sql FROM duckdb_views() "
        "WHERE schema_name IN ('hospital', 'main') AND NOT internal ORDER BY ALL"
    ).fetchall()
    content = [
        con.execute(f'SELECT rowid, * FROM "{schema}"."{name}" ORDER BY rowid').fetchall()
        for schema, name, *_ in tables
    ]
    return [tables, views, content]


def test_nothing_of_the_callers_is_altered_and_only_schemas_of_our_own_are_made(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    both(rows(12), rows(12, "2023Q1", first=13)).create(con)
    con.execute("CREATE TYPE hospital.sexes AS ENUM ('M', 'F'); CREATE SEQUENCE main.numbers")
    con.execute("CREATE VIEW main.visits AS FROM hospital.finding; CREATE MACRO main.f(x) AS x + 1")
    before, mine = objects(con), dump(con)
    engine = Engine(con, dataset=dataset(tmp_path))
    engine.ingest()
    engine.release_range("2022Q4:2023Q1", **OPTIONS)
    engine.release("2023Q1", **OPTIONS, series="partners", draft=True)
    engine.audit()
    made = objects(con) - before
    assert before <= objects(con)
    assert dump(con) == mine
    assert {schema for _, _, schema, _ in made} == {
        "srsql", "srsql_data", "raw_clinic", "release_2022q4", "release_2023q1", "released",
        "draft_partners_2023q1",
    }  # fmt: skip
    assert {kind for kind, *_ in made} == {"schema", "table", "view", "macro", "sequence"}


# no line end: files count physical lines
text = st.text(
    st.one_of(
        st.sampled_from("aAbB019 .,;'\"$%\\éßÜ\u00a0頭💊"),
        st.characters(exclude_categories=["C"]),
    ),
    max_size=6,
)
value = st.one_of(st.none(), text)
number = st.one_of(value, st.integers(-3, 200).map(str), st.just("40.5"))


def reports(id_type: str) -> st.SearchStrategy[Hospital]:
    report = st.one_of(
        st.integers(1, 9).map(str), st.sampled_from(["", " 3 ", "x", "007", "-1"]), st.none()
    )
    period = st.sampled_from(["2022Q4", "2023Q1"])
    sex = st.sampled_from(["M", "f", "", "unknown", "X", None])
    return st.builds(
        Hospital,
        st.lists(st.tuples(period, report, report, number, sex, value), min_size=1, max_size=14),
        st.lists(st.tuples(period, report, value, value), max_size=14),
    )


@pytest.mark.parametrize("id_type", ["text", "integer"])
@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_tables_and_files_of_the_same_rows_give_the_same_raw_tables_rejects_and_views(
    tmp_path_factory: pytest.TempPathFactory, id_type: str, data: st.DataObject
) -> None:
    hospital = data.draw(reports(id_type))
    folder = tmp_path_factory.mktemp("same")
    files = hospital.write(folder / "files", "2022Q4", id_type)
    by_period = dataset(folder, id_type=id_type, finding_period='period_column = "Quarter"')
    results = []
    for tables in (False, True):
        with duckdb.connect() as con:
            hospital.create(con)
            if tables:
                engine = Engine(con, dataset=by_period)
            else:
                engine = Engine(con, dataset=folder / "files" / "clinic.toml")
            if tables and not any(row[0] == "2022Q4" for row in hospital.visits):
                with pytest.raises(IngestError, match="no rows of 2022Q4"):
                    engine.ingest(period="2022Q4")
                return
            sources = [] if tables else [files]
            (done,) = engine.ingest(sources, period="2022Q4", max_reject_rate=1, max_unread=1)
            results.append(outcome(engine, done))
    assert results[0] == results[1]


def outcome(engine: Engine, done: IngestedPeriod) -> dict[str, Any]:
    found: dict[str, Any] = {
        "files": [
            (f.table, f.records, f.loaded, f.rejected, f.values_rejected, f.orphans, f.reasons)
            for f in done.files
        ],
        "rejects": engine.sql(
            "SELECT CASE WHEN file IN ('visit.csv', 'hospital.Adverse Events') THEN 1 ELSE 2 END, "
            "line, kind, column_name, value, reason, record FROM srsql.reject ORDER BY ALL"
        ),
    }
    for name in ("visit", "finding"):
        found[name] = engine.sql(f"FROM raw_clinic.{name} ORDER BY ALL")
    try:
        released = engine.release("2022Q4", **OPTIONS, ids="original")
    except SrsqlError as error:
        found["refused"] = str(error)
        return found
    for name in released.rows:
        if name != "manifest":
            found[f"released {name}"] = engine.sql(f"FROM release_2022q4.{name}")
    return found


MISTAKES = {
    "no relation": ("relation = 'hospital.finding'", "", r"tables\.finding\.relation"),
    "not a name": ("'hospital.finding'", "'a.b.c.d'", "does not name a table"),
    "a statement": ("'hospital.finding'", "'finding; DROP TABLE x'", "does not name a table"),
    "files as well": ("relation = 'hospital.finding'", "relation = 'f'\nfiles = ['x']", "files"),
    "a pattern": ('reader = "table"', 'reader = "table"\nperiod_label = "{0}"', "period_label"),
    "a reader of files": ('reader = "table"', 'reader = "csv"', r"files: say which"),
    "a wrong rule": ('period = "label"', 'period = "fortnight"', r"source\.period"),
}


@pytest.mark.parametrize(("old", "new", "says"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_in_the_dataset_of_tables_names_its_key(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, old: str, new: str, says: str
) -> None:
    file = dataset(tmp_path)
    assert file.read_text().count(old) == 1
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(DatasetError, match=says) as caught:
        Engine(con, dataset=file).ingest(period="2022Q4")
    assert "\n" not in str(caught.value)
