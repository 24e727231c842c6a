"""What a disassociated release leaves to chance: every draw is one that may be, and all are alike.

Draws are seeded, so that each run is the same; how often each occurs is held against what chance
passes once in a million runs (``udfs`` test the generators themselves).
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from scipy.stats import chisquare
from support.published_terms import fill

PLACED = (
    "shared BOOLEAN", "owner INTEGER", "chunk_no INTEGER", "record_no INTEGER", "term_no INTEGER",
)  # fmt: skip
CHUNK = ("shared", "owner", "chunk_no")
UNLIKELY = 1e-6


@REPEATABLE
@given(
    placed=st.sets(
        st.tuples(st.booleans(), st.integers(1, 3), st.integers(1, 2), st.integers(0, 6),
                  st.integers(0, 2))
    ),
    seed=st.one_of(st.none(), st.integers(0, 2**50)),
)  # fmt: skip
def test_the_subrecords_of_a_chunk_are_numbered_each_once(
    sql: Any, placed: set[tuple[bool, int, int, int, int]], seed: int | None
) -> None:
    """One number for each record that has a term in the chunk, whatever the number of its terms."""
    name = fill(sql, "placed", PLACED, sorted(placed))
    drawn = "NULL" if seed is None else seed
    rows = sql.records(f"FROM srsql.subrecord_order('{name}', {drawn})")
    records = {place[:4] for place in placed}
    assert sorted((*(row[c] for c in CHUNK), row["record_no"]) for row in rows) == sorted(records)
    sizes = Counter(record[:3] for record in records)
    numbers: dict[tuple[Any, ...], list[int]] = {}
    for row in rows:
        numbers.setdefault(tuple(row[c] for c in CHUNK), []).append(row["subrecord"])
    assert {key: sorted(found) for key, found in numbers.items()} == {
        key: list(range(1, size + 1)) for key, size in sizes.items()
    }


def test_every_order_of_subrecords_is_as_likely_as_any_other(sql: Any) -> None:
    """A thousand chunks of three records, drawn apart from one another."""
    placed = [(False, owner, 1, record, 0) for owner in range(1200) for record in range(3)]
    name = fill(sql, "placed", PLACED, placed)
    orders: dict[int, list[int]] = {}
    for owner, subrecord in sql.rows(
        f"SELECT owner, subrecord FROM srsql.subrecord_order('{name}', 7) ORDER BY record_no"
    ):
        orders.setdefault(owner, []).append(subrecord)
    counts = Counter(map(tuple, orders.values()))
    assert set(counts) == set(permutations((1, 2, 3)))
    assert chisquare(list(counts.values())).pvalue > UNLIKELY


@REPEATABLE
@given(sizes=st.dictionaries(st.integers(1, 9), st.integers(1, 5), max_size=4))
def test_sampled_records_are_numbered_cluster_by_cluster(sql: Any, sizes: dict[int, int]) -> None:
    name = fill(sql, "clusters", ("cluster INTEGER", "records INTEGER"), list(sizes.items()))
    owners = [cluster for cluster in sorted(sizes) for _ in range(sizes[cluster])]
    rows = sql.rows(f"SELECT record_no, cluster FROM srsql.sampled_records('{name}')")
    assert sorted(rows) == list(enumerate(owners, 1))


def test_a_subrecord_may_lie_on_any_record_of_its_cluster_or_joint_cluster(sql: Any) -> None:
    """Clusters 1 (two records), 2 (one) and 3 (one); joint cluster 5 is over 1 and 2."""
    records = fill(sql, "records", ("record_no INTEGER", "cluster INTEGER"),
                   [(1, 1), (2, 1), (3, 2), (4, 3)])  # fmt: skip
    joints = fill(sql, "joints", ("joint INTEGER", "cluster INTEGER"), [(5, 1), (5, 2)])
    columns = ("chunk INTEGER", "subrecord INTEGER", "term VARCHAR")
    own = fill(sql, "own", ("cluster INTEGER", *columns),
               [(1, 1, 1, "a"), (1, 1, 2, "b"), (1, 2, 1, "c"), (3, 1, 1, "a")])  # fmt: skip
    above = fill(sql, "above", ("joint INTEGER", *columns), [(5, 1, 1, "x"), (5, 1, 2, "y")])
    rows = sql.rows(f"FROM srsql.chunk_seats('{records}', '{joints}', '{own}', '{above}')")
    assert sorted(rows) == [
        (False, 1, 1, 1), (False, 1, 1, 2), (False, 1, 2, 1), (False, 1, 2, 2), (False, 3, 1, 4),
        (True, 5, 1, 1), (True, 5, 1, 2), (True, 5, 1, 3),
    ]  # fmt: skip


@REPEATABLE
@given(
    sizes=st.dictionaries(st.integers(1, 9), st.integers(1, 5), min_size=1, max_size=4),
    luck=st.randoms(use_true_random=False),
    seed=st.one_of(st.none(), st.integers(0, 2**50)),
)
def test_each_item_term_lies_on_one_record_of_its_cluster(
    sql: Any, sizes: dict[int, int], luck: random.Random, seed: int | None
) -> None:
    clusters = fill(sql, "clusters", ("cluster INTEGER", "records INTEGER"), list(sizes.items()))
    held = [(cluster, term) for cluster in sizes for term in "abc" if luck.random() < 0.5]
    items = fill(sql, "items", ("cluster INTEGER", "term VARCHAR"), held)
    drawn = "NULL" if seed is None else seed
    rows = sql.rows(
        f"SELECT record_no, cluster, term FROM srsql.item_places('{clusters}', '{items}', {drawn})"
    )
    assert sorted(row[1:] for row in rows) == sorted(held)
    owners = dict(enumerate((c for c in sorted(sizes) for _ in range(sizes[c])), 1))
    assert all(owners[record] == cluster for record, cluster, _ in rows)


def test_every_record_of_a_cluster_is_as_likely_to_get_an_item_term(sql: Any) -> None:
    clusters = fill(sql, "clusters", ("cluster INTEGER", "records INTEGER"), [(1, 3), (2, 5)])
    terms = [(2, f"t{n}") for n in range(2000)]
    items = fill(sql, "items", ("cluster INTEGER", "term VARCHAR"), terms)
    rows = sql.rows(f"SELECT record_no FROM srsql.item_places('{clusters}', '{items}', 3)")
    counts = Counter(record for (record,) in rows)
    assert sorted(counts) == [4, 5, 6, 7, 8]
    assert chisquare(list(counts.values())).pvalue > UNLIKELY
