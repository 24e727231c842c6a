"""External knowledge E: how likely a disease is, given the drugs a case took (SPEC section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

# 1 / |E(d)| and products of two of them are whole multiples of 1 / (232792560 x 27720) for all
# small |E(d)|; fewer digits are used only where n sums of them would overflow 64 bits.
UNITS = (232792560 * 27720, 232792560 * 2520, 232792560 * 60, 232792560)


def weight_unit(cases: int) -> int:
    """Units per certain term that keep sums over ``cases`` cases within 62 bits."""
    return next((unit for unit in UNITS if unit * max(cases, 1) < 2**61), UNITS[-1])


def weight(sizes: Sequence[int], one: int) -> int:
    """1 - prod(1 - 1/|E(d)|) in units of 1 / one, rounded up so that no bound is understated."""
    miss = Fraction(1)
    for size in sizes:
        miss *= Fraction(size - 1, size)
    share = (1 - miss) * one
    return -(-share.numerator // share.denominator)
