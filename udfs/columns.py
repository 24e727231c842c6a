"""Columns of Arrow as arrays for the compiled code, and back.

Compiled code takes no NULL: what converts a column refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""The integers of the kernels: numbers, places and counts."""
_NULL = "a number of the kernel's input is NULL"
NO_CASE = "a row belongs to a case that is not among the cases"
Row = TypeVar("Row")
Solved = TypeVar("Solved")


def rows_of(*columns: pa.ChunkedArray) -> list[tuple[pa.Scalar, ...]]:
    """The rows of columns of equal length."""
    return list(zip(*map(one_array, columns), strict=True))


def at_once(
    solve: Callable[[Row], Solved], rows: Sequence[Row], threads: int, size: Callable[[Row], int]
) -> list[Solved]:
    """What comes of each row, in their order; as many are solved at a time as there are threads.

    Compiled code lets go of the interpreter, so that problems that know nothing of each other take
    a processor each. The largest are begun first, so that none is begun last that takes longest.
    """
    at_a_time = min(threads, len(rows))
    if at_a_time < 2:
        return [solve(row) for row in rows]
    with ThreadPoolExecutor(at_a_time) as pool:
        begun = {
            turn: pool.submit(solve, rows[turn])
            for turn in sorted(range(len(rows)), key=lambda turn: -size(rows[turn]))
        }
        return [begun[turn].result() for turn in range(len(rows))]


