"""Composed statements as text: a change of generated SQL is seen in review."""

from __future__ import annotations

import os
from pathlib import Path

import sqlglot

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"
UPDATE = "SRSQL_UPDATE_SNAPSHOTS"


def check_snapshot(name: str, sql: str) -> None:
    """Compare a statement, as sqlglot prints it, with ``tests/snapshots/NAME.sql``.

    With the environment variable ``SRSQL_UPDATE_SNAPSHOTS=1`` the file is written instead.

    Args:
        name: ``LAYER/NAME``.
        sql: the statement in DuckDB's dialect.
    """
    file = SNAPSHOTS / f"{name}.sql"
    (found,) = sqlglot.transpile(sql, read="duckdb", write="duckdb", pretty=True)
    if os.environ.get(UPDATE) == "1":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(found + "\n", encoding="utf-8")
    assert file.is_file(), f"no snapshot {name}: make it with {UPDATE}=1"
    assert found + "\n" == file.read_text(encoding="utf-8"), f"{name}: {UPDATE}=1 writes it anew"
