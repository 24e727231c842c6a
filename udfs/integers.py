"""Integers of one type: what a kernel counts with from the start."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def whole(value: int) -> int:
    """``value`` as a 64-bit integer.

    A variable that begins as a literal or a narrower integer has every function that it is passed
    to compiled twice: for that, and for what the variable becomes.
    """
    return int(np.int64(value))
