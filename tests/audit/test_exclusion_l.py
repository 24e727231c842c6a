"""L: the candidates of earlier releases, for a target that is new (Huang 2021, Definition 3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from oracles.examples import REPEATABLE
from support.histories import Series, histories, series


@pytest.mark.slow
def test_l_names_every_release_of_an_earlier_quarter_that_a_case_is_in(
    reasons: dict[str, list[tuple[Any, ...]]],
) -> None:
    assert [row[:2] for row in reasons["L"]] == [("a", 1), ("b", 1)]
    assert {row[2:] for row in reasons["L"]} == {(None, None, None)}


@pytest.mark.slow
@REPEATABLE
@given(made=series())
def test_a_case_is_old_if_some_version_of_an_earlier_quarter_has_it(sql: Any, made: Series) -> None:
    for (place, case), row in histories(sql, made).items():
        assert row["old"] == any(
            case in one.group_of for one in made if one.quarter < made[place].quarter
        )


@pytest.mark.parametrize(("is_new", "ruled_out"), [(True, {(7, 0)}), (False, set())])
def test_l_rules_a_case_out_besides_its_region_where_the_target_is_new(
    sql: Any, is_new: bool, ruled_out: set[tuple[int, int]]
) -> None:
    """Case 0 is old and case 1 is not; the regions of both rule them out as well."""
    targets = sql.table(
        "asked",
        "target_no INTEGER, group_id INTEGER, box BIGINT[], is_new BOOLEAN, stopped BOOLEAN",
        [(7, 0, [-5, 5], is_new, False)],
    )
    met = sql.table(
        "met",
        "group_id INTEGER, case_no INTEGER, earlier BIGINT[], later BIGINT[], l BOOLEAN,"
        " md BOOLEAN, in_next_quarter BOOLEAN, in_previous_quarter BOOLEAN",
        [(0, n, [-8, 9], None, n == 0, True, False, False) for n in (0, 1)],
    )
    rows = sql.rows(
        f"SELECT target_no, case_no, otherwise FROM srsql.excluded_pairs({targets}, {met})"
    )
    assert {row[:2] for row in rows} == {(7, 0), (7, 1)}
    assert {row[:2] for row in rows if row[2]} == ruled_out


def test_only_an_old_case_is_ruled_out_and_only_for_a_new_target(sql: Any) -> None:
    ruled_out = sql.rows(
        "SELECT t.b, c.b FROM (VALUES (true), (false)) AS t (b), (VALUES (true), (false)) AS c (b) "
        "WHERE srsql.exclusion_l(t.b, c.b)"
    )
    assert ruled_out == [(True, True)]
