"""Which file or table holds the reports, what tells reports apart, and which rows are theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import combinations

from srsql.engine.extras.first_dataset.columns import Column, columns_of
from srsql.engine.extras.first_dataset.samples import Sample, stem_of
from srsql.engine.extras.first_dataset.words import (
    CASE,
    FEMALE,
    IDS,
    MALE,
    concept_of,
    plain,
    tells,
    words_of,
)

PERIOD_DIGITS = re.compile(r"(?i)\d+q[1-4]|\d{4}-?w\d\d|\d{2,}")
"""What of the name of a file may differ from period to period."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TAKEN = {"manifest", "case_latest", "quarter", "srsql_line"}
_CONTAINED = 0.9
"""The least share of the values of a key that are ids of reports."""
_PARTS = 8
"""Columns that are tried for the second part of a key."""


@dataclass(frozen=True)
class FoundTable:
    """One table of the dataset to be."""

    name: str
    sample: Sample
    glob: str
    columns: tuple[Column, ...]
    names: tuple[str, ...]
    """What each column is called in the dataset."""
    key: tuple[int, ...] = ()
    """Places of the columns that tell whose a row is."""
    case: int | None = None
    """Of the report table: the place of the case, where it is not the report's."""

    def named(self, place: int) -> str:
        """What a column is called in the dataset."""
        return self.names[place]

    @property
    def patient_columns(self) -> int:
        """How many things of a patient its columns tell."""
        told = {concept_of(c.header) for c in self.columns if c.counts and not c.date} - {None}
        return len(told) or int(any(tells_sex(c) for c in self.columns))


@dataclass(frozen=True)
class Structure:
    """The tables, and how they hang together."""

    report: FoundTable | None
    """None: no column tells records apart."""
    children: tuple[FoundTable, ...]
    others: tuple[FoundTable, ...]
    """Tables without a key of reports."""


def structure_of(samples: Sequence[Sample]) -> Structure:
    """Find the table of reports, its key, and the tables that have it as well.

    Args:
        samples: one for each file or table.
    """
    tables = _named(samples)
    report = _report_table(tables)
    if report is None:
        return Structure(None, (), tuple(tables))
    children, others = [], []
    for table in tables:
        if table.name == report.name:
            continue
        key = _key_in(table, report)
        if key:
            names = list(table.names)
            if len(report.key) == 1:  # whatever the file calls it
                names[key[0]] = report.named(report.key[0])
            children.append(replace(table, key=key, names=tuple(names)))
        else:
            others.append(table)
    return Structure(report, tuple(children), tuple(others))


def tells_sex(column: Column) -> bool:
    """Whether a column has codes of both sexes, in words or letters."""
    known = {text.upper() for text in column.known}
    words = sum(n for text, n in column.known.items() if text.upper() in MALE | FEMALE)
    both = bool(known & MALE) and bool(known & FEMALE)
    return both and words >= _CONTAINED * column.known.total()


def _named(samples: Sequence[Sample]) -> list[FoundTable]:
    """The samples by name; of several files with one header and name, the first."""
    found: list[FoundTable] = []
    for sample in samples:
        base = sample.name
        stem = stem_of(sample)
        short = _name_of(PERIOD_DIGITS.sub("_", stem), f"table_{len(found) + 1}")
        escaped = base.replace("[", "[[]")
        glob = PERIOD_DIGITS.sub("*", escaped) if sample.layout.reader != "table" else base
        twin = next((t for t in found if t.glob.lower() == glob.lower()), None)
        lowered = [name.lower() for name in sample.header]
        if twin is not None:
            if [name.lower() for name in twin.sample.header] == lowered:
                continue  # the same table of another period
            short, glob = _name_of(stem, f"table_{len(found) + 1}"), escaped
        columns = tuple(columns_of(sample))
        names = _column_names(columns)
        found.append(FoundTable(_other_than(short, found), sample, glob, columns, names))
    return [_exact(table, found) for table in found]


def _exact(table: FoundTable, tables: Iterable[FoundTable]) -> FoundTable:
    """The table with a name of files that none of another table fits."""
    for other in tables:
        if other is not table and fnmatch(other.sample.name.lower(), table.glob.lower()):
            return replace(table, glob=table.sample.name.replace("[", "[[]"))
    return table


