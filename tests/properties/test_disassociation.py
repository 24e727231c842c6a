"""Disassociation: the kernels do what the definitions say, and every privacy rule holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import disassociation as oracle
from oracles.examples import REPEATABLE
from support.baskets import Desk

LONGEST = 7


@dataclass(frozen=True)
class Case:
    """A dataset with its parameters."""

    baskets: list[frozenset[int]]
    parts: list[int]
    policy: list[frozenset[int]]
    kept_apart: frozenset[int]
    k: int
    m: int
    max_size: int
    least: int
    limit: int

    def expected(self) -> oracle.Disassociated:
        return oracle.disassociated(
            self.baskets, self.k, self.m, parts=self.parts, policy=self.policy,
            kept_apart=self.kept_apart, max_size=self.max_size, least=self.least, limit=self.limit,
        )  # fmt: skip

    def run(self, desk: Desk, **options: Any) -> None:
        desk.put(
            self.baskets, parts=self.parts, constraints=self.policy, kept_apart=self.kept_apart
        )
        desk.run(
            self.k, self.m, max_size=self.max_size, least=self.least, joint_limit=self.limit,
            **options,
        )  # fmt: skip


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Up to some forty records of one or two parts, over few terms, some of them frequent."""
    k = draw(st.integers(2, 5))
    least = k + draw(st.integers(0, 2))
    terms = draw(st.integers(1, 12))
    # squared, so that low numbers are frequent
    term = st.integers(0, terms * terms - 1).map(lambda x: terms - 1 - int(x**0.5))
    basket = st.frozensets(term, min_size=1, max_size=LONGEST)
    size = st.integers(least, 30)
    parts = [p for p in range(draw(st.integers(1, 2))) for _ in range(draw(size))]
    baskets = draw(st.lists(basket, min_size=len(parts), max_size=len(parts)))
    owner = draw(st.lists(st.integers(0, 4), min_size=terms, max_size=terms))
    policy = [frozenset(t for t in range(terms) if owner[t] == u) for u in range(3)]
    kept = draw(st.one_of(st.just(frozenset()), st.frozensets(st.integers(0, terms - 1))))
    m = draw(st.one_of(st.integers(1, 3), st.just(LONGEST)))
    max_size = draw(st.sampled_from([k, k + 1, 2 * k, 3 * k]))
    limit = draw(st.sampled_from([2 * max_size, 8 * max_size, 1000]))
    filled = [u for u in policy if u]
    return Case(baskets, parts, filled, frozenset(kept), k, m, max_size, least, limit)


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.close()


@settings(REPEATABLE, max_examples=150)
@given(case=cases())
def test_the_kernels_do_what_the_definitions_say(desk: Desk, case: Case) -> None:
    expected = case.expected()
    case.run(desk)
    assert desk.clusters() == [c.records for c in expected.clusters]
    found = desk.chunks()
    for number, cluster in enumerate(expected.clusters, 1):
        chunks = found.get(number, [frozenset()])
        assert chunks == [frozenset(cluster.items), *cluster.chunks]
    assert list(desk.joints().values()) == [
        frozenset(i + 1 for i in members) for members, _ in expected.joints
    ]
    assert list(desk.shared().values()) == [chunks for _, chunks in expected.joints]


@settings(REPEATABLE, max_examples=100)
@given(case=cases())
def test_every_privacy_rule_holds_and_no_term_is_lost(desk: Desk, case: Case) -> None:
    case.run(desk)
    clusters, chunks = desk.clusters(), desk.chunks()
    joints, shared = desk.joints(), desk.shared()
    over = {
        number: [j for j, members in joints.items() if number in members]
        for number in range(1, len(clusters) + 1)
    }
    assert sorted(r for c in clusters for r in c) == list(range(len(case.baskets)))
    for number, records in enumerate(clusters, 1):
        assert len(records) >= case.least  # rule 2
        assert len({case.parts[r] for r in records}) == 1
        own = [case.baskets[r] for r in records]
        item, *record_chunks = chunks.get(number, [frozenset()])
        for terms in record_chunks:
            assert oracle.is_km((b & terms for b in own), case.k, case.m)  # rule 1
        if not item:  # rule 3
            filled = [[b & terms for b in own] for terms in record_chunks]
            assert oracle.enough(filled, len(own), case.k, case.m)
        places = Counter(
            t
            for terms in [item, *record_chunks, *(c for j in over[number] for c in shared[j])]
            for t in terms
        )
        assert all(times == 1 for times in places.values())  # rules 4 and 5
        assert frozenset().union(*own) <= set(places)  # no term is lost
        assert item <= frozenset().union(*own)
        assert case.kept_apart & set(places) <= item
    for joint, chunk_terms in shared.items():
        members = joints[joint]
        assert sum(len(clusters[c - 1]) for c in members) <= case.limit
        own = [case.baskets[r] for c in members for r in clusters[c - 1]]
        for terms in chunk_terms:
            assert oracle.is_km((b & terms for b in own), case.k, case.m)  # rule 1
            assert not terms & case.kept_apart  # rule 5
    for a, b in combinations(joints.values(), 2):
        assert a < b or b < a or not a & b


