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


def _flat(scalar: pa.ListScalar) -> NDArray[Any]:
    """Values of a list of numbers."""
    values: NDArray[Any] = scalar.values.to_numpy(zero_copy_only=False)
    return values


def _nested(scalar: pa.ListScalar) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Offsets and values of a list of lists of numbers."""
    inner = scalar.values
    offsets = inner.offsets.to_numpy().astype(np.int64)
    values = inner.values.to_numpy(zero_copy_only=False)
    return offsets - offsets[0], values[offsets[0] : offsets[-1]]


def _matrix(scalar: pa.ListScalar, columns: int) -> NDArray[np.int64]:
    offsets, values = _nested(scalar)
    return values.astype(np.int64).reshape(len(offsets) - 1, columns)


def _ms_group(
    low: pa.ChunkedArray,
    high: pa.ChunkedArray,
    terms: pa.ChunkedArray,
    weights: pa.ChunkedArray,
    one: pa.ChunkedArray,
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
        low, high, terms, weights, one, span, parent, last, height,
        theta_num, theta_den, k, first, leftovers,
    ):  # fmt: skip
        spans = _flat(row[5]).astype(np.int64)
        offsets, values = _nested(row[2])
        tree_start, parents = _nested(row[6])
        cases = Cases(
            low=_matrix(row[0], len(spans)),
            high=_matrix(row[1], len(spans)),
            offsets=offsets,
            terms=values.astype(np.int32),
            weights=_nested(row[3])[1].astype(np.int64),
            one=row[4].as_py(),
        )
        attributes = Attributes(
            span=spans,
            tree_start=tree_start,
            parent=parents.astype(np.int64),
            last=_nested(row[7])[1].astype(np.int64),
            height=_nested(row[8])[1].astype(np.int64),
        )
        results.append(
            ms_group(
                cases,
                attributes,
                _flat(row[9]).astype(np.int64),
                _flat(row[10]).astype(np.int64),
                row[11].as_py(),
                row[12].as_py(),
                row[13].as_py(),
            )
        )
    return _lists(results, pa.int32())


def _withhold_infeasible(
    terms: pa.ChunkedArray,
    weights: pa.ChunkedArray,
    theta_num: pa.ChunkedArray,
    theta_den: pa.ChunkedArray,
    one: pa.ChunkedArray,
) -> pa.Array:
    from srsql.udfs.feasibility import withhold_infeasible

    results = []
    for row in _rows(terms, weights, theta_num, theta_den, one):
        offsets, values = _nested(row[0])
        results.append(
            withhold_infeasible(
                offsets,
                values.astype(np.int32),
                _nested(row[1])[1].astype(np.int64),
                _flat(row[2]).astype(np.int64),
                _flat(row[3]).astype(np.int64),
                row[4].as_py(),
            )
        )
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


_UDFS: dict[str, _Udf] = {
    "srsql_ms_group": (
        _ms_group,
        [
            "BIGINT[][]", "BIGINT[][]", "INTEGER[][]", "BIGINT[][]", "BIGINT",
            "BIGINT[]", "BIGINT[][]", "BIGINT[][]", "BIGINT[][]",
            "BIGINT[]", "BIGINT[]", "INTEGER", "BIGINT", "VARCHAR",
        ],
        "INTEGER[]",
    ),
    "srsql_withhold_infeasible": (
        _withhold_infeasible,
        ["INTEGER[][]", "BIGINT[][]", "BIGINT[]", "BIGINT[]", "BIGINT"],
        "BOOLEAN[]",
    ),
    "srsql_knowledge_weight": (_knowledge_weight, ["BIGINT[]", "BIGINT"], "BIGINT"),
}  # fmt: skip
