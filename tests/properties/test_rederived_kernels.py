"""HORPART, CBA and IPA as their texts have them, on a thousand random data sets each."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from oracles import disassociation, lattice
from oracles.generalizing import generalized

from srsql.udfs.lattice_node import (
    SUPPRESSED,
    Counts,
    ValueChoice,
    assemble,
    key_count,
    loss_of,
    node_weight,
    remaining_counts,
    size_changes,
    suppressed_classes,
)
from srsql.udfs.terms.generalizing import generalize
from srsql.udfs.terms.horizontal import Baskets, split_records

pytestmark = pytest.mark.slow
DATA_SETS = 1_000


class Drawn:
    """A random data set: few terms, of which the low numbers are frequent."""

    def __init__(self, rng: np.random.Generator, most_terms: int, most_records: int) -> None:
        terms = int(rng.integers(2, most_terms + 1))
        owner = rng.integers(-1, int(rng.integers(0, 4)), terms)
        self.records = [
            frozenset((terms * rng.random(rng.integers(1, 7)) ** 2).astype(int).tolist())
            for _ in range(int(rng.integers(2, most_records + 1)))
        ]
        self.terms = terms
        self.policy = [
            own for u in range(3) if (own := frozenset(np.flatnonzero(owner == u).tolist()))
        ]
        self.constraint = owner.astype(np.int32)


def clusters(
    drawn: Drawn, kept_apart: frozenset[int], max_size: int, least: int
) -> list[frozenset[int]]:
    baskets = Baskets(
        np.cumsum([0, *map(len, drawn.records)]).astype(np.int64),
        np.array([t for r in drawn.records for t in r], np.int32),
        drawn.constraint,
        np.array([t not in kept_apart for t in range(drawn.terms)]),
    )
    part = np.zeros(len(drawn.records), np.int64)
    cluster = split_records(baskets, part, max_size, least)
    return [frozenset(np.flatnonzero(cluster == c).tolist()) for c in range(1, cluster.max() + 1)]


def test_horpart_is_fig_8_with_an_empty_ignore_set_for_the_second_part() -> None:
    rng = np.random.default_rng(57)
    with_a_second_part = 0
    for _ in range(DATA_SETS):
        drawn = Drawn(rng, 12, 60)
        kept_apart = frozenset(np.flatnonzero(rng.random(drawn.terms) < 0.05).tolist())
        max_size, least = int(rng.integers(1, 13)), int(rng.integers(1, 5))
        numbers = list(range(len(drawn.records)))
        tree = disassociation.fig_8(numbers, drawn.records, drawn.policy, kept_apart, max_size)
        found = clusters(drawn, kept_apart, max_size, 1)
        assert found == disassociation.clusters_of(tree)
        with_a_second_part += len(found) > 1
        if len(numbers) >= least:
            assert clusters(drawn, kept_apart, max_size, least) == disassociation.horpart(
                drawn.records, [0] * len(numbers), drawn.policy, kept_apart, max_size, least
            )
    assert with_a_second_part > DATA_SETS / 2


def test_cba_is_algorithm_1_and_unites_no_term_of_no_constraint() -> None:
    rng = np.random.default_rng(58)
    seen = Counter[str]()
    for _ in range(DATA_SETS):
        drawn = Drawn(rng, 8, 16)
        k, m = int(rng.integers(2, 5)), int(rng.integers(1, 5))
        held = sorted(frozenset().union(*drawn.records))
        rows = [(r, held.index(t)) for r, basket in enumerate(drawn.records) for t in basket]
        record, term = np.array(rows, np.int64).T
        of = generalize(record.copy(), term.copy(), drawn.constraint[held].astype(np.int64), k, m)
        nodes = {frozenset(held[i] for i in np.flatnonzero(of == o)) for o in of if o >= 0}
        assert nodes == generalized(drawn.records, drawn.policy, k, m)
        named = frozenset().union(*drawn.policy)
        for node in nodes:
            assert len(node) == 1 or node <= named
            seen["united" if len(node) > 1 else "alone"] += 1
        seen["suppressed"] += len(held) - sum(map(len, nodes))
    assert min(seen["united"], seen["alone"], seen["suppressed"]) > 100


def test_a_node_of_ipa_is_algorithm_1_record_by_record() -> None:
    rng = np.random.default_rng(59)
    seen = Counter[str]()
    for _ in range(DATA_SETS):
        domain, least = int(rng.integers(1, 7)), int(rng.integers(2, 5))
        members = [
            rng.integers(0, domain, int(rng.integers(1, 9))).tolist()
            for _ in range(int(rng.integers(1, 6)))
        ]
        threshold, inserted = (rng.integers(-3, 4, len(members)) for _ in range(2))
        counts = _counted(members, domain)
        hidden = suppressed_classes(counts.sizes, least, threshold)
        changes = size_changes(counts.sizes, hidden, inserted)
        keys = rng.permutation(key_count(counts, changes)).astype(np.uint64)
        which = np.repeat(np.arange(len(members)), np.maximum(changes, 0))
        choice = ValueChoice(counts, Fraction(3, 10))
        values = choice.values(which, (rng.random(len(which)) * choice.totals[which]).astype(int))
        made = assemble(
            counts, remaining_counts(counts, changes, keys), hidden, which, values
        )  # fmt: skip

        before = [(o, v) for o, held in enumerate(members) for v in sorted(held)]
        after: list[lattice.Record] = []
        words, chosen = iter(keys.tolist()), iter(values.tolist())
        counterfeits: dict[object, int] = {}
        for o, held in enumerate(members):
            if len(held) <= least + threshold[o]:  # line 7
                after += [(None, v) for v in held]
                continue
            kept = sorted(held)
            if inserted[o] < 0:  # fewer: those of the least words go
                worded = sorted((next(words), v) for v in kept)
                kept = [v for _, v in worded[-inserted[o] :]]
            counterfeits[o] = max(0, int(inserted[o]))
            after += [(o, v) for v in kept + [next(chosen) for _ in range(counterfeits[o])]]
        shown = {
            (None if o == SUPPRESSED else o, v): n
            for o, v, n in zip(
                made.owner.tolist(), made.value.tolist(), made.count.tolist(), strict=True
            )
        }
        assert shown == Counter(after)
        if not after:
            seen["emptied"] += 1
            continue
        penalties = rng.random(len(members)) * 2
        loss = loss_of(counts, made, penalties, 2)
        by_class = dict(enumerate(penalties.tolist()))
        assert loss.ncp == pytest.approx(lattice.ncp(after, by_class, 2))
        assert loss.emd == pytest.approx(
            lattice.emd_of_classes(before, after, set(np.flatnonzero(hidden).tolist()))
        )
        assert loss.rate == pytest.approx(lattice.rate(after, counterfeits))
        assert loss.emd_records == pytest.approx(lattice.emd(before, after))
        seen["suppressed"] += int(hidden.any())
        seen["inserted"] += len(which) > 0
    assert min(seen["suppressed"], seen["inserted"]) > 100


def test_a_node_of_ipa_is_drawn_by_equation_12() -> None:
    rng = np.random.default_rng(60)
    for _ in range(DATA_SETS):
        losses = (rng.random(int(rng.integers(1, 20))) * 3).tolist()
        epsilon = Fraction(int(rng.integers(1, 40)), 20)
        weights = [node_weight(loss, epsilon, len(losses)) for loss in losses]
        mean = sum(w * loss for w, loss in zip(weights, losses, strict=True)) / sum(weights)
        assert mean == pytest.approx(lattice.expected(losses, float(epsilon)), abs=1e-9)


def _counted(members: list[list[int]], domain: int) -> Counts:
    entries = [
        (o, v, n) for o, held in enumerate(members) for v, n in sorted(Counter(held).items())
    ]
    owner, value, count = (np.array(part, dtype=np.int64) for part in zip(*entries, strict=True))
    return Counts(owner, value, count, len(members), domain)
