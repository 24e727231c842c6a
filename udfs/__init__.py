"""Kernels: what is sequential or random, and its registration with DuckDB."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""The integers of the kernels: numbers, places and counts."""
