"""Composed SQL as it was, so that a change of it is seen in review."""

from __future__ import annotations

import os
from pathlib import Path

import sqlglot

FOLDER = Path(__file__).parents[1] / "snapshots"


def check_snapshot(name: str, sql: str) -> None:
    """Compare a statement with ``tests/snapshots/NAME.sql``, both as sqlglot prints them.

    The file is written anew where the environment variable ``SRSQL_UPDATE_SNAPSHOTS`` is 1.
    """
    text = sqlglot.transpile(sql, read="duckdb", write="duckdb", pretty=True)
    printed = ";\n\n".join(text) + ";\n"
    file = FOLDER / f"{name}.sql"
    if os.environ.get("SRSQL_UPDATE_SNAPSHOTS") == "1":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(printed, encoding="utf-8")
    assert printed == file.read_text(encoding="utf-8")
