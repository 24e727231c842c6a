"""What a release shows, read with plain SQL and Python; nothing of the engine is used."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb

Connection = duckdb.DuckDBPyConnection


def rows(con: Connection, query: str) -> list[dict[str, Any]]:
    """Rows as dictionaries."""
    cursor = con.execute(query)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def views(con: Connection, schema: str) -> list[str]:
    return [
        name
        for (name,) in con.execute(
            "SELECT view_name FROM duckdb_views() WHERE schema_name = ? ORDER BY 1", [schema]
        ).fetchall()
    ]


def schemas(con: Connection) -> set[str]:
    """Schemas that show a release or a draft."""
    return {
        name
        for (name,) in con.execute(
            "SELECT DISTINCT schema_name FROM duckdb_schemas() "
            "WHERE database_name = current_database()"
        ).fetchall()
        if name.startswith(("release_", "draft_"))
    }


def regions(con: Connection, schema: str) -> dict[tuple[Any, ...], set[int]]:
    """Published region -> its cases."""
    found: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for row in rows(con, f'SELECT * FROM "{schema}".demo'):
        found[region(row)].add(row["caseid"])
    return found


def region(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[n] for n in ("age_low", "age_high", "wt_low", "wt_high", "sex"))


def terms_of(con: Connection, schema: str) -> dict[int, set[str]]:
    """Case -> keys of its released terms, which differ from them in case and blanks alone."""
    found: dict[int, set[str]] = defaultdict(set)
    for table, column in (("reac", "pt"), ("indi", "indi_pt")):
        for row in rows(con, f'SELECT caseid, {column} AS term FROM "{schema}".{table}'):
            if row["term"] is not None:
                found[row["caseid"]].add(row["term"].strip().lower())
    return found


def content(con: Connection) -> dict[str, Any]:
    """Everything in the warehouse: every table's rows, every view's text, every schema.

    But for the run table, in which a command that fails or is killed is to be seen.
    """
    found: dict[str, Any] = {"schemas": sorted(schemas(con))}
    for schema, name in con.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT temporary "
        "AND NOT (schema_name = 'srsql' AND table_name = 'run') ORDER BY ALL"
    ).fetchall():
        found[f"{schema}.{name}"] = con.execute(
            f'SELECT * FROM "{schema}"."{name}" ORDER BY ALL'
        ).fetchall()
    found["views"] = con.execute(
        "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
    ).fetchall()
    found["temporary"] = con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE temporary ORDER BY ALL"
    ).fetchall()
    return found


def exported(con: Connection, schema: str, folder: Path) -> dict[str, str]:
    """View -> SHA-256 of its COPY to CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    digests = {}
    for name in views(con, schema):
        file = folder / f"{name}.csv"
        con.execute(f'COPY (FROM "{schema}"."{name}") TO \'{file}\' (HEADER)')
        digests[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return digests
