"""What the models of Lee 2020 share: rows of their own making, generalized by one level vector."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.feasibility import drop_withheld
from srsql.engine.lattice.cube import Made, load_cube, nothing
from srsql.engine.lattice.rows import keep_lattice, load_held_values, make_rows
from srsql.engine.models.terms_only import Apart
from srsql.engine.warehouse.dimensions import (
    ALL,
    FIRST,
    Dimension,
    asked_dimensions,
    informative_attribute,
)
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.udfs.mechanisms import Source

NO_CHECK = (
    "whose rows are under no id and prove no bound by themselves, so that nobody who gets an "
    "artifact could verify it. It is made to be compared with; publish a release of ms or ppms++"
)


@dataclass(frozen=True)
class LatticeModel(Apart):
    """One record per case: dimension values on one level of their hierarchies, and one informative
    value as it is. No id is released; rows are shuffled and numbered anew.

    A case that holds several informative values shows one, drawn uniformly; a case that holds none
    is withheld. What is not known of a dimension, or differs between the reports of a case, is
    shown as what tells nothing.
    """

    informative: str = FIRST
    """The sensitive or quasi-sensitive column whose values are shown."""
    dimensions: str = ALL
    """The quasi-identifiers to show, with commas between; the others are not released."""

    own_rows: ClassVar[bool] = True
    unpublishable: ClassVar[str] = NO_CHECK

    @abstractmethod
    def anonymize(
        self, warehouse: Warehouse, dimensions: tuple[Dimension, ...], source: Source
    ) -> Made:
        """Take a node of the lattice, and say which records it has."""

    @property
    def seeded(self) -> bool:
        """Whether the draws follow the seed: an experiment."""
        return False

    @property
    def least(self) -> int:
        """Rows that every published class claims to have."""
        return 1

    @property
    def audience(self) -> str:
        """Releases of one series have the same columns."""
        return f"{self.family}, {self.informative} by {self.dimensions}"

    @property
    def facts(self) -> dict[str, str | int]:
        """What the rows show."""
        return {
            "keeps": "one level vector",
            "informative": self.informative,
            "dimensions": self.dimensions,
            "publication": "refused",
        }

    def sees(self, dataset: Dataset) -> Dataset:
        """Numbers that declare groups are generalized by them."""
        return dataset.with_categories()

    def set_bounds(self, warehouse: Warehouse, dataset: Dataset) -> None:
        """No value is bounded; those that are shown are read."""
        super().set_bounds(warehouse, dataset)
        asked_dimensions(dataset, self.dimensions)
        load_held_values(warehouse, dataset, self.informative)

    def group(self, warehouse: Warehouse, k: int, draw: str) -> None:
        """All cases that hold an informative value."""
        warehouse.run(
            "INSERT INTO temp.main.srsql_withheld "
            "SELECT p.case_no, 'no_informative_value' FROM temp.main.srsql_profile AS p "
            "ANTI JOIN temp.main.srsql_held_value AS h ON p.case_no = h.case_no"
        )
        drop_withheld(warehouse)
        super().group(warehouse, k, draw)

    def generalize(self, warehouse: Warehouse, dataset: Dataset, draw: str) -> None:
        """No group shows a region; the rows are made from the lattice."""
        super().generalize(warehouse, dataset, draw)
        digest = hashlib.sha256(f"{draw}/lattice".encode()).digest()
        source = Source(int.from_bytes(digest[:7]) if self.seeded else None)
        dimensions = asked_dimensions(dataset, self.dimensions)
        if not dimensions:
            raise ReleaseError("there is no dimension to generalize: name some with --dimensions")
        load_cube(warehouse, dimensions, source.seed())
        empty = not warehouse.value("SELECT count(*) FROM temp.main.srsql_cell")
        made = nothing(dimensions) if empty else self.anonymize(warehouse, dimensions, source)
        column = informative_attribute(dataset, self.informative).column
        make_rows(warehouse, dataset, dimensions, column, made, source.seed())
        keep_lattice(warehouse, dimensions, column, self.least, made)
