"""Warehouses that tests start from, made once and copied."""

from __future__ import annotations

import shutil
from pathlib import Path

from support.quarters import Report, write_quarter

from srsql.engine.api.engine import Engine


def copied(folder: Path, target: Path, quarters: dict[str, list[Report]]) -> Path:
    """A warehouse at ``target`` with these quarters ingested, from a copy kept in ``folder``."""
    kept = folder / "w.duckdb"
    if not kept.exists():
        folder.mkdir(parents=True)
        building = folder / "building.duckdb"
        with Engine(building) as engine:
            files = [write_quarter(folder, q, r) for q, r in quarters.items()]
            engine.ingest(files, allow_incomplete=True)
        building.rename(kept)
    shutil.copy(kept, target)
    return target
