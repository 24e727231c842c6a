"""Warehouses with real data: ingested once for all tests and workers, then copied."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.real_data import DATA

from srsql.engine.api.engine import Engine

SOURCES = {
    "2022Q4": DATA / "faers" / "faers_ascii_2022Q4.zip",
    "als": DATA / "faers_als",
    "vaers": DATA / "vaers",
}
Real = Callable[[str, Path], Path]


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Real:
    """``real(name, target)``: a copy of the warehouse of that name at ``target``."""
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "ingested"
    shared.mkdir(exist_ok=True)

    def copied(name: str, target: Path) -> Path:
        kept = shared / f"{name}.duckdb"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not kept.exists():
                building = shared / f"{name}.building"
                with Engine(building) as engine:
                    dataset = "vaers" if name == "vaers" else "faers"
                    engine.ingest(
                        [SOURCES[name]], dataset=dataset, allow_incomplete=name == "2022Q4"
                    )
                building.rename(kept)
        return Path(shutil.copy(kept, target))

    return copied
