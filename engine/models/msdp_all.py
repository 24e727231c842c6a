"""MSDP_all: PPMS-DP_all on a single quarter (Lin and Shen 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.models.perturbing import PerturbingModel


@dataclass(frozen=True)
class MsdpAll(PerturbingModel):
    """As ``ppms-dp-all`` on a quarter of its own: no earlier release counts."""

    name: ClassVar[str] = "msdp-all"
    family: ClassVar[str] = "single-dp"
    categories: ClassVar[bool] = True
