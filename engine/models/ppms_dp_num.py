"""PPMS-DP_num: numbers perturbed, categories generalized (Wu 2022, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from srsql.engine.models.perturbing import PerturbingModel


@dataclass(frozen=True)
class PpmsDpNum(PerturbingModel):
    """Noise on numbers; categories are generalized and cover all earlier releases of a case."""

    name: ClassVar[str] = "ppms-dp-num"
    family: ClassVar[str] = "dp-num"
    categories: ClassVar[bool] = False
    cover: ClassVar[Literal["none", "earliest", "all", "later"]] = "later"
    carry: ClassVar[Literal["all", "new"]] = "new"
