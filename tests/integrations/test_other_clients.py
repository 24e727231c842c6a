"""Public files and artifacts in DuckDB's command line and its client for Node, as the package
indexes have them: older than the DuckDB of srsql.

``SRSQL_DUCKDB_CLI`` names the command line (``pip download duckdb-cli``), ``SRSQL_DUCKDB_NODE`` a
folder in which ``npm install @duckdb/node-api`` was run (`.ci/integrations` makes both).
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.quarters import crowd, write_quarter

from srsql import Engine

CLI, NODE = os.environ.get("SRSQL_DUCKDB_CLI"), os.environ.get("SRSQL_DUCKDB_NODE")
SCRIPT = """
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const instance = await DuckDBInstance.create(process.argv[1], { access_mode: 'READ_ONLY' });
  const reader = await (await instance.connect()).runAndReadAll(process.argv[2]);
  console.log(JSON.stringify(reader.getRowObjectsJson()));
})();
"""
Ask = Callable[[Path, str], list[dict[str, Any]]]


def in_command_line(file: Path, statement: str) -> list[dict[str, Any]]:
    words = [str(CLI), "-readonly", str(file), "-json", "-c", statement]
    return _rows(words, None)


def in_node(file: Path, statement: str) -> list[dict[str, Any]]:
    return _rows(["node", "-e", SCRIPT, str(file), statement], NODE)


def _rows(words: list[str], folder: str | None) -> list[dict[str, Any]]:
    ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return found


CLIENTS = [
    pytest.param(
        in_command_line,
        marks=pytest.mark.skipif(CLI is None, reason="SRSQL_DUCKDB_CLI names no command line"),
        id="command line",
    ),
    pytest.param(
        in_node,
        marks=pytest.mark.skipif(NODE is None, reason="SRSQL_DUCKDB_NODE names no folder"),
        id="node",
    ),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clients")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q3", crowd(40, 7_000_001))])
        engine.release.make("2011Q3", k=3, theta="1", seed=1, allow_linkable=True)
        engine.steward.split(folder / "public.duckdb")
        engine.artifact.publish("2011Q3", folder / "out", format="duckdb", allow_linkable=True)
    return folder


@pytest.mark.parametrize("ask", CLIENTS)
def test_a_public_file_answers_in_it(ask: Ask, made: Path) -> None:
    """Views and macros alike, but for audits, which need DuckDB 2.0."""
    public = made / "public.duckdb"
    with Engine(public, read_only=True) as engine:
        demo = engine.sql("SELECT count(*) FROM released.demo")
        series = engine.sql("SELECT period, groups FROM srsql.series()")
        step = engine.sql("SELECT cases FROM srsql.attack('2011Q3', {'sex': 'M'}) LIMIT 1")
    one = ask(public, "SELECT count(*)::INTEGER AS n FROM released.demo")
    assert [(row["n"],) for row in one] == demo
    told = ask(public, "SELECT period, groups::INTEGER AS groups FROM srsql.series()")
    assert [(row["period"], row["groups"]) for row in told] == series
    played = ask(
        public, "SELECT cases::INTEGER AS n FROM srsql.attack('2011Q3', {'sex': 'M'}) LIMIT 1"
    )
    assert [(row["n"],) for row in played] == step


@pytest.mark.parametrize("ask", CLIENTS)
def test_a_published_file_answers_in_it(ask: Ask, made: Path) -> None:
    (file,) = (made / "out").glob("*.duckdb")
    with Engine(made / "w.duckdb", read_only=True) as engine:
        rows = engine.sql("SELECT count(*) FROM release_2011q3.demo")
    assert [(row["n"],) for row in ask(file, "SELECT count(*)::INTEGER AS n FROM demo")] == rows
