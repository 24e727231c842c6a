"""The benchmark of Spark prints a line a quarter, and ends where a row differs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import duckdb
import pytest
from support.benchmark import load
from support.quarters import crowd, write_quarter

from srsql.engine.grouping import parts as grouping

spark = load("spark")


@pytest.mark.slow
@pytest.mark.filterwarnings(  # pyspark leaves the sockets open through which it sends a table
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("where", [(), ("--lake",)])
def test_a_tiny_run_compares_every_row(
    where: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("pyspark", reason="the extra srsql[spark] is not installed")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("there is no Java on PATH")
    monkeypatch.setattr(grouping, "LEAST", grouping.LEAST)  # the benchmark sets it
    files = [
        str(write_quarter(tmp_path, quarter, crowd(80, 1 + 100 * number)))
        for number, quarter in enumerate(("2011Q1", "2011Q2"))
    ]
    spark.command(["--source", *files, "--models", "ms", "--least", "20", *where])
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines[2:4]]
    assert [row[:4] for row in rows] == [[q, "ms", "80", "0"] for q in ("2011Q1", "2011Q2")]
    assert all(int(row[4]) > 3 for row in rows)
    assert lines[4].startswith("ms: ")
    assert " rows are the same (region " in lines[4]
    assert [line.partition(":")[0] for line in lines[5:]] == ["driver", "worker"]


def test_a_row_that_differs_ends_it(tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.duckdb" for name in ("here", "spark")}
    for number, file in enumerate(files.values()):
        with duckdb.connect(file) as con:
            con.execute("CREATE SCHEMA s")
            con.execute("CREATE TABLE s.same AS SELECT 1 AS a FROM range(3)")
            con.execute(f"CREATE TABLE s.run AS SELECT {number} AS a")
    assert spark._compared(files) == {"same": 3}
    with duckdb.connect(files["spark"]) as con:
        con.execute("INSERT INTO s.same VALUES (1)")
    with pytest.raises(SystemExit, match=r"s\.same: \[0, 1\] rows are in one of them only"):
        spark._compared(files)


def test_rows_of_a_table_that_several_schemas_have_add_up(tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.duckdb" for name in ("here", "spark")}
    for file in files.values():
        with duckdb.connect(file) as con:
            for schema, rows in (("release_2011q1", 3), ("release_2011q2", 2)):
                con.execute(f"CREATE SCHEMA {schema}")
                con.execute(f"CREATE TABLE {schema}.demo AS SELECT 1 AS a FROM range({rows})")
    assert spark._compared(files) == {"demo": 5}
