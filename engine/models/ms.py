"""MS(k, theta*)-bounding (Lin 2016): the model for a single release."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.models.base import GroupingModel
from srsql.engine.patterns import group_by_pattern
from srsql.engine.warehouse import Warehouse


@dataclass(frozen=True)
class Ms(GroupingModel):
    """MS(k, theta*)-bounding, Definition 3.

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

    def prepare(self) -> None:
        """Load the grouping kernel."""
        from srsql.udfs.greedy import warm_up

        warm_up()

    def group(self, warehouse: Warehouse, k: int, draw: str) -> None:
        """Run Algorithms 1 and 2 within each missingness pattern."""
        rest = "merge" if self.leftovers == "merge" else "withhold"

        def one_pattern(pattern: int) -> None:
            digest = hashlib.sha256(f"{draw}/{pattern}".encode()).digest()
            warehouse.run(
                "CREATE OR REPLACE TEMP TABLE srsql_placed AS SELECT g.case_no, g.group_no "
                "FROM srsql.ms_group('temp.main.srsql_profile', 'temp.main.srsql_box',"
                " 'temp.main.srsql_case_term', 'temp.main.srsql_attribute',"
                " 'temp.main.srsql_theta', ?, (SELECT r.unit FROM temp.main.srsql_run AS r),"
                " ?, ?, ?) AS g",
                [pattern, k, int.from_bytes(digest[:7]), rest],
            )

        group_by_pattern(warehouse, k, one_pattern)
