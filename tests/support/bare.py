"""A DuckDB client that cannot import srsql, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_CLIENT = """
import json, sys
sys.modules["srsql"] = None  # no import of it succeeds
import duckdb

found = []
with duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "file") as con:
    con.execute("SET enable_progress_bar = false")
    for text in json.load(sys.stdin):
        try:
            cursor = con.execute(text)
            names = [column[0] for column in cursor.description or ()]
            found.append([dict(zip(names, row)) for row in cursor.fetchall()])
        except duckdb.Error as error:
            found.append(str(error).splitlines()[0])
assert sys.modules["srsql"] is None
json.dump(found, sys.stdout, default=str)
"""


def answers(db: Path | str, texts: Sequence[str]) -> list[Any]:
    """What each statement returns, as rows, or the first line of its error.

    Args:
        db: a file, which is opened for reading; ``:memory:`` opens none.
        texts: run one after the other on one connection.
    """
    kind = "none" if db == ":memory:" else "file"
    done = subprocess.run(
        [sys.executable, "-I", "-c", _CLIENT, str(db), kind],
        input=json.dumps(list(texts)), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found
