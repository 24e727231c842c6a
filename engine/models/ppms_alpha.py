"""PPMS(k, theta, alpha)-bounding by the algorithm HA (Huang 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from srsql.engine.errors import ReleaseError
from srsql.engine.models.periodical import PeriodicalModel

FINEST = 10_000
"""Largest denominator of alpha: weights are counted in its parts, in 64 bits."""


@dataclass(frozen=True)
class PpmsAlpha(PeriodicalModel):
    """PPMS(k, theta, alpha)-bounding, Definition 7: also against MD- and SS-attacks.

    Every group has k cases that are new and absent from the next quarter; these remain whatever an
    attacker excludes, who may also know that the patient stops. Of what remains at most alpha has
    substantially many symptoms.
    """

    alpha: Fraction = Fraction(1, 2)
    """Largest share of cases with substantially many symptoms."""
    assume_md: Literal["none", "all"] = "none"
    """``all``: every case counts as stopping, for want of the next quarter; MD is then open."""

    name: ClassVar[str] = "ppms-alpha"
    from_last: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse parameters that bound nothing."""
        super().__post_init__()
        if not 0 < self.alpha <= 1 or self.alpha.denominator > FINEST:
            raise ReleaseError(
                f"--alpha {self.alpha}: give a share above 0, at most 1, to four decimals or as a "
                f"fraction with a denominator up to {FINEST:,}"
            )

    @property
    def attacks(self) -> tuple[str, ...]:
        """With the next quarter at hand all five."""
        defended = (*super().attacks, "md", "ss")
        return tuple(a for a in defended if a != "md" or self.assume_md == "none")

    @property
    def share(self) -> Fraction:
        """alpha."""
        return self.alpha

    @property
    def stopping(self) -> Literal["next", "all"]:
        """By the next quarter's cases, or assumed of all."""
        return "next" if self.assume_md == "none" else "all"

    @property
    def facts(self) -> dict[str, str]:
        """alpha, and whether stopping is known."""
        return {"alpha": str(self.alpha), "assume_md": self.assume_md}

    @property
    def _remaining(self) -> str:
        return (
            f"After every exclusion at least {self.k} distinct cases remain for any patient, no "
            "sensitive value is held by a larger share of them than its threshold, and at most "
            f"{self.alpha} of them have substantially many symptoms."
        )

    @property
    def _also(self) -> str:
        if self.assume_md == "all":
            return ", substantial-symptoms attacks"
        return ", medication-discontinuation and substantial-symptoms attacks"

    @property
    def _but(self) -> str:
        return " or stops after one" if self.assume_md == "all" else ""
