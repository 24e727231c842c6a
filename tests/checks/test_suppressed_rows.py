"""The check of suppressed values passes on what was asked for and fails on everything else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE

COLUMNS = "report_id VARCHAR, case_id VARCHAR, attribute VARCHAR, term VARCHAR"
Row = tuple[str, str, str, str]
ORIGINALS: list[Row] = [
    ("a1", "a", "pt", "RASH"),
    ("a1", "a", "pt", "PAIN"),
    ("a1", "a", "indi", "RASH"),
    ("a1", "a", "indi", "FLU"),
    ("b1", "b", "pt", "RASH"),
    ("b1", "b", "pt", "PAIN"),
]
SHOWN = [row for row in ORIGINALS if (row[1], row[3]) != ("a", "RASH")]


def check(
    sql: Any, originals: list[Row], shown: list[Row], gone: list[tuple[str, str, bool]]
) -> dict[str, tuple[float, float]]:
    tables = (
        sql.table("original", COLUMNS, originals),
        sql.table("seen", COLUMNS, shown),
        sql.table("gone", "case_id VARCHAR, term VARCHAR, own BOOLEAN", gone),
    )
    rows = sql.records(f"FROM srsql.check_suppressed({', '.join(tables)}, 4)")
    assert {(row["release"], row["measure"]) for row in rows} == {(4, "check_suppressed")}
    assert all(row["passed"] is (row["violating"] == 0) for row in rows)
    return {row["scope"]: (row["violating"], row["total"]) for row in rows}


def test_a_value_that_is_gone_everywhere_passes(sql: Any) -> None:
    assert check(sql, ORIGINALS, SHOWN, [("a", "RASH", True)]) == {
        "suppressed value": (0, 1),
        "value": (0, 6),
        "attribute of a report": (0, 3),
    }


@pytest.mark.parametrize("place", [0, 2])
def test_a_value_that_is_left_in_some_attribute_fails(sql: Any, place: int) -> None:
    found = check(sql, ORIGINALS, [*SHOWN, ORIGINALS[place]], [("a", "RASH", True)])
    assert found["suppressed value"] == (1, 1)


def test_a_value_that_another_release_of_the_series_suppressed_fails_as_well(sql: Any) -> None:
    found = check(sql, ORIGINALS, SHOWN, [("a", "RASH", True), ("b", "RASH", False)])
    assert found["suppressed value"] == (1, 2)


def test_a_value_that_is_missing_though_nobody_suppressed_it_here_fails(sql: Any) -> None:
    shown = [row for row in SHOWN if row[0] != "b1" or row[3] != "PAIN"]
    gone = [("a", "RASH", True), ("b", "PAIN", False)]
    assert check(sql, ORIGINALS, shown, gone)["value"] == (1, 6)


def test_a_report_without_its_last_value_fails(sql: Any) -> None:
    shown = [row for row in SHOWN if row[2] != "indi"]
    found = check(sql, ORIGINALS, shown, [("a", "RASH", True), ("a", "FLU", True)])
    assert found == {
        "suppressed value": (0, 2),
        "value": (0, 6),
        "attribute of a report": (1, 3),
    }


PAIR = st.tuples(st.sampled_from("ab"), st.sampled_from("stu"))
ROWS = st.lists(
    st.tuples(
        st.integers(1, 2), st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("stu")
    ).map(lambda r: (f"{r[1]}{r[0]}", r[1], r[2], r[3])),
    max_size=10,
)  # fmt: skip


@REPEATABLE
@given(ROWS, ROWS, st.dictionaries(PAIR, st.booleans(), max_size=4))
def test_it_counts_what_the_definitions_say(
    sql: Any, originals: list[Row], shown: list[Row], gone: dict[tuple[str, str], bool]
) -> None:
    found = check(sql, originals, shown, [(*pair, own) for pair, own in gone.items()])
    seen = {(r, a, t) for r, _, a, t in shown}
    missing = {row for row in originals if (row[0], row[2], row[3]) not in seen}
    left = {(r, a) for r, _, a, _ in missing} - {(r, a) for r, a, _ in seen}
    assert found == {
        "suppressed value": (len(gone.keys() & {(c, t) for _, c, _, t in shown}), len(gone)),
        "value": (sum(not gone.get((c, t), False) for _, c, _, t in missing), len(set(originals))),
        "attribute of a report": (len(left), len({(r, a) for r, _, a, _ in originals})),
    }
