"""Items without a count and values of regions, judged by macros and by sums over sets."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

CLUSTERS, TERMS, REGIONS = range(3), "abc", "xy"
Record = tuple[int, str, frozenset[str]]
"""Cluster, region and terms."""
records = st.lists(
    st.tuples(
        st.sampled_from(CLUSTERS), st.sampled_from(REGIONS), st.frozensets(st.sampled_from(TERMS))
    ),
    min_size=1,
    max_size=12,
)
bounds = st.dictionaries(
    st.sampled_from(TERMS), st.tuples(st.integers(0, 3), st.integers(1, 3)), max_size=3
)


@settings(max_examples=40, deadline=None)
@given(found=records, most=st.integers(0, 3), data=st.data())
def test_items_without_a_count_are_held_by_at_most_so_many(
    sql: Any, found: list[Record], most: int, data: st.DataObject
) -> None:
    places = [(cluster, term) for cluster in CLUSTERS for term in TERMS]
    items = data.draw(st.lists(st.sampled_from(places), unique=True))
    sql.table("items", "cluster INTEGER, term VARCHAR", items)
    sql.table("originals", "record INTEGER, term VARCHAR",
         [(n, term) for n, (_, _, terms) in enumerate(found) for term in terms])  # fmt: skip
    sql.table("members", "record INTEGER, cluster INTEGER",
         [(n, cluster) for n, (cluster, _, _) in enumerate(found)])  # fmt: skip
    (row,) = sql.rows(
        "SELECT c.scope, c.violating, c.total FROM srsql.check_item_cases("
        "'items', 'originals', 'members', ?, 7) AS c",
        [most],
    )
    holders = [
        sum(c == cluster and term in terms for c, _, terms in found) for cluster, term in items
    ]
    assert row == ("item", sum(n > most for n in holders), sum(n > 0 for n in holders))


@settings(max_examples=40, deadline=None)
@given(found=records, thresholds=bounds)
def test_values_of_a_region_in_a_cluster_keep_their_thresholds(
    sql: Any, found: list[Record], thresholds: dict[str, tuple[int, int]]
) -> None:
    sql.table("places", "record INTEGER, region VARCHAR, cluster INTEGER",
         [(n, region, cluster) for n, (cluster, region, _) in enumerate(found)])  # fmt: skip
    sql.table("record_values", "record INTEGER, value VARCHAR",
         [(n, term) for n, (_, _, terms) in enumerate(found) for term in terms])  # fmt: skip
    sql.table("thresholds", "value VARCHAR, theta_num BIGINT, theta_den BIGINT",
         [(term, *limit) for term, limit in thresholds.items()])  # fmt: skip
    (row,) = sql.rows(
        "SELECT c.scope, c.violating, c.total FROM srsql.check_region_caps("
        "'places', 'record_values', 'thresholds', 7) AS c"
    )
    above = total = 0
    for place in {(cluster, region) for cluster, region, _ in found}:
        crowd = [terms for cluster, region, terms in found if (cluster, region) == place]
        for term in set().union(*crowd):
            share = Fraction(sum(term in terms for terms in crowd), len(crowd))
            total += 1
            above += term not in thresholds or share > Fraction(*thresholds[term])
    assert row == ("value of a region in a cluster", above, total)
