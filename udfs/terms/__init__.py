"""The kernels of disassociation and CBA on columns of Arrow: tables of numbers, as lists.

The kernels take numbers from 0 on without gaps; the translation is done here. Every row of the
columns is one problem. The kernels are compiled on first use (and cached on disk), so they are
imported by the call.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from srsql.udfs.columns import (
    Ints,
    by_first,
    column_of,
    fields,
    flat,
    lists,
    rows_of,
    struct_lists,
    uncopied,
)

K, M, MAX_SIZE, JOINT = 3, 2, 6, 48
"""Parameters of the records below."""
RECORDS = [sorted({n % 3, 3 + n % 4, 7 + n % 5, 12 + n // 8}) for n in range(40)]
"""Terms of each: frequent ones, rare ones, and some of which clusters share what is left over."""


class _Roles(NamedTuple):
    """The vocabulary, by term number."""

    term: Ints
    """[V]"""
    constraint: NDArray[np.int32]
    """[V] number of the utility constraint, -1 for none."""
    usable: NDArray[np.bool_]
    """[V] false for a term that only item chunks may have."""
    place: Ints
    """[V] rank by falling support."""


def horizontal_parts(
    records: pa.ChunkedArray,
    record_terms: pa.ChunkedArray,
    roles: pa.ChunkedArray,
    max_size: pa.ChunkedArray,
    min_size: pa.ChunkedArray,
    lexicographic: pa.ChunkedArray,
) -> pa.Array:
    """``horizontal.split_records`` on columns of lists.

    Args:
        records: STRUCT(record_no, part_no)[].
        record_terms: STRUCT(record_no, term_no)[].
        roles: STRUCT(term_no, constraint_no, kept_apart, place)[].
        max_size: a part with so many records is split.
        min_size: records that every cluster must have.
        lexicographic: whether records of small parts are pooled in the order of their terms.

    Returns:
        Lists of cluster numbers, aligned with the records.

    Raises:
        ValueError: a number is not given, or a part has too few records.
    """
    results = []
    for row in rows_of(records, record_terms, roles, max_size, min_size, lexicographic):
        record, part = fields(row[0].values)
        held, role = fields(row[1].values), _roles(row[2].values)
        results.append(_split((record, part), held, role, [value.as_py() for value in row[3:]]))
    return lists(results, pa.int32())


def horizontal_groups(
    groups: pa.ChunkedArray,
    group_terms: pa.ChunkedArray,
    roles: pa.ChunkedArray,
    max_size: pa.ChunkedArray,
    min_size: pa.ChunkedArray,
    lexicographic: pa.ChunkedArray,
) -> pa.Array:
    """``horizontal.split_records`` over groups of records, none of which is cut.

    Args:
        groups: STRUCT(group_no, records)[].
        group_terms: STRUCT(group_no, term_no)[]: the terms that some record of the group has.
        roles: as for ``horizontal_parts``.
        max_size: a part with so many records is split.
        min_size: records that every cluster must have.
        lexicographic: whether records of small parts are pooled in the order of their terms.

    Returns:
        Lists of cluster numbers, aligned with the groups.

    Raises:
        ValueError: a number is not given, or there are too few records in all.
    """
    results = []
    for row in rows_of(groups, group_terms, roles, max_size, min_size, lexicographic):
        group, size = fields(row[0].values)
        held, role = fields(row[1].values), _roles(row[2].values)
        rules = [value.as_py() for value in row[3:]]
        results.append(_split((group, np.zeros_like(group)), held, role, rules, weight=size))
    return lists(results, pa.int32())


def _split(
    records: tuple[Ints, Ints],
    held: list[Ints],
    role: _Roles,
    rules: list[Any],
    weight: Ints | None = None,
) -> NDArray[np.int32]:
    """The cluster of each of the records (number, part), which have the terms (number, term).

    ``rules``: the two sizes, and whether small parts are pooled in the order of terms.
    """
    from srsql.udfs.terms.horizontal import Baskets, split_records

    record, part = records
    order = np.argsort(record, kind="stable")
    holder, term = held
    place = _index(record[order], holder)
    by_record = np.argsort(place, kind="stable")
    baskets = Baskets(
        np.concatenate(([0], np.cumsum(np.bincount(place, minlength=len(record))))),
        _index(role.term, term[by_record]).astype(np.int32),
        role.constraint,
        role.usable,
    )
    cluster = np.empty(len(record), np.int32)
    weights = None if weight is None else weight[order]
    max_size, min_size, lexicographic = rules
    cluster[order] = split_records(
        baskets, part[order], max_size, min_size, weights, lexicographic=lexicographic
    )
    return cluster


def vertical_chunks(
    clusters: pa.ChunkedArray,
    cluster_terms: pa.ChunkedArray,
    roles: pa.ChunkedArray,
    k: pa.ChunkedArray,
    m: pa.ChunkedArray,
    most: pa.ChunkedArray,
) -> pa.Array:
    """``vertical.vertical_chunks`` on columns of lists.

    Args:
        clusters: STRUCT(cluster_no, records)[].
        cluster_terms: STRUCT(cluster_no, record_no, term_no)[].
        roles: as for ``horizontal_parts``.
        k: at least 1.
        m: at least 1.
        most: terms of a chunk.

    Returns:
        Lists of STRUCT(cluster_no, chunk_no, term_no): the chunk of every term of every cluster.

    Raises:
        ValueError: a number is not given.
    """
    from srsql.udfs.terms import vertical

    results = []
    for row in rows_of(clusters, cluster_terms, roles, k, m, most):
        number, size = by_first(uncopied(row[0].values))
        cluster, record, term = fields(row[1].values)
        role = _roles(row[2].values)
        holdings = vertical.group_holdings(
            _index(number, cluster), record, _index(role.term, term), len(number)
        )
        bounds = [value.as_py() for value in row[3:]]
        chunk = vertical.vertical_chunks(holdings, size, role.constraint, role.usable, *bounds)
        owner = np.repeat(number, np.diff(holdings.pair))
        results.append(np.stack([owner, chunk, role.term[holdings.term]], 1))
    return struct_lists(results, ["cluster_no", "chunk_no", "term_no"])


def bounded_chunks(
    clusters: pa.ChunkedArray,
    cluster_terms: pa.ChunkedArray,
    chunk_terms: pa.ChunkedArray,
    bounds: pa.ChunkedArray,
    k: pa.ChunkedArray,
    m: pa.ChunkedArray,
) -> pa.Array:
    """``bounding.bounded_chunks`` on columns of lists.

    Args:
        clusters: STRUCT(cluster_no, records)[].
        cluster_terms: STRUCT(cluster_no, record_no, term_no)[].
        chunk_terms: STRUCT(cluster_no, chunk_no, term_no)[]: the chunk of every term of every
            cluster.
        bounds: STRUCT(term_no, value_no, theta_num, theta_den)[]: the sensitive value that a term
            stands for, from 0 on, and its threshold.
        k: at least 1.
        m: at least 1.

    Returns:
        Lists of STRUCT(cluster_no, chunk_no, term_no), as ``chunk_terms``.

    Raises:
        ValueError: a number is not given.
    """
    from srsql.udfs.terms import bounding
    from srsql.udfs.terms.vertical import group_holdings

    results = []
    for row in rows_of(clusters, cluster_terms, chunk_terms, bounds, k, m):
        number, size = by_first(uncopied(row[0].values))
        cluster, record, term = fields(row[1].values)
        terms = np.unique(term)
        holdings = group_holdings(_index(number, cluster), record, _index(terms, term), len(number))
        owner = np.repeat(np.arange(len(number)), np.diff(holdings.pair))
        key = owner * len(terms) + holdings.term
        placed_cluster, placed_chunk, placed_term = fields(row[2].values)
        placed = _index(number, placed_cluster) * len(terms) + _index(terms, placed_term)
        order = np.argsort(placed)
        chunk = placed_chunk[order][_index(placed[order], key)]
        bounded, value, num, den = by_first(uncopied(row[3].values))
        theta = bounding.Thresholds(*(np.full(len(terms), fill) for fill in (-1, 1, 1)))
        at = _index(terms, bounded)
        for column, values in zip(theta, (value, num, den), strict=True):
            column[at] = values
        given = row[4].as_py(), row[5].as_py()
        found = bounding.bounded_chunks(holdings, size, chunk, theta, *given)
        results.append(np.stack([number[owner], found, terms[holdings.term]], 1))
    return struct_lists(results, ["cluster_no", "chunk_no", "term_no"])


def refine(
    clusters: pa.ChunkedArray,
    item_terms: pa.ChunkedArray,
    chunk_terms: pa.ChunkedArray,
    roles: pa.ChunkedArray,
    k: pa.ChunkedArray,
    m: pa.ChunkedArray,
    limits: pa.ChunkedArray,
) -> pa.Array:
    """``refining.refine`` on columns of lists.

    Args:
        clusters: STRUCT(cluster_no, records, may_empty)[].
        item_terms: STRUCT(cluster_no, record_no, term_no)[] of the terms of item chunks.
        chunk_terms: STRUCT(cluster_no, term_no)[] of the terms of record chunks.
        roles: as for ``horizontal_parts``.
        k: at least 1.
        m: at least 1.
        limits: STRUCT(records, terms, partners): records of a joint cluster, terms of a shared
            chunk, and how many partners of each term's list a node meets (0: neighbours meet).

    Returns:
        STRUCT(members, terms): lists of STRUCT(joint_no, cluster_no) and of STRUCT(joint_no,
        chunk_no, term_no).

    Raises:
        ValueError: a number is not given.
    """
    from srsql.udfs.terms import refining
    from srsql.udfs.terms.vertical import Offers, group_holdings

    members, terms = [], []
    for row in rows_of(clusters, item_terms, chunk_terms, roles, k, m, limits):
        number, size, may_empty = by_first(uncopied(row[0].values))
        role = _roles(row[3].values)
        by_place = np.argsort(role.place)
        cluster, record, term = fields(row[1].values)
        rank = role.place[_index(role.term, term)]
        offers = Offers(
            group_holdings(_index(number, cluster), record, rank, len(number)),
            role.term[by_place],
            role.constraint[by_place],
            size,
            may_empty.astype(np.bool_),
        )
        cluster, term = fields(row[2].values)
        owner, rank = _index(number, cluster), role.place[_index(role.term, term)]
        order = np.lexsort((rank, owner))
        starts = np.searchsorted(owner[order], np.arange(len(number) + 1))
        least, together, limit = (value.as_py() for value in row[4:])
        rules = refining.Rules(least, together, limit["records"], limit["terms"], limit["partners"])
        result = refining.refine(offers, starts, rank[order], rules)
        members.append(np.stack([result.members[:, 0], number[result.members[:, 1]]], 1))
        joint, chunk, rank = result.terms.T
        terms.append(np.stack([joint, chunk, role.term[by_place[rank]]], 1))
    return pa.StructArray.from_arrays(
        [
            struct_lists(members, ["joint_no", "cluster_no"]),
            struct_lists(terms, ["joint_no", "chunk_no", "term_no"]),
        ],
        names=["members", "terms"],
    )


def generalize(
    record_terms: pa.ChunkedArray,
    terms: pa.ChunkedArray,
    constraints: pa.ChunkedArray,
    k: pa.ChunkedArray,
    m: pa.ChunkedArray,
) -> pa.Array:
    """``generalizing.generalize`` on columns of lists.

    Args:
        record_terms: STRUCT(record_no, term_no)[].
        terms: term numbers, ascending.
        constraints: the utility constraint of each term, -1 for none.
        k: at least 1.
        m: at least 1.

    Returns:
        Lists, aligned with the terms, of the generalized term of each, from 1 on in the order of
        the terms; NULL: suppressed.

    Raises:
        ValueError: a term is not given.
    """
    from srsql.udfs.terms import generalizing

    results = []
    for row in rows_of(record_terms, terms, constraints, k, m):
        record, term = fields(row[0].values)
        place = np.unique(record, return_inverse=True)[1].astype(np.int64)
        least = generalizing.generalize(
            place, _index(flat(row[1]), term), flat(row[2]), row[3].as_py(), row[4].as_py()
        )
        node = np.searchsorted(np.unique(least[least >= 0]), least) + 1
        results.append(column_of(node, pa.int32(), least >= 0))
    return pa.array([result.to_pylist() for result in results], pa.list_(pa.int32()))


def random_permutations(sizes: pa.ChunkedArray, seeds: pa.ChunkedArray) -> pa.Array:
    """``vertical.random_permutations`` on lists of sizes, and the seed or NULL for each list."""
    from srsql.udfs.terms.vertical import random_permutations

    return lists(
        [random_permutations(flat(row[0]), row[1].as_py()) for row in rows_of(sizes, seeds)],
        pa.int32(),
    )


def _roles(structs: pa.StructArray) -> _Roles:
    """The vocabulary, from STRUCT(term_no, constraint_no, kept_apart, place)."""
    term, constraint, item_chunk_only, place = by_first(uncopied(structs))
    return _Roles(term, constraint.astype(np.int32), item_chunk_only == 0, place)


def _index(known: Ints, values: Ints) -> Ints:
    """Where the values stand among ``known``, which ascend."""
    place = np.searchsorted(known, values)
    if len(values) and (len(known) == 0 or bool((known[place % len(known)] != values).any())):
        raise ValueError("a row belongs to a record, cluster or term that is not given")
    return place


def warm_up_permutations() -> None:
    """Load or compile the kernel that shuffles."""
    from srsql.udfs.terms.vertical import random_permutations

    random_permutations(np.array([2]), None)


def warm_up_disassociation() -> None:
    """Disassociate a few records, with every kernel that a release calls.

    That loads the kernels before they are timed, or compiles them (once per installation).
    """
    record_terms = [(record, term) for record, terms in enumerate(RECORDS) for term in terms]
    support = Counter(term for _, term in record_terms)
    order = sorted(support, key=lambda term: (-support[term], term))
    roles = _structs(
        [(term, min(term // 3, 3) - 1, term == order[-1], order.index(term)) for term in support]
    )
    parts = _structs([(record, 0) for record in range(len(RECORDS))])
    cluster = horizontal_parts(
        parts, _structs(record_terms), roles, _value(MAX_SIZE), _value(K), _value(1)
    ).values.to_pylist()  # fmt: skip
    sizes = Counter(cluster)
    cluster_terms = [(cluster[record], record, term) for record, term in record_terms]
    chunks = vertical_chunks(
        _structs(sorted(sizes.items())), _structs(cluster_terms), roles, _value(K), _value(M),
        _value(MAX_SIZE),
    ).values.to_pylist()  # fmt: skip
    items = {(c["cluster_no"], c["term_no"]) for c in chunks if c["chunk_no"] == 0}
    item_terms = {term for _, term in items}
    chunk_terms = [
        (c["cluster_no"], c["term_no"])
        for c in chunks
        if c["chunk_no"] > 0 and c["term_no"] in item_terms
    ]
    refine(
        _structs([(number, size, True) for number, size in sorted(sizes.items())]),
        _structs([row for row in cluster_terms if (row[0], row[2]) in items]),
        _structs(chunk_terms), roles, _value(K), _value(M),
        pa.chunked_array([pa.array([{"records": JOINT, "terms": MAX_SIZE, "partners": 2}])]),
    )  # fmt: skip
    random_permutations(pa.chunked_array([pa.array([[3, 4]], pa.list_(pa.int32()))]), _value(1))


def warm_up_generalization() -> None:
    """Generalize the terms of a few records, to the same end."""
    record_terms = [(record, term) for record, terms in enumerate(RECORDS) for term in terms]
    terms = sorted({term for _, term in record_terms})
    kind = pa.list_(pa.int32())
    generalize(
        _structs(record_terms),
        pa.chunked_array([pa.array([terms], kind)]),
        pa.chunked_array([pa.array([[min(term // 3, 3) - 1 for term in terms]], kind)]),
        _value(K), _value(M),
    )  # fmt: skip


def _structs(rows: list[tuple[Any, ...]]) -> pa.ChunkedArray:
    """A column of one list of structs."""
    columns = [
        pa.array(column, pa.bool_() if isinstance(column[0], bool) else pa.int32())
        for column in zip(*rows, strict=True)
    ]
    structs = pa.StructArray.from_arrays(columns, names=[f"f{n}" for n in range(len(columns))])
    ends = pa.array(np.array([0, len(rows)], dtype=np.int32))
    return pa.chunked_array([pa.ListArray.from_arrays(ends, structs)])


def _value(value: int) -> pa.ChunkedArray:
    """A column of one number."""
    return pa.chunked_array([pa.array([value], pa.int64())])
