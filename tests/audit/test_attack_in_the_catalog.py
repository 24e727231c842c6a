"""What the macros of an attack make of the catalog; each exclusion set has a file of its own."""

from __future__ import annotations

from typing import Any

from support.catalog import publish


def test_the_attacker_has_what_was_ever_exposed_in_the_series(exposed_series: Any) -> None:
    rows = exposed_series.rows(
        "SELECT release_id, earlier, next, previous FROM srsql.attack_releases(3) ORDER BY 1"
    )
    assert rows == [
        (1, True, False, True),
        (2, True, False, False),
        (4, False, True, False),
    ]


def test_the_quarter_behind_a_gap_is_nobody_s_neighbour(own_sql: Any) -> None:
    for number, quarter in enumerate(("2022Q4", "2025Q4", "2026Q1", "extra"), start=1):
        publish(own_sql, number, quarter, {0: (((10, 20), (1, 1)), "ab")})
    neighbours = [
        own_sql.rows(
            "SELECT release_id, next, previous FROM srsql.attack_releases($1)"
            " WHERE next OR previous ORDER BY 1",
            [number],
        )
        for number in range(1, 5)
    ]
    assert neighbours == [
        [],
        [(3, True, False)],
        [(2, False, True), (4, True, False)],  # a label without a calendar: by order
        [(3, False, True)],
    ]


def test_candidates_are_covered_and_know_their_neighbouring_quarters(exposed_series: Any) -> None:
    assert exposed_series.rows(
        "SELECT case_id, group_id, is_ss, in_next, in_previous FROM found ORDER BY case_no"
    ) == [
        ("a", 0, None, True, True),
        ("b", 0, None, False, True),
        ("c", 0, None, True, False),
        ("d", 0, None, False, False),
    ]
    assert exposed_series.rows(
        "SELECT case_id FROM srsql.attack_candidates('temp.main.knows', 1) ORDER BY 1"
    ) == [("a",), ("b",)]
    exposed_series.table("knows", "position INTEGER, low BIGINT, high BIGINT", [(0, 30, 30)])
    assert exposed_series.rows(
        "SELECT case_id FROM srsql.attack_candidates('temp.main.knows', 1) ORDER BY 1"
    ) == [("b",)]


def test_confidence_counts_what_drugs_suggest_and_is_compared_exactly(exposed_series: Any) -> None:
    exposed_series.insert(
        "srsql.threshold",
        [(3, 0, "FLU", 5, 8, 1, True), (3, 1, "HIV", 1, 4, 2, True), (3, 2, "RASH", 0, 0, 1, True)],
    )
    exposed_series.insert(
        "srsql.case_term",
        [(3, 0, 0, 4, True), (3, 1, 0, 1, False), (3, 0, 1, 2, False),
         (3, 1, 1, 1, False), (3, 2, 1, 4, True), (3, 1, 2, 4, True)],
    )  # fmt: skip
    exposed_series.table("left_over", "case_no INTEGER", [(0,), (1,)])
    rows = exposed_series.rows(
        "SELECT term, holders, confidence, theta_num, theta_den, exceeds "
        "FROM srsql.attack_inference('temp.main.left_over', 3) ORDER BY term"
    )
    assert rows == [
        ("FLU", 1, 5 / 8, 5, 8, False),
        ("HIV", 0, 3 / 8, 1, 4, True),
        ("RASH", 1, 1 / 2, 0, 0, None),
    ]
