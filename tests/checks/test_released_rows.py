"""The checks of a release pass on good rows and fail on every kind of breach."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.ms import inferred

ROWS = "region VARCHAR, case_id VARCHAR, carries BOOLEAN"
VALUES = "case_id VARCHAR, term VARCHAR"
THETA = "term VARCHAR, theta_num BIGINT, theta_den BIGINT"
Pairs = Iterable[tuple[str, str]]


def run(sql: Any, call: str) -> dict[str, Any]:
    (row,) = sql.records(f"FROM srsql.{call}")
    assert list(row) == [
        "release", "measure", "scope", "violating", "total", "ratio", "threshold", "passed",
    ]  # fmt: skip
    assert row["measure"] == call.partition("(")[0]
    assert row["ratio"] == (row["violating"] / row["total"] if row["total"] else None)
    assert row["passed"] is (row["violating"] == 0)
    return row


def _rows(sql: Any, rows: Pairs) -> str:
    return sql.table("seen_row", ROWS, [(*row, True) for row in rows])


def check_k(sql: Any, rows: Pairs, k: int) -> dict[str, Any]:
    return run(sql, f"check_k({_rows(sql, rows)}, {k}, 9)")


def check_theta(sql: Any, rows: Pairs, values: Pairs, thetas: Mapping[str, str]) -> dict[str, Any]:
    tables = (
        _rows(sql, rows),
        sql.table("seen_value", VALUES, values),
        _thetas(sql, thetas),
    )
    return run(sql, f"check_theta({', '.join(tables)}, 9)")


def check_knowledge(
    sql: Any,
    rows: Pairs,
    values: Pairs,
    drugs: Pairs,
    knowledge: Mapping[str, list[str]],
    thetas: Mapping[str, str],
    keys: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """``keys``: spelling of a drug in ``knowledge`` -> its key; without one it is the key."""
    pairs = [
        (spelling, (keys or {}).get(spelling, spelling), disease)
        for spelling, diseases in knowledge.items()
        for disease in diseases
    ]
    tables = (
        _rows(sql, rows),
        sql.table("seen_value", VALUES, values),
        sql.table("seen_drug", "case_id VARCHAR, drug VARCHAR", drugs),
        sql.table("seen_knowledge", "spelling VARCHAR, drug VARCHAR, disease VARCHAR", pairs),
        _thetas(sql, thetas),
    )
    return run(sql, f"check_theta_knowledge({', '.join(tables)}, 9)")


def check_complete(
    sql: Any, quarter: Pairs, released: Pairs, withheld: Iterable[str]
) -> dict[str, Any]:
    tables = (
        sql.table("quarter", "report_id VARCHAR, case_id VARCHAR", quarter),
        sql.table("released", "report_id VARCHAR, case_id VARCHAR", released),
        sql.table("withheld", "case_id VARCHAR", [(case,) for case in withheld]),
    )
    return run(sql, f"check_complete({', '.join(tables)}, 9)")


def _thetas(sql: Any, thetas: Mapping[str, str]) -> str:
    exact = {term: Fraction(theta) for term, theta in thetas.items()}
    rows = [(term, t.numerator, t.denominator) for term, t in exact.items()]
    return sql.table("seen_theta", THETA, rows)


# Two regions of three cases; case b has two reports.
PLACED = [("x", "a"), ("x", "b"), ("x", "b"), ("x", "c"), ("y", "d"), ("y", "e"), ("y", "f")]


def test_regions_of_k_cases_pass_and_the_row_says_so(sql: Any) -> None:
    assert check_k(sql, PLACED, 3) == {
        "release": 9, "measure": "check_k", "scope": "published region", "violating": 0.0,
        "total": 2.0, "ratio": 0.0, "threshold": 3.0, "passed": True,
    }  # fmt: skip


def test_a_region_with_k_minus_1_cases_fails(sql: Any) -> None:
    row = check_k(sql, PLACED[:-1], 3)
    assert (row["violating"], row["total"], row["passed"]) == (1, 2, False)


def test_reports_of_the_same_case_do_not_make_up_for_a_missing_case(sql: Any) -> None:
    rows = [("x", "a"), ("x", "a"), ("x", "a"), ("x", "b")]
    assert not check_k(sql, rows, 3)["passed"]


def test_a_value_at_exactly_its_threshold_passes(sql: Any) -> None:
    assert check_theta(sql, PLACED, [("a", "s"), ("d", "s")], {"s": "1/3"})["passed"]
    five = [("x", case) for case in "abcde"]
    assert check_theta(sql, five, [(case, "s") for case in "abc"], {"s": "0.6"})["passed"]


def test_a_value_over_its_threshold_by_one_case_fails(sql: Any) -> None:
    row = check_theta(sql, PLACED, [("a", "s"), ("b", "s"), ("d", "s")], {"s": "1/3"})
    assert (row["violating"], row["total"], row["passed"]) == (1, 2, False)


def test_the_same_value_twice_in_a_case_counts_once(sql: Any) -> None:
    assert check_theta(sql, PLACED, [("b", "s"), ("b", "s")], {"s": "1/3"})["passed"]


def test_a_released_value_without_a_threshold_fails(sql: Any) -> None:
    assert not check_theta(sql, PLACED, [("a", "s")], {"t": "1"})["passed"]


def test_a_released_value_of_threshold_zero_fails(sql: Any) -> None:
    assert not check_theta(sql, PLACED, [("a", "s")], {"s": "0"})["passed"]


def test_regions_without_values_pass(sql: Any) -> None:
    row = check_theta(sql, PLACED, [], {})
    assert (row["violating"], row["total"]) == (0, 2)


case_ids = st.sampled_from("abcdefgh")
placements = st.dictionaries(case_ids, st.sampled_from("xyz"), max_size=8)
some_values = st.sets(st.tuples(case_ids, st.sampled_from("stu")), max_size=10)
some_thetas = st.dictionaries(
    st.sampled_from("stu"), st.sampled_from(["0", "1/3", "1/2", "2/3", "1"])
)


@REPEATABLE
@given(placed=placements, values=some_values, thetas=some_thetas, k=st.integers(1, 4))
def test_the_checks_of_k_and_theta_are_definition_3_on_any_rows(
    sql: Any,
    placed: dict[str, str],
    values: set[tuple[str, str]],
    thetas: dict[str, str],
    k: int,
) -> None:
    crowd = defaultdict(set)
    for case, region in placed.items():
        crowd[region].add(case)
    rows = [(region, case) for case, region in placed.items()]
    small = sum(len(cases) < k for cases in crowd.values())
    assert check_k(sql, rows, k)["violating"] == small
    breached = 0
    for cases in crowd.values():
        held = {term for case, term in values if case in cases}
        shares = {
            t: Fraction(len({c for c in cases if (c, t) in values}), len(cases)) for t in held
        }
        breached += any(t not in thetas or s > Fraction(thetas[t]) for t, s in shares.items())
    assert check_theta(sql, rows, values, thetas)["violating"] == breached


KNOWLEDGE = {"D1": ["s", "t"], "D2": ["s", "u", "v"], "D3": ["w"]}
LOOSE = dict.fromkeys("stuvw", "1")


def test_suspicion_by_drugs_below_the_threshold_passes(sql: Any) -> None:
    """a and d take D1: 1/2 of three cases is 1/6 each."""
    drugs = [("a", "D1"), ("d", "D1")]
    assert check_knowledge(sql, PLACED, [], drugs, KNOWLEDGE, LOOSE | {"s": "1/6"})["passed"]


def test_suspicion_by_drugs_above_the_threshold_fails(sql: Any) -> None:
    """D1 and D2 together suggest s with 1 - 1/2 * 2/3 = 2/3, that is 2/9 of three cases."""
    drugs, thetas = [("a", "D1"), ("a", "D2")], LOOSE | {"s": "0.222"}
    assert not check_knowledge(sql, PLACED, [], drugs, KNOWLEDGE, thetas)["passed"]
    assert check_knowledge(sql, PLACED, [], drugs, KNOWLEDGE, LOOSE | {"s": "2/9"})["passed"]


def test_suspicion_adds_to_what_the_cases_show(sql: Any) -> None:
    """a shows s, b is suspected of it: 1 + 1/2 of three cases."""
    values, drugs = [("a", "s")], [("b", "D1")]
    thetas = LOOSE | {"s": "0.4"}
    assert check_theta(sql, PLACED, values, thetas)["passed"]
    assert not check_knowledge(sql, PLACED, values, drugs, KNOWLEDGE, thetas)["passed"]


def test_a_case_that_shows_a_value_is_not_suspected_of_it_on_top(sql: Any) -> None:
    values, drugs = [("a", "s")], [("a", "D1"), ("a", "D2")]
    assert check_knowledge(sql, PLACED, values, drugs, KNOWLEDGE, LOOSE | {"s": "1/3"})["passed"]


def test_a_drug_for_one_disease_only_proves_it(sql: Any) -> None:
    drugs = [("a", "D3")]
    assert check_knowledge(sql, PLACED, [], drugs, KNOWLEDGE, LOOSE | {"w": "1/3"})["passed"]
    assert not check_knowledge(sql, PLACED, [], drugs, KNOWLEDGE, LOOSE | {"w": "0.33"})["passed"]


def test_a_suspected_value_without_a_threshold_fails(sql: Any) -> None:
    thetas = dict.fromkeys("tuvw", "1")
    assert not check_knowledge(sql, PLACED, [], [("a", "D1")], KNOWLEDGE, thetas)["passed"]


def test_of_a_drug_with_several_spellings_the_one_that_makes_a_disease_likeliest_counts(
    sql: Any,
) -> None:
    """All of D1 together would suggest s with 1/3; the spelling D1a suggests it for certain."""
    known, keys = {"D1a": ["s"], "D1b": ["t", "u"]}, {"D1a": "D1", "D1b": "D1"}
    for least, passes in (("0.33", False), ("1/3", True)):
        thetas = LOOSE | {"s": least}
        row = check_knowledge(sql, PLACED, [], [("a", "D1")], known, thetas, keys)
        assert row["passed"] is passes
    for least, passes in (("0.16", False), ("1/6", True)):
        thetas = LOOSE | {"t": least, "s": "1/3"}
        row = check_knowledge(sql, PLACED, [], [("a", "D1")], known, thetas, keys)
        assert row["passed"] is passes


def test_a_drug_nobody_knows_anything_about_suggests_nothing(sql: Any) -> None:
    assert check_knowledge(sql, PLACED, [], [("a", "D9")], KNOWLEDGE, {})["passed"]


@REPEATABLE
@given(
    placed=placements,
    values=some_values,
    drugs=st.sets(st.tuples(case_ids, st.sampled_from(["D1", "D2", "D3", "D9"])), max_size=8),
    thetas=st.dictionaries(
        st.sampled_from("stuvw"), st.sampled_from(["1/6", "2/9", "1/3", "1/2", "1"])
    ),
)
def test_the_check_with_knowledge_is_definition_3_with_e_on_any_rows(
    sql: Any,
    placed: dict[str, str],
    values: set[tuple[str, str]],
    drugs: set[tuple[str, str]],
    thetas: dict[str, str],
) -> None:
    belief = {}
    for case in placed:
        belief[case] = inferred({d for c, d in drugs if c == case}, KNOWLEDGE)
        belief[case] |= {term: Fraction(1) for c, term in values if c == case}
    breached = 0
    for region in set(placed.values()):
        cases = [case for case in placed if placed[case] == region]
        sums: dict[str, Fraction] = defaultdict(Fraction)
        for case in cases:
            for term, probability in belief[case].items():
                sums[term] += probability
        breached += any(
            t not in thetas or total > Fraction(thetas[t]) * len(cases) for t, total in sums.items()
        )
    rows = [(region, case) for case, region in placed.items()]
    row = check_knowledge(sql, rows, values, drugs, KNOWLEDGE, thetas)
    assert (row["violating"], row["total"]) == (breached, len(set(placed.values())))


QUARTER = [("1", "a"), ("2", "a"), ("3", "b"), ("4", "c")]


def test_released_and_withheld_reports_that_make_up_the_quarter_pass(sql: Any) -> None:
    row = check_complete(sql, QUARTER, QUARTER[:3], ["c"])
    assert (row["violating"], row["total"], row["passed"]) == (0, 4, True)


@pytest.mark.parametrize(
    ("released", "withheld"),
    [
        pytest.param(QUARTER[:2], ["c"], id="a case is lost"),
        pytest.param([QUARTER[0], QUARTER[2]], ["c"], id="one report of a released case is lost"),
        pytest.param(QUARTER, ["c"], id="a case is both released and withheld"),
        pytest.param([*QUARTER[:3], QUARTER[0]], ["c"], id="a report is released twice"),
        pytest.param([*QUARTER[:3], ("9", "z")], ["c"], id="a report is not of the quarter"),
        pytest.param([*QUARTER[:2], ("3", "c")], ["c"], id="a report has another case's id"),
        pytest.param(QUARTER[:3], ["c", "c"], id="a case is withheld twice"),
    ],
)
def test_books_that_do_not_balance_fail(
    sql: Any, released: list[tuple[str, str]], withheld: list[str]
) -> None:
    assert not check_complete(sql, QUARTER, released, withheld)["passed"]


def test_books_balance_by_numbers_as_by_texts(sql: Any) -> None:
    quarter = [(1, 7), (2, 7), (3, 8), (4, 9)]
    numbers = "report_id BIGINT, case_id BIGINT"
    tables = [sql.table("quarter", numbers, quarter), sql.table("released", numbers, quarter[:3])]
    for withheld, counted in (["9"], (0, 4)), (["9", "forgotten:9"], (1, 5)), (["9", "9"], (1, 4)):
        left = sql.table("withheld", "case_id VARCHAR", [(case,) for case in withheld])
        row = run(sql, f"check_complete({', '.join([*tables, left])}, 9)")
        assert (row["violating"], row["total"]) == counted


def test_a_case_withheld_that_is_not_of_the_quarter_fails(sql: Any) -> None:
    assert not check_complete(sql, QUARTER, QUARTER[:3], ["c", "z"])["passed"]
