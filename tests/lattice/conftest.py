from __future__ import annotations

import pytest
from support.lattice_quarters import lattice_engine, lattice_warehouse

from srsql.engine.api.engine import Engine

__all__ = ["lattice_engine", "lattice_warehouse"]


@pytest.fixture
def engine(lattice_engine: Engine) -> Engine:
    return lattice_engine
