"""The grouping problem as the compiled code takes it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.grouping.privacy_risk import Terms
from srsql.udfs.problem import Ints, Losses


class Task(NamedTuple):
    """Boxes, terms and bounds of n cases."""

    low: Ints
    """[n, d]"""
    high: Ints
    losses: Losses
    terms: Terms
    theta_num: Ints
    theta_den: Ints
    k: int
    carrier: NDArray[np.bool_]
    """[n] counts towards k and in eta."""
    kind: NDArray[np.int8]
    """[n] see ``Bounding``."""
    alpha_num: int
    alpha_den: int
