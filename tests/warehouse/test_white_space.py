"""What is trimmed off the ends of values, and the normal form of terms, over all of Unicode."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from srsql.engine.catalog.datasets import normalized, trimmed
from srsql.engine.store.statements import SPACE, bare, column, normal_form, step_file

CHARACTERS = [chr(n) for n in range(1, 0x110000) if not 0xD800 <= n <= 0xDFFF]
WHITE = {c for c in CHARACTERS if unicodedata.category(c) in ("Zs", "Zl", "Zp")}
WHITE |= set("\t\n\v\f\r\x85")  # the controls that have the property White_Space
WHITE |= {"\u200b", "\ufeff"}  # of no width: they are left by copying, and no value begins with one
IGNORABLE_NO_FORMAT = "\u034f\u115f\u1160\u17b4\u17b5\u2065\u3164\uffa0"
"""Of the property Default_Ignorable_Code_Point, beside formats, selectors and two ranges."""
VISIBLE_FORMAT = {
    c
    for c in CHARACTERS
    if 0x0600 <= ord(c) <= 0x0605
    or 0xFFF9 <= ord(c) <= 0xFFFB
    or 0x13430 <= ord(c) <= 0x1343F
    or ord(c) in (0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD)
}
"""Format controls that have a shape: signs before Arabic and other numbers, marks of annotations,
joiners of hieroglyphs (Unicode, DerivedCoreProperties: what Default_Ignorable leaves out of Cf)."""
IGNORABLE = {c for c in CHARACTERS if unicodedata.category(c) == "Cf"} - VISIBLE_FORMAT
IGNORABLE |= set(IGNORABLE_NO_FORMAT)
IGNORABLE |= {chr(n) for n in (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10))}
IGNORABLE |= {chr(n) for n in (*range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000))}


def normal(text: str) -> str:
    """The normal form by its definition; a letter that would become two stays, as in DuckDB."""
    visible = "".join(c for c in text if c not in IGNORABLE).strip("".join(WHITE))
    composed = unicodedata.normalize("NFC", visible)
    return "".join(upper(c) for c in composed)


def upper(character: str) -> str:
    """The simple mapping of Unicode; Python's is the full one."""
    return simple_mappings().get(character, character)


@cache
def simple_mappings() -> dict[str, str]:
    with duckdb.connect() as opened:
        rows = opened.execute(
            "SELECT c, upper(c) FROM (SELECT unnest(?::VARCHAR[]) AS c)", [CHARACTERS]
        ).fetchall()
    found = dict(rows)
    for one, other in found.items():  # where both have one character, they agree
        assert one == other or len(one.upper()) > 1 or one.upper() == other
    return found


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute("CREATE TABLE t AS SELECT unnest(?::VARCHAR[]) AS c", [CHARACTERS])
        yield opened


@pytest.fixture(params=[False, True], ids=["", "many rows"])
def many(request: pytest.FixtureRequest) -> bool:
    """Whether texts of plain ASCII are told apart."""
    return bool(request.param)


def value(text: str) -> exp.Expr:
    """``text`` with the character before and behind it."""
    return exp.func("concat", column("c"), exp.Literal.string(text), column("c"))


def characters(con: duckdb.DuckDBPyConnection, condition: exp.Expr) -> set[str]:
    """Those of all characters of which the condition is true."""
    rows = exp.select(column("c")).from_("t").where(condition).sql(dialect="duckdb")
    return {character for (character,) in con.execute(rows).fetchall()}


@pytest.mark.thorough
def test_every_white_space_of_unicode_is_trimmed_and_nothing_else(
    con: duckdb.DuckDBPyConnection, many: bool
) -> None:
    assert set(SPACE) == WHITE
    found = characters(con, bare(value("x"), many=many).eq(exp.Literal.string("x")))
    assert found == WHITE
    kept = characters(con, bare(value("x"), many=many).eq(value("x")))
    assert kept == set(CHARACTERS) - WHITE


@pytest.mark.slow
def test_a_value_of_white_space_alone_is_none(con: duckdb.DuckDBPyConnection, many: bool) -> None:
    assert characters(con, trimmed(value(""), many=many).is_(exp.null())) == WHITE
    assert characters(con, bare(value(""), many=many).eq(exp.Literal.string(""))) == WHITE
    assert characters(con, normalized(value(""), many=many).is_(exp.null())) == WHITE | IGNORABLE


