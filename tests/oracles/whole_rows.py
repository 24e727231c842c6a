"""Who could be the target, where whole rows are taken apart: by the definitions, case by case.

An attacker knows the quasi-identifiers of a patient and a few of the patient's items. A released
row could be the patient's if its region covers what is known, and if its cluster admits the items:
in some dataset that fits what is published, one record of the cluster holds them all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

from oracles.published_terms import worlds
from support.published_terms import Published, Subrecord

Known = int | str | None
"""Of a quasi-identifier; None: it is missing."""


@dataclass(frozen=True)
class Row:
    """A released row: its id, its cluster, and for each quasi-identifier what it covers."""

    case: Hashable
    cluster: int
    region: tuple[Any, ...]
    """Pairs (low, high), or sets of labels; (None, None) and a set with None cover anything."""

    def covers(self, known: Sequence[Known]) -> bool:
        """Whether every value lies in its part of the region; only "anything" covers a missing."""
        return all(_covers(part, value) for part, value in zip(self.region, known, strict=True))


def _covers(part: Any, value: Known) -> bool:
    if isinstance(part, frozenset):
        return None in part or (value is not None and value in part)
    low, high = part
    if low is None:
        return True
    return value is not None and low <= value <= high


@dataclass
class Clusters:
    """The chunks of every cluster, which no two clusters share."""

    records: dict[int, int]
    chunks: dict[int, list[list[Subrecord]]] = field(default_factory=lambda: defaultdict(list))
    items: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    _terms: dict[int, list[frozenset[str]]] = field(default_factory=dict)
    """The terms of each chunk, once asked for."""

    @classmethod
    def read(cls, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Clusters:
        """Of the rows of the published tables."""
        assert not tables["shared_chunk"]
        assert not tables["joint_clusters"]
        made = cls({row["cluster"]: row["records"] for row in tables["clusters"]})
        pieces: dict[tuple[int, int], dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for row in tables["record_chunk"]:
            pieces[row["cluster"], row["chunk"]][row["subrecord"]].add(row["term"])
        for (cluster, _), subrecords in sorted(pieces.items()):
            made.chunks[cluster].append([frozenset(s) for s in subrecords.values()])
        for row in tables["item_chunk"]:
            made.items[row["cluster"]].add(row["term"])
        return made

    def admits(self, cluster: int, known: Collection[str]) -> bool:
        """Whether one record of the cluster can hold all the items.

        An item without a count can lie on any record, and the subrecords of a chunk on any: so a
        record can hold them if some subrecord of each chunk holds those that the chunk has.
        """
        left = set(known) - self.items[cluster]
        if cluster not in self._terms:
            self._terms[cluster] = [frozenset().union(*s) for s in self.chunks[cluster]]
        for terms, subrecords in zip(self._terms[cluster], self.chunks[cluster], strict=True):
            here = left & terms
            if here and not any(here <= s for s in subrecords):
                return False
            left -= here
        return not left


def fewest_candidates(
    rows: Sequence[Row],
    clusters: Clusters,
    targets: Mapping[Hashable, tuple[tuple[Known, ...], frozenset[str]]],
    size: int,
) -> tuple[int, list[Hashable]]:
    """The least number of candidates over all targets and all sets of at most ``size`` of their
    items, and the targets of which none of the candidates is the target.

    ``targets``: the id of a released row -> what is true of the patient: values and items.
    """
    fewest, lost = len(rows), list[Hashable]()
    own = {row.case: row for row in rows}
    people: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        people[row.cluster].append(row)
    for case, (values, items) in targets.items():
        home = own[case].cluster
        order = sorted(people, key=lambda cluster: cluster != home)
        covering: dict[int, int] = {}  # counted when first asked for
        for known in _sets(items, size):
            if not (own[case].covers(values) and clusters.admits(home, known)):
                lost.append(case)
            found = 0
            for cluster in order:
                if found >= fewest:  # no more than that can change the answer
                    break
                if clusters.admits(cluster, known):
                    if cluster not in covering:
                        covering[cluster] = sum(row.covers(values) for row in people[cluster])
                    found += covering[cluster]
            fewest = min(fewest, found)
    return fewest, lost


def _sets(items: Collection[str], size: int) -> Iterator[frozenset[str]]:
    for n in range(size + 1):
        yield from map(frozenset, combinations(sorted(items), n))


def likeliest(
    published: Published, cluster: int, values: Mapping[str, str], value: str, m: int
) -> Fraction:
    """How likely a record of the cluster holds a value, for the worst set of at most m known items.

    Over every dataset that the release stands for in which an item without a count is held once.
    ``values``: item -> its sensitive value.
    """
    first = sum(n for c, n in published.records.items() if c < cluster)
    members = range(first, first + published.records[cluster])
    together: dict[Subrecord, list[int]] = defaultdict(lambda: [0, 0])
    alone = published.items.get(cluster, frozenset())
    others = [t for t in published.places(cluster) if values.get(t) != value]
    for world in worlds(published):
        held = [world[i] for i in members]
        if any(sum(t in record for record in held) != 1 for t in alone):
            continue
        for record in held:
            has = any(values.get(t) == value for t in record)
            for known in _sets(record & frozenset(others), m):
                together[known][0] += has
                together[known][1] += 1
    return max(Fraction(part, whole) for part, whole in together.values())
