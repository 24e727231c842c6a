"""MS(k, theta*)-bounding (Lin 2016): the model for a single release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.models.base import GroupingModel


@dataclass(frozen=True)
class Ms(GroupingModel):
    """MS(k, theta*)-bounding, Definition 3, by Algorithms 1 and 2.

    Protects: whoever knows a patient's quasi-identifiers and that the patient is in this release
    is left with at least k cases, and infers no sensitive value s with confidence above theta_s,
    with or without the external knowledge that was given.

    Does not protect: against joining releases of several quarters (a follow-up in one release
    narrows the candidates of another), against an attacker who knows some of the patient's terms
    already, or who knows the case id.
    """

    name: ClassVar[str] = "ms"
    family: ClassVar[str] = "single"

    @property
    def guarantee(self) -> str:
        """Definition 3 in words."""
        return (
            f"Every published region is shared by at least {self.k} distinct cases, and no "
            "sensitive value is held by a larger share of them than its threshold. This holds for "
            "this release alone: an attacker who joins releases of several quarters, knows some of "
            "a patient's terms, or knows a case id is not defended against."
        )
