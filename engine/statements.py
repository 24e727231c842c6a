"""Statements: the `.sql` files of the package, split and quoted with sqlglot."""

from __future__ import annotations

from functools import cache
from importlib import resources

import duckdb
from sqlglot import exp


def quoted(name: str) -> str:
    """``name`` as a quoted identifier of DuckDB, whatever it contains."""
    return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")


def literal(value: str) -> str:
    """``value`` as a string literal, for the statements that take no parameters."""
    return exp.Literal.string(value).sql(dialect="duckdb")


def dotted(*parts: str) -> str:
    """A qualified name, every part quoted."""
    return ".".join(quoted(part) for part in parts)


@cache
def statements(package: str, file: str) -> tuple[str, ...]:
    """The statements of one `.sql` file of the package, in order."""
    text = (resources.files(package) / file).read_text(encoding="utf-8")
    return tuple(s.query.strip() for s in duckdb.extract_statements(text))
