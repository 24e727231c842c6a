"""(X, Y)-anonymity (Wang and Fung 2006), as Lin 2016 compares with it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from srsql.engine.grouping.cases import Records
from srsql.engine.models.comparator import Comparator


@dataclass(frozen=True)
class XyAnonymity(Comparator):
    """Every region (X) is shared by at least k distinct cases (Y); groups grow by least dIL alone.

    MS(k, theta*)-bounding without theta*: all reports of a case are one record.

    Protects: whoever knows a patient's quasi-identifiers is left with at least k cases.

    Does not protect: no sensitive value is bounded, so all cases of a region may share one.
    """

    name: ClassVar[str] = "xy-anonymity"
    family: ClassVar[str] = "xy-anonymity"
    records: ClassVar[Records] = "case"
    keeps: ClassVar[frozenset[str]] = frozenset({"k"})
    unpublishable: ClassVar[str] = ""

    @property
    def claims(self) -> dict[str, Fraction]:
        """k cases."""
        return {"k": Fraction(self.k)}

    @property
    def guarantee(self) -> str:
        """In words."""
        return (
            f"Every published region is shared by at least {self.k} distinct cases. No sensitive "
            f"value is bounded, so a region may give one away. {self.limits}"
        )
