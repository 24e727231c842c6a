"""Loukides 2014, sections 4 and 5: the composed example of loukides2014/, step by step.

The paper's own Fig. 1 is in test_loukides2014_fig1.py; here refining empties an item chunk.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from oracles import disassociation as oracle
from support.baskets import Desk
from support.medical_codes import example

EXAMPLE = example("loukides2014")
K, M, MAX_SIZE = 3, 2, 6
P1, P2 = frozenset(range(5)), frozenset(range(5, 10))
RECORDS, POLICY, CODES = EXAMPLE.records, EXAMPLE.policy, EXAMPLE.codes
BASKETS, CONSTRAINTS, numbers = EXAMPLE.baskets, EXAMPLE.constraints, EXAMPLE.numbers
U1 = {"296.00", "296.01", "296.02"}
SUN = {"692.71", "695.10"}
HAND = {"834.0", "944.01"}


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    made = Desk()
    made.put(BASKETS, constraints=CONSTRAINTS, names=dict(enumerate(CODES)))
    made.run(K, M, max_size=MAX_SIZE, seed=1)
    yield made
    made.close()


def test_the_first_split_is_on_the_most_frequent_code_of_a_constraint() -> None:
    count = oracle.support(RECORDS)
    constrained = {code: n for code, n in count.items() if any(code in u for u in POLICY)}
    assert count["296.00"] == 5
    assert max(constrained, key=constrained.__getitem__) == "296.00"
    assert {i for i, r in enumerate(RECORDS) if "296.00" in r} == P1


def test_horpart_makes_the_clusters_of_fig_11(desk: Desk) -> None:
    assert desk.clusters() == [P1, P2]
    assert oracle.horpart(BASKETS, [0] * 10, CONSTRAINTS, frozenset(), MAX_SIZE, K) == [P1, P2]


def test_695_10_cannot_join_the_first_chunk_of_p1() -> None:
    own = [RECORDS[r] for r in sorted(P1)]
    both = [i for i, r in enumerate(own, 1) if {"296.01", "695.10"} <= r]
    assert both == [2, 5]
    assert oracle.is_km((r & (numbers(U1 | {"692.71"})) for r in map(numbers, own)), K, M)
    assert not oracle.is_km((r & numbers(U1 | SUN) for r in map(numbers, own)), K, M)


def test_verpart_keeps_the_constraints_of_p1_whole() -> None:
    made = oracle.vertical(BASKETS, P1, CONSTRAINTS, frozenset(), K, M)
    assert made.items == numbers({"401.0"} | HAND)
    assert made.chunks == [numbers(U1), numbers(SUN)]


def test_verpart_leaves_two_codes_of_p2_in_its_item_chunk() -> None:
    made = oracle.vertical(BASKETS, P2, CONSTRAINTS, frozenset(), K, M)
    assert made.items == numbers(HAND)
    assert made.chunks[0] == numbers({"401.0", "404.00"})


def test_refining_moves_what_both_item_chunks_have_into_a_shared_chunk(desk: Desk) -> None:
    assert sum(r >= HAND for r in RECORDS) == 4
    assert desk.joints() == {1: {1, 2}}
    assert desk.shared() == {1: [numbers(HAND)]}
    assert desk.chunks() == {
        1: [numbers({"401.0"}), numbers(U1), numbers(SUN)],
        2: [
            frozenset(),
            numbers({"401.0", "404.00"}),
            numbers({"294.10", "296.03"}),
            numbers({"295.04"}),
        ],
    }


def test_the_kernels_and_the_definitions_agree_on_the_example(desk: Desk) -> None:
    made = oracle.disassociated(
        BASKETS, K, M, policy=CONSTRAINTS, max_size=MAX_SIZE, least=K, limit=8 * MAX_SIZE
    )
    assert [c.records for c in made.clusters] == desk.clusters()
    assert [[frozenset(c.items), *c.chunks] for c in made.clusters] == list(desk.chunks().values())
    assert made.joints == [((0, 1), [numbers(HAND)])]


def test_r1_has_an_empty_subrecord_in_the_second_chunk_of_p1(desk: Desk) -> None:
    assert not RECORDS[0] & SUN
    rows = [row for row in desk.rows("srsql_pub_record_chunk") if row[:2] == (1, 2)]
    assert {subrecord for _, _, subrecord, _ in rows} == {1, 2, 3, 4}
    assert dict(desk.rows("srsql_pub_clusters")) == {1: 5, 2: 5}
    assert desk.rows("srsql_pub_item_chunk") == [(1, "401.0")]
