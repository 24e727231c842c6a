"""In a notebook without ipywidgets DuckDB refuses to set its progress bar, whatever the value."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PRELUDE = """
import sys, types

globals().pop("__file__", None)

class Shell:
    config = {"IPKernelApp": True}

sys.modules["IPython"] = types.ModuleType("IPython")
sys.modules["IPython"].get_ipython = Shell
"""
REFUSED = """
import duckdb
try:
    duckdb.connect().execute("SET enable_progress_bar = false")
except duckdb.InvalidInputException as error:
    print("ipywidgets" in str(error))
"""
OPENED = """
from srsql import Engine
from srsql.engine.artifact.verify.reading import connection
with Engine(":memory:") as engine:
    print(engine.sql("SELECT 1"))
with connection() as con:
    print(con.execute("SELECT 2").fetchall())
"""


def in_a_notebook(program: str) -> str:
    """What a program prints whose main module, as that of a notebook, has no file."""
    ended = subprocess.run(
        [sys.executable, "-"], input=PRELUDE + program, capture_output=True, encoding="utf-8"
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_an_engine_and_an_artifact_open_where_the_bar_cannot_be_set() -> None:
    assert in_a_notebook(REFUSED) == "True\n"
    assert in_a_notebook(OPENED) == "[(1,)]\n[(2,)]\n"
