"""Counts with noise tell the items of cases: rows of cases show their region alone (R8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from srsql.engine.catalog.layout import NOISY_COUNTS
from srsql.engine.errors import SignalError, SrsqlError
from srsql.engine.shapes.regions import Found, Shape, Telling, Told
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


class NoisyCounts(Shape):
    """Rows of cases, and counts with noise of what cases hold by strata of their own values."""

    output: ClassVar[str] = "rows of cases without items, and counts of items with noise"
    family: ClassVar[str] = ", items counted with noise"
    uncorrectable: ClassVar[str] = (
        "its counts are never revised, and noise hides in them whether a case was counted: a "
        "release with counts that are wrong is withdrawn as a whole"
    )
    counted_once: ClassVar[bool] = True
    unsplit: ClassVar[str] = (
        "counts with noise, which neither a public file nor an export holds: read its tables"
    )

    def shown(self, dataset: Dataset, model: str) -> Dataset:
        """Regions alone."""
        del model
        return dataset.with_counts(noisy=True)

    def without_ids(self, told: tuple[str, ...]) -> tuple[str, ...]:
        """The counts."""
        return (*told, *NOISY_COUNTS)

    def need_one_quarter(self, series: str, error: type[SrsqlError]) -> None:
        """Counts of several quarters are of different cases, and their noise adds up."""
        raise error(
            f"series {series!r} tells items as counts with noise of the new cases of each quarter: "
            "give --quarter"
        )

    def told_pairs(self, warehouse: Warehouse, told: Told, releases: Mapping[str, int]) -> Told:
        """Pairs have noise, and bounds at a confidence instead of certain ones: SQL has them."""
        del told
        asked = {"releases": [*releases.values()]}
        schema = str(warehouse.value(query("signals/releases", "schemas"), asked))
        tables = ", ".join(f"'{schema}.{name}'" for name in NOISY_COUNTS)
        raise SignalError(
            f"{schema} tells drugs and reactions as counts with noise: "
            f"SELECT * FROM srsql.noisy_ratios({tables}) has bounds at a confidence of 95 %"
        )

    def tell(self, telling: Telling[Found]) -> Found:
        """Counts tell them."""
        return telling.by_counts()
