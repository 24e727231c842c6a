"""The macros of linkability against every pair of rows, by their definition."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.linkability import Ends, Row, links, overlap

UNBOUNDED = 2**62
TERMS = [("drug.drugname", "ASPIRIN"), ("drug.drugname", "INSULIN"), ("reac.pt", "ASPIRIN")]
ENDS: st.SearchStrategy[Ends] = st.one_of(
    st.none(), st.tuples(st.integers(0, 6), st.integers(0, 3)).map(lambda e: (e[0], e[0] + e[1]))
)
ROWS = st.builds(
    Row, items=st.frozensets(st.sampled_from(TERMS), max_size=2), region=st.tuples(ENDS, ENDS)
)
RELEASE = st.lists(ROWS, max_size=9).map(lambda rows: dict(enumerate(rows, 1)))


def box(region: tuple[Ends, ...]) -> list[int]:
    return [
        int(n)
        for ends in region
        for n in ((UNBOUNDED, UNBOUNDED) if ends is None else (-ends[0], ends[1]))
    ]


def number_of(items: frozenset[tuple[str, str]]) -> int:
    return sum(2**n for n, item in enumerate(TERMS) if item in items)


def linked(sql: Any, first: dict[int, Row], second: dict[int, Row]) -> dict[int, int]:
    names = [
        sql.table(
            name,
            "case_no BIGINT, set_no BIGINT, box BIGINT[]",
            [(n, number_of(row.items), box(row.region)) for n, row in rows.items()],
        )
        for name, rows in (("first_cases", first), ("second_cases", second))
    ]
    return dict(sql.rows(f"FROM srsql.linked_pairs({', '.join(names)})"))


@pytest.mark.slow
@REPEATABLE
@given(first=RELEASE, second=RELEASE)
def test_rows_link_that_have_exactly_one_counterpart_in_both_directions(
    sql: Any, first: dict[int, Row], second: dict[int, Row]
) -> None:
    assert linked(sql, first, second) == links(first, second)


def test_a_set_that_more_than_sixty_four_boxes_have_is_compared_to_the_last_box(sql: Any) -> None:
    apart = {n: Row(frozenset(), ((3 * n, 3 * n + 1), None)) for n in range(1, 301)}
    moved = {n: Row(row.items, ((3 * n + 1, 3 * n + 1), None)) for n, row in apart.items()}
    assert linked(sql, apart, moved) == {n: n for n in range(1, 301)}
    wide = {n: Row(frozenset(), ((2 * n, 2 * n + 2), None)) for n in range(1, 301)}
    assert linked(sql, wide, moved) == links(wide, moved)


@REPEATABLE
@given(one=ROWS, other=ROWS, more=ROWS)
def test_boxes_overlap_where_their_regions_do_at_every_position(
    sql: Any, one: Row, other: Row, more: Row
) -> None:
    for first, second in ((one, other), (wider(one, more), wider(other, one))):
        found = sql.rows(
            "SELECT srsql.overlaps($1::BIGINT[], $2::BIGINT[])",
            [box(first.region), box(second.region)],
        )
        assert found == [(overlap(first, second),)]


def wider(row: Row, more: Row) -> Row:
    """With six positions: more than the macro writes out."""
    return Row(row.items, (*row.region, *more.region, *row.region))


@REPEATABLE
@given(first=RELEASE, second=RELEASE)
def test_cases_with_the_same_items_have_the_same_set_and_no_others(
    sql: Any, first: dict[int, Row], second: dict[int, Row]
) -> None:
    cases = [(side, n, row) for side, rows in ((1, first), (2, second)) for n, row in rows.items()]
    items = sql.table(
        "items",
        "side INTEGER, case_no BIGINT, attribute VARCHAR, term VARCHAR",
        [(side, n, *item) for side, n, row in cases for item in row.items],
    )
    boxes = sql.table(
        "boxes",
        "side INTEGER, case_no BIGINT, box BIGINT[]",
        [(side, n, box(row.region)) for side, n, row in cases],
    )
    found = {
        (side, n): (set_no, shown)
        for side, n, set_no, shown in sql.rows(f"FROM srsql.item_sets({items}, {boxes})")
    }
    assert found.keys() == {(side, n) for side, n, _ in cases}
    for side, n, row in cases:
        assert found[side, n][1] == box(row.region)
        for other_side, m, other in cases:
            same = found[side, n][0] == found[other_side, m][0]
            assert same == (row.items == other.items)


def test_the_row_of_linkability_counts_each_linked_row_once(sql: Any) -> None:
    cases = sql.table("cases", "case_no BIGINT", [(n,) for n in range(8)])
    pairs = sql.table("pairs", "case_no BIGINT", [(1,), (3,), (1,)])
    row = sql.rows(f"FROM srsql.linkable(7, 'series b', {cases}, {pairs})")
    assert row == [(7, "linkable", "series b", 2.0, 8.0, 0.25, None, None)]
    none = sql.table("none", "case_no BIGINT", [])
    assert sql.rows(f"FROM srsql.linkable(7, 'x', {none}, {none})")[0][3:6] == (0.0, 0.0, None)
