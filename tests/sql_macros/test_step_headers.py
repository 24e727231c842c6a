"""Every step file says in its header what it does, reads and writes, and where that comes from."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.steps import FIELDS, declared, header, stated, step_files

ROOT = Path(__file__).parents[2]
STEPS = {str(file.relative_to(ROOT / "sql_macros")): file for file in step_files(ROOT)}


@pytest.mark.parametrize("name", STEPS)
def test_the_header_has_its_fields_in_their_order(name: str) -> None:
    fields = header(STEPS[name].read_text(encoding="utf-8"))
    assert list(fields) == [field for field in FIELDS if field in fields]
    assert {"Step", "Reads", "Writes", "Source"} <= fields.keys()
    assert all(fields.values())


@pytest.mark.parametrize("name", STEPS)
def test_the_tables_of_the_header_are_those_of_the_statements(name: str) -> None:
    text = STEPS[name].read_text(encoding="utf-8")
    assert declared(text) == stated(text)


def test_a_table_is_read_where_it_is_not_the_step_itself_that_wrote_it() -> None:
    tables = stated("""
        CREATE OR REPLACE TEMP TABLE srsql_a AS
        WITH c AS (SELECT * FROM srsql_b) SELECT * FROM c JOIN srsql.member USING (case_no);
        INSERT INTO srsql.region SELECT * FROM srsql_a;
        INSERT INTO srsql_e SELECT * FROM srsql.covering('temp.main.srsql_d', 'c');
        UPDATE srsql_f SET x = 1;
        DROP TABLE srsql_g;
    """)
    assert tables.reads == {"b", "srsql.member", "d"}
    assert tables.writes == {"a", "srsql.region", "e", "f", "g"}


def test_what_stands_in_brackets_or_on_the_next_line_is_read_as_it_is_meant() -> None:
    tables = declared(
        "-- Step: does something.\n"
        "-- Reads: case_term(case_no, term), srsql.member,\n--   box(low, high)\n"
        "-- Writes: nothing\n-- Source: SPEC section 9.\nSELECT 1;"
    )
    assert tables.reads == {"case_term", "srsql.member", "box"}
    assert tables.writes == set()
