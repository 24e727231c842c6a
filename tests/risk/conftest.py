from __future__ import annotations

from support.fixtures import db, kept
from support.lattice_quarters import lattice_engine, lattice_warehouse

__all__ = ["db", "kept", "lattice_engine", "lattice_warehouse"]
