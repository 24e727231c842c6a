from __future__ import annotations

from pathlib import Path

import pytest
from support.files import copied
from support.quarters import crowd


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def db(kept: Path, tmp_path: Path) -> Path:
    """A warehouse with 2011Q3 and 2011Q4, nothing released."""
    quarters = {"2011Q3": crowd(60), "2011Q4": crowd(60, first=31, version=2)}
    return copied(kept / "compare", tmp_path / "w.duckdb", quarters)
