"""Kernels: what is sequential or random, and its registration with DuckDB.

The folders have the names of the engine's. A folder of the engine that needs one kernel has a
module here: ``lattice_node`` of lattice, ``nearest_records`` of risk, ``shrinkage`` of signals.
Several share ``grouping_problem`` (boxes, terms and losses as arrays), ``exact_search``,
``mechanisms`` (noise, choices) and ``arrow`` (columns as arrays).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""The integers of the kernels: numbers, places and counts."""
