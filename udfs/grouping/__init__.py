"""Kernels of grouping: the greedy selection and what it searches in; here on columns of Arrow.

The kernels are compiled on first use (and cached on disk), so they are imported by the call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from srsql.udfs.columns import (
    Ints,
    at_once,
    by_case,
    by_first,
    fields,
    flags,
    flat,
    lists,
    nested,
    numbered,
    numbers,
    rows_of,
    struct_lists,
    uncopied,
)
from srsql.udfs.grouping_problem import Attributes, Bounding, Cases, inferred_weight
from srsql.udfs.kernels import called

if TYPE_CHECKING:
    from srsql.udfs.grouping.suppress import Pairs

_GREEDY, _REFINE = "srsql.udfs.grouping.greedy", "srsql.udfs.grouping.refine"
_SEARCH = "srsql.udfs.exact_search"
Kernels = Callable[[str], Any]
"""Gives a module of kernels by its name: compiled, or interpreted (``called``)."""


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


def dense_groups(told: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """The group numbers that there are, ascending, and each case's place among them, or -1."""
    known, dense = numbered(told[told >= 0])
    group = np.full(len(told), -1, np.int32)
    group[told >= 0] = dense
    return known, group


def problem_of(
    row: tuple[Any, ...], kernels: Kernels = import_module
) -> tuple[tuple[Cases, Attributes, Ints, Ints, int], dict[str, Any]]:
    """A row of ``group_cases`` or ``place_units`` as their kernels take it, and the rules.

    ``kernels``: gives a module of kernels as it can be called now, by its name.

    Raises:
        ValueError: something is NULL or out of range.
    """
    cases, qids, rule = flat(row[0]), row[4].values, row[6].as_py()
    theta_num, theta_den = fields(row[5].values)
    places = numbers(qids.field("place"))
    low, high = kernels(_SEARCH).boxes_by_case(row[2].values, cases, places)
    case_terms = terms_by_case(row[3].values, cases, len(theta_num))
    made = Cases(low, high, *case_terms, weight_scale=rule["weight_scale"])
    return (made, attributes_of(qids), theta_num, theta_den, rule["k"]), rule


def _threads(kernels: Kernels, asked: int) -> int:
    """How many threads are of use: what is interpreted runs in one at a time."""
    return asked if kernels is import_module else 1


