"""The model that releases counts alone: ``tables``, SPEC section 19."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.models.base import GroupingModel
from srsql.engine.parameters import facts_of
from srsql.engine.shapes.region_counts import RegionCounts
from srsql.engine.shapes.regions import Shape


@dataclass(frozen=True)
class CountTables(GroupingModel):
    """Counts of cases by region, by stratum, by item and by pair of items; no row of any case.

    Protects: whoever knows a patient's quasi-identifiers and the release that counts the patient
    first is left with at least k cases, and what counts tell of two items forces no sensitive one
    above its threshold (``COUNTS_CLAIM``).

    Why: the groups are those of MS(k, theta*)-bounding without items, made of the cases that no
    earlier release of the series has (rule R6). So every region counts k cases or more, strata are
    functions of regions (R1), and two releases count different cases, which no id joins.

    Does not protect: what the claim leaves open, and audiences who add other data of the same
    cases, such as rows of another series.
    """

    name: ClassVar[str] = "tables"
    family: ClassVar[str] = "tables"
    shape: ClassVar[Shape] = RegionCounts()

    @property
    def guarantee(self) -> str:
        """What is released; the claim of counts follows it."""
        return (
            "No row of a case is released, and no id. Every published region counts at least "
            f"{self.k} distinct cases, which no earlier release of the series has."
        )

    @property
    def public_facts(self) -> dict[str, str | int]:
        """That there are no rows."""
        return {"rows_of_cases": "none", **facts_of(self)}
