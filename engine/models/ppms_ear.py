"""PPMS_EAR: PPMS(k, theta*)-bounding that covers the earliest region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.models.periodical import PeriodicalModel


@dataclass(frozen=True)
class PpmsEar(PeriodicalModel):
    """An old case's QID covers its earliest region; groups are grown over all cases."""

    name: ClassVar[str] = "ppms-ear"
