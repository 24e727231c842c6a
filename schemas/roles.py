"""What a dataset schema declares: sources, tables, and the roles that columns play.

A column that is not declared under ``publish`` (or as a quasi-identifier or id) is not published
(SPEC section 4).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from importlib import resources
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

Found = TypeVar("Found")

LONGEST_TEXT = 500
"""Characters that a published text may have where its table declares no other length."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_WORD = r'(?:"(?:[^"]|"")+"|[^\W\d]\w*)'


def _name(value: object) -> object:
    if isinstance(value, str) and not _NAME.fullmatch(value):
        raise ValueError(f"{value!r} is not a name (lower-case letters, digits, underscore)")
    return value


Name = Annotated[str, BeforeValidator(_name)]


def _exact(value: object) -> Fraction:
    try:
        return Fraction(str(value).replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{value!r} is not a number or a fraction such as 1/12") from None


Exact = Annotated[Fraction, BeforeValidator(_exact)]


def _relation(value: object) -> object:
    """``[[database.]schema.]table`` as its words, unquoted; anything but text is left alone.

    Raises:
        ValueError: the text does not name a table.
    """
    if not isinstance(value, str):
        return value
    if not re.fullmatch(rf"{_WORD}(?:\.{_WORD}){{0,2}}", value):
        raise ValueError(
            f"{value!r} does not name a table: write table, schema.table or database.schema.table, "
            'with double quotes around what is not a plain word, such as clinic."adverse events"'
        )
    words = re.findall(_WORD, value)
    return tuple(w[1:-1].replace('""', '"') if w.startswith('"') else w for w in words)


Relation = Annotated[tuple[str, ...], BeforeValidator(_relation)]


class Strict(BaseModel):
    """A part of a dataset schema: frozen, and a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


def _encoding(value: object) -> object:
    """The name of a text encoding as it is; anything but text is left alone.

    Raises:
        ValueError: Python knows no text encoding of that name.
    """
    if isinstance(value, str):
        try:
            codecs.getincrementaldecoder(value)("replace").decode("a".encode(value), final=True)
        except (LookupError, ValueError):
            raise ValueError(
                f"{value!r} is no text encoding: give one such as utf-8, utf-16, cp1252, cp932, "
                "euc-jp or gb18030"
            ) from None
    return value


Encoding = Annotated[str, BeforeValidator(_encoding)]


PeriodKind = Literal["label", "year", "quarter", "month", "week", "day"]


class RowPeriod(Strict):
    """Which period a row of a file is of, where files hold several periods."""

    column: Name
    """A column of the report table; a child row is of the period of its report."""
    kind: PeriodKind
    """What it holds: the label itself, or a date, from which it is made."""
    format: str | None = None
    """How dates are written, in the signs of DuckDB's strptime, as ``%m/%d/%Y``; None: as
    2022-10-14 or 20221014."""
    words: dict[str, str] = Field(default_factory=dict)
    """Of labels: text -> what stands in its place, in their order."""

    @model_validator(mode="after")
    def _fits_kind(self) -> RowPeriod:
        if self.kind == "label" and self.format is not None:
            raise ValueError('format: kind = "label" is no date: take it out')
        if self.kind != "label" and self.words:
            raise ValueError('words: they are for kind = "label": take them out')
        if self.format is not None and not re.search("%[a-zA-Z]", self.format):
            raise ValueError(f"format: {self.format!r} has no sign such as %Y, %m or %d")
        return self


def _period(value: object) -> object:
    """What tells periods: a word, or a table of ``RowPeriod``; of both, errors that name one thing.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(value, dict):
        try:
            return RowPeriod(**value)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            told = first["msg"].removeprefix("Value error, ")
        raise ValueError(f"{key}: {told}" if key else told)
    if not isinstance(value, RowPeriod) and value not in get_args(PeriodKind):
        raise ValueError(
            f"give {', '.join(get_args(PeriodKind))}, or of files a table with column and kind"
        )
    return value


class Source(Strict):
    """How the files of one period look, or which rows of a table are of one period."""

    reader: Literal["dollar", "csv", "parquet", "table"]
    """``dollar``: FAERS/AERS ASCII, no quoting; ``csv``: quoted CSV; ``parquet``; ``table``: tables
    or views that the connection has already."""
    delimiter: str = ","
    """Of ``csv``: what separates fields."""
    quote: str = '"'
    """Of ``csv``: what stands around fields that hold delimiters or line ends; empty: quotes mean
    nothing."""
    escape: str | None = None
    """Of ``csv``: what stands before a quote within a quoted field; None: it is doubled."""
    header: bool = True
    """Whether line 1 of each file has the names of its columns; else its table has them by
    position (``names``)."""
    encoding: Encoding | None = None
    """The text encoding of the files, by any name that Python knows it by; None: a byte order mark
    says it, else UTF-8."""
    null: tuple[str, ...] = ()
    """Words that mean "blank" in every column (compared trimmed, upper-cased)."""
    decimal: Literal[".", ","] = "."
    """The decimal sign of numeric quasi-identifiers."""
    row_counts: str | None = None
    """A file that ships with srsql: rows of each table by period, as the regulator publishes them
    (columns ``quarter`` and the names of tables)."""
    period_pattern: str | None = None
    """Regular expression on a file's name whose groups give the period (see ``period_label``)."""
    period_label: str = "{0}"
    """Format of the label from the groups, e.g. ``20{0}Q{1}``; four-digit years stay."""
    deleted_files: tuple[str, ...] = ()
    """Globs of files that list withdrawn case ids, one a line, without header."""
    period: Annotated[PeriodKind | RowPeriod, BeforeValidator(_period)] = "label"
    """What a table's ``period_column`` holds: the label itself, or a date, from which it is made
    (2022, 2022Q4, 2022-10, 2022W40, 2022-10-03); of files, which of their rows are of a period."""

    @property
    def separator(self) -> str:
        """What separates the fields of a line."""
        return "$" if self.reader == "dollar" else self.delimiter

    @property
    def quotes(self) -> str:
        """The signs that may stand around a value in a line."""
        return self.quote + (self.escape or "") if self.reader == "csv" else ""

    @property
    def row_period(self) -> RowPeriod | None:
        """Which period a row of a file is of; None: files hold one period, or there are none."""
        return self.period if isinstance(self.period, RowPeriod) else None

    @property
    def period_rule(self) -> str:
        """What a column of periods holds."""
        return self.period.kind if isinstance(self.period, RowPeriod) else self.period

    @model_validator(mode="after")
    def _counts_ship(self) -> Source:
        name = self.row_counts
        if name is not None and (
            not re.fullmatch(r"[a-z][a-z0-9_]*_row_counts\.csv", name)
            or not (resources.files("srsql.schemas") / name).is_file()
        ):
            raise ValueError(f"row_counts: no file {name!r} ships with srsql: take it out")
        return self

    @model_validator(mode="after")
    def _pattern_and_label(self) -> Source:
        if self.period_pattern is not None:
            try:
                groups = re.compile(self.period_pattern).groups
            except re.error as error:
                raise ValueError(f"period_pattern is not a regular expression: {error}") from None
            try:
                self.period_label.format(*("x" * groups))
            except (IndexError, KeyError, ValueError):
                raise ValueError(
                    f"period_label {self.period_label!r} asks for more than the {groups} group(s) "
                    "of period_pattern"
                ) from None
        return self


class Split(Strict):
    """How one cell holds several terms."""

    by: str = Field(min_length=1)
    """What stands between two of them."""
    take: str | None = None
    """Regular expression whose first group is the term; what it does not match is the term as it
    stands."""

    @model_validator(mode="after")
    def _one_group(self) -> Split:
        if self.take is not None:
            try:
                groups = re.compile(self.take).groups
            except re.error as error:
                raise ValueError(f"take is not a regular expression: {error}") from None
            if not groups:
                raise ValueError(f"take: {self.take!r} has no group: put one around the term")
        return self


class Column(Strict):
    """One source column and the other names it goes by."""

    name: Name
    aliases: tuple[str, ...] = ()


class Table(Strict):
    """One source table."""

    name: Name
    files: tuple[str, ...] = ()
    """File-name globs, matched without regard to case."""
    relation: Relation | None = None
    """The table or view to read, as SQL writes its name: up to database, schema, table."""
    period_column: str | None = None
    """Its column of periods; without one, a child row is of the periods of its report."""
    columns: tuple[Column, ...]
    names: tuple[str, ...] = ()
    """What all columns of a file without a header are called, by position."""
    fallback: dict[Name, Name] = Field(default_factory=dict)
    """Column -> another one of the table, whose value is taken where it is blank."""
    key: dict[Name, tuple[Name, ...]] = Field(default_factory=dict)
    """Column of ids -> the columns that are its parts. Of a child table that lacks the last parts,
    a row is of every report whose key begins with those that it has."""
    same_file: Name | None = None
    """The table from whose file this one is read as well."""
    split: dict[Name, Split] = Field(default_factory=dict)
    """Column of a child table whose cells hold several terms -> how they are parted; each becomes a
    row of its own."""
    unpivot: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Target column -> source columns that each become a row of their own."""
    required: bool = True
    """Whether each source must have a file for it."""
    every_report: bool = False
    """Of a child table: whether each report must have a row in it."""
    publish: tuple[Name, ...] = ()
    """Columns that leave the house as they are (child tables: the released child columns)."""
    optional: tuple[Name, ...] = ()
    """Columns of a child table that leave the house as they are where a series asks for them
    (``--columns``), and not otherwise."""
    max_length: dict[Name, int] = Field(default_factory=dict)
    """Published or optional column -> characters that its texts have at most; of the others 500. A
    release with a longer text is refused: it may be several records in one."""
    serial: dict[Name, Name] = Field(default_factory=dict)
    """Published column that numbers things of a report -> name of the numbering, which tables may
    share. Series with pseudonyms publish 1, 2, 3 ... instead, since some sources number across all
    reports (legacy AERS drug_seq), which is as good as a report id."""

    def parts(self, column: str) -> int:
        """How many parts an id has here."""
        return len(self.key.get(column, (column,)))

    def longest(self, column: str) -> int:
        """Characters that a text of a column has at most where it is published."""
        return self.max_length.get(column, LONGEST_TEXT)


class Qid(Strict):
    """One quasi-identifier of the report table."""

    name: Name
    kind: Literal["numeric", "categorical"]
    column: Name
    domain: tuple[Decimal, Decimal] | Literal["observed"] | None = None
    """Numeric: inclusive bounds in ``unit``; a value outside is impossible."""
    limits: tuple[Decimal, Decimal] | None = None
    """Numeric with an observed domain: what is possible at all."""
    unit: str = ""
    granularity: Decimal = Decimal(1)
    rounding: Literal["floor", "half_up"] = "half_up"
    unit_column: Name | None = None
    unit_in_value: bool = False
    """The unit stands behind the number in one field, as in ``36 YR`` or ``36YR``."""
    units: dict[str, Exact] = Field(default_factory=dict)
    """Unit code -> factor to ``unit``, exact (a fraction such as 1/12 is a string)."""
    hierarchy: str | None = None
    """Categorical: file, relative to the dataset file (or one that ships)."""
    missing: tuple[str, ...] = ()
    """Codes that mean "not known", beside blank."""
    aliases: dict[str, str] = Field(default_factory=dict)
    """Source code -> node label (codes are compared trimmed, upper-cased)."""
    groups: str | None = None
    """Numeric: hierarchy file whose leaves' ranges tile the domain; the models of differential
    privacy take the number as a category over it."""

    @property
    def ranged(self) -> bool:
        """Whether it is a category whose nodes stand for ranges of a number."""
        return self.kind == "categorical" and self.groups is not None

    @property
    def bounded(self) -> bool:
        """Whether it is published as two bounds, not as a label."""
        return self.kind == "numeric" or self.ranged

    def published_as(self, bounds: Callable[[], Found], label: Callable[[], Found]) -> Found:
        """What goes for one that is published as two bounds, or as a label."""
        return bounds() if self.bounded else label()

    @property
    def published(self) -> tuple[str, ...]:
        """The columns that it is published in."""
        return self.published_as(
            lambda: (f"{self.name}_low", f"{self.name}_high"), lambda: (self.name,)
        )

    @property
    def ends(self) -> tuple[int, int] | None:
        """Of a number: its declared domain (else its limits) in granules; None: none is declared.

        Released numbers with noise are kept within.
        """
        bounds = self.domain if isinstance(self.domain, tuple) else self.limits
        if bounds is None:
            return None
        low, high = (end / self.granularity for end in bounds)
        return (
            int(low.to_integral_value("ROUND_CEILING")),
            int(high.to_integral_value("ROUND_FLOOR")),
        )

    @model_validator(mode="after")
    def _consistent(self) -> Qid:
        if self.kind == "numeric":
            if self.domain is None:
                raise ValueError(f"numeric QID {self.name!r} needs a domain")
            for key in ("domain", "limits"):
                bounds = getattr(self, key)
                if isinstance(bounds, tuple) and not bounds[0] < bounds[1]:
                    raise ValueError(f"{key} of QID {self.name!r} must be [low, high], low < high")
            if self.granularity <= 0:
                raise ValueError(f"granularity of QID {self.name!r} must be above 0")
            if bool(self.unit_column or self.unit_in_value) != bool(self.units):
                raise ValueError(
                    f"QID {self.name!r} needs unit_column and units together, or unit_in_value and "
                    "units"
                )
            if self.unit_column and self.unit_in_value:
                raise ValueError(
                    f"QID {self.name!r} has its unit in a column or in its value: give one of "
                    "unit_column and unit_in_value"
                )
            if self.groups is not None and not isinstance(self.domain, tuple):
                raise ValueError(f"groups of QID {self.name!r} need a declared domain to tile")
        elif self.hierarchy is None:
            raise ValueError(f"categorical QID {self.name!r} needs a hierarchy")
        elif self.unit_in_value:
            raise ValueError(f"QID {self.name!r} is categorical: unit_in_value is for numbers")
        elif self.groups is not None:
            raise ValueError(f"QID {self.name!r} is categorical already: groups are for numbers")
        return self


class QidSet(Strict):
    """Quasi-identifiers that one attacker knows, of those that another one may not."""

    name: Name
    qids: tuple[Name, ...] = Field(min_length=1)
    """Names of quasi-identifiers."""


class Sensitive(Strict):
    """A sensitive or quasi-sensitive attribute, multi-valued where its table is a child."""

    table: Name
    column: Name
    missing: tuple[str, ...] = ()
    """Terms that stand for "not known" (compared trimmed, upper-cased), beside blank."""


class Signals(Strict):
    """The columns of what was taken and of what happened, for signals (SPEC section 14)."""

    drug_table: Name
    drug: Name
    reaction_table: Name
    reaction: Name
    role: Name | None = None
    """Column of the drug table with the role of the drug in the event."""
    suspect: tuple[str, ...] = ()
    """Roles that count by default (compared trimmed, upper-cased)."""
    indication_table: Name | None = None
    indication: Name | None = None
    """Column with what a drug was taken for, which may be reported as a reaction again."""

    @model_validator(mode="after")
    def _roles(self) -> Signals:
        if bool(self.indication_table) != bool(self.indication):
            raise ValueError("indication_table and indication go together")
        if bool(self.role) != bool(self.suspect):
            raise ValueError("role and suspect go together: which column, and what it must say")
        return self