def _grown(
    problem: tuple[Cases, Attributes, Ints, Ints, int],
    carrier: NDArray[np.bool_],
    kind: Ints,
    told: Ints,
    rule: dict[str, Any],
    draw: int,
    kernels: Kernels,
) -> NDArray[np.int32]:
    """The greedy groups of a problem, by the rules of ``group_cases``."""
    grows = carrier if rule["core_only"] else np.ones_like(carrier)
    known, standing = dense_groups(told)
    bounding = Bounding(
        carrier=carrier,
        grows=grows,
        kind=kind.astype(np.int8),
        alpha_num=rule["alpha_num"],
        alpha_den=rule["alpha_den"],
        after_join=rule["after_join"],
        from_last=rule["from_last"],
        more_seeds=rule["more_seeds"],
        leftovers=rule["leftovers"],
        standing=standing if len(known) else None,
    )
    first = draw % max(1, int(grows.sum()))
    return np.asarray(kernels(_GREEDY).group_cases(*problem, first, bounding), np.int32)


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
        roles: STRUCT(carrier, kind, group_no)[], aligned with the cases; the group that a case is
            in, or -1. Where one is in any, no group is grown: the others join those.
        boxes: STRUCT(case_no, position, low, high)[].
        terms: STRUCT(case_no, term_no, weight)[].
        attributes: STRUCT(place, span, parent[], last[], height[])[], by place.
        thresholds: STRUCT(num, den)[], by term from 0 on.
        rules: STRUCT(core_only, after_join, from_last, more_seeds, alpha_num, alpha_den, k,
            weight_scale, draw, leftovers); ``draw`` is any number that picks the first case.

    Returns:
        Lists of group numbers, aligned with the cases; -1: the case was not placed.

    Raises:
        ValueError: something is NULL or out of range.
    """
    rows = rows_of(case_nos, roles, boxes, terms, attributes, thresholds, rules)
    results = [called(_GREEDY, len(row[0]), partial(_group_cases, row)) for row in rows]
    return lists(results, pa.int32())


def _group_cases(row: tuple[Any, ...], kernels: Kernels) -> NDArray[np.int32]:
    problem, rule = problem_of(row, kernels)
    role = row[1].values
    kind, told = numbers(role.field("kind")), numbers(role.field("group_no"))
    return _grown(problem, flags(role.field("carrier")), kind, told, rule, rule["draw"], kernels)


def group_patterns(
    cases: pa.ChunkedArray,
    boxes: pa.ChunkedArray,
    terms: pa.ChunkedArray,
    problems: pa.ChunkedArray,
    thresholds: pa.ChunkedArray,
    rules: pa.ChunkedArray,
) -> pa.Array:
    """``greedy.group_cases`` of several missingness patterns, of which none has groups.

    Args:
        cases: STRUCT(case_no, known, carrier, kind)[]; ``known`` is the pattern.
        boxes: as for ``group_cases``; those of other cases, and of QIDs that a case does not know,
            may be among them.
        terms: as for ``group_cases``, like thresholds.
        problems: STRUCT(pattern, k, draw, attributes STRUCT(place, span, parent[], last[],
            height[])[])[]: k, the draw and the QIDs of each pattern.
        thresholds: see there.
        rules: as for ``group_cases``, without k and draw, and with ``threads``: how many patterns
            are grouped at a time.

    Returns:
        Lists of STRUCT(pattern, case_no, group_no), the groups from 0 on in each pattern; -1: the
        case was not placed.

    Raises:
        ValueError: something is NULL or out of range.
    """
    rows = rows_of(cases, boxes, terms, problems, thresholds, rules)
    results = [called(_GREEDY, len(row[0]), partial(_grouped, *row)) for row in rows]
    return struct_lists(results, ["pattern", "case_no", "group_no"])


def _grouped(
    cases: pa.ListScalar, boxes: pa.ListScalar, terms: pa.ListScalar, problems: pa.ListScalar,
    thresholds: pa.ListScalar, rules: pa.StructScalar, kernels: Kernels,
) -> Ints:  # fmt: skip
    case_no, known, carriers, kind = by_first(uncopied(cases.values))
    carrier = carriers.astype(np.bool_)
    rule, theta = rules.as_py(), fields(thresholds.values)
    asked = {problem["pattern"].as_py(): problem for problem in problems}
    places = {
        pattern: numbers(problem["attributes"].values.field("place"))
        for pattern, problem in asked.items()
    }
    positions = np.unique(np.concatenate([*places.values(), np.empty(0, np.int64)]))
    of_cases = (case_no, known, boxes, terms)
    every = _all_cases(of_cases, positions, len(theta[0]), rule["weight_scale"], kernels)

    def solve(rows: Ints) -> NDArray[np.int32]:
        pattern = int(known[rows[0]])
        problem = asked[pattern]
        own = every.some(rows, np.searchsorted(positions, places[pattern]))
        attributes = attributes_of(problem["attributes"].values)
        none = np.full(len(rows), -1)
        return _grown(
            (own, attributes, theta[0], theta[1], problem["k"].as_py()),
            carrier[rows], kind[rows], none, rule, problem["draw"].as_py(), kernels,
        )  # fmt: skip

    apart = [np.flatnonzero(known == pattern) for pattern in numbered(known)[0]]
    threads = _threads(kernels, rule["threads"])
    group = np.full(len(known), -1)
    for rows, own in zip(apart, at_once(solve, apart, threads, len), strict=True):
        group[rows] = own
    return np.column_stack([known, case_no, group])


def _all_cases(
    of_cases: tuple[Ints, Ints, pa.ListScalar, pa.ListScalar], positions: Ints, vocabulary: int,
    weight_scale: int, kernels: Kernels,
) -> Cases:  # fmt: skip
    """The cases of several patterns side by side; ends of a QID that one does not know are 0.

    ``of_cases``: their numbers, what they know, boxes and terms.
    """
    case_no, known, boxes, terms = of_cases
    low, high = kernels(_SEARCH).boxes_by_case(boxes.values, case_no, positions, known)
    case_terms = terms_by_case(terms.values, case_no, vocabulary)
    return Cases(low, high, *case_terms, weight_scale=weight_scale)


def refine_groups(
    cases: pa.ChunkedArray,
    boxes: pa.ChunkedArray,
    terms: pa.ChunkedArray,
    attributes: pa.ChunkedArray,
    thresholds: pa.ChunkedArray,
    rules: pa.ChunkedArray,
) -> pa.Array:
    """``refine.refine_groups`` on columns of lists, one row a problem.

    Args:
        cases: STRUCT(case_no, known, carrier, kind, group_no)[]; group -1: none.
        boxes: as for ``group_patterns``; the places of the QIDs are dense from 0.
        terms: as for ``group_cases``, like attributes.
        attributes: see there.
        thresholds: STRUCT(num, den, attribute_no)[], by term from 0 on.
        rules: STRUCT(effort, alpha_num, alpha_den, diversity, attributes, k, weight_scale,
            threads).

    Returns:
        Lists of STRUCT(case_no, group_no, pattern): the group of each case, -1 for one that was not
        placed, and the QIDs that all of its members know, as a bit mask.

    Raises:
        ValueError: something is NULL or out of range.
    """
    rows = rows_of(cases, boxes, terms, attributes, thresholds, rules)
    results = [
        called(
            _REFINE,
            len(row[0]) if row[5]["effort"].as_py() == "fast" else None,
            partial(_refined, *row),
        )
        for row in rows
    ]
    return struct_lists(results, ["case_no", "group_no", "pattern"])


def _refined(
    cases: pa.ListScalar, boxes: pa.ListScalar, terms: pa.ListScalar, attributes: pa.ListScalar,
    thresholds: pa.ListScalar, rules: pa.StructScalar, kernels: Kernels,
) -> Ints:  # fmt: skip
    case_no, known, carriers, kind, told = by_first(uncopied(cases.values))
    carrier = carriers.astype(np.bool_)
    rule, qids = rules.as_py(), attributes.values
    theta_num, theta_den, attribute_of = fields(thresholds.values)
    positions = numbers(qids.field("place"))
    of_cases, refine = (case_no, known, boxes, terms), kernels(_REFINE)
    group = refine.refine_groups(
        _all_cases(of_cases, positions, len(theta_num), rule["weight_scale"], kernels),
        attributes_of(qids),
        theta_num,
        theta_den,
        rule["k"],
        Bounding(
            carrier=carrier,
            grows=np.ones_like(carrier),
            kind=kind.astype(np.int8),
            alpha_num=rule["alpha_num"],
            alpha_den=rule["alpha_den"],
        ),
        refine.Standing(
            known=known,
            group=told,
            effort=rule["effort"],
            diversity=rule["diversity"],
            attribute_of=attribute_of,
            attribute_count=rule["attributes"],
            threads=_threads(kernels, rule["threads"]),
        ),
    )
    shown = np.full(int(group.max(initial=-1)) + 2, -1)  # the last one of cases without a group
    np.bitwise_and.at(shown, group, known)
    return np.column_stack([case_no, group, shown[group]])


def place_units(
    case_nos: pa.ChunkedArray,
    roles: pa.ChunkedArray,
    boxes: pa.ChunkedArray,
    terms: pa.ChunkedArray,
    attributes: pa.ChunkedArray,
    thresholds: pa.ChunkedArray,
    rules: pa.ChunkedArray,
) -> pa.Array:
    """``cohorts.place_units`` on columns of lists, one row a problem.

    Args:
        case_nos: as for ``group_cases``, like boxes, terms, attributes and thresholds; the places
            of the QIDs are dense from 0.
        roles: STRUCT(known, goes_on, is_new, unit_no, group_no, free)[], aligned with the cases;
            group -1: none.
        boxes: see there.
        terms: see there.
        attributes: see there.
        thresholds: see there.
        rules: STRUCT(k, weight_scale).

    Returns:
        Lists of group numbers, aligned with the cases; -1: the case was not placed.

    Raises:
        ValueError: something is NULL or out of range.
    """
    from srsql.udfs.grouping import cohorts

    results = []
    for row in rows_of(case_nos, roles, boxes, terms, attributes, thresholds, rules):
        problem, _ = problem_of(row)
        role = row[1].values
        results.append(
            cohorts.place_units(
                *problem,
                cohorts.Staying(
                    goes_on=flags(role.field("goes_on")),
                    new=flags(role.field("is_new")),
                    known=numbers(role.field("known")),
                    unit=numbers(role.field("unit_no")),
                    group=numbers(role.field("group_no")),
                    free=flags(role.field("free")),
                ),
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
    from srsql.udfs.exact_search import boxes_by_case
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


def random_order(count: int, draw: str) -> Ints:
    """[count] the places of a random order that follows from the text ``draw`` alone."""
    seed = int.from_bytes(hashlib.sha256(draw.encode()).digest())
    return np.random.default_rng(seed).permutation(count)


def _pairs(pairs: pa.StructArray, slots: pa.StructArray, cases: Ints) -> Pairs:
    """What may be suppressed, and the slots of it; rows in the order of cases and terms."""
    from srsql.udfs.grouping.suppress import Pairs

    case, term, freed = by_case(pairs, cases)
    order = np.lexsort((term, case))
    return Pairs(case[order], term[order], freed[order], *by_case(slots, cases))


def suppress_surplus(
    excesses: pa.ChunkedArray, pairs: pa.ChunkedArray, slots: pa.ChunkedArray,
    draws: pa.ChunkedArray,
) -> pa.Array:  # fmt: skip
    """``suppress.suppress_surplus`` on columns of lists, one row a problem.

    Args:
        excesses: STRUCT(term_no, excess)[].
        pairs: STRUCT(case_no, term_no, freed)[].
        slots: STRUCT(case_no, term_no, slot_no, room)[].
        draws: text that decides the random order.

    Returns:
        Lists of STRUCT(case_no, term_no): what is to be suppressed.

    Raises:
        ValueError: something is NULL or out of range.
    """
    from srsql.udfs.grouping import suppress

    results = []
    for row in rows_of(excesses, pairs, slots, draws):
        term, excess = fields(row[0].values)
        order = np.argsort(term)
        cases = np.unique(numbers(row[1].values.field(0)))
        held = _pairs(row[1].values, row[2].values, cases)
        if not np.isin(held.term, term).all() or bool((excess < 1).any()):
            raise ValueError("a pair is of a value of which there is not too much")
        rank = random_order(len(held.case), row[3].as_py())
        lost = suppress.suppress_surplus(term[order], excess[order], held, rank)
        results.append(np.column_stack([cases[held.case[lost]], held.term[lost]]))
    return struct_lists(results, ["case_no", "term_no"])


_PLAIN = ("alpha_num", "alpha_den", "k", "weight_scale", "draw")


def suppress_leftovers(
    case_nos: pa.ChunkedArray, roles: pa.ChunkedArray, boxes: pa.ChunkedArray,
    terms: pa.ChunkedArray, attributes: pa.ChunkedArray, losable: pa.ChunkedArray,
    rules: pa.ChunkedArray,
) -> pa.Array:  # fmt: skip
    """``leftover_values.suppress_leftovers`` on columns of lists, one row a problem.

    Args:
        case_nos: as for ``group_cases``, like boxes and attributes.
        roles: STRUCT(carrier, kind, group_no)[]; group -1: left over.
        boxes: see there.
        terms: STRUCT(case_no, term_no, weight)[] of the values that leftovers hold.
        attributes: see there.
        losable: STRUCT(pairs STRUCT(case_no, term_no, freed)[], slots STRUCT(case_no, term_no,
            slot_no, room)[]) of these values.
        rules: STRUCT(alpha_num, alpha_den, k, weight_scale, draw, thresholds STRUCT(num, den)[]).

    Returns:
        Lists of STRUCT(case_no, group_no, term_no): a leftover and the group that it joins, term_no
        -1; or a case and the value that is suppressed of it, group_no -1.

    Raises:
        ValueError: something is NULL or out of range.
    """
    from srsql.udfs.exact_search import boxes_by_case
    from srsql.udfs.grouping import leftover_values as kernel

    results = []
    for row in rows_of(case_nos, roles, boxes, terms, attributes, losable, rules):
        cases, qids = flat(row[0]), row[4].values
        rule = {name: row[6][name].as_py() for name in _PLAIN}
        theta = fields(row[6]["thresholds"].values)
        low, high = boxes_by_case(row[2].values, cases, numbers(qids.field("place")))
        role = row[1].values
        known, group = dense_groups(numbers(role.field("group_no")))
        offsets, term, weight = terms_by_case(row[3].values, cases, len(theta[0]))
        held = np.repeat(np.arange(len(cases)), np.diff(offsets))
        order = np.lexsort((term, held))
        holding = Cases(low, high, offsets, term[order], weight[order], rule["weight_scale"])
        holding.check_boxes(attributes_of(qids))
        placing = kernel.Placing(
            group, flags(role.field("carrier")), numbers(role.field("kind")).astype(np.int8),
            rule["alpha_num"], rule["alpha_den"], rule["k"],
        )  # fmt: skip
        pairs = _pairs(row[5]["pairs"].values, row[5]["slots"].values, cases)
        order = random_order(len(term), rule["draw"])
        joined, lost = kernel.suppress_leftovers(
            holding, attributes_of(qids), (theta[0], theta[1]), placing, pairs, order
        )
        placed = np.flatnonzero((group < 0) & (joined >= 0))
        none = np.full(len(placed), -1)
        gone = np.full(int(lost.sum()), -1)
        results.append(np.vstack([
            np.column_stack([cases[placed], known[joined[placed]], none]),
            np.column_stack([cases[held[lost]], gone, holding.terms[lost]]),
        ]))  # fmt: skip
    return struct_lists(results, ["case_no", "group_no", "term_no"])
