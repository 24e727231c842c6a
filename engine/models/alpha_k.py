"""(alpha, k)-anonymity (Wong et al. 2006), as Lin 2016 compares with it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.thresholds import MAX_DENOMINATOR
from srsql.engine.models.comparator import Comparator


@dataclass(frozen=True)
class AlphaK(Comparator):
    """Every region has at least k *reports*, and at most alpha of them hold any one value.

    MS(k, theta*)-bounding with one threshold for all, by reports: the same algorithm and PR.

    Protects: whoever knows the quasi-identifiers of a report cannot tell it from k - 1 others, nor
    infer a value of it with confidence above alpha.

    Does not protect: duplicates break both (reports of one case count as many; of the cases that
    remain, more than alpha may hold a value); one alpha suits neither rare nor frequent values.
    """

    alpha: Fraction = Fraction(2, 5)
    """Largest share of a region's reports that hold a value."""

    name: ClassVar[str] = "alpha-k"
    family: ClassVar[str] = "alpha-k"

    def __post_init__(self) -> None:
        """Refuse parameters that bound nothing or cannot be counted."""
        super().__post_init__()
        if not 0 < self.alpha <= 1 or self.alpha.denominator > MAX_DENOMINATOR:
            raise ReleaseError(
                f"--alpha {self.alpha}: give a share above 0, at most 1, to nine decimals or as a "
                f"fraction with a denominator up to {MAX_DENOMINATOR:,}"
            )

    @property
    def most(self) -> Fraction:
        """alpha."""
        return self.alpha

    @property
    def claims(self) -> dict[str, Fraction]:
        """k reports, alpha."""
        return {"reports": Fraction(self.k), "alpha": self.alpha}

    @property
    def facts(self) -> dict[str, str | int]:
        """alpha, too."""
        return {**super().facts, "alpha": str(self.alpha)}

    @property
    def guarantee(self) -> str:
        """In words."""
        return (
            f"Every published region is shared by at least {self.k} reports, and no sensitive "
            f"value is held by more than {self.alpha} of them. Reports may be of fewer cases: "
            f"follow-ups break both. {self.limits}"
        )
