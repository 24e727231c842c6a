"""The exclusion sets of a target together: who remains, what they hold, and which group is shown.

Sizes that the macros add up are compared with sets of cases in Python.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from oracles.examples import REPEATABLE
from support.groups import Groups, Tables, groups
from support.histories import Series, histories, series


def exclusion_sets(sql: Any, tables: Tables) -> str:
    """The table ``audit_set`` of the sizes; its name as a macro takes it."""
    sql.rows(
        "CREATE OR REPLACE TEMP TABLE audit_set AS FROM srsql.exclusion_sets"
        f"({tables.targets}, {tables.crowds}, {tables.pairs})"
    )
    return "'temp.main.audit_set'"


@pytest.mark.slow
@REPEATABLE
@given(world=groups())
def test_the_sizes_are_those_of_the_sets_and_of_what_their_union_leaves(
    sql: Any, world: Groups
) -> None:
    exclusion_sets(sql, Tables(sql, world))
    rows = sql.records("FROM temp.main.audit_set")
    assert sorted(row["target_no"] for row in rows) == list(range(len(world.targets)))
    for row in rows:
        target = world.targets[row["target_no"]]
        sets = world.excluded(target)
        assert {name: row[name] for name in sets} == {name: len(s) for name, s in sets.items()}
        assert row["candidates"] == len(world.groups[target.group])
        assert row["remaining"] == len(world.remaining(target))


@REPEATABLE
@given(world=groups())
def test_p_counts_who_remains_in_the_neighbouring_quarter_of_a_target_that_is_there(
    sql: Any, world: Groups
) -> None:
    """P (SPEC section 9): those who stay with a target that stays."""
    exclusion_sets(sql, Tables(sql, world))
    rows = sql.records("FROM temp.main.audit_set")
    for row in rows:
        target = world.targets[row["target_no"]]
        left = world.remaining(target).values()
        on, back = (
            sum(case.in_next_quarter for case in left),
            sum(case.in_previous_quarter for case in left),
        )
        assert row["staying"] == (on if target.in_next_quarter else None)
        assert row["staying_back"] == (back if target.in_previous_quarter else None)


@REPEATABLE
@given(made=series())
def test_a_case_came_if_a_release_of_the_previous_quarter_has_it(sql: Any, made: Series) -> None:
    for (place, case), row in histories(sql, made).items():
        before = made[place].quarter - 1
        assert row["in_previous_quarter"] == any(
            one.quarter == before and case in one.group_of for one in made
        )


@pytest.mark.parametrize(("is_new", "stopped"), list(product([False, True], repeat=2)))
def test_what_is_left_counts_those_in_l_and_in_md_once(
    sql: Any, is_new: bool, stopped: bool
) -> None:
    old, next_quarter = set(range(5)), set(range(3, 9))
    gone = (old if is_new else set()) | (next_quarter if stopped else set())
    rows = sql.rows(
        "SELECT srsql.remaining_after_l_md(?, ?, ?, ?, ?, ?)",
        [12, len(old), len(next_quarter), len(old & next_quarter), is_new, stopped],
    )
    assert rows == [(12 - len(gone),)]


@REPEATABLE
@given(world=groups())
def test_shares_are_those_of_the_cases_that_remain(sql: Any, world: Groups) -> None:
    tables = Tables(sql, world)
    rows = sql.records(
        f"FROM srsql.remaining_shares{tables.of_shares(exclusion_sets(sql, tables))}"
    )
    found: dict[int, dict[int, Fraction]] = {}
    for row in rows:
        bound = world.bounds[row["term_no"]]
        assert (row["theta_num"], row["theta_den"]) == (bound.numerator, bound.denominator)
        assert row["group_id"] == world.targets[row["target_no"]].group
        share = Fraction(int(row["weight"]), int(row["whole"]))
        assert found.setdefault(row["target_no"], {}).setdefault(row["term_no"], share) == share
    expected = {n: shares for n in range(len(world.targets)) if (shares := world.shares(n))}
    assert found == expected


@REPEATABLE
@given(world=groups())
def test_the_greatest_share_is_that_of_a_value_with_a_bound_over_all_targets(
    sql: Any, world: Groups
) -> None:
    tables = Tables(sql, world)
    rows = sql.records(f"FROM srsql.greatest_share{tables.of_shares(exclusion_sets(sql, tables))}")
    shares = [
        (share, -term)
        for n in range(len(world.targets))
        for term, share in world.shares(n).items()
        if term >= 0
    ]
    assert [(Fraction(int(row["weight"]), int(row["whole"])), -row["term_no"]) for row in rows] == (
        [max(shares)] if shares else []
    )


@REPEATABLE
@given(world=groups())
def test_the_fewest_that_remain_are_the_least_over_all_targets(sql: Any, world: Groups) -> None:
    sets = exclusion_sets(sql, Tables(sql, world))
    least = min(len(world.remaining(target)) for target in world.targets)
    assert sql.rows(f"FROM srsql.fewest_remaining({sets})") == [(least,)]


@pytest.mark.slow
@REPEATABLE
@given(world=groups())
def test_the_worst_groups_are_those_in_danger_by_the_fewest_who_remain(
    sql: Any, world: Groups
) -> None:
    """Dangerous here: fewer than two remain, or a share above its bound."""
    tables = Tables(sql, world)
    sets = exclusion_sets(sql, tables)
    breaches = sql.table(
        "audit_breach",
        "target_no INTEGER, group_id INTEGER, term_no INTEGER",
        [
            (n, target.group, term)
            for n, target in enumerate(world.targets)
            for term, share in world.shares(n).items()
            if share > world.bounds[term]
        ],
    )
    sql.rows(
        "CREATE OR REPLACE TEMP TABLE audit_danger AS "
        f"FROM srsql.dangerous_groups({sets}, {breaches}, 2)"
    )
    danger = {row["group_id"]: row for row in sql.records("FROM temp.main.audit_danger")}
    worst: dict[int, tuple[int, int]] = {}
    for n, target in enumerate(world.targets):
        left = (len(world.remaining(target)), n)
        worst[target.group] = min(worst.get(target.group, left), left)
    flags = {g: [danger.get(g, {}).get(f, False) for f in ("dig", "dsg", "ssg")] for g in worst}
    order = sorted(worst, key=lambda g: (not any(flags[g]), worst[g][0], g))
    for with_safe in (False, True):
        shown = [g for place, g in enumerate(order, 1) if any(flags[g]) and place <= 2]
        if with_safe and not shown:
            shown = order[:1]
        rows = sql.records(
            f"FROM srsql.worst_groups('temp.main.audit_danger', {sets}, 2, {with_safe})"
            " ORDER BY place"
        )
        assert [(row["place"], row["group_id"]) for row in rows] == list(enumerate(shown, 1))
        for row in rows:
            left, number = worst[row["group_id"]]
            assert (row["remaining"], row["target_no"]) == (left, number)
            assert [row["dig"], row["dsg"], row["ssg"]] == flags[row["group_id"]]
            sets_of = world.excluded(world.targets[number])
            assert {name: row[name] for name in sets_of} == {
                name: len(s) for name, s in sets_of.items()
            }


@REPEATABLE
@given(world=groups())
def test_what_stands_out_is_above_its_bound_or_else_the_nearest_to_it(
    sql: Any, world: Groups
) -> None:
    tables = Tables(sql, world)
    sql.rows(
        "CREATE OR REPLACE TEMP TABLE audit_share AS "
        f"FROM srsql.remaining_shares{tables.of_shares(exclusion_sets(sql, tables))}"
    )
    sql.rows("DELETE FROM srsql.threshold")
    sql.insert("srsql.threshold", [(5, t, f"value {t}", 1, 2, 9, True) for t in range(3)])
    members = sql.table(
        "audit_member",
        "case_no INTEGER, case_id VARCHAR",
        [(n, f"case {n}") for n in range(len(world.targets))],
    )
    rows = sql.records(
        f"FROM srsql.outstanding('temp.main.audit_share', {tables.targets}, {members}, 5)"
    )
    ranked: dict[int, list[tuple[Any, ...]]] = {}
    ss: dict[int, Fraction] = {}
    for n, target in enumerate(world.targets):
        for term, share in world.shares(n).items():
            bound = world.bounds[term]
            if term == -1:
                ss[target.group] = max(share, ss.get(target.group, share))
            elif share > 0:
                ranked.setdefault(target.group, []).append(
                    (share <= bound, bound - share, -share, term, n)
                )
    assert {row["group_id"] for row in rows} == ranked.keys() | ss.keys()
    for row in rows:
        group = row["group_id"]
        assert row["ss_share"] == (pytest.approx(float(ss[group])) if group in ss else None)
        if group in ranked:
            _, _, share, term, n = min(ranked[group])
            assert (row["term"], row["case_id"]) == (f"value {term}", f"case {n}")
            assert row["confidence"] == pytest.approx(float(-share))
            assert Fraction(row["theta_num"], row["theta_den"]) == world.bounds[term]