def _other_than(name: str, tables: Iterable[FoundTable]) -> str:
    taken = {table.name for table in tables} | _TAKEN
    number, wanted = 2, name
    while wanted in taken:
        wanted, number = f"{name}_{number}", number + 1
    return wanted


def _name_of(text: str, otherwise: str) -> str:
    """A text as a name of the dataset."""
    name = re.sub(r"[^a-z0-9]+", "_", text.strip().lower()).strip("_")
    return name if _NAME.fullmatch(name) else otherwise


def _column_names(columns: Sequence[Column]) -> tuple[str, ...]:
    found: list[str] = []
    for column in columns:
        text = column.header.strip().lower()
        own, short = f"column_{column.place + 1}", plain(text)
        name = text if _NAME.fullmatch(text) else short if _NAME.fullmatch(short) else own
        found.append(own if name in found or name in _TAKEN else name)
    return tuple(found)


def _report_table(tables: Sequence[FoundTable]) -> FoundTable | None:
    """The table that tells most of patients, with its key; else one that has a key."""
    order = sorted(tables, key=lambda t: -t.patient_columns)
    for table in order:
        others = [other for other in tables if other is not table]
        key = _key_of(table, others)
        if key:
            names = list(table.names)
            if not table.sample.layout.header and len(key) == 1:
                names[key[0]] = "report_id"
            return replace(table, key=key, case=_case_of(table, key), names=tuple(names))
    return None


def _key_of(table: FoundTable, others: Sequence[FoundTable]) -> tuple[int, ...]:
    """The places of the columns that tell the records of a table apart."""
    best: tuple[tuple[int, bool, int], int] | None = None
    for column in table.columns:
        if column.unique and (column.whole or not column.header or tells(column.header, IDS)):
            shared = sum(_place_of(column.header, other) is not None for other in others)
            score = (shared, tells(column.header, IDS), -column.place)
            best = max(best, (score, column.place)) if best else (score, column.place)
    if best is not None and (best[0][0] or not others or not table.sample.layout.header):
        return (best[1],)
    pairs = combinations(range(min(_PARTS, len(table.columns))), 2)
    for one, two in pairs:
        first, second = table.columns[one], table.columns[two]
        filled = all(first.texts) and all(second.texts) and second.whole
        both = set(zip(first.texts, second.texts, strict=True))
        if filled and tells(first.header, IDS) and len(both) == len(first.texts):
            return one, two
    return (best[1],) if best is not None else ()


def _place_of(header: str, table: FoundTable) -> int | None:
    """The column of a table with that name."""
    wanted = header.strip().lower()
    places = [c.place for c in table.columns if wanted and c.header.strip().lower() == wanted]
    return places[0] if places else None


def _case_of(table: FoundTable, key: tuple[int, ...]) -> int | None:
    """The column of the case beside that of the report."""
    for column in table.columns:
        words = words_of(column.header)
        case = words & CASE and not words & {"version", "seq", "type"}
        told = bool(column.texts) and all(column.texts) and not column.date
        if case and column.place not in key and told and column.different * 2 >= len(column.texts):
            return column.place
    return None


def _key_in(table: FoundTable, report: FoundTable) -> tuple[int, ...]:
    """The columns of another table that have the key of reports, or its first part."""
    own = report.columns[report.key[0]]
    first = _place_of(own.header, table)
    if first is None:
        first = _place_by_values(table, own)
    if first is None:
        return ()
    if len(report.key) == 1:
        return (first,)
    header = report.columns[report.key[1]].header
    second = _place_of(header, table)
    if second is None:  # patient_sequence_number is patient_sequence_no elsewhere
        begin = header.lower().rsplit("_", 1)[0]
        near = [c.place for c in table.columns if c.header.lower().rsplit("_", 1)[0] == begin]
        second = near[0] if near else None
    return (first,) if second is None else (first, second)


def _place_by_values(table: FoundTable, own: Column) -> int | None:
    """The column nearly all of whose values are ids of reports."""
    ids = set(own.counts)
    best: tuple[tuple[float, bool, int], int] | None = None
    for column in table.columns:
        if not column.counts or (column.header and not tells(column.header, IDS)):
            continue
        inside = sum(n for text, n in column.counts.items() if text in ids) / column.filled
        if inside >= _CONTAINED and column.different > 1:
            score = (round(inside, 2), not column.unique, -column.place)
            best = max(best, (score, column.place)) if best else (score, column.place)
    return None if best is None else best[1]
