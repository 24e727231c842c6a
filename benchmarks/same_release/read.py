"""Read released tables out of a DuckDB file or an artifact; needs Python and duckdb alone.

Run by the version whose tables they are: ``PYTHON read.py FOLDER-OR-FILE OUT``. Writes a CSV file a
table to ``OUT``, in the order in which its rows are stored, and ``columns.json`` with names and
types. The one-row public manifests become ``NAME.json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb

MANIFEST = "manifest"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def warehouse_tables(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Name -> what to select from, of every table and view of a released schema."""
    found = con.execute(
        "SELECT t.table_schema, t.table_name FROM information_schema.tables AS t "
        "WHERE t.table_catalog = current_database() "
        "AND (starts_with(t.table_schema, 'release_') OR starts_with(t.table_schema, 'released')) "
        "ORDER BY ALL"
    ).fetchall()
    return {f"{schema}.{name}": f"{quoted(schema)}.{quoted(name)}" for schema, name in found}


def artifact_tables(folder: Path) -> dict[str, str]:
    """Name -> what to select from, of every Parquet file."""
    return {
        f"{folder.name}.{file.stem}": f"read_parquet({literal(file)})"
        for file in sorted(folder.glob("*.parquet"))
    }


def write(con: duckdb.DuckDBPyConnection, tables: dict[str, str], out: Path) -> None:
    columns = {}
    for name, source in tables.items():
        described = con.execute(f"DESCRIBE SELECT t.* FROM {source} AS t").fetchall()
        columns[name] = [[row[0], row[1]] for row in described]
        if name.endswith(f".{MANIFEST}"):
            rows = con.execute(f"SELECT t.* FROM {source} AS t").fetchall()
            named = [dict(zip([c[0] for c in columns[name]], row, strict=True)) for row in rows]
            text = json.dumps(named, indent=1, ensure_ascii=False, default=str)
            (out / f"{name}.json").write_text(text, encoding="utf-8")
        else:
            con.execute(
                f"COPY (SELECT t.* FROM {source} AS t) TO {literal(out / f'{name}.csv')} "
                "(FORMAT csv, HEADER true, NULLSTR '\\N')"
            )
    known = out / "columns.json"
    before = json.loads(known.read_text(encoding="utf-8")) if known.exists() else {}
    known.write_text(json.dumps(before | columns, indent=1), encoding="utf-8")


def main(source: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        with duckdb.connect() as con:
            write(con, artifact_tables(source), out)
        return
    with duckdb.connect(str(source), read_only=True) as con:
        write(con, warehouse_tables(con), out)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
