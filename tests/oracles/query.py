"""Questions about quasi-identifiers, answered value by value.

A question is a small tree of its own, which writes itself as SQL and is evaluated here in
three-valued logic, for one value of each quasi-identifier and one row at a time. Bounds come from
trying every value of a region.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Truth = bool | None
Point = Mapping[str, Any]
"""Quasi-identifier -> its value; None where it is missing."""
Row = Mapping[str, Any]
"""Table -> its released columns in this row, and ``case``: the Record it is of."""

_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: equals(a, b),
    "<>": lambda a, b: not equals(a, b),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


LEAVES = {"A": {"A"}, "B": {"B"}, "C": {"C"}, "AB": {"A", "B"}, "M": {"M"}, "F": {"F"}}
"""Node of the hierarchy of sexes -> the values it stands for."""


def equals(own: Any, constant: Any) -> bool:
    return own in LEAVES[constant] if constant in LEAVES else bool(own == constant)


@dataclass(frozen=True)
class Record:
    """A case in one quarter."""

    case: int
    quarter: str
    reports: Mapping[int, Mapping[str, Sequence[Mapping[str, Any]]]]
    """Report id -> child table -> its rows."""
    hull: Mapping[str, Sequence[Any]]
    """Quasi-identifier -> the values that the original may have; [None] where it is missing."""
    region: Mapping[str, Sequence[tuple[Any, Fraction]]] = field(default_factory=dict)
    """Quasi-identifier -> the values the release leaves possible, with their shares."""


@dataclass(frozen=True)
class Compare:
    """A column or quasi-identifier against a constant."""

    name: str
    operator: str
    constant: Any
    table: str | None = None
    """None: a quasi-identifier."""

    def sql(self) -> str:
        left = f"{self.table}.{self.name}" if self.table else self.name
        return f"{left} {self.operator} {literal(self.constant)}"

    def value(self, point: Point, row: Row) -> Truth:
        own = row[self.table][self.name] if self.table else point[self.name]
        return None if own is None else _TESTS[self.operator](own, self.constant)


@dataclass(frozen=True)
class Among:
    """IN or NOT IN a list."""

    name: str
    constants: tuple[Any, ...]
    negated: bool
    table: str | None = None

    def sql(self) -> str:
        left = f"{self.table}.{self.name}" if self.table else self.name
        listed = ", ".join(literal(c) for c in self.constants)
        return f"{left} {'NOT ' if self.negated else ''}IN ({listed})"

    def value(self, point: Point, row: Row) -> Truth:
        own = row[self.table][self.name] if self.table else point[self.name]
        if own is None:
            return None
        return any(equals(own, constant) for constant in self.constants) != self.negated


@dataclass(frozen=True)
class Between:
    name: str
    low: Any
    high: Any

    def sql(self) -> str:
        return f"{self.name} BETWEEN {literal(self.low)} AND {literal(self.high)}"

    def value(self, point: Point, row: Row) -> Truth:
        own = point[self.name]
        return None if own is None else self.low <= own <= self.high


@dataclass(frozen=True)
class Null:
    """IS NULL of a released column."""

    table: str
    name: str

    def sql(self) -> str:
        return f"{self.table}.{self.name} IS NULL"

    def value(self, point: Point, row: Row) -> Truth:
        return row[self.table][self.name] is None


@dataclass(frozen=True)
class NoValue:
    """IS NULL or IS NOT NULL of a quasi-identifier: whether the release has no value of it."""

    name: str
    negated: bool

    def sql(self) -> str:
        return f"{self.name} IS {'NOT ' if self.negated else ''}NULL"

    def value(self, point: Point, row: Row) -> Truth:
        record: Record = row["case"]
        values = [value for value, _ in record.region.get(self.name, ())]
        return (None in (values or record.hull[self.name])) is not self.negated


@dataclass(frozen=True)
class Has:
    """A child row with this value, of the same report or of the same case in the quarter."""

    table: str
    name: str
    constant: str
    by: str
    form: str
    """``exists``, or ``in`` a list of ids."""

    def sql(self) -> str:
        test = f"x.{self.name} = {literal(self.constant)}"
        if self.form == "in":
            return f"demo.{self.by} IN (SELECT {self.by} FROM {self.table} x WHERE {test})"
        return (
            f"EXISTS (SELECT 1 FROM {self.table} AS x WHERE x.{self.by} = demo.{self.by} "
            f"AND {test})"
        )

    def value(self, point: Point, row: Row) -> Truth:
        record: Record = row["case"]
        own = [row["demo"]["primaryid"]] if self.by == "primaryid" else list(record.reports)
        return any(
            child[self.name] == self.constant
            for report in own
            for child in record.reports[report][self.table]
        )


@dataclass(frozen=True)
class Not:
    of: Any

    def sql(self) -> str:
        return f"NOT ({self.of.sql()})"

    def value(self, point: Point, row: Row) -> Truth:
        inner = self.of.value(point, row)
        return None if inner is None else not inner


@dataclass(frozen=True)
class Join:
    """AND or OR of several conditions."""

    word: str
    of: tuple[Any, ...]

    def sql(self) -> str:
        return f" {self.word} ".join(f"({part.sql()})" for part in self.of)

    def value(self, point: Point, row: Row) -> Truth:
        values = [part.value(point, row) for part in self.of]
        decides = self.word == "OR"
        if decides in values:
            return decides
        return None if None in values else not decides


@dataclass(frozen=True)
class Column:
    """A group by a released column (``table``) or a quasi-identifier (None)."""

    name: str
    table: str | None = None

    def sql(self) -> str:
        return f"{self.table}.{self.name}" if self.table else self.name

    def value(self, point: Point, row: Row) -> Any:
        return row[self.table][self.name] if self.table else point[self.name]


@dataclass(frozen=True)
class Bins:
    """CASE WHEN ... THEN label ... ELSE label END."""

    branches: tuple[tuple[Any, str], ...]
    default: str | None

    def sql(self) -> str:
        listed = " ".join(f"WHEN {c.sql()} THEN {literal(label)}" for c, label in self.branches)
        rest = "" if self.default is None else f" ELSE {literal(self.default)}"
        return f"CASE {listed}{rest} END"

    def value(self, point: Point, row: Row) -> Any:
        for condition, label in self.branches:
            if condition.value(point, row) is True:
                return label
        return self.default


@dataclass(frozen=True)
class Question:
    counted: str
    """``cases``, ``reports`` or ``rows``."""
    children: tuple[tuple[str, str], ...]
    """Child tables joined to demo, each with the id it is joined by."""
    condition: Any
    groups: tuple[Any, ...]
    style: str
    """How joins are written: ``using``, ``on`` or ``where``."""
    of: str = "demo"
    """The table whose ids are counted."""
    unlisted: tuple[str, ...] = ()
    """Values of released columns that make no group."""

    def sql(self) -> str:
        count = {
            "cases": f"COUNT(DISTINCT {self.of}.caseid)",
            "reports": f"COUNT(DISTINCT {self.of}.primaryid)",
            "rows": "COUNT(*)",
        }[self.counted]
        source, facts = "demo", [f"({self.condition.sql()})"]
        for table, by in self.children:
            if self.style == "where":
                source += f", {table}"
                facts.append(f"{table}.{by} = demo.{by}")
            elif self.style == "on" or by != self.children[0][1]:
                source += f" JOIN {table} ON {table}.{by} = demo.{by}"
            else:
                source += f" JOIN {table} USING ({by})"
        listed = [f"{group.sql()} AS g{n}" for n, group in enumerate(self.groups)] + [count]
        text = f"SELECT {', '.join(listed)} FROM {source} WHERE {' AND '.join(facts)}"
        if self.groups:
            text += f" GROUP BY {', '.join(str(n + 1) for n in range(len(self.groups)))}"
        return text

    def rows(self, record: Record) -> Iterator[Row]:
        """The joined rows of one case in one quarter."""
        for report in record.reports:
            choices = [
                [
                    {**child, "primaryid": own}
                    for own in ([report] if by == "primaryid" else record.reports)
                    for child in record.reports[own][table]
                ]
                for table, by in self.children
            ]
            for chosen in itertools.product(*choices):
                names = [table for table, _ in self.children]
                yield {
                    "case": record,
                    "demo": {"primaryid": report, "caseid": record.case},
                    **dict(zip(names, chosen, strict=True)),
                }

    def units(self, rows: Sequence[Row], point: Point) -> set[tuple[Any, Any]]:
        """(unit, group) of what counts among the rows of a case, if these are its values."""
        found: set[tuple[Any, Any]] = set()
        for n, row in enumerate(rows):
            if self.condition.value(point, row) is not True:
                continue
            group = tuple(g.value(point, row) for g in self.groups)
            if any(isinstance(g, Column) and not g.table and point[g.name] is None
                   for g in self.groups):  # fmt: skip
                continue
            if any(value in self.unlisted for value in group):
                continue
            unit = {
                "cases": row["case"].case,
                "reports": row[self.of]["primaryid"],
                "rows": (row["case"].case, row["case"].quarter, n),
            }[self.counted]
            found.add((unit, group))
        return found


def comparisons(of: Any) -> Iterator[Any]:
    """The comparisons of quasi-identifiers in a question or a part of it, one limit each."""
    if isinstance(of, Between):
        yield from (Compare(of.name, ">=", of.low), Compare(of.name, "<=", of.high))
    elif isinstance(of, (Compare, Among, Column)):
        yield from () if of.table else (of,)
    elif isinstance(of, (Not, Join, Bins, Question, tuple)):
        for part in of if isinstance(of, tuple) else vars(of).values():
            yield from comparisons(part)


def decides(question: Question, record: Record) -> bool:
    """Whether the region of a case answers every comparison, and with a value."""
    for one in comparisons(question):
        found = {one.value({one.name: value}, {}) for value, _ in record.region[one.name]}
        if None in found or len(found) > 1:
            return False
    return True


Bounds = dict[Any, tuple[int, Fraction, int, int]]
"""Group -> lower, expected, upper, known."""


def bounds(question: Question, records: Sequence[Record], names: Sequence[str]) -> Bounds:
    """By trying every value of every region of the quasi-identifiers ``names``."""
    best: dict[tuple[Any, Any], tuple[int, Fraction, int]] = {}
    for record in records:
        share: dict[tuple[Any, Any], Fraction] = {}
        worlds: Counter[tuple[Any, Any]] = Counter()
        total = 0
        rows = list(question.rows(record))
        for chosen in itertools.product(*(record.region[name] for name in names)):
            total += 1
            point = {name: value for name, (value, _) in zip(names, chosen, strict=True)}
            weight = Fraction(1)
            for _, part in chosen:
                weight *= part
            for key in question.units(rows, point):
                worlds[key] += 1
                share[key] = share.get(key, Fraction(0)) + weight
        for key, count in worlds.items():
            certain = count == total
            seen = best.get(key, (0, Fraction(0), 0))
            part = Fraction(1) if certain else share[key]
            known = int(decides(question, record))
            best[key] = max(seen[0], int(certain)), max(seen[1], part), max(seen[2], known)
    found: Bounds = {}
    for (_, group), (certain_, part, known) in best.items():
        lower, expected, upper, known_ = found.get(group, (0, Fraction(0), 0, 0))
        found[group] = lower + certain_, expected + part, upper + 1, known_ + known
    return found


def truth(
    question: Question, records: Sequence[Record], names: Sequence[str], *, every: bool
) -> Counter[Any]:
    """The counts of the originals: of every value that an original may have, or of some."""
    counted: set[tuple[Any, Any]] = set()
    for record in records:
        points = [
            dict(zip(names, chosen, strict=True))
            for chosen in itertools.product(*(record.hull[name] for name in names))
        ]
        rows = list(question.rows(record))
        found = [question.units(rows, point) for point in points]
        counted |= set.intersection(*found) if every else set.union(*found)
    return Counter(group for _, group in counted)


def literal(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)
