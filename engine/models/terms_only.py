"""What models have in common that release no row of a case."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from srsql.engine.models.base import GroupingModel
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


@dataclass(frozen=True)
class Apart(GroupingModel):
    """All cases are one internal group without a region; what is released of them has no id."""

    keeps: ClassVar[frozenset[str]] = frozenset()
    held: ClassVar[str] = "temp.main.srsql_bound_term"
    thresholds: ClassVar[str] = "temp.main.srsql_bound_theta"
    rows: ClassVar[bool] = False

    @property
    def claims(self) -> dict[str, Fraction]:
        """There is one region, which says nothing: it is shared by all cases."""
        return {"k": Fraction(self.k)}

    def set_bounds(self, warehouse: Warehouse, dataset: Dataset) -> None:
        """No value is bounded: whose it is, is not told."""
        warehouse.run(
            "CREATE OR REPLACE TEMP TABLE srsql_bound_term AS "
            "SELECT t.case_no, t.term_no, t.weight FROM temp.main.srsql_case_term AS t WHERE false"
        )
        warehouse.run(
            "CREATE OR REPLACE TEMP TABLE srsql_bound_theta AS "
            "SELECT t.term_no, 1::BIGINT AS theta_num, 1::BIGINT AS theta_den "
            "FROM temp.main.srsql_term AS t"
        )
        warehouse.run("UPDATE temp.main.srsql_run SET bound = 'alpha'")

    def prepare(self) -> None:
        """Nothing is grouped."""

    def group(self, warehouse: Warehouse, k: int, draw: str) -> None:
        """All cases together, under no quasi-identifier."""
        warehouse.run(
            "INSERT INTO temp.main.srsql_grouped "
            "SELECT p.case_no, 0, 0 FROM temp.main.srsql_profile AS p "
            "WHERE (SELECT count(*) FROM temp.main.srsql_profile) >= ?",
            [k],
        )
