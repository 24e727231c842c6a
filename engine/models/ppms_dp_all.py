"""PPMS-DP_all: every quasi-identifier perturbed (Wu 2022, Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from srsql.engine.models.perturbing import PerturbingModel


@dataclass(frozen=True)
class PpmsDpAll(PerturbingModel):
    """Noise on numbers and a random choice among nodes for categories; nothing needs covering."""

    name: ClassVar[str] = "ppms-dp-all"
    family: ClassVar[str] = "dp-all"
    categories: ClassVar[bool] = True
    carry: ClassVar[Literal["all", "new"]] = "new"
