from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from srsql.engine.api.engine import Engine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where warehouses that many tests start from are kept."""
    return tmp_path_factory.mktemp("kept")
