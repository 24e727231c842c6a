"""Who could be the target, where whole rows are taken apart, and what follows from known items.

An attacker knows the quasi-identifiers of a patient and some items. The *candidates* are the cases
of all groups whose region covers what is known and whose cluster admits the items: in some dataset
that fits what is published, one record of the cluster holds them all (``checks.whole_rows`` has the
proof that k of them are left). A further value *follows with certainty* where every candidate that
holds the items has it in every dataset that fits.

The cases of a target's own cluster come first: where k of them cover the target and the cluster
admits all that it holds, every set of its items leaves k candidates, and nothing else is looked at.

Source: SPEC sections 11 and 18.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import comb, fsum

from sqlglot import exp

from srsql.engine.catalog.datasets import registered_dataset
from srsql.engine.catalog.layout import CLUSTER, CLUSTERS, store_of
from srsql.engine.catalog.released_terms import Items
from srsql.engine.catalog.releases import ReleasedTerms, as_released, released_terms
from srsql.engine.measures import MeasureRow
from srsql.engine.risk.term_counts import load_originals
from srsql.engine.store.statements import (
    STORE,
    column,
    create,
    dotted,
    literal,
    query,
    table,
    temporary,
    with_rows,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "risk/row_candidates"
_PLACED, _SETS = "srsql_placed_case", "srsql_admission_set"
SIZES = (1, 2)
"""Known items of which every set is looked at."""
Item = str
Known = frozenset[Item]
Counts = dict[int, tuple[int, int]]
"""Cluster -> cases of it that cover a target, as each of ``READINGS`` takes empty values."""
READINGS = ("anything", "not known")
EMPTY_IS_ANYTHING = ", empty is anything"
"""In the scope of a figure that takes an empty value for any; without, it is one not known."""


def both_readings(
    not_known: Sequence[MeasureRow], anything: Sequence[MeasureRow]
) -> list[MeasureRow]:
    """The figures of who takes an empty value for "not known", and where they differ the others.

    Whoever knows in which columns the row of a patient is empty has no more candidates than who
    does not, so that the first figures are never the lower ones, but for those of what is likely.

    Args:
        not_known: candidates show a value exactly where the row of the case does.
        anything: an empty value covers every value.
    """
    told = {(row.measure, row.scope): row for row in not_known}
    return [*not_known] + [
        replace(row, scope=row.scope + EMPTY_IS_ANYTHING)
        for row in anything
        if row != told.get((row.measure, row.scope))
    ]


@dataclass(frozen=True)
class _Release:
    """A release whose whole rows are taken apart, with its tables."""

    warehouse: Warehouse
    dataset: Dataset
    release_id: int
    terms: ReleasedTerms
    k: int
    _clusters: dict[int, _Cluster] = field(default_factory=dict)

    @property
    def chunks(self) -> tuple[str, str]:
        """The tables of record chunks and of item chunks."""
        record, item = (
            dotted(STORE, store_of(self.release_id, name))
            for name in ("record_chunk", "item_chunk")
        )
        return record, item

    def cluster(self, number: int) -> _Cluster:
        """One of its clusters."""
        if number not in self._clusters:
            records, chunks, alone = self._published
            self._clusters[number] = _Cluster(
                self.value, records[number], chunks[number], alone[number]
            )
        return self._clusters[number]

    @cached_property
    def _published(
        self,
    ) -> tuple[dict[int, int], dict[int, dict[int, list[Known]]], dict[int, set[Item]]]:
        """By cluster: its records, its chunks as their non-empty subrecords, its item chunk."""
        chunks: dict[int, dict[int, list[Known]]] = defaultdict(dict)
        alone: dict[int, set[Item]] = defaultdict(set)
        for cluster, chunk, _, items in self.warehouse.rows(
            "SELECT r.cluster, r.chunk, r.subrecord, list(r.term ORDER BY r.term) "
            f"FROM {self.chunks[0]} AS r GROUP BY r.cluster, r.chunk, r.subrecord "
            "ORDER BY r.cluster, r.chunk, r.subrecord"
        ):
            chunks[cluster].setdefault(chunk, []).append(frozenset(items))
        for cluster, item in self.warehouse.rows(f"SELECT i.* FROM {self.chunks[1]} AS i"):
            alone[cluster].add(item)
        clusters = dotted(STORE, store_of(self.release_id, CLUSTERS))
        sizes = self.warehouse.rows(f"SELECT c.cluster, c.records FROM {clusters} AS c")
        return dict(sizes), chunks, alone

    def covering(self, cases: Sequence[int]) -> dict[int, Counts]:
        """Case -> cluster -> how many cases of the cluster cover it."""
        found: dict[int, Counts] = defaultdict(dict)
        if cases:
            asked = {"release_id": self.release_id, "cases": list(cases)}
            rows = self.warehouse.rows(query(TOPIC, "all_covering"), asked)
            for case, cluster, covering, alike in rows:
                found[case][cluster] = (covering, alike)
        return found

    def admitted(self, asked: Iterable[tuple[int, Known]]) -> set[tuple[int, Known]]:
        """Those of the pairs of a cluster and a set of items whose cluster admits the set."""
        pairs = list(dict.fromkeys(asked))
        rows = [(n, c, item) for n, (c, known) in enumerate(pairs) for item in known]
        self.warehouse.run(
            f"CREATE OR REPLACE TEMP TABLE {_SETS} AS SELECT unnest(?::INTEGER[]) AS set_no, "
            "unnest(?::INTEGER[]) AS cluster, unnest(?::VARCHAR[]) AS term",
            [[row[place] for row in rows] for place in range(3)],
        )
        named = ", ".join(literal(name) for name in (*self.chunks, f"temp.main.{_SETS}"))
        found = self.warehouse.rows(
            f"SELECT a.set_no FROM srsql.admitted_sets({named}) AS a WHERE a.admitted"
        )
        return {pairs[n] for (n,) in found} | {pair for pair in pairs if not pair[1]}

    @cached_property
    def value(self) -> Callable[[Item], str | None]:
        """The sensitive value that an item tells; None: none."""
        return Items(frozenset(self.terms.sensitive_attributes(self.dataset))).value


def measure_row_candidates(
    warehouse: Warehouse, visible_dataset: Dataset, release_id: int, cases: int, seed: int
) -> list[MeasureRow]:
    """The rows of ``singling_out.measure_singling_out`` of a release of whole rows.

    Args:
        warehouse: where the release is.
        visible_dataset: with the report table alone.
        release_id: of the release.
        cases: so many are drawn and looked at, if there are more.
        seed: of what is drawn.

    Returns:
        No rows where the release is not out any more.
    """
    names = ("dataset", "series", "quarter", "k", "is_out")
    found = warehouse.rows(query(TOPIC, "released"), {"release_id": release_id})[0]
    told = dict(zip(names, found, strict=True))
    terms = released_terms(warehouse, release_id)
    if not told["is_out"] or terms is None:
        return []
    whole = replace(terms, term_cases=terms.term_cases or told["k"])
    dataset = as_released(warehouse, registered_dataset(warehouse, told["dataset"]), release_id)
    release = _Release(warehouse, dataset, release_id, whole, told["k"])
    shown = table(STORE, store_of(release_id, visible_dataset.report_table), alias="t")
    rows = exp.select(column(visible_dataset.case_id, "t").as_("case_id"), column(CLUSTER, "t"))
    placed = with_rows(query(TOPIC, "placed"), released_row=rows.from_(shown))
    parameters = {name: told[name] for name in ("dataset", "series", "quarter")}
    warehouse.run(
        create(temporary(_PLACED), placed, temp=True), {**parameters, "release_id": release_id}
    )
    try:
        targets = _targets(release, cases, seed)
        anything = [_left(release, each, each.covering(0)) for each in targets]
        not_known = [
            found
            if each.covering(0) == each.covering(1)
            else _left(release, each, each.covering(1))
            for each, found in zip(targets, anything, strict=True)
        ]
        return both_readings([*_rows(release_id, not_known)], [*_rows(release_id, anything)])
    finally:
        for name in (_PLACED, _SETS):
            warehouse.run(f"DROP TABLE IF EXISTS {dotted('temp', 'main', name)}")


@dataclass
class _Target:
    """One case that is looked for."""

    case_no: int
    cluster: int
    items: Sequence[Item]
    own: int
    """Cases of its own cluster that cover it, in the reading that leaves the fewest."""
    is_hidden: bool = False
    """k of these are left whatever of its items is known."""
    everywhere: Counts | None = None
    """None: nothing beyond its own cluster can change what is told of it."""

    def covering(self, reading: int) -> dict[int, int]:
        """Cluster -> cases of it that cover this one in a reading; none where nothing is needed."""
        every = self.everywhere or {}
        return {cluster: counts[reading] for cluster, counts in every.items() if counts[reading]}

    def sets(self, size: int) -> Iterator[Known]:
        """Its sets of so many items; who has fewer is known by all of them."""
        return map(frozenset, combinations(self.items, min(size, len(self.items))))


def _targets(release: _Release, cases: int, seed: int) -> list[_Target]:
    """The cases that are looked for, with the clusters that have to be looked at for each."""
    warehouse = release.warehouse
    asked = {"cases": cases, "seed": seed}
    drawn = [number for (number,) in warehouse.rows(query(TOPIC, "drawn"), asked)]
    originals = load_originals(warehouse, release.dataset, release.release_id, release.terms)
    held: dict[int, list[Item]] = dict(
        warehouse.rows(
            f"SELECT o.record, list(o.term ORDER BY o.term) FROM {originals} AS o "
            "SEMI JOIN (SELECT unnest(?::INTEGER[]) AS record) AS t ON o.record = t.record "
            "GROUP BY o.record",
            [drawn],
        )
    )
    found = [
        _Target(number, cluster, held.get(number, ()), own)
        for number, cluster, _, own in warehouse.rows(
            query(TOPIC, "own_covering"), {"release_id": release.release_id, "cases": drawn}
        )
    ]
    whole = release.admitted([(each.cluster, frozenset(each.items)) for each in found])
    for each in found:
        each.is_hidden = each.own >= release.k and (each.cluster, frozenset(each.items)) in whole
    unclear = [each for each in found if not each.is_hidden or _may_follow(release, each)]
    covering = release.covering([each.case_no for each in unclear])
    for each in unclear:
        each.everywhere = covering[each.case_no]
    return found


def _may_follow(release: _Release, target: _Target) -> bool:
    """Whether some set of its items lets a value follow within its own cluster."""
    cluster = release.cluster(target.cluster)
    return not cluster.tells_nothing and any(
        cluster.follows(known) for size in SIZES for known in target.sets(size)
    )


class _Cluster:
    """What one cluster admits, and which sensitive values follow from one or two items of it."""

    def __init__(
        self,
        value: Callable[[Item], str | None],
        records: int,
        chunks: Mapping[int, Sequence[Known]],
        alone: Set[Item],
    ) -> None:
        """Of its record chunks, as their non-empty subrecords, and the items of its item chunk."""
        self._value = value
        self._place: dict[Item, int] = dict.fromkeys(alone, 0)
        self._occurring: set[Known] = set()
        """Sets of two items that a subrecord holds."""
        self._implied: dict[Known, set[str]] = {}
        """Items of one chunk -> the values of all its subrecords with them."""
        for number, subrecords in chunks.items():
            self._place |= {item: number for held in subrecords for item in held}
            self._imply(subrecords, records)

    @property
    def tells_nothing(self) -> bool:
        """Whether no value follows from any set of one or two items."""
        return not self._implied

    def admits(self, known: Known) -> bool:
        """Whether one record can hold these items, two at most."""
        places = [self._place.get(item) for item in known]
        if None in places:
            return False
        apart = len(known) < 2 or places[0] != places[1] or places[0] == 0
        return apart or known in self._occurring

    def follows(self, known: Known) -> set[str]:
        """The further values of every record that holds these items, two at most."""
        if self.tells_nothing:
            return set()
        parts = [frozenset(part) for n in range(3) for part in combinations(known, n)]
        found = set[str]().union(*(self._implied.get(part, ()) for part in parts))
        return found - {self._value(item) for item in known}

    def _imply(self, subrecords: Sequence[Known], records: int) -> None:
        """The values that follow from nothing, one item or two items of a chunk."""
        held: Counter[Known] = Counter({frozenset(): records})
        with_value: Counter[tuple[Known, str]] = Counter()
        for subrecord in subrecords:
            values = {value for item in subrecord if (value := self._value(item)) is not None}
            for size in (0, *SIZES):
                for known in map(frozenset, combinations(subrecord, size)):
                    held[known] += size > 0
                    with_value.update((known, value) for value in values)
                    if size == 2:
                        self._occurring.add(known)
        for (known, value), count in with_value.items():
            own = {self._value(item) for item in known}
            if count == held[known] and value not in own:
                self._implied.setdefault(known, set()).add(value)


@dataclass(frozen=True)
class _Left:
    """What the sets of items of one case leave; by the number of items, None: all."""

    sets: dict[int | None, int]
    below: dict[int | None, int]
    """Sets that leave fewer than k candidates."""
    alone: dict[int | None, int]
    """Sets that leave one."""
    certain: dict[int | None, int]
    """Sets from which a further value follows, for one and two items."""


def _left(release: _Release, target: _Target, covering: Mapping[int, int]) -> _Left:
    sizes: list[int | None] = [0, *((*SIZES, None) if target.items else ())]
    left = _Left({}, {}, {}, {})
    for size in sizes:
        count = len(target.items) if size is None else min(size, len(target.items))
        left.sets[size] = comb(len(target.items), count)
        found = [] if target.is_hidden else [
            _candidates(release, covering, known) for known in target.sets(count)
        ]  # fmt: skip
        left.below[size] = sum(candidates < release.k for candidates in found)
        left.alone[size] = sum(candidates == 1 for candidates in found)
        if size in SIZES:
            left.certain[size] = sum(
                _is_told(release, target.cluster, covering, known)
                for known in (target.sets(count) if target.everywhere is not None else ())
            )
    return left


def _candidates(release: _Release, covering: Mapping[int, int], known: Known) -> int:
    """How many cases could be the target."""
    if len(known) <= max(SIZES):
        return sum(n for c, n in covering.items() if release.cluster(c).admits(known))
    admitted = release.admitted([(cluster, known) for cluster in covering])
    return sum(n for c, n in covering.items() if (c, known) in admitted)


def _is_told(release: _Release, own: int, covering: Mapping[int, int], known: Known) -> bool:
    """Whether some value follows from the items in every cluster with a candidate; own: its."""
    told = release.cluster(own).follows(known)
    for cluster in covering:
        if not told:
            return False
        if release.cluster(cluster).admits(known):
            told &= release.cluster(cluster).follows(known)
    return bool(told)


def _rows(release_id: int, left: Sequence[_Left]) -> Iterator[MeasureRow]:
    """The uniform rows, named as those of ``srsql.singling_out``."""
    scopes: dict[int | None, str] = {
        0: "region alone", None: "all drugs and terms"
    } | {size: f"{size} of the drugs or terms" for size in SIZES}  # fmt: skip
    for measure, name in (
        ("candidates_below_k", "below"), ("certain_term", "certain"), ("one_candidate", "alone"),
    ):  # fmt: skip
        for size in (0, *SIZES, None):
            found = [(getattr(each, name)[size], each.sets[size])
                     for each in left if size in getattr(each, name)]  # fmt: skip
            if not found:
                continue
            worst = float(sum(sets > 0 for sets, _ in found))
            shares = {", worst": worst, ", random": fsum(sets / of for sets, of in found)}
            for way, cases in shares.items() if size in SIZES else [("", worst)]:
                yield MeasureRow(
                    release_id, measure, scopes[size] + way, cases, float(len(found)),
                    cases / len(found), None, None,
                )  # fmt: skip
