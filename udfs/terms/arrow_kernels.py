"""The kernels of disassociation and CBA on columns of Arrow: tables of numbers, as lists.

The kernels take numbers from 0 on without gaps; the translation is done here.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.arrow import fields, flags, flat, lists, numbers, rows_of, sorted_by_first, tables

K, M, MAX_SIZE, JOINT = 3, 2, 6, 48
RECORDS = [sorted({n % 3, 3 + n % 4, 7 + n % 5, 12 + n // 8}) for n in range(40)]
"""Terms of each: frequent ones, rare ones, and some of which clusters share what is left over."""


class _Roles(NamedTuple):
    """Terms by number: [V] each; place: the rank by falling support."""

    term: Ints
    constraint: NDArray[np.int32]
    usable: NDArray[np.bool_]
    place: Ints


def horizontal_parts(
    records: pa.ChunkedArray,
    held: pa.ChunkedArray,
    roles: pa.ChunkedArray,
    max_size: pa.ChunkedArray,
    least: pa.ChunkedArray,
) -> pa.Array:
    """Cluster of every record, in the order of the records given: ``split_records``."""
    from srsql.udfs.terms.horizontal import Baskets, split_records

    results = []
    for row in rows_of(records, held, roles, max_size, least):
        record, part = fields(row[0])
        order = np.argsort(record, kind="stable")
        holder, term = fields(row[1])
        role = _roles(row[2])
        place = _index(record[order], holder)
        by_record = np.argsort(place, kind="stable")
        baskets = Baskets(
            np.concatenate(([0], np.cumsum(np.bincount(place, minlength=len(record))))),
            _index(role.term, term[by_record]).astype(np.int32),
            role.constraint,
            role.usable,
        )
        cluster = np.empty(len(record), np.int32)
        cluster[order] = split_records(baskets, part[order], row[3].as_py(), row[4].as_py())
        results.append(cluster)
    return lists(results, pa.int32())


def vertical_chunks(
    clusters: pa.ChunkedArray,
    held: pa.ChunkedArray,
    roles: pa.ChunkedArray,
    k: pa.ChunkedArray,
    m: pa.ChunkedArray,
) -> pa.Array:
    """Rows (cluster_no, chunk_no, term_no): ``vertical_chunks``."""
    from srsql.udfs.terms import vertical

    results = []
    for row in rows_of(clusters, held, roles, k, m):
        number, size = sorted_by_first(fields(row[0]))
        cluster, record, term = fields(row[1])
        role = _roles(row[2])
        found = vertical.holdings(
            _index(number, cluster), record, _index(role.term, term), len(number)
        )
        chunk = vertical.vertical_chunks(
            found, size, role.constraint, role.usable, row[3].as_py(), row[4].as_py()
        )
        owner = np.repeat(number, np.diff(found.pair))
        results.append(np.stack([owner, chunk, role.term[found.term]], 1))
    return tables(results, ["cluster_no", "chunk_no", "term_no"])


def refine(
    clusters: pa.ChunkedArray,
    held: pa.ChunkedArray,
    barred: pa.ChunkedArray,
    roles: pa.ChunkedArray,
    k: pa.ChunkedArray,
    m: pa.ChunkedArray,
    limit: pa.ChunkedArray,
) -> pa.Array:
    """Rows (joint_no, cluster_no) and (joint_no, chunk_no, term_no): ``refine``."""
    from srsql.udfs.terms import refining
    from srsql.udfs.terms.vertical import Offers, holdings

    members, terms = [], []
    for row in rows_of(clusters, held, barred, roles, k, m, limit):
        known = row[0].values
        number, size, empty = sorted_by_first(
            [numbers(known.field(0)), numbers(known.field(1)), flags(known.field(2))]
        )
        role = _roles(row[3])
        by_place = np.argsort(role.place)
        cluster, record, term = fields(row[1])
        rank = role.place[_index(role.term, term)]
        offers = Offers(
            holdings(_index(number, cluster), record, rank, len(number)),
            role.term[by_place],
            role.constraint[by_place],
            size,
            empty,
        )
        owner, bar = fields(row[2])
        owner, bar = _index(number, owner), role.place[_index(role.term, bar)]
        order = np.lexsort((bar, owner))
        starts = np.searchsorted(owner[order], np.arange(len(number) + 1))
        shared = refining.refine(
            offers, starts, bar[order], row[4].as_py(), row[5].as_py(), row[6].as_py()
        )
        members.append(np.stack([shared.members[:, 0], number[shared.members[:, 1]]], 1))
        joint, chunk, rank = shared.terms.T
        terms.append(np.stack([joint, chunk, role.term[by_place[rank]]], 1))
    return pa.StructArray.from_arrays(
        [
            tables(members, ["joint_no", "cluster_no"]),
            tables(terms, ["joint_no", "chunk_no", "term_no"]),
        ],
        names=["members", "terms"],
    )


def generalized(
    held: pa.ChunkedArray,
    terms: pa.ChunkedArray,
    constraints: pa.ChunkedArray,
    k: pa.ChunkedArray,
    m: pa.ChunkedArray,
) -> pa.Array:
    """Node of every term, from 1 on in the order of the terms given; NULL: ``generalize``."""
    from srsql.udfs.terms.generalizing import generalize

    results = []
    for row in rows_of(held, terms, constraints, k, m):
        record, term = fields(row[0])
        place = np.unique(record, return_inverse=True)[1].astype(np.int64)
        least = generalize(
            place, _index(flat(row[1]), term), flat(row[2]), row[3].as_py(), row[4].as_py()
        )
        node = np.searchsorted(np.unique(least[least >= 0]), least) + 1
        results.append(pa.array(node, pa.int32(), mask=least < 0))
    return pa.array([result.to_pylist() for result in results], pa.list_(pa.int32()))


def shuffled(sizes: pa.ChunkedArray, seeds: pa.ChunkedArray) -> pa.Array:
    """Permutations one after the other: ``shuffled``."""
    from srsql.udfs.terms import vertical

    return lists(
        [vertical.shuffled(flat(row[0]), row[1].as_py()) for row in rows_of(sizes, seeds)],
        pa.int32(),
    )


def drawn_below(totals: pa.ChunkedArray, seeds: pa.ChunkedArray) -> pa.Array:
    """One draw for each total: ``drawn_below``."""
    from srsql.udfs.terms import vertical

    return lists(
        [vertical.drawn_below(flat(row[0]), row[1].as_py()) for row in rows_of(totals, seeds)],
        pa.int32(),
    )


def _roles(scalar: pa.ListScalar) -> _Roles:
    fields = scalar.values
    term, constraint, kept, place = sorted_by_first(
        [
            numbers(fields.field(0)),
            numbers(fields.field(1)),
            flags(fields.field(2)),
            numbers(fields.field(3)),
        ]
    )
    return _Roles(term, constraint.astype(np.int32), ~kept, place)


def _index(known: Ints, values: Ints) -> Ints:
    """Where the values stand among ``known``, which ascend."""
    place = np.searchsorted(known, values)
    if len(values) and (len(known) == 0 or bool((known[place % len(known)] != values).any())):
        raise ValueError("a row belongs to a record, cluster or term that is not given")
    return place


def warm_chunks() -> None:
    """Disassociate a few records, with every kernel that a release calls."""
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
