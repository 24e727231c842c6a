"""Terms alone, in chunks or generalized: no row of a case is released."""

from __future__ import annotations

from typing import ClassVar

from srsql.engine.errors import ReleaseError, SrsqlError
from srsql.engine.shapes.regions import WithoutRegions
from srsql.schemas import Dataset


class Chunks(WithoutRegions):
    """Terms of cases, apart from everything else."""

    output: ClassVar[str] = "terms"
    shows_cases: ClassVar[bool] = False
    clusters_in_groups: ClassVar[bool] = False

    def tells_terms(self, *, asked: bool) -> bool:
        """Nothing else is told."""
        return True

    def shown(self, dataset: Dataset, model: str) -> Dataset:
        """Nothing, where no terms are told."""
        raise ReleaseError(f"the model {model} releases terms only: say which")

    def need_region(self, model: str, error: type[SrsqlError]) -> None:
        """No case has one."""
        raise error(
            f"{model} releases terms alone, no rows of cases: there is no region to explain"
        )

    def need_public(self, series: str, error: type[SrsqlError]) -> None:
        """There are neither regions nor signals."""
        raise error(
            f"series {series!r} releases terms alone, and a public edition tells of regions and "
            "signals: 'srsql publish' says of what is released, the internal edition of the rest"
        )
