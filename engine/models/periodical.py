"""What the models for series share: PPMS(k, theta*)-bounding (Huang 2021, section 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from srsql.engine.models.base import GroupingModel


@dataclass(frozen=True)
class PeriodicalModel(GroupingModel):
    """PPMS(k, theta*)-bounding, Definition 4: QID-bounding and NC-bounding.

    Protects: whoever knows a patient's quasi-identifiers and that the patient is in some release of
    the series, new in it or not, and joins all its releases, is left with at least k cases, and
    infers no sensitive value s with confidence above theta_s.

    Why: every group has k new cases, and no later region of theirs fails to cover their first one.
    So no backward, forward or latest attack excludes a new case of any group that covers the
    target, and sigma_s <= theta_s |new|. What holds in each covering group holds in their union:
    safety at scope=group implies safety at scope=match.

    Does not protect: against an attacker who knows that the patient is in two quarters in a row
    (persistence), or stops, or some of the patient's terms, or the case id; nor against audiences
    who put their series together.
    """

    family: ClassVar[str] = "periodical"
    cover: ClassVar[Literal["none", "earliest", "all", "later"]] = "earliest"
    carry: ClassVar[Literal["all", "new"]] = "new"
    after_join: ClassVar[bool] = True

    @property
    def attacks(self) -> tuple[str, ...]:
        """Backward, forward and latest attacks."""
        return ("b", "f", "l")

    @property
    def guarantee(self) -> str:
        """Definition 4 in words."""
        return (
            f"{self._remaining} This holds against an attacker who knows a patient's "
            "quasi-identifiers and joins all releases of this series (backward, forward and latest "
            f"attacks{self._also}). An attacker who knows that a patient is in consecutive "
            f"quarters{self._but}, knows some of a patient's terms, or knows a case id is not "
            "defended against."
        )

    @property
    def _remaining(self) -> str:
        return (
            f"After every exclusion at least {self.k} distinct cases remain for any patient, and "
            "no sensitive value is held by a larger share of them than its threshold."
        )

    @property
    def _also(self) -> str:
        return ""

    @property
    def _but(self) -> str:
        return " or stops after one"
