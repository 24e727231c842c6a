"""Random datasets to disassociate, with their parameters and what the definitions make of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from oracles import disassociation as oracle
from support.baskets import Desk

LONGEST = 7
PARTNERS = (0, 1, 2, 1000)
"""0: neighbours in one list meet; of the others 1000 is everybody who shares a term."""


@dataclass(frozen=True)
class Case:
    """A dataset with its parameters."""

    baskets: list[frozenset[int]]
    parts: list[int]
    policy: list[frozenset[int]]
    kept_apart: frozenset[int]
    k: int
    m: int
    max_size: int
    least: int
    limit: int
    partners: int
    lexicographic: bool

    def expected(self) -> oracle.Disassociated:
        return oracle.disassociated(
            self.baskets, self.k, self.m, parts=self.parts, policy=self.policy,
            kept_apart=self.kept_apart, max_size=self.max_size, least=self.least, limit=self.limit,
            partners=self.partners, by_terms=self.lexicographic,
        )  # fmt: skip

    def run(self, desk: Desk, **options: Any) -> None:
        desk.put(
            self.baskets, parts=self.parts, constraints=self.policy, kept_apart=self.kept_apart
        )
        desk.run(
            self.k, self.m, max_size=self.max_size, least=self.least, joint_limit=self.limit,
            partners=self.partners, lexicographic=self.lexicographic, **options,
        )  # fmt: skip


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Up to some forty records of one or two parts, over few terms, some of them frequent."""
    k = draw(st.integers(2, 5))
    least = k + draw(st.integers(0, 2))
    terms = draw(st.integers(1, 12))
    # squared, so that low numbers are frequent
    term = st.integers(0, terms * terms - 1).map(lambda x: terms - 1 - int(x**0.5))
    basket = st.frozensets(term, min_size=1, max_size=LONGEST)
    size = st.integers(least, 30)
    parts = [p for p in range(draw(st.integers(1, 2))) for _ in range(draw(size))]
    baskets = draw(st.lists(basket, min_size=len(parts), max_size=len(parts)))
    owner = draw(st.lists(st.integers(0, 4), min_size=terms, max_size=terms))
    policy = [frozenset(t for t in range(terms) if owner[t] == u) for u in range(3)]
    kept = draw(st.one_of(st.just(frozenset()), st.frozensets(st.integers(0, terms - 1))))
    m = draw(st.one_of(st.integers(1, 3), st.just(LONGEST)))
    max_size = draw(st.sampled_from([k, k + 1, 2 * k, 3 * k]))
    limit = draw(st.sampled_from([2 * max_size, 8 * max_size, 1000]))
    filled = [u for u in policy if u]
    chosen = draw(st.sampled_from(PARTNERS)), draw(st.booleans())
    return Case(baskets, parts, filled, frozenset(kept), k, m, max_size, least, limit, *chosen)


@st.composite
def crowds(draw: st.DrawFn) -> Case:
    """More records than ``cases`` has, so that many clusters are joined, over and over."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    k, n, terms = int(rng.integers(2, 5)), int(rng.integers(40, 160)), int(rng.integers(6, 30))
    size = np.minimum(1 + rng.poisson(rng.choice([1.5, 3]), n), LONGEST)
    skew = rng.choice([1, 2, 3])
    baskets = [frozenset((rng.random(s) ** skew * terms).astype(int).tolist()) for s in size]
    owner = rng.integers(0, 8, terms)
    policy = [frozenset(np.flatnonzero(owner == u).tolist()) for u in range(3)]
    kept = frozenset(rng.integers(0, terms, int(rng.choice([0, 0, 2]))).tolist())
    m, max_size = int(rng.choice([1, 2, 3, LONGEST])), int(rng.choice([k, 2 * k, 3 * k]))
    limit = int(rng.choice([2, 8, 100])) * max_size
    chosen = int(rng.choice(PARTNERS)), bool(rng.integers(2))
    filled = [u for u in policy if u]
    return Case(baskets, [0] * n, filled, kept, k, m, max_size, k, limit, *chosen)
