from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.archives import pack
from support.fixtures import engine

from srsql.engine.ingest import IngestedPeriod, IngestOptions, ingest
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import load_dataset

__all__ = ["engine"]


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    with Warehouse(tmp_path / "test.duckdb") as opened:
        yield opened


@pytest.fixture
def take(warehouse: Warehouse, tmp_path: Path) -> Callable[..., IngestedPeriod]:
    """Ingest one archive made of ``files``; every rate passes unless the test says."""

    def take(
        files: dict[str, str | bytes], dataset: str = "faers", **options: Any
    ) -> IngestedPeriod:
        path = pack(tmp_path / f"archive{len(list(tmp_path.iterdir()))}.zip", files)
        options = {"max_reject_rate": 1.0, "max_unread": 1.0, "allow_incomplete": True} | options
        (result,) = ingest(warehouse, [path], load_dataset(dataset), IngestOptions(**options))
        assert all(file.records == file.loaded + file.rejected for file in result.files)
        return result

    return take
