"""Boxes, coverage, cells and dangerous groups of an audit, against plain Python."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.audit import Box, covers
from oracles.examples import REPEATABLE
from support.boxes import ANYTHING, LEAVES, boxes, coded, decoded, pattern


@pytest.mark.parametrize(
    ("low", "high", "root", "expected"),
    [
        (3, 9, (None, None), [-3, 9]),
        (None, None, (None, None), [ANYTHING, ANYTHING]),
        (1, 2, (0, 2), [-1, 2]),
        (0, 2, (0, 2), [ANYTHING, ANYTHING]),
        (0, 2, (None, None), [0, 2]),
    ],
)
def test_a_missing_value_and_the_root_of_a_hierarchy_say_nothing(
    sql: Any, low: int | None, high: int | None, root: tuple[Any, Any], expected: list[int]
) -> None:
    found = sql.rows("SELECT srsql.box_part(?::BIGINT, ?::BIGINT, ?, ?)", [low, high, *root])
    assert found == [(expected,)]
    asked = "SELECT srsql.says_nothing(?::BIGINT, ?::BIGINT, ?, ?)"
    assert sql.rows(asked, [low, high, *root]) == [(expected == [ANYTHING] * 2,)]


def test_the_places_of_a_box_stand_in_the_order_of_their_positions(sql: Any) -> None:
    places = [(2, 3, 9, None, None), (0, None, None, None, None), (1, 0, 2, 0, 2)]
    asked = ", ".join(["srsql.box_place(?, ?::BIGINT, ?::BIGINT, ?, ?)"] * len(places))
    found = sql.rows(f"SELECT srsql.box_of([{asked}])", [end for place in places for end in place])
    assert found == [([ANYTHING] * 4 + [-3, 9],)]


@REPEATABLE
@given(region=boxes, value=boxes)
def test_a_box_covers_what_lies_inside_it(sql: Any, region: Box, value: Box) -> None:
    found = sql.rows("SELECT srsql.covers(?::BIGINT[], ?::BIGINT[])", [coded(region), coded(value)])
    assert found == [(covers(region, value),)]


def test_a_box_that_is_not_there_constrains_nothing(sql: Any) -> None:
    assert sql.rows("SELECT srsql.covers(NULL::BIGINT[], [-1, 1]::BIGINT[])") == [(True,)]


@REPEATABLE
@given(regions=st.lists(boxes, max_size=4), value=boxes)
def test_what_all_boxes_cover_is_what_their_common_box_covers(
    sql: Any, regions: list[Box], value: Box
) -> None:
    asked = "SELECT srsql.covers(srsql.common_box(?::BIGINT[][]), ?::BIGINT[])"
    found = sql.rows(asked, [[coded(region) for region in regions], coded(value)])
    assert found == [(all(covers(region, value) for region in regions),)]


def test_a_missing_value_is_coded_as_more_than_any_end(sql: Any) -> None:
    assert sql.rows("SELECT srsql.unbounded_end()") == [(ANYTHING,)]


@REPEATABLE
@given(region=boxes, inside=st.data())
def test_a_region_touches_two_tiles_of_its_shape_at_most_in_each_position(
    sql: Any, region: Box, inside: Any
) -> None:
    """Its first tile, and the next one if it reaches into it: a point of it is in one of them."""
    (shape,) = sql.rows("SELECT srsql.shape(?::BIGINT[])", [coded(region)])[0]
    for digits, end in zip(shape, region, strict=True):
        if end is None:
            assert digits == -1
        else:
            assert digits % 2 == 0
            assert end[1] - end[0] < 2**digits <= 4 * max(1, end[1] - end[0])

    def tile(box: Box) -> list[int]:
        found: list[int] = sql.rows(
            "SELECT srsql.tile(?::BIGINT[], ?::BIGINT[])", [coded(box), shape]
        )[0][0]
        return found

    ends = [end or (0, 0) for end in region]
    point = [inside.draw(st.integers(low, high)) for low, high in ends]
    first, last, own = (
        tile(tuple((n, n) for n in numbers))
        for numbers in ([low for low, _ in ends], [high for _, high in ends], point)
    )
    for low, high, place, digits in zip(first, last, own, shape, strict=True):
        assert low <= place <= high <= low + 1
        assert digits >= 0 or place == 0


@REPEATABLE
@given(regions=st.lists(boxes, max_size=12), values=st.lists(boxes, max_size=12))
def test_covering_finds_every_region_of_every_question_once(
    sql: Any, regions: list[Box], values: list[Box]
) -> None:
    asks = sql.table(
        "ask", "ask_no INTEGER, box BIGINT[]", [(i, coded(v)) for i, v in enumerate(values)]
    )
    places = sql.table(
        "place",
        "place_no INTEGER, pattern BOOLEAN[], box BIGINT[]",
        [(i, pattern(r), coded(r)) for i, r in enumerate(regions)],
    )
    sql.rows(f"CREATE OR REPLACE TEMP TABLE seen AS FROM srsql.projected({asks}, {places})")
    sql.rows(
        "CREATE OR REPLACE TEMP TABLE point AS SELECT row_number() OVER () AS point_no, pattern, "
        "box FROM temp.main.seen GROUP BY pattern, box"
    )
    found = sql.rows(
        f"SELECT s.ask_no, c.place_no FROM srsql.covering('temp.main.point', {places}) AS c "
        "JOIN temp.main.point AS p USING (point_no) JOIN temp.main.seen AS s "
        "ON s.pattern = p.pattern AND s.box = p.box"
    )
    expected = [
        (v, r)
        for v, value in enumerate(values)
        for r, region in enumerate(regions)
        if covers(region, value)
    ]
    assert sorted(found) == expected


@REPEATABLE
@given(region=boxes, others=st.lists(boxes, max_size=4))
def test_elementary_cells_tell_apart_what_other_regions_tell_apart(
    sql: Any, region: Box, others: list[Box]
) -> None:
    whole = sql.table(
        "whole", "region_key INTEGER, cut_key INTEGER, box BIGINT[]", [(7, 1, coded(region))]
    )
    cut = sql.table("cut_box", "cut_key INTEGER, box BIGINT[]", [(1, coded(o)) for o in others])
    sql.rows(f"CREATE OR REPLACE TEMP TABLE cut AS FROM srsql.box_cuts({cut})")
    leaves = sql.table("leaf", "position INTEGER, leaf BIGINT", [(2, leaf) for leaf in LEAVES])
    rows = sql.rows(f"FROM srsql.elementary_cells({whole}, 'temp.main.cut', {leaves})")
    cells = [decoded(box) for _, box in rows]
    assert all(covers(region, cell) for cell in cells)
    assert len(set(cells)) == len(cells)

    def told(value: Box) -> tuple[bool, ...]:
        return tuple(covers(other, value) for other in others)

    ages = [None, *((n, n) for n in range(-45, 165))]
    places = [None, *((leaf, leaf) for leaf in LEAVES)]
    values = [value for value in product(ages, places) if covers(region, value)]
    assert {told(cell) for cell in cells} == {told(value) for value in values}


def test_a_group_is_dangerous_by_its_worst_targets(sql: Any) -> None:
    sets = sql.table(
        "sets",
        "target_no INTEGER, group_id INTEGER, remaining INTEGER, staying INTEGER,"
        " staying_back INTEGER",
        [(1, 1, 3, None, None), (2, 1, 2, None, None), (3, 2, 3, 3, 2), (4, 3, 3, 3, None),
         (5, 4, 9, None, None), (6, 5, 9, None, None)],
    )  # fmt: skip
    breaches = sql.table(
        "breach",
        "target_no INTEGER, group_id INTEGER, term_no INTEGER",
        [(5, 4, 0), (5, 4, 8), (6, 5, -1)],
    )
    rows = sql.rows(f"FROM srsql.dangerous_groups({sets}, {breaches}, 3) ORDER BY group_id")
    assert rows == [
        (1, True, False, False, False),
        (2, False, False, False, True),
        (4, False, True, False, False),
        (5, False, False, True, False),
    ]
    sql.rows(
        f"CREATE OR REPLACE TEMP TABLE danger AS FROM srsql.dangerous_groups({sets}, {breaches}, 3)"
    )
    shares = sql.rows(
        "SELECT measure, violating, total, ratio, passed "
        "FROM srsql.dangerous_shares('temp.main.danger', 8, 1, 'group')"
    )
    assert shares == [
        ("dir", 1, 8, 0.125, False), ("dsr", 1, 8, 0.125, False), ("ssgr", 1, 8, 0.125, False)
    ]  # fmt: skip


def test_without_groups_the_shares_are_undefined_and_nothing_is_dangerous(sql: Any) -> None:
    none = sql.table("danger", "dig BOOLEAN, dsg BOOLEAN, ssg BOOLEAN", [])
    rows = sql.rows(
        f"SELECT measure, violating, ratio, passed FROM srsql.dangerous_shares({none}, 0, 1, 'x')"
    )
    assert rows == [("dir", 0, None, True), ("dsr", 0, None, True), ("ssgr", 0, None, True)]


@pytest.mark.parametrize(
    ("weight", "theta", "cases", "exceeds"),
    [(1, (1, 3), 3, False), (2, (1, 3), 5, True), (0, (0, 1), 5, False), (1, (0, 1), 5, True)],
)
def test_a_share_of_exactly_theta_does_not_exceed_it(
    sql: Any, weight: int, theta: tuple[int, int], cases: int, exceeds: bool
) -> None:
    one = 9 * 10**17
    rows = sql.rows(
        "SELECT srsql.exceeds(?::HUGEINT, ?::BIGINT, ?::BIGINT, ?::BIGINT, ?::BIGINT)",
        [weight * one, *theta, cases, one],
    )
    assert rows == [(exceeds,)]


def test_the_positions_of_boxes_know_roots_and_what_was_drawn_at_random(own_sql: Any) -> None:
    own_sql.insert(
        "srsql.release",
        [(n, "d", "main", "2011Q1", "ms", "released", 5, 5, 1, "", None, "{}") for n in (1, 2)],
    )
    own_sql.insert(
        "srsql.node",
        [
            ("d", "sex", "Any", None, 0, 2, 0, 1, 2, None, None),
            ("d", "sex", "M", "Any", 1, 1, 1, 0, 1, None, None),
            ("other", "sex", "Any", None, 0, 9, 0, 1, 9, None, None),
        ],
    )
    own_sql.insert(
        "srsql.attribute",
        [(n, 0, "age", "numeric", 120) for n in (1, 2)]
        + [(n, 1, "sex", "categorical", 2) for n in (1, 2)],
    )
    own_sql.insert("srsql.perturbation", [(2, 0, "laplace", "step", "laplace", 1, 2)])
    releases = own_sql.table("chosen", "release_id INTEGER", [(2,)])
    assert own_sql.rows(
        "SELECT release_id, position, root_low, root_high, perturbed "
        f"FROM srsql.box_positions({releases}) ORDER BY ALL"
    ) == [(2, 0, None, None, True), (2, 1, 0, 2, False)]
