"""What derived columns are made from, checked: what may be a source, and what is claimed of it.

Each function raises ``ValueError``, whose text names the key and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from srsql.schemas.derived import PUBLISHED, WITHHELD, Derived, Number, Place
from srsql.schemas.file_layout import Declared, need_column, read_from
from srsql.schemas.roles import Sensitive


class Deriving(Declared, Protocol):
    """What is asked of a dataset."""

    @property
    def derived(self) -> Sequence[Derived]:
        """Its derived columns."""

    @property
    def sensitive(self) -> Sequence[Sensitive]:
        """Its sensitive attributes."""

    @property
    def quasi_sensitive(self) -> Sequence[Sensitive]:
        """Its quasi-sensitive ones."""


def check_derived(dataset: Deriving, derived: Derived) -> None:
    """Sources are plain columns, and what is claimed of them is so."""
    key = f"derived.{derived.name}"
    report = dataset.table(dataset.report_table)
    taken = {*(c.name for c in report.columns), *report.unpivot, "quarter", "srsql_line"}
    if sum(other.name == derived.name for other in dataset.derived) > 1:
        raise ValueError(f"{key}: two derived columns have this name")
    if derived.name in taken:
        raise ValueError(f"{key}: the report table has a column of that name: call it otherwise")
    if len(set(derived.sources)) < len(derived.sources):
        raise ValueError(f"{key}: both dates are the same column: give two")
    for place in derived.sources:
        need_column(dataset, key, *place)
        _check_source(dataset, key, derived, place)
    if derived.dates and derived.claim != WITHHELD:
        raise ValueError(f'{key}.claim: dates are never published: claim "{WITHHELD}"')
    shown = [place for place in derived.sources if any(_may_show(dataset, place))]
    if derived.claim == WITHHELD and shown:
        table, column = next(_may_show(dataset, shown[0]))
        raise ValueError(
            f"{key}.claim: {'.'.join(shown[0])} is or may be published, as {table}.{column}: "
            + (
                "dates that a column is made from never are, take it out there"
                if derived.dates
                else f'claim "{PUBLISHED}", or take it out there'
            )
        )
    always = {(t.name, name) for t in dataset.tables for name in t.publish}
    if derived.claim == PUBLISHED and not set(derived.sources) <= always:
        raise ValueError(
            f'{key}.claim: {".".join(derived.sources[0])} is not published: claim "{WITHHELD}"'
        )


def _may_show(dataset: Deriving, place: Place) -> Iterator[Place]:
    """Published and optional columns that are a column, or may read the same place as it."""
    name, column = place
    table = dataset.table(name)
    for other in (*table.publish, *table.optional):
        if other == column or read_from(table, other) & read_from(table, column):
            yield name, other


def _check_source(dataset: Deriving, key: str, derived: Derived, place: Place) -> None:
    """A source is no id, no quasi-identifier and nothing sensitive, by whatever name."""
    name, column = place
    table = dataset.table(name)
    special = dict.fromkeys(dataset.id_columns, "an id")
    special |= dict.fromkeys(table.serial, "a serial number")
    if name == dataset.report_table:
        guarded = {c for q in dataset.qid for c in (q.column, q.unit_column) if c}
        special |= dict.fromkeys(guarded, "a quasi-identifier")
    special |= {a.column: "sensitive" for a in dataset.sensitive if a.table == name}
    if not isinstance(derived, Number):
        named = {a.column for a in dataset.quasi_sensitive if a.table == name}
        special |= dict.fromkeys(named, "quasi-sensitive")
    for other, what in special.items():
        if other == column or read_from(table, other) & read_from(table, column):
            by = "" if other == column else f", by the name of {other!r} in the file"
            raise ValueError(
                f"{key}: {name}.{column} is {what}{by}: a column is made from what is neither "
                "an id, nor a quasi-identifier, nor sensitive"
            )
    if isinstance(derived, Number) and any(a.table == name for a in dataset.sensitive):
        raise ValueError(
            f"{key}: rows of {name} have sensitive values, which may be suppressed: their "
            "number is not told"
        )


def places_read(dataset: Declared, derived: Derived) -> set[Place]:
    """Where in the files a column is made from: table and name there, in lower case."""
    return {
        (name, text)
        for name, column in derived.sources
        for text in read_from(dataset.table(name), column) or {column}
    }


def check_derived_together(dataset: Deriving) -> None:
    """Columns that tell of one thing twice would tell it finer than each of them claims."""
    published = set(dataset.table(dataset.report_table).publish)
    regions = {qid.column for qid in dataset.qid}
    for place, first in enumerate(dataset.derived):
        for second in dataset.derived[place + 1 :]:
            pair = {first.name, second.name}
            if not places_read(dataset, first) & places_read(dataset, second):
                continue
            if first.dates != second.dates:
                raise ValueError(
                    f"derived.{second.name}: {first.name} and {second.name} are made from one "
                    "column, which is a date to one of them alone: of a date only periods and "
                    "elapsed days are made"
                )
            if not pair & published:
                continue
            if pair & regions:
                raise ValueError(
                    f"derived.{second.name}: {first.name} and {second.name} are made from one "
                    "column, and one of them is a quasi-identifier, which the other would tell "
                    "as it is: take it out of publish"
                )
            finer = PUBLISHED not in (first.claim, second.claim)
            if pair <= published and type(first) is type(second) and finer:
                raise ValueError(
                    f"derived.{second.name}: {first.name} tells the same in other classes, and "
                    "both together tell it finer than each claims: publish one of them"
                )
