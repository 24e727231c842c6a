"""Fixtures that several folders have; the ``conftest.py`` of each imports those that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.files import copied
from support.quarters import crowd

from srsql.engine.api.engine import Engine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A warehouse with nothing in it."""
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where warehouses that many tests of a folder start from are kept."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def db(kept: Path, tmp_path: Path) -> Path:
    """A warehouse with 2011Q3 and 2011Q4, nothing released; half the cases are in both."""
    quarters = {"2011Q3": crowd(60), "2011Q4": crowd(60, first=31, version=2)}
    return copied(kept / "two quarters", tmp_path / "w.duckdb", quarters)
