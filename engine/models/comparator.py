"""What the comparators of Lin 2016 share: models that others are measured against."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from srsql.engine.grouping.cases import Records, gather_pieces
from srsql.engine.models.base import GroupingModel
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

OF_REPORTS = (
    "which counts reports: a region may be that of a single patient with several reports. It is "
    "made to be compared with; publish a release of ms or ppms++"
)


@dataclass(frozen=True)
class Comparator(GroupingModel):
    """Groups as a model before MS(k, theta*)-bounding makes them, by the same greedy clustering.

    k and theta of MS(k, theta*)-bounding are not kept; metrics tell how far each release breaks
    them (DR, DIR, group sizes in distinct cases), which is what Lin 2016 compares. Every comparator
    is a family of its own: its releases follow none of another model in a series.

    Where reports are grouped, each has its group's region, so a case may have several; a case that
    has several reports in a group is one case to every measure.

    None withstands joining releases of several quarters, knowing some of a patient's terms or
    external knowledge of what drugs are taken for.
    """

    records: ClassVar[Records] = "report"
    keeps: ClassVar[frozenset[str]] = frozenset()
    unpublishable: ClassVar[str] = OF_REPORTS
    held: ClassVar[str] = "temp.main.srsql_bound_term"
    thresholds: ClassVar[str] = "temp.main.srsql_bound_theta"

    @property
    def most(self) -> Fraction | None:
        """Largest share of a group's records that may hold a value; None: any."""
        return None

    @property
    def words(self) -> str:
        """What is kept, in a few words."""
        return ", ".join(
            f"{bound} {claim}" if claim in ("reports", "values") else claim
            for claim, bound in self.claims.items()
        )

    @property
    def facts(self) -> dict[str, str | int]:
        """What is kept, and whether such a release may leave the house."""
        return {
            "keeps": self.words,
            "publication": "refused" if self.unpublishable else "allowed",
        }

    @property
    def limits(self) -> str:
        """What every comparator leaves open, in words for the manifest."""
        return (
            f"Thresholds of sensitive values are not kept; risk is measured by them and k = "
            f"{self.k} distinct cases. An attacker who joins releases of several quarters, knows "
            "some of a patient's terms, what drugs are taken for, or a case id is not defended "
            "against."
        )

    def set_bounds(self, warehouse: Warehouse, dataset: Dataset) -> None:
        """Bound what cases hold themselves by one share, or nothing: then PR is 1."""
        bounded = self.most is not None
        share = self.most or Fraction(1)
        warehouse.run(
            "CREATE OR REPLACE TEMP TABLE srsql_bound_term AS "
            "SELECT t.case_no, t.term_no, t.weight FROM temp.main.srsql_case_term AS t "
            "WHERE ? AND t.direct",
            [bounded],
        )
        warehouse.run(
            "CREATE OR REPLACE TEMP TABLE srsql_bound_theta AS "
            "SELECT t.term_no, ?::BIGINT AS theta_num, ?::BIGINT AS theta_den "
            "FROM temp.main.srsql_term AS t",
            [share.numerator, share.denominator],
        )
        warehouse.run("UPDATE temp.main.srsql_run SET bound = 'alpha'")

    def group(self, warehouse: Warehouse, k: int, draw: str) -> None:
        """As every model; then what is counted in a group are distinct cases."""
        self.cluster(warehouse, k, draw)
        if self.records == "report":
            gather_pieces(warehouse)

    def cluster(self, warehouse: Warehouse, k: int, draw: str) -> None:
        """Group the records (see :meth:`GroupingModel.group`)."""
        super().group(warehouse, k, draw)
