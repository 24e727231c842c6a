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
together. The candidates of an attacker are the cases of all groups whose region covers what is
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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

from srsql.engine.checks import TOPIC, Evidence, as_measures, measured
from srsql.engine.checks.published_regions import clustered_rows
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.warehouse.released_terms import (
    Items,
    PublishedTerms,
    Reader,
    without_qualifier,
)
from srsql.engine.warehouse.releases import Release, ReleasedTerms
from srsql.engine.warehouse.statements import literal, query

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
) -> Iterator[Told]:
    """What is told of every value of every cluster.

    Args:
        reader: in which the tables are.
        tables: of the release, without joint clusters.
        items: which of them stand for which value.
        thresholds: of their values; one: it is the same for all.
        m: number of terms that an attacker may know.
    """
    records = dict(reader.rows(f"SELECT c.cluster, c.records FROM {tables.clusters} AS c"))
    chunks = _chunks(reader, tables)
    alone: dict[int, list[Term]] = defaultdict(list)
    for cluster, term in reader.rows(f"SELECT i.cluster, i.term FROM {tables.item_chunk} AS i"):
        alone[cluster].append(term)
    for cluster in sorted(records):
        own = chunks.get(cluster, [])
        yield from _told_in(cluster, records[cluster], own, alone[cluster], items, thresholds, m)


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


def _told_in(
    cluster: int,
    records: int,
    chunks: list[list[Subrecord]],
    alone: list[Term],
    items: Items,
    thresholds: Mapping[str, Fraction] | Fraction,
    m: int,
) -> Iterator[Told]:
    places: dict[str, list[list[Fraction] | None]] = defaultdict(list)
    hidden: Counter[str] = Counter(v for t in alone if (v := items.value(t)) is not None)
    least = 1 if alone else min((len(c) for c in chunks), default=1)
    held: dict[str, list[int]] = defaultdict(list)
    for subrecords in chunks:
        together = _subsets(subrecords, m) if _is_provable(subrecords, m) else None
        for value in sorted({v for s in subrecords for t in s if (v := items.value(t))}):
            own = [s for s in subrecords if any(items.value(t) == value for t in s)]
            held[value].append(len(own))
            places[value].append(
                None if together is None else _shares(own, together, items, value, records, m)
            )
    for value in sorted(places.keys() | hidden.keys()):
        found = places.get(value, [])
        share = None
        if all(place is not None for place in found):
            share = _joined([p for p in found if p is not None], hidden[value], records, m)
        known = Fraction(1)
        if not hidden[value]:
            known = min(Fraction(1), Fraction(sum(held[value]), records))
        with_one = Fraction(1)
        if not hidden[value] and not alone and share is not None:
            # another chunk's least frequent term may meet the value's subrecords as far as they go
            with_one = max(share, min(Fraction(1), Fraction(sum(held[value]), least)))
        same = thresholds if isinstance(thresholds, Fraction) else thresholds.get(value)
        yield Told(cluster, value, share, same, known, with_one)


def _is_provable(subrecords: list[Subrecord], m: int) -> bool:
    """Whether a chunk has few enough sets of m terms; one of a single term has."""
    sets = sum(comb(len(s), size) for s in subrecords for size in range(1, m + 1))
    return sets <= SETS or max(map(len, subrecords)) == 1


def _subsets(subrecords: list[Subrecord], m: int) -> Counter[tuple[Term, ...]]:
    """How many subrecords hold each set of 1 to m terms."""
    return Counter(
        known
        for s in subrecords
        for size in range(1, min(m, len(s)) + 1)
        for known in combinations(sorted(s), size)
    )


def _shares(
    own: list[Subrecord],
    together: Counter[tuple[Term, ...]],
    items: Items,
    value: str,
    records: int,
    m: int,
) -> list[Fraction]:
    """[m + 1] the largest share of a value among those who hold 0, 1 ... m terms, at most.

    ``own``: the subrecords of the chunk that hold the value.
    """
    others = [frozenset(t for t in s if items.value(t) != value) for s in own]
    shares = [Fraction(len(own), records)]
    counted = _subsets(others, m)
    for size in range(1, m + 1):
        found = [Fraction(n, together[known]) for known, n in counted.items() if len(known) == size]
        shares.append(max([shares[-1], *found]))
    return shares


def _joined(places: list[list[Fraction]], hidden: int, records: int, m: int) -> Fraction:
    """The largest probability of a value over its places, m known terms shared out among them."""
    misses = [(1 - Fraction(1, records)) ** hidden] * (m + 1)
    for shares in places:
        misses = [
            min(misses[total - size] * (1 - shares[size]) for size in range(total + 1))
            for total in range(m + 1)
        ]
    return 1 - misses[m]


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
        lambda: release_shares(release, terms, PublishedTerms.in_schema(release.schema)),
    )
    return as_measures(row for row in rows if row.measure == measure)


def release_shares(
    release: Release, terms: ReleasedTerms, tables: PublishedTerms
) -> list[MeasureRow]:
    """``known_shares`` of a release, by its thresholds in the catalog."""
    items = frozenset(terms.sensitive_attributes(release.dataset))
    thresholds = {
        term: Fraction(num, den)
        for term, num, den in release.warehouse.rows(
            query(TOPIC, "thresholds"), {"release": release.release_id}
        )
    }
    told = told_values(release.warehouse, tables, Items(items), thresholds, terms.m)
    bound = Fraction(1, terms.diversity)
    others = told_values(release.warehouse, tables, OtherItems(items), bound, terms.m)
    return known_shares(told, others, release.release_id)
