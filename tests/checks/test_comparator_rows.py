"""What a comparator's release keeps is judged from its rows, and every breach of it is found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.comparators import keeps_alpha, keeps_values
from oracles.examples import REPEATABLE

ATTRIBUTES = ("indi_pt", "pt")
Rows = Mapping[str, str]
"""report -> region."""
Held = set[tuple[str, str, str]]
"""(report, attribute, term)."""


def run(sql: Any, name: str, rows: Rows, held: Held | None, *arguments: object) -> dict[str, Any]:
    tables = [
        sql.table(
            "seen_row", "region VARCHAR, report_id VARCHAR", [(g, r) for r, g in rows.items()]
        )
    ]
    if held is not None:
        columns = "report_id VARCHAR, attribute VARCHAR, term VARCHAR"
        tables.append(sql.table("seen_value", columns, held))
    (row,) = sql.records(f"FROM srsql.{name}({', '.join([*tables, *map(str, arguments)])}, 9)")
    assert list(row) == [
        "release", "measure", "scope", "violating", "total", "ratio", "threshold", "passed",
    ]  # fmt: skip
    assert (row["measure"], row["total"]) == (name, len(set(rows.values())))
    assert row["passed"] is (row["violating"] == 0)
    return row


placements = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("xy"), max_size=8)
holdings = st.sets(
    st.tuples(
        st.sampled_from("abcdefgh"), st.sampled_from(ATTRIBUTES), st.sampled_from(["S", "T", "U"])
    ),
    max_size=20,
)


@pytest.mark.slow
@REPEATABLE
@given(
    rows=placements,
    held=holdings,
    k=st.integers(1, 4),
    alpha=st.sampled_from(["1/3", "1/2", "2/3", "1"]),
)
def test_the_checks_are_the_definitions_on_any_rows(
    sql: Any, rows: Rows, held: Held, k: int, alpha: str
) -> None:
    groups: dict[str, list[str]] = defaultdict(list)
    for report, region in rows.items():
        groups[region].append(report)
    small = sum(len(reports) < k for reports in groups.values())
    assert run(sql, "check_reports", rows, None, k)["violating"] == small
    share = Fraction(alpha)
    frequent = sum(
        not keeps_alpha([{t for r, _, t in held if r == one} for one in reports], share)
        for reports in groups.values()
    )
    found = run(sql, "check_alpha", rows, held, share.numerator, share.denominator)
    assert found["violating"] == frequent
    poor = sum(
        not keeps_values(
            [
                [{t for r, x, t in held if (r, x) == (one, a)} for a in ATTRIBUTES]
                for one in reports
            ],
            2,
            k,
        )
        for reports in groups.values()
    )
    assert run(sql, "check_values", rows, held, list(ATTRIBUTES), k)["violating"] == poor


def test_a_region_in_which_nobody_has_an_attribute_is_poor_in_it(sql: Any) -> None:
    held = {("a", "pt", "S"), ("b", "pt", "T")}
    rows = {"a": "x", "b": "x"}
    assert not run(sql, "check_values", rows, held, list(ATTRIBUTES), 2)["passed"]
    assert run(sql, "check_values", rows, held, ["pt"], 2)["passed"]


@pytest.mark.parametrize(("alpha", "passed"), [("2, 5", True), ("399, 1000", False)])
def test_a_value_at_exactly_alpha_passes(sql: Any, alpha: str, passed: bool) -> None:
    rows = dict.fromkeys("abcde", "x")
    held = {("a", "pt", "S"), ("a", "indi_pt", "S"), ("b", "pt", "S")}
    assert run(sql, "check_alpha", rows, held, alpha)["passed"] is passed
