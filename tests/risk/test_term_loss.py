"""ARE, MRE and the rarity of combinations: macros against the definitions."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, pairwise
from statistics import stdev
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.published_terms import random_places, reconstruct
from support.published_terms import Subrecord, fill, load, project, warehouse

from srsql.engine.catalog.released_terms import PublishedTerms, put_originals, put_sets
from srsql.engine.risk.term_counts import combination_shares
from srsql.engine.risk.term_loss import (
    Answer,
    answer_workload,
    average_relative_error,
    held_sets,
    matching_errors,
    random_sets,
)
from srsql.engine.store.statements import literal
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.policies import UtilityPolicy

SOME = settings(REPEATABLE, max_examples=15)
ORIGINALS = "temp.main.originals"
baskets = st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=25)


def put(sql: Any, records: list[Subrecord], name: str = "originals") -> Warehouse:
    rows = [(i, t) for i, r in enumerate(records) for t in sorted(r)]
    fill(sql, name, ("record INTEGER", "term VARCHAR"), rows)
    return warehouse(sql)


def released(
    sql: Any, seed: int
) -> tuple[Warehouse, PublishedTerms, list[Subrecord], list[Subrecord]]:
    """Random records, their release and one reconstructed dataset of it."""
    luck = random.Random(seed)
    member = [1] * 9 + [2] * 12
    records = [
        frozenset(t for t in "abcdef" if luck.random() < 0.4) or frozenset("f") for _ in member
    ]
    joints = {1: frozenset({1, 2})}
    made = project(records, member, joints, random_places(luck, records, member, joints))
    sample = reconstruct(made, luck)
    tables = load(sql, made.rows())
    put(sql, sample, "reconstructed")
    named = {name: getattr(tables, name) for name in tables.__dataclass_fields__}
    house = put(sql, records)
    return (
        house,
        PublishedTerms(**named | {"reconstructed": "temp.main.reconstructed"}),
        records,
        sample,
    )


@pytest.mark.slow
@SOME
@given(
    records=baskets,
    sets=st.lists(st.frozensets(st.sampled_from("abcdefg"), min_size=1), min_size=1),
)
def test_counts_and_matches_of_baskets_are_counted_one_by_one(
    sql: Any, records: list[Subrecord], sets: list[Subrecord]
) -> None:
    house = put(sql, records)
    name = put_sets(house, sets)
    counts = dict(sql.rows(f"FROM srsql.basket_counts({literal(ORIGINALS)}, {name})"))
    matches = dict(sql.rows(f"FROM srsql.basket_matches({literal(ORIGINALS)}, {name})"))
    assert counts == {i: sum(s <= r for r in records) for i, s in enumerate(sets)}
    assert matches == {i: sum(bool(s & r) for r in records) for i, s in enumerate(sets)}


@pytest.mark.parametrize("seed", range(3))
def test_are_is_the_mean_relative_error_of_the_queries_that_have_an_answer(
    sql: Any, seed: int
) -> None:
    house, tables, records, sample = released(sql, seed)
    sets = [c for n in (1, 2, 3, 4) for c in combinations("abcdefg", n)]
    answers = answer_workload(house, tables, ORIGINALS, sets)
    assert [a.terms for a in answers] == sets
    for estimate in ("expected", "reconstructed"):
        rows = average_relative_error(house, answers, estimate)
        assert [row.terms for row in rows] == [1, 2, 3, 4, None]
        for row in rows:
            chosen = [a for a in answers if row.terms in (None, len(a.terms))]
            errors = [abs(getattr(a, estimate) - a.truth) / a.truth for a in chosen if a.truth]
            assert (row.queries, row.untold) == (len(errors), len(chosen) - len(errors))
            assert row.are == (pytest.approx(sum(errors) / len(errors)) if errors else None)
            spread = stdev(errors) if len(errors) > 1 else None
            assert row.deviation == (None if spread is None else pytest.approx(spread))
    for a in answers:
        assert a.truth == sum(set(a.terms) <= r for r in records)
        assert a.reconstructed == sum(set(a.terms) <= r for r in sample)
        assert a.lower <= a.truth <= a.upper


def test_are_of_no_query_is_nothing(sql: Any) -> None:
    house = warehouse(sql)
    assert [(r.queries, r.are) for r in average_relative_error(house, [])] == [(0, None)]
    (_, row) = average_relative_error(house, [Answer(("a",), 0, 0, 0.0, 0, 0)])
    assert (row.queries, row.untold, row.are, row.deviation) == (0, 1, None, None)
    (_, row) = average_relative_error(house, [Answer(("a",), 4, 3, 3.0, 5, 0)])
    assert (row.queries, row.are, row.deviation) == (1, 0.25, None)


@pytest.mark.parametrize("estimate", ["expected", "reconstructed"])
def test_mre_is_signed_by_constraint_and_only_of_constraints_in_the_data(
    sql: Any, estimate: str
) -> None:
    house, tables, records, sample = released(sql, 5)
    policy = UtilityPolicy("mine", {"u1": (" A", "b"), "u2": ("zz",), "u3": ("d", "zzz")})
    found = matching_errors(house, tables, ORIGINALS, policy, estimate)
    assert [c.constraint for c in found.constraints] == ["u1", "u3"]
    for c, terms in zip(found.constraints, (set("ab"), {"d"}), strict=True):
        assert c.truth == sum(bool(terms & r) for r in records)
        assert c.mre == pytest.approx(100 * (c.truth - c.answer) / c.truth)
        if estimate == "reconstructed":
            assert c.answer == sum(bool(terms & r) for r in sample)
    assert sum(i.constraints for i in found.intervals) == 2
    assert found.near == sum(abs(c.mre or 0) <= 5 for c in found.constraints) / 2
    assert found.untold == 0


@pytest.mark.parametrize(
    ("answer", "place"),
    [(89, 8), (90, 8), (91, 7), (95, 7), (96, 6), (97.5, 6), (98, 5), (100, 4), (101, 3),
     (102.5, 3), (103, 2), (105, 2), (106, 1), (110, 1), (111, 0)],
)  # fmt: skip
def test_an_mre_is_in_the_interval_that_its_lower_end_includes(
    sql: Any, answer: float, place: int
) -> None:
    name = fill(sql, "matches", ("truth BIGINT", "answer DOUBLE"), [(100, answer), (0, 7.0)])
    rows = sql.rows(f"FROM srsql.matching_error_intervals('{name}')")
    assert [row[4] for row in rows] == [int(i == place) for i in range(9)]
    assert rows[place][5] == 1
    low, high, mre = rows[place][2], rows[place][3], 100 - answer
    assert low is None or low <= mre
    assert high is None or mre <= high


def test_random_sets_grow_by_one_term_and_repeat_with_their_seed(sql: Any) -> None:
    records = [frozenset(f"t{i}" for i in range(j, j + 5)) for j in range(20)]
    house = put(sql, records)
    sets = random_sets(house, ORIGINALS, 3)
    assert len(sets) == 1000
    assert Counter(map(len, sets)) == dict.fromkeys((1, 2, 3, 4), 250)
    assert all(set(a) < set(b) for a, b in pairwise(sets) if len(a) < len(b))
    put(sql, records[::-1])
    assert random_sets(house, ORIGINALS, 3) == sets != random_sets(house, ORIGINALS, 4)


@SOME
@given(
    records=baskets,
    sets=st.lists(st.frozensets(st.sampled_from("abcdefg"), min_size=1), min_size=1),
)
def test_companion_terms_are_what_records_hold_beside_a_set(
    sql: Any, records: list[Subrecord], sets: list[Subrecord]
) -> None:
    house = put(sql, records)
    name = put_sets(house, sets)
    found = dict(sql.rows(f"FROM srsql.companion_terms({literal(ORIGINALS)}, {name})"))
    due = {i: sorted({t for r in records if s <= r for t in r} - s) for i, s in enumerate(sets)}
    assert found == {i: terms for i, terms in due.items() if terms}


@pytest.mark.slow
@SOME
@given(records=baskets, seed=st.integers(0, 99))
def test_held_sets_grow_by_one_term_and_some_record_holds_each(
    sql: Any, records: list[Subrecord], seed: int
) -> None:
    house = put(sql, records)
    sets = held_sets(house, ORIGINALS, seed, count=40)
    assert all(any(set(s) <= r for r in records) for s in sets)
    assert all(set(a) < set(b) for a, b in pairwise(sets) if len(a) < len(b))
    longest = min(4, max(map(len, records)))
    assert max(map(len, sets)) <= longest
    assert sum(len(s) == 1 for s in sets) == 10
    for short, following in pairwise([*sets, ("",)]):  # a row ends where nothing can follow
        if len(short) < 4 and len(following) <= len(short):
            assert not any(set(short) < r for r in records)
    put(sql, records[::-1])
    assert held_sets(house, ORIGINALS, seed, count=40) == sets


def test_every_further_term_of_a_held_set_is_as_likely(sql: Any) -> None:
    house = put(sql, [frozenset("ab"), frozenset("ab"), frozenset("ac")])
    pairs = Counter(s for s in held_sets(house, ORIGINALS, 1, count=6000, longest=2) if len(s) == 2)
    # a, b, c first, each in a third; beside a either of b and c; beside b and c only a
    assert pairs.keys() == {("a", "b"), ("a", "c")}
    assert abs(pairs["a", "b"] - 1500) < 6 * (3000 / 4) ** 0.5


def exact_shares(records: list[Subrecord], size: int) -> dict[int, float]:
    held = Counter(c for r in records for c in combinations(sorted(r), size))
    found = Counter(min(n, 11) for n in held.values())
    return {n: found[n] / len(held) for n in range(1, 12)} if held else {}


@SOME
@given(records=baskets)
def test_shares_of_combinations_are_exact_where_all_are_made(
    sql: Any, records: list[Subrecord]
) -> None:
    house = put(sql, records)
    shares = combination_shares(house, ORIGINALS)
    assert all(s.exact for s in shares)
    for size in (2, 3, 4, 5):
        found = {s.records: s.share for s in shares if s.terms == size}
        assert found == pytest.approx(exact_shares(records, size))


def test_shares_of_combinations_are_near_the_exact_ones_where_they_are_drawn(sql: Any) -> None:
    luck = random.Random(8)
    weights = [1 / (i + 1) for i in range(60)]
    records = [
        frozenset(f"t{i}" for i in luck.choices(range(60), weights, k=9)) for _ in range(300)
    ]
    house = put(sql, records)
    drawn = combination_shares(house, ORIGINALS, budget=0, samples=4000)
    assert not any(s.exact for s in drawn)
    for size in (2, 3, 4, 5):
        found = {s.records: s.share for s in drawn if s.terms == size}
        assert found == pytest.approx(exact_shares(records, size), abs=0.05)


def test_a_record_of_400_terms_does_not_blow_up_the_combinations(sql: Any) -> None:
    terms = [f"t{i:03}" for i in range(400)]
    house = put(sql, [frozenset(terms), *(frozenset(terms[i : i + 2]) for i in range(0, 300, 3))])
    shares = combination_shares(house, ORIGINALS, samples=200)
    assert {s.terms: s.exact for s in shares} == {2: True, 3: False, 4: False, 5: False}
    assert next(s.share for s in shares if (s.terms, s.records) == (5, 1)) == 1


def test_numbered_baskets_are_the_originals_under_their_names(sql: Any) -> None:
    fill(sql, "srsql_basket", ("record_no INTEGER", "term_no INTEGER"), [(0, 1), (1, 2)])
    fill(
        sql,
        "srsql_basket_term",
        ("term_no INTEGER", "term VARCHAR"),
        [(1, "a"), (2, "b"), (3, "c")],
    )
    name = put_originals(warehouse(sql))
    assert sorted(sql.rows(f"FROM {name}")) == [(0, "a"), (1, "b")]
