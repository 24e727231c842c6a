"""Multi-sensitive l-diversity (Gal et al. 2008), as Lin 2016 compares with it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.patterns import group_by_pattern
from srsql.engine.grouping.symptoms import partition_pattern, set_values
from srsql.engine.models.base import MOST
from srsql.engine.models.comparator import Comparator
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


@dataclass(frozen=True)
class LDiversity(Comparator):
    """Every region has at least l distinct values of each sensitive attribute, by l *reports*.

    Made from the top down: all reports of a missingness pattern, split at the median of the widest
    number or into the children of a node, as long as every part keeps it.

    Protects: whoever knows the quasi-identifiers of a report is left with at least l values of each
    sensitive attribute for it.

    Does not protect: no frequency is bounded (all but l - 1 reports of a region may agree), reports
    are taken for patients, and what is known of one attribute may settle another.
    """

    l: int = 5  # noqa: E741 (the model's own name for it)
    """Least number of distinct values of each sensitive attribute in a region."""

    name: ClassVar[str] = "l-diversity"
    family: ClassVar[str] = "l-diversity"

    def __post_init__(self) -> None:
        """Refuse parameters that protect nobody."""
        super().__post_init__()
        if self.l < 2:
            raise ReleaseError(f"l is {self.l}: a region needs at least 2 values to hide one")
        if self.l > MOST:
            raise ReleaseError(
                f"l is {self.l}: no quarter has regions of more than {MOST:,} values"
            )

    @property
    def claims(self) -> dict[str, Fraction]:
        """l values."""
        return {"values": Fraction(self.l)}

    @property
    def facts(self) -> dict[str, str | int]:
        """l, too."""
        return {**super().facts, "l": self.l}

    @property
    def guarantee(self) -> str:
        """In words."""
        return (
            f"Every published region has at least {self.l} distinct values of each sensitive "
            f"attribute, held by at least {self.l} reports, which may be of fewer cases. How "
            f"frequent a value is there is not bounded. {self.limits}"
        )

    def set_bounds(self, warehouse: Warehouse, dataset: Dataset) -> None:
        """No share is bounded; values are told apart by attribute."""
        super().set_bounds(warehouse, dataset)
        set_values(warehouse, dataset)

    def prepare(self) -> None:
        """Load, or on the first use of an installation compile, the kernel."""
        from srsql.udfs.grouping.partition import warm_up

        warm_up()

    def cluster(self, warehouse: Warehouse, k: int, draw: str) -> None:
        """From the top down; nothing is drawn."""
        group_by_pattern(
            warehouse, self.l, lambda pattern: partition_pattern(warehouse, pattern, self.l)
        )
