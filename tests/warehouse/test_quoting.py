"""Names and texts stand in a statement as they are, whatever they contain."""

from __future__ import annotations

import duckdb
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from srsql.engine.store.statements import literal, quoted

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")) | st.text(
    "'\"\\$;-"
)


@given(TEXTS)
def test_a_text_comes_back_as_it_was(text: str) -> None:
    assert duckdb.sql(f"SELECT {literal(text)}").fetchall() == [(text,)]


@given(TEXTS.filter(bool))
def test_a_name_comes_back_as_it_was(name: str) -> None:
    assert duckdb.sql(f"SELECT 1 AS {quoted(name)}").columns == [name]
    assert quoted(name) == exp.to_identifier(name, quoted=True).sql(dialect="duckdb")
