"""The search for breaches of k^m-anonymity: it decides as the definition does, or says that it did
not."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.disassociation import is_km
from oracles.examples import REPEATABLE
from support.amount import some_of

from srsql.udfs.checks.cuts import ANONYMOUS, BROKEN, UNDECIDED
from srsql.udfs.checks.witnesses import Chunks, Searched, search

pytestmark = pytest.mark.slow

Chunk = Sequence[frozenset[int]]
ENOUGH = 10**8


def packed(chunks: Sequence[Chunk]) -> Chunks:
    """Distinct subrecords with their copies, in any order, as the kernel takes them."""
    kinds = [Counter(s for s in chunk if s) for chunk in chunks]
    held = [sorted(s) for chunk in kinds for s in chunk]
    return Chunks(
        np.cumsum([0, *map(len, kinds)]).astype(np.int64),
        np.array([n for chunk in kinds for n in chunk.values()], np.int64),
        np.cumsum([0, *map(len, held)]).astype(np.int64),
        np.array([t for terms in held for t in terms], np.int64),
    )


def judged(found: Searched, chunks: Sequence[Chunk], k: int, m: int) -> list[int]:
    """The verdicts, after what was named of every broken chunk was counted."""
    for i, chunk in enumerate(chunks):
        known = set(found.known[found.known[:, 0] == i, 1].tolist())
        assert bool(known) == (found.verdict[i] == BROKEN)
        if known:
            assert len(known) <= m
            assert 1 <= sum(known <= s for s in chunk) < k
    return found.verdict.tolist()


def lacking(terms: int, subrecords: int, most: int, seed: int) -> list[frozenset[int]]:
    """Subrecords of which each lacks a few of the terms."""
    luck = random.Random(seed)
    everything = range(terms)
    return [
        frozenset(everything) - set(luck.sample(everything, luck.randint(1, most)))
        for _ in range(subrecords)
    ]


sparse = st.lists(st.frozensets(st.integers(0, 8), max_size=6), max_size=16)
dense = st.builds(
    lacking, st.integers(5, 10), st.integers(1, 12), st.integers(1, 4), st.integers(0, 999)
)
chunks = st.builds(
    lambda chunk, copies, lost: (chunk * copies)[lost:],
    st.one_of(sparse, dense), st.integers(1, 3), st.integers(0, 2),
)  # fmt: skip


@settings(REPEATABLE, max_examples=some_of(150))
@given(several=st.lists(chunks, max_size=2), k=st.integers(2, 5), m=st.integers(1, 8))
def test_a_chunk_is_anonymous_exactly_if_no_small_set_of_terms_is_rare(
    several: list[Chunk], k: int, m: int
) -> None:
    several = [chunk for chunk in several if any(chunk)]
    found = search(packed(several), k, m, ENOUGH)
    assert judged(found, several, k, m) == [
        ANONYMOUS if is_km([s for s in chunk if s], k, m) else BROKEN for chunk in several
    ]


@settings(REPEATABLE, max_examples=some_of(150))
@given(chunk=dense, k=st.integers(2, 5), m=st.integers(1, 8), limit=st.integers(0, 3000))
def test_whatever_the_limit_the_answer_is_true_or_there_is_none(
    chunk: Chunk, k: int, m: int, limit: int
) -> None:
    found, whole = (search(packed([chunk]), k, m, most) for most in (limit, ENOUGH))
    (verdict,) = judged(found, [chunk], k, m)
    assert verdict in (whole.verdict[0], UNDECIDED)
    assert (verdict == UNDECIDED) <= (whole.steps[0] > limit)
    again = search(packed([chunk]), k, m, limit)
    assert (again.verdict[0], again.steps[0]) == (verdict, found.steps[0])


def by_enumeration(chunk: Chunk, k: int, m: int) -> bool:
    """The definition where every subrecord has m terms or more: a smaller set that is rare stays
    so with others of its subrecord, so sets of m terms are enough. Subrecords are bits."""
    assert min(map(len, chunk)) >= m
    terms = sorted(set().union(*chunk))
    held = np.array([sum(1 << i for i, s in enumerate(chunk) if t in s) for t in terms], np.uint64)
    sets = np.fromiter(
        (t for together in combinations(range(len(terms)), m) for t in together), np.int8
    ).reshape(-1, m)
    support = np.bitwise_count(np.bitwise_and.reduce(held[sets], axis=1))
    return not bool(((support > 0) & (support < k)).any())


@pytest.mark.parametrize(("full", "most", "anonymous"), [(4, 3, True), (1, 2, True), (1, 7, False)])
def test_eight_of_24_terms_in_60_subrecords_are_decided_as_735471_sets_decide(
    full: int, most: int, anonymous: bool
) -> None:
    """The SQL that was here before took seconds to half a minute; now it is thousands of steps."""
    chunk = [frozenset(range(24))] * full + lacking(24, 60 - full, most, 1)
    found = search(packed([chunk]), 5, 8, ENOUGH)
    assert judged(found, [chunk], 5, 8) == [ANONYMOUS if anonymous else BROKEN]
    assert by_enumeration(chunk, 5, 8) == anonymous
    assert found.steps[0] < 200_000


def test_what_would_take_too_much_room_is_not_begun() -> None:
    """Two subrecords of twenty thousand terms, and ten thousand known ones."""
    everything = frozenset(range(20_000))
    chunk = [everything, *(everything - {t} for t in range(2)), *([frozenset({1})] * 5)]
    found = search(packed([chunk]), 5, 10_000, ENOUGH)
    assert found.verdict.tolist() == [UNDECIDED]


def test_there_may_be_no_chunk() -> None:
    found = search(packed([]), 5, 2, ENOUGH)
    assert len(found.verdict) == len(found.known) == 0
