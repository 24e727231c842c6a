"""What the macros of an attack make of the catalog; the whole attack is in tests/properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

Region = tuple[tuple[int | None, int | None], ...]


def publish(
    sql: Any,
    release_id: int,
    quarter: str,
    groups: Mapping[int, tuple[Region, Iterable[str]]],
    *,
    status: str = "released",
    series: str = "main",
) -> None:
    """Group -> its region and its cases; a case is numbered by its place in the release."""
    sql.insert("srsql.release", [(release_id, "d", series, quarter, "ms", status, 2, 2, 4,
                                  "", None, "{}")])  # fmt: skip
    members = [(group, case) for group, (_, cases) in groups.items() for case in cases]
    sql.insert(
        "srsql.member",
        [
            (release_id, number, case, group, 1, True)
            for number, (group, case) in enumerate(members)
        ],
    )
    sql.insert(
        "srsql.region",
        [
            (release_id, group, position, *ends)
            for group, (region, _) in groups.items()
            for position, ends in enumerate(region)
        ],
    )


@pytest.fixture
def series(own_sql: Any) -> Any:
    """Case a in two groups over time, b and c beside it, d in a draft and in another series."""
    anywhere: Region = ((None, None), (0, 2))
    publish(own_sql, 1, "2011Q1", {0: (((10, 20), (1, 1)), "a"), 1: (anywhere, "b")})
    publish(own_sql, 2, "2011Q2", {0: (((15, 25), (1, 1)), "abc"), 1: (((40, 50), (2, 2)), "d")},
            status="superseded")  # fmt: skip
    publish(own_sql, 3, "2011Q2", {0: (((15, 25), (0, 2)), "abcd")})
    publish(own_sql, 4, "2011Q4", {0: (((24, 26), (1, 1)), "ac")})
    publish(own_sql, 5, "2011Q3", {0: (((0, 1), (1, 1)), "abcd")}, status="draft")
    publish(own_sql, 6, "2011Q3", {0: (((0, 1), (1, 1)), "abcd")}, series="other")
    own_sql.table("knows", "position INTEGER, low BIGINT, high BIGINT", [(0, 18, 18), (1, 1, 1)])
    own_sql.rows(
        "CREATE OR REPLACE TEMP TABLE found AS SELECT * FROM "
        "srsql.attack_candidates('temp.main.knows', 3)"
    )
    return own_sql


def test_the_attacker_has_what_was_ever_exposed_in_the_series(series: Any) -> None:
    rows = series.rows(
        "SELECT release_id, earlier, next, previous FROM srsql.attack_releases(3) ORDER BY 1"
    )
    assert rows == [
        (1, True, False, True),
        (2, True, False, False),
        (4, False, True, False),
    ]


def test_candidates_are_covered_and_know_their_neighbouring_quarters(series: Any) -> None:
    assert series.rows(
        "SELECT case_id, group_id, is_ss, in_next, in_previous FROM found ORDER BY case_no"
    ) == [
        ("a", 0, None, True, True),
        ("b", 0, None, False, True),
        ("c", 0, None, True, False),
        ("d", 0, None, False, False),
    ]
    assert series.rows(
        "SELECT case_id FROM srsql.attack_candidates('temp.main.knows', 1) ORDER BY 1"
    ) == [("a",), ("b",)]
    series.table("knows", "position INTEGER, low BIGINT, high BIGINT", [(0, 30, 30)])
    assert series.rows(
        "SELECT case_id FROM srsql.attack_candidates('temp.main.knows', 1) ORDER BY 1"
    ) == [("b",)]


def test_every_reason_of_an_exclusion_is_a_row(series: Any) -> None:
    rows = series.rows(
        "SELECT e.exclusion, f.case_id, e.release_id, e.position, e.low, e.high "
        "FROM srsql.attack_exclusions('temp.main.knows', 'temp.main.found', 3) AS e "
        "INNER JOIN found AS f USING (case_no) ORDER BY ALL"
    )
    assert rows == [
        ("B", "d", 2, 0, 40, 50),
        ("B", "d", 2, 1, 2, 2),
        ("F", "a", 4, 0, 24, 26),
        ("F", "c", 4, 0, 24, 26),
        ("L", "a", 1, None, None, None),
        ("L", "a", 2, None, None, None),
        ("L", "b", 1, None, None, None),
        ("L", "b", 2, None, None, None),
        ("L", "c", 2, None, None, None),
        ("L", "d", 2, None, None, None),
        ("MD", "a", 4, None, None, None),
        ("MD", "c", 4, None, None, None),
    ]


def test_confidence_counts_what_drugs_suggest_and_is_compared_exactly(series: Any) -> None:
    series.insert("srsql.threshold", [(3, 0, "FLU", 5, 8, 1, True), (3, 1, "HIV", 1, 4, 2, True),
                                      (3, 2, "RASH", 0, 0, 1, True)])  # fmt: skip
    series.insert("srsql.case_term", [(3, 0, 0, 4, True), (3, 1, 0, 1, False), (3, 0, 1, 2, False),
                                      (3, 1, 1, 1, False), (3, 2, 1, 4, True),
                                      (3, 1, 2, 4, True)])  # fmt: skip
    series.table("left_over", "case_no INTEGER", [(0,), (1,)])
    rows = series.rows(
        "SELECT term, holders, confidence, theta_num, theta_den, exceeds "
        "FROM srsql.attack_inference('temp.main.left_over', 3) ORDER BY term"
    )
    assert rows == [
        ("FLU", 1, 5 / 8, 5, 8, False),
        ("HIV", 0, 3 / 8, 1, 4, True),
        ("RASH", 1, 1 / 2, 0, 0, None),
    ]
