"""What the header of a step file says of the tables it reads and writes, and what it does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import sqlglot
from sqlglot import exp

PREFIX = "srsql_"
"""Of every temporary table; headers leave it out."""
FIELDS = ("Step", "Parameters", "Reads", "Writes", "Source")
_COLUMNS = re.compile(r"\([^()]*(\([^()]*\)[^()]*)*\)")
_TEMPORARY = "temp.main."


@dataclass(frozen=True)
class Tables:
    """The tables of a step, temporary ones without their prefix, others with their schema."""

    reads: frozenset[str]
    """Those it reads before it writes them itself."""
    writes: frozenset[str]
    """Those it makes, fills or changes, and those it drops."""


def header(text: str) -> dict[str, str]:
    """Field -> its text, of the comment that a step file begins with."""
    found: dict[str, str] = {}
    field = ""
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        words = line[2:].strip()
        name, colon, rest = words.partition(":")
        if colon and name in FIELDS:
            field, words = name, rest.strip()
        found[field] = f"{found.get(field, '')} {words}".strip()
    return found


def declared(text: str) -> Tables:
    """What the header says."""
    fields = header(text)
    return Tables(_names(fields.get("Reads", "")), _names(fields.get("Writes", "")))


def _names(said: str) -> frozenset[str]:
    if said.rstrip(".") == "nothing":
        return frozenset()
    return frozenset(
        name for part in _COLUMNS.sub("", said).split(",") if (name := part.strip(" ."))
    )


def stated(text: str) -> Tables:
    """What the statements do, as sqlglot reads them."""
    reads: set[str] = set()
    writes: set[str] = set()
    for statement in sqlglot.parse(text, read="duckdb"):
        if statement is None:
            continue
        targets = _targets(statement)
        expressions = {common.alias for common in statement.find_all(exp.CTE)}
        for table in statement.find_all(exp.Table):
            if not table.name or any(table is target for target in targets):
                continue  # a table function has no name
            if table.db or table.name not in expressions:
                reads |= {_name(table)} - writes
        for text_literal in statement.find_all(exp.Literal):
            if text_literal.is_string and text_literal.this.startswith(_TEMPORARY + PREFIX):
                reads |= {text_literal.this.removeprefix(_TEMPORARY + PREFIX)} - writes
        writes |= {_name(target) for target in targets}
    return Tables(frozenset(reads), frozenset(writes))


def _targets(statement: exp.Expression) -> list[exp.Table]:
    """The tables that a statement makes, fills, changes or drops."""
    if isinstance(statement, exp.Drop):
        return list(statement.find_all(exp.Table))
    if not isinstance(statement, exp.Create | exp.Insert | exp.Update | exp.Delete | exp.Alter):
        return []
    target = statement.this
    if isinstance(target, exp.Schema):
        target = target.this
    return [target] if isinstance(target, exp.Table) else []


def _name(table: exp.Table) -> str:
    if table.db and table.db != "main":
        return f"{table.db}.{table.name}"
    return table.name.removeprefix(PREFIX)


def step_files(root: Path) -> list[Path]:
    """The step files of ``sql_macros``."""
    return sorted((root / "sql_macros").glob("*/steps/*.sql"))
