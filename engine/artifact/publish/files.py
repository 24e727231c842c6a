"""Fresh files of released rows, written by a connection of their own that never saw a warehouse.

A DuckDB file keeps what was deleted from it, and an ENUM or a view's text shows more than its rows
(remanence). So rows leave the warehouse as Arrow batches of plain text, numbers and decimals, and
everything in the files comes from these. One thread writes them: the same rows make the same bytes
(but for the random identifier in the header of a DuckDB file).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import DUCKDB_FILE, Format, Table, content_digest
from srsql.engine.artifact.publish.tables import Plan
from srsql.engine.errors import PublishError
from srsql.engine.warehouse.statements import create, table, temporary
from srsql.engine.warehouse.warehouse import Warehouse

BATCH = 100_000
STAGED = "srsql_staged"


def write_tables(
    warehouse: Warehouse,
    plans: list[Plan],
    folder: Path,
    form: Format,
    storage_version: str,
    spill: Path,
) -> list[Table]:
    """Write the rows of every plan into ``folder``.

    Args:
        warehouse: where the views are.
        plans: what to read.
        folder: empty, on the disk where the artifact will be.
        form: Parquet or CSV, one file a table, or one DuckDB file.
        storage_version: the oldest DuckDB that can read the DuckDB file.
        spill: folder for what does not fit into memory.
    """
    limit = warehouse.value("SELECT current_setting('memory_limit')")
    with _fresh(spill, limit) as con:
        if form == "duckdb":
            _attach(con, folder / DUCKDB_FILE, storage_version)
        written = [_write(warehouse, con, plan, folder, form) for plan in plans]
        if form == "duckdb":
            con.execute("CHECKPOINT artifact")
            con.execute("DETACH artifact")
        return written


@contextmanager
def _fresh(spill: Path, limit: str) -> Iterator[duckdb.DuckDBPyConnection]:
    settings: dict[str, Any] = {
        "threads": 1,
        "memory_limit": limit,
        "temp_directory": str(spill),
        "python_enable_replacements": False,
    }
    with duckdb.connect(config=settings) as con:
        con.execute("SET enable_progress_bar = false")
        yield con


def _attach(con: duckdb.DuckDBPyConnection, path: Path, storage_version: str) -> None:
    try:
        con.execute(
            "ATTACH ? AS artifact (STORAGE_VERSION " + _text(storage_version) + ")", [str(path)]
        )
    except duckdb.InvalidInputException as error:
        if "not a known DuckDB version" not in str(error):
            raise
        raise PublishError(
            f"--storage-version {storage_version}: DuckDB {duckdb.__version__} cannot write it; "
            "give a version of DuckDB such as v1.4.0, or latest"
        ) from None


def _text(value: str) -> str:
    return exp.Literal.string(value).sql("duckdb")


def _write(
    warehouse: Warehouse,
    con: duckdb.DuckDBPyConnection,
    plan: Plan,
    folder: Path,
    form: Format,
) -> Table:
    reader = warehouse.con.sql(plan.query.sql("duckdb")).to_arrow_reader(BATCH)
    con.register("srsql_incoming", reader)
    con.execute(f"CREATE OR REPLACE TEMP TABLE {STAGED} AS FROM srsql_incoming")
    con.unregister("srsql_incoming")
    rows = con.execute(f"SELECT count(*) FROM temp.main.{STAGED}").fetchall()[0][0]
    name = DUCKDB_FILE if form == "duckdb" else f"{plan.name}.{form}"
    if form == "duckdb":
        copied = exp.select("*").from_(temporary(STAGED))
        con.execute(create(table("artifact", "main", plan.name), copied))
    else:
        options = "FORMAT parquet, COMPRESSION zstd" if form == "parquet" else "FORMAT csv, HEADER"
        con.execute(f"COPY temp.main.{STAGED} TO ? ({options})", [str(folder / name)])
    digest = content_digest(con, STAGED, plan.columns)
    con.execute(f"DROP TABLE temp.main.{STAGED}")
    return Table(name=plan.name, file=name, rows=rows, content_sha256=digest, columns=plan.columns)
