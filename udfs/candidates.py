"""Comparing candidates exactly: ``dIL' = dIL x PR`` without rational arithmetic.

dIL is an exact integer. PR is a sum of fractions sigma / (eta - sigma); it is computed as a float,
and where two products lie within ``NEAR`` of each other, equality is decided by the value of the
fraction modulo a prime (equal fractions have equal residues; two unequal ones that are also that
close share a residue with probability 2**-31). So ties of SPEC section 7 are ties of the exact
rational values, not of their floating-point images.
"""

from __future__ import annotations

from numba import njit

NEAR = 1e-9
PRIME = 2**31 - 1


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def near(a: float, b: float) -> bool:
    """Whether two non-negative values are too close for floats to tell them apart."""
    return abs(a - b) <= NEAR * max(a, b)


@njit(cache=True, nogil=True)
def compare_products(
    loss_a: int, risk_a: float, residue_a: int, loss_b: int, risk_b: float, residue_b: int
) -> int:
    """-1, 0 or 1 as candidate a ranks before, level with or after b: dIL', then PR, then dIL.

    Args:
        loss_a, loss_b: dIL in loss units.
        risk_a, risk_b: PR as floats, finite, at least 1.
        residue_a, residue_b: PR modulo the prime.
    """
    product_a, product_b = loss_a * risk_a, loss_b * risk_b
    level = near(product_a, product_b)
    if level and loss_a != loss_b:
        level = loss_a % PRIME * residue_a % PRIME == loss_b % PRIME * residue_b % PRIME
        if level:
            return -1 if loss_a > loss_b else 1  # equal products: the larger loss has the less PR
    if not level:
        return -1 if product_a < product_b else 1
    if near(risk_a, risk_b) and residue_a == residue_b:
        return 0
    return -1 if risk_a < risk_b else 1
