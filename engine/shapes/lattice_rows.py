"""Rows of the release's own making, over a lattice: no row is a case's."""

from __future__ import annotations

from typing import ClassVar

from srsql.engine.catalog.layout import ROWS
from srsql.engine.errors import SrsqlError
from srsql.engine.measures import OF_CLASSES, OF_ROWS
from srsql.engine.shapes.regions import Found, Rows, WithoutRegions
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


class LatticeRows(WithoutRegions):
    """Rows that stand for no case."""

    output: ClassVar[str] = "synthetic rows"
    shows_cases: ClassVar[bool] = False
    clusters_in_groups: ClassVar[bool] = False
    uncorrectable: ClassVar[str] = "its rows are no case's, so that none can be taken out"

    def of_no_case(self, made: Found, otherwise: Found) -> Found:
        """Rows of its own making."""
        del otherwise
        return made

    def tells_terms(self, *, asked: bool) -> bool:
        """No terms are told apart from them."""
        return False

    def shown(self, dataset: Dataset, model: str) -> Dataset:
        """No table of the dataset has rows."""
        return dataset.without_terms((), rows=False)

    def without_ids(self, told: tuple[str, ...]) -> tuple[str, ...]:
        """The rows of its own making."""
        return (ROWS,)

    def need_cases(self, series: str, error: type[SrsqlError]) -> None:
        """No row is a case's."""
        raise error(
            f"series {series!r} releases rows that are no case's (ipa, full-domain, dp-histogram): "
            "they are measured by 'srsql metrics' and read in released_rows"
        )

    def measured(self, warehouse: Warehouse, release_id: int, rows: Rows) -> Rows:
        """What is of the rows."""
        return [
            row for row in rows if row.measure in OF_ROWS or (row.measure, row.scope) in OF_CLASSES
        ]
