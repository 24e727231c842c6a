"""Columns of Arrow as arrays for the compiled code, and back; the kernels of grouping on columns.

Compiled code takes no NULL: what converts a column refuses it. The kernels are compiled on first
use (and cached on disk), so they are imported by the call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.grouping_problem import Attributes, Bounding, Cases, inferred_weight


def rows_of(*columns: pa.ChunkedArray) -> list[tuple[pa.Scalar, ...]]:
    """The rows of columns of equal length."""
    return list(zip(*map(one_array, columns), strict=True))


def one_array(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def flat(scalar: pa.ListScalar) -> Ints:
    """The values of a list of numbers."""
    return numbers(scalar.values)


def nested(inner: pa.ListArray) -> tuple[Ints, pa.Array]:
    """Offsets [lists + 1], from 0 on, and values of a list of lists."""
    offsets = inner.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0], inner.values.slice(offsets[0], offsets[-1] - offsets[0])


def flags(values: pa.Array) -> NDArray[np.bool_]:
    """Booleans as an array.

    Raises:
        ValueError: one is NULL.
    """
    if values.null_count:
        raise ValueError("a flag of the kernel's input is NULL")
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.bool_)


def numbers(values: pa.Array) -> Ints:
    """Numbers as an array of 64-bit integers.

    Raises:
        ValueError: one is NULL.
    """
    if values.null_count:
        raise ValueError("a number of the kernel's input is NULL")
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64)


def reals(values: pa.Array | pa.ChunkedArray) -> NDArray[np.float64]:
    """Numbers as an array of doubles; NULL becomes NaN."""
    return np.asarray(one_array(values).to_numpy(zero_copy_only=False), dtype=np.float64)


def fields(structs: pa.StructArray) -> list[Ints]:
    """The columns of structs of numbers."""
    return [numbers(structs.field(i)) for i in range(structs.type.num_fields)]


def by_first(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Columns, all in the order of the first; rows equal there keep theirs."""
    order = np.argsort(columns[0], kind="stable")
    return [column[order] for column in columns]


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
    columns = fields(structs)
    if len(columns[0]) and not np.isin(columns[0], cases).all():
        raise ValueError("a row belongs to a case that is not among the cases")
    if bool((np.diff(columns[0]) < 0).any()):
        columns = by_first(columns)
    return [np.searchsorted(cases, columns[0]), *columns[1:]]


def lists(arrays: list[NDArray[Any]], kind: pa.DataType) -> pa.Array:
    """A list of values of that type for each array."""
    offsets = np.cumsum([0, *map(len, arrays)]).astype(np.int32)
    values = np.concatenate(arrays) if arrays else np.empty(0)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values, kind))


def struct_lists(tables: list[Ints], names: list[str]) -> pa.Array:
    """A list of structs with these fields for each table of numbers [rows, fields]."""
    offsets = np.cumsum([0, *map(len, tables)]).astype(np.int32)
    rows = np.concatenate(tables) if tables else np.empty((0, len(names)), np.int64)
    columns = [pa.array(rows[:, i], pa.int32()) for i in range(len(names))]
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.StructArray.from_arrays(columns, names=names)
    )


def terms_by_case(
    structs: pa.StructArray, cases: Ints, vocabulary: int
) -> tuple[Ints, NDArray[np.int32], Ints]:
    """The terms of cases as ``Cases`` has them.

    Args:
        structs: STRUCT(case_no, term_no, weight).
        cases: [n] case numbers, ascending.
        vocabulary: how many terms there are.

    Returns:
        Offsets [n + 1], terms and weights.

    Raises:
        ValueError: a number is out of range.
    """
    row, terms, weights = by_case(structs, cases)
    if len(terms) and not (terms.min() >= 0 and terms.max() < vocabulary):
        raise ValueError("term_no must run from 0 to the number of thresholds - 1")
    if bool((weights < 1).any()):
        raise ValueError("weights must be 1 or more")
    offsets = np.zeros(len(cases) + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=len(cases)), out=offsets[1:])
    return offsets, terms.astype(np.int32), weights


def boxes_by_case(structs: pa.StructArray, cases: Ints, positions: Ints) -> tuple[Ints, Ints]:
    """The boxes of cases as ``Cases`` has them.

    Args:
        structs: STRUCT(case_no, place, low, high).
        cases: [n] case numbers, ascending.
        positions: [d] the place of each QID, ascending.

    Returns:
        Low and high ends, [n, d] each; 0 where there is no struct.

    Raises:
        ValueError: a box is not of one of the cases.
    """
    row, place, low, high = by_case(structs, cases)
    ends = np.zeros((2, len(cases), len(positions)), dtype=np.int64)
    column = np.searchsorted(positions, place)
    ends[0, row, column] = low
    ends[1, row, column] = high
    return ends[0], ends[1]


