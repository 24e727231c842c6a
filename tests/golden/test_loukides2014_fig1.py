"""Loukides 2014, sections 3 to 5, on the paper's own Fig. 1: what its text and Figs. 4, 5, 10 and
11 state of these ten records, at k = 3, m = 2 and maxClusterSize = 6.

Where the paper and the program differ, and rightly so (SPEC section 11):

* Lines 15 to 17 of VERPART take a code out of a chunk again when *not* all codes of its constraint
  are in the chunk. The prose of section 4 prints the opposite ("all codes in u have also been
  assigned"); section 5 takes 692.71 out because 695.10 is missing, and is followed.
* Section 5 refines because the support of 834.0 and 944.01 is 2 + 2 = 4 > k. That is the support of
  each code alone; together they are in three records (as section 4 counts), which is k and enough.
* Section 1.2 retains "the exact counts of 8 out of 13 codes (i.e., those in u1 and u3)". The eight
  codes of Fig. 4 that are in record chunks are those of u1 and u2; both codes of u3 are in item
  chunks, where an attacker learns no count.
* Subrecords of a chunk come in a random order, so chunks are compared as multisets. An empty
  subrecord is published by its absence: a chunk of fewer subrecords than its cluster has records.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from oracles import disassociation as oracle
from oracles.published_terms import reconstruct, witness
from support.baskets import Desk
from support.medical_codes import example
from support.published_terms import check_originals, load_originals, published_again

from srsql.engine.catalog.released_terms import PublishedTerms
from srsql.engine.checks.term_chunks import check_terms
from srsql.engine.risk.term_counts import count_terms
from srsql.engine.risk.term_loss import matching_errors
from srsql.engine.terms.policies import UtilityPolicy

FIG_1 = example("loukides2014_fig1")
K, M, MAX_SIZE = 3, 2, 6
P1, P2 = frozenset(range(5)), frozenset(range(5, 10))
U1 = FIG_1.policy[0]
MANIC, SUN, HAND = {"296.00", "296.01", "296.02"}, {"692.71", "695.10"}, {"834.0", "944.01"}
DEMENTIA = {"294.10", "295.04", "296.03"}
TABLES = PublishedTerms(
    *(
        f"temp.main.srsql_pub_{name}"
        for name in ("clusters", "joint_clusters", "record_chunk", "shared_chunk", "item_chunk")
    )
)


@pytest.fixture(scope="module")
def fig_4() -> Iterator[Desk]:
    """Disassociated without refining: no joint cluster may have more than one record."""
    yield from _disassociated(joint_limit=1)


@pytest.fixture(scope="module")
def fig_10() -> Iterator[Desk]:
    """Disassociated."""
    yield from _disassociated()


def _disassociated(**options: Any) -> Iterator[Desk]:
    desk = Desk()
    desk.put(FIG_1.baskets, constraints=FIG_1.constraints, names=dict(enumerate(FIG_1.codes)))
    desk.run(K, M, max_size=MAX_SIZE, seed=1, **options)
    yield desk
    desk.close()


def put_originals(desk: Desk) -> None:
    """The records beside their clusters: ``temp.main.originals`` and ``temp.main.members``."""
    load_originals(desk, FIG_1.records, [1 if i in P1 else 2 for i in range(10)])


def coded(chunks: list[frozenset[int]]) -> list[set[str]]:
    return [{FIG_1.codes[number] for number in chunk} for chunk in chunks]


# --- Sections 1 and 3: the original records ------------------------------------------------------


def test_fig_1_has_ten_records_of_thirteen_codes() -> None:
    assert len(FIG_1.records) == 10
    assert len(FIG_1.codes) == 13
    assert frozenset().union(*FIG_1.policy) == set(FIG_1.codes)
    assert sum(map(len, FIG_1.policy)) == 13


def test_two_codes_single_out_r1_and_neither_alone_does() -> None:
    known = {"296.01", "834.0"}
    assert [i for i, r in enumerate(FIG_1.records, 1) if known <= r] == [1]
    assert all(FIG_1.support({code}) > 1 for code in known)


def test_four_records_match_u3_and_none_holds_both_of_its_codes() -> None:
    u3 = FIG_1.policy[2]
    assert u3 == {"401.0", "404.00"}
    assert sum(bool(u3 & r) for r in FIG_1.records) == 4
    assert FIG_1.support(u3) == 0


# --- Section 5, horizontal partitioning (Figs. 8 and 11) -----------------------------------------


def test_the_first_split_is_on_296_00_the_most_frequent_code_of_a_constraint() -> None:
    support = oracle.support(FIG_1.records)
    assert support["296.00"] == 5
    assert sorted(support.values())[-2] == 4
    assert {i for i, r in enumerate(FIG_1.records) if "296.00" in r} == P1


@pytest.mark.slow
def test_horpart_makes_the_two_clusters_of_fig_11(fig_4: Desk) -> None:
    assert fig_4.clusters() == [P1, P2]
    clusters = oracle.horpart(FIG_1.baskets, [0] * 10, FIG_1.constraints, frozenset(), MAX_SIZE, K)
    assert clusters == [P1, P2]


# --- Section 5, vertical partitioning (Figs. 4 and 9) --------------------------------------------


def test_three_codes_of_p1_are_rarer_than_k_and_go_to_its_item_chunk() -> None:
    support = oracle.support(FIG_1.records[i] for i in P1)
    assert {code for code in support if support[code] < K} == {"401.0"} | HAND
    assert {support[code] for code in HAND} == {2}


def test_line_5_orders_the_codes_of_p1_by_constraint() -> None:
    own = [FIG_1.baskets[i] for i in sorted(P1)]
    frequent = FIG_1.numbers(MANIC | SUN)
    ordered = oracle.chunk_order(frequent, oracle.support(own), FIG_1.constraints)
    assert [FIG_1.codes[n] for n in ordered] == ["296.00", "296.01", "296.02", "692.71", "695.10"]


def test_692_71_enters_the_first_chunk_of_p1_and_695_10_does_not() -> None:
    assert [i for i, r in enumerate(FIG_1.records, 1) if {"296.01", "695.10"} <= r] == [2, 5]
    own = [FIG_1.records[i] for i in sorted(P1)]
    for codes, anonymous in ((MANIC | {"692.71"}, True), (MANIC | SUN, False)):
        subrecords = (FIG_1.numbers(r & codes) for r in own)
        assert oracle.is_km(subrecords, K, M) == anonymous


def test_verpart_keeps_u1_and_u2_in_a_chunk_each(fig_4: Desk) -> None:
    chunks = {cluster: coded(found) for cluster, found in fig_4.chunks().items()}
    assert chunks == {
        1: [{"401.0"} | HAND, MANIC, SUN],
        2: [{"404.00", "480.1"} | HAND, DEMENTIA],
    }
    assert fig_4.joints() == {}


def test_the_kernels_and_the_definitions_agree_on_fig_4(fig_4: Desk) -> None:
    for cluster, records in enumerate((P1, P2), 1):
        made = oracle.vertical(FIG_1.baskets, records, FIG_1.constraints, frozenset(), K, M)
        assert fig_4.chunks()[cluster] == [frozenset(made.items), *made.chunks]


def test_r1_has_no_subrecord_in_the_second_chunk_of_p1(fig_4: Desk) -> None:
    """Section 3.2: its parts are {296.00, 296.01, 296.02}, {} and {834.0, 944.01}."""
    r1 = FIG_1.records[0]
    assert [r1 & MANIC, r1 & SUN, r1 & ({"401.0"} | HAND)] == [MANIC, set(), HAND]
    made = fig_4.published()
    assert [len(made.own[1, chunk]) for chunk in (1, 2)] == [5, 4]
    assert made.records == {1: 5, 2: 5}


def test_296_03_and_294_10_are_together_as_often_as_834_0_and_944_01() -> None:
    """Section 4, of the codes that may be shared: three times over both clusters."""
    assert FIG_1.support({"294.10", "296.03"}, P2) == 3
    assert FIG_1.support(HAND) == 3


def test_the_counts_of_eight_codes_are_exact_before_refining(fig_4: Desk) -> None:
    counts = count_terms(fig_4.warehouse, TABLES, [[code] for code in FIG_1.codes])
    exact = {c.terms[0] for c in counts if c.lower == c.upper}
    assert exact == U1 | SUN
    assert len(exact) == 8
    for count in counts:
        assert count.lower <= FIG_1.support(count.terms) <= count.upper


def test_a_code_of_an_item_chunk_may_be_anybodys_of_its_cluster(fig_4: Desk) -> None:
    """Section 3.2: "this number ranges from 1 to |P|"; 401.0 is in P1 alone."""
    (count,) = count_terms(fig_4.warehouse, TABLES, [["401.0"]])
    assert (count.lower, count.upper) == (1, len(P1))


def test_the_findings_of_the_first_two_studies_are_preserved(fig_4: Desk) -> None:
    """Section 1.2: MRE (Definition 3) of u1 and u2 is 0."""
    put_originals(fig_4)
    named = {f"u{i}": tuple(sorted(codes)) for i, codes in enumerate(FIG_1.policy, 1)}
    policy = UtilityPolicy("Fig. 3(b)", named)
    found = matching_errors(fig_4.warehouse, TABLES, "temp.main.originals", policy)
    errors = {c.constraint: c.mre for c in found.constraints}
    assert (errors["u1"], errors["u2"]) == (0, 0)
    truth = {c.constraint: c.truth for c in found.constraints}
    assert truth == {"u1": 10, "u2": 4, "u3": 4, "u4": 2, "u5": 5}


# --- Sections 4 and 5, refining (Fig. 10) --------------------------------------------------------


def test_each_code_to_share_is_in_two_records_of_each_cluster() -> None:
    for code in HAND:
        assert [FIG_1.support({code}, cluster) for cluster in (P1, P2)] == [2, 2]


@pytest.mark.slow
def test_refining_shares_834_0_and_944_01_between_both_clusters(fig_10: Desk) -> None:
    assert fig_10.joints() == {1: {1, 2}}
    assert {joint: coded(chunks) for joint, chunks in fig_10.shared().items()} == {1: [HAND]}
    assert {cluster: coded(chunks) for cluster, chunks in fig_10.chunks().items()} == {
        1: [{"401.0"}, MANIC, SUN],
        2: [{"404.00", "480.1"}, DEMENTIA],
    }


def test_the_shared_chunk_has_the_parts_of_five_records(fig_10: Desk) -> None:
    made = fig_10.published()
    parts = Counter(r & HAND for r in FIG_1.records if r & HAND)
    assert Counter(made.shared[1, 1]) == parts
    assert sum(parts.values()) == 5


def test_the_kernels_and_the_definitions_agree_on_fig_10(fig_10: Desk) -> None:
    made = oracle.disassociated(
        FIG_1.baskets, K, M,
        policy=FIG_1.constraints, max_size=MAX_SIZE, least=K, limit=8 * MAX_SIZE,
    )  # fmt: skip
    assert [c.records for c in made.clusters] == fig_10.clusters()
    chunks = [[frozenset(c.items), *c.chunks] for c in made.clusters]
    assert chunks == list(fig_10.chunks().values())
    assert made.joints == [((0, 1), [FIG_1.numbers(HAND)])]


# --- Definition 1 and Guarantee 1 ----------------------------------------------------------------


@pytest.mark.parametrize("figure", ["fig_4", "fig_10"])
def test_the_release_keeps_3_to_the_2_and_holds_its_originals(
    figure: str, request: pytest.FixtureRequest
) -> None:
    desk: Desk = request.getfixturevalue(figure)
    put_originals(desk)
    rows = check_terms(desk.warehouse, TABLES, 9, K, M)
    rows += check_originals(desk.warehouse, TABLES, 9, "temp.main.originals", "temp.main.members")
    assert all(row.passed for row in rows), rows
    broken = {r.measure for r in check_terms(desk.warehouse, TABLES, 9, K + 1, M) if not r.passed}
    assert "check_km" in broken


@pytest.mark.parametrize("figure", ["fig_4", "fig_10"])
def test_three_records_can_hold_any_two_codes_of_a_record(
    figure: str, request: pytest.FixtureRequest
) -> None:
    """Guarantee 1: among the datasets that the release stands for is one with three candidates."""
    made = request.getfixturevalue(figure).published()
    for number, record in enumerate(FIG_1.records):
        for size in range(1, M + 1):
            for known in map(frozenset, combinations(sorted(record), size)):
                dataset = witness(made, 1 + (number in P2), known, K)
                assert sum(known <= r for r in dataset) >= K
                assert published_again(made, dataset) == made


def test_the_reconstructed_record_of_fig_5_is_in_no_original(fig_4: Desk) -> None:
    """Section 3.2: {296.00, 296.01}, {} and {834.0, 944.01} make a record that nobody had."""
    record = frozenset({"296.00", "296.01"} | HAND)
    assert record not in FIG_1.records
    made, luck = fig_4.published(), random.Random(0)
    assert frozenset({"296.00", "296.01"}) in made.own[1, 1]
    assert any(record in reconstruct(made, luck)[:5] for _ in range(2000))
