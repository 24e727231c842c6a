"""Comparisons, and the door of the studies: what `Engine.compare` and `Engine.advise` are."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from srsql.engine.api.arguments import ARGUMENTS
from srsql.engine.api.context import dataset_of
from srsql.engine.errors import AdviseError, CompareError
from srsql.engine.extras.study.advice import advise
from srsql.engine.extras.study.choice import make_bounds
from srsql.engine.extras.study.grid import Grid, Rules, cells
from srsql.engine.extras.study.results import (
    Compared,
    collect,
    put_in_place,
    read_cell,
    write_table,
)
from srsql.engine.extras.study.run import Workers, fingerprint, quarters_of, run
from srsql.engine.extras.study.sample import count_cases
from srsql.engine.extras.study.settings import Advice, Sweep, sweep_for
from srsql.engine.parameters import MAIN, strict
from srsql.engine.release.audiences import AUDIENCES, model_for
from srsql.engine.release.request import is_range, range_ends
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

Progress = Callable[[str], None] | None
Name = str | Path | None
Number = str | float | Fraction | None


def compare(
    warehouse: Warehouse,
    dataset: Dataset,
    quarters: str,
    grid: Grid,
    rules: Rules,
    workers: Workers,
) -> Compared:
    """Measure what is missing of the grid, and write table and page anew.

    Args:
        warehouse: a file; it is only read, every cell works on a copy of it beside the results.
        dataset: whose quarters.
        quarters: ``A:B`` or one.
        grid: models and parameters.
        rules: whose signals are compared.
        workers: what measures a cell, and where results go.

    Raises:
        CompareError: nothing of the grid can be run or was, a quarter has fewer cases than a
            sample, or the results cannot be written.
    """
    from srsql.engine.extras.study.compare_page import page  # brings matplotlib

    workers.check()
    workers.need_one_set(dataset)
    listed = quarters_of(warehouse, dataset, quarters)
    _check_samples(warehouse, dataset, listed, grid)
    data = fingerprint(warehouse, dataset, listed, rules)
    wanted = cells(grid)
    refused = [cell for cell in wanted if cell.refused]
    if len(refused) == len(wanted):
        raise CompareError(f"no cell of the grid can be run: {wanted[0].refused}")
    folder = workers.make_folder()
    files = [(cell, folder / f"{cell.digest(data)}.json") for cell in wanted]
    missing = [(c, f) for c, f in files if not c.refused and read_cell(f) is None]
    broken = run(warehouse, dataset, missing, listed, rules, workers)
    if missing and len(broken) == len(wanted) - len(refused):
        raise CompareError(f"no cell was measured: {next(iter(broken.values()))}")
    rows = collect(files, broken, quarters)
    written = write_table(rows, workers.out, safe=workers.csv_safe)
    text = page(dataset, quarters, rows)
    written.append(
        put_in_place(
            workers.out / "compare.html", lambda file: file.write_text(text, encoding="utf-8")
        )
    )
    return Compared(
        dataset.name,
        listed,
        len(wanted),
        len(wanted) - len(missing) - len(refused),
        len(rows),
        [f"{r['model']}, {r['quarter']}: {r['error']}" for r in rows if r.get("error")],
        [str(file) for file in written],
    )


def _check_samples(warehouse: Warehouse, dataset: Dataset, quarters: list[str], grid: Grid) -> None:
    """Refuse samples that are larger than a quarter: the table would name a size they have not."""
    for quarter in quarters if grid.cases else ():
        has, largest = count_cases(warehouse, dataset, quarter), max(grid.cases)
        if largest > has:
            raise CompareError(f"--cases {largest}: {quarter} has {has} cases: give fewer")


class Study:
    """Studies on one warehouse.

    Args:
        warehouse: it is only read.
        dataset: for calls that name none; None: the only one of the warehouse.
    """

    def __init__(self, warehouse: Warehouse, dataset: Name = None) -> None:
        self.warehouse, self._dataset = warehouse, dataset

    @strict(CompareError, ARGUMENTS)
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

    @strict(AdviseError, ARGUMENTS)
    def advise(
        self, quarter: str, out: str | Path, *, audience: str | None = None,
        max_risk: Number = None, max_loss: Number = None, max_confidence: Number = None,
        sweep: Sweep | None = None, jobs: int | None = None, csv_safe: bool = False,
        dataset: Name = None, series: str = MAIN, progress: Progress = None,
        tell: Progress = None,
    ) -> Advice:  # fmt: skip
        """Which model, k, theta and epsilon for the next release; see ``srsql advise``.

        ``tell`` takes what is known before the end, a line at a time: the plan, a first advice.
        """
        wanted = sweep or Sweep()
        with self.warehouse.guarded():
            schema = self._of(quarter, dataset)
            if audience is not None:
                of = AUDIENCES[audience]
                wanted = sweep_for(wanted, of, model_for(self.warehouse, schema, quarter, of))
                max_risk = of.risk if max_risk is None else max_risk
            bounds = make_bounds(max_risk, max_loss, max_confidence)
            workers = Workers(
                Path(out), jobs, progress, tell=tell or (lambda _: None), csv_safe=csv_safe
            )
            return advise(self.warehouse, schema, quarter, bounds, wanted, series=series,
                          workers=workers)  # fmt: skip

    def _of(self, quarter: str, name: Name) -> Dataset:
        return dataset_of(self.warehouse, quarter, name or self._dataset)
