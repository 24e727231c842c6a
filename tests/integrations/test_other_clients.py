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

import duckdb
import pytest
from support.quarters import crowd, write_quarter

from srsql import Engine
from srsql.engine.store.printed import public_file

CLI, NODE = os.environ.get("SRSQL_DUCKDB_CLI"), os.environ.get("SRSQL_DUCKDB_NODE")
SCRIPT = """
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const [file, statement] = process.argv.slice(1);
  const readonly = file === ':memory:' ? {} : { access_mode: 'READ_ONLY' };
  const client = await (await DuckDBInstance.create(file, readonly)).connect();
  const before = require('fs').readFileSync(0, 'utf8');
  if (before) await client.run(before);
  console.log(JSON.stringify((await client.runAndReadAll(statement)).getRowObjectsJson()));
})();
"""
MEMORY = Path(":memory:")
Ask = Callable[..., list[dict[str, Any]]]


def in_command_line(file: Path, statement: str, before: str = "") -> list[dict[str, Any]]:
    """What a statement returns; ``before``: statements that return nothing, run ahead of it."""
    readonly = ["-readonly"] if file != MEMORY else []
    return _rows([str(CLI), *readonly, "-json", str(file)], None, f"{before}\n{statement};\n")


def in_node(file: Path, statement: str, before: str = "") -> list[dict[str, Any]]:
    return _rows(["node", "-e", SCRIPT, str(file), statement], NODE, before)


def _rows(words: list[str], folder: str | None, script: str) -> list[dict[str, Any]]:
    ended = subprocess.run(
        words, cwd=folder, input=script, capture_output=True, text=True, check=True
    )
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
        for form in ("duckdb", "parquet"):
            engine.artifact.publish("2011Q3", folder / form, format=form, allow_linkable=True)
    return folder


COUNTS = "count(*)::INTEGER AS n"
SHOWN = (
    f"SELECT {COUNTS} FROM released.demo",
    "SELECT period, groups::INTEGER AS groups FROM srsql.series()",
    "SELECT cases::INTEGER AS n FROM srsql.attack('2011Q3', {'sex': 'M'}) LIMIT 1",
    f"SELECT {COUNTS} FROM srsql.candidates('2011Q3', {{'sex': 'M'}})",
    "SELECT period, scope, safe, dig::INTEGER AS dig, dsg::INTEGER AS dsg FROM srsql.audit()",
    "SELECT scope, safe FROM srsql.audit(attacks := ['b', 'f', 'l', 'md', 'p'], theta := '1/9')",
    "SELECT measure, scope, violating::INTEGER AS n FROM srsql.danger()",
    "SELECT measure, scope, ratio FROM srsql.metrics()",
    f"SELECT {COUNTS} FROM srsql.help()",
)
OF_PAIRS = (
    f"SELECT {COUNTS} FROM srsql.signals_all(1)",
    "SELECT cell, lower::INTEGER AS lower FROM srsql.pair('Drug 1', 'Rash')",
)


def in_duckdb(file: Path, statement: str, before: str = "") -> list[dict[str, Any]]:
    """The same in the DuckDB of srsql."""
    with duckdb.connect(str(file), read_only=file != MEMORY) as con:
        if before:
            con.execute(before)
        cursor = con.execute(statement)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@pytest.mark.parametrize("ask", CLIENTS)
def test_a_public_file_answers_in_it(ask: Ask, made: Path) -> None:
    """Views and macros alike, with the verdicts of the DuckDB of srsql."""
    public = made / "public.duckdb"
    for statement in (*SHOWN, *OF_PAIRS):
        assert ask(public, statement) == in_duckdb(public, statement), statement
    with Engine(public, read_only=True) as engine:
        assert all(row["safe"] for row in ask(public, SHOWN[4])) == engine.audit.run().safe


@pytest.mark.parametrize("ask", CLIENTS)
@pytest.mark.parametrize("form", ["duckdb", "parquet"])
def test_an_artifact_is_audited_in_it_by_one_file(ask: Ask, made: Path, form: str) -> None:
    before = f"SET VARIABLE artifacts = ['{made / form}'];\n{public_file()}"
    for statement in SHOWN[1:]:
        due = in_duckdb(MEMORY, statement, before)
        assert due
        assert ask(MEMORY, statement, before) == due, statement


@pytest.mark.parametrize("ask", CLIENTS)
def test_a_published_file_answers_in_it(ask: Ask, made: Path) -> None:
    (file,) = (made / "duckdb").glob("*.duckdb")
    with Engine(made / "w.duckdb", read_only=True) as engine:
        rows = engine.sql("SELECT count(*) FROM release_2011q3.demo")
    assert [(row["n"],) for row in ask(file, "SELECT count(*)::INTEGER AS n FROM demo")] == rows
