"""PPMS++: PPMS(k, theta*)-bounding with new-case-core grouping (Wu 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.models.periodical import PeriodicalModel


@dataclass(frozen=True)
class PpmsPlus(PeriodicalModel):
    """Covers the earliest region; groups grow on new cases alone, then the others join them."""

    name: ClassVar[str] = "ppms++"
    core_only: ClassVar[bool] = True
