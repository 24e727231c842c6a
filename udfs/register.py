"""Registration of the kernels with DuckDB: the one file of `udfs` that knows it.

The kernels are compiled on first use (and cached on disk), so they are imported by the call, not
by the registration.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType

from srsql.udfs import checks, grouping
from srsql.udfs import terms as disassociation
from srsql.udfs.columns import (
    by_case,
    by_first,
    column_of,
    fields,
    flat,
    lists,
    nested,
    one_array,
    places_of,
    reals,
    rows_of,
    struct_lists,
    uncopied,
)
from srsql.udfs.kernels import running

_SINGLING_OUT = "srsql.udfs.risk.singling_out"
# name -> (function, parameter types, return type); every one is an Arrow UDF, most over lists
_Udf = tuple[Callable[..., pa.Array], list[str], str]


def register_udfs(con: duckdb.DuckDBPyConnection, *, untouched: bool = False) -> None:
    """Register every UDF under the prefix ``srsql_``; registering twice is harmless.

    Args:
        con: the connection.
        untouched: nobody had the connection before, so that it has none of them.
    """
    known = set() if untouched else _registered(con)
    for name, (function, parameters, returns) in _UDFS.items():
        if name not in known:
            con.create_function(
                name,
                function,
                [duckdb.sqltype(p) for p in parameters],
                duckdb.sqltype(returns),
                type=PythonUDFType.ARROW,
                null_handling=FunctionNullHandling.SPECIAL,
                side_effects=name in _RANDOM,
            )


def _registered(con: duckdb.DuckDBPyConnection) -> set[str]:
    """Those that are there; a macro that somebody called like one of them is not."""
    found = con.execute(
        "SELECT DISTINCT f.function_name FROM system.main.duckdb_functions() AS f "
        "WHERE f.internal AND system.main.starts_with(f.function_name, 'srsql_')"
    ).fetchall()
    return {row[0] for row in found}


def _nearest(
    own_count: pa.ChunkedArray,
    own: pa.ChunkedArray,
    published_count: pa.ChunkedArray,
    published: pa.ChunkedArray,
    attributes: pa.ChunkedArray,
    distances: pa.ChunkedArray,
) -> pa.Array:
    """``nearest_records.nearest``: lists of pairs of an original and a published tuple."""
    search = running("srsql.udfs.risk.nearest_records", "srsql.udfs.exact_search")
    kernels = running("srsql.udfs.risk.nearest_records")
    results = []
    for row in rows_of(own_count, own, published_count, published, attributes, distances):
        positions, spans = fields(row[4].values)
        points = []
        for count, values in ((row[0], row[1].values), (row[2], row[3].values)):
            tuples = np.arange(count.as_py(), dtype=np.int64)
            line, place, _, _ = by_case(values, tuples)
            known = np.zeros((len(tuples), len(positions)), dtype=np.bool_)
            known[line, np.searchsorted(positions, place)] = True
            ends = search.boxes_by_case(values, tuples, positions)
            points.append(kernels.Points(*ends, known))
        place, *others = fields(row[5].values)
        nodes = kernels.NodeDistances(np.searchsorted(positions, place), *others)
        results.append(kernels.nearest(points[0], points[1], spans, nodes))
    return struct_lists(results, ["own", "published"])


def _least_losses(
    k: pa.ChunkedArray,
    cases: pa.ChunkedArray,
    values: pa.ChunkedArray,
    attributes: pa.ChunkedArray,
    nodes: pa.ChunkedArray,
) -> pa.Array:
    """``least_loss.least_losses``: the values of each kind of case, and what two nodes cost."""
    from srsql.udfs.risk.least_loss import MISSING, least_losses, pair_losses

    found = []
    for row in rows_of(k, cases, values, attributes, nodes):
        counts = flat(row[1])
        kind, place, low, high = fields(row[2].values)
        node_place, own, other, loss = uncopied(row[4].values)
        held = np.full((len(counts), len(row[3])), MISSING, np.int64)
        tables = []
        for i, (at, span) in enumerate(zip(*fields(row[3].values), strict=True)):
            rows, pairs = place == at, node_place == at
            ends = np.stack([low[rows], high[rows]], axis=1)
            known, number = np.unique(ends, axis=0, return_inverse=True)
            held[kind[rows], i] = number.reshape(-1)
            if span > 0:
                tables.append(pair_losses(known[:, 0], known[:, 1], int(span)))
                continue
            table = np.ones((len(known), len(known)))
            ends_of = [np.searchsorted(known[:, 0], each[pairs]) for each in (own, other)]
            table[ends_of[0], ends_of[1]] = loss[pairs]
            tables.append(table)
        found.append(least_losses(held, counts, tables, row[0].as_py()))
    return lists(found, pa.float64())


def _exposure(
    cases: pa.ChunkedArray,
    own: pa.ChunkedArray,
    published: pa.ChunkedArray,
    items: pa.ChunkedArray,
    values: pa.ChunkedArray,
    targets: pa.ChunkedArray,
    options: pa.ChunkedArray,
) -> pa.Array:
    """``singling_out.exposure``, added up over the targets; boxes are lists, one for a reading."""
    kernels = running(_SINGLING_OUT)
    results = []
    for row in rows_of(cases, own, published, items, values, targets, options):
        case_nos, groups = by_first(uncopied(row[0].values))
        k, seed = (row[6][name].as_py() for name in ("k", "seed"))
        targets = flat(row[5])
        readings = [
            kernels.told_boxes(targets, groups, *map(fields, both))
            for both in zip(_parts(row[1]), _parts(row[2]), strict=True)
        ]
        case, item = fields(row[3].values)
        held = places_of(case, case_nos), item
        target = np.zeros(len(case_nos), np.bool_)
        target[places_of(targets, case_nos)] = True
        found = kernels.exposure(readings, held, flat(row[4]), k, seed, target)
        results.append(
            [(n, *each) for n, one in enumerate(found) for each in kernels.summaries(one, k)]
        )
    ends = column_of(np.cumsum([0, *map(len, results)]), pa.int32())
    columns = [
        column_of(np.array([summary[i] for found in results for summary in found]), field.type)
        for i, field in enumerate(_EXPOSURE_TYPE)
    ]
    rows = pa.StructArray.from_arrays(columns, fields=list(_EXPOSURE_TYPE))
    return pa.ListArray.from_arrays(ends, rows)


def _parts(lists_of_structs: pa.ListScalar) -> list[pa.StructArray]:
    """Each of the lists in a list of lists of structs."""
    ends, structs = nested(lists_of_structs.values)
    return [structs.slice(a, b - a) for a, b in pairwise(ends.tolist())]


def _drawn_cases(cases: pa.ChunkedArray, count: pa.ChunkedArray, seed: pa.ChunkedArray) -> pa.Array:
    """``singling_out.drawn_cases``."""
    kernels = running(_SINGLING_OUT)
    drawn = [
        kernels.drawn_cases(flat(row[0]), row[1].as_py(), row[2].as_py())
        for row in rows_of(cases, count, seed)
    ]
    return lists(drawn, pa.int32())


def _gps_prior(
    counts: pa.ChunkedArray, expected: pa.ChunkedArray, weights: pa.ChunkedArray
) -> pa.Array:
    """``shrinkage.fit_prior`` of each row's lists; NULL where there is none."""
    from srsql.udfs.shrinkage import fit_prior

    priors = [
        fit_prior(*(reals(part.values) for part in row)) if row[0].is_valid else None
        for row in rows_of(counts, expected, weights)
    ]
    return pa.array([p._asdict() if p else None for p in priors], _PRIOR_TYPE)


