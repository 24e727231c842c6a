"""What tables of counts tell when they are subtracted from each other: of ours and of foreign ones.

Two tables of one period are taken to be of the same cases, which whoever has both will do. For each
key (nothing, an item, two items) the difference of a count and of a count within it, or of the
known counts within it together, is a number of cases. From 1 to k - 1 it tells of fewer than k
(SPEC section 19, claim (a) and rule R6). Tables of different periods count different cases.

A place is what is asked of strata, column by column. Our strata are of published regions: a region
on both sides of a cut is in none of its parts but the last, so that a foreign stratum of the same
name may have more cases. That is why such a difference says something.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations, product
from typing import Any

from sqlglot import exp

from srsql.engine.audit.imports.import_counts import kept_counts
from srsql.engine.catalog.datasets import term_keys
from srsql.engine.catalog.layout import (
    CASE_COUNT,
    CASES,
    ITEM_COUNT,
    PAIR_COUNT,
    REGION_COUNT,
    STRATUM,
    region_columns,
    store_of,
)
from srsql.engine.measures import cell
from srsql.engine.store.statements import STORE, column, dotted, query, table
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "audit/imports"
FOREIGN_K = 5
"""Cases of a count of a table that tells no k."""
MOST_SHOWN = 20
Ends = tuple[Decimal | None, Decimal | None]
"""Least value within, and least value above; None: there is none."""
Asked = tuple[str, frozenset[Any]]
"""``in``: one value or range; ``out``: none of these."""
Place = frozenset[tuple[str, Asked]]
"""What is asked of each column; of a column that is not there nothing."""
Item = tuple[str, str]
Key = frozenset[Item]
_NUMBER = r"([0-9]+(?:[.][0-9]+)?)"
_RANGES = (
    (re.compile(rf"{_NUMBER} ?(?:[+]|and more|or more|and over|or over)"), "from"),
    (re.compile(rf"(?:>=|≥) ?{_NUMBER}"), "from"),
    (re.compile(rf"(?:<|under|below) ?{_NUMBER}"), "below"),
    (re.compile(rf"{_NUMBER} to under {_NUMBER}"), "half open"),
    (re.compile(rf"{_NUMBER} ?(?:-|–|to) ?{_NUMBER}"), "closed"),
)
"""Texts of ranges; of a closed one the last number is within, as a whole number."""


@dataclass(frozen=True)
class CountDifference:
    """Counts of two tables whose difference is of 1 to k - 1 cases."""

    quarter: str = field(metadata=cell("quarter"))
    one: str = field(metadata=cell("one table"))
    other: str = field(metadata=cell("another table"))
    found: int = field(metadata=cell("differences", "count"))
    """How many there are."""
    example: str = field(metadata=cell("one of them"))


@dataclass(frozen=True)
class CountTable:
    """A table of counts that is or was out."""

    release_id: int
    quarter: str
    name: str
    """Series, in words."""
    k: int
    own: bool
    """Of ours: the told cells of a key are disjoint, and have all of its cases."""
    cells: Mapping[Key, Mapping[Place, int]]
    """What it tells."""
    sums: Mapping[Key, Mapping[Place, int]]
    """That with the sums of disjoint cells that a place consists of."""
    regions: bool = False
    """The places are regions, in the place of strata."""


def count_differences(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str | None = None,
    quarter: str | None = None,
    release_id: int | None = None,
    k: int | None = None,
    own_k: int | None = None,
) -> list[CountDifference]:
    """Pairs of tables of a period some counts of which differ by 1 to k - 1 cases.

    Args:
        warehouse: may be read-only, or within the transaction of a release.
        dataset: of the tables.
        series: one table of each pair is of it; None: of any.
        quarter: the only one.
        release_id: one table of each pair is this release, be it out or not.
        k: cases that a difference has at least; None: the greater k of both tables.
        own_k: that of this release, which tells it when it is out.
    """
    rows = warehouse.rows(
        query(TOPIC, "count_tables"),
        {"dataset": dataset.name, "quarter": quarter, "release_id": release_id},
    )
    by_quarter: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        by_quarter[row[1]].append(row)
    found = []
    for several in by_quarter.values():
        wanted = [r for r in several if series in (None, r[2]) and release_id in (None, r[0])]
        if not wanted or len(several) < 2:
            continue
        given = {release_id: own_k}
        loaded = {row[0]: _load(warehouse, dataset, row, given.get(row[0])) for row in several}
        for one, other in combinations(several, 2):
            if one in wanted or other in wanted:
                told = list[str]()
                for pair in product(loaded[one[0]], loaded[other[0]]):
                    if any(each.regions for each in pair) and all(each.own for each in pair):
                        continue
                    least = max(each.k for each in pair) if k is None else k
                    told += _differences(*pair, least)
                if told:
                    first, second = (loaded[each[0]][0].name for each in (one, other))
                    found.append(CountDifference(one[1], first, second, len(told), told[0]))
    return found


def _load(
    warehouse: Warehouse, dataset: Dataset, row: Sequence[Any], own_k: int | None
) -> list[CountTable]:
    """A table by its row in the catalog, whose terms are compared by their keys of its version.

    A foreign one is several where a count is told by several names; one of ours also is that of
    its regions, which no rows of cases show.
    """
    release_id, quarter, series, k, is_foreign, version = row
    name = f"series {series}, {'imported' if is_foreign else 'ours'} (release {release_id})"
    own = release_id, quarter, name, own_k or k or FOREIGN_K, not is_foreign
    if is_foreign:
        several = _foreign(warehouse, dataset, release_id, version)
        return [CountTable(*own, each, each) for each in several]
    found = [CountTable(*own, *_own(warehouse, release_id, version))]
    if store_of(release_id, REGION_COUNT) in _stores(warehouse, release_id):
        cells = {Key(): _regions(warehouse, dataset, release_id)}
        found.append(CountTable(*own, cells, cells, regions=True))
    return found


def _stores(warehouse: Warehouse, release_id: int) -> set[str]:
    named = {"store": STORE, "names": [store_of(release_id, REGION_COUNT)]}
    return {name for (name,) in warehouse.rows(query("risk/linkability", "stores"), named)}


def _regions(warehouse: Warehouse, dataset: Dataset, release_id: int) -> dict[Place, int]:
    """The cells of regions, which are disjoint cells of no item."""
    roots = dict(warehouse.rows(query(TOPIC, "root_labels"), {"dataset": dataset.name}))
    names = [*region_columns(dataset), CASES]
    store = table(STORE, store_of(release_id, REGION_COUNT), alias="t")
    rows = exp.select(*[column(name, "t") for name in names]).from_(store).sql("duckdb")
    found: dict[Place, int] = defaultdict(int)
    for row in warehouse.rows(rows):
        told, asked = dict(zip(names, row, strict=True)), list[tuple[str, Asked]]()
        for qid in dataset.qid:
            low, *high = (told[name] for name in qid.published)
            if low is not None and high:
                ends = _ends(low), _ends(Decimal(str(high[0])) + qid.granularity)
                asked.append((qid.name.casefold(), ("in", frozenset({ends}))))
            elif low is not None and low != roots.get(qid.name):
                asked.append((qid.name.casefold(), ("in", frozenset({str(low).casefold()}))))
        found[frozenset(asked)] += told[CASES]
    return found


def _own(
    warehouse: Warehouse, release_id: int, version: int
) -> tuple[dict[Key, dict[Place, int]], dict[Key, dict[Place, int]]]:
    """What a release of our own tells, and that with the sums of wider strata."""

    def rows(name: str) -> list[tuple[Any, ...]]:
        return warehouse.rows(f"SELECT t.* FROM {dotted(STORE, store_of(release_id, name))} AS t")

    places, paths = _strata(rows(STRATUM))
    listed: list[tuple[tuple[tuple[str, str | None], ...], str, int]]
    listed = [((), stratum, cases) for stratum, cases in rows(CASE_COUNT)]
    listed += [(((a, t),), stratum, n) for stratum, a, t, n in rows(ITEM_COUNT)]
    listed += [(((a, t), (o, u)), stratum, n) for stratum, a, t, o, u, n in rows(PAIR_COUNT)]
    known = _keys(warehouse, [t for items, *_ in listed for _, t in items], version)
    cells: dict[Key, dict[Place, int]] = defaultdict(dict)
    sums: dict[Key, dict[Place, int]] = defaultdict(lambda: defaultdict(int))
    for items, stratum, cases in listed:
        if any(term is None for _, term in items):  # "none of the told terms" is no item elsewhere
            continue
        key = frozenset((attribute, known[term]) for attribute, term in items)
        cells[key][places[stratum]] = cases
        for above in paths[stratum]:
            sums[key][places[above]] += cases
    return cells, sums


def _strata(rows: Sequence[tuple[Any, ...]]) -> tuple[dict[str, Place], dict[str, list[str]]]:
    """Stratum -> what is asked of its regions; and -> itself and all that it lies in."""
    parents = {row[0]: row[1] for row in rows}
    cuts = {row[0]: (row[2], _cut(*row[3:6]), bool(row[6])) for row in rows if row[1] is not None}
    paths: dict[str, list[str]] = {}
    places: dict[str, Place] = {}
    for name in parents:
        way, at = [], name
        while at is not None:
            way.append(at)
            at = parents[at]
        paths[name] = way
        within: dict[str, Any] = {}
        without: dict[str, set[Any]] = defaultdict(set)
        for each in way:
            if each in cuts:
                name_of, asked, inside = cuts[each]
                if inside:
                    within[name_of] = asked
                else:
                    without[name_of].add(asked)
        places[name] = frozenset(
            [(column, ("in", frozenset({asked}))) for column, asked in within.items()]
            + [(c, ("out", frozenset(several))) for c, several in without.items()
               if c not in within]
        )  # fmt: skip
    return places, paths


def _cut(value: str | None, low: Any, below: Any) -> str | Ends:
    if value is not None:
        return str(value).casefold()
    return _ends(low), _ends(below)


def _ends(told: Any) -> Decimal | None:
    return None if told is None else Decimal(str(told)).normalize()


def _foreign(
    warehouse: Warehouse, dataset: Dataset, release_id: int, version: int
) -> list[dict[Key, dict[Place, int]]]:
    """What an imported table tells of no item, one or two; what it tells by another spelling of a
    term or stratum once more, in another table."""
    counts, _ = kept_counts(warehouse, release_id)
    of = dataset.signals
    names = {name.casefold(): name for each in dataset.tables for name in each.publish}
    names |= {"drug": of.drug, "reaction": of.reaction} if of else {}
    attributes = [names.get(name.casefold(), name) for name in counts.items]
    terms = [text for key, _ in counts.told for text in key if text is not None]
    known = _keys(warehouse, terms, version)
    several: list[dict[Key, dict[Place, int]]] = [defaultdict(dict)]
    for (told, stratum), cases in counts.told.items():
        named = frozenset(
            (a, known[t]) for a, t in zip(attributes, told, strict=True) if t is not None
        )
        place = _place(counts.strata, stratum)
        if len(named) < 3:
            free = next((each for each in several if place not in each.get(named, {})), None)
            if free is None:
                free = defaultdict(dict)
                several.append(free)
            free[named][place] = cases
    return several


def _place(columns: Sequence[str], stratum: Sequence[str | None]) -> Place:
    return frozenset(
        (column.casefold(), ("in", frozenset({_value(text)})))
        for column, text in zip(columns, stratum, strict=True)
        if text is not None
    )


def _value(text: str) -> str | Ends:
    """A range of numbers, or the text."""
    told = " ".join(text.casefold().replace("years", "").split())
    for pattern, kind in _RANGES:
        if found := pattern.fullmatch(told):
            ends = [_ends(each) for each in found.groups()]
            if kind == "from":
                return ends[0], None
            if kind == "below":
                return None, ends[0]
            last = ends[1] + 1 if kind == "closed" and ends[1] is not None else ends[1]
            return ends[0], last
    return told


def _keys(warehouse: Warehouse, texts: Sequence[str | None], version: int) -> dict[Any, str]:
    several = list(dict.fromkeys(text for text in texts if text is not None))
    found = term_keys(warehouse, several, version)
    return {text: key or text for text, key in zip(several, found, strict=True)}


def _differences(one: CountTable, other: CountTable, k: int) -> Iterator[str]:
    """Each difference of 1 to k - 1 cases, in words."""
    for key in one.sums.keys() & other.sums.keys():
        for place, cases in one.sums[key].items():
            rest = abs(cases - other.sums[key].get(place, cases))
            if 0 < rest < k:
                yield f"{_words(key, place)}: {cases} and {other.sums[key][place]}"
        yield from _within(key, one, other, k)
        yield from _within(key, other, one, k)


def _within(key: Key, whole: CountTable, parts: CountTable, k: int) -> Iterator[str]:
    """Counts of one table and what the other one tells of parts of them."""
    known_sums = parts.sums[key]
    places = [(p, dict(p)) for p in dict.fromkeys([*parts.cells[key], *known_sums])]
    for place, cases in whole.sums[key].items():
        within = [p for p, asked in places if p != place and _holds(place, asked)]
        inside = {p: parts.cells[key][p] for p in within if p in parts.cells[key]}
        known = inside | {p: known_sums[p] for p in within if p in known_sums}
        sums = [(n, _place_words(p)) for p, n in known.items()]
        if not (parts.own and place in known_sums):
            sums += [(n, words) for words, n in _together(inside, disjoint=parts.own)]
        for number, words in sums:
            if 0 < cases - number < k:
                yield f"{_words(key, place)}: {cases}, and {number} of {words}"


def _together(inside: Mapping[Place, int], *, disjoint: bool) -> Iterator[tuple[str, int]]:
    """Disjoint parts added up: all that are told, or those by the values of one column, each of
    which is told or, in its turn, added up."""
    if disjoint and len(inside) > 1:
        yield "its parts", sum(inside.values())
    if disjoint:
        return
    known = dict(inside)
    for columns in range(max(map(len, inside), default=0), 0, -1):
        by_column: dict[tuple[str, Place], dict[Any, int]] = defaultdict(dict)
        for place, cases in known.items():
            if len(place) == columns:
                for name, asked in place:
                    (value,) = asked[1]
                    by_column[name, place - {(name, asked)}][value] = cases
        for (name, rest), values in by_column.items():
            if all(_apart(a, b) for a, b in combinations(values, 2)):
                together = sum(values.values())
                if len(values) > 1:
                    yield f"its parts by {name}", together
                if rest not in inside:
                    known[rest] = max(known.get(rest, 0), together)


def _apart(one: str | Ends, other: str | Ends) -> bool:
    """Whether no case has both values."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    low, high = sorted((one, other), key=lambda ends: ends[0] or Decimal("-Infinity"))
    return low[1] is not None and high[0] is not None and low[1] <= high[0]


