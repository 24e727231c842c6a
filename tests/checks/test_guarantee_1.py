"""Guarantee 1 (Loukides 2014, section 3.1): what passes the checks can be put together such that k
records hold what an attacker knows of one."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.published_terms import disassociate, possible_records, witness
from support.published_terms import Published, Subrecord, load, published_again, warehouse

from srsql.engine.checks.term_chunks import check_terms

baskets = st.lists(st.frozensets(st.sampled_from("abcdefgh"), min_size=1), min_size=6, max_size=18)


@pytest.mark.slow
@settings(REPEATABLE, max_examples=80)
@given(records=baskets, k=st.integers(2, 3), m=st.integers(1, 4), seed=st.integers(0, 99))
def test_k_records_can_hold_whatever_m_terms_of_a_record_an_attacker_knows(
    records: list[Subrecord], k: int, m: int, seed: int
) -> None:
    half = len(records) // 2
    member = [1 + (i >= half) for i in range(len(records))]
    made = disassociate(records, member, k, m)
    luck = random.Random(seed)
    for record, cluster in luck.sample(list(zip(records, member, strict=True)), 3):
        known = frozenset(luck.sample(sorted(record), min(m, len(record))))
        dataset = witness(made, cluster, known, k)
        assert sum(known <= r for r in dataset) >= k
        assert all(dataset)
        assert published_again(made, dataset) == made


@settings(REPEATABLE, max_examples=40)
@given(
    records=st.lists(st.frozensets(st.sampled_from("abc"), min_size=1), min_size=2, max_size=4),
    m=st.integers(1, 3),
)
def test_among_all_datasets_of_a_small_cluster_one_has_k_such_records(
    records: list[Subrecord], m: int
) -> None:
    made = disassociate(records, [1] * len(records), 2, m)
    datasets = [d for d in possible_records(made, 1) if all(d)]
    for known in {
        frozenset(c) for r in records for n in range(1, m + 1) for c in combinations(sorted(r), n)
    }:
        assert any(sum(known <= r for r in d) >= 2 for d in datasets), known


@pytest.mark.parametrize(
    ("chunks", "holds"),
    [
        pytest.param(["aaa", "bbb"], False, id="five records over three and three"),
        pytest.param(["aaaa", "bbb"], False, id="one subrecord short"),
        pytest.param(["aaaa", "bbbb"], True, id="as many as are needed"),
    ],
)
def test_the_check_of_bare_clusters_is_what_guarantee_1_needs(
    sql: Any, chunks: list[str], holds: bool
) -> None:
    """k = 3, m = 2: enumeration finds three records with a and b exactly where the check passes."""
    made = Published(
        {1: 5}, own={(1, i): [frozenset(t) for t in c] for i, c in enumerate(chunks, 1)}
    )
    known = frozenset("ab")
    found = any(all(d) and sum(known <= r for r in d) >= 3 for d in possible_records(made, 1))
    rows = check_terms(warehouse(sql), load(sql, made.rows()), 9, 3, 2)
    assert found == holds == all(r.passed for r in rows)
