"""The checks of a release whose rows are taken apart as a whole: its published tables alone.

Such a release shows of every case one row, with its region and its cluster, and all else of
clusters. *Claim*: whoever knows the quasi-identifiers of a case and a set X of at most m of its
items is left with at least min(k, k of the terms) cases of the release.

*Proof.* Let the case be in the group g and the cluster P. Clusters are unions of groups, so all
cases of g, at least k, are in P, and the rows of a group are alike but for their pseudonyms, which
are random. (1) No published table says which row of P holds what: a dataset that fits them still
fits when two records of P are exchanged. So each of the cases of g holds X in some dataset that
fits, the original one with the record of the case in its place: at least k candidates, also for who
knows of every group how many of its cases hold what. (2) By Guarantee 1 of Loukides 2014, which
``term_chunks`` checks with the k of the terms, some dataset has that many records of P that hold X
at once, and exchanging records brings min(k, that many) of them into g: so many candidates hold X
together, where no cap of a region is used: within the caps fewer may, and the guarantee promises
(1) alone. The candidates of an attacker are the cases of all groups whose region covers what is
known and whose cluster admits X in some dataset that fits; those of g are among them.

Within a series the candidates that the attacks B, F and L leave in g are at least k by the model's
own bound, and (1) holds of each of them in the same way: each quarter's tables are symmetric in the
cases of a group, as long as no pseudonym tells in which clusters a case was in another quarter.

*Thresholds.* Given P and X, and every placement of the subrecords in the records of P equally
likely, chunks are independent. A sensitive value v is held with probability 1 - (1 - f1)(1 - f2)...
over the places of its items: in a chunk, f is the share of v among the subrecords that hold what X
has of this chunk (among all records of P where that is nothing), in the item chunk 1 / |P|. Whoever
knows the quasi-identifiers alone mixes such probabilities over clusters, and no mixture exceeds
them all.

*Inference*. A term *follows* from at most m known ones where that probability is 1, or exceeds its
threshold: theta for a sensitive value, 1 / l for any other term (Awad 2019, the cover problem). So
with l = 1 a term without a threshold may follow with certainty, which is counted and told.

Shares nothing with what makes a release.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb

from srsql.engine.catalog.released_terms import (
    Items,
    PublishedTerms,
    Reader,
    without_qualifier,
)
from srsql.engine.catalog.releases import Release, ReleasedTerms
from srsql.engine.checks import TOPIC, Evidence, as_measures, measured
from srsql.engine.checks.published_regions import clustered_rows
from srsql.engine.checks.region_caps import Promise, read_cells
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.store.statements import literal, query

SETS = 200_000
"""Sets of known terms and one more that are looked at in one chunk; one with more is not proved."""
ROWS = "clustered_row"
Term = str
Subrecord = frozenset[Term]


@dataclass(frozen=True)
class Told:
    """What is told of one sensitive value in one cluster."""

    cluster: int
    value: str
    share: Fraction | None
    """The most, over all sets of at most m known terms; None: not provable within the steps."""
    threshold: Fraction | None
    """None: it has none."""
    alone: Fraction
    """The largest share in some dataset that fits, where nothing is known."""
    with_one: Fraction
    """The same, where one term is known."""
    is_other: bool = False
    """Whether it is a term without a threshold."""
    mixed: tuple[Term, ...] = ()
    """The items of the value that stand in chunks with other values."""

    @property
    def passed(self) -> bool:
        """Whether the value keeps its threshold."""
        return (
            self.share is not None and self.threshold is not None and self.share <= self.threshold
        )

    @property
    def follows(self) -> bool:
        """Whether at most m known terms tell the value with certainty, or above its threshold."""
        above = self.threshold is not None and (self.share or 0) > self.threshold
        return self.share == 1 or above


@dataclass(frozen=True)
class OtherItems(Items):
    """How the items without a threshold are read: each stands for itself, whatever its qualifier.

    ``sensitive`` are the attributes that are left out."""

    def value(self, item: Term) -> str | None:
        """The item without its qualifier; None: it is sensitive."""
        attribute, _, term = item.partition(":")
        if attribute in self.sensitive:
            return None
        return f"{attribute}:{without_qualifier(attribute, term)}"


def told_values(
    reader: Reader,
    tables: PublishedTerms,
    items: Items,
    thresholds: Mapping[str, Fraction] | Fraction,
    m: int,
    promise: Promise | None = None,
    clusters: Collection[int] | None = None,
) -> Iterator[Told]:
    """What is told of every value of every cluster.

    Args:
        reader: in which the tables are.
        tables: of the release, without joint clusters.
        items: which of them stand for which value.
        thresholds: of their values; one: it is the same for all.
        m: number of terms that an attacker may know.
        promise: of the regions of each cluster; None: nothing, so that every placement is possible.
        clusters: that are looked at; None: all.
    """
    records = dict(reader.rows(f"SELECT c.cluster, c.records FROM {tables.clusters} AS c"))
    chunks = _chunks(reader, tables)
    alone: dict[int, list[Term]] = defaultdict(list)
    for cluster, term in reader.rows(f"SELECT i.cluster, i.term FROM {tables.item_chunk} AS i"):
        alone[cluster].append(term)
    read = _Read(items, m, promise)
    for cluster in sorted(records if clusters is None else records.keys() & clusters):
        own = chunks.get(cluster, [])
        known = _Cluster(cluster, records[cluster], own, alone[cluster], read)
        for value in known.values:
            same = thresholds if isinstance(thresholds, Fraction) else thresholds.get(value)
            yield known.told(value, same)


def _chunks(reader: Reader, tables: PublishedTerms) -> dict[int, list[list[Subrecord]]]:
    """Cluster -> the non-empty subrecords of each of its record chunks."""
    found: dict[tuple[int, int], list[Subrecord]] = defaultdict(list)
    for cluster, chunk, terms in reader.rows(
        f"SELECT r.cluster, r.chunk, list(r.term ORDER BY r.term) FROM {tables.record_chunk} AS r "
        "GROUP BY r.cluster, r.chunk, r.subrecord ORDER BY r.cluster, r.chunk, r.subrecord"
    ):
        found[cluster, chunk].append(frozenset(terms))
    chunks: dict[int, list[list[Subrecord]]] = defaultdict(list)
    for (cluster, _), subrecords in found.items():
        chunks[cluster].append(subrecords)
    return chunks


@dataclass
class _Chunk:
    """A record chunk, and how its subrecords lie in the regions of its cluster."""

    subrecords: list[Subrecord]
    provable: bool
    """Whether it has few enough sets of m terms."""
    holders: dict[str, list[int]]
    """Value -> the numbers of the subrecords that hold it."""
    values: set[str | None]
    """What its terms stand for."""
    capped: list[str]
    """The values of which a cap may be reached, and which no other place tells."""
    kinds: list[list[int]]
    """For each size of a region, how likely each subrecord lies in one; one list of ones: each is
    as likely as any other."""
    wholes: list[int]
    """The sum of the same over all records of the cluster."""
    placeable: bool = True
    """Whether it was provable how they lie."""
    together: dict[int, Counter[tuple[Term, ...]]] = field(default_factory=dict)
    """For each size of a region, how likely the subrecords lie in one that hold each set."""

    def is_mixed(self, value: str) -> bool:
        """Whether it tells anything but the value."""
        return self.values != {value}


class _Cluster:
    """What is told of the values of one cluster."""

    def __init__(
        self, cluster: int, records: int, chunks: list[list[Subrecord]], alone: list[Term],
        read: _Read,
    ) -> None:  # fmt: skip
        self.cluster, self.records, self.read, self.m = cluster, records, read, read.m
        promise = read.promise
        self.promise = promise if promise and cluster in promise.cells else None
        self.alone = alone
        self.hidden: Counter[str] = Counter(v for t in alone if (v := read.value(t)) is not None)
        self.least = 1 if alone else min((len(c) for c in chunks), default=1)
        self.reached: set[str] = set()
        self.places: Counter[str] = Counter()
        if self.promise is not None:
            self._count_capped(chunks, self.promise)
        self.chunks = [self._placed(subrecords) for subrecords in chunks]
        self.own: dict[str, list[_Chunk]] = defaultdict(list)
        for chunk in self.chunks:
            for value in chunk.holders:
                self.own[value].append(chunk)

    @property
    def values(self) -> list[str]:
        """What it tells of."""
        return sorted(self.hidden.keys() | self.own.keys())

    def _count_capped(self, chunks: list[list[Subrecord]], promise: Promise) -> None:
        """Find the values of which a cap may be reached, and in how many places each is told."""
        most: Counter[str] = Counter()
        for item in self.alone:
            if (value := self.read.capped(item)) is not None:
                most[value] += self._of_item()
                self.places[value] += 1
        for subrecords in chunks:
            held = Counter(
                v for s in subrecords for v in {self.read.capped(t) for t in s} if v is not None
            )
            most.update(held)
            self.places.update(held.keys())
        smallest = min(promise.cells[self.cluster])
        self.reached = {v for v, count in most.items() if count > promise.cap(v, smallest)}

    def _of_item(self) -> int:
        """How many records may hold an item without a count."""
        return min(self.promise.item_cases, self.records) if self.promise else 1

    def _placed(self, subrecords: list[Subrecord]) -> _Chunk:
        """A chunk, its subrecords placed within the caps of all values that it alone tells."""
        holders: dict[str, list[int]] = defaultdict(list)
        values: set[str | None] = set()
        capped: set[str] = set()
        for number, held in enumerate(subrecords):
            own = {self.read.value(t) for t in held}
            values |= own
            for value in own:
                if value is not None:
                    holders[value].append(number)
            if self.reached:
                known = {self.read.capped(t) for t in held}
                capped |= {v for v in known if v in self.reached and self.places[v] == 1}
        even = _Chunk(
            subrecords, _is_provable(subrecords, self.m), holders, values, sorted(capped),
            [[1] * len(subrecords)], [self.records],
        )  # fmt: skip
        return self._within(even, even.capped) if capped and len(values) > 1 else even

    def _within(self, chunk: _Chunk, capped: list[str]) -> _Chunk:
        """The same within the caps of some of the values."""
        assert self.promise is not None
        bits = [self.read.kind(held, capped) for held in chunk.subrecords]
        found = self.promise.weights(self.cluster, bits, self.records, capped)
        if found is None:
            return replace(chunk, placeable=False)
        kinds = [[weights[bit] for bit in bits] for weights, _ in found]
        return replace(chunk, kinds=kinds, wholes=[whole for _, whole in found], together={})

    def told(self, value: str, threshold: Fraction | None) -> Told:
        """What is told of one value."""
        own = self.own.get(value, [])
        mixed = tuple(
            sorted({
                t for c in own if c.is_mixed(value) for n in c.holders[value]
                for t in c.subrecords[n] if self.read.value(t) == value
            })
        )  # fmt: skip
        share = self._share(value, own, is_mixed=bool(mixed))
        held = sum(len(c.holders[value]) for c in own)
        at_worst, with_one = self._worst(value, held, share)
        return Told(
            self.cluster, value, share, threshold, at_worst, with_one, not self.read.is_capped,
            mixed,
        )  # fmt: skip

    def _share(self, value: str, own: list[_Chunk], *, is_mixed: bool) -> Fraction | None:
        """The largest probability of a value in a region, whatever m terms are known."""
        is_reached = self.read.is_capped and value in self.reached
        if is_reached and self.promise is not None:
            most = max((len(c.holders[value]) for c in own), default=1)
            if most > self.promise.room(self.cluster, value):
                return None
            if self.places[value] > 1 or not is_mixed:
                # nothing but its cap is known of the value there
                return None if is_mixed else self.promise.densest(self.cluster, value)
        if not all(c.provable and (c.placeable or value not in c.capped) for c in own):
            return None
        regions = max((len(c.kinds) for c in own), default=1)
        shares = [
            self._joined([self._shares(c, value, region) for c in own], value)
            for region in range(regions)
        ]
        for chunk in own if is_reached else ():
            if len(chunk.capped) > 1:
                lone = self._within(chunk, [value])
                if not lone.placeable:
                    return None
                shares += [
                    self._joined([self._shares(lone, value, region)], value)
                    for region in range(len(lone.kinds))
                ]
        return max(shares)

    def _shares(self, chunk: _Chunk, value: str, region: int) -> list[Fraction]:
        """[m + 1] the largest share of a value among those who hold 0, 1 ... m terms, at most.

        ``region``: which size of one.
        """
        region = min(region, len(chunk.kinds) - 1)
        weights, whole = chunk.kinds[region], chunk.wholes[region]
        own = chunk.holders[value]
        shares = [Fraction(sum(weights[n] for n in own), whole)]
        if not chunk.is_mixed(value):
            return shares * (self.m + 1)
        if region not in chunk.together:
            chunk.together[region] = _subsets(chunk.subrecords, weights, self.m)
        together = chunk.together[region]
        others = [
            frozenset(t for t in chunk.subrecords[n] if self.read.value(t) != value) for n in own
        ]
        counted = _subsets(others, [weights[n] for n in own], self.m)
        best = [(shares[0].numerator, shares[0].denominator)] * (self.m + 1)
        for known, part in counted.items():
            most, among = best[len(known)]
            if part * among > most * together[known]:
                best[len(known)] = part, together[known]
        for size in range(1, self.m + 1):
            shares.append(max(shares[-1], Fraction(*best[size])))
        return shares

    def _joined(self, places: list[list[Fraction]], value: str) -> Fraction:
        """The largest probability of a value over its places, m terms shared out among them."""
        each = Fraction(self._of_item() if self.read.is_capped else 1, self.records)
        misses = [(1 - each) ** self.hidden[value]] * (self.m + 1)
        for shares in places:
            misses = [
                min(misses[total - size] * (1 - shares[size]) for size in range(total + 1))
                for total in range(self.m + 1)
            ]
        return 1 - misses[self.m]

    def _worst(self, value: str, held: int, share: Fraction | None) -> tuple[Fraction, Fraction]:
        """The largest share in some dataset that fits, where nothing or one term is known."""
        of_item = self._of_item() if self.promise else self.records
        most = held + self.hidden[value] * of_item
        if self.promise and self.read.is_capped:
            most = min(most, self.promise.room(self.cluster, value))
        known = min(Fraction(1), Fraction(most, self.records))
        if self.hidden[value]:
            return known, Fraction(1)
        if self.alone or share is None:
            return known, Fraction(1)
        # another chunk's least frequent term may meet the value's subrecords as far as they go
        return known, max(share, min(Fraction(1), Fraction(held, self.least)))


class _Read:
    """What the terms of a release stand for, and by which values they are capped."""

    def __init__(self, items: Items, m: int, promise: Promise | None) -> None:
        self.m, self.promise = m, promise
        self.is_capped = promise is None or promise.items is items
        """Whether the values that are looked at are those that regions cap."""
        self.value = cache(items.value)
        self.capped = self.value if promise is None else cache(promise.items.value)

    def kind(self, held: Subrecord, capped: list[str]) -> int:
        """The capped values that a subrecord holds, as bits."""
        values = {self.capped(term) for term in held}
        return sum(1 << bit for bit, value in enumerate(capped) if value in values)


def _is_provable(subrecords: list[Subrecord], m: int) -> bool:
    """Whether a chunk has few enough sets of m terms; one of a single term has."""
    sets = sum(comb(len(s), size) for s in subrecords for size in range(1, m + 1))
    return sets <= SETS or max(map(len, subrecords)) == 1


def _subsets(
    subrecords: Iterable[Subrecord], weights: Iterable[int], m: int
) -> Counter[tuple[Term, ...]]:
    """How much the subrecords weigh that hold each set of 1 to m terms."""
    found: Counter[tuple[Term, ...]] = Counter()
    for held, weight in zip(subrecords, weights, strict=True):
        for size in range(1, min(m, len(held)) + 1):
            for known in combinations(sorted(held), size):
                found[known] += weight
    return found


def longest_untold(reader: Reader, tables: PublishedTerms, m: int) -> int:
    """Most terms of a chunk of which it is not provable what is told of its values; 0: none."""
    return max(
        (
            len(frozenset().union(*subrecords))
            for chunks in _chunks(reader, tables).values()
            for subrecords in chunks
            if not _is_provable(subrecords, m)
        ),
        default=0,
    )


def known_shares(
    found: Iterable[Told], others: Iterable[Told], release_id: int
) -> list[MeasureRow]:
    """The uniform rows of what is told of values and of other terms.

    ``check_known_shares`` and ``check_other_shares`` gate. ``terms_inferred``: those that follow
    from at most m known terms. ``worst_known_share``: values of a cluster that exceed their
    threshold in some dataset that fits. They cannot be bounded: an item without a count may stand
    for every record.

    Args:
        found: of sensitive values.
        others: of the terms without a threshold, with 1 / l in its place.
        release_id: of the release.
    """
    told, rest = list(found), list(others)

    def row(measure: str, scope: str, of: list[Told], violating: int, gates: bool) -> MeasureRow:
        return MeasureRow(
            release_id, measure, scope, float(violating), float(len(of)),
            violating / len(of) if of else None,
            0.0 if gates else None, violating == 0 if gates else None,
        )  # fmt: skip

    def above(share: Fraction, each: Told) -> bool:
        return each.threshold is None or share > each.threshold

    value, term = "value of a cluster", "other term of a cluster"
    broken = [sum(not each.passed for each in of) for of in (told, rest)]
    return [
        row("check_known_shares", value, told, broken[0], gates=True),
        row("check_other_shares", term, rest, broken[1], gates=True),
        row("terms_inferred", value, told, sum(t.follows for t in told), gates=False),
        row("terms_inferred", term, rest, sum(t.follows for t in rest), gates=False),
        row("worst_known_share", "0 known", told, sum(above(t.alone, t) for t in told), False),
        row("worst_known_share", "1 known", told, sum(above(t.with_one, t) for t in told), False),
    ]


def inferred(rows: Iterable[MeasureRow]) -> int:
    """How many values and other terms of clusters follow, for the public manifest."""
    return sum(int(row.violating or 0) for row in rows if row.measure == "terms_inferred")


def share_faults(found: Iterable[Told]) -> list[str]:
    """What is told of values above their threshold, in words."""
    faults = []
    for each in found:
        where = f"cluster {each.cluster}: {each.value}"
        if each.threshold is None:
            faults.append(f"{where} has no threshold")
        elif each.share is None:
            faults.append(f"{where}: what known items tell of it is not provable")
        elif not each.passed:
            faults.append(
                f"{where} is told with probability {each.share}, its threshold is {each.threshold}"
            )
    return faults


def cluster_call(tables: PublishedTerms, k: int, release_id: int) -> str:
    """The call of the check that rows, regions and clusters fit, which reads ``ROWS``."""
    return (
        f"srsql.check_row_clusters({literal(ROWS)}, {literal(tables.clusters)}, "
        f"{literal(tables.joint_clusters)}, {k:d}, {release_id:d})"
    )


def check_row_clusters(evidence: Evidence) -> list[Measure]:
    """Rows, regions and clusters fit."""
    release = evidence.release
    call = cluster_call(PublishedTerms.in_schema(release.schema), release.k, release.release_id)
    rows = clustered_rows(release.visible_dataset, release.schema).sql("duckdb")
    return as_measures(measured(release.warehouse, [call], {ROWS: rows}))


def check_known_shares(evidence: Evidence, measure: str) -> list[Measure]:
    """What items tell of values and terms: the rows of one measure of ``known_shares``."""
    release, terms = evidence.release, evidence.terms
    assert terms is not None, "the check applies to releases with terms"
    rows = evidence.found(
        "known_shares",
        lambda: release_shares(
            release,
            terms,
            PublishedTerms.in_schema(release.schema),
            clustered_rows(release.visible_dataset, release.schema).sql("duckdb"),
        ),
    )
    return as_measures(row for row in rows if row.measure == measure)


def release_shares(
    release: Release, terms: ReleasedTerms, tables: PublishedTerms, rows: str
) -> list[MeasureRow]:
    """``known_shares`` of a release, by its thresholds in the catalog.

    ``rows``: the query of (region, case_id, cluster) of its cases.
    """
    thresholds = {
        term: Fraction(num, den)
        for term, num, den in release.warehouse.rows(
            query(TOPIC, "thresholds"), {"release": release.release_id}
        )
    }
    found = told_of_release(release, terms, tables, rows, thresholds)
    told = [each for each in found if not each.is_other]
    others = [each for each in found if each.is_other]
    return known_shares(told, others, release.release_id)


def told_of_release(
    release: Release, terms: ReleasedTerms, tables: PublishedTerms, rows: str,
    thresholds: Mapping[str, Fraction], clusters: Collection[int] | None = None,
) -> list[Told]:  # fmt: skip
    """What is told of the sensitive values of a release, then of its other terms.

    Args:
        release: that is looked at.
        terms: of it.
        tables: with these.
        rows: the query of (region, case_id, cluster) of its cases.
        thresholds: of the values.
        clusters: that are looked at; None: all.
    """
    sensitive = frozenset(terms.sensitive_attributes(release.dataset))
    promise = None
    if terms.item_cases is not None:
        cells = read_cells(release.warehouse, rows)
        promise = Promise(Items(sensitive), thresholds, cells, terms.item_cases)
    items = promise.items if promise else Items(sensitive)
    bound = Fraction(1, terms.diversity)
    reader, m = release.warehouse, terms.m
    return [
        *told_values(reader, tables, items, thresholds, m, promise, clusters),
        *told_values(reader, tables, OtherItems(sensitive), bound, m, promise, clusters),
    ]
