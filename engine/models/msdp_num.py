"""MSDP_num: PPMS-DP_num on a single quarter (Lin and Shen 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.models.perturbing import PerturbingModel


@dataclass(frozen=True)
class MsdpNum(PerturbingModel):
    """As ``ppms-dp-num`` on a quarter of its own: no earlier release counts."""

    name: ClassVar[str] = "msdp-num"
    family: ClassVar[str] = "single-dp"
    categories: ClassVar[bool] = False
