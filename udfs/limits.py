"""What keeps sums of whole numbers exact: for whoever asks without the kernels and NumPy."""

from __future__ import annotations

from fractions import Fraction

LIMIT = 2**61
"""Sums of losses, and of weights, stay below it."""
MAX_EPSILON = Fraction(50)
"""Largest epsilon of one choice: beyond, integer weights are too coarse to keep it."""
# 1 / |E(d)| and products of two of them are whole multiples of 1 / (232792560 x 27720) for all
# small |E(d)|; fewer digits are used only where n sums of them would overflow 64 bits.
WEIGHT_SCALES = (232792560 * 27720, 232792560 * 2520, 232792560 * 60, 232792560)


def weight_scale(cases: int) -> int:
    """The finest weight scale with which sums over so many cases stay within 62 bits."""
    fitting = (scale for scale in WEIGHT_SCALES if scale * max(cases, 1) < LIMIT)
    return next(fitting, WEIGHT_SCALES[-1])
