"""CBA: the kernel does what the definition says; its release keeps and answers what it should."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import generalizing as oracle
from oracles.examples import REPEATABLE
from support.generalized import TABLES, Generalized, generalized

from srsql.engine.risk.term_counts import count_terms
from srsql.engine.risk.term_loss import matching_errors
from srsql.engine.terms.policies import UtilityPolicy
from srsql.udfs.terms.generalizing import generalize, loss
from srsql.udfs.terms.km_anonymity import RankedBaskets, rare_sets

pytestmark = pytest.mark.slow

MANY, SOME = settings(REPEATABLE, max_examples=80), settings(REPEATABLE, max_examples=20)


@dataclass(frozen=True)
class Case:
    """A dataset with its parameters."""

    baskets: list[frozenset[int]]
    policy: list[frozenset[int]]
    k: int
    m: int

    def expected(self) -> set[frozenset[int]]:
        return oracle.generalized(self.baskets, self.policy, self.k, self.m)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    terms = st.integers(0, draw(st.integers(1, 8)))
    baskets = draw(st.lists(st.frozensets(terms, min_size=1, max_size=5), min_size=1, max_size=16))
    held = sorted(frozenset().union(*baskets))
    place = draw(st.lists(st.integers(-1, 2), min_size=len(held), max_size=len(held)))
    policy = [frozenset(t for t, p in zip(held, place, strict=True) if p == u) for u in range(3)]
    policy = [terms for terms in policy if terms]
    return Case(baskets, policy, draw(st.integers(2, 4)), draw(st.integers(1, 4)))


@pytest.fixture(scope="module")
def desk() -> Iterator[Generalized]:
    with generalized() as made:
        yield made


def kernel(case: Case) -> set[frozenset[int]]:
    held = sorted(frozenset().union(*case.baskets))
    rows = np.array([(r, held.index(t)) for r, basket in enumerate(case.baskets) for t in basket])
    own = [next((u for u, c in enumerate(case.policy) if t in c), -1) for t in held]
    of = generalize(rows[:, 0].copy(), rows[:, 1].copy(), np.array(own), case.k, case.m)
    return {frozenset(held[i] for i in np.flatnonzero(of == o)) for o in of if o >= 0}


@MANY
@given(case=cases())
def test_the_kernel_generalizes_and_suppresses_what_the_definition_does(case: Case) -> None:
    assert kernel(case) == case.expected()


@MANY
@given(case=cases())
def test_generalized_records_are_km_anonymous_under_any_policy(case: Case) -> None:
    made = oracle.Cba(case.baskets, case.policy)
    made.nodes = kernel(case)
    assert oracle.is_km(made.records(), case.k, case.m)
    for node in made.nodes:
        assert any(node <= u for u in made.constraints)


@MANY
@given(case=cases(), size=st.integers(1, 4))
def test_rare_sets_are_found_where_smaller_ones_are_not_rare(case: Case, size: int) -> None:
    baskets = [b for b in case.baskets if len(b) >= size]
    counts = Counter(c for b in baskets for c in combinations(sorted(b), size))
    smaller = Counter(
        c for b in baskets for n in range(1, size) for c in combinations(sorted(b), n)
    )
    starts = np.cumsum([0, *map(len, baskets)])
    terms = np.array([t for b in baskets for t in sorted(b)], np.int64)
    found, records = rare_sets(RankedBaskets(starts, terms), 9, size, case.k)
    sets = dict(zip(map(tuple, found.tolist()), records.tolist(), strict=True))
    if min(smaller.values(), default=case.k) >= case.k:
        assert sets == {c: n for c, n in counts.items() if n < case.k}
    assert sets.items() <= counts.items()


def test_a_large_generalized_term_costs_more_than_a_small_one_and_never_overflows() -> None:
    assert loss(1, 7) == 7
    assert loss(3, 2) == 14
    assert loss(1_000, 1) < loss(1_000, 2) <= loss(5_000, 2) < loss(5_000, 1 << 20) < np.inf


@SOME
@given(case=cases())
def test_what_is_published_is_the_baskets_in_generalized_terms(
    desk: Generalized, case: Case
) -> None:
    desk.make(case.baskets, case.policy, case.k, case.m)
    nodes = case.expected()
    assert sorted(map(sorted, desk.nodes().values())) == sorted(map(sorted, nodes))
    assert [min(n) for n in desk.nodes().values()] == sorted(min(n) for n in nodes)
    made = oracle.Cba(case.baskets, case.policy)
    made.nodes = nodes
    assert Counter(desk.records()) == Counter(made.records())
    assert desk.failed(case.k, case.m, case.policy) == set()


@SOME
@given(case=cases())
def test_counts_are_means_over_every_subset_and_their_bounds_hold_the_truth(
    desk: Generalized, case: Case
) -> None:
    desk.make(case.baskets, case.policy, case.k, case.m)
    records, released = desk.records(), frozenset().union(*desk.nodes().values())
    held = sorted(frozenset().union(*case.baskets))
    sets = [frozenset(c) for n in (1, 2, 3) for c in combinations(held, n)][:40]
    counts = count_terms(desk.desk.warehouse, TABLES, [[f"T{t}" for t in s] for s in sets])
    for asked, count in zip(sets, counts, strict=True):
        assert count.lower <= sum(asked <= b for b in case.baskets) <= count.upper
        assert count.lower <= count.expected <= count.upper
        if asked <= released:
            shares = [_share(r, lambda t, asked=asked: asked <= t) for r in records]
            assert count.expected == pytest.approx(max(sum(shares), len(asked) == 1))
        else:
            assert (count.lower, count.expected) == (0, 0)


def _share(record: frozenset[frozenset[int]], fits: object) -> float:
    """Share of the ways to take a non-empty subset of every node that fit."""
    assert callable(fits)
    ways = [
        [frozenset(c) for n in range(1, len(node) + 1) for c in combinations(sorted(node), n)]
        for node in record
    ]
    taken = [frozenset(chain(*way)) for way in product(*ways)]
    return sum(fits(terms) for terms in taken) / len(taken)


@SOME
@given(case=cases())
def test_a_constraint_that_is_released_whole_is_matched_exactly(
    desk: Generalized, case: Case
) -> None:
    desk.make(case.baskets, case.policy, case.k, case.m)
    desk.checks(case.k, case.m, case.policy)
    records, released = desk.records(), frozenset().union(*desk.nodes().values())
    names = {f"u{i}": tuple(f"T{t}" for t in u) for i, u in enumerate(case.policy)}
    mixed = {f"x{i}": (f"T{t}",) for i, t in enumerate(sorted(released)[:2])}
    policy = UtilityPolicy("own", names)
    for known in (policy, UtilityPolicy("single", mixed)):
        if not known.constraints:
            continue
        found = matching_errors(desk.desk.warehouse, TABLES, "temp.main.originals", known)
        for constraint in found.constraints:
            terms = {int(t[1:]) for t in known.constraints[constraint.constraint]}
            mean = sum(_share(r, lambda t, terms=terms: bool(terms & t)) for r in records)
            assert constraint.answer == pytest.approx(mean)
            if known is policy and terms <= released:
                assert constraint.mre == 0


def test_the_checks_see_what_is_rare_misplaced_or_made_up(desk: Generalized) -> None:
    baskets = [frozenset({0, 1}), frozenset({0, 2})] * 3 + [frozenset({3, 4})] * 3
    policy = [frozenset({0}), frozenset({1, 2})]
    for change, found in (
        ("DELETE FROM srsql_pub_generalized_terms WHERE record = 1",
         {("check_generalized_records", "record")}),
        ("UPDATE srsql_pub_generalized_terms SET node = 99 WHERE node = 1",
         {("check_node_structure", "node"), ("check_generalized_records", "record")}),
        ("INSERT INTO srsql_pub_generalized_terms SELECT * FROM srsql_pub_generalized_terms",
         {("check_node_structure", "record"), ("check_generalized_records", "record")}),
        ("UPDATE srsql_pub_term_nodes SET node = 1 WHERE term = 'T3'",
         {("check_node_constraints", "node"), ("check_generalized_records", "record")}),
        ("UPDATE srsql_pub_term_nodes SET node = (SELECT n.node FROM srsql_pub_term_nodes AS n "
         "WHERE n.term = 'T3') WHERE term = 'T4'",  # neither is in a constraint
         {("check_node_constraints", "node"), ("check_generalized_records", "record")}),
        ("INSERT INTO srsql_pub_term_nodes VALUES (1, 'T3')",
         {("check_node_constraints", "node"), ("check_node_structure", "term"),
          ("check_generalized_records", "record")}),
    ):  # fmt: skip
        desk.make(baskets, policy, 3, 2)
        assert desk.failed(3, 2, policy) == set()
        desk.desk.warehouse.run(change)
        assert found <= desk.failed(3, 2, policy), change
    desk.make(baskets, policy, 3, 2)
    assert desk.failed(4, 1, policy) == {("check_node_km", "1 generalized term")}
    assert ("check_node_km", "2 of them") in desk.failed(4, 2, policy)