def _ebgm(counts: pa.ChunkedArray, expected: pa.ChunkedArray, priors: pa.ChunkedArray) -> pa.Array:
    """``shrinkage.posterior`` of all rows: each distinct prior (there is one) with its rows.

    Where no prior was fitted, for want of the package that fits them, nothing else needs it.
    """
    n, e = reals(counts), reals(expected)
    fitted = np.stack([reals(part) for part in one_array(priors).flatten()])
    defined = (e > 0) & ~np.isnan(n) & ~np.isnan(fitted).any(axis=0)
    found = np.full((3, len(n)), np.nan)
    for prior in np.unique(fitted[:, defined], axis=1).T:
        from srsql.udfs.shrinkage import Prior, posterior

        chosen = defined & (fitted == prior[:, None]).all(axis=0)
        found[:, chosen] = posterior(n[chosen], e[chosen], Prior(*prior.tolist()))
    columns = [column_of(column, pa.float64(), ~np.isnan(column)) for column in found]
    return pa.StructArray.from_arrays(columns, names=["ebgm", "eb05", "eb95"])


def _laplace_noise(
    numerators: pa.ChunkedArray, denominators: pa.ChunkedArray, seeds: pa.ChunkedArray
) -> pa.Array:
    """``mechanisms.laplace_noise`` on lists of scales, and the seed or NULL for each list."""
    from srsql.udfs.mechanisms import laplace_noise

    return lists(
        [
            laplace_noise(flat(row[0]), flat(row[1]), row[2].as_py())
            for row in rows_of(numerators, denominators, seeds)
        ],
        pa.int64(),
    )


