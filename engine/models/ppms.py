"""PPMS(k, theta*)-bounding that covers all earlier regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from srsql.engine.models.periodical import PeriodicalModel


@dataclass(frozen=True)
class Ppms(PeriodicalModel):
    """An old case's QID covers all its earlier regions; groups are grown over all cases."""

    name: ClassVar[str] = "ppms"
    cover: ClassVar[Literal["none", "earliest", "all", "later"]] = "all"
