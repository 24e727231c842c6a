"""Candidates counted by bits are those of the definitions, on clusters drawn at random."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from oracles.whole_rows import Candidates, Clusters, Row, Target, fewest_candidates

ITEMS = [f"item {n}" for n in range(9)]


def drawn(luck: random.Random) -> tuple[list[Row], Clusters, dict[int, Target]]:
    """Clusters of two chunks and an item chunk each, and patients who may hold anything of them."""
    clusters = Clusters({})
    rows: list[Row] = []
    targets: dict[int, Target] = {}
    for cluster in range(luck.randint(1, 4)):
        order = luck.sample(ITEMS, len(ITEMS))
        cuts = sorted(luck.choices(range(10), k=2))
        parts = (order[: cuts[0]], order[cuts[0] : cuts[1]], order[cuts[1] :])
        for part in parts[:2]:
            subrecords = [frozenset(luck.sample(part, luck.randint(1, len(part)))) for _ in range(4)
                          if part]  # fmt: skip
            clusters.chunks[cluster].append(subrecords)
        clusters.items[cluster] = set(luck.sample(parts[2], luck.randint(0, len(parts[2]))))
        clusters.records[cluster] = luck.randint(4, 6)
        for _ in range(clusters.records[cluster]):
            low = luck.randint(0, 4)
            sex = luck.choice([{"F"}, {"M"}, {None}])
            rows.append(Row(len(rows), cluster, ((low, low + luck.randint(0, 4)), frozenset(sex))))
    for row in rows:
        ways = [(luck.randint(0, 8), luck.choice(["F", "M", None])) for _ in range(2)]
        targets[int(str(row.case))] = (ways, frozenset(luck.sample(ITEMS, luck.randint(0, 4))))
    return rows, clusters, targets


@pytest.mark.parametrize("seed", range(40))
def test_candidates_by_bits_are_those_of_the_definitions(seed: int) -> None:
    rows, clusters, targets = drawn(random.Random(seed))
    by_bits = Candidates(rows, clusters)
    for case, (ways, items) in targets.items():
        counts = []
        for size in range(4):
            for known in combinations(sorted(items), size):
                held = {row.case for row in rows if clusters.admits(row.cluster, known)}
                assert by_bits.holding(known).bit_count() == len(held)
                counts += [sum(row.case in held and row.covers(v) for row in rows) for v in ways]
        left = by_bits.left({case: targets[case]}, 3, 2)
        assert (left.sets, left.below) == (len(counts), sum(count < 2 for count in counts))
        assert left.fewest == min(counts)
    fewest, lost = fewest_candidates(rows, clusters, targets, 2)
    left = by_bits.left(targets, 2, 2)
    assert (left.targets, left.fewest, left.lost) == (len(targets), fewest, set(lost))