def one_array(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece; as it mostly comes in one, nothing is copied then."""
    if isinstance(values, pa.ChunkedArray):
        return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    return values


def flat(scalar: pa.ListScalar) -> Ints:
    """The values of a list of numbers."""
    return numbers(scalar.values)


def nested(inner: pa.ListArray) -> tuple[Ints, pa.Array]:
    """Offsets [lists + 1], from 0 on, and values of a list of lists."""
    offsets = numbers(inner.offsets)
    return offsets - offsets[0], inner.values.slice(offsets[0], offsets[-1] - offsets[0])


def flags(values: pa.Array) -> NDArray[np.bool_]:
    """Booleans as an array.

    Raises:
        ValueError: one is NULL.
    """
    if values.null_count:
        raise ValueError("a flag of the kernel's input is NULL")
    return np.from_dlpack(values.cast(pa.uint8())).astype(np.bool_)


def numbers(values: pa.Array) -> Ints:
    """Numbers as an array of 64-bit integers.

    Raises:
        ValueError: one is NULL.
    """
    if values.null_count:
        raise ValueError(_NULL)
    return np.from_dlpack(values).astype(np.int64)


def reals(values: pa.Array | pa.ChunkedArray) -> NDArray[np.float64]:
    """Numbers as an array of doubles; NULL becomes NaN."""
    array = one_array(values).cast(pa.float64())
    if not array.null_count:
        return np.from_dlpack(array).astype(np.float64)
    # to fill them by pyarrow would make a scalar of Python's, for which it loads pandas
    known = np.from_dlpack(array.is_valid().cast(pa.uint8())).astype(np.bool_)
    filled = np.full(len(array), np.nan)
    filled[known] = np.from_dlpack(array.drop_null())
    return filled


def fields(structs: pa.StructArray) -> list[Ints]:
    """The columns of structs of numbers; a flag is 1 or 0."""
    return [column.astype(np.int64) for column in uncopied(structs)]


def uncopied(structs: pa.StructArray) -> list[NDArray[Any]]:
    """The same as they lie, of any width, not to be written to: of millions a copy takes longer
    than what is done with it.

    Raises:
        ValueError: one is NULL.
    """
    columns = [structs.field(i) for i in range(structs.type.num_fields)]
    if any(column.null_count for column in columns):
        raise ValueError(_NULL)
    return [
        np.from_dlpack(each.cast(pa.uint8()) if pa.types.is_boolean(each.type) else each)
        for each in columns
    ]


def by_first(columns: list[NDArray[Any]]) -> list[Ints]:
    """Columns of numbers of any width, all in the order of the first; rows equal there keep theirs.

    Copies, of 64-bit integers.
    """
    first = columns[0]
    if not bool((first[1:] < first[:-1]).any()):
        return [column.astype(np.int64) for column in columns]
    least, span = int(first.min()), int(first.max()) - int(first.min()) + 1
    order = np.empty(0, np.int64)
    if span <= 8 * len(first):
        row_of = np.full(span, -1, np.int64)
        row_of[first.astype(np.int64) - least] = np.arange(len(first))
        order = row_of[row_of >= 0]
    if len(order) < len(first):  # some number is there twice, or they are far apart
        order = np.argsort(first, kind="stable")
    return [column[order].astype(np.int64) for column in columns]


def places_of(values: Ints, cases: Ints) -> Ints:
    """Where each case number is among ``cases`` [n], which ascend, each there once.

    Raises:
        ValueError: a row is not of one of the cases.
    """
    if not len(values):
        return np.empty(0, np.int64)
    if not len(cases) or values.min() < cases[0] or values.max() > cases[-1]:
        raise ValueError(NO_CASE)
    table = place_table(cases, len(values))
    if table is None:
        found = np.searchsorted(cases, values)
        if not np.array_equal(cases[found], values):
            raise ValueError(NO_CASE)
        return found
    place: Ints = values - cases[0]
    if len(table):
        place = table[place]
        if place.min() < 0:
            raise ValueError(NO_CASE)
    return place


def place_table(cases: Ints, rows: int) -> Ints | None:
    """The place of each number from the first case to the last, -1 for one that is none; nothing
    where every number is a case, and None where so many rows are not worth such a table.

    Case numbers are given out one after the other, so that a table by number is short.
    """
    span = int(cases[-1] - cases[0]) + 1
    if span > 8 * (len(cases) + rows):
        return None
    if span == len(cases):
        return np.empty(0, np.int64)
    table = np.full(span, -1, np.int64)
    table[cases - cases[0]] = np.arange(len(cases))
    return table


def numbered(values: Ints) -> tuple[Ints, Ints]:
    """The distinct values, ascending, and where each value is among them."""
    span = int(values.max(initial=0)) + 1
    if not len(values) or values.min() < 0 or span > 8 * len(values):
        distinct, place = np.unique(values, return_inverse=True)
        return distinct, place
    there = np.zeros(span, np.bool_)
    there[values] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[values]


def by_case(structs: pa.StructArray, cases: Ints) -> list[Ints]:
    """The columns of structs of numbers in the order of their cases.

    Args:
        structs: the first field is the case number.
        cases: [n] case numbers, ascending.

    Returns:
        For each field [rows] its values; the first is an index into ``cases``.

    Raises:
        ValueError: a row is not of one of the cases.
    """
    columns = by_first(uncopied(structs))
    return [places_of(columns[0], cases), *columns[1:]]


def column_of(
    values: NDArray[Any], kind: pa.DataType, known: NDArray[np.bool_] | None = None
) -> pa.Array:
    """Numbers or booleans as a column of that type, NULL where they are not known.

    ``pyarrow.array`` and ``to_numpy`` would load pandas wherever it is installed, for a sixth of a
    second.
    """
    stored = pa.uint8() if pa.types.is_boolean(kind) else kind
    data = pa.py_buffer(np.ascontiguousarray(values, dtype=str(stored)))
    bits = None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))
    return pa.Array.from_buffers(stored, len(values), [bits, data]).cast(kind)


def lists(arrays: list[NDArray[Any]], kind: pa.DataType) -> pa.Array:
    """A list of values of that type for each array."""
    offsets = np.cumsum([0, *map(len, arrays)])
    values = np.concatenate(arrays) if arrays else np.empty(0)
    return pa.ListArray.from_arrays(column_of(offsets, pa.int32()), column_of(values, kind))


def struct_lists(tables: list[Ints], names: list[str]) -> pa.Array:
    """A list of structs with these fields for each table of numbers [rows, fields]."""
    offsets = np.cumsum([0, *map(len, tables)])
    rows = np.concatenate(tables) if tables else np.empty((0, len(names)), np.int64)
    columns = [column_of(rows[:, i], pa.int32()) for i in range(len(names))]
    return pa.ListArray.from_arrays(
        column_of(offsets, pa.int32()), pa.StructArray.from_arrays(columns, names=names)
    )
