"""What the exact searches of the kernels are built from: integers, comparisons, a k-d tree.

A search compares candidates exactly: by dIL' = dIL x PR, then PR, then dIL (SPEC section 7). dIL is
an exact integer and PR = 1 + a sum of fractions sigma / (eta - sigma). Floats decide where two
candidates are clearly apart. Where they are not, equality is decided modulo a prime (equal
rationals have equal residues; two that differ although floats cannot tell share one with
probability 2**-31), and order, which is then next to never needed, by rational arithmetic.

A search looks for its candidates in a k-d tree over boxes. Boxes are split at the median of the low
or high end whose spread costs most, equal boxes at the median of a rank of their own. What a node
knows of its boxes is kept by the searches that use the tree, because they bound different things.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numba import objmode
from numpy.typing import NDArray

from srsql.udfs.columns import NO_CASE, Ints, place_table, uncopied
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.grouping_problem import GroupingProblem, Losses, Terms
from srsql.udfs.passed import by_address

Number = TypeVar("Number", bound=np.generic)

for _each in (Losses, Terms, GroupingProblem):
    by_address(_each)

NEAR = 1e-11
"""Relative distance up to which floats cannot tell two values apart: rounding may be all of it."""
PRIME = 2**31 - 1
LEAF_SIZE = 6
"""Boxes of a node that is not split any more."""
STACK = 512
"""Room for the nodes that wait in a search: not more than one for each level of the tree."""


@leaf()
def as_int64(value: int) -> int:
    """The value as a 64-bit integer: what a kernel starts to count with.

    A variable that begins as a literal or a narrower integer has every function that it is passed
    to compiled twice: for that, and for what the variable becomes.
    """
    return int(np.int64(value))


@njit(inline="always")
def row_of(values: NDArray[Number], at: int) -> NDArray[Number]:
    """``values[at]``, which has a dimension less."""
    row: NDArray[Number] = values[at]
    return row


def boxes_by_case(
    structs: pa.StructArray, cases: Ints, positions: Ints, known: Ints | None = None
) -> tuple[Ints, Ints]:
    """The boxes of cases as ``Cases`` has them.

    Args:
        structs: STRUCT(case_no, position, low, high).
        cases: [n] case numbers, ascending.
        positions: [d] the place of each QID, ascending.
        known: [n] the places of each case that count, as a bit mask; others, and other cases, may
            be there as well. None: all structs count.

    Returns:
        Low and high ends, [n, d] each; 0 where there is no struct that counts.

    Raises:
        ValueError: a box that counts is not of one of the cases, or of none of the QIDs; or it is
            not there.
    """
    case, place, low, high = uncopied(structs)
    low_ends, high_ends = np.zeros((2, len(cases), len(positions)), dtype=np.int64)
    table = place_table(cases, len(structs)) if len(cases) else None
    if table is None:
        table = np.empty(0, np.int64)
    every = np.empty(0, np.int64) if known is None else known
    entered = _enter_boxes(
        case, place, low, high, cases, table, every, positions, low_ends, high_ends
    )
    if entered < 0:
        raise ValueError(NO_CASE)
    if known is not None and entered != np.bitwise_count(known).sum():
        raise ValueError("a case knows a quasi-identifier that it has no box of, or more than one")
    return low_ends, high_ends


@leaf()
def _enter_boxes(
    case: NDArray[np.int32], place: NDArray[np.int32], low: Ints, high: Ints,
    cases: Ints, table: Ints, known: Ints, positions: Ints, low_ends: Ints, high_ends: Ints,
) -> int:  # fmt: skip
    """Write the boxes of cases to the rows of the cases and the columns of the positions.

    Args:
        case: [rows] the case of each end of a box, in any order, as for the next three.
        place: its position.
        low: its low end.
        high: its high end.
        cases: [n] case numbers, ascending.
        table: the place of each number from the first case on, -1 for one that is none; empty: it
            is looked up.
        known: [n] the positions that count, as a bit mask, of these cases alone; empty: all do.
        positions: [d]
        low_ends: [n, d] what is written to, as the next one.
        high_ends: see there.

    Returns:
        How many count; -1 where one that does is not of one of the cases, or of none of the
        positions.
    """
    n, d = low_ends.shape
    entered = as_int64(0)
    for j in range(len(case)):
        at = as_int64(case[j]) - cases[0] if n else as_int64(-1)
        if at < 0 or at > cases[n - 1] - cases[0]:
            at = as_int64(-1)
        elif len(table):
            at = as_int64(table[at])
        elif cases[n - 1] - cases[0] >= n:
            at = as_int64(np.searchsorted(cases, cases[0] + at))
            if cases[at] != case[j]:
                at = as_int64(-1)
        if len(known) and (at < 0 or known[at] >> place[j] & 1 == 0):
            continue
        i = as_int64(0)
        while i < d and positions[i] != place[j]:
            i += 1
        if at < 0 or i == d:
            return as_int64(-1)
        low_ends[at, i], high_ends[at, i] = low[j], high[j]
        entered += 1
    return entered


def warm_up_boxes() -> None:
    """Load what ``boxes_by_case`` calls from the cache, or compile it, for what statements give."""
    numbers, ends = np.zeros(1, np.int32), np.zeros(1, np.int64)
    for told in (numbers, ends):
        told.setflags(write=False)
    none, written = np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
    _enter_boxes(
        numbers, numbers, ends, ends, none, none[:0], none[:0], none, written, written.copy()
    )


@leaf()
def share_of(carriers: int, num: int, den: int, weight_scale: int) -> int:
    """num / den of so many carriers in units of 1 / weight scale, rounded down.

    Whole counts leave the floor of eq. (4) of Lin 2016. Where external knowledge makes sigma
    fractional nothing but the last unit is cut off (Definition 3). The product is split so that no
    part passes 62 bits for den <= 10**9.
    """
    share = carriers * num
    rest = share % den
    part = rest * (weight_scale // den) + rest * (weight_scale % den) // den
    return share // den * weight_scale + part


@leaf()
def near(a: float, b: float) -> bool:
    """Whether two values, 0 or more, are so close that their floats cannot tell them apart."""
    return abs(a - b) <= NEAR * max(a, b)


@leaf()
def inverse(x: int) -> int:
    """Inverse of ``x`` modulo the prime (Fermat)."""
    base = x % PRIME
    power = PRIME - 2
    result = 1
    while power:
        if power & 1:
            result = result * base % PRIME
        base = base * base % PRIME
        power >>= 1
    return result


def _small_inverses(count: int) -> Ints:
    """Inverses of 0 (left at 0), 1, 2 ... modulo the prime."""
    table = np.ones(count, np.int64)
    table[0] = 0
    for x in range(2, count):
        table[x] = (PRIME - PRIME // x) * int(table[PRIME % x]) % PRIME
    return table


SMALL_INVERSES = _small_inverses(4096)


@leaf()
def quotient(numerator: int, denominator: int) -> int:
    """numerator / denominator modulo the prime."""
    if denominator < len(SMALL_INVERSES):
        return int(numerator % PRIME * SMALL_INVERSES[denominator] % PRIME)
    return int(numerator % PRIME * inverse(denominator) % PRIME)


@leaf()
def residue(numerators: Ints, denominators: Ints) -> int:
    """1 + the sum of the fractions modulo the prime, the denominators being above 0."""
    total = 1
    for i in range(len(numerators)):
        total = (total + quotient(numerators[i], denominators[i])) % PRIME
    return total


def _rational_order(
    loss_a: int, numerators_a: Ints, denominators_a: Ints,
    loss_b: int, numerators_b: Ints, denominators_b: Ints,
) -> int:  # fmt: skip
    """-1, 0 or 1 as candidate a ranks before, level with or after b, by rational arithmetic."""
    a, b = (
        1 + sum((Fraction(int(n), int(d)) for n, d in zip(ns, ds, strict=True)), Fraction(0))
        for ns, ds in ((numerators_a, denominators_a), (numerators_b, denominators_b))
    )
    rank_a, rank_b = (loss_a * a, a, loss_a), (loss_b * b, b, loss_b)
    return int(rank_a > rank_b) - int(rank_a < rank_b)


@njit(nogil=False)  # numba warns of its part in Python, which takes the lock by itself
def exact_order(
    loss_a: int, numerators_a: Ints, denominators_a: Ints,
    loss_b: int, numerators_b: Ints, denominators_b: Ints,
) -> int:  # fmt: skip
    """-1, 0 or 1 as candidate a ranks before, level with or after b; both have a finite PR.

    Args:
        loss_a: dIL of a, in loss units.
        numerators_a: [terms] of the fractions whose sum is PR of a less 1.
        denominators_a: [terms] of the same fractions, above 0.
        loss_b: dIL of b; numerators_b and denominators_b are likewise those of b.
        numerators_b: see above.
        denominators_b: see above.

    Source: Lin 2016, eqs. (7) and (8); ties as SPEC section 7 breaks them.
    """
    residue_a = residue(numerators_a, denominators_a)
    residue_b = residue(numerators_b, denominators_b)
    if loss_a == loss_b:
        if residue_a == residue_b:
            return 0
    elif loss_a % PRIME * residue_a % PRIME == loss_b % PRIME * residue_b % PRIME:
        return -1 if loss_a > loss_b else 1  # equal dIL': the larger dIL has the less PR
    with objmode(order="int64"):
        order = _rational_order(
            loss_a, numerators_a, denominators_a, loss_b, numerators_b, denominators_b
        )
    return order


def exact_minima(
    owner: Ints, rows: Ints, value: Callable[[list[int]], Fraction]
) -> NDArray[np.bool_]:
    """Which candidates have exactly the least value of all that have the same owner.

    Args:
        owner: [n] of each candidate, ascending, from 0 on.
        rows: [n, w] numbers that decide its value.
        value: the value that one row of numbers stands for.

    Returns:
        [n] flags.
    """
    least = np.ones(len(owner), np.bool_)
    if not len(owner):
        return least
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    differ = np.minimum.reduceat(kind, starts) != np.maximum.reduceat(kind, starts)
    values: dict[int, Fraction] = {}
    for begin, end in zip(starts[differ], np.append(starts, len(owner))[1:][differ], strict=True):
        exact = []
        for k in kind[begin:end].tolist():
            if k not in values:
                values[k] = value(kinds[k].tolist())
            exact.append(values[k])
        minimum = min(exact)
        least[begin:end] = [x == minimum for x in exact]
    return least


@by_address
class BoxTree(NamedTuple):
    """A k-d tree over boxes; nodes are numbered as they are made, from the root, which is 0."""

    left: NDArray[np.int32]
    """[nodes] left child, -1 at a leaf."""
    right: NDArray[np.int32]
    """[nodes] right child, -1 at a leaf."""
    parent: NDArray[np.int32]
    """[nodes] parent, -1 at the root."""
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    """[nodes] the boxes of a node are ``order[begin:end]``."""
    order: NDArray[np.int32]
    """[boxes]"""
    leaf_of: NDArray[np.int32]
    """[boxes] the leaf that holds each box."""


@by_address
class Waiting(NamedTuple):
    """Scratch of a search: the nodes that wait, and what each of them leaves to hope for."""

    node: NDArray[np.int32]
    bound: Ints
    """[``STACK``]"""


@njit()
def new_waiting() -> Waiting:
    """Room for the nodes that wait."""
    return Waiting(np.empty(STACK, np.int32), np.empty(STACK, np.int64))


@leaf()
def hull_loss(losses: Losses, i: int, low: int, high: int) -> int:
    """The loss of one QID, in loss units; of a category the height of the enclosing node.

    Args:
        losses: of the d QIDs.
        i: which of them.
        low: least granule, or preorder number.
        high: largest one, at least ``low``.

    Source: Lin 2016, eq. (1), one summand.
    """
    if losses.numeric[i]:
        return int((high - low) * losses.weight[i])
    base = losses.start[i]
    node = low
    while losses.last[base + node] < high:
        node = losses.parent[base + node]
    return int(losses.height[base + node] * losses.weight[i])


@leaf()
def _widest_key(
    low: Ints, high: Ints, order: NDArray[np.int32], b: int, e: int, losses: Losses
) -> int:
    """The end (2i: low of QID i, 2i + 1: high) whose spread over the boxes costs most, or -1."""
    best, best_loss = -1, 0
    for i in range(low.shape[1]):
        for end in range(2):
            ends = low if end == 0 else high
            least = most = ends[order[b], i]
            for j in range(b + 1, e):
                value = ends[order[j], i]
                least = min(least, value)
                most = max(most, value)
            if most > least:
                loss = max(hull_loss(losses, i, least, most), 1)
                if loss > best_loss:
                    best, best_loss = 2 * i + end, loss
    return best


@njit()
def build_box_tree(low: Ints, high: Ints, rank: NDArray[np.float64], losses: Losses) -> BoxTree:
    """Build the tree over boxes.

    Args:
        low: [m, d] low ends, m at least 1.
        high: [m, d] high ends.
        rank: [m] by which equal boxes are split.
        losses: of the d QIDs, in which the spread of an end is measured.
    """
    m = low.shape[0]
    order = np.arange(m).astype(np.int32)
    size = max(1, 2 * m)
    left = np.full(size, -1, np.int32)
    right = np.full(size, -1, np.int32)
    parent = np.full(size, -1, np.int32)
    begin = np.zeros(size, np.int32)
    end = np.zeros(size, np.int32)
    leaf_of = np.zeros(m, np.int32)
    end[0] = m
    nodes = 1
    node = 0
    while node < nodes:
        b, e = begin[node], end[node]
        values = np.empty(e - b, np.float64)
        if e - b > LEAF_SIZE:
            key = _widest_key(low, high, order, b, e, losses)
            ends, i = low if key % 2 == 0 else high, key // 2
            for j in range(b, e):
                values[j - b] = rank[order[j]] if key < 0 else ends[order[j], i]
        else:
            values[:] = 0
        least = values.min()
        if values.max() == least:
            for j in range(b, e):
                leaf_of[order[j]] = node
            node += 1
            continue
        median = np.partition(values, (e - b) // 2)[(e - b) // 2]
        low_part = values < median if median > least else values == least  # what goes left
        split = b
        for j in range(b, e):
            if low_part[j - b]:
                order[split], order[j] = order[j], order[split]
                split += 1
        left[node], right[node] = nodes, nodes + 1
        parent[nodes], parent[nodes + 1] = node, node
        begin[nodes], end[nodes] = b, split
        begin[nodes + 1], end[nodes + 1] = split, e
        nodes += 2
        node += 1
    return BoxTree(
        left[:nodes].copy(),
        right[:nodes].copy(),
        parent[:nodes].copy(),
        begin[:nodes].copy(),
        end[:nodes].copy(),
        order,
        leaf_of,
    )
