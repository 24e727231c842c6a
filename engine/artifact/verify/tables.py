"""The rows of an artifact, read into a connection that knows nothing else."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import DUCKDB_FILE, Manifest, Table, content_digest
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.errors import one_line
from srsql.engine.warehouse.statements import column, create, statements, table, temporary

OPENED = "srsql_artifact"


@contextmanager
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database in memory, which may spill to disk."""
    with (
        TemporaryDirectory(prefix="srsql-verify-") as scratch,
        duckdb.connect(config={"python_enable_replacements": False}) as con,
    ):
        con.execute("SET temp_directory = ?", [scratch])
        con.execute("SET enable_progress_bar = false")
        yield con


def loaded(name: str) -> str:
    """Temporary table with the rows of a table of the artifact."""
    return f"srsql_loaded_{name}"


def load(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest
) -> tuple[list[Check], bool]:
    """Read every table; the checks ``columns``, ``rows``, ``content``, and whether all were read.

    What a row says is looked at by the other checks.
    """
    unread = read_tables(con, folder, manifest)
    columns = Check("columns", unread, len(manifest.tables))
    if unread:
        return [columns], False
    lost, changed = [], []
    for item in manifest.tables:
        query = exp.select(exp.Count(this=exp.Star())).from_(temporary(loaded(item.name)))
        rows = con.execute(query.sql("duckdb")).fetchall()[0][0]
        if rows != item.rows:
            lost.append(f"{item.file}: {item.name} has {rows} rows, not {item.rows}")
        if content_digest(con, loaded(item.name), item.columns) != item.content_sha256:
            changed.append(f"{item.file}: the rows of {item.name} were changed")
    total = sum(item.rows for item in manifest.tables)
    return [columns, Check("rows", lost, total), Check("content", changed, total)], True


def read_tables(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> list[str]:
    """Read every table into the temporary table ``loaded(name)``; what keeps one from being read.

    A table of the same name from another artifact is replaced.
    """
    faults = []
    attached = False
    try:
        if manifest.format == "duckdb":
            con.execute(f"ATTACH ? AS {OPENED} (READ_ONLY)", [str(folder / DUCKDB_FILE)])
            attached = True
            faults += _strangers(con, manifest)
        for item in manifest.tables:
            told = _told_columns(con, folder, manifest, item)
            wanted = [(c.name, c.type.replace(" ", "")) for c in item.columns]
            if told != wanted:
                faults.append(f"{item.file}: {item.name}: {_first_difference(told, wanted)}")
                continue
            names = [column(c.name, "t") for c in item.columns]
            source = exp.alias_(_source(folder, manifest, item), "t", table=True)
            query = exp.select(*names).from_(source)
            con.execute(create(exp.to_table(loaded(item.name)), query, temp=True))
    except (duckdb.Error, OSError, UnicodeDecodeError, csv.Error) as error:
        faults.append(f"the tables cannot be read: {one_line(error)}")
    finally:
        if attached:
            with suppress(duckdb.Error):
                con.execute(f"DETACH {OPENED}")
    return faults


def _strangers(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> list[str]:
    """What a DuckDB file has beside the declared tables."""
    (query,) = statements("srsql.sql_macros", "artifact/steps/verify_objects.sql")
    found = con.execute(query, {"db": OPENED}).fetchall()
    declared = {f"table main.{item.name}" for item in manifest.tables}
    return [f"{DUCKDB_FILE} holds the {name}" for (name,) in found if name not in declared]


def _source(folder: Path, manifest: Manifest, item: Table) -> exp.Expr:
    if manifest.format == "duckdb":
        return table(OPENED, "main", item.name)
    path = exp.Literal.string(_unglobbed(folder / item.file))
    if manifest.format == "parquet":
        plain = exp.EQ(this=exp.to_identifier("hive_partitioning"), expression=exp.false())
        return exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[path, plain]))
    kinds = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(c.name, quoted=True), expression=text(c.type))
            for c in item.columns
        ]
    )
    options = {
        "columns": kinds,
        "auto_detect": exp.false(),
        "header": exp.true(),
        "delim": text(","),
        "quote": text('"'),
        "escape": text('"'),
        "nullstr": text(""),
        "allow_quoted_nulls": exp.false(),
        "hive_partitioning": exp.false(),
        "max_line_size": exp.Literal.number(2**24),
    }
    named = [exp.EQ(this=exp.to_identifier(n), expression=v) for n, v in options.items()]
    return exp.Table(this=exp.Anonymous(this="read_csv", expressions=[path, *named]))


def text(value: str) -> exp.Literal:
    """A string literal."""
    return exp.Literal.string(value)


def _unglobbed(path: Path) -> str:
    """The path with every character that DuckDB would take for a pattern made literal."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path.absolute()))


def _told_columns(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest, item: Table
) -> list[tuple[str, str]]:
    """(name, type) as the file has them; a CSV file has names only."""
    if manifest.format == "csv":
        with (folder / item.file).open("rb") as file:
            names = next(csv.reader(io.StringIO(file.readline(65_536).decode())), [])
        kinds = [c.type.replace(" ", "") for c in item.columns]
        return [(n, kinds[i] if i < len(kinds) else "?") for i, n in enumerate(names)]
    query = exp.select("*").from_(_source(folder, manifest, item))
    return [(row[0], row[1]) for row in con.execute("DESCRIBE " + query.sql("duckdb")).fetchall()]


def _first_difference(told: list[tuple[str, str]], wanted: list[tuple[str, str]]) -> str:
    for number in range(max(len(told), len(wanted))):
        got = told[number] if number < len(told) else None
        due = wanted[number] if number < len(wanted) else None
        if got != due:
            found = " ".join(got) if got else "nothing"
            return f"column {number + 1} is {found}, not {' '.join(due) if due else 'any'}"
    return "columns differ"
