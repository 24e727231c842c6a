"""Loads the kernels of terms before they are timed, or compiles them (once per installation)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

K, M, MAX_SIZE, JOINT = 3, 2, 6, 48
RECORDS = [sorted({n % 3, 3 + n % 4, 7 + n % 5, 12 + n // 8}) for n in range(40)]
"""Terms of each: frequent ones, rare ones, and some of which clusters share what is left over."""


def warm_chunks() -> None:
    """Disassociate a few records, with every kernel that a release calls."""
    from srsql.udfs.terms.arrow_kernels import (
        drawn_below,
        horizontal_parts,
        refine,
        shuffled,
        vertical_chunks,
    )

    held = [(record, term) for record, terms in enumerate(RECORDS) for term in terms]
    support = Counter(term for _, term in held)
    order = sorted(support, key=lambda term: (-support[term], term))
    roles = _rows(
        [(term, min(term // 3, 3) - 1, term == order[-1], order.index(term)) for term in support]
    )
    parts = _rows([(record, 0) for record in range(len(RECORDS))])
    cluster = horizontal_parts(
        parts, _rows(held), roles, _one(MAX_SIZE), _one(K)
    ).values.to_pylist()  # fmt: skip
    sizes = Counter(cluster)
    placed = [(cluster[record], record, term) for record, term in held]
    chunks = vertical_chunks(
        _rows(sorted(sizes.items())), _rows(placed), roles, _one(K), _one(M)
    ).values.to_pylist()  # fmt: skip
    item = {(c["cluster_no"], c["term_no"]) for c in chunks if c["chunk_no"] == 0}
    offered = {term for _, term in item}
    barred = [
        (c["cluster_no"], c["term_no"])
        for c in chunks
        if c["chunk_no"] > 0 and c["term_no"] in offered
    ]
    refine(
        _rows([(number, size, True) for number, size in sorted(sizes.items())]),
        _rows([row for row in placed if (row[0], row[2]) in item]),
        _rows(barred), roles, _one(K), _one(M), _one(JOINT),
    )  # fmt: skip
    for draw in (shuffled, drawn_below):
        draw(pa.chunked_array([pa.array([[3, 4]], pa.list_(pa.int32()))]), _one(1))


def warm_nodes() -> None:
    """Generalize the terms of a few records."""
    from srsql.udfs.terms.arrow_kernels import generalized

    held = [(record, term) for record, terms in enumerate(RECORDS) for term in terms]
    terms = sorted({term for _, term in held})
    numbers = pa.list_(pa.int32())
    generalized(
        _rows(held),
        pa.chunked_array([pa.array([terms], numbers)]),
        pa.chunked_array([pa.array([[min(term // 3, 3) - 1 for term in terms]], numbers)]),
        _one(K), _one(M),
    )  # fmt: skip


def _rows(rows: list[tuple[Any, ...]]) -> pa.ChunkedArray:
    """A column of one list of structs."""
    columns = [
        pa.array(column, pa.bool_() if isinstance(column[0], bool) else pa.int32())
        for column in zip(*rows, strict=True)
    ]
    structs = pa.StructArray.from_arrays(columns, names=[f"f{n}" for n in range(len(columns))])
    ends = pa.array(np.array([0, len(rows)], dtype=np.int32))
    return pa.chunked_array([pa.ListArray.from_arrays(ends, structs)])


def _one(value: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array([value], pa.int64())])
