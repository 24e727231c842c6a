"""Counts tell the items of cases: rows of cases show their region alone (SPEC section 19)."""

from __future__ import annotations

from typing import ClassVar

from srsql.engine.catalog.layout import COUNTS
from srsql.engine.errors import SrsqlError
from srsql.engine.shapes.regions import Found, Shape, Telling
from srsql.schemas import Dataset


class Counts(Shape):
    """Rows of cases, and counts of what they hold by strata of their regions."""

    output: ClassVar[str] = "rows of cases without items, and counts of items"
    family: ClassVar[str] = ", items counted"
    uncorrectable: ClassVar[str] = (
        "its counts are never revised, and a count of k cases is no record of one: a release with "
        "counts that are wrong is withdrawn as a whole"
    )

    def shown(self, dataset: Dataset, model: str) -> Dataset:
        """Regions alone."""
        del model
        return dataset.with_counts()

    def without_ids(self, told: tuple[str, ...]) -> tuple[str, ...]:
        """The counts."""
        return (*told, *COUNTS)

    def need_one_quarter(self, series: str, error: type[SrsqlError]) -> None:
        """Counts of several quarters are of different cases, and are added by whoever asks."""
        raise error(
            f"series {series!r} tells items as counts, of the new cases of each quarter: give "
            "--quarter"
        )

    def tell(self, telling: Telling[Found]) -> Found:
        """Counts tell them."""
        return telling.by_counts()
