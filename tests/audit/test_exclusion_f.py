"""F: the candidates whose later regions do not cover the target (Huang 2021, Definition 2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.audit import Box, covers
from oracles.examples import REPEATABLE
from support.boxes import boxes, coded
from support.histories import Series, corners, followed, histories, series


def test_f_names_every_later_region_and_position_that_rules_a_case_out(
    reasons: dict[str, list[tuple[Any, ...]]],
) -> None:
    assert reasons["F"] == [
        ("a", 4, 0, 24, 26),
        ("c", 4, 0, 24, 26),
    ]


@pytest.mark.slow
@REPEATABLE
@given(made=series())
def test_a_target_is_in_what_all_later_regions_of_a_case_have_in_common_or_the_case_is_in_f(
    sql: Any, made: Series
) -> None:
    found = histories(sql, made)
    assert sorted(found) == sorted(followed(made))
    for (place, case), row in found.items():
        regions = [region for one in made[place + 1 :] if (region := one.region(case))]
        assert (row["later"] is None) == (not regions)
        for target in corners(made):
            inside = all(covers(region, target) for region in regions)
            known = zip(row["later"] or [], coded(target), strict=bool(regions))
            assert all(bound >= number for bound, number in known) == inside


@REPEATABLE
@given(
    targets=st.lists(boxes, min_size=1, max_size=4),
    later=st.lists(st.one_of(st.none(), boxes), min_size=1, max_size=4),
)
def test_pairs_of_a_target_and_a_case_of_its_group_are_in_f_by_the_regions(
    sql: Any, targets: list[Box], later: list[Box | None]
) -> None:
    """Two groups of the same cases: nobody is ruled out for a target of the other group."""
    asked = sql.table(
        "asked",
        "target_no INTEGER, group_id INTEGER, box BIGINT[], is_new BOOLEAN, stopped BOOLEAN",
        [(n, n % 2, coded(target), False, False) for n, target in enumerate(targets)],
    )
    cases = [(n, group, box) for group in (0, 1) for n, box in enumerate(later)]
    met = sql.table(
        "met",
        "group_id INTEGER, case_no INTEGER, earlier BIGINT[], later BIGINT[], l BOOLEAN,"
        " md BOOLEAN, in_next_quarter BOOLEAN, in_previous_quarter BOOLEAN",
        [(group, n, None, coded(box) if box else None, False, False, n % 2 == 0, n % 3 == 0)
         for n, group, box in cases],
    )  # fmt: skip
    rows = sql.records(f"FROM srsql.excluded_pairs({asked}, {met})")
    assert sorted((row["target_no"], row["case_no"]) for row in rows) == [
        (t, n)
        for t, target in enumerate(targets)
        for n, box in enumerate(later)
        if box is not None and not covers(box, target)
    ]
    for row in rows:
        assert (row["b"], row["f"], row["otherwise"]) == (False, True, False)
        assert (row["in_next_quarter"], row["in_previous_quarter"]) == (
            row["case_no"] % 2 == 0,
            row["case_no"] % 3 == 0,
        )


@REPEATABLE
@given(target=boxes, later=st.one_of(st.none(), boxes))
def test_a_later_region_that_does_not_cover_the_target_rules_its_case_out(
    sql: Any, target: Box, later: Box | None
) -> None:
    known = coded(later) if later else None
    found = sql.rows("SELECT srsql.exclusion_f(?::BIGINT[], ?::BIGINT[])", [known, coded(target)])
    assert found == [(later is not None and not covers(later, target),)]
