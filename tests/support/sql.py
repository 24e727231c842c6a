"""A connection with the macros and UDFs in it, and tables for them made of Python rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import duckdb
import pytest

from srsql.engine.store.definitions import install_in


class Sql:
    """A connection of the test's own; closed with it."""

    def __init__(self) -> None:
        self.con = duckdb.connect()
        # as ``srsql.install`` does, but copied, as into a new file
        install_in(self.con, catalog=True, untouched=True)

    def table(self, name: str, columns: str, rows: Iterable[Sequence[Any]]) -> str:
        """Make the temporary table ``name``; its qualified name as a macro takes it."""
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({columns})")
        self.insert(f"temp.main.{name}", rows)
        return f"'temp.main.{name}'"

    def insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Append rows to a table, in one statement."""
        values = [tuple(row) for row in rows]
        if values:
            marks = ", ".join("(" + ", ".join("?" * len(row)) + ")" for row in values)
            flat = [value for row in values for value in row]
            self.con.execute(f"INSERT INTO {table} VALUES {marks}", flat)

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.con.execute(query, parameters or None).fetchall()

    def records(self, query: str, parameters: Any = None) -> list[dict[str, Any]]:
        """Rows as column -> value."""
        found = self.con.execute(query, parameters)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@pytest.fixture(scope="module")
def sql() -> Iterator[Sql]:
    """Shared by the tests of a module, which replace each other's tables."""
    opened = Sql()
    yield opened
    opened.con.close()


@pytest.fixture
def own_sql() -> Iterator[Sql]:
    """For a test that changes what the connection means."""
    opened = Sql()
    yield opened
    opened.con.close()
