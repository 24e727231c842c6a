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
Target = tuple[Collection[tuple[Known, ...]], frozenset[str]]
"""What may be known of a patient: values, in each way that the reports tell them, and items."""


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


@dataclass(frozen=True)
class Left:
    """What an attacker is left with, over all targets and sets of their items."""

    targets: int
    sets: int
    """Of items, over all that may be known of the values of a target."""
    fewest: int
    """Candidates that the worst of them leaves."""
    below: int
    """Sets that leave fewer than k."""
    lost: frozenset[Hashable]
    """Targets who are not among the candidates themselves, by some set."""


class Candidates:
    """``Row.covers`` and ``Clusters.admits`` for all rows at once, which are the bits of a number.

    The rows whose cluster holds every item are those of each item, without the clusters that hold
    some of the items in one chunk but no subrecord with all of these.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        clusters: Clusters,
        numbers: Mapping[Hashable, int] | None = None,
    ) -> None:
        """``numbers``: id -> its bit, where releases with the same ids are compared."""
        self._rows = rows
        numbers = numbers or {row.case: number for number, row in enumerate(rows)}
        self.own = {row.case: 1 << numbers[row.case] for row in rows}
        """Id -> its bit alone."""
        self._all = sum(self.own.values())
        self._members: dict[int, int] = defaultdict(int)
        for row in rows:
            self._members[row.cluster] |= self.own[row.case]
        self._holding: dict[str, int] = defaultdict(int)
        self._place: dict[str, dict[int, int]] = defaultdict(dict)
        """Item -> cluster -> the chunk that tells it; item chunks clash with nothing."""
        self._subrecords: dict[tuple[int, str], int] = defaultdict(int)
        """Cluster and item -> those of the chunk's subrecords that hold the item."""
        for cluster, items in clusters.items.items():
            for item in items:
                self._holding[item] |= self._members[cluster]
        for cluster, chunks in clusters.chunks.items():
            for chunk, subrecords in enumerate(chunks):
                for number, subrecord in enumerate(subrecords):
                    for item in subrecord - clusters.items[cluster]:
                        assert self._place[item].setdefault(cluster, chunk) == chunk
                        self._holding[item] |= self._members[cluster]
                        self._subrecords[cluster, item] |= 1 << number
        self._covered: dict[tuple[int, Known], int] = {}
        self._apart: dict[tuple[str, str], tuple[int, tuple[int, ...]]] = {}

    def left(self, targets: Mapping[Hashable, Target], size: int, k: int) -> Left:
        """What every set of at most ``size`` items of every target leaves.

        ``targets``: the id of a released row -> what is true of the patient.
        """
        found, fewest, below = 0, len(self._rows), 0
        lost = set[Hashable]()
        for case, (ways, items) in targets.items():
            own, order = self.own[case], sorted(items)
            for values in ways:
                for rows in self._sets(self.covering(values), order, size):
                    count = rows.bit_count()
                    found += 1
                    below += count < k
                    fewest = min(fewest, count)
                    if not rows & own:
                        lost.add(case)
        return Left(len(targets), found, fewest, below, frozenset(lost))

    def covering(self, values: Sequence[Known]) -> int:
        """The rows whose region covers the values."""
        found: int | None = None
        for place, value in enumerate(values):
            if (place, value) not in self._covered:
                rows = 0
                for row in self._rows:
                    if _covers(row.region[place], value):
                        rows |= self.own[row.case]
                self._covered[place, value] = rows
            covered = self._covered[place, value]
            found = covered if found is None else found & covered
        assert found is not None
        return found

    def holding(self, items: Sequence[str]) -> int:
        """The rows whose cluster admits all the items, which are in order."""
        rows = self._all
        for number, item in enumerate(items):
            rows = self._with(rows, items[:number], item)
        return rows

    def _with(self, rows: int, known: Sequence[str], item: str) -> int:
        """Of rows whose cluster admits the known items, those whose cluster admits one more."""
        left = rows & self._holding.get(item, 0)
        for parts in range(1, len(known) + 1):
            for part in combinations(known, parts):
                left &= ~self._clashing((*part, item))
        return left

    def _sets(
        self, rows: int, items: Sequence[str], size: int, known: tuple[str, ...] = ()
    ) -> Iterator[int]:
        """The candidates of every set of at most ``size`` further items, beside the known ones."""
        yield rows
        if size == 0:
            return
        for number, item in enumerate(items):
            left = self._with(rows, known, item)
            yield from self._sets(left, items[number + 1 :], size - 1, (*known, item))

    def _clashing(self, items: tuple[str, ...]) -> int:
        """The rows of clusters with all the items in one chunk, and in none of its subrecords."""
        one, other, *more = items
        if (one, other) not in self._apart:
            mine, theirs = self._place.get(one, {}), self._place.get(other, {})
            shared = tuple(c for c in mine.keys() & theirs.keys() if mine[c] == theirs[c])
            self._apart[one, other] = self._without(items[:2], shared), shared
        rows, shared = self._apart[one, other]
        if not more:
            return rows
        places = [self._place.get(item, {}) for item in more]
        mine = self._place.get(one, {})
        return self._without(
            items, [c for c in shared if all(place.get(c) == mine[c] for place in places)]
        )

    def _without(self, items: tuple[str, ...], clusters: Sequence[int]) -> int:
        """The rows of those of the clusters in which no subrecord holds all the items."""
        rows = 0
        for cluster in clusters:
            held = self._subrecords[cluster, items[0]]
            for item in items[1:]:
                held &= self._subrecords[cluster, item]
            if not held:
                rows |= self._members[cluster]
        return rows


def fewest_candidates(
    rows: Sequence[Row],
    clusters: Clusters,
    targets: Mapping[Hashable, Target],
    size: int,
) -> tuple[int, list[Hashable]]:
    """The least number of candidates over all targets and all sets of at most ``size`` of their
    items, and the targets of which none of the candidates is the target; one by one.

    ``targets``: the id of a released row -> what is true of the patient.
    """
    fewest, lost = len(rows), list[Hashable]()
    own = {row.case: row for row in rows}
    people: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        people[row.cluster].append(row)
    for case, values, items in (
        (c, v, items) for c, (ways, items) in targets.items() for v in ways
    ):
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
