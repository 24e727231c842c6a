"""The kernels of disassociation, each alone: the oracle, long records, and chance."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import disassociation as oracle
from oracles.examples import REPEATABLE
from support.amount import some_of

from srsql.udfs.mechanisms import Uniform
from srsql.udfs.terms.horizontal import Baskets, split_records
from srsql.udfs.terms.km_anonymity import may_join
from srsql.udfs.terms.vertical import group_holdings, random_permutations, vertical_chunks

pytestmark = pytest.mark.slow

Records = list[frozenset[int]]


def split(
    records: Records, parts: list[int], policy: list[frozenset[int]], kept: frozenset[int],
    max_size: int, least: int,
) -> list[frozenset[int]]:  # fmt: skip
    terms = 1 + max((t for r in records for t in r), default=0)
    baskets = Baskets(
        np.cumsum([0, *map(len, records)]).astype(np.int64),
        np.array([t for r in records for t in r], np.int32),
        owners(policy, terms),
        np.array([t not in kept for t in range(terms)]),
    )
    cluster = split_records(baskets, np.array(parts, np.int64), max_size, least)
    return [frozenset(np.flatnonzero(cluster == c)) for c in range(1, cluster.max(initial=0) + 1)]


def owners(policy: list[frozenset[int]], terms: int) -> np.ndarray:
    held = {t: u for u, constraint in enumerate(policy) for t in constraint}
    return np.array([held.get(t, -1) for t in range(terms)], np.int32)


def chunks_of(
    records: Records, policy: list[frozenset[int]], kept: frozenset[int], k: int, m: int,
    most: int = 99,
) -> list[frozenset[int]]:  # fmt: skip
    """The item chunk and the record chunks of one cluster."""
    rows = np.array([(0, r, t) for r, basket in enumerate(records) for t in basket], np.int64)
    held = group_holdings(*rows.T, 1)
    terms = int(rows[:, 2].max()) + 1
    usable = np.array([t not in kept for t in range(terms)])
    chunk = vertical_chunks(
        held, np.array([len(records)]), owners(policy, terms), usable, k, m, most
    )
    return [frozenset(held.term[chunk == c].tolist()) for c in range(chunk.max() + 1)]


def baskets(terms: int, longest: int) -> st.SearchStrategy[frozenset[int]]:
    """Low numbers are frequent."""
    term = st.integers(0, terms * terms - 1).map(lambda x: terms - 1 - int(sqrt(x)))
    return st.frozensets(term, min_size=1, max_size=longest)


policies = st.lists(st.integers(0, 4), min_size=12, max_size=12).map(
    lambda owner: [f for u in range(3) if (f := frozenset(t for t in range(12) if owner[t] == u))]
)
kept_terms = st.one_of(st.just(frozenset()), st.frozensets(st.integers(0, 11)))


@settings(REPEATABLE, max_examples=some_of(200))
@given(
    records=st.lists(baskets(12, 6), min_size=1, max_size=60),
    policy=policies,
    kept=kept_terms,
    max_size=st.integers(1, 12),
    least=st.integers(1, 6),
    halves=st.booleans(),
)
def test_horpart_splits_as_the_definition_does(
    records: Records, policy: list[frozenset[int]], kept: frozenset[int], max_size: int,
    least: int, halves: bool,
) -> None:  # fmt: skip
    parts = [int(halves and i % 2) for i in range(len(records))]
    if min(Counter(parts).values()) < least:
        with pytest.raises(ValueError, match="fewer than"):
            split(records, parts, policy, kept, max_size, least)
        return
    expected = oracle.horpart(records, parts, policy, kept, max_size, least)
    assert split(records, parts, policy, kept, max_size, least) == expected


@settings(REPEATABLE, max_examples=some_of(200))
@given(
    records=st.lists(baskets(12, 9), min_size=1, max_size=25),
    policy=policies,
    kept=kept_terms,
    k=st.integers(2, 5),
    m=st.integers(1, 9),
    most=st.sampled_from([1, 2, 3, 5, 99]),
)
def test_verpart_makes_the_chunks_of_the_definition(
    records: Records, policy: list[frozenset[int]], kept: frozenset[int], k: int, m: int, most: int
) -> None:
    expected = oracle.vertical(records, frozenset(range(len(records))), policy, kept, k, m, most)
    chunks = [frozenset(expected.items), *expected.chunks]
    assert chunks_of(records, policy, kept, k, m, most) == chunks


@settings(REPEATABLE, max_examples=some_of(300))
@given(
    records=st.lists(st.frozensets(st.integers(0, 8)), min_size=1, max_size=90),
    k=st.integers(2, 6),
    m=st.integers(1, 10),
)
def test_a_term_may_join_a_chunk_exactly_if_it_stays_anonymous(
    records: Records, k: int, m: int
) -> None:
    count = oracle.support(records)
    bits = np.zeros((9, 2), np.uint64)
    for r, record in enumerate(records):
        for t in record:
            bits[t, r // 64] |= np.uint64(1 << r % 64)
    chunk, stack = np.empty(9, np.int64), np.empty((11, 2), np.uint64)
    size = 0
    for t in sorted(count):
        if count[t] < k:
            continue
        grown = {*chunk[:size].tolist(), t}
        stays = oracle.is_km((record & grown for record in records), k, m)
        assert may_join(bits, chunk, size, t, k, m, stack) == stays
        if stays:
            chunk[size] = t
            size += 1


@pytest.mark.parametrize("m", [2, 8, 20, 45, 10**6])
def test_long_records_cost_no_explosion(m: int) -> None:
    """200 records of 44 of 48 terms: 2**44 combinations each, of which few can be rare."""
    rng = np.random.default_rng(m)
    records = [frozenset(rng.permutation(48)[:44].tolist()) for _ in range(200)]
    records += [frozenset(range(48))] * 30
    _, *chunks = chunks_of(records, [], frozenset(), 3, m)
    assert frozenset().union(*chunks) == frozenset(range(48))
    for terms in chunks:
        own = [record & terms for record in records]
        assert oracle.is_km(own, 3, 2)
        for subrecord in set(own) if m >= 45 else ():
            assert sum(subrecord <= other for other in own) >= 3


def test_records_that_are_all_alike_are_one_cluster_and_one_chunk() -> None:
    records = [frozenset(range(40))] * 3000
    assert split(records, [0] * 3000, [], frozenset(), 10, 5) == [frozenset(range(3000))]
    assert chunks_of(records, [], frozenset(), 5, 40) == [frozenset(), frozenset(range(40))]


def test_a_chain_of_many_splits_needs_no_recursion() -> None:
    """Each term splits off one record more than the next: thousands of parts in one chain."""
    records = [frozenset({t}) for t in range(150) for _ in range(t + 1)]
    clusters = split(records, [0] * len(records), [], frozenset(), 1, 1)
    assert [len(c) for c in clusters] == list(range(150, 0, -1))


def test_each_permutation_is_as_likely_as_any_other() -> None:
    drawn = random_permutations(np.full(12_000, 3), seed=1).reshape(-1, 3)
    count = Counter(map(tuple, drawn.tolist()))
    assert set(count) == set(permutations((1, 2, 3)))
    # 5 standard deviations of a binomial share of 1/6
    assert all(abs(n - 2000) < 5 * sqrt(12_000 * 5 / 36) for n in count.values())


def test_without_a_seed_nothing_is_repeated() -> None:
    sizes = np.array([0, 200, 0, 1, 300])
    first, second = random_permutations(sizes, None), random_permutations(sizes, None)
    for drawn in (first, second):
        assert sorted(drawn[:200]) == list(range(1, 201))
        assert drawn[200] == 1
        assert sorted(drawn[201:]) == list(range(1, 301))
    assert (first != second).any()
    assert (random_permutations(sizes, 5) == random_permutations(sizes, 5)).all()
    places = Uniform(None).below(np.full(1000, 7))
    assert set(places.tolist()) == set(range(7))
