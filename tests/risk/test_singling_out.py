"""Singling out and inference, against the definitions of SPEC section 18."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.exposure import KINDS, Ends, Patient, exposed
from support.catalog import publish

from srsql.engine.measures import MeasureRow
from srsql.engine.risk.row_candidates import EMPTY_IS_ANYTHING, both_readings
from srsql.engine.risk.singling_out import (
    AS_ANYTHING,
    MEASURED,
    PUBLIC_SHARES,
    public_shares,
    share_text,
)

CALL = "srsql.exposure(1, 'temp.main.item', {cases}, 7, {readings})"
READINGS = ("anything", "not known")
REACTION, DIAGNOSIS = "reaction", "diagnosis"


def patients_of(seed: int) -> list[Patient]:
    """Few or many patients whose values are missing, known, or given up, with common items."""
    luck = random.Random(seed)
    wide, vocabulary, most = luck.choice([1, 3, 8]), luck.choice([4, 15]), luck.choice([2, 6])

    def ends() -> tuple[Ends, Ends]:
        if luck.random() < 0.35:
            return (None, None), (None, None)
        low = luck.randrange(10)
        high = low + luck.choice([0, 0, 0, 2])
        region = (low - luck.randrange(wide), high + luck.randrange(wide))
        return (low, high), (None, None) if luck.random() < 0.15 else region

    def items() -> set[int]:
        drawn = (min(int(luck.paretovariate(0.7)), vocabulary) for _ in range(luck.randrange(most)))
        return set(drawn)

    found = []
    for _ in range(luck.choice([1, 5, 40, 120])):
        boxes = [ends() for _ in range(3)]
        terms = {(attribute, f"T{i}") for attribute in (REACTION, DIAGNOSIS) for i in items()}
        drugs = frozenset(f"D{i}" for i in items())
        own, region = tuple(b[0] for b in boxes), tuple(b[1] for b in boxes)
        found.append(Patient(own, region, drugs, frozenset(terms)))
    return found


def store(sql: Any, patients: list[Patient], k: int) -> None:
    """Release 1: every patient is a group; what is published of them is in the table ``item``."""
    for table in ("release", "member", "region", "case_qid"):
        sql.con.execute(f"DELETE FROM srsql.{table}")
    publish(sql, 1, "q", {n: (p.region, [str(n)]) for n, p in enumerate(patients)})
    sql.con.execute("UPDATE srsql.release SET k = ?", [k])
    sql.insert(
        "srsql.case_qid",
        [
            (1, number, position, *ends, False)
            for number, patient in enumerate(patients)
            for position, ends in enumerate(patient.own)
        ],
    )
    rows = [
        (number, attribute, term, term, attribute != "drug")
        for number, patient in enumerate(patients)
        for attribute, term in patient.items(KINDS[2])
    ]
    columns = "case_no INTEGER, attribute VARCHAR, term VARCHAR, value VARCHAR, sensitive BOOLEAN"
    rows += rows[::3]
    sql.table("item", columns, random.Random(1).sample(rows, len(rows)))


def summaries(
    sql: Any, cases: int = 10**6, empty: str = READINGS[0], readings: Sequence[str] = READINGS
) -> dict[tuple[str, int | None], dict[str, Any]]:
    """What the macro says of each kind and number of known items, in one of the readings."""
    rows = sql.records("FROM " + CALL.format(cases=cases, readings=list(readings)))
    assert {row["empty"] for row in rows} <= set(readings)
    return {(row["known"], row["items"]): row for row in rows if row["empty"] == empty}


@pytest.mark.slow
@REPEATABLE
@given(
    st.integers(0, 10**9), st.sampled_from([2, 5]), st.sampled_from([3, 20, 10**6]),
    st.permutations(READINGS), st.booleans(),
)  # fmt: skip
def test_known_items_leave_what_the_definitions_say_of_all_cases_and_of_those_drawn(
    sql: Any, seed: int, k: int, most: int, readings: list[str], alone: bool
) -> None:
    """Readings that are judged together, in any order, or one alone."""
    patients = patients_of(seed)
    store(sql, patients, k)
    empty = readings[-1]
    found = summaries(sql, most, empty, [empty] if alone else readings)
    numbers = list(range(len(patients)))
    ((drawn,),) = sql.rows(f"SELECT srsql_drawn_cases({numbers}, {most}, 7)")
    assert len(set(drawn)) == min(most, len(patients))
    for kind, known in [(kind, known) for kind in KINDS for known in (0, 1, 2, None)]:
        of_each = exposed(patients, kind, known, k, empty)
        cases = [left for number in drawn if (left := of_each[number])]
        if not cases:
            assert (kind, known) not in found
            continue
        row = found[kind, known]
        assert row["cases"] == len(cases)
        assert row["worst_below_k"] == sum(left.fewest < k for left in cases)
        assert row["worst_alone"] == sum(left.fewest == 1 for left in cases)
        assert row["below_k"] == pytest.approx(float(sum(left.below_k for left in cases)))
        assert row["alone"] == pytest.approx(float(sum(left.alone for left in cases)))
        if known:
            assert row["worst_certain"] == sum(left.certain > 0 for left in cases)
            assert row["worst_likely"] == sum(left.likely > 0 for left in cases)
            assert row["certain"] == pytest.approx(float(sum(left.certain for left in cases)))
            assert row["likely"] == pytest.approx(float(sum(left.likely for left in cases)))


@pytest.mark.parametrize("seed", range(6))
def test_a_drawn_value_tells_whether_it_is_there_and_an_empty_one_leaves_no_more(
    sql: Any, seed: int
) -> None:
    """At the last position a value is drawn for each case, and no region is published."""
    luck = random.Random(seed)
    patients = [
        Patient(p.own, (*p.region[:2], (-10, 30) if luck.random() < 0.5 else (None, None)),
                p.drugs, p.terms)
        for p in patients_of(seed + 3)
    ]  # fmt: skip
    store(sql, patients, 3)
    alike = {p.region[:2]: n for n, p in enumerate(patients)}  # in one group, drawn or empty
    groups = [alike[p.region[:2]] for p in patients]
    sql.con.execute("UPDATE srsql.member SET group_id = (?::INTEGER[])[case_no + 1]", [groups])
    sql.con.execute("DELETE FROM srsql.region WHERE NOT list_contains(?::INTEGER[], group_id)",
                    [groups])  # fmt: skip
    sql.con.execute("UPDATE srsql.region SET low = NULL, high = NULL WHERE position = 2")
    sql.insert("srsql.perturbation", [(1, 2, "laplace", "claimed", "seeded", 1, 1)])
    drawn = [(1, n, 2, low, high) for n, p in enumerate(patients)
             for low, high in [(5, 5) if p.region[2][0] is not None else (None, None)]]  # fmt: skip
    sql.insert("srsql.perturbed", drawn)
    found = {empty: summaries(sql, empty=empty) for empty in READINGS}
    sql.con.execute("DELETE FROM srsql.perturbation; DELETE FROM srsql.perturbed")
    covering = [replace(p, region=(*p.region[:2], (None, None))) for p in patients]
    for known in (0, 1, 2):
        for empty, people in zip(READINGS, (covering, drawn_over(patients)), strict=True):
            cases = [left for left in exposed(people, KINDS[2], known, 3, empty) if left]
            if cases:
                row = found[empty][KINDS[2], known]
                assert row["worst_alone"] == sum(left.fewest == 1 for left in cases)
                assert row["alone"] == pytest.approx(float(sum(left.alone for left in cases)))
    assert found[READINGS[1]].keys() == found[READINGS[0]].keys()
    for key, row in found[READINGS[0]].items():
        for name, value in row.items():
            if name.startswith("worst") and name != "worst_likely":  # a share may fall
                assert value <= found[READINGS[1]][key][name]


def drawn_over(patients: list[Patient]) -> list[Patient]:
    """What is drawn at the last position says nothing of the value that it was drawn for."""
    return [replace(p, own=(*p.own[:2], (0, 0))) for p in patients]


@pytest.mark.thorough
@REPEATABLE
@given(st.integers(0, 10**9))
def test_three_items_leave_no_more_than_two_and_no_fewer_than_all(sql: Any, seed: int) -> None:
    patients = patients_of(seed)
    store(sql, patients, 3)
    found = summaries(sql)
    for kind in {kind for kind, items in found if items == 3}:
        two, three, every = (found[kind, items] for items in (2, 3, None))
        exact = [left for left in exposed(patients, kind, 3, 3, READINGS[0]) if left]
        for worst, share in (("worst_below_k", "below_k"), ("worst_alone", "alone")):
            assert two[worst] <= three[worst] <= every[worst]
            least = sum(getattr(left, share) == 1 for left in exact)
            most = sum(getattr(left, share) > 0 for left in exact)
            assert least <= three[share] <= most
        if all(len(patient.items(kind)) <= 3 for patient in patients):
            assert three["below_k"] == pytest.approx(float(sum(e.below_k for e in exact)))
            assert three["worst_alone"] == sum(left.fewest == 1 for left in exact)


def test_the_same_release_gives_the_same_figures_with_any_order_of_its_items(sql: Any) -> None:
    store(sql, patients_of(4), 5)
    once, some = summaries(sql), summaries(sql, cases=20)
    sql.con.execute("CREATE OR REPLACE TEMP TABLE item AS FROM item ORDER BY hash(term, case_no)")
    assert (summaries(sql), summaries(sql, cases=20)) == (once, some)


def test_cases_that_are_drawn_are_compared_with_all(sql: Any) -> None:
    patients = patients_of(4)
    store(sql, patients, 5)
    estimates = [
        {key: row["worst_below_k"] for key, row in summaries(sql, cases=1).items()}
        for _ in range(2)
    ]
    assert estimates[0] == estimates[1]
    every, some = summaries(sql), summaries(sql, cases=len(patients) // 2)
    assert some["drugs", 0]["cases"] == len(patients) // 2
    for key, row in some.items():
        for name in ("cases", "worst_below_k", "worst_alone", "worst_certain", "below_k"):
            assert row[name] <= every[key][name] + 1e-9
            assert every[key][name] - row[name] <= len(patients) - len(patients) // 2 + 1e-9


def test_measures_are_shares_of_the_cases_that_have_such_items(sql: Any) -> None:
    patients = patients_of(4)
    store(sql, patients, 4)
    found = summaries(sql)
    rows = sql.records("FROM srsql.singling_out(1, 'temp.main.item', 1000000, 7, ['anything'])")
    names = {
        "candidates_below_k": "below_k",
        "one_candidate": "alone",
        "certain_term": "certain",
        "likely_term": "likely",
    }
    for row in rows:
        scope, _, way = row["scope"].partition(", ")
        known = next((kind for kind in reversed(KINDS) if kind in scope), KINDS[0])
        if scope.startswith("all "):
            known, items = scope.removeprefix("all ").replace(" and ", " or "), None
        else:
            items = 0 if scope == "region alone" else int(scope[0])
        summary = found[known, items]
        name = names[row["measure"]]
        assert row["violating"] == summary[name if way == "random" else f"worst_{name}"]
        assert (row["total"], row["threshold"], row["passed"]) == (summary["cases"], None, None)
        assert row["ratio"] == row["violating"] / row["total"]
    assert len({(row["measure"], row["scope"]) for row in rows}) == len(rows) == 44 + 24


@pytest.mark.parametrize("seed", range(6))
def test_values_without_a_bound_and_unanimous_regions_are_counted(sql: Any, seed: int) -> None:
    luck = random.Random(seed)
    for table in ("release", "member", "region", "case_term", "threshold"):
        sql.con.execute(f"DELETE FROM srsql.{table}")
    regions = [((luck.randrange(3), luck.randrange(3, 5)), (None, None)) for _ in range(8)]
    groups = {
        number: (region, [f"{number}.{i}" for i in range(luck.randrange(1, 4))])
        for number, region in enumerate(regions)
    }
    publish(sql, 1, "q", groups)
    theta = {term: luck.choice([(1, 1), (1, 2), (2, 2)]) for term in range(5)}
    shown = {term: luck.random() < 0.8 for term in range(5)}
    sql.insert(
        "srsql.threshold",
        [(1, term, f"T{term}", *theta[term], 1, shown[term]) for term in range(5)],
    )
    members = [region for number, region in enumerate(regions) for _ in groups[number][1]]
    held = {case: set(luck.sample(range(5), luck.randrange(4))) for case in range(len(members))}
    believed = {(case, term) for case in held for term in range(5)} - {
        (case, term) for case, terms in held.items() for term in terms
    }
    sql.insert(
        "srsql.case_term",
        [(1, case, term, 1, True) for case, terms in held.items() for term in terms]
        + [(1, case, term, 1, False) for case, term in sorted(believed)[::3]],
    )
    pairs = [term for terms in held.values() for term in terms if shown[term]]
    free = sum(theta[term][0] == theta[term][1] for term in pairs)
    (row,) = sql.records("FROM srsql.unbounded_values(1)")
    assert (row["violating"], row["total"]) == (free, len(pairs))

    sizes = Counter(members)
    agreed = {
        region
        for region, cases in sizes.items()
        for term in range(5)
        if shown[term]
        and sum(term in held[c] for c, r in enumerate(members) if r == region) == cases
    }
    shown_values = [
        (case, name, value)
        for case in held
        for name in ("a", "b")
        for value in luck.choices(["x", "y", "z", None], k=luck.randrange(4))
    ]
    items = sql.table("item", "case_no INT, column_name VARCHAR, value VARCHAR", shown_values)
    due = []
    for name in ("a", "b"):
        own = {
            case: frozenset(v for c, n, v in shown_values if (c, n) == (case, name) and v)
            for case in held
        }
        alike = Counter((members[case], values) for case, values in own.items() if values)
        if alike:
            due.append((name, list(alike.values()).count(1), alike.total()))
    rows = sql.records(f"FROM srsql.column_singling_out(1, {items})")
    assert [(row["scope"], row["violating"], row["total"]) for row in rows] == due
    (row,) = sql.records("FROM srsql.unanimous_regions(1)")
    assert (row["violating"], row["total"]) == (len(agreed), len(sizes))


def test_the_public_manifest_tells_the_higher_figure_first_and_the_other_where_it_differs() -> None:
    def row(items: str, ratio: float, empty: str = "") -> MeasureRow:
        scope = f"{items} of the drugs or terms, worst{empty}"
        return MeasureRow(1, "one_candidate", scope, 200 * ratio, 200, ratio, None, None)

    not_known = [row("1", 0.79), row("2", 0.894)]
    told = both_readings(not_known, [row("1", 0.79), row("2", 0.81)])
    assert told == [*not_known, row("2", 0.81, EMPTY_IS_ANYTHING)]
    shares = public_shares(told)
    name = "one_candidate_percent_2_items"
    assert shares == {
        "one_candidate_percent_1_item": 79, name: 89, name + AS_ANYTHING: 81, MEASURED: 200
    }  # fmt: skip
    assert shares.keys() <= set(PUBLIC_SHARES)
    assert share_text(shares, name) == "89 % (81 % where an empty value may be anything)"
    assert share_text(shares, "one_candidate_percent_1_item") == "79 %"
    near = both_readings(not_known, [row("1", 0.79), row("2", 0.891)])
    assert AS_ANYTHING not in "".join(public_shares(near))  # the same in whole percent
