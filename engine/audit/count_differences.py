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
from itertools import combinations
from typing import Any

from srsql.engine.audit.imports.import_counts import kept_counts
from srsql.engine.catalog.datasets import term_keys
from srsql.engine.catalog.layout import CASE_COUNT, ITEM_COUNT, PAIR_COUNT, STRATUM, store_of
from srsql.engine.measures import cell
from srsql.engine.store.statements import STORE, dotted, query
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
    disjoint: bool
    """The told cells of a key are disjoint, and have all of its cases."""
    cells: Mapping[Key, Mapping[Place, int]]
    """What it tells."""
    sums: Mapping[Key, Mapping[Place, int]]
    """That with the sums of disjoint cells that a place consists of."""


def count_differences(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str | None = None,
    quarter: str | None = None,
    release_id: int | None = None,
    k: int | None = None,
) -> list[CountDifference]:
    """Pairs of tables of a period some counts of which differ by 1 to k - 1 cases.

    Args:
        warehouse: may be read-only, or within the transaction of a release.
        dataset: of the tables.
        series: one table of each pair is of it; None: of any.
        quarter: the only one.
        release_id: one table of each pair is this release, be it out or not.
        k: cases that a difference has at least; None: the greater k of both tables.
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
        loaded = {row[0]: _load(warehouse, dataset, row) for row in several}
        for one, other in combinations(several, 2):
            if one in wanted or other in wanted:
                pair = loaded[one[0]], loaded[other[0]]
                least = max(each.k for each in pair) if k is None else k
                if told := list(_differences(*pair, least)):
                    found.append(
                        CountDifference(one[1], pair[0].name, pair[1].name, len(told), told[0])
                    )
    return found


def _load(warehouse: Warehouse, dataset: Dataset, row: Sequence[Any]) -> CountTable:
    """A table by its row in the catalog, whose terms are compared by their keys of its version."""
    release_id, quarter, series, k, is_foreign, version = row
    sums: Mapping[Key, Mapping[Place, int]]
    if is_foreign:
        cells = sums = _foreign(warehouse, dataset, release_id, version)
    else:
        cells, sums = _own(warehouse, release_id, version)
    name = f"series {series}, {'imported' if is_foreign else 'ours'} (release {release_id})"
    return CountTable(release_id, quarter, name, k or FOREIGN_K, not is_foreign, cells, sums)


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
                column, asked, inside = cuts[each]
                if inside:
                    within[column] = asked
                else:
                    without[column].add(asked)
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
) -> dict[Key, dict[Place, int]]:
    """What an imported table tells of no item, one or two."""
    counts, _ = kept_counts(warehouse, release_id)
    of = dataset.signals
    names = {"drug": of.drug, "reaction": of.reaction} if of else {}
    attributes = [names.get(name.casefold(), name) for name in counts.items]
    terms = [text for key, _ in counts.told for text in key if text is not None]
    known = _keys(warehouse, terms, version)
    cells: dict[Key, dict[Place, int]] = defaultdict(dict)
    for (told, stratum), cases in counts.told.items():
        named = [(a, known[t]) for a, t in zip(attributes, told, strict=True) if t is not None]
        if len(named) < 3:
            cells[frozenset(named)][_place(counts.strata, stratum)] = cases
    return cells


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
    for place, cases in whole.sums[key].items():
        inside = {p: n for p, n in parts.cells[key].items() if p != place and _holds(place, p)}
        known = dict(inside)
        known |= {p: n for p, n in parts.sums[key].items() if p != place and _holds(place, p)}
        sums = [(n, _place_words(p)) for p, n in known.items()]
        sums += [(n, words) for words, n in _together(inside, disjoint=parts.disjoint)]
        for number, words in sums:
            if 0 < cases - number < k:
                yield f"{_words(key, place)}: {cases}, and {number} of {words}"


def _together(inside: Mapping[Place, int], *, disjoint: bool) -> Iterator[tuple[str, int]]:
    """Disjoint parts added up: all that are told, or those by the values of one column."""
    if disjoint and len(inside) > 1:
        yield "its parts", sum(inside.values())
    if disjoint:
        return
    by_column: dict[tuple[str, Place], dict[Any, int]] = defaultdict(dict)
    for place, cases in inside.items():
        for column, asked in place:
            (value,) = asked[1]
            by_column[column, place - {(column, asked)}][value] = cases
    for (column, _), values in by_column.items():
        if len(values) > 1 and all(_apart(a, b) for a, b in combinations(values, 2)):
            yield f"its parts by {column}", sum(values.values())


def _apart(one: str | Ends, other: str | Ends) -> bool:
    """Whether no case has both values."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    low, high = sorted((one, other), key=lambda ends: ends[0] or Decimal("-Infinity"))
    return low[1] is not None and high[0] is not None and low[1] <= high[0]


def _holds(wide: Place, narrow: Place) -> bool:
    """Whether every case of one place is of the other one."""
    asked = dict(narrow)
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
    for column, (how, values) in sorted(place, key=str):
        texts = sorted(v if isinstance(v, str) else _range_words(v) for v in values)
        told.append(f"{column} {'not ' if how == 'out' else ''}{' nor '.join(texts)}")
    return ", ".join(told) or "all strata"


def _range_words(ends: Ends) -> str:
    low, below = (None if end is None else f"{end:f}" for end in ends)
    if low is None:
        return f"under {below}"
    return f"{low}+" if below is None else f"{low} to under {below}"
