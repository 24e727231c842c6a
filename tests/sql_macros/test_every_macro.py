"""Every macro is called by a test that knows what it should give, or says whose oracle holds it.

A test calls a macro as ``srsql.name``, or hands its name in quotes to a helper that does. A macro
that is only called through the engine stands in ``without_oracle.toml`` with the reason.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
MACROS = TESTS.parent / "sql_macros"
LIST = Path(__file__).with_name("without_oracle.toml")
CREATED = re.compile(
    r"^\s*CREATE\s+(?:OR\s+REPLACE\s+)?MACRO\s+srsql(?:_internal)?\.(\w+)", re.I | re.M
)


def created() -> dict[str, Path]:
    """Macro -> the file that makes it."""
    found: dict[str, Path] = {}
    for file in sorted(MACROS.rglob("*.sql")):
        for name in CREATED.findall(file.read_text(encoding="utf-8")):
            assert name not in found, f"{name} is made by {found[name].name} and by {file.name}"
            found[name] = file
    return found


def named(macros: dict[str, Path]) -> set[str]:
    """The macros that a test calls; a name of one word counts only behind ``srsql.``."""
    texts = [file.read_text("utf-8") for file in TESTS.rglob("*.py") if file != Path(__file__)]
    everything = "\n".join(texts)
    called = set(re.findall(r"\bsrsql(?:_internal)?\.(\w+)", everything))
    quoted = set(re.findall(r"[\"'](\w+_\w+)[\"'(]", everything))
    return macros.keys() & (called | quoted)


def listed() -> dict[str, dict[str, str]]:
    """Macro -> its reason and the test that holds it."""
    with LIST.open("rb") as file:
        return tomllib.load(file)


def test_the_macros_that_are_listed_here_are_those_that_are_installed(sql: Any) -> None:
    rows = sql.rows(
        "SELECT DISTINCT f.function_name FROM duckdb_functions() AS f "
        "WHERE f.schema_name IN ('srsql', 'srsql_internal') "
        "AND f.function_type IN ('macro', 'table_macro')"
    )
    printed = {name for name, file in created().items() if file.parent.name == "auditor"}
    assert {name for (name,) in rows} == created().keys() - printed


def test_every_macro_has_an_oracle_or_a_reason_why_not() -> None:
    macros = created()
    held = named(macros) | listed().keys()
    bare = {name: file.name for name, file in macros.items() if name not in held}
    assert bare == {}, "write an oracle test, or give the reason in without_oracle.toml"


def test_the_list_of_reasons_is_no_longer_than_it_must_be() -> None:
    macros = created()
    reasons = listed()
    assert reasons.keys() <= macros.keys(), "a macro of the list is gone"
    assert not reasons.keys() & named(macros), "a macro of the list is called by a test"
    for name, entry in reasons.items():
        assert entry.keys() == {"reason", "test"}, name
        assert entry["reason"].endswith("."), name
        assert (TESTS.parent / entry["test"]).is_file(), name
