"""A warehouse that another version of srsql wrote last."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from srsql.engine.api.engine import Engine
from srsql.engine.errors import OutdatedError

pytestmark = pytest.mark.slow

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def outdated(db: Path) -> Path:
    """Without one of the macros, and with a fingerprint of other definitions."""
    with duckdb.connect(str(db)) as con:
        con.execute("DROP MACRO TABLE srsql.public_counts")
        con.execute("UPDATE srsql.warehouse SET definitions = 'of another version'")
    return db


def test_a_reading_command_brings_the_macros_up_to_date_first(outdated: Path, inside: Run) -> None:
    done = inside("status")
    assert (done.returncode, done.stderr) == (0, "")
    with duckdb.connect(str(outdated), read_only=True) as con:
        found = con.execute(
            "SELECT count(*) FROM duckdb_functions() WHERE function_name = 'public_counts'"
        ).fetchone()
    assert found == (1,)


def test_an_engine_that_may_only_read_refuses_it_and_writes_nothing(outdated: Path) -> None:
    before = outdated.read_bytes()
    with pytest.raises(OutdatedError, match="another version of srsql: open it once for writing"):
        Engine(outdated, read_only=True)
    assert outdated.read_bytes() == before


def test_what_only_the_other_version_had_goes_when_it_is_opened_once(outdated: Path) -> None:
    with duckdb.connect(str(outdated)) as con:
        con.execute("CREATE MACRO srsql.of_another_version(x) AS x + 1")
    Engine(outdated).close()
    Engine(outdated, read_only=True).close()
    with duckdb.connect(str(outdated), read_only=True) as con:
        found = con.execute(
            "SELECT count(*) FROM duckdb_functions() WHERE function_name = 'of_another_version'"
        ).fetchone()
    assert found == (0,)
