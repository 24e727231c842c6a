"""`srsql compare`: cells that are missing are run, then the table and the page are made of all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from srsql.engine.errors import CompareError
from srsql.engine.study.grid import Grid, Rules, cells
from srsql.engine.study.results import collect, put_whole, read_cell, write_table
from srsql.engine.study.run import CELLS, Progress, fingerprint, quarters_of, run
from srsql.engine.study.sample import count_cases
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


@dataclass(frozen=True)
class Compared:
    """What became of a comparison."""

    dataset: str
    quarters: list[str]
    cells: int
    already: int
    """Cells that were finished before."""
    rows: int
    errors: list[str]
    """What was refused or failed: the cell's row and the reason."""
    verdicts: dict[str, int]
    """Claims that hold, do not hold, cannot be told."""
    files: list[str]
    """Parquet, CSV, page."""


def compare(
    warehouse: Warehouse,
    dataset: Dataset,
    quarters: str,
    grid: Grid,
    rules: Rules,
    out: Path,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Compared:
    """Run what is missing of the grid, and write table and page anew.

    Args:
        warehouse: a file; it is only read, every cell works on a copy of it beside ``out``.
        dataset: whose quarters.
        quarters: ``A:B`` or one.
        grid: models and parameters.
        rules: whose signals are compared.
        out: folder for results and finished cells, made if absent.
        jobs: workers at a time; None: as many as cores and memory take.
        progress: takes one line at a time.

    Raises:
        CompareError: nothing of the grid can be run or was, a quarter has fewer cases than a
            sample, or ``out`` cannot be written.
    """
    from srsql.engine.study.compare_page import judged, page  # brings matplotlib

    if jobs is not None and jobs < 1:
        raise CompareError(f"--jobs {jobs}: give at least 1")
    listed = quarters_of(warehouse, dataset, quarters)
    _check_samples(warehouse, dataset, listed, grid)
    data = fingerprint(warehouse, dataset, listed, rules)
    wanted = cells(grid)
    if all(cell.refused for cell in wanted):
        raise CompareError(f"no cell of the grid can be run: {wanted[0].refused}")
    folder = out / CELLS
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CompareError(f"{folder} cannot be made ({error.strerror}): give --out") from None
    filed = [(cell, folder / f"{cell.digest(data)}.json") for cell in wanted]
    missing = [(c, f) for c, f in filed if not c.refused and read_cell(f) is None]
    broken = run(warehouse, dataset, missing, listed, rules, jobs, progress)
    if missing and len(broken) == len(filed) - sum(cell.refused is not None for cell in wanted):
        raise CompareError(f"no cell was measured: {next(iter(broken.values()))}")
    rows = collect(filed, broken, quarters)
    files = write_table(rows, out)
    text = page(dataset, quarters, rows)
    files.append(
        put_whole(out / "compare.html", lambda file: file.write_text(text, encoding="utf-8"))
    )
    return Compared(
        dataset.name,
        listed,
        len(wanted),
        len(wanted) - len(missing) - sum(cell.refused is not None for cell in wanted),
        len(rows),
        [f"{r['model']}, {r['quarter']}: {r['error']}" for r in rows if r.get("error")],
        dict(Counter(verdict.outcome for *_, verdict in judged(rows))),
        [str(file) for file in files],
    )


def _check_samples(warehouse: Warehouse, dataset: Dataset, quarters: list[str], grid: Grid) -> None:
    """Refuse samples whose size would be told, and judged by, though they are smaller."""
    for quarter in quarters if grid.cases else ():
        has = count_cases(warehouse, dataset, quarter)
        if max(grid.cases) > has:
            raise CompareError(f"--cases {max(grid.cases)}: {quarter} has {has} cases: give fewer")
