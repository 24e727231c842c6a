"""Columns of Arrow as arrays for the compiled code, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def rows_of(*columns: pa.ChunkedArray) -> list[tuple[pa.Scalar, ...]]:
    """Rows of columns of lists."""
    return list(zip(*map(joined, columns), strict=True))


def joined(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def flat(scalar: pa.ListScalar) -> NDArray[np.int64]:
    """Values of a list of numbers."""
    return numbers(scalar.values)


def nested(inner: pa.ListArray) -> tuple[NDArray[np.int64], pa.Array]:
    """Offsets and values of a list of lists; offsets start at 0."""
    offsets = inner.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0], inner.values.slice(offsets[0], offsets[-1] - offsets[0])


def flags(values: pa.Array) -> NDArray[np.bool_]:
    """Booleans; the compiled code takes no NULL."""
    if values.null_count:
        raise ValueError("a flag of the kernel's input is NULL")
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.bool_)


def numbers(values: pa.Array) -> NDArray[np.int64]:
    """Numbers as int64; the compiled code takes no NULL."""
    if values.null_count:
        raise ValueError("a number of the kernel's input is NULL")
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64)


def by_case(values: pa.Array, cases: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Fields of structs, ordered by case; the first, case_no, as an index into ``cases``."""
    fields = [numbers(values.field(i)) for i in range(values.type.num_fields)]
    if len(fields[0]) and not np.isin(fields[0], cases).all():
        raise ValueError("a row belongs to a case that is not among the cases")
    if bool((np.diff(fields[0]) < 0).any()):
        order = np.argsort(fields[0], kind="stable")
        fields = [field[order] for field in fields]
    return [np.searchsorted(cases, fields[0]), *fields[1:]]


def reals(values: pa.Array | pa.ChunkedArray) -> NDArray[np.float64]:
    """Numbers as doubles; NULL is not a number."""
    return np.asarray(joined(values).to_numpy(zero_copy_only=False), dtype=np.float64)


def lists(arrays: list[NDArray[Any]], kind: pa.DataType) -> pa.Array:
    """A list for each array."""
    offsets = np.cumsum([0, *map(len, arrays)]).astype(np.int32)
    values = np.concatenate(arrays) if arrays else np.empty(0)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values, kind))
