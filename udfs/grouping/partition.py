"""Grouping from the top down for multi-sensitive l-diversity (Gal et al. 2008; Lin 2016).

All cases are one group at first. A group is split along the quasi-identifier that is widest in it,
a number at its median, a category into the children of the node that encloses all, if every part
keeps l distinct values of each sensitive attribute, held by l cases; else along the next widest; a
group that cannot be split is done. Nothing is drawn, and every level of splits looks at each case a
few times.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import njit
from srsql.udfs.exact_search import as_int64, hull_loss, warm_up_boxes
from srsql.udfs.grouping_problem import Attributes, Cases, Losses, integer_losses


def partition_cases(
    cases: Cases, attributes: Attributes, attribute_of: Ints, attribute_count: int, diversity: int
) -> NDArray[np.int32]:
    """Partition cases so that every group is l-diverse in each sensitive attribute.

    Args:
        cases: n records in case-id order; their terms are values of one attribute each, and weights
            do not matter.
        attributes: the d QIDs; a categorical box is that of one node.
        attribute_of: [V] the sensitive attribute of each value, from 0.
        attribute_count: how many sensitive attributes there are.
        diversity: l, at least 1: distinct values of each, and cases that hold one of it.

    Returns:
        [n] group numbers in the order of their first cases; all -1 where not even all cases
        together have enough.

    Raises:
        ValueError: an attribute or a box is out of range.

    Source: Gal et al. 2008, as Lin 2016 compares with it; SPEC section 13.
    """
    n = len(cases.low)
    if diversity < 1 or attribute_count < 0:
        raise ValueError("l must be 1 or more, and attributes cannot be fewer than none")
    if len(attribute_of) and not (attribute_of.min() >= 0 and attribute_of.max() < attribute_count):
        raise ValueError("the attribute of a value is out of range")
    if len(cases.terms) and int(cases.terms.max()) >= len(attribute_of):
        raise ValueError("a value has no attribute")
    cases.check_boxes(attributes)
    losses, _ = integer_losses(attributes, n)
    return np.asarray(
        _partition(
            np.ascontiguousarray(cases.low, np.int64),
            np.ascontiguousarray(cases.high, np.int64),
            losses,
            cases.offsets.astype(np.int64),
            cases.terms.astype(np.int32),
            attribute_of.astype(np.int64),
            int(attribute_count),
            int(diversity),
        )
    )


def warm_up() -> None:
    """Load the compiled kernel from the cache, or compile it (once per installation)."""
    warm_up_boxes()
    ends = np.arange(6, dtype=np.int64)[:, None]
    values = np.arange(6, dtype=np.int32)
    offsets = np.arange(7, dtype=np.int64)
    none = np.empty(0, np.int64)
    partition_cases(
        Cases(ends, ends, offsets, values, np.ones(6, np.int64), 1),
        Attributes(np.array([5]), np.array([0, 0]), none, none, none),
        np.zeros(6, np.int64),
        1,
        2,
    )


@njit()
def _partition(
    low: Ints, high: Ints, losses: Losses, offsets: Ints, values: NDArray[np.int32],
    attribute_of: Ints, attribute_count: int, diversity: int,
) -> NDArray[np.int32]:  # fmt: skip
    """As ``partition_cases``; the terms of the cases are ``values``."""
    n = len(low)
    order = np.arange(n)
    group = np.full(n, -1, np.int32)
    last_stamp = np.full(len(attribute_of), -1, np.int64)
    stamp = as_int64(0)
    if n == 0 or not _diverse(
        order, as_int64(0), n, offsets, values, attribute_of, attribute_count, diversity,
        last_stamp, stamp,
    ):  # fmt: skip
        return group
    begins, ends = [0], [n]
    while len(begins):
        b, e = begins.pop(), ends.pop()
        split = False
        if e - b >= 2 * diversity:  # each part needs that many cases
            for i in _by_width(low, high, losses, order, b, e):
                if losses.numeric[i]:
                    part, parts = _halves(low, high, order, b, e, i)
                else:
                    part, parts = _children(low, high, losses, order, b, e, i)
                if parts < 2:
                    continue
                edges = _arrange(order, b, e, part, parts)
                split = True
                for p in range(parts):
                    stamp += 1
                    if not _diverse(
                        order, edges[p], edges[p + 1], offsets, values, attribute_of,
                        attribute_count, diversity, last_stamp, stamp,
                    ):  # fmt: skip
                        split = False
                        break
                if split:
                    for p in range(parts):
                        begins.append(int(edges[p]))
                        ends.append(int(edges[p + 1]))
                    break
        if not split:
            first = order[b]
            for at in range(b, e):
                first = min(first, order[at])
            for at in range(b, e):
                group[order[at]] = first
    firsts = np.full(n, -1, np.int32)  # first case of a group -> its number
    count = 0
    for r in range(n):
        if firsts[group[r]] < 0:
            firsts[group[r]] = count
            count += 1
        group[r] = firsts[group[r]]
    return group


@njit()
def _diverse(
    order: Ints, b: int, e: int, offsets: Ints, values: NDArray[np.int32], attribute_of: Ints,
    attribute_count: int, diversity: int, last_stamp: Ints, stamp: int,
) -> bool:  # fmt: skip
    """Whether the cases ``order[b:e]`` are l-diverse in each of the attributes.

    ``last_stamp`` [V] holds the ``stamp`` of the call that last met a value.
    """
    if e - b < diversity:
        return False
    distinct, holders = np.zeros(attribute_count, np.int64), np.zeros(attribute_count, np.int64)
    last = np.full(attribute_count, -1, np.int64)
    short = 2 * attribute_count
    for at in range(b, e):
        if short == 0:
            return True
        r = order[at]
        for j in range(offsets[r], offsets[r + 1]):
            v = values[j]
            a = attribute_of[v]
            if last_stamp[v] != stamp:
                last_stamp[v] = stamp
                distinct[a] += 1
                short -= distinct[a] == diversity
            if last[a] != r:
                last[a] = r
                holders[a] += 1
                short -= holders[a] == diversity
    return bool(short == 0)


@njit()
def _by_width(low: Ints, high: Ints, losses: Losses, order: Ints, b: int, e: int) -> Ints:
    """The quasi-identifiers in which these cases differ, widest first, equal ones by position."""
    d = low.shape[1]
    widths = np.zeros(d, np.int64)
    for i in range(d):
        least, most = low[order[b], i], high[order[b], i]
        for at in range(b + 1, e):
            least = min(least, low[order[at], i])
            most = max(most, high[order[at], i])
        widths[i] = hull_loss(losses, i, least, most)
    ranked = np.argsort(-widths, kind="mergesort")
    return ranked[: (widths > 0).sum()]


@njit()
def _halves(low: Ints, high: Ints, order: Ints, b: int, e: int, i: int) -> tuple[Ints, int]:
    """0 up to the (lower) median of the midpoints of QID ``i``, 1 above it.

    Where nothing lies above the median, 0 below it and 1 from it on.
    """
    points = np.empty(e - b, np.int64)
    for at in range(b, e):
        points[at - b] = low[order[at], i] + high[order[at], i]
    middle = (e - b - 1) // 2
    median = np.partition(points, middle)[middle]
    above = (points > median).astype(np.int64)
    if above.any():
        return above, 2
    above = (points == median).astype(np.int64)
    return above, 2 - int(above.all())


@njit()
def _children(
    low: Ints, high: Ints, losses: Losses, order: Ints, b: int, e: int, i: int
) -> tuple[Ints, int]:
    """The child, of the lowest node that encloses all, that each case lies in; numbered from 0.

    Cases at the node itself are a part of their own.
    """
    base = losses.start[i]
    least, most = low[order[b], i], high[order[b], i]
    for at in range(b + 1, e):
        least = min(least, low[order[at], i])
        most = max(most, high[order[at], i])
    top = least
    while losses.last[base + top] < most:
        top = losses.parent[base + top]
    child = np.empty(e - b, np.int64)
    number = np.full(losses.last[base + top] - top + 1, -1, np.int64)
    for at in range(b, e):
        node = low[order[at], i]
        while node != top and losses.parent[base + node] != top:
            node = losses.parent[base + node]
        child[at - b] = node - top
        number[node - top] = 0
    parts = 0
    for node in range(len(number)):
        if number[node] == 0:
            number[node] = parts
            parts += 1
    return number[child], parts


@njit()
def _arrange(order: Ints, b: int, e: int, part: Ints, parts: int) -> Ints:
    """Sort ``order[b:e]`` by part, keeping the order within; [parts + 1] where each begins."""
    edges = np.zeros(parts + 1, np.int64)
    for p in part:
        edges[p + 1] += 1
    edges[0] = b
    for p in range(parts):
        edges[p + 1] += edges[p]
    to = edges[:-1].copy()
    before = order[b:e].copy()
    for at in range(e - b):
        order[to[part[at]]] = before[at]
        to[part[at]] += 1
    return edges
