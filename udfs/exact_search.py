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

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numba import njit, objmode
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.grouping.grouping_problem import Losses

NEAR = 1e-11
PRIME = 2**31 - 1
LEAF_SIZE = 6


@njit(cache=True)
def whole(value: int) -> int:
    """``value`` as a 64-bit integer.

    A variable that begins as a literal or a narrower integer has every function that it is passed
    to compiled twice: for that, and for what the variable becomes.
    """
    return int(np.int64(value))


@njit(cache=True)
def near(a: float, b: float) -> bool:
    """Whether floats of two non-negative values cannot tell them apart."""
    return abs(a - b) <= NEAR * max(a, b)


@njit(cache=True)
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


SMALL = _small_inverses(4096)


@njit(cache=True)
def quotient(numerator: int, denominator: int) -> int:
    """numerator / denominator modulo the prime."""
    if denominator < len(SMALL):
        return int(numerator % PRIME * SMALL[denominator] % PRIME)
    return int(numerator % PRIME * inverse(denominator) % PRIME)


@njit(cache=True)
def residue(numerators: Ints, denominators: Ints) -> int:
    """1 + the sum of the fractions, modulo the prime."""
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


@njit(cache=True)
def exact_order(
    loss_a: int, numerators_a: Ints, denominators_a: Ints,
    loss_b: int, numerators_b: Ints, denominators_b: Ints,
) -> int:  # fmt: skip
    """-1, 0 or 1 as candidate a ranks before, level with or after b; both PR are finite.

    Args:
        loss_a: dIL of a in loss units.
        numerators_a: sigma of each term of a that the group holds already.
        denominators_a: eta - sigma of the same terms.
        loss_b: the same for b, as the two that follow.
        numerators_b: see above.
        denominators_b: see above.
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


class Shape(NamedTuple):
    """Nodes 0.. in creation order, parents before children; node 0 is the root."""

    left: NDArray[np.int32]
    """Left child, -1 at a leaf."""
    right: NDArray[np.int32]
    up: NDArray[np.int32]
    """Parent, -1 at the root."""
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    """The node's boxes are ``order[begin:end]``."""
    order: NDArray[np.int32]
    leaf_of: NDArray[np.int32]
    """The leaf that holds each box."""


@njit(cache=True)
def hull_loss(losses: Losses, i: int, low: int, high: int) -> int:
    """Loss of QID ``i`` for the interval [low, high], in loss units (eq. (1), one summand)."""
    if losses.numeric[i]:
        return int((high - low) * losses.weight[i])
    base = losses.start[i]
    node = low
    while losses.last[base + node] < high:
        node = losses.parent[base + node]
    return int(losses.height[base + node] * losses.weight[i])


@njit(cache=True)
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


@njit(cache=True)
def build_shape(low: Ints, high: Ints, rank: NDArray[np.float64], losses: Losses) -> Shape:
    """Build the tree over the boxes ``low``, ``high`` ([m, d], m >= 1), equal ones by ``rank``."""
    m = low.shape[0]
    order = np.arange(m).astype(np.int32)
    size = max(1, 2 * m)
    left = np.full(size, -1, np.int32)
    right = np.full(size, -1, np.int32)
    up = np.full(size, -1, np.int32)
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
        up[nodes], up[nodes + 1] = node, node
        begin[nodes], end[nodes] = b, split
        begin[nodes + 1], end[nodes + 1] = split, e
        nodes += 2
        node += 1
    return Shape(
        left[:nodes].copy(),
        right[:nodes].copy(),
        up[:nodes].copy(),
        begin[:nodes].copy(),
        end[:nodes].copy(),
        order,
        leaf_of,
    )