def _exponential_choice(
    which: pa.ChunkedArray,
    doms: pa.ChunkedArray,
    parents: pa.ChunkedArray,
    numerators: pa.ChunkedArray,
    denominators: pa.ChunkedArray,
    calibrations: pa.ChunkedArray,
    seeds: pa.ChunkedArray,
) -> pa.Array:
    """``mechanisms.exponential_choice``, epsilon being numerator / denominator."""
    from srsql.udfs.mechanisms import exponential_choice

    return lists(
        [
            exponential_choice(
                flat(row[0]),
                row[1].as_py(),
                flat(row[2]),
                Fraction(row[3].as_py(), row[4].as_py()),
                row[5].as_py(),
                row[6].as_py(),
            )
            for row in rows_of(which, doms, parents, numerators, denominators, calibrations, seeds)
        ],
        pa.int64(),
    )


def _uniform_below(totals: pa.ChunkedArray, seeds: pa.ChunkedArray) -> pa.Array:
    """``mechanisms.Uniform.below`` on lists of totals, and the seed or NULL for each list."""
    from srsql.udfs.mechanisms import Uniform

    draws = [Uniform(row[1].as_py()).below(flat(row[0])) for row in rows_of(totals, seeds)]
    return lists(draws, pa.int32())


def _term_keys(texts: pa.ChunkedArray) -> pa.Array:
    """``term_key.term_key`` of each text, NULL of NULL."""
    from srsql.udfs.term_key import term_key

    return _each_distinct(texts, term_key)


def _checked_term_keys(texts: pa.ChunkedArray) -> pa.Array:
    """``checks.term_key.checked_term_key`` of each text, NULL of NULL."""
    from srsql.udfs.checks.term_key import checked_term_key

    return _each_distinct(texts, checked_term_key)


def _each_distinct(texts: pa.ChunkedArray, function: Callable[[str], str | None]) -> pa.Array:
    """A function of texts, called once for equal ones."""
    distinct = one_array(texts).dictionary_encode()
    found = pa.lib.StringBuilder()  # pa.array imports pandas, which takes longer than all the rest
    found.append_values([function(text) for text in distinct.dictionary.to_pylist()])
    return found.finish().take(distinct.indices)