@pytest.mark.thorough
def test_white_space_within_a_value_stays(con: duckdb.DuckDBPyConnection, many: bool) -> None:
    inner = exp.func("concat", exp.Literal.string("x"), column("c"), exp.Literal.string("y"))
    assert characters(con, bare(inner, many=many).eq(inner.copy())) == set(CHARACTERS)


def test_every_character_without_a_shape_is_left_out_of_the_normal_form_wherever_it_stands(
    con: duckdb.DuckDBPyConnection, many: bool
) -> None:
    inner = exp.func("concat", exp.Literal.string("X"), column("c"), exp.Literal.string("Y"))
    assert characters(con, normal_form(inner, many=many).eq(exp.Literal.string("XY"))) == IGNORABLE
    ends = normal_form(value("x"), many=many).eq(exp.Literal.string("X"))
    assert characters(con, ends) == WHITE | IGNORABLE


@pytest.mark.thorough
def test_the_normal_form_of_every_character_is_that_of_its_definition(
    con: duckdb.DuckDBPyConnection, many: bool
) -> None:
    form = exp.select(column("c"), normal_form(value(" e"), many=many).as_("form")).from_("t")
    for character, found in con.execute(form.sql(dialect="duckdb")).fetchall():
        assert found == normal(f"{character} e{character}"), hex(ord(character))


def verified(con: duckdb.DuckDBPyConnection, texts: list[str], version: int) -> list[str]:
    """The values that a verification of an artifact reads, of one case a text."""
    con.execute("""
        CREATE OR REPLACE TEMP TABLE srsql_case_region (a INTEGER, r VARCHAR, c VARCHAR);
        CREATE OR REPLACE TEMP TABLE srsql_case_value (artifact INTEGER, c VARCHAR, value VARCHAR);
        CREATE OR REPLACE TEMP TABLE srsql_report_row AS
            SELECT 1 AS position, 1 AS report_id, 1 AS case_id, '' AS period, '' AS region LIMIT 0;
    """)
    con.execute(
        "CREATE OR REPLACE TEMP TABLE srsql_sensitive_cell AS SELECT "
        "unnest(range(len($1::VARCHAR[]))) AS case_id, unnest($1::VARCHAR[]) AS spelling",
        [texts],
    )
    for statement in step_file("artifact/artifact_rows").statements():
        named = {"artifact": 0, "version": version}
        con.execute(statement, {name: named[name] for name in statement.named_parameters})
    rows = con.execute("SELECT c, value FROM srsql_case_value").fetchall()
    found = {int(place): value for place, value in rows}
    return [found.get(place, "") for place in range(len(texts))]


@pytest.mark.thorough
def test_an_artifact_is_verified_with_the_same_normal_form(con: duckdb.DuckDBPyConnection) -> None:
    texts = [f"{c} e{c}" for c in CHARACTERS]
    assert verified(con, texts, 2) == [normal(text) for text in texts]
    assert verified(con, texts, 1) == [
        "".join(upper(c) for c in text.strip("".join(WHITE))) for text in texts
    ]


PIECES = st.sampled_from(["e", "E", "o", "\u0301", "\u0308", "\u200d", "\u00ad", " ", "\u2060",
                          "\u00e9", "\u1e69", "s", "\u0323", "\u0307", "\ufeff", "\t"])  # fmt: skip


@pytest.mark.thorough
@given(st.lists(st.lists(PIECES, max_size=7).map("".join), min_size=1, max_size=40))
def test_terms_that_look_the_same_have_one_normal_form(texts: list[str]) -> None:
    with duckdb.connect() as con:
        term = normal_form(column("t")).sql(dialect="duckdb")
        again = normal_form(normal_form(column("t"))).sql(dialect="duckdb")
        quick = normal_form(column("t"), many=True).sql(dialect="duckdb")
        rows = con.execute(
            f"SELECT {term}, {again}, {quick} FROM (SELECT unnest(?::VARCHAR[]) AS t)", [texts]
        ).fetchall()
    assert [form for form, *_ in rows] == [normal(text) for text in texts]
    assert all(form == twice == other for form, twice, other in rows)
