"""The uniform row in which every check and every metric is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class MeasureRow:
    """The uniform row of every check and metric (see ``sql_macros/loss.sql``)."""

    release: int
    measure: str
    scope: str
    violating: float | None
    total: float | None
    ratio: float | None
    threshold: float | None
    passed: bool | None


Measure = tuple[Any, ...]
"""release, measure, scope, violating, total, ratio, threshold, passed."""