_RANDOM = {
    "srsql_laplace_noise",
    "srsql_exponential_choice",
    "srsql_shuffled",
    "srsql_drawn_below",
}
"""Draw anew on every call: DuckDB must neither fold two calls into one nor call once more."""
_PRIOR_TYPE = pa.struct(
    [(name, pa.float64()) for name in ("alpha1", "beta1", "alpha2", "beta2", "p")]
)
_PRIOR = "STRUCT(alpha1 DOUBLE, beta1 DOUBLE, alpha2 DOUBLE, beta2 DOUBLE, p DOUBLE)"
_EXPOSED_SHARES = ("below_k", "alone", "certain", "likely")
_EXPOSED_CASES = (
    "reading", "known", "items", "cases", *(f"worst_{name}" for name in _EXPOSED_SHARES)
)  # fmt: skip
_EXPOSURE_TYPE = pa.struct(
    [(name, pa.int64()) for name in _EXPOSED_CASES]
    + [(name, pa.float64()) for name in _EXPOSED_SHARES]
)
_EXPOSURE = ", ".join(
    [f"{name} BIGINT" for name in _EXPOSED_CASES] + [f"{name} DOUBLE" for name in _EXPOSED_SHARES]
)
_TERMS = "STRUCT(case_no INTEGER, term_no INTEGER, weight BIGINT)[]"
_VALUES = "STRUCT(tuple_no INTEGER, position INTEGER, low BIGINT, high BIGINT)[]"
_BOXES = "STRUCT(case_no INTEGER, position INTEGER, low BIGINT, high BIGINT)[]"
_QIDS = "STRUCT(place INTEGER, span BIGINT, parent BIGINT[], last BIGINT[], height BIGINT[])[]"
_ROLES = "STRUCT(term_no INTEGER, constraint_no INTEGER, kept_apart BOOLEAN, place INTEGER)[]"
_HELD = "STRUCT(cluster_no INTEGER, record_no INTEGER, term_no INTEGER)[]"
_LOSABLE = "STRUCT(case_no INTEGER, term_no INTEGER, freed BIGINT)[]"
_SLOTS = "STRUCT(case_no INTEGER, term_no INTEGER, slot_no INTEGER, room INTEGER)[]"
_UDFS: dict[str, _Udf] = {
    "srsql_group_cases": (
        grouping.group_cases,
        [
            "INTEGER[]", "STRUCT(carrier BOOLEAN, kind INTEGER, group_no INTEGER)[]", _BOXES,
            _TERMS, _QIDS, "STRUCT(num BIGINT, den BIGINT)[]",
            "STRUCT(core_only BOOLEAN, after_join BOOLEAN, from_last BOOLEAN, more_seeds INTEGER,"
            " alpha_num BIGINT, alpha_den BIGINT, k BIGINT, weight_scale BIGINT, draw BIGINT,"
            " leftovers VARCHAR)",
        ],
        "INTEGER[]",
    ),
    "srsql_group_patterns": (
        grouping.group_patterns,
        [
            "STRUCT(case_no INTEGER, known INTEGER, carrier BOOLEAN, kind INTEGER)[]",
            _BOXES, _TERMS,
            f"STRUCT(pattern INTEGER, k BIGINT, draw BIGINT, attributes {_QIDS})[]",
            "STRUCT(num BIGINT, den BIGINT)[]",
            "STRUCT(core_only BOOLEAN, after_join BOOLEAN, from_last BOOLEAN, more_seeds INTEGER,"
            " alpha_num BIGINT, alpha_den BIGINT, weight_scale BIGINT, leftovers VARCHAR,"
            " threads INTEGER)",
        ],
        "STRUCT(pattern INTEGER, case_no INTEGER, group_no INTEGER)[]",
    ),
    "srsql_refine_groups": (
        grouping.refine_groups,
        [
            "STRUCT(case_no INTEGER, known INTEGER, carrier BOOLEAN, kind INTEGER,"
            " group_no INTEGER)[]",
            _BOXES, _TERMS, _QIDS,
            "STRUCT(num BIGINT, den BIGINT, attribute_no INTEGER)[]",
            "STRUCT(effort VARCHAR, alpha_num BIGINT, alpha_den BIGINT, diversity INTEGER,"
            " attributes INTEGER, k BIGINT, weight_scale BIGINT, threads INTEGER)",
        ],
        "STRUCT(case_no INTEGER, group_no INTEGER, pattern INTEGER)[]",
    ),
    "srsql_place_units": (
        grouping.place_units,
        [
            "INTEGER[]",
            "STRUCT(known BIGINT, goes_on BOOLEAN, is_new BOOLEAN, unit_no INTEGER,"
            " group_no INTEGER, free BOOLEAN)[]",
            _BOXES, _TERMS, _QIDS, "STRUCT(num BIGINT, den BIGINT)[]",
            "STRUCT(k BIGINT, weight_scale BIGINT)",
        ],
        "INTEGER[]",
    ),
    "srsql_partition_cases": (
        grouping.partition_cases,
        ["INTEGER[]", _BOXES, _TERMS, _QIDS, "INTEGER[]", "INTEGER", "INTEGER"],
        "INTEGER[]",
    ),
    "srsql_withhold_infeasible": (
        grouping.withhold_infeasible,
        ["INTEGER[]", "BOOLEAN[]", _TERMS, "BIGINT[]", "BIGINT[]", "BIGINT"],
        "BOOLEAN[]",
    ),
    "srsql_suppress_surplus": (
        grouping.suppress_surplus,
        ["STRUCT(term_no INTEGER, excess BIGINT)[]", _LOSABLE, _SLOTS, "VARCHAR"],
        "STRUCT(case_no INTEGER, term_no INTEGER)[]",
    ),
    "srsql_suppress_leftovers": (
        grouping.suppress_leftovers,
        [
            "INTEGER[]", "STRUCT(carrier BOOLEAN, kind INTEGER, group_no INTEGER)[]", _BOXES,
            _TERMS, _QIDS, f"STRUCT(pairs {_LOSABLE}, slots {_SLOTS})",
            "STRUCT(alpha_num BIGINT, alpha_den BIGINT, k BIGINT, weight_scale BIGINT,"
            " draw VARCHAR, thresholds STRUCT(num BIGINT, den BIGINT)[])",
        ],
        "STRUCT(case_no INTEGER, group_no INTEGER, term_no INTEGER)[]",
    ),
    "srsql_nearest": (
        _nearest,
        [
            "INTEGER", _VALUES, "INTEGER", _VALUES,
            "STRUCT(position INTEGER, span BIGINT)[]",
            "STRUCT(position INTEGER, own BIGINT, published BIGINT, apart BIGINT,"
            " united BIGINT)[]",
        ],
        "STRUCT(own INTEGER, published INTEGER)[]",
    ),
    "srsql_least_losses": (
        _least_losses,
        [
            "INTEGER", "BIGINT[]",
            "STRUCT(kind INTEGER, place INTEGER, low BIGINT, high BIGINT)[]",
            "STRUCT(place INTEGER, span BIGINT)[]",
            "STRUCT(place INTEGER, own BIGINT, other BIGINT, loss DOUBLE)[]",
        ],
        "DOUBLE[]",
    ),
    "srsql_exposure": (
        _exposure,
        [
            "STRUCT(case_no INTEGER, group_no INTEGER)[]", f"{_BOXES}[]", f"{_BOXES}[]",
            "STRUCT(case_no INTEGER, item_no INTEGER)[]", "INTEGER[]", "INTEGER[]",
            "STRUCT(k INTEGER, seed BIGINT)",
        ],
        f"STRUCT({_EXPOSURE})[]",
    ),
    "srsql_drawn_cases": (_drawn_cases, ["INTEGER[]", "INTEGER", "BIGINT"], "INTEGER[]"),
    "srsql_knowledge_weight": (grouping.knowledge_weight, ["BIGINT[]", "BIGINT"], "BIGINT"),
    "srsql_gps_prior": (_gps_prior, ["DOUBLE[]", "DOUBLE[]", "DOUBLE[]"], _PRIOR),
    "srsql_ebgm": (
        _ebgm,
        ["DOUBLE", "DOUBLE", _PRIOR],
        "STRUCT(ebgm DOUBLE, eb05 DOUBLE, eb95 DOUBLE)",
    ),
    "srsql_laplace_noise": (_laplace_noise, ["BIGINT[]", "BIGINT[]", "BIGINT"], "BIGINT[]"),
    "srsql_exponential_choice": (
        _exponential_choice,
        ["INTEGER[]", "BIGINT[][]", "BIGINT[]", "BIGINT", "BIGINT", "VARCHAR", "BIGINT"],
        "BIGINT[]",
    ),
    "srsql_horizontal_parts": (
        disassociation.horizontal_parts,
        [
            "STRUCT(record_no INTEGER, part_no INTEGER)[]",
            "STRUCT(record_no INTEGER, term_no INTEGER)[]", _ROLES, "INTEGER", "INTEGER",
            "BOOLEAN",
        ],
        "INTEGER[]",
    ),
    "srsql_horizontal_groups": (
        disassociation.horizontal_groups,
        [
            "STRUCT(group_no INTEGER, records INTEGER)[]",
            "STRUCT(group_no INTEGER, term_no INTEGER)[]", _ROLES, "INTEGER", "INTEGER",
            "BOOLEAN",
        ],
        "INTEGER[]",
    ),
    "srsql_bounded_chunks": (
        disassociation.bounded_chunks,
        [
            "STRUCT(cluster_no INTEGER, records INTEGER)[]", _HELD,
            "STRUCT(cluster_no INTEGER, chunk_no INTEGER, term_no INTEGER)[]",
            "STRUCT(term_no INTEGER, value_no INTEGER, theta_num BIGINT, theta_den BIGINT)[]",
            "INTEGER", "INTEGER",
        ],
        "STRUCT(cluster_no INTEGER, chunk_no INTEGER, term_no INTEGER)[]",
    ),
    "srsql_vertical_chunks": (
        disassociation.vertical_chunks,
        [
            "STRUCT(cluster_no INTEGER, records INTEGER)[]", _HELD, _ROLES, "INTEGER", "INTEGER",
            "INTEGER",
        ],
        "STRUCT(cluster_no INTEGER, chunk_no INTEGER, term_no INTEGER)[]",
    ),
    "srsql_refine": (
        disassociation.refine,
        [
            "STRUCT(cluster_no INTEGER, records INTEGER, may_empty BOOLEAN)[]", _HELD,
            "STRUCT(cluster_no INTEGER, term_no INTEGER)[]", _ROLES, "INTEGER", "INTEGER",
            "STRUCT(records INTEGER, terms INTEGER, partners INTEGER)",
        ],
        "STRUCT(members STRUCT(joint_no INTEGER, cluster_no INTEGER)[],"
        " terms STRUCT(joint_no INTEGER, chunk_no INTEGER, term_no INTEGER)[])",
    ),
    "srsql_generalized": (
        disassociation.generalize,
        [
            "STRUCT(record_no INTEGER, term_no INTEGER)[]", "INTEGER[]", "INTEGER[]", "INTEGER",
            "INTEGER",
        ],
        "INTEGER[]",
    ),
    "srsql_unproved_chunks": (
        checks.unproved_chunks,
        [
            "STRUCT(kind_no INTEGER, chunk_no INTEGER, copies INTEGER)[]",
            "STRUCT(kind_no INTEGER, term VARCHAR)[]", "BIGINT", "BIGINT", "BIGINT",
        ],
        "STRUCT(chunk_no INTEGER, known VARCHAR[])[]",
    ),
    "srsql_shuffled": (disassociation.random_permutations, ["INTEGER[]", "BIGINT"], "INTEGER[]"),
    "srsql_drawn_below": (_uniform_below, ["INTEGER[]", "BIGINT"], "INTEGER[]"),
    "srsql_term_key": (_term_keys, ["VARCHAR"], "VARCHAR"),
    "srsql_checked_term_key": (_checked_term_keys, ["VARCHAR"], "VARCHAR"),
}  # fmt: skip
