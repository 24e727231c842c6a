"""Registration of the kernels with DuckDB: the one file of `udfs` that knows it.

The kernels are compiled on first use (and cached on disk), so they are imported by the call, not
by the registration.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType
from numpy.typing import NDArray

from srsql.udfs.arrow import by_case as _by_case
from srsql.udfs.arrow import flags as _flags
from srsql.udfs.arrow import flat as _flat
from srsql.udfs.arrow import joined as _joined
from srsql.udfs.arrow import lists as _lists
from srsql.udfs.arrow import nested as _nested
from srsql.udfs.arrow import numbers as _numbers
from srsql.udfs.arrow import reals as _reals
from srsql.udfs.arrow import rows_of as _rows
from srsql.udfs.terms import arrow_kernels as disassociation

if TYPE_CHECKING:
    from srsql.udfs.problem import Attributes

# name -> (function, parameter types, return type); every one is an Arrow UDF over lists
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


def _attributes(qids: pa.StructArray) -> Attributes:
    """The QIDs, from STRUCT(place, span, parent[], last[], height[])[]."""
    from srsql.udfs.problem import Attributes

    tree_start, parents = _nested(qids.field("parent"))
    return Attributes(
        span=_numbers(qids.field("span")),
        tree_start=tree_start,
        parent=_numbers(parents),
        last=_numbers(_nested(qids.field("last"))[1]),
        height=_numbers(_nested(qids.field("height"))[1]),
    )


def _group_cases(
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
    from srsql.udfs.grouping.greedy import group_cases
    from srsql.udfs.problem import Bounding, Cases

    results = []
    for row in _rows(
        case_nos, roles, boxes, terms, one, attributes, theta_num, theta_den, k, draw, leftovers,
        rules,
    ):  # fmt: skip
        numbers = _flat(row[0])
        qids = row[5].values
        low, high = _boxes(row[2], numbers, _numbers(qids.field("place")))
        offsets, held, weights = _terms(row[3], numbers, len(row[6].values))
        rule = row[11].as_py()
        carrier = _flags(row[1].values.field("carrier"))
        grows = carrier if rule["core_only"] else np.ones_like(carrier)
        results.append(
            group_cases(
                Cases(low, high, offsets, held, weights, one=row[4].as_py()),
                _attributes(qids),
                _flat(row[6]),
                _flat(row[7]),
                row[8].as_py(),
                row[9].as_py() % max(1, int(grows.sum())),
                Bounding(
                    carrier=carrier,
                    grows=grows,
                    kind=_numbers(row[1].values.field("kind")).astype(np.int8),
                    alpha_num=rule["alpha_num"],
                    alpha_den=rule["alpha_den"],
                    after_join=rule["after_join"],
                    from_last=rule["from_last"],
                ),
                row[10].as_py(),
            )
        )
    return _lists(results, pa.int32())


def _partition_cases(
    case_nos: pa.ChunkedArray,
    boxes: pa.ChunkedArray,
    values: pa.ChunkedArray,
    attributes: pa.ChunkedArray,
    kinds: pa.ChunkedArray,
    sensitive: pa.ChunkedArray,
    least: pa.ChunkedArray,
) -> pa.Array:
    from srsql.udfs.grouping.partition import partition_cases
    from srsql.udfs.problem import Cases

    results = []
    for row in _rows(case_nos, boxes, values, attributes, kinds, sensitive, least):
        numbers = _flat(row[0])
        qids = row[3].values
        low, high = _boxes(row[1], numbers, _numbers(qids.field("place")))
        results.append(
            partition_cases(
                Cases(low, high, *_terms(row[2], numbers, len(row[4].values)), one=1),
                _attributes(qids),
                _flat(row[4]),
                row[5].as_py(),
                row[6].as_py(),
            )
        )
    return _lists(results, pa.int32())


def _withhold_infeasible(
    case_nos: pa.ChunkedArray,
    carriers: pa.ChunkedArray,
    terms: pa.ChunkedArray,
    theta_num: pa.ChunkedArray,
    theta_den: pa.ChunkedArray,
    one: pa.ChunkedArray,
) -> pa.Array:
    from srsql.udfs.grouping.feasibility import withhold_infeasible

    results = [
        withhold_infeasible(
            *_terms(row[2], _flat(row[0]), len(row[3].values)),
            _flat(row[3]),
            _flat(row[4]),
            row[5].as_py(),
            _flags(row[1].values),
        )
        for row in _rows(case_nos, carriers, terms, theta_num, theta_den, one)
    ]
    return _lists(results, pa.bool_())


def _knowledge_weight(sizes: pa.ChunkedArray, one: pa.ChunkedArray) -> pa.Array:
    from srsql.udfs.grouping.knowledge import weight

    return pa.array(
        [weight(row[0].as_py(), row[1].as_py()) for row in _rows(sizes, one)], pa.int64()
    )


def _nearest(
    own_count: pa.ChunkedArray,
    own: pa.ChunkedArray,
    published_count: pa.ChunkedArray,
    published: pa.ChunkedArray,
    attributes: pa.ChunkedArray,
    distances: pa.ChunkedArray,
) -> pa.Array:
    from srsql.udfs.risk.nearest import NodeDistances, Points, nearest

    results = []
    for row in _rows(own_count, own, published_count, published, attributes, distances):
        positions = _numbers(row[4].values.field("position"))
        points = []
        for count, values in ((row[0], row[1]), (row[2], row[3])):
            numbers = np.arange(count.as_py(), dtype=np.int64)
            line, place, _, _ = _by_case(values.values, numbers)
            known = np.zeros((len(numbers), len(positions)), dtype=np.bool_)
            known[line, np.searchsorted(positions, place)] = True
            points.append(Points(*_boxes(values, numbers, positions), known))
        fields = [_numbers(row[5].values.field(i)) for i in range(5)]
        fields[0] = np.searchsorted(positions, fields[0])
        spans = _numbers(row[4].values.field("span"))
        results.append(nearest(points[0], points[1], spans, NodeDistances(*fields)))
    pairs = np.concatenate(results) if results else np.empty((0, 2), np.int64)
    offsets = np.cumsum([0, *map(len, results)]).astype(np.int32)
    columns = [pa.array(pairs[:, i], pa.int32()) for i in range(2)]
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.StructArray.from_arrays(columns, names=["own", "published"])
    )


def _gps_prior(
    counts: pa.ChunkedArray, expected: pa.ChunkedArray, weights: pa.ChunkedArray
) -> pa.Array:
    from srsql.udfs.signals.shrinkage import fit_prior

    priors = [
        fit_prior(*(_reals(part.values) for part in row)) if row[0].is_valid else None
        for row in _rows(counts, expected, weights)
    ]
    return pa.array([p._asdict() if p else None for p in priors], _PRIOR_TYPE)


def _ebgm(counts: pa.ChunkedArray, expected: pa.ChunkedArray, priors: pa.ChunkedArray) -> pa.Array:
    """Each distinct prior (there is one) with all its pairs at once."""
    from srsql.udfs.signals.shrinkage import Prior, posterior

    n, e = _reals(counts), _reals(expected)
    fitted = np.stack([_reals(part) for part in _joined(priors).flatten()])
    defined = (e > 0) & ~np.isnan(n) & ~np.isnan(fitted).any(axis=0)
    found = np.full((3, len(n)), np.nan)
    for prior in np.unique(fitted[:, defined], axis=1).T:
        chosen = defined & (fitted == prior[:, None]).all(axis=0)
        found[:, chosen] = posterior(n[chosen], e[chosen], Prior(*prior.tolist()))
    columns = [pa.array(column, pa.float64(), mask=np.isnan(column)) for column in found]
    return pa.StructArray.from_arrays(columns, names=["ebgm", "eb05", "eb95"])


def _laplace_noise(
    numerators: pa.ChunkedArray, denominators: pa.ChunkedArray, seeds: pa.ChunkedArray
) -> pa.Array:
    from srsql.udfs.noise import laplace_noise

    return _lists(
        [
            laplace_noise(_flat(row[0]), _flat(row[1]), row[2].as_py())
            for row in _rows(numerators, denominators, seeds)
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
    from srsql.udfs.choice import choose

    return _lists(
        [
            choose(
                _flat(row[0]),
                row[1].as_py(),
                _flat(row[2]),
                Fraction(row[3].as_py(), row[4].as_py()),
                row[5].as_py(),
                row[6].as_py(),
            )
            for row in _rows(which, doms, parents, numerators, denominators, calibrations, seeds)
        ],
        pa.int64(),
    )


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
_TERMS = "STRUCT(case_no INTEGER, term_no INTEGER, weight BIGINT)[]"
_VALUES = "STRUCT(tuple_no INTEGER, position INTEGER, low BIGINT, high BIGINT)[]"
_BOXES = "STRUCT(case_no INTEGER, place INTEGER, low BIGINT, high BIGINT)[]"
_QIDS = "STRUCT(place INTEGER, span BIGINT, parent BIGINT[], last BIGINT[], height BIGINT[])[]"
_ROLES = "STRUCT(term_no INTEGER, constraint_no INTEGER, kept_apart BOOLEAN, place INTEGER)[]"
_HELD = "STRUCT(cluster_no INTEGER, record_no INTEGER, term_no INTEGER)[]"
_UDFS: dict[str, _Udf] = {
    "srsql_group_cases": (
        _group_cases,
        [
            "INTEGER[]", "STRUCT(carrier BOOLEAN, kind INTEGER)[]", _BOXES, _TERMS, "BIGINT", _QIDS,
            "BIGINT[]", "BIGINT[]", "INTEGER", "BIGINT", "VARCHAR",
            "STRUCT(core_only BOOLEAN, after_join BOOLEAN, from_last BOOLEAN,"
            " alpha_num BIGINT, alpha_den BIGINT)",
        ],
        "INTEGER[]",
    ),
    "srsql_partition_cases": (
        _partition_cases,
        ["INTEGER[]", _BOXES, _TERMS, _QIDS, "INTEGER[]", "INTEGER", "INTEGER"],
        "INTEGER[]",
    ),
    "srsql_withhold_infeasible": (
        _withhold_infeasible,
        ["INTEGER[]", "BOOLEAN[]", _TERMS, "BIGINT[]", "BIGINT[]", "BIGINT"],
        "BOOLEAN[]",
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
    "srsql_knowledge_weight": (_knowledge_weight, ["BIGINT[]", "BIGINT"], "BIGINT"),
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
        ],
        "INTEGER[]",
    ),
    "srsql_vertical_chunks": (
        disassociation.vertical_chunks,
        ["STRUCT(cluster_no INTEGER, records INTEGER)[]", _HELD, _ROLES, "INTEGER", "INTEGER"],
        "STRUCT(cluster_no INTEGER, chunk_no INTEGER, term_no INTEGER)[]",
    ),
    "srsql_refine": (
        disassociation.refine,
        [
            "STRUCT(cluster_no INTEGER, records INTEGER, may_empty BOOLEAN)[]", _HELD,
            "STRUCT(cluster_no INTEGER, term_no INTEGER)[]", _ROLES, "INTEGER", "INTEGER",
            "INTEGER",
        ],
        "STRUCT(members STRUCT(joint_no INTEGER, cluster_no INTEGER)[],"
        " terms STRUCT(joint_no INTEGER, chunk_no INTEGER, term_no INTEGER)[])",
    ),
    "srsql_generalized": (
        disassociation.generalized,
        [
            "STRUCT(record_no INTEGER, term_no INTEGER)[]", "INTEGER[]", "INTEGER[]", "INTEGER",
            "INTEGER",
        ],
        "INTEGER[]",
    ),
    "srsql_shuffled": (disassociation.shuffled, ["INTEGER[]", "BIGINT"], "INTEGER[]"),
    "srsql_drawn_below": (disassociation.drawn_below, ["INTEGER[]", "BIGINT"], "INTEGER[]"),
}  # fmt: skip
