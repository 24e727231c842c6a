from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.advice import task_of
from support.files import copied
from support.quarters import crowd

from srsql.engine.advise.worker import run_setting
from srsql.engine.compare.grid import Cell, Rules
from srsql.engine.engine import Engine
from srsql.engine.warehouse import Warehouse
from srsql.schemas import Dataset


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def db(kept: Path, tmp_path: Path) -> Path:
    """A warehouse with 2011Q3 and 2011Q4, nothing released; half the cases are in both."""
    quarters = {"2011Q3": crowd(60), "2011Q4": crowd(60, first=31, version=2)}
    return copied(kept / "advise", tmp_path / "w.duckdb", quarters)


@pytest.fixture
def followed(db: Path, kept: Path) -> Path:
    """The same, 2011Q3 released by ppms++ in the series main."""
    ready = kept / "followed.duckdb"
    if not ready.exists():
        building = shutil.copy(db, kept / "building.duckdb")
        with Engine(building) as engine:
            engine.release("2011Q3", model="ppms++", seed=1)
        Path(building).rename(ready)
    shutil.copy(ready, db)
    return db


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Settings are measured within this process, one after the other; their labels."""
    done: list[str] = []

    def run(
        warehouse: Warehouse,
        dataset: Dataset,
        todo: Sequence[tuple[Cell, Path]],
        quarters: list[str],
        rules: Rules,
        jobs: int | None,
        progress: Callable[[str], None] | None,
        module: str,
        more: Mapping[str, Any],
    ) -> dict[Path, str]:
        for cell, file in todo:
            assert warehouse.path is not None
            folder = tmp_path / f"own-{len(done)}"
            folder.mkdir()
            task = task_of(warehouse.path, folder / "w.duckdb", quarters[0], dict(cell.options))
            rows = run_setting(task | {"dataset": dataset.name, **more}, lambda _: None)
            file.write_text(json.dumps({"peak_mib": 1.0, "rows": rows}), encoding="utf-8")
            shutil.rmtree(folder)
            done.append(cell.label)
        return {}

    monkeypatch.setattr("srsql.engine.advise.advise.run", run)
    return done
