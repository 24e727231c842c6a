"""The macros of disassociation one by one: each gets tables made by the definitions alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import disassociation as oracle
from oracles.examples import REPEATABLE
from support.disassociation_cases import Case, cases
from support.published_terms import fill

pytestmark = pytest.mark.slow

MOST = st.sampled_from([1, 2, 3, 99])
"""Terms of a chunk."""
SOME = settings(REPEATABLE, max_examples=40)
BASKET, ROLES, CLUSTERS, CHUNKS, ROOM = (
    f"'temp.main.dis_{name}'" for name in ("basket", "roles", "clusters", "chunks", "room")
)


def put(sql: Any, case: Case) -> None:
    """The baskets, and the roles of their terms as ``srsql.term_roles`` tells them."""
    held = [(r, t) for r, basket in enumerate(case.baskets) for t in sorted(basket)]
    fill(sql, "dis_basket", ("record_no INTEGER", "term_no INTEGER"), held)
    fill(sql, "dis_parts", ("record_no INTEGER", "part_no INTEGER"), list(enumerate(case.parts)))
    constrained = [(t, u) for u, terms in enumerate(case.policy) for t in sorted(terms)]
    fill(sql, "dis_policy", ("term_no INTEGER", "constraint_no INTEGER"), constrained)
    fill(sql, "dis_apart", ("term_no INTEGER",), [(t,) for t in sorted(case.kept_apart)])
    sql.rows(
        "CREATE OR REPLACE TEMP TABLE dis_roles AS "
        f"FROM srsql.term_roles({BASKET}, 'temp.main.dis_policy', 'temp.main.dis_apart')"
    )


def put_clusters(sql: Any, clusters: list[frozenset[int]]) -> None:
    rows = [(record, n) for n, records in enumerate(clusters, 1) for record in sorted(records)]
    fill(sql, "dis_clusters", ("record_no INTEGER", "cluster_no INTEGER"), rows)


def put_chunks(sql: Any, made: list[oracle.Cluster]) -> None:
    """Terms by cluster and chunk; chunk 0 is the item chunk."""
    fill(
        sql,
        "dis_chunks",
        ("cluster_no INTEGER", "chunk_no INTEGER", "term_no INTEGER"),
        [
            (n, chunk, term)
            for n, cluster in enumerate(made, 1)
            for chunk, terms in enumerate([cluster.items, *cluster.chunks])
            for term in sorted(terms)
        ],
    )


def clusters_of(case: Case) -> list[frozenset[int]]:
    return oracle.horpart(
        case.baskets, case.parts, case.policy, case.kept_apart, case.max_size, case.least,
        by_terms=case.lexicographic,
    )  # fmt: skip


def verticals(case: Case, most: int = oracle.ALL) -> list[oracle.Cluster]:
    return [
        oracle.vertical(case.baskets, cluster, case.policy, case.kept_apart, case.k, case.m, most)
        for cluster in clusters_of(case)
    ]


@pytest.mark.thorough
@SOME
@given(case=cases())
def test_the_list_of_roles_has_each_term_once(sql: Any, case: Case) -> None:
    put(sql, case)
    ((found,),) = sql.rows(f"FROM srsql.role_list({ROLES})")
    support = oracle.support(case.baskets)
    order = sorted(support, key=lambda t: (-support[t], t))
    assert sorted(found, key=lambda role: role["place"]) == [
        {
            "term_no": term,
            "constraint_no": next((u for u, c in enumerate(case.policy) if term in c), -1),
            "kept_apart": term in case.kept_apart,
            "place": place,
        }
        for place, term in enumerate(order)
    ]


@pytest.mark.thorough
@SOME
@given(case=cases())
def test_horizontal_parts_are_the_clusters_of_horpart(sql: Any, case: Case) -> None:
    put(sql, case)
    rows = sql.rows(
        "SELECT record_no, cluster_no FROM srsql.horizontal_parts"
        f"({BASKET}, 'temp.main.dis_parts', {ROLES}, {case.max_size}, {case.least}, "
        f"{case.lexicographic})"
    )
    expected = [(r, n) for n, records in enumerate(clusters_of(case), 1) for r in records]
    assert sorted(rows) == sorted(expected)


@SOME
@given(case=cases(), most=MOST)
def test_vertical_chunks_are_those_of_verpart(sql: Any, case: Case, most: int) -> None:
    put(sql, case)
    put_clusters(sql, clusters_of(case))
    rows = sql.rows(
        "SELECT cluster_no, chunk_no, term_no FROM srsql.vertical_chunks"
        f"({BASKET}, {CLUSTERS}, {ROLES}, {case.k}, {case.m}, {most})"
    )
    expected = [
        (n, chunk, term)
        for n, cluster in enumerate(verticals(case, most), 1)
        for chunk, terms in enumerate([cluster.items, *cluster.chunks])
        for term in terms
    ]
    assert sorted(rows) == sorted(expected)


@pytest.mark.thorough
@SOME
@given(case=cases())
def test_an_item_chunk_may_be_empty_where_the_subrecords_suffice_or_a_term_is_kept_apart(
    sql: Any, case: Case
) -> None:
    put(sql, case)
    made = verticals(case)
    put_clusters(sql, [cluster.records for cluster in made])
    put_chunks(sql, made)
    rows = sql.rows(
        "SELECT cluster_no, records, may_empty FROM srsql.cluster_room"
        f"({BASKET}, {CLUSTERS}, {CHUNKS}, {ROLES}, {case.k}, {case.m})"
    )
    expected = []
    for n, cluster in enumerate(made, 1):
        own = [case.baskets[r] for r in cluster.records]
        pieces = [[basket & chunk for basket in own] for chunk in cluster.chunks]
        spare = oracle.enough(pieces, len(own), case.k, case.m)
        expected.append((n, len(own), spare or bool(cluster.items & case.kept_apart)))
    assert sorted(rows) == expected


@pytest.mark.thorough
@SOME
@given(case=cases(), most=MOST)
def test_refining_joins_the_clusters_and_shares_the_terms_of_the_definition(
    sql: Any, case: Case, most: int
) -> None:
    put(sql, case)
    made = verticals(case, most)
    put_clusters(sql, [cluster.records for cluster in made])
    put_chunks(sql, made)
    sql.rows(
        "CREATE OR REPLACE TEMP TABLE dis_room AS FROM srsql.cluster_room"
        f"({BASKET}, {CLUSTERS}, {CHUNKS}, {ROLES}, {case.k}, {case.m})"
    )
    ((members, terms),) = sql.rows(
        "SELECT members, terms FROM srsql.refined"
        f"({BASKET}, {CLUSTERS}, {CHUNKS}, {ROOM}, {ROLES}, {case.k}, {case.m}, {case.limit}, "
        f"{most}, {case.partners})"
    )
    expected = oracle.Disassociated(made)
    oracle.refine(
        expected, case.baskets, case.policy, case.kept_apart, case.k, case.m, case.limit, most,
        case.partners,
    )  # fmt: skip
    assert {(m["joint_no"], m["cluster_no"]) for m in members} == {
        (joint, cluster + 1)
        for joint, (clusters, _) in enumerate(expected.joints, 1)
        for cluster in clusters
    }
    assert {(t["joint_no"], t["chunk_no"], t["term_no"]) for t in terms} == {
        (joint, chunk, term)
        for joint, (_, chunks) in enumerate(expected.joints, 1)
        for chunk, shared in enumerate(chunks, 1)
        for term in shared
    }


@pytest.mark.thorough
@SOME
@given(case=cases())
def test_parts_too_small_are_those_with_fewer_records_than_a_cluster(sql: Any, case: Case) -> None:
    put(sql, case)
    sizes = {part: case.parts.count(part) for part in set(case.parts)}
    for at_least in (case.least, case.least + 3, 31):
        rows = sql.rows(f"FROM srsql.parts_too_small('temp.main.dis_parts', {at_least})")
        assert dict(rows) == {part: n for part, n in sizes.items() if n < at_least}
