"""What `Engine.compare` and `Engine.advise` are: the door of the studies."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from srsql.engine import api
from srsql.engine.catalog.series import MAIN
from srsql.engine.errors import AdviseError, CompareError
from srsql.engine.extras.study.advice import advise
from srsql.engine.extras.study.choice import make_bounds
from srsql.engine.extras.study.comparison import compare
from srsql.engine.extras.study.grid import Grid, Rules
from srsql.engine.extras.study.results import Compared
from srsql.engine.extras.study.run import Workers
from srsql.engine.extras.study.settings import Advice, Sweep
from srsql.engine.parameters import strict
from srsql.engine.release.request import is_range, range_ends
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

Progress = Callable[[str], None] | None
Name = str | Path | None
Number = str | float | Fraction | None


class Study:
    """Studies on one warehouse.

    Args:
        warehouse: it is only read.
        dataset: for calls that name none; None: the only one of the warehouse.
    """

    def __init__(self, warehouse: Warehouse, dataset: Name = None) -> None:
        self.warehouse, self._dataset = warehouse, dataset

    @strict(CompareError, api.ARGUMENTS)
    def compare(
        self, quarters: str, grid: Grid, out: str | Path, *, rules: Rules | None = None,
        jobs: int | None = None, csv_safe: bool = False, dataset: Name = None,
        progress: Progress = None,
    ) -> Compared:  # fmt: skip
        """A grid of models and parameters over quarters, measured; see ``srsql compare``."""
        first = range_ends(quarters)[0] if is_range(quarters) else quarters
        workers = Workers(Path(out), jobs, progress, csv_safe=csv_safe)
        with self.warehouse.guarded():
            schema = self._of(first, dataset)
            return compare(self.warehouse, schema, quarters, grid, rules or Rules(), workers)

    @strict(AdviseError, api.ARGUMENTS)
    def advise(
        self, quarter: str, out: str | Path, *, max_risk: Number = None, max_loss: Number = None,
        max_confidence: Number = None, sweep: Sweep | None = None, jobs: int | None = None,
        csv_safe: bool = False, dataset: Name = None, series: str = MAIN,
        progress: Progress = None,
    ) -> Advice:  # fmt: skip
        """Which model, k, theta and epsilon for the next release; see ``srsql advise``."""
        bounds = make_bounds(max_risk, max_loss, max_confidence)
        workers = Workers(Path(out), jobs, progress, csv_safe=csv_safe)
        with self.warehouse.guarded():
            return advise(self.warehouse, self._of(quarter, dataset), quarter, bounds,
                          sweep or Sweep(), series=series, workers=workers)  # fmt: skip

    def _of(self, quarter: str, name: Name) -> Dataset:
        return api.dataset_of(self.warehouse, quarter, name or self._dataset)
