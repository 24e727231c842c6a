"""Settings of an advice, measured within this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

OPTIONS: dict[str, Any] = {"missing": "keep", "on_infeasible": "withhold", "seed": 0}
"""What a setting is released with where nothing else is asked."""


def task_of(db: Path, scratch: Path, quarter: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The task of a worker."""
    return {
        "snapshot": str(db),
        "scratch": str(scratch),
        "dataset": None,
        "quarters": [quarter],
        "series": "main",
        "sample": None,
        "options": OPTIONS | dict(options),
        "threads": 2,
        "memory_limit": "2GiB",
    }
