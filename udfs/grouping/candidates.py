"""Comparing candidates exactly: by dIL' = dIL x PR, then PR, then dIL (SPEC section 7).

dIL is an exact integer and PR = 1 + a sum of fractions sigma / (eta - sigma). Floats decide where
two candidates are clearly apart. Where they are not, equality is decided modulo a prime (equal
rationals have equal residues; two that differ although floats cannot tell share one with
probability 2**-31), and order, which is then next to never needed, by rational arithmetic.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numba import njit, objmode
from numpy.typing import NDArray

NEAR = 1e-11
PRIME = 2**31 - 1

Ints = NDArray[np.int64]


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
