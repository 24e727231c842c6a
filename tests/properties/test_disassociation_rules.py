"""Disassociation: the kernels do what the definitions say, and every privacy rule holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import disassociation as oracle
from oracles.examples import REPEATABLE
from support.baskets import Desk
from support.disassociation_cases import Case, cases, crowds

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.close()


@settings(REPEATABLE, max_examples=90)
@given(case=st.one_of(cases(), crowds()))
def test_a_release_is_what_the_definitions_say_and_keeps_every_rule(desk: Desk, case: Case) -> None:
    case.run(desk, seed=7)
    made = Made(case, desk)
    made.is_what_the_definitions_say()
    made.keeps_the_rules_of_clusters()
    made.keeps_the_rules_of_joint_clusters()
    made.is_published_as_projections()
    made.is_reconstructed_as_a_dataset_it_may_stand_for()


class Made:
    """What the step made of a case."""

    def __init__(self, case: Case, desk: Desk) -> None:
        self.case, self.desk = case, desk
        self.clusters, self.chunks = desk.clusters(), desk.chunks()
        self.joints, self.shared = desk.joints(), desk.shared()
        for number in range(1, len(self.clusters) + 1):
            self.chunks.setdefault(number, [frozenset()])

    def is_what_the_definitions_say(self) -> None:
        expected = self.case.expected()
        assert self.clusters == [c.records for c in expected.clusters]
        for number, cluster in enumerate(expected.clusters, 1):
            assert self.chunks[number] == [frozenset(cluster.items), *cluster.chunks]
        assert list(self.joints.values()) == [
            frozenset(i + 1 for i in members) for members, _ in expected.joints
        ]
        assert list(self.shared.values()) == [chunks for _, chunks in expected.joints]

    def keeps_the_rules_of_clusters(self) -> None:
        case = self.case
        everyone = sorted(r for records in self.clusters for r in records)
        assert everyone == list(range(len(case.baskets)))
        for number, records in enumerate(self.clusters, 1):
            assert len(records) >= case.least  # rule 2
            assert len({case.parts[r] for r in records}) == 1
            own = [case.baskets[r] for r in records]
            item, *chunks = self.chunks[number]
            for terms in chunks:
                assert oracle.is_km((b & terms for b in own), case.k, case.m)  # rule 1
            if not item:  # rule 3
                filled = [[b & terms for b in own] for terms in chunks]
                assert oracle.enough(filled, len(own), case.k, case.m)
            above = [c for j, members in self.joints.items() if number in members
                     for c in self.shared[j]]  # fmt: skip
            places = Counter(t for terms in [item, *chunks, *above] for t in terms)
            assert all(times == 1 for times in places.values())  # rules 4 and 5
            assert frozenset().union(*own) <= set(places)  # no term is lost
            assert item <= frozenset().union(*own)
            assert case.kept_apart & set(places) <= item  # rule 5

    def keeps_the_rules_of_joint_clusters(self) -> None:
        case = self.case
        for joint, chunks in self.shared.items():
            members = self.joints[joint]
            own = [case.baskets[r] for c in members for r in self.clusters[c - 1]]
            assert len(own) <= case.limit
            assert chunks
            for terms in chunks:
                assert oracle.is_km((b & terms for b in own), case.k, case.m)  # rule 1
        for a, b in combinations(self.joints.values(), 2):
            assert a < b or b < a or not a & b

    def is_published_as_projections(self) -> None:
        rows, baskets = self.desk.rows, self.case.baskets
        assert dict(rows("srsql_pub_clusters")) == {
            number: len(records) for number, records in enumerate(self.clusters, 1)
        }
        assert rows("srsql_pub_joint_clusters") == [
            (j, c) for j in self.joints for c in sorted(self.joints[j])
        ]
        own = {
            (number, chunk): [baskets[r] & terms for r in self.clusters[number - 1]]
            for number in self.chunks
            for chunk, terms in enumerate(self.chunks[number])
            if chunk > 0
        }
        assert _subrecords(rows("srsql_pub_record_chunk")) == _non_empty(own)
        over = {
            (joint, chunk): [
                baskets[r] & terms for c in self.joints[joint] for r in self.clusters[c - 1]
            ]
            for joint in self.shared
            for chunk, terms in enumerate(self.shared[joint], 1)
        }
        assert _subrecords(rows("srsql_pub_shared_chunk")) == _non_empty(over)
        assert set(rows("srsql_pub_item_chunk")) == {
            (number, f"T{t:03}") for number in self.chunks for t in self.chunks[number][0]
        }

    def is_reconstructed_as_a_dataset_it_may_stand_for(self) -> None:
        home = [n for n, records in enumerate(self.clusters, 1) for _ in records]
        baskets: list[set[int]] = [set() for _ in home]
        rows = self.desk.rows("srsql_pub_reconstructed")
        for record, cluster, term in rows:
            assert home[record - 1] == cluster
            baskets[record - 1].add(int(term[1:]))
        assert sum(map(len, baskets)) == len(rows)
        for number, (item, *_) in self.chunks.items():
            own = [b for b, cluster in zip(baskets, home, strict=True) if cluster == number]
            assert all(sum(t in b for b in own) == 1 for t in item)
        places = {(False, n): (chunks, {n}) for n, chunks in self.chunks.items()}
        places |= {
            (True, j): ([frozenset(), *chunks], set(self.joints[j]))
            for j, chunks in self.shared.items()
        }
        for (shared, owner), (chunks, members) in places.items():
            table = f"srsql_pub_{'shared' if shared else 'record'}_chunk"
            published = _subrecords([r for r in self.desk.rows(table) if r[0] == owner])
            own = [b for b, cluster in zip(baskets, home, strict=True) if cluster in members]
            for chunk, terms in enumerate(chunks[1:], 1):
                sampled = Counter(frozenset(b & terms) for b in own if b & terms)
                assert sampled == published[owner, chunk]


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
