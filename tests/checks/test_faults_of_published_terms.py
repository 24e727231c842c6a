"""What is wrong with the published tables of terms: each fault is named, and none is made up."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.published_terms import covers_its_records, is_km_anonymous
from support.published_terms import Published, Subrecord, load

SOME = settings(REPEATABLE, max_examples=40)
CLUSTERS, JOINTS, OWN, SHARED, ITEM = (
    f"'temp.main.{name}'"
    for name in ("clusters", "joint_clusters", "record_chunk", "shared_chunk", "item_chunk")
)
subrecords = st.lists(st.frozensets(st.sampled_from("abcde"), min_size=1), min_size=1, max_size=8)


@pytest.mark.slow
@SOME
@given(
    chunks=st.lists(subrecords, min_size=1, max_size=2), shared=subrecords, k=st.integers(1, 4),
    m=st.integers(1, 6),
)  # fmt: skip
def test_a_breach_of_km_names_terms_that_so_few_subrecords_have(
    sql: Any, chunks: list[list[Subrecord]], shared: list[Subrecord], k: int, m: int
) -> None:
    """One breach a chunk: the terms ``known`` are together in ``subrecords`` subrecords alone."""
    made = Published(
        {1: 9, 2: 9}, {1: frozenset({1, 2})},
        own={(1, n): chunk for n, chunk in enumerate(chunks, 1)}, shared={(1, 1): shared},
    )  # fmt: skip
    load(sql, made.rows())
    rows = sql.records(f"FROM srsql.km_breaches({OWN}, {SHARED}, {k}, {m}, 1000000)")
    every = {(False, *key): chunk for key, chunk in made.own.items()}
    every |= {(True, *key): chunk for key, chunk in made.shared.items()}
    assert sorted((row["shared"], row["owner"], row["chunk"]) for row in rows) == sorted(
        key for key, chunk in every.items() if not is_km_anonymous(chunk, k, m)
    )
    for row in rows:
        chunk = every[row["shared"], row["owner"], row["chunk"]]
        assert 1 <= len(row["known"]) <= m
        assert row["known"] == sorted(set(row["known"]))
        assert row["subrecords"] == sum(set(row["known"]) <= s for s in chunk)
        assert 1 <= row["subrecords"] < k


@pytest.mark.slow
@SOME
@given(
    own=st.lists(subrecords, max_size=3), records=st.integers(5, 10), k=st.integers(1, 4),
    m=st.integers(1, 4), item=st.booleans(),
)  # fmt: skip
def test_a_bare_cluster_is_named_with_what_it_needs(
    sql: Any, own: list[list[Subrecord]], records: int, k: int, m: int, item: bool
) -> None:
    made = Published(
        {1: records},
        own={(1, n): chunk for n, chunk in enumerate(own, 1)},
        items={1: frozenset("z")} if item else {},
    )
    load(sql, made.rows())
    rows = sql.records(f"FROM srsql.bare_clusters({CLUSTERS}, {OWN}, {ITEM}, {k}, {m})")
    filled = sum(map(len, own))
    expected = {
        "cluster": 1,
        "records": records,
        "chunks": len(own),
        "subrecords": filled,
        "needed": records + k * (max(1, min(m, len(own))) - 1),
    }
    assert rows == ([] if covers_its_records(made, 1, k, m) else [expected])


def doubled(rows: dict[str, list[tuple[Any, ...]]]) -> set[tuple[str, int, str]]:
    """(scope, owner, term) of each term that stands in two places of one cluster."""
    own = {(cluster, chunk, term) for cluster, chunk, _, term in rows["record_chunk"]}
    above = {(joint, chunk, term) for joint, chunk, _, term in rows["shared_chunk"]}
    item, members = set(rows["item_chunk"]), set(rows["joint_clusters"])
    found = {
        ("record chunk", c, t) for c, n, t in own for d, o, u in own if (c, t) == (d, u) and n != o
    }
    found |= {("item chunk", c, t) for c, t in item if any((c, t) == (d, u) for d, _, u in own)}
    below = {(c, t) for c, _, t in own} | item
    found |= {
        ("shared chunk", c, t) for c, t in below for j, _, u in above
        if t == u and (j, c) in members
    }  # fmt: skip
    for (j, n, t), (i, o, u) in combinations(sorted(above), 2):
        together = {c for k, c in members if k == j} & {c for k, c in members if k == i}
        if t == u and together and (j, n) != (i, o):
            found.add(("shared chunk", min(i, j), t))
    return found


@pytest.mark.slow
@SOME
@given(luck=st.randoms(use_true_random=False))
def test_a_term_in_two_places_of_a_cluster_is_named(sql: Any, luck: random.Random) -> None:
    def rows(most: int, *columns: range | str) -> list[tuple[Any, ...]]:
        return [tuple(luck.choice(c) for c in columns) for _ in range(luck.randint(0, most))]

    three, two, terms = range(1, 4), range(1, 3), "abcd"
    tables: dict[str, list[tuple[Any, ...]]] = {
        "clusters": [(c, 9) for c in three],
        "joint_clusters": sorted(set(rows(5, two, three))),
        "record_chunk": rows(5, three, two, two, terms),
        "shared_chunk": rows(5, two, two, two, terms),
        "item_chunk": sorted(set(rows(5, three, terms))),
    }
    load(sql, tables)
    found = sql.rows(f"FROM srsql.doubled_terms({JOINTS}, {OWN}, {SHARED}, {ITEM})")
    assert set(found) == doubled(tables)


SOUND: dict[str, list[tuple[Any, ...]]] = {
    "clusters": [(1, 3), (2, 4), (3, 2)],
    "joint_clusters": [(1, 1), (1, 2)],
    "record_chunk": [(1, 1, 1, "a"), (1, 1, 2, "a"), (1, 1, 2, "b"), (2, 1, 1, "c")],
    "shared_chunk": [(1, 1, 1, "x"), (1, 1, 2, "x")],
    "item_chunk": [(1, "d"), (3, "d")],
}
FAULTS: list[tuple[str, list[tuple[Any, ...]], str, str]] = [
    ("clusters", [(1, 3)], "cluster", "cluster 1 has 2 row(s) and 3 records"),
    ("clusters", [(9, 0)], "cluster", "cluster 9 has 1 row(s) and 0 records"),
    ("clusters", [(None, 3)], "cluster", "cluster NULL has 1 row(s) and 3 records"),
    ("joint_clusters", [(1, 1)], "joint cluster", "joint cluster 1 has cluster 1 2 time(s)"),
    ("joint_clusters", [(1, None)], "joint cluster", "joint cluster 1 has cluster NULL 1 time(s)"),
    ("joint_clusters", [(1, 8)], "joint cluster", "joint cluster 1 has the unknown cluster 8"),
    ("joint_clusters", [(2, 3)], "joint cluster", "joint cluster 2 has one cluster"),
    ("joint_clusters", [(2, 1), (2, 2)], "joint cluster", "joint cluster 2 has no shared chunk"),
    ("joint_clusters", [(2, 2), (2, 3)], "joint cluster",
     "joint clusters 1 and 2 overlap, and neither holds the other"),
    ("record_chunk", [(1, 1, 1, "a")], "record chunk",
     "cluster 1, chunk 1, subrecord 1: term a stands 2 time(s)"),
    ("record_chunk", [(1, 1, 1, None)], "record chunk",
     "cluster 1, chunk 1, subrecord 1: term NULL stands 1 time(s)"),
    ("record_chunk", [(3, 1, 2, "a")], "record chunk",
     "cluster 3, chunk 1: 1 subrecords of 2 records, numbered 2 to 2"),
    ("record_chunk", [(3, 1, n, "a") for n in (1, 2, 3)], "record chunk",
     "cluster 3, chunk 1: 3 subrecords of 2 records, numbered 1 to 3"),
    ("record_chunk", [(7, 1, 1, "a")], "record chunk",
     "cluster 7, chunk 1: 1 subrecords of unknown records, numbered 1 to 1"),
    ("shared_chunk", [(1, 1, 1, "x")], "shared chunk",
     "joint cluster 1, chunk 1, subrecord 1: term x stands 2 time(s)"),
    ("shared_chunk", [(1, 2, 1, "y"), (1, 2, 3, "y")], "shared chunk",
     "joint cluster 1, chunk 2: 2 subrecords of 7 records, numbered 1 to 3"),
    ("shared_chunk", [(5, 1, 1, "y")], "shared chunk",
     "joint cluster 5, chunk 1: 1 subrecords of unknown records, numbered 1 to 1"),
    ("item_chunk", [(1, "d")], "item chunk", "cluster 1: term d stands 2 time(s)"),
    ("item_chunk", [(6, "d")], "item chunk", "the item chunk of the unknown cluster 6"),
]  # fmt: skip


def faults(sql: Any, rows: dict[str, list[tuple[Any, ...]]]) -> list[tuple[str, str]]:
    load(sql, rows)
    found: list[tuple[str, str]] = sql.rows(
        f"FROM srsql.term_structure_faults({CLUSTERS}, {JOINTS}, {OWN}, {SHARED}, {ITEM})"
    )
    return found


def test_tables_such_as_disassociation_makes_have_no_fault(sql: Any) -> None:
    assert faults(sql, SOUND) == []


@pytest.mark.parametrize(("table", "more", "scope", "text"), FAULTS)
def test_rows_that_no_disassociated_dataset_has_are_told_in_words(
    sql: Any, table: str, more: list[tuple[Any, ...]], scope: str, text: str
) -> None:
    assert (scope, text) in faults(sql, SOUND | {table: SOUND[table] + more})
