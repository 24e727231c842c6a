"""Composed SQL against stored texts, so that a change of what is composed is seen in review."""

from __future__ import annotations

import os
from pathlib import Path

import sqlglot

from srsql.engine.store.statements import INVISIBLE, SPACES

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"
UPDATE = "SRSQL_UPDATE_SNAPSHOTS"


def check_snapshot(name: str, sql: str) -> None:
    """Compare a statement, pretty-printed, with ``tests/snapshots/NAME.sql``.

    The classes of characters that every trim and every normal form repeats are written in a word.
    ``name``: ``LAYER/NAME``. With SRSQL_UPDATE_SNAPSHOTS=1 the file is written anew.
    """
    sql = sql.replace(INVISIBLE, "[INVISIBLE]").replace(SPACES, "[SPACES]")
    text = sqlglot.parse_one(sql, read="duckdb").sql(dialect="duckdb", pretty=True) + "\n"
    file = SNAPSHOTS / f"{name}.sql"
    if os.environ.get(UPDATE) == "1":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.is_file(), f"no snapshot {name}: {UPDATE}=1 writes it"
    assert text == file.read_text(encoding="utf-8"), f"{name} changed: {UPDATE}=1 writes it anew"
