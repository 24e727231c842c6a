"""Singling out and inference, against the definitions of SPEC section 18."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.exposure import KINDS, Ends, Left, Patient, exposed
from support.catalog import publish

CALL = "FROM srsql.exposure(1, 'temp.main.item', 7)"
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
        (number, attribute, term, attribute != "drug")
        for number, patient in enumerate(patients)
        for attribute, term in patient.items(KINDS[2])
    ]
    columns = "case_no INTEGER, attribute VARCHAR, term VARCHAR, sensitive BOOLEAN"
    sql.table("item", columns, random.Random(1).sample(rows, len(rows)))


def measured(sql: Any, known: int | None) -> dict[tuple[str, int], Left]:
    """What the macro says of each kind and case for so many known items."""
    return {
        (row["known"], row["case_no"]): Left(
            row["fewest"],
            *(Fraction(row[n], row["sets"]) for n in ("below_k", "alone", "certain", "likely")),
        )
        for row in sql.records(f"{CALL} WHERE items IS NOT DISTINCT FROM ?", [known])
    }


def by_definition(
    patients: list[Patient], known: int | None, k: int
) -> dict[tuple[str, int], Left]:
    return {
        (kind, number): left
        for kind in KINDS
        for number, left in enumerate(exposed(patients, kind, known, k))
        if left is not None
    }


@REPEATABLE
@given(st.integers(0, 10**9), st.sampled_from([2, 5]))
def test_known_items_leave_what_the_definitions_say(sql: Any, seed: int, k: int) -> None:
    patients = patients_of(seed)
    store(sql, patients, k)
    for known in (1, 2):
        assert measured(sql, known) == by_definition(patients, known, k)
    for known in (0, None):  # of these, nothing is said of what follows
        wanted = by_definition(patients, known, k)
        found = measured(sql, known)
        assert found.keys() == wanted.keys()
        for key, left in wanted.items():
            assert (found[key].fewest, found[key].below_k, found[key].alone) == (
                left.fewest, left.below_k, left.alone
            )  # fmt: skip


@REPEATABLE
@given(st.integers(0, 10**9))
def test_sets_of_three_are_drawn_and_leave_no_more_than_the_worst_pair(sql: Any, seed: int) -> None:
    patients = patients_of(seed)
    store(sql, patients, 3)
    found, pairs = measured(sql, 3), measured(sql, 2)
    for key, every in by_definition(patients, 3, 3).items():
        drawn = found[key]
        assert every.fewest <= drawn.fewest <= pairs[key].fewest
        for some, all_sets in ((drawn.below_k, every.below_k), (drawn.alone, every.alone)):
            assert all_sets not in (0, 1) or some == all_sets
        if len(patients[key[1]].items(key[0])) == 3:
            assert (drawn.below_k, drawn.alone) == (every.below_k, every.alone)


def test_the_same_release_gives_the_same_figures_with_any_order_of_its_items(sql: Any) -> None:
    patients = patients_of(4)
    store(sql, patients, 5)
    once = sql.rows(f"{CALL} ORDER BY ALL")
    sql.con.execute("CREATE OR REPLACE TEMP TABLE item AS FROM item ORDER BY hash(term, case_no)")
    assert sql.rows(f"{CALL} ORDER BY ALL") == once


@REPEATABLE
@given(st.integers(0, 10**9))
def test_shares_are_of_the_cases_that_have_such_items(sql: Any, seed: int) -> None:
    patients, k = patients_of(seed), 4
    store(sql, patients, k)
    sql.con.execute(f"CREATE OR REPLACE TEMP TABLE exposure AS {CALL}")
    rows = {
        (row["measure"], row["scope"]): row
        for row in sql.records("FROM srsql.singling_out(1, 'temp.main.exposure')")
    }
    assert all(row["passed"] is None and row["threshold"] is None for row in rows.values())
    for known, name in ((0, "region alone"), (1, "1 of the {}"), (2, "2 of the {}")):
        for kind in KINDS if known else KINDS[:1]:
            cases = [left for left in exposed(patients, kind, known, k) if left]
            worst = {
                "candidates_below_k": sum(left.fewest < k for left in cases),
                "one_candidate": sum(left.fewest == 1 for left in cases),
                "certain_term": sum(left.certain > 0 for left in cases),
                "likely_term": sum(left.likely > 0 for left in cases),
            }
            share = {
                "candidates_below_k": sum(left.below_k for left in cases),
                "one_candidate": sum(left.alone for left in cases),
                "certain_term": sum(left.certain for left in cases),
                "likely_term": sum(left.likely for left in cases),
            }
            for measure in worst if cases else ():
                scope = name.format(kind)
                if known == 0:
                    row = rows.get((measure, scope))
                    assert (row is not None) == measure.endswith(("below_k", "candidate"))
                    assert row is None or row["violating"] == worst[measure]
                    continue
                row, random_row = (
                    rows[measure, f"{scope}, worst"],
                    rows[measure, f"{scope}, random"],
                )
                assert (row["violating"], row["total"]) == (worst[measure], len(cases))
                assert random_row["violating"] == pytest.approx(float(share[measure]), abs=1e-9)
                assert random_row["total"] == len(cases)


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
    (row,) = sql.records("FROM srsql.unanimous_regions(1)")
    assert (row["violating"], row["total"]) == (len(agreed), len(sizes))
