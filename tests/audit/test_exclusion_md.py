"""MD: the candidates of the next quarter, for a target that stopped (Huang 2021, Definition 4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from oracles.examples import REPEATABLE
from support.histories import Series, histories, series


def test_md_names_the_release_of_the_next_quarter_that_a_case_is_in(
    reasons: dict[str, list[tuple[Any, ...]]],
) -> None:
    assert reasons["MD"] == [("a", 4, None, None, None), ("c", 4, None, None, None)]


@pytest.mark.slow
@REPEATABLE
@given(made=series())
def test_a_case_goes_on_if_a_release_of_the_next_quarter_has_it(sql: Any, made: Series) -> None:
    for (place, case), row in histories(sql, made).items():
        after = made[place].quarter + 1
        there = any(one.quarter == after and case in one.group_of for one in made)
        assert row["in_next_quarter"] == there


@pytest.mark.parametrize(("stopped", "ruled_out"), [(True, {(7, 0)}), (False, set())])
def test_md_rules_a_case_out_besides_its_region_where_the_target_stopped(
    sql: Any, stopped: bool, ruled_out: set[tuple[int, int]]
) -> None:
    """Case 0 is in the next quarter and case 1 is not; the regions rule both out as well."""
    targets = sql.table(
        "asked",
        "target_no INTEGER, group_id INTEGER, box BIGINT[], is_new BOOLEAN, stopped BOOLEAN",
        [(7, 0, [-5, 5], False, stopped)],
    )
    met = sql.table(
        "met",
        "group_id INTEGER, case_no INTEGER, earlier BIGINT[], later BIGINT[], l BOOLEAN,"
        " md BOOLEAN, in_next_quarter BOOLEAN, in_previous_quarter BOOLEAN",
        [(0, n, None, [-8, 9], True, n == 0, n == 0, False) for n in (0, 1)],
    )
    rows = sql.rows(
        f"SELECT target_no, case_no, otherwise FROM srsql.excluded_pairs({targets}, {met})"
    )
    assert {row[:2] for row in rows} == {(7, 0), (7, 1)}
    assert {row[:2] for row in rows if row[2]} == ruled_out


def test_only_a_case_that_goes_on_is_ruled_out_and_only_for_a_target_that_stopped(
    sql: Any,
) -> None:
    ruled_out = sql.rows(
        "SELECT t.b, c.b FROM (VALUES (true), (false)) AS t (b), (VALUES (true), (false)) AS c (b) "
        "WHERE srsql.exclusion_md(t.b, c.b)"
    )
    assert ruled_out == [(True, True)]
