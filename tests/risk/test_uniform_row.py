"""The uniform row of checks and metrics: what its ratio and its verdict are."""

from __future__ import annotations

from typing import Any

import pytest

NAMES = ["release", "measure", "scope", "violating", "total", "ratio", "threshold", "passed"]


def unnested(sql: Any, row: str) -> tuple[list[str], tuple[Any, ...]]:
    """The columns and values of one row that a macro packs."""
    described = sql.rows(f"DESCRIBE SELECT unnest({row})")
    [values] = sql.rows(f"SELECT unnest({row})")
    return [column[0] for column in described], values


def test_a_row_has_the_same_columns_and_types_whatever_it_is_made_of(sql: Any) -> None:
    row = "srsql.uniform_row(3::BIGINT, 'k', 'group', 1, 2, 0.5, NULL, 1)"
    assert unnested(sql, row) == (NAMES, (3, "k", "group", 1.0, 2.0, 0.5, None, True))
    described = sql.rows(f"DESCRIBE SELECT unnest({row})")
    assert [column[1] for column in described] == [
        "INTEGER", "VARCHAR", "VARCHAR", "DOUBLE", "DOUBLE", "DOUBLE", "DOUBLE", "BOOLEAN",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("violating", "total", "ratio", "passed"),
    [(0, 4, 0.0, True), (1, 4, 0.25, False), (0, 0, None, True), (2, 0, None, False)],
)
def test_a_check_passes_where_nothing_violates_it(
    sql: Any, violating: int, total: int, ratio: float | None, passed: bool
) -> None:
    row = f"srsql.check_row(3, 'k', 'group', {violating}, {total}, 5)"
    found = unnested(sql, row)
    assert found == (NAMES, (3, "k", "group", violating, total, ratio, 5.0, passed))


@pytest.mark.parametrize(("violating", "total", "ratio"), [(1, 4, 0.25), (3, 0, None)])
def test_a_metric_bounds_nothing_and_so_passes_and_fails_nothing(
    sql: Any, violating: int, total: int, ratio: float | None
) -> None:
    row = f"srsql.metric_row(3, 'dir', 'group', {violating}, {total})"
    assert unnested(sql, row) == (NAMES, (3, "dir", "group", violating, total, ratio, None, None))
