"""k-anonymity (Sweeney 2002), as Lin 2016 compares with it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from srsql.engine.models.comparator import Comparator


@dataclass(frozen=True)
class KAnonymity(Comparator):
    """Every region is shared by at least k *reports*; groups grow by least dIL alone.

    Protects: whoever knows the quasi-identifiers of a report cannot tell it from k - 1 others.

    Does not protect: a patient with follow-ups fills a group alone (duplicates break it: k reports
    may be of one case), and no sensitive value is bounded, so a group may agree on one.
    """

    name: ClassVar[str] = "k-anonymity"
    family: ClassVar[str] = "k-anonymity"

    @property
    def claims(self) -> dict[str, Fraction]:
        """k reports."""
        return {"reports": Fraction(self.k)}

    @property
    def guarantee(self) -> str:
        """In words."""
        return (
            f"Every published region is shared by at least {self.k} reports, which may be of fewer "
            "cases, even of one: follow-ups break it. No sensitive value is bounded, so a region "
            f"may give one away. {self.limits}"
        )