def _holds(wide: Place, asked: Mapping[str, Asked]) -> bool:
    """Whether every case of another place, by what that asks of columns, is of this one."""
    return all(column in asked and _meets(of, asked[column]) for column, of in wide)


def _meets(wide: Asked, narrow: Asked) -> bool:
    if wide[0] == "out":
        if narrow[0] == "out":
            return wide[1] <= narrow[1]
        return all(_apart(value, gone) for value in narrow[1] for gone in wide[1])
    if narrow[0] == "out":
        return False
    one: str | Ends
    other: str | Ends
    (one,), (other,) = wide[1], narrow[1]
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    below = one[0] is None or (other[0] is not None and one[0] <= other[0])
    above = one[1] is None or (other[1] is not None and other[1] <= one[1])
    return below and above


def _words(key: Key, place: Place) -> str:
    items = " and ".join(f"{attribute} {term}" for attribute, term in sorted(key))
    return f"{items or 'all cases'} of {_place_words(place)}"


def _place_words(place: Place) -> str:
    told = []
    for name, (how, values) in sorted(place, key=str):
        texts = sorted(v if isinstance(v, str) else _range_words(v) for v in values)
        told.append(f"{name} {'not ' if how == 'out' else ''}{' nor '.join(texts)}")
    return ", ".join(told) or "all strata"


def _range_words(ends: Ends) -> str:
    low, below = (None if end is None else f"{end:f}" for end in ends)
    if low is None:
        return f"under {below}"
    return f"{low}+" if below is None else f"{low} to under {below}"
