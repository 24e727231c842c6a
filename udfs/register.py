"""Registration of the kernels with DuckDB: the one file of `udfs` that knows it.

The kernels are compiled on first use (and cached on disk), so they are imported by the call, not
by the registration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType
from numpy.typing import NDArray

# name -> (function, parameter types, return type); every one is an Arrow UDF over lists
_Udf = tuple[Callable[..., pa.Array], list[str], str]


def register_udfs(con: duckdb.DuckDBPyConnection) -> None:
    """Register every UDF under the prefix ``srsql_``; registering twice is harmless."""
    known = {
        row[0]
        for row in con.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() "
            "WHERE starts_with(function_name, 'srsql_')"
        ).fetchall()
    }
    for name, (function, parameters, returns) in _UDFS.items():
        if name not in known:
            con.create_function(
                name,
                function,
                [duckdb.sqltype(p) for p in parameters],
                duckdb.sqltype(returns),
                type=PythonUDFType.ARROW,
                null_handling=FunctionNullHandling.SPECIAL,
            )


def _rows(*columns: pa.ChunkedArray) -> list[tuple[pa.Scalar, ...]]:
    arrays = [c.combine_chunks() if isinstance(c, pa.ChunkedArray) else c for c in columns]
    return list(zip(*arrays, strict=True))


def _flat(scalar: pa.ListScalar) -> NDArray[np.int64]:
    """Values of a list of numbers."""
    return _numbers(scalar.values)


def _nested(scalar: pa.ListScalar) -> tuple[NDArray[np.int64], pa.Array]:
    """Offsets and values of a list of lists; offsets start at 0."""
    inner = scalar.values
    offsets = inner.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0], inner.values.slice(offsets[0], offsets[-1] - offsets[0])


def _numbers(values: pa.Array) -> NDArray[np.int64]:
    """Numbers as int64; the compiled code takes no NULL."""
    if values.null_count:
        raise ValueError("a number of the kernel's input is NULL")
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64)


def _terms(
    scalar: pa.ListScalar, cases: NDArray[np.int64], vocabulary: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Offsets [n + 1], terms and weights by case, from STRUCT(case_no, term_no, weight)[]."""
    row, terms, weights = _by_case(scalar.values, cases)
    if len(terms) and not (terms.min() >= 0 and terms.max() < vocabulary):
        raise ValueError("term_no must run from 0 to the number of thresholds - 1")
    if bool((weights < 1).any()):
        raise ValueError("weights must be 1 or more")
    offsets = np.zeros(len(cases) + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=len(cases)), out=offsets[1:])
    return offsets, terms.astype(np.int32), weights


def _boxes(
    scalar: pa.ListScalar, cases: NDArray[np.int64], positions: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Low and high ends [n, d], from STRUCT(case_no, place, low, high)[]."""
    row, place, low, high = _by_case(scalar.values, cases)
    ends = np.zeros((2, len(cases), len(positions)), dtype=np.int64)
    column = np.searchsorted(positions, place)
    ends[0, row, column] = low
    ends[1, row, column] = high
    return ends[0], ends[1]


def _by_case(values: pa.Array, cases: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Fields of structs, ordered by case; the first, case_no, as an index into ``cases``."""
    fields = [_numbers(values.field(i)) for i in range(values.type.num_fields)]
    if len(fields[0]) and not np.isin(fields[0], cases).all():
        raise ValueError("a row belongs to a case that is not among the cases")
    if bool((np.diff(fields[0]) < 0).any()):
        order = np.argsort(fields[0], kind="stable")
        fields = [field[order] for field in fields]
    return [np.searchsorted(cases, fields[0]), *fields[1:]]


def _ms_group(
    case_nos: pa.ChunkedArray,
    boxes: pa.ChunkedArray,
    terms: pa.ChunkedArray,
    one: pa.ChunkedArray,
    positions: pa.ChunkedArray,
    span: pa.ChunkedArray,
    parent: pa.ChunkedArray,
    last: pa.ChunkedArray,
    height: pa.ChunkedArray,
    theta_num: pa.ChunkedArray,
    theta_den: pa.ChunkedArray,
    k: pa.ChunkedArray,
    first: pa.ChunkedArray,
    leftovers: pa.ChunkedArray,
) -> pa.Array:
    from srsql.udfs.ms_kernel import ms_group
    from srsql.udfs.problem import Attributes, Cases

    results = []
    for row in _rows(
        case_nos, boxes, terms, one, positions, span, parent, last, height,
        theta_num, theta_den, k, first, leftovers,
    ):  # fmt: skip
        numbers = _flat(row[0])
        low, high = _boxes(row[1], numbers, _flat(row[4]))
        offsets, held, weights = _terms(row[2], numbers, len(row[9].values))
        cases = Cases(low, high, offsets, held, weights, one=row[3].as_py())
        tree_start, parents = _nested(row[6])
        attributes = Attributes(
            span=_flat(row[5]),
            tree_start=tree_start,
            parent=_numbers(parents),
            last=_numbers(_nested(row[7])[1]),
            height=_numbers(_nested(row[8])[1]),
        )
        results.append(
            ms_group(
                cases,
                attributes,
                _flat(row[9]),
                _flat(row[10]),
                row[11].as_py(),
                row[12].as_py(),
                row[13].as_py(),
            )
        )
    return _lists(results, pa.int32())


def _withhold_infeasible(
    case_nos: pa.ChunkedArray,
    terms: pa.ChunkedArray,
    theta_num: pa.ChunkedArray,
    theta_den: pa.ChunkedArray,
    one: pa.ChunkedArray,
) -> pa.Array:
    from srsql.udfs.feasibility import withhold_infeasible

    results = [
        withhold_infeasible(
            *_terms(row[1], _flat(row[0]), len(row[2].values)),
            _flat(row[2]),
            _flat(row[3]),
            row[4].as_py(),
        )
        for row in _rows(case_nos, terms, theta_num, theta_den, one)
    ]
    return _lists(results, pa.bool_())


def _knowledge_weight(sizes: pa.ChunkedArray, one: pa.ChunkedArray) -> pa.Array:
    from srsql.udfs.knowledge import weight

    return pa.array(
        [weight(row[0].as_py(), row[1].as_py()) for row in _rows(sizes, one)], pa.int64()
    )


def _lists(arrays: list[NDArray[Any]], kind: pa.DataType) -> pa.Array:
    offsets = np.cumsum([0, *map(len, arrays)]).astype(np.int32)
    values = np.concatenate(arrays) if arrays else np.empty(0)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values, kind))


_TERMS = "STRUCT(case_no INTEGER, term_no INTEGER, weight BIGINT)[]"
_UDFS: dict[str, _Udf] = {
    "srsql_ms_group": (
        _ms_group,
        [
            "INTEGER[]", "STRUCT(case_no INTEGER, place INTEGER, low BIGINT, high BIGINT)[]",
            _TERMS, "BIGINT", "INTEGER[]", "BIGINT[]", "BIGINT[][]", "BIGINT[][]", "BIGINT[][]",
            "BIGINT[]", "BIGINT[]", "INTEGER", "BIGINT", "VARCHAR",
        ],
        "INTEGER[]",
    ),
    "srsql_withhold_infeasible": (
        _withhold_infeasible,
        ["INTEGER[]", _TERMS, "BIGINT[]", "BIGINT[]", "BIGINT"],
        "BOOLEAN[]",
    ),
    "srsql_knowledge_weight": (_knowledge_weight, ["BIGINT[]", "BIGINT"], "BIGINT"),
}  # fmt: skip
