"""Results as tables: pandas, Arrow or Polars, with the same types whatever the values are."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import cache
from html import escape
from types import MappingProxyType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from srsql.engine.errors import FrameError, printable

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Kind = Literal["pandas", "arrow", "polars"]

FORMULA = r"'*[=+\-@\t\r]"
"""How a cell begins that a spreadsheet runs as a formula, apostrophes in front of it aside."""
NUMBER = r"[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]+)?"
"""A cell that is a number whatever sign it has."""


def csv_safe(value: Any) -> Any:
    """A cell with an apostrophe in front of it where a spreadsheet would run it as a formula.

    Numbers stay numbers. A cell that begins with apostrophes before such a text gets one more, so
    that taking one off again gives what it was.
    """
    if not isinstance(value, str) or not re.match(FORMULA, value) or re.fullmatch(NUMBER, value):
        return value
    return f"'{value}"


class Framed:
    """A result that has rows: it turns into a frame, and is shown as a table.

    In a notebook it is shown by itself, elsewhere by ``print``; both shorten what is long.
    """

    _tables: ClassVar[tuple[str, ...]] = ()
    """Fields with rows, the first of which is what frames have."""
    _column_types: ClassVar[Mapping[str, Any]] = {}
    """Types of columns of rows that are tuples, where no value may tell."""

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self._table(self._tables[0])

    def df(self) -> pd.DataFrame:
        """The rows as a pandas frame, with the types of Arrow: integers with NULL stay integers."""
        frame: pd.DataFrame = shaped(self.arrow(), "pandas")
        return frame

    def pl(self) -> Any:
        """The rows as a Polars frame.

        Raises:
            FrameError: Polars is not installed.
        """
        return shaped(self.arrow(), "polars")

    def _table(self, field: str) -> pa.Table:
        rows = getattr(self, field)
        if isinstance(rows, Lines):
            return rows.table(self._column_types)
        of = get_args(get_type_hints(type(self))[field])[0]
        known = isinstance(of, type) and is_dataclass(of)
        return as_frame(rows, kind="arrow", of=of if known else None)

    def _shown(self) -> list[tuple[str, pa.Table]]:
        """The tables to show with their headings: the first one even if it has no rows."""
        first, *others = self._tables
        tables = [(first, self.arrow()), *((name, self._table(name)) for name in others)]
        alone = len(self._tables) == 1
        return [
            ("" if alone else name, table)
            for name, table in tables
            if name == first or table.num_rows
        ]

    def __str__(self) -> str:
        """Every table of the result, as text."""
        return "\n\n".join(_text_table(name, table) for name, table in self._shown())

    def _repr_html_(self) -> str:
        """Every table of the result, for a notebook."""
        return "".join(_html_table(name, table) for name, table in self._shown())


@cache
def _types() -> dict[Any, pa.DataType]:
    """Kind of a value -> its type in Arrow, which is loaded for the first frame."""
    import pyarrow as pa

    return {
        bool: pa.bool_(),
        int: pa.int64(),
        float: pa.float64(),
        str: pa.string(),
        Decimal: pa.decimal128(18, 6),
    }


Row = TypeVar("Row")


class Rows(list[Row], Framed):
    """A list of records of one class, which is a list in every other respect."""

    _tables = ("",)

    def __init__(self, rows: Iterable[Row] = (), of: type | None = None) -> None:
        super().__init__(rows)
        self.of = of

    def _table(self, field: str) -> pa.Table:
        return as_frame(list(self), kind="arrow", of=self.of)


class Lines(tuple[tuple[Any, ...], ...]):
    """Rows that are tuples, with the names of their columns; else a tuple as any other."""

    columns: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, ...]], columns: Iterable[str]) -> Lines:
        """The rows, under these columns."""
        made = cls(rows)
        made.columns = tuple(columns)
        return made

    def table(self, types: Mapping[str, Any] = MappingProxyType({})) -> pa.Table:
        """An Arrow table; a column without a value has the type given for it, else text."""
        import pyarrow as pa

        names = list(self.columns)
        while len(set(names)) < len(names):  # Arrow tells columns by their places, frames cannot
            names = [f"{name}_{n}" if name in names[:n] else name for n, name in enumerate(names)]
        arrays = []
        for n, name in enumerate(self.columns):
            array = pa.array([row[n] for row in self])
            empty = pa.types.is_null(array.type)
            arrays.append(array.cast(_types()[types.get(name, str)]) if empty else array)
        return pa.Table.from_arrays(arrays, names=names)


SHOWN_ROWS, SHOWN_WIDTH, SHOWN_CELL = 40, 160, 60
"""Of a table as text: rows, characters of a line, characters of a cell."""


def _cells(table: pa.Table, most: int) -> list[list[str]]:
    return [[_cell(value) for value in row.values()] for row in table.slice(0, most).to_pylist()]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    text = printable(str(value))
    return text if len(text) <= SHOWN_CELL else f"{text[: SHOWN_CELL - 3]}..."


def _more(table: pa.Table, columns: int) -> str:
    """What of a table is not shown, as a sentence; empty: nothing."""
    rows = f"{table.num_rows - SHOWN_ROWS:,} more rows" if table.num_rows > SHOWN_ROWS else ""
    left = table.num_columns - columns
    parts = [rows, f"{left:,} more columns" if left else ""]
    told = " and ".join(part for part in parts if part)
    return f"({told}: .df() has all)" if told else ""


def _text_table(name: str, table: pa.Table) -> str:
    """A table with aligned columns, as many as a line has room for."""
    headings = [printable(column) for column in table.column_names]
    rows = _cells(table, SHOWN_ROWS)
    columns: list[list[str]] = []
    width = 0
    for n, heading in enumerate(headings):
        cells = [heading, *(row[n] for row in rows)]
        widest = max(map(len, cells))
        if columns and width + widest > SHOWN_WIDTH:
            break
        right = _is_number(table.schema.field(n).type)
        columns.append([cell.rjust(widest) if right else cell.ljust(widest) for cell in cells])
        width += widest + 2
    lines = ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
    told = [f"{name}:"] if name else []
    none = [] if table.num_rows else ["(no rows)"]
    more = _more(table, len(columns))
    return "\n".join([*told, *lines, *none, *([more] if more else [])])


def _html_table(name: str, table: pa.Table) -> str:
    """A table in HTML; whatever comes from the data is escaped."""
    head = "".join(f"<th>{escape(printable(column))}</th>" for column in table.column_names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in _cells(table, SHOWN_ROWS)
    )
    caption = f"<caption>{escape(name)}</caption>" if name else ""
    more = _more(table, table.num_columns)
    return (
        f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"{f'<p>{more}</p>' if more else ''}"
    )


def _is_number(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def as_frame(rows: Iterable[Any] | Framed, *, kind: Kind = "pandas", of: type | None = None) -> Any:
    """Rows of a result, such as ``engine.audit.metrics`` or ``audit.releases``, as a table.

    Columns and their types are those of the rows' class, so they are there where every value is
    None. A part of a row that has fields of its own (``original`` of a signal) becomes a column for
    each of them (``original_prr``); what has no column type (a dictionary) is JSON.

    Args:
        rows: a result, such as ``engine.audit.run()``, results of one class, or dictionaries.
        kind: ``pandas`` (Arrow-backed: integers with NULL stay integers), ``arrow``, ``polars``.
        of: the class of the rows, so that no rows at all give its columns, too.

    Raises:
        FrameError: these are no rows of one class, or the package of that kind is not installed.
    """
    import pyarrow as pa

    if isinstance(rows, Framed):
        return shaped(rows.arrow(), kind)
    if isinstance(rows, Lines):
        return shaped(rows.table(), kind)
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise FrameError(
            f"a {type(rows).__name__} is not rows: give a list of results, such as audit.releases"
        )
    listed = list(rows)
    if listed and all(isinstance(row, Mapping) for row in listed):
        return shaped(pa.Table.from_pylist([dict(row) for row in listed]), kind)
    shape = of or (type(listed[0]) if listed else None)
    if shape is None:
        return shaped(pa.table({}), kind)
    if not is_dataclass(shape) or not all(type(row) is shape for row in listed):
        raise FrameError(f"not every row is a {shape.__name__}: give results of one class")
    schema = pa.schema(list(_columns(shape).items()))
    return shaped(pa.Table.from_pylist([_flat(row, shape) for row in listed], schema), kind)


def shaped(table: pa.Table, kind: Kind) -> Any:
    """An Arrow table as what was asked for.

    Raises:
        FrameError: an unknown kind, or its package is not installed.
    """
    if kind == "arrow":
        return table
    if kind == "pandas":
        import pandas as pd

        return table.to_pandas(types_mapper=pd.ArrowDtype)
    if kind != "polars":
        raise FrameError(f"no frame of kind {kind!r}: give pandas, arrow or polars")
    try:
        polars = importlib.import_module("polars")
    except ImportError:
        raise FrameError("polars is not installed: pip install polars, or take arrow") from None
    return polars.from_arrow(table)


def _columns(shape: type, prefix: str = "") -> dict[str, pa.DataType]:
    """Column -> type of the fields of a class, those of its parts included."""
    columns: dict[str, pa.DataType] = {}
    for name, kind in _kinds(shape).items():
        if isinstance(kind, type) and is_dataclass(kind):
            columns |= _columns(kind, f"{prefix}{name}_")
        else:
            columns[prefix + name] = _type(kind)
    return columns


def _flat(row: Any, shape: type, prefix: str = "") -> dict[str, Any]:
    """The values of ``_columns``; those of a part that is None are all None."""
    import pyarrow as pa

    values: dict[str, Any] = {}
    for name, kind in _kinds(shape).items():
        value = None if row is None else getattr(row, name)
        if isinstance(kind, type) and is_dataclass(kind):
            values |= _flat(value, kind, f"{prefix}{name}_")
        elif value is not None and _type(kind) == pa.string() and not isinstance(value, str):
            values[prefix + name] = json.dumps(value, default=_plain, ensure_ascii=False)
        else:
            values[prefix + name] = value
    return values


def _kinds(shape: type) -> dict[str, Any]:
    """Field -> its type, without the None of an optional one."""
    hints = get_type_hints(shape)
    found = {}
    for field in fields(shape):
        kind = hints[field.name]
        if get_origin(kind) in (Union, UnionType):
            others = [k for k in get_args(kind) if k is not NoneType]
            kind = others[0] if len(others) == 1 else object
        found[field.name] = kind
    return found


def _type(kind: Any) -> pa.DataType:
    import pyarrow as pa

    if kind in _types():
        return _types()[kind]
    arguments = [a for a in get_args(kind) if a is not Ellipsis]
    if get_origin(kind) in (list, tuple, Sequence) and set(arguments) <= set(_types()):
        return pa.list_(_types()[arguments[0]])
    return pa.string()


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return str(value)
