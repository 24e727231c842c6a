"""Generalized terms: which are united, and what their published tables tell of a set of terms."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.generalizing import generalized
from support.published_terms import fill

Node = frozenset[str]
Records = list[frozenset[Node]]
SOME = settings(REPEATABLE, max_examples=40)
NODES: list[list[Node]] = [
    [frozenset("a"), frozenset("bc")],
    [frozenset("ab"), frozenset("cd")],
    [frozenset("a"), frozenset("b"), frozenset("c")],
]
TERMS = "abcdz"
"""No node has z: it is suppressed."""


@pytest.mark.slow
@SOME
@given(
    baskets=st.lists(st.frozensets(st.integers(0, 7), min_size=1, max_size=5), min_size=1,
                     max_size=20),
    owner=st.lists(st.integers(0, 3), min_size=8, max_size=8),
    k=st.integers(2, 4),
    m=st.integers(1, 3),
)  # fmt: skip
def test_the_macro_unites_and_suppresses_the_terms_of_the_definition(
    sql: Any, baskets: list[frozenset[int]], owner: list[int], k: int, m: int
) -> None:
    """Nodes are numbered by their least term; a constraint may have terms that nobody holds."""
    policy = [frozenset(t for t in range(8) if owner[t] == u) for u in range(3)]
    held = [(n, term) for n, basket in enumerate(baskets) for term in sorted(basket)]
    basket = fill(sql, "cba_basket", ("record_no INTEGER", "term_no INTEGER"), held)
    constraints = fill(
        sql,
        "cba_policy",
        ("term_no INTEGER", "constraint_no INTEGER"),
        [(t, u) for u, terms in enumerate(policy) for t in sorted(terms)],
    )
    rows = sql.rows(f"FROM srsql.generalized_nodes('{basket}', '{constraints}', {k}, {m})")
    known = frozenset().union(*baskets)
    nodes = generalized(baskets, [u & known for u in policy], k, m)
    numbers = {node: number for number, node in enumerate(sorted(nodes, key=min), 1)}
    assert dict(rows) == {
        term: next((numbers[node] for node in nodes if term in node), None) for term in known
    }
    assert len(rows) == len(known)


def subsets(node: Node) -> list[Node]:
    return [frozenset(c) for n in range(1, len(node) + 1) for c in combinations(sorted(node), n)]


def originals(record: frozenset[Node]) -> list[frozenset[str]]:
    """What a published record may stand for: a non-empty subset of each of its nodes."""
    ways = product(*(subsets(node) for node in sorted(record, key=min)))
    return [frozenset().union(*way) for way in ways]


def fitting(records: Records) -> list[tuple[frozenset[str], ...]]:
    """The datasets that the release may stand for: every term of a node occurs somewhere."""
    shown = frozenset().union(*(node for record in records for node in record))
    return [
        dataset
        for dataset in product(*map(originals, records))
        if frozenset().union(*dataset) == shown
    ]


def put(sql: Any, records: Records, nodes: list[Node]) -> str:
    """The published tables and every set of one to three terms; the arguments of a macro."""
    rows = [
        (n, nodes.index(node) + 1) for n, record in enumerate(records, 1) for node in record
    ] + [(n, None) for n, record in enumerate(records, 1) if not record]
    shown = fill(sql, "cba_shown", ("record INTEGER", "node INTEGER"), rows)
    named = fill(
        sql,
        "cba_node",
        ("node INTEGER", "term VARCHAR"),
        [(n, term) for n, node in enumerate(nodes, 1) for term in sorted(node)],
    )
    asked = [(n, term) for n, terms in enumerate(asked_sets()) for term in terms]
    sets = fill(sql, "cba_set", ("set_no INTEGER", "term VARCHAR"), asked)
    return f"('{shown}', '{named}', '{sets}')"


def asked_sets() -> list[tuple[str, ...]]:
    return [terms for n in (1, 2, 3) for terms in combinations(TERMS, n)]


@st.composite
def releases(draw: st.DrawFn) -> tuple[Records, list[Node]]:
    """Up to three records; every node is some record's."""
    nodes = draw(st.sampled_from(NODES))
    records = draw(st.lists(st.frozensets(st.sampled_from(nodes)), min_size=1, max_size=3))
    used = frozenset().union(*records)
    return records, [node for node in nodes if node in used]


@SOME
@given(release=releases())
def test_counts_hold_for_every_dataset_and_expect_any_subset_alike(
    sql: Any, release: tuple[Records, list[Node]]
) -> None:
    records, nodes = release
    released = frozenset().union(*nodes)
    rows = sql.records(f"FROM srsql.node_counts{put(sql, records, nodes)} ORDER BY set_no")
    datasets = fitting(records)
    for asked, row in zip(map(frozenset, asked_sets()), rows, strict=True):
        counts = [sum(asked <= record for record in dataset) for dataset in datasets]
        if not asked <= released:
            assert (row["lower"], row["expected"]) == (0, 0)
            told = asked & released
            counts = [sum(told <= record for record in dataset) for dataset in datasets]
            assert row["upper"] >= max(counts)
            continue
        assert row["lower"] <= min(counts)
        assert row["upper"] >= max(counts)
        ways = [originals(record) for record in records]
        mean = sum(sum(asked <= one for one in made) / len(made) for made in ways)
        assert row["expected"] == pytest.approx(max(mean, 1.0 if len(asked) == 1 else 0.0))
        if all(len(node) == 1 for node in nodes if node & asked):
            assert row["lower"] == row["expected"] == row["upper"] == counts[0]


@SOME
@given(release=releases())
def test_matches_expect_any_subset_of_a_node_alike(
    sql: Any, release: tuple[Records, list[Node]]
) -> None:
    records, nodes = release
    rows = sql.records(f"FROM srsql.node_matches{put(sql, records, nodes)} ORDER BY set_no")
    for asked, row in zip(map(frozenset, asked_sets()), rows, strict=True):
        ways = [originals(record) for record in records]
        mean = sum(sum(bool(asked & one) for one in made) / len(made) for made in ways)
        assert row["expected"] == pytest.approx(mean, abs=1e-12)