@settings(REPEATABLE, max_examples=40)
@given(case=cases())
def test_what_is_published_is_the_projection_of_the_data(desk: Desk, case: Case) -> None:
    case.run(desk)
    clusters, chunks = desk.clusters(), desk.chunks()
    joints, shared = desk.joints(), desk.shared()
    assert dict(desk.rows("srsql_pub_clusters")) == {
        number: len(records) for number, records in enumerate(clusters, 1)
    }
    assert set(desk.rows("srsql_pub_joint_clusters")) == {(j, c) for j in joints for c in joints[j]}
    own = {
        (number, chunk): [case.baskets[r] & terms for r in clusters[number - 1]]
        for number in chunks
        for chunk, terms in enumerate(chunks[number])
        if chunk > 0
    }
    assert _subrecords(desk.rows("srsql_pub_record_chunk")) == _non_empty(own)
    over = {
        (joint, chunk): [case.baskets[r] & terms for c in joints[joint] for r in clusters[c - 1]]
        for joint in shared
        for chunk, terms in enumerate(shared[joint], 1)
    }
    assert _subrecords(desk.rows("srsql_pub_shared_chunk")) == _non_empty(over)
    assert set(desk.rows("srsql_pub_item_chunk")) == {
        (number, f"T{t:03}") for number in chunks for t in chunks[number][0]
    }


@settings(REPEATABLE, max_examples=40)
@given(case=cases())
def test_a_reconstruction_is_a_dataset_that_the_release_may_stand_for(
    desk: Desk, case: Case
) -> None:
    case.run(desk, seed=7)
    rows = desk.rows("srsql_pub_reconstructed")
    home = {}
    start = 0
    for cluster, records in sorted(desk.rows("srsql_pub_clusters")):
        home |= {start + i: cluster for i in range(1, records + 1)}
        start += records
    assert all(home[record] == cluster for record, cluster, _ in rows)
    baskets: dict[int, set[int]] = {record: set() for record in home}
    for record, _, term in rows:
        baskets[record].add(int(term[1:]))
    assert sum(map(len, baskets.values())) == len(rows)
    for number, chunks in desk.chunks().items():
        own = [basket for record, basket in baskets.items() if home[record] == number]
        for t in chunks[0]:
            assert sum(t in basket for basket in own) == 1
        for chunk, terms in enumerate(chunks[1:], 1):
            published = [r for r in desk.rows("srsql_pub_record_chunk") if r[:2] == (number, chunk)]
            assert Counter(frozenset(b & terms) for b in own if b & terms) == Counter(
                _subrecords(published)[number, chunk]
            )
    for joint, members in desk.joints().items():
        own = [basket for record, basket in baskets.items() if home[record] in members]
        for chunk, terms in enumerate(desk.shared()[joint], 1):
            published = [r for r in desk.rows("srsql_pub_shared_chunk") if r[:2] == (joint, chunk)]
            assert Counter(frozenset(b & terms) for b in own if b & terms) == Counter(
                _subrecords(published)[joint, chunk]
            )


def _subrecords(rows: list[tuple[Any, ...]]) -> dict[tuple[int, int], Counter[frozenset[int]]]:
    """Subrecords by chunk; their numbers have no gaps."""
    found: dict[tuple[int, int], dict[int, set[int]]] = {}
    for owner, chunk, subrecord, term in rows:
        terms = found.setdefault((owner, chunk), {}).setdefault(subrecord, set())
        assert int(term[1:]) not in terms
        terms.add(int(term[1:]))
    for subrecords in found.values():
        assert set(subrecords) == set(range(1, len(subrecords) + 1))
    return {key: Counter(map(frozenset, found[key].values())) for key in found}


def _non_empty(
    chunks: dict[tuple[int, int], list[frozenset[int]]],
) -> dict[tuple[int, int], Counter[frozenset[int]]]:
    return {key: Counter(s for s in subrecords if s) for key, subrecords in chunks.items()}
