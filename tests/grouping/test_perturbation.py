"""The macros of the perturbing models: merging, scales, choices, and the checks afterwards."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import dp
from oracles.examples import REPEATABLE
from oracles.trees import trees

from srsql.schemas.hierarchy import build_hierarchy

pytestmark = pytest.mark.slow


@REPEATABLE
@given(trees(), st.data())
def test_merging_is_that_of_the_definition(sql: Any, tree: Any, data: Any) -> None:
    """Values of cases -> virtual node per group -> groups of equal node and pattern are one."""
    hierarchy = build_hierarchy(tree.rows())
    values = data.draw(st.lists(st.sampled_from(sorted(tree.above)), min_size=1, max_size=12))
    group_of = [data.draw(st.integers(0, 4)) for _ in values]
    dense = {g: n for n, g in enumerate(dict.fromkeys(group_of))}
    group_of = [dense[g] for g in group_of]
    known = [data.draw(st.booleans()) for _ in dense]
    members: dict[int, list[int]] = defaultdict(list)
    for case, group in enumerate(group_of):
        members[group].append(case)
    ordered = [members[g] for g in range(len(dense))]
    keys = [
        (known[g], tree.meeting([values[c] for c in cases]) if known[g] else None)
        for g, cases in enumerate(ordered)
    ]
    grouped = sql.table(
        "grouped",
        "case_no INTEGER, group_no INTEGER, pattern INTEGER",
        [(c, g, int(known[g])) for c, g in enumerate(group_of)][::-1],
    )
    numbers = [hierarchy.number[v] for v in values]
    hulls = sql.table(
        "hull",
        "group_no INTEGER, position INTEGER, low BIGINT, high BIGINT",
        [
            (g, 0, min(numbers[c] for c in cases), max(hierarchy.last[numbers[c]] for c in cases))
            for g, cases in enumerate(ordered)
            if known[g]
        ],
    )
    nodes = sql.table(
        "nodes",
        "position INTEGER, pre BIGINT, last BIGINT",
        [(0, pre, last) for pre, last in enumerate(hierarchy.last)],
    )
    sql.con.execute(
        "CREATE OR REPLACE TEMP TABLE covering AS "
        f"SELECT e.* FROM srsql.enclosing_node({hulls}, {nodes}) AS e"
    )
    found: dict[int, list[int]] = defaultdict(list)
    for group, merged in sql.rows(
        f"SELECT m.group_no, m.merged_no FROM srsql.merged_groups({grouped}, 'temp.main.covering')"
        " AS m"
    ):
        found[merged] += ordered[group]
    assert [sorted(found[n]) for n in range(len(found))] == dp.merged(ordered, keys)


NOISY = [  # case_no, group_no, position, low, high
    (0, 0, 1, 60, 60), (1, 0, 1, 61, 64), (2, 1, 1, 10, 10), (3, 1, 1, 50, 50), (2, 1, 0, 4, 4),
]  # fmt: skip


@pytest.mark.parametrize(
    ("calibration", "expected"),
    [
        # the group's range is 4 granules, floored at 5; that of the other one is 40; epsilon 2/3
        ("paper", {0: (60, 15, 2), 1: (62, 15, 2), 2: (10, 120, 2), 3: (50, 120, 2)}),
        ("sound", {c: (v, 1200, 2) for c, v in {0: 60, 1: 62, 2: 10, 3: 50}.items()}),
    ],
)
def test_scales_are_those_of_the_calibration(
    sql: Any, calibration: str, expected: dict[int, tuple[int, int, int]]
) -> None:
    noisy, plan = planned(sql, calibration)
    assert {
        case: tuple(rest)
        for case, *rest in sql.rows(f"SELECT d.* FROM srsql.laplace_draws({noisy}, {plan}, 1) AS d")
    } == expected


def test_what_a_choice_is_made_for(sql: Any) -> None:
    for calibration, expected in (("paper", [10, 50]), ("sound", [10])):
        noisy, plan = planned(sql, calibration)
        rows = sql.rows(f"SELECT d.* FROM srsql.choice_draws({noisy}, {plan}, 1) AS d")
        assert dict(rows)[2] == expected


def planned(sql: Any, calibration: str) -> tuple[str, str]:
    ends = "position INTEGER, low BIGINT, high BIGINT"
    noisy = sql.table("noisy", f"case_no INTEGER, group_no INTEGER, {ends}", NOISY)
    plan = sql.table(
        "plan",
        "position INTEGER, calibration VARCHAR, epsilon_num BIGINT, epsilon_den BIGINT,"
        " domain_low BIGINT, domain_high BIGINT",
        [(0, calibration, 2, 3, 0, 9), (1, calibration, 2, 3, 0, 400)],
    )
    return noisy, plan


def test_one_call_of_the_kernel_draws_once_for_every_row(sql: Any) -> None:
    """Read once into a table, each row has its own draw; read again, all are new."""
    draws = sql.table(
        "draws",
        "case_no INTEGER, numerator BIGINT, denominator BIGINT",
        [(case, 1000, 1) for case in range(3000)],
    )
    drawn = []
    for _ in range(2):
        sql.con.execute(
            f"CREATE OR REPLACE TEMP TABLE z AS SELECT z.* FROM srsql.laplace_noise({draws}, NULL)"
            " AS z"
        )
        twice = [sql.rows("SELECT * FROM temp.main.z ORDER BY ALL") for _ in range(2)]
        assert twice[0] == twice[1]
        drawn.append([noise for _, noise in twice[0]])
    assert len(set(drawn[0])) > 1000
    assert sum(a == b for a, b in zip(*drawn, strict=True)) < 30


def test_nothing_to_draw_draws_nothing(sql: Any) -> None:
    draws = sql.table("draws", "case_no INTEGER, numerator BIGINT, denominator BIGINT", [])
    assert sql.rows(f"SELECT z.* FROM srsql.laplace_noise({draws}, NULL) AS z") == []
    doms = sql.table("doms", "case_no INTEGER, dom BIGINT[]", [])
    assert (
        sql.rows(f"SELECT z.* FROM srsql.exponential_choice({doms}, [-1], 1, 1, 'sound', 1) AS z")
        == []
    )


PLACE, LAPLACE = ("faers", "main", "2011Q2"), ("discrete laplace", "sound")


@pytest.fixture
def catalog(own_sql: Any) -> Any:
    """Release 2 of a series: one group of cases a, b (new), c (old); position 0 is drawn."""
    insert = own_sql.insert
    insert(
        "srsql.release",
        [(n, "faers", "main", f"2011Q{n}", "m", "released", 2, 2, 1, "s", 1, "{}") for n in (1, 2)],
    )
    insert("srsql.member", [(1, 0, "c", 0, 1, True)])
    insert("srsql.member", [(2, n, case, 0, 1, case != "c") for n, case in enumerate("abc")])
    insert("srsql.case_flag", [(2, n, n < 2, False, None) for n in range(3)])
    insert("srsql.threshold", [(2, 0, "HIV", 1, 2, 1, True)])
    insert("srsql.case_term", [(2, 0, 0, 1, True)])
    insert("srsql.attribute", [(r, 0, "wt", "numeric", 400) for r in (1, 2)])
    insert("srsql.attribute", [(r, 1, "sex", "categorical", 0) for r in (1, 2)])
    insert("srsql.region", [(1, 0, 1, 2, 2), (2, 0, 1, 0, 2), (2, 0, 0, None, None)])
    insert("srsql.perturbation", [(2, 0, "discrete laplace", "sound", "secure", 1, 2)])
    insert("srsql.case_qid", [(2, n, 0, *((60, 60) if n else (None, None)), False)
                              for n in range(3)])  # fmt: skip
    insert("srsql.perturbed", [(2, 0, 0, None, None), (2, 1, 0, 3, 3), (2, 2, 0, 9, 9)])
    insert("srsql.budget_ledger", [(2, *PLACE, case, "wt", *LAPLACE, 1, 2) for case in "bc"])
    return own_sql


def verdict(sql: Any, check: str) -> list[bool]:
    return [row["passed"] for row in sql.records(f"SELECT * FROM srsql.{check}(2) ORDER BY scope")]


def test_a_sound_catalog_passes(catalog: Any) -> None:
    assert verdict(catalog, "check_internal") == [True, True]
    assert verdict(catalog, "check_draws") == [True]
    assert verdict(catalog, "check_earlier") == [True]


@pytest.mark.parametrize(
    ("fault", "check", "expected"),
    [
        ("UPDATE srsql.case_flag SET carrier = false WHERE case_no = 1", "check_internal",
         [False, False]),
        ("INSERT INTO srsql.case_term VALUES (2, 2, 0, 1, true)", "check_internal", [True, False]),
        ("DELETE FROM srsql.threshold", "check_internal", [True, False]),
        ("DELETE FROM srsql.perturbed WHERE case_no = 1", "check_draws", [False]),
        ("INSERT INTO srsql.perturbed VALUES (2, 1, 0, 4, 4)", "check_draws", [False]),
        ("INSERT INTO srsql.perturbed VALUES (2, 9, 0, 4, 4)", "check_draws", [False]),
        ("UPDATE srsql.perturbed SET low = 7, high = 7 WHERE case_no = 0", "check_draws", [False]),
        ("UPDATE srsql.perturbed SET low = NULL WHERE case_no = 1", "check_draws", [False]),
        ("DELETE FROM srsql.budget_ledger WHERE case_id = 'b'", "check_draws", [False]),
        ("INSERT INTO srsql.budget_ledger "
         "SELECT l.* FROM srsql.budget_ledger AS l WHERE l.case_id = 'b'", "check_draws", [False]),
        ("INSERT INTO srsql.budget_ledger SELECT l.* REPLACE ('z' AS case_id) "
         "FROM srsql.budget_ledger AS l WHERE l.case_id = 'b'", "check_draws", [False]),
        ("UPDATE srsql.budget_ledger SET series = 'x' WHERE case_id = 'b'", "check_draws", [False]),
        ("UPDATE srsql.budget_ledger SET attribute = NULL", "check_draws", [False]),
        ("UPDATE srsql.budget_ledger SET epsilon_den = 3 WHERE case_id = 'b'",
         "check_draws", [False]),
        ("UPDATE srsql.region SET low = 1, high = 1 WHERE release_id = 2 AND position = 1",
         "check_earlier", [False]),
        ("UPDATE srsql.region SET low = NULL, high = NULL WHERE release_id = 1", "check_earlier",
         [False]),
    ],
)  # fmt: skip
def test_each_fault_of_the_catalog_is_found(
    catalog: Any, fault: str, check: str, expected: list[bool]
) -> None:
    catalog.con.execute(fault)
    assert verdict(catalog, check) == expected


def test_charges_stay_whatever_becomes_of_the_release(catalog: Any) -> None:
    """Drafts count, and so does one that was removed: what it drew was seen."""
    charges = "SELECT c.charges, c.cases FROM srsql.charges('faers', 'main', NULL) AS c"
    once = [(*LAPLACE, 1, 2, 1)]
    for status in ("released", "superseded", "draft", None):
        if status is None:
            catalog.con.execute("DELETE FROM srsql.release WHERE release_id = 2")
        else:
            catalog.con.execute(
                "UPDATE srsql.release SET status = ? WHERE release_id = 2", [status]
            )
        assert catalog.rows(charges) == [(once, 2)]
        told = catalog.rows("SELECT DISTINCT l.status FROM srsql.ledger('faers', NULL) AS l")
        assert told == [(status or "removed",)]


CHARGES = st.lists(
    st.tuples(
        st.integers(1, 4),  # release_id
        st.sampled_from(["faers", "vaers"]),
        st.sampled_from(["main", "other", "third"]),
        st.just("2011Q1"),
        st.sampled_from("abcd"),
        st.sampled_from(["wt", "sex", None]),
        st.sampled_from(["discrete laplace", "ipa"]),
        st.sampled_from(["sound", "paper", "nominal"]),
        st.integers(1, 3),
        st.integers(1, 3),
    ),
    max_size=14,
)


@REPEATABLE
@given(
    ledger=CHARGES,
    series=st.sampled_from([None, "main", "other"]),
    own=st.sampled_from([None, 1, 2]),
)
def test_the_ledger_adds_up_what_every_series_charged_to_a_case(
    sql: Any, ledger: list[tuple[Any, ...]], series: str | None, own: int | None
) -> None:
    sql.con.execute("DELETE FROM srsql.budget_ledger")
    sql.insert("srsql.budget_ledger", ledger)
    of_dataset = [row for row in ledger if row[1] == "faers"]
    counted = [row for row in of_dataset if series in (None, row[2])]
    listed = sql.rows("SELECT l.* FROM srsql.ledger('faers', ?) AS l", [series])
    assert Counter(listed) == Counter(
        (row[0], row[2], row[3], "removed", *row[4:]) for row in counted
    )
    charged = {row[4] for row in of_dataset if own in (None, row[0])}
    expected: dict[str, Fraction] = defaultdict(Fraction)
    for row in counted:
        if row[4] in charged:
            expected[row[4]] += Fraction(row[8], row[9])
    rows = sql.rows("SELECT c.* FROM srsql.charges('faers', ?, ?) AS c", [series, own])
    sums = [
        (sum(Fraction(num, den) * times for *_, num, den, times in charges), cases)
        for charges, cases, _ in rows
    ]
    assert sum((Counter({amount: cases}) for amount, cases in sums), Counter()) == Counter(
        expected.values()
    )
    assert sum(cases for _, cases in sums) == len(expected)
