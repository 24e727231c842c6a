"""B: the candidates whose earlier regions do not cover the target (Huang 2021, Definition 1)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.audit import Box, covers
from oracles.examples import REPEATABLE
from support.boxes import boxes, coded
from support.histories import Series, corners, followed, histories, series


def test_b_names_every_earlier_region_and_position_that_rules_a_case_out(
    reasons: dict[str, list[tuple[Any, ...]]],
) -> None:
    assert reasons["B"] == [
        ("d", 2, 0, 40, 50),
        ("d", 2, 1, 2, 2),
    ]


@pytest.mark.slow
@REPEATABLE
@given(made=series())
def test_a_target_is_in_what_all_earlier_regions_of_a_case_have_in_common_or_the_case_is_in_b(
    sql: Any, made: Series
) -> None:
    found = histories(sql, made)
    assert sorted(found) == sorted(followed(made))
    for (place, case), row in found.items():
        regions = [region for one in made[:place] if (region := one.region(case))]
        assert (row["earlier"] is None) == (not regions)
        for target in corners(made):
            inside = all(covers(region, target) for region in regions)
            known = zip(row["earlier"] or [], coded(target), strict=bool(regions))
            assert all(bound >= number for bound, number in known) == inside


@REPEATABLE
@given(
    targets=st.lists(boxes, min_size=1, max_size=4),
    earlier=st.lists(st.one_of(st.none(), boxes), min_size=1, max_size=4),
)
def test_pairs_of_a_target_and_a_case_of_its_group_are_in_b_by_the_regions(
    sql: Any, targets: list[Box], earlier: list[Box | None]
) -> None:
    """Two groups of the same cases: nobody is ruled out for a target of the other group."""
    asked = sql.table(
        "asked",
        "target_no INTEGER, group_id INTEGER, box BIGINT[], is_new BOOLEAN, stopped BOOLEAN",
        [(n, n % 2, coded(target), False, False) for n, target in enumerate(targets)],
    )
    cases = [(n, group, box) for group in (0, 1) for n, box in enumerate(earlier)]
    met = sql.table(
        "met",
        "group_id INTEGER, case_no INTEGER, earlier BIGINT[], later BIGINT[], l BOOLEAN,"
        " md BOOLEAN, in_next_quarter BOOLEAN, in_previous_quarter BOOLEAN",
        [(group, n, coded(box) if box else None, None, False, False, n % 2 == 0, n % 3 == 0)
         for n, group, box in cases],
    )  # fmt: skip
    rows = sql.records(f"FROM srsql.excluded_pairs({asked}, {met})")
    assert sorted((row["target_no"], row["case_no"]) for row in rows) == [
        (t, n)
        for t, target in enumerate(targets)
        for n, box in enumerate(earlier)
        if box is not None and not covers(box, target)
    ]
    for row in rows:
        assert (row["b"], row["f"], row["otherwise"]) == (True, False, False)
        assert (row["in_next_quarter"], row["in_previous_quarter"]) == (
            row["case_no"] % 2 == 0,
            row["case_no"] % 3 == 0,
        )


@REPEATABLE
@given(target=boxes, earlier=st.one_of(st.none(), boxes))
def test_a_region_that_does_not_cover_the_target_rules_its_case_out(
    sql: Any, target: Box, earlier: Box | None
) -> None:
    known = coded(earlier) if earlier else None
    found = sql.rows("SELECT srsql.exclusion_b(?::BIGINT[], ?::BIGINT[])", [known, coded(target)])
    assert found == [(earlier is not None and not covers(earlier, target),)]