def attributes_of(qids: pa.StructArray) -> Attributes:
    """The QIDs, from STRUCT(place, span, parent[], last[], height[]) by place."""
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
    attributes: pa.ChunkedArray,
    thresholds: pa.ChunkedArray,
    rules: pa.ChunkedArray,
) -> pa.Array:
    """``greedy.group_cases`` on columns of lists, one row a problem.

    Args:
        case_nos: ascending.
        roles: STRUCT(carrier, kind)[], aligned with the cases.
        boxes: STRUCT(case_no, place, low, high)[].
        terms: STRUCT(case_no, term_no, weight)[].
        attributes: STRUCT(place, span, parent[], last[], height[])[], by place.
        thresholds: STRUCT(num, den)[], by term from 0 on.
        rules: STRUCT(core_only, after_join, from_last, alpha_num, alpha_den, k, weight_scale, draw,
            leftovers); ``draw`` is any number that picks the first case.

    Returns:
        Lists of group numbers, aligned with the cases; -1: the case was not placed.

    Raises:
        ValueError: something is NULL or out of range.
    """
    from srsql.udfs.grouping import greedy

    results = []
    for row in rows_of(case_nos, roles, boxes, terms, attributes, thresholds, rules):
        cases, qids, rule = flat(row[0]), row[4].values, row[6].as_py()
        theta_num, theta_den = fields(row[5].values)
        low, high = boxes_by_case(row[2].values, cases, numbers(qids.field("place")))
        carrier = flags(row[1].values.field("carrier"))
        grows = carrier if rule["core_only"] else np.ones_like(carrier)
        bounding = Bounding(
            carrier=carrier,
            grows=grows,
            kind=numbers(row[1].values.field("kind")).astype(np.int8),
            alpha_num=rule["alpha_num"],
            alpha_den=rule["alpha_den"],
            after_join=rule["after_join"],
            from_last=rule["from_last"],
            leftovers=rule["leftovers"],
        )
        case_terms = terms_by_case(row[3].values, cases, len(theta_num))
        results.append(
            greedy.group_cases(
                Cases(low, high, *case_terms, weight_scale=rule["weight_scale"]),
                attributes_of(qids),
                theta_num,
                theta_den,
                rule["k"],
                rule["draw"] % max(1, int(grows.sum())),
                bounding,
            )
        )
    return lists(results, pa.int32())


def partition_cases(
    case_nos: pa.ChunkedArray,
    boxes: pa.ChunkedArray,
    values: pa.ChunkedArray,
    attributes: pa.ChunkedArray,
    attribute_of: pa.ChunkedArray,
    attribute_count: pa.ChunkedArray,
    diversity: pa.ChunkedArray,
) -> pa.Array:
    """``partition.partition_cases`` on columns of lists, one row a problem.

    Args:
        case_nos: as for ``group_cases``, like boxes and attributes.
        boxes: see there.
        values: STRUCT(case_no, term_no, weight)[]: the sensitive values of the cases.
        attributes: see there.
        attribute_of: the sensitive attribute of each value.
        attribute_count: how many sensitive attributes there are.
        diversity: l.

    Returns:
        Lists of group numbers, aligned with the cases.

    Raises:
        ValueError: something is NULL or out of range.
    """
    from srsql.udfs.grouping import partition

    results = []
    for row in rows_of(
        case_nos, boxes, values, attributes, attribute_of, attribute_count, diversity
    ):
        cases, qids, sensitive = flat(row[0]), row[3].values, flat(row[4])
        low, high = boxes_by_case(row[1].values, cases, numbers(qids.field("place")))
        case_terms = terms_by_case(row[2].values, cases, len(sensitive))
        results.append(
            partition.partition_cases(
                Cases(low, high, *case_terms, weight_scale=1),
                attributes_of(qids),
                sensitive,
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
    weight_scale: pa.ChunkedArray,
) -> pa.Array:
    """``feasibility.withhold_infeasible`` on columns of lists, one row a problem.

    Args:
        case_nos: ascending.
        carriers: whether each case counts.
        terms: STRUCT(case_no, term_no, weight)[].
        theta_num: numerators of the thresholds, by term from 0 on.
        theta_den: their denominators.
        weight_scale: what a certain term weighs.

    Returns:
        Lists of booleans, aligned with the cases.

    Raises:
        ValueError: something is NULL or out of range.
    """
    from srsql.udfs.grouping import feasibility

    results = [
        feasibility.withhold_infeasible(
            *terms_by_case(row[2].values, flat(row[0]), len(row[3].values)),
            flat(row[3]),
            flat(row[4]),
            row[5].as_py(),
            flags(row[1].values),
        )
        for row in rows_of(case_nos, carriers, terms, theta_num, theta_den, weight_scale)
    ]
    return lists(results, pa.bool_())


def knowledge_weight(sizes: pa.ChunkedArray, weight_scale: pa.ChunkedArray) -> pa.Array:
    """``grouping_problem.inferred_weight`` of every row: its list of |E(d)|, and the scale."""
    return pa.array(
        [inferred_weight(row[0].as_py(), row[1].as_py()) for row in rows_of(sizes, weight_scale)],
        pa.int64(),
    )
