"""One artifact of several quarters: what is in it, and how it is forged."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from artifact.conftest import OPTIONS
from support.artifacts import make, manifest_of, read_csv, rehash_range, write_csv
from support.quarters import crowd, write_quarter

from srsql import Engine, SrsqlError, verify

pytestmark = pytest.mark.thorough

QUARTERS = ("2011Q2", "2011Q3", "2011Q4")
TABLES = ("demo", "drug", "reac", "indi", "outc")
Forge = Callable[[Path], None]


@pytest.fixture(scope="module")
def db(plain_pages: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three quarters, each with half of the cases of the one before; a second series, too."""
    folder = tmp_path_factory.mktemp("range")
    with Engine(folder / "w.duckdb") as engine:
        for number, quarter in enumerate(QUARTERS):
            reports = crowd(40, first=1 + 20 * number, version=1 + number)
            engine.ingest([write_quarter(folder, quarter, reports)])
        for quarter in QUARTERS:
            engine.release(quarter, model="ppms++", **OPTIONS)
            engine.release(quarter, model="ppms++", **OPTIONS, series="apart", ids="per-quarter",
                           allow_linkable=True)  # fmt: skip
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def made(db: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Format -> the artifact of all quarters; not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    return {
        form: make(db, folder / form, "2011Q2:2011Q4", format=form)
        for form in ("csv", "parquet", "duckdb")
    }


@pytest.fixture
def forged(made: dict[str, Path], tmp_path: Path) -> Path:
    return shutil.copytree(made["csv"], tmp_path / "forged")


def released(db: Path, table: str) -> list[tuple[Any, ...]]:
    with Engine(db, read_only=True) as engine:
        return engine.sql(f"FROM released.{table} ORDER BY ALL")


@pytest.mark.parametrize("form", ["csv", "parquet", "duckdb"])
def test_the_tables_hold_what_the_views_over_all_quarters_hold(
    db: Path, made: dict[str, Path], form: str
) -> None:
    with duckdb.connect() as con:
        if form == "duckdb":
            con.execute("ATTACH ? AS elsewhere (READ_ONLY)", [str(made[form] / "release.duckdb")])
        for table in TABLES:
            source = f"elsewhere.{table}" if form == "duckdb" else f"'{made[form]}/{table}.{form}'"
            cursor = con.execute(f"FROM {source} ORDER BY ALL")
            names = [entry[0] for entry in cursor.description or ()]
            assert names.count("quarter") == 1
            found = cursor.fetchall()
            assert [tuple(map(str, row)) for row in found] == [
                tuple(map(str, row)) for row in released(db, table)
            ]


def test_a_range_passes_with_every_check_of_each_quarter_and_those_across_them(
    made: dict[str, Path],
) -> None:
    for folder in made.values():
        found = verify(folder)
        assert found.passed, found.failures
        by_place: dict[str, set[str]] = {}
        for check in found.checks:
            by_place.setdefault(check.artifact.removeprefix(str(folder)), set()).add(check.name)
        assert {"k", "theta", "report", "content", "policy", "bounds"} <= by_place[", 2011Q3"]
        assert by_place[", 2011Q2"] == by_place[", 2011Q3"] == by_place[", 2011Q4"]
        assert by_place["series"] == {"series", "new k", "new theta", "cover"}
        assert by_place[""] == {"files", "manifest", "columns", "catalogues"}
        assert not [text for text in found.cannot_show if "other quarters" in text]


def test_the_duckdb_file_has_latest_quarters_comments_and_no_macro(
    db: Path, made: dict[str, Path]
) -> None:
    with duckdb.connect(str(made["duckdb"] / "release.duckdb"), read_only=True) as con:
        latest = con.execute("FROM case_latest ORDER BY ALL").fetchall()
        assert [tuple(map(str, row)) for row in latest] == [
            tuple(map(str, row)) for row in released(db, "case_latest")
        ]
        per_quarter = con.execute("SELECT count(*) FROM release_2011q3.demo").fetchall()
        assert per_quarter == [(40,)]
        untold = con.execute(
            "SELECT schema_name, table_name, column_name FROM duckdb_columns() "
            "WHERE NOT internal AND comment IS NULL AND schema_name <> 'main'"
        ).fetchall()
        assert untold == []
        told = con.execute(
            "SELECT comment FROM duckdb_columns() WHERE table_name = 'demo' "
            "AND schema_name = 'release_2011q3' AND column_name = 'age_low'"
        ).fetchall()
        assert "least possible age" in told[0][0]
        assert "granularity" in told[0][0]
        macros = con.execute("SELECT count(*) FROM duckdb_functions() WHERE NOT internal")
        assert macros.fetchall() == [(0,)]


def test_ids_of_one_quarter_have_no_latest_quarter(db: Path, tmp_path: Path) -> None:
    folder = make(db, tmp_path / "out", "2011Q2:2011Q4", format="duckdb", series="apart")
    with duckdb.connect(str(folder / "release.duckdb"), read_only=True) as con:
        tables = {row[2] for row in con.execute("SHOW ALL TABLES").fetchall()}
    assert "demo" in tables
    assert "case_latest" not in tables
    found = verify(folder)
    assert found.passed
    assert [text for text in found.cannot_show if "another id in every quarter" in text]


def test_parquet_fields_say_what_they_are(made: dict[str, Path]) -> None:
    schema = pq.read_schema(made["parquet"] / "reac.parquet")
    assert schema.names[0] == "quarter"
    for field in schema:
        assert field.metadata[b"description"]
    assert schema.field("pt").metadata[b"description"] == b"as reported; bounded by its threshold"
    assert b"released rows of reac" in schema.metadata[b"description"]


def test_thresholds_and_reports_are_told_for_each_quarter(made: dict[str, Path]) -> None:
    with (made["csv"] / "value-thresholds.csv").open(encoding="utf-8", newline="") as file:
        assert {row["quarter"] for row in csv.DictReader(file)} == set(QUARTERS)
    assert {p.name for p in made["csv"].glob("report-*.html")} == {
        f"report-{quarter.lower()}.html" for quarter in QUARTERS
    }
    readme = (made["csv"] / "README.md").read_text(encoding="utf-8")
    assert "2011Q2 to 2011Q4" in readme
    for quarter in QUARTERS:
        assert re.search(rf"\| {quarter} \| \d{{4}}-\d\d-\d\d \| ppms\+\+ \| 3 \|", readme)


def test_a_range_of_one_quarter_or_with_a_quarter_that_is_not_out_is_refused(
    db: Path, tmp_path: Path
) -> None:
    with Engine(db, read_only=True) as engine:
        for text, why in (
            ("2011Q3:2011Q3", "is one quarter"),
            ("2011Q3:2012Q1", "2012Q1 is not released"),
            ("2011Q4:2011Q2", "comes after"),
        ):
            with pytest.raises(SrsqlError, match=why):
                engine.publish(text, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def swapped(folder: Path) -> None:
    """The rows of the first two quarters under each other's name, thresholds as well."""
    other = {"2011Q2": "2011Q3", "2011Q3": "2011Q2", "2011Q4": "2011Q4"}
    for table in TABLES:
        rows = [row | {"quarter": other[str(row["quarter"])]} for row in read_csv(folder, table)]
        if table == "demo":
            rows.sort(key=lambda row: str(row["quarter"]))
        write_csv(folder, table, rows)
    text = (folder / "value-thresholds.csv").read_text(encoding="utf-8")
    for one, two in (("2011Q2", "X"), ("2011Q3", "2011Q2"), ("X", "2011Q3")):
        text = text.replace(f'"{one}",', f'"{two}",')
    (folder / "value-thresholds.csv").write_text(text, encoding="utf-8")
    rehash_range(folder)


def without(folder: Path, quarter: str) -> None:
    told = manifest_of(folder)
    told["quarters"] = [part for part in told["quarters"] if part["quarter"] != quarter]
    (folder / "manifest.json").write_text(json.dumps(told))
    for table in TABLES:
        rows = [row for row in read_csv(folder, table) if row["quarter"] != quarter]
        write_csv(folder, table, rows)
    (folder / f"report-{quarter.lower()}.html").unlink()
    thresholds = (folder / "value-thresholds.csv").read_text(encoding="utf-8").splitlines(True)
    kept = [line for line in thresholds if not line.startswith(f'"{quarter}"')]
    (folder / "value-thresholds.csv").write_text("".join(kept), encoding="utf-8")
    rehash_range(folder)


def dropped(folder: Path) -> None:
    without(folder, "2011Q3")


def listed_twice(folder: Path) -> None:
    told = manifest_of(folder)
    told["quarters"].insert(1, told["quarters"][0])
    (folder / "manifest.json").write_text(json.dumps(told))
    rehash_range(folder)


def told_again(folder: Path) -> None:
    """The rows of the second quarter once more, as a fourth."""
    told = manifest_of(folder)
    copy = json.loads(json.dumps(told["quarters"][1]))
    copy.update(quarter="2012Q1", earlier_releases=list(QUARTERS))
    told["quarters"].append(copy)
    (folder / "manifest.json").write_text(json.dumps(told))
    for table in TABLES:
        rows = read_csv(folder, table)
        again = [row | {"quarter": "2012Q1"} for row in rows if row["quarter"] == "2011Q3"]
        write_csv(folder, table, [*rows, *again])
    lines = (folder / "value-thresholds.csv").read_text(encoding="utf-8").splitlines(True)
    again_lines = [line.replace('"2011Q3"', '"2012Q1"') for line in lines if "2011Q3" in line]
    (folder / "value-thresholds.csv").write_text("".join(lines + again_lines), encoding="utf-8")
    shutil.copy(folder / "report-2011q3.html", folder / "report-2012q1.html")
    rehash_range(folder)


def with_rows_of_no_quarter(folder: Path) -> None:
    rows = read_csv(folder, "outc")
    write_csv(folder, "outc", [*rows, rows[-1] | {"quarter": "2010Q1"}])
    rehash_range(folder)


def with_a_report_in_two_quarters(folder: Path) -> None:
    """One row of the reactions is moved to a quarter that does not have its report."""
    rows = read_csv(folder, "reac")
    rows[0]["quarter"] = "2011Q4"
    write_csv(folder, "reac", rows)
    rehash_range(folder)


def with_another_order(folder: Path) -> None:
    told = manifest_of(folder)
    told["quarters"].reverse()
    (folder / "manifest.json").write_text(json.dumps(told))
    rehash_range(folder)


@pytest.mark.parametrize(
    ("forge", "checks", "says"),
    [
        (swapped, {"new k", "cover"}, "2011Q3"),
        (dropped, {"manifest"}, "2011Q3, a release before 2011Q4, is not in the artifact"),
        (listed_twice, {"manifest"}, "not each there once, oldest first"),
        (told_again, {"new k"}, "2012Q1 region"),
        (with_rows_of_no_quarter, {"columns"}, "outc has 121 rows, not 120"),
        (with_a_report_in_two_quarters, {"ids"}, "is not in the report table"),
        (with_another_order, {"manifest"}, "not each there once, oldest first"),
    ],
)
def test_a_forged_range_is_refused(forged: Path, forge: Forge, checks: set[str], says: str) -> None:
    forge(forged)
    found = verify(forged)
    failed = [check for check in found.checks if check.faults]
    assert checks & {check.name for check in failed}
    assert any(says in fault for check in failed for fault in check.faults)


def test_a_view_that_says_something_else_is_refused_and_never_run(
    made: dict[str, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(made["duckdb"], tmp_path / "hostile")
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nCANARY\n")
    with duckdb.connect(str(folder / "release.duckdb")) as con:
        con.execute(f"CREATE OR REPLACE VIEW demo AS SELECT * FROM read_csv('{secret}')")
        con.execute("UPDATE case_latest SET quarter = '2011Q2'")
    found = verify(folder)
    told = " ".join(fault for check in found.checks for fault in check.faults)
    assert "holds the view main.demo" in told
    assert "CANARY" not in told
