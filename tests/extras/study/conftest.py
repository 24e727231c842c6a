from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.advice import task_of
from support.fixtures import db, kept

from srsql.engine.api.engine import Engine
from srsql.engine.extras.study.grid import Cell, Rules
from srsql.engine.extras.study.run import Workers
from srsql.engine.extras.study.worker import run_task
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

__all__ = ["db", "followed", "inside", "kept", "pretended"]


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


Work = Callable[[dict[str, Any]], list[dict[str, Any]]]


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Settings are measured within this process, one after the other; their labels."""

    def work(task: dict[str, Any]) -> list[dict[str, Any]]:
        (tmp_path / "own").mkdir()
        rows = run_task(task, lambda _: None)
        shutil.rmtree(tmp_path / "own")
        return rows

    return replaced(monkeypatch, tmp_path, work)


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Nothing is measured: risk falls and loss grows with k; their labels."""

    def work(task: dict[str, Any]) -> list[dict[str, Any]]:
        k = task["options"]["k"]
        if task.get("rows"):
            return rows_of(task["options"])
        cases = task["sample"][0] if task["sample"] else 60
        told: list[tuple[str, str | None, float, float]] = [
            ("withheld", "cases", 6, cases),
            ("withheld", "cases: no_group_fits", 6, cases),
            ("nil_star", "release", k / 100, 0),
            ("rr", "release", 1 / k / 2, 0),
            ("group_size", "min", k, 0),
            ("groups", None, 9, 0),
            ("k_effective", None, k, 0),
            ("fewest", "b,f,l", k, 0),
            ("confidence", "Ache", 1, k),
            ("release", None, 0, 0),
        ]
        return [
            {"measure": m, "scope": s, "violating": n, "total": total, "ratio": n}
            for m, s, n, total in told
        ]

    return replaced(monkeypatch, tmp_path, work)


def rows_of(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Whole rows keep all and hide nobody; smaller clusters keep more, and m = 2 fewer than 1."""
    size = options.get("term_cases")
    kept = 90 if size is None else 80 - size - 5 * options["m"]
    two = "2 of the drugs or terms, worst"
    return [
        {"measure": "release", "seconds": 1.0},
        {"measure": "candidates_below_k", "scope": two, "total": 60,
         "ratio": 0.95 if size is None else 0.0},
        {"measure": "pairs_kept", "scope": "mhra", "violating": kept, "total": 90},
        {"measure": "pairs_gained", "scope": "mhra", "violating": 0},
    ]  # fmt: skip


def replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, work: Work) -> list[str]:
    """``work`` in the place of workers; the labels of what it is given."""
    done: list[str] = []

    def run(
        warehouse: Warehouse,
        dataset: Dataset,
        todo: Sequence[tuple[Cell, Path]],
        quarters: list[str],
        rules: Rules,
        workers: Workers,
        more: Mapping[str, Any],
    ) -> dict[Path, str]:
        for cell, file in todo:
            assert warehouse.path is not None
            own = tmp_path / "own" / "w.duckdb"
            task = task_of(warehouse.path, own, quarters[0], dict(cell.options))
            rows = work(task | {"dataset": dataset.name, **more})
            file.write_text(json.dumps({"peak_mib": 1.0, "rows": rows}), encoding="utf-8")
            done.append(cell.label)
        return {}

    monkeypatch.setattr("srsql.engine.extras.study.rounds.run", run)
    monkeypatch.setattr("srsql.engine.extras.study.rounds.compile_apart", lambda _: None)
    return done
