"""Substantially many symptoms: from how many values on a case counts as an ss case (Huang 2021)."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt


def cutoff(n: int, total: int, total_of_squares: int, multiplier: Fraction) -> int | None:
    """The least integer ``c`` with ``c >= mean + multiplier * sd``, by integers alone.

    Args:
        n: number of cases.
        total: sum of their numbers of values; ``total_of_squares`` the sum of the squares.
        total_of_squares: see ``total``.
        multiplier: how many population standard deviations above the mean; may be negative.

    Returns:
        The cutoff; None where the standard deviation is 0, so that no case stands out.

    Source:
        Huang 2021, Definition 6 and section 5 (multiplier 1). With ``x = c * n - total`` the
        condition is ``x >= multiplier * sqrt(n * total_of_squares - total ** 2)``.
    """
    spread = n * total_of_squares - total * total
    if spread <= 0:
        return None
    square = multiplier * multiplier * spread
    below = isqrt(square.numerator // square.denominator)
    exact = below * below == square
    least = -below if multiplier < 0 else below if exact else below + 1
    return -((-total - least) // n)
