from __future__ import annotations

from support.fixtures import kept
from support.lattice_quarters import lattice_engine, lattice_warehouse

__all__ = ["kept", "lattice_engine", "lattice_warehouse"]
