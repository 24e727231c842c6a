"""Columns of Arrow as arrays for the compiled code, and back; the kernels of grouping on columns.

The kernels are compiled on first use (and cached on disk), so they are imported by the call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.grouping.grouping_problem import Attributes, Bounding, Cases, weight


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


def fields(scalar: pa.ListScalar) -> list[Ints]:
    """Columns of a list of structs of numbers."""
    return [numbers(scalar.values.field(i)) for i in range(scalar.values.type.num_fields)]


def sorted_by_first(fields: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Columns in the order of the first."""
    order = np.argsort(fields[0], kind="stable")
    return [field[order] for field in fields]


def tables(rows: list[Ints], names: list[str]) -> pa.Array:
    """A list of structs of numbers for each table of rows."""
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    whole = np.concatenate(rows) if rows else np.empty((0, len(names)), np.int64)
    columns = [pa.array(whole[:, i], pa.int32()) for i in range(len(names))]
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.StructArray.from_arrays(columns, names=names)
    )


def terms_by_case(
    scalar: pa.ListScalar, cases: NDArray[np.int64], vocabulary: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Offsets [n + 1], terms and weights by case, from STRUCT(case_no, term_no, weight)[]."""
    row, terms, weights = by_case(scalar.values, cases)
    if len(terms) and not (terms.min() >= 0 and terms.max() < vocabulary):
        raise ValueError("term_no must run from 0 to the number of thresholds - 1")
    if bool((weights < 1).any()):
        raise ValueError("weights must be 1 or more")
    offsets = np.zeros(len(cases) + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=len(cases)), out=offsets[1:])
    return offsets, terms.astype(np.int32), weights


def boxes_by_case(
    scalar: pa.ListScalar, cases: NDArray[np.int64], positions: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Low and high ends [n, d], from STRUCT(case_no, place, low, high)[]."""
    row, place, low, high = by_case(scalar.values, cases)
    ends = np.zeros((2, len(cases), len(positions)), dtype=np.int64)
    column = np.searchsorted(positions, place)
    ends[0, row, column] = low
    ends[1, row, column] = high
    return ends[0], ends[1]


def attributes_of(qids: pa.StructArray) -> Attributes:
    """The QIDs, from STRUCT(place, span, parent[], last[], height[])[]."""
    tree_start, parents = nested(qids.field("parent"))
    return Attributes(
        span=numbers(qids.field("span")),
        tree_start=tree_start,
        parent=numbers(parents),
        last=numbers(nested(qids.field("last"))[1]),
        height=numbers(nested(qids.field("height"))[1]),
    )


def group_cases(
    case_nos: pa.ChunkedArray,
    roles: pa.ChunkedArray,
    boxes: pa.ChunkedArray,
    terms: pa.ChunkedArray,
    one: pa.ChunkedArray,
    attributes: pa.ChunkedArray,
    theta_num: pa.ChunkedArray,
    theta_den: pa.ChunkedArray,
    k: pa.ChunkedArray,
    draw: pa.ChunkedArray,
    leftovers: pa.ChunkedArray,
    rules: pa.ChunkedArray,
) -> pa.Array:
    """Group of each case, in the order of ``case_nos``; -1: none: ``greedy.group_cases``."""
    from srsql.udfs.grouping import greedy

    results = []
    for row in rows_of(
        case_nos, roles, boxes, terms, one, attributes, theta_num, theta_den, k, draw, leftovers,
        rules,
    ):  # fmt: skip
        cases = flat(row[0])
        qids = row[5].values
        low, high = boxes_by_case(row[2], cases, numbers(qids.field("place")))
        offsets, held, weights = terms_by_case(row[3], cases, len(row[6].values))
        rule = row[11].as_py()
        carrier = flags(row[1].values.field("carrier"))
        grows = carrier if rule["core_only"] else np.ones_like(carrier)
        results.append(
            greedy.group_cases(
                Cases(low, high, offsets, held, weights, one=row[4].as_py()),
                attributes_of(qids),
                flat(row[6]),
                flat(row[7]),
                row[8].as_py(),
                row[9].as_py() % max(1, int(grows.sum())),
                Bounding(
                    carrier=carrier,
                    grows=grows,
                    kind=numbers(row[1].values.field("kind")).astype(np.int8),
                    alpha_num=rule["alpha_num"],
                    alpha_den=rule["alpha_den"],
                    after_join=rule["after_join"],
                    from_last=rule["from_last"],
                ),
                row[10].as_py(),
            )
        )
    return lists(results, pa.int32())


def partition_cases(
    case_nos: pa.ChunkedArray,
    boxes: pa.ChunkedArray,
    values: pa.ChunkedArray,
    attributes: pa.ChunkedArray,
    kinds: pa.ChunkedArray,
    sensitive: pa.ChunkedArray,
    least: pa.ChunkedArray,
) -> pa.Array:
    """Group of each case, in the order of ``case_nos``: ``partition.partition_cases``."""
    from srsql.udfs.grouping import partition

    results = []
    for row in rows_of(case_nos, boxes, values, attributes, kinds, sensitive, least):
        cases = flat(row[0])
        qids = row[3].values
        low, high = boxes_by_case(row[1], cases, numbers(qids.field("place")))
        results.append(
            partition.partition_cases(
                Cases(low, high, *terms_by_case(row[2], cases, len(row[4].values)), one=1),
                attributes_of(qids),
                flat(row[4]),
                row[5].as_py(),
                row[6].as_py(),
            )
        )
    return lists(results, pa.int32())


def withhold_infeasible(
    case_nos: pa.ChunkedArray,
    carriers: pa.ChunkedArray,
    terms: pa.ChunkedArray,
    theta_num: pa.ChunkedArray,
    theta_den: pa.ChunkedArray,
    one: pa.ChunkedArray,
) -> pa.Array:
    """Whether each case is to be withheld: ``feasibility.withhold_infeasible``."""
    from srsql.udfs.grouping import feasibility

    results = [
        feasibility.withhold_infeasible(
            *terms_by_case(row[2], flat(row[0]), len(row[3].values)),
            flat(row[3]),
            flat(row[4]),
            row[5].as_py(),
            flags(row[1].values),
        )
        for row in rows_of(case_nos, carriers, terms, theta_num, theta_den, one)
    ]
    return lists(results, pa.bool_())


def knowledge_weight(sizes: pa.ChunkedArray, one: pa.ChunkedArray) -> pa.Array:
    """Weight of each inferred disease: ``grouping_problem.weight``."""
    return pa.array(
        [weight(row[0].as_py(), row[1].as_py()) for row in rows_of(sizes, one)], pa.int64()
    )
