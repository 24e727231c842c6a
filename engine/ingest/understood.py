"""What ingestion understood of the columns that matter: quasi-identifiers, sensitive attributes.

Of each column the values that are not blank are counted, and of them those that say nothing to the
dataset. Codes for "not known" are understood. A file of which too many values are not is refused,
since it was written by other rules than the dataset declares.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp

from srsql.engine.catalog.datasets import trimmed
from srsql.engine.catalog.layout import derived, qids_of
from srsql.engine.errors import IngestError, printable
from srsql.engine.ingest import units
from srsql.engine.ingest.encodings import OddLines, advice
from srsql.engine.ingest.raw_tables import UNKNOWN_CODE, Place
from srsql.engine.ingest.records import call, known, text_of
from srsql.engine.ingest.rejects import FileKey
from srsql.engine.store.statements import SPACES, column, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Table

TOPIC = "ingest/understood"
Examples = list[tuple[Any, ...]]
"""Values and their lines."""
Reasons = list[tuple[str, Examples]]
EXAMPLES = 3
"""Values of each reason that a refusal names."""
_REASONS = 3
"""Reasons that a refusal names."""
_LONGEST = 40
"""Characters of a value in a refusal."""
_PARTIAL_DATE = f"{SPACES}*[0-9]{{4}}(-?[0-9]{{2}})?{SPACES}*"
_UNDECODED = "characters that cannot be decoded"
_REPLACED = "\ufffd"
_COMMA = re.compile(r"\s*[+-]?[0-9]+,[0-9]+\s*")
_POINT = re.compile(r"\s*[+-]?[0-9]+[.][0-9]+\s*")
_WORD = re.compile(r"[^\W\d_][\w/. -]*|[.-]+")
_WITH_UNIT = re.compile(r"\s*[+-]?[0-9][0-9.,]*\s*[^\W\d_]+[.]?\s*")


@dataclass(frozen=True)
class ColumnCount:
    """What was understood of one column of an ingestion."""

    table: str
    column: str
    filled: int
    """Values that are not blank."""
    unread: int
    """Those of them that were not understood."""

    @property
    def share(self) -> float:
        """The share that was not understood, 0 to 1."""
        return self.unread / self.filled if self.filled else 0.0


@dataclass(frozen=True)
class FileColumns:
    """The columns of one file that is loaded, and whose rejects are stored."""

    warehouse: Warehouse
    dataset: Dataset
    declared: Table
    key: FileKey
    place: Place
    """Where its rows were loaded into."""
    records: str = ""
    """The temporary table or view that has its records."""
    odd: OddLines | None = None
    """The lines that do not fit its encoding; None: it is no text file."""

    def counts(self) -> list[ColumnCount]:
        """One count for each column of a quasi-identifier and for each item column.

        Derived columns are not made yet.
        """
        made = {each.name for each in self.dataset.derived}
        qids = [q.column for q in qids_of(self.dataset, self.declared) if q.column not in made]
        return self._rejected(qids) + self._undecoded()

    def derived_counts(self) -> list[ColumnCount]:
        """The same for quasi-identifiers of derived columns, and for the dates they are made from.

        A date that tells less than the column needs, such as a year alone, is understood.
        """
        used = {qid.column for qid in self.dataset.qid}
        names: list[str] = []
        for each in self.dataset.derived:
            if each.name in used:
                dates = each.sources if each.dates else ()
                names += [name for table, name in dates if table == self.declared.name]
                names.append(each.name)
        return self._rejected(names)

    def need(self, counts: Sequence[ColumnCount], highest: float) -> None:
        """Refuse the file if too little of one of its columns was understood.

        Args:
            counts: of its columns.
            highest: the largest share of a column's values that may not be, 0 to 1.

        Raises:
            IngestError: of some column more was not understood.
        """
        for count in counts:
            if count.unread > highest * count.filled:
                reasons = self._reasons(count.column)
                listed = "; ".join(_listed(reason, found) for reason, found in reasons[:_REASONS])
                raise IngestError(
                    f"{self.key.file}: {count.unread:,} of {count.filled:,} values of column "
                    f"{count.column} ({count.share:.1%}) are not understood: {listed}: "
                    f"{self._advice(count.column, *reasons[0])}; nothing was changed (what may be "
                    f"so is --max-unread, now {highest:g})"
                )

    def _rejected(self, names: Sequence[str]) -> list[ColumnCount]:
        """Counts of columns whose values are rejected one by one."""
        if not names:
            return []
        unread = dict(self.warehouse.rows(query(TOPIC, "unread"), self._of_file))
        filled = self._aggregate([_filled(name) for name in dict.fromkeys(names)])
        return [
            ColumnCount(self.declared.name, name, count, int(unread.get(name, 0)))
            for name, count in zip(dict.fromkeys(names), filled, strict=True)
        ]

    def _undecoded(self) -> list[ColumnCount]:
        """Counts of item columns, of which no value is rejected."""
        if not self._items:
            return []
        found = self._aggregate(
            [_filled(name) for name in self._items] + [self._odd_value(n) for n in self._items]
        )
        many = len(self._items)
        return [
            ColumnCount(self.declared.name, name, *pair)
            for name, *pair in zip(self._items, found[:many], found[many:], strict=True)
        ]

    @property
    def _items(self) -> list[str]:
        attributes = (*self.dataset.sensitive, *self.dataset.quasi_sensitive)
        return list(dict.fromkeys(a.column for a in attributes if a.table == self.declared.name))

    @property
    def _of_file(self) -> dict[str, object]:
        key = self.key
        return {"ingestion": key.ingestion, "file": key.file, "partial": _PARTIAL_DATE}

    def _aggregate(self, conditions: Sequence[exp.Expression]) -> list[int]:
        """How many rows of the file meet each condition."""
        counts = [
            exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=condition))
            for condition in conditions
        ]
        (found,) = self._rows(self._loaded().select(*counts))
        return [int(count) for count in found]

    def _loaded(self) -> exp.Select:
        period = exp.EQ(this=column("quarter"), expression=exp.Parameter(this="quarter"))
        return exp.select().from_(self.place(self.dataset, self.declared.name)).where(period)

    def _rows(self, rows: exp.Select) -> list[tuple[Any, ...]]:
        parameters: dict[str, object] = {"quarter": self.key.quarter}
        statement = rows.sql(dialect="duckdb")
        if self.odd is not None and "$odd" in statement:
            parameters["odd"] = list(self.odd.numbers)
        return self.warehouse.rows(statement, parameters)

    def _odd_value(self, name: str) -> exp.Expression:
        """Whether a value holds what could not be decoded: U+FFFD, or any character beyond ASCII in
        a line that does not fit the encoding."""
        value = column(name)
        replaced: exp.Expression = call("contains", value.copy(), text_of(_REPLACED))
        if self.odd is None or not self.odd.numbers:
            return replaced
        wide = exp.NEQ(this=call("strlen", value.copy()), expression=exp.Length(this=value.copy()))
        lines = sqlglot.parse_one(query(TOPIC, "odd_records", record=self.records), read="duckdb")
        assert isinstance(lines, exp.Query)
        in_odd_line = column(derived("line")).isin(query=lines)
        return exp.Or(this=replaced, expression=exp.paren(exp.and_(wide, in_odd_line)))

    def _reasons(self, name: str) -> Reasons:
        """Why values of a column were not understood, with examples, the commonest first."""
        asked = {**self._of_file, "name": name, "many": EXAMPLES}
        found: Reasons = [
            (reason, [(each["value"], each["line"]) for each in examples])
            for reason, examples in self.warehouse.rows(query(TOPIC, "examples"), asked)
        ]
        if found:
            return found
        line = column(derived("line"))
        odd = self._loaded().select(column(name), line).where(self._odd_value(name))
        return [(_UNDECODED, self._rows(odd.order_by(line.copy()).limit(EXAMPLES)))]

    def _advice(self, name: str, reason: str, examples: Examples) -> str:
        """What to do about the values of a column."""
        if reason == _UNDECODED:
            if self.odd is not None and self.odd.numbers:
                return advice(self.odd)
            return "the file lost these characters before it came here: export it again as UTF-8"
        qid = next((qid for qid in self.dataset.qid if qid.column == name), None)
        if qid is None:
            return (
                "write dates as 2022-10-14 or 20221014, and name words that mean blank in null "
                "under [source]"
            )
        key = f"qid.{qid.name}"
        if reason == units.NOT_A_NUMBER:
            return _advice_on_numbers(key, [str(v) for v, _ in examples], self.dataset)
        if reason in (units.NO_UNIT, units.UNKNOWN_UNIT):
            return f"name the units in key {key}.units of the dataset"
        if reason == UNKNOWN_CODE:
            return (
                f"say in key {key}.aliases of the dataset what these codes stand for, or in "
                f"{key}.missing that they mean not known"
            )
        return f"are unit and domain of key {key} the right ones?"


def _advice_on_numbers(key: str, values: Sequence[str], dataset: Dataset) -> str:
    if dataset.source.decimal == "." and all(map(_COMMA.fullmatch, values)):
        return 'give decimal = "," under [source] of the dataset'
    if dataset.source.decimal == "," and all(map(_POINT.fullmatch, values)):
        return 'take decimal = "," out of the dataset'
    if all(map(_WITH_UNIT.fullmatch, values)):
        return f"give unit_in_value = true and units in key {key} of the dataset"
    if len(set(values)) == 1 and _WORD.fullmatch(values[0]):
        return f'if {values[0]} means blank, give null = ["{values[0]}"] under [source]'
    return (
        f"mend them, or name words that mean not known in key {key}.missing, or in null under "
        "[source] of the dataset"
    )


def _filled(name: str) -> exp.Expression:
    return known(trimmed(column(name), many=True))


def _listed(reason: str, examples: Examples) -> str:
    """A reason with its examples."""
    values = ", ".join(
        f"{printable(str(value)[:_LONGEST])!r} in line {line}" for value, line in examples
    )
    return f"{reason} ({values})"
