"""What is trimmed off the ends of values, over all of Unicode."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import duckdb
import pytest
from sqlglot import exp

from srsql.engine.warehouse.catalog import trimmed
from srsql.engine.warehouse.statements import SPACE, bare, column

CHARACTERS = [chr(n) for n in range(1, 0x110000) if not 0xD800 <= n <= 0xDFFF]
WHITE = {c for c in CHARACTERS if unicodedata.category(c) in ("Zs", "Zl", "Zp")}
WHITE |= set("\t\n\v\f\r\x85")  # the controls that have the property White_Space
WHITE |= {"\u200b", "\ufeff"}  # of no width: they are left by copying, and no value begins with one


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute("CREATE TABLE t AS SELECT unnest(?::VARCHAR[]) AS c", [CHARACTERS])
        yield opened


def value(text: str) -> exp.Expr:
    """``text`` with the character before and behind it."""
    return exp.func("concat", column("c"), exp.Literal.string(text), column("c"))


def characters(con: duckdb.DuckDBPyConnection, condition: exp.Expr) -> set[str]:
    """Those of all characters of which the condition is true."""
    rows = exp.select(column("c")).from_("t").where(condition).sql(dialect="duckdb")
    return {character for (character,) in con.execute(rows).fetchall()}


def test_every_white_space_of_unicode_is_trimmed_and_nothing_else(
    con: duckdb.DuckDBPyConnection,
) -> None:
    assert set(SPACE) == WHITE
    found = characters(con, bare(value("x")).eq(exp.Literal.string("x")))
    assert found == WHITE
    kept = characters(con, bare(value("x")).eq(value("x")))
    assert kept == set(CHARACTERS) - WHITE


def test_a_value_of_white_space_alone_is_none(con: duckdb.DuckDBPyConnection) -> None:
    assert characters(con, trimmed(value("")).is_(exp.null())) == WHITE
    assert characters(con, bare(value("")).eq(exp.Literal.string(""))) == WHITE


def test_white_space_within_a_value_stays(con: duckdb.DuckDBPyConnection) -> None:
    inner = exp.func("concat", exp.Literal.string("x"), column("c"), exp.Literal.string("y"))
    assert characters(con, bare(inner).eq(inner.copy())) == set(CHARACTERS)
