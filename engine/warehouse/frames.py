"""Results as tables: pandas, Arrow or Polars, with the same types whatever the values are."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pandas as pd
import pyarrow as pa

from srsql.engine.errors import FrameError

Kind = Literal["pandas", "arrow", "polars"]
_TYPES: dict[Any, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    Decimal: pa.decimal128(18, 6),
}


def as_frame(rows: Iterable[Any], *, kind: Kind = "pandas", of: type | None = None) -> Any:
    """Rows of a result, such as those of ``engine.metrics`` or ``audit.releases``, as a table.

    Columns and their types are those of the rows' class, so they are there where every value is
    None. A part of a row that has fields of its own (``original`` of a signal) becomes a column for
    each of them (``original_prr``); what has no column type (a dictionary) is JSON.

    Args:
        rows: results of one class, or dictionaries.
        kind: ``pandas`` (Arrow-backed: integers with NULL stay integers), ``arrow``, ``polars``.
        of: the class of the rows, so that no rows at all give its columns, too.

    Raises:
        FrameError: these are no rows of one class, or Polars is wanted and not installed.
    """
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
        FrameError: an unknown kind, or Polars is not installed.
    """
    if kind == "arrow":
        return table
    if kind == "pandas":
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
    if kind in _TYPES:
        return _TYPES[kind]
    arguments = [a for a in get_args(kind) if a is not Ellipsis]
    if get_origin(kind) in (list, tuple, Sequence) and set(arguments) <= set(_TYPES):
        return pa.list_(_TYPES[arguments[0]])
    return pa.string()


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return str(value)
