"""Lists that statements read as a table: every text as it is, whatever its signs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.amount import some_of

from srsql.engine.store.warehouse import Warehouse

TEXTS = st.lists(st.none() | st.text(st.characters(blacklist_categories=["Cs"]), max_size=8))


@pytest.fixture(scope="module")
def warehouse() -> Iterator[Warehouse]:
    with Warehouse(":memory:") as opened:
        yield opened


@settings(deadline=None, max_examples=some_of(60))
@given(texts=TEXTS)
def test_texts_and_blanks_come_back_in_their_order(
    warehouse: Warehouse, texts: list[str | None]
) -> None:
    columns = {"place": list(range(len(texts))), "text": texts}
    with warehouse.given("srsql_given_test", columns):
        rows = warehouse.rows("SELECT text FROM temp.main.srsql_given_test ORDER BY place")
    assert [text for (text,) in rows] == texts
