"""Seconds of the grouping kernel, and of refining what it made, on synthetic quarters.

Of files the grouping stage of a release is timed, with all that is not a kernel; the release itself
ends there, so that its warehouse stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import problem
from benchmarks.stage_watch import StageWatch
from srsql import Engine
from srsql.udfs.grouping.greedy import group_cases
from srsql.udfs.grouping.refine import Refinement, Standing, refine_groups, warm_up
from srsql.udfs.grouping_problem import Bounding

QIDS = 3
HEAD = ("cases", "refine", "groups", "grouping s", "refining s", "ratio")


def measure(n: int, k: int, efforts: Sequence[Refinement]) -> tuple[float, dict[str, float], int]:
    """Seconds of the greedy, of refining its groups by each effort, and how many groups it made."""
    task, bounding = problem(n, QIDS), Bounding.of_all(n)
    began = process_time()
    group = group_cases(*task, k, 0, bounding)
    seconds = process_time() - began
    known: NDArray[np.int64] = np.full(n, 2**QIDS - 1)
    spent = {}
    for effort in efforts:
        began = process_time()
        refine_groups(*task, k, bounding, Standing(known, group.astype(np.int64), effort))
        spent[effort] = process_time() - began
    return seconds, spent, int(group.max()) + 1


class EndedError(Exception):
    """The stage that is timed is over."""


class Until(StageWatch):
    """Ends a release behind the stage."""

    def __call__(self, step: str) -> None:
        super().__call__(step)
        if self.seconds:
            raise EndedError


def stage(engine: Engine, quarter: str, model: str, k: int, effort: str) -> float:
    """Seconds of the grouping stage of a release that does not come about."""
    watch = Until("grouping")
    with suppress(EndedError):
        engine.release.make(
            quarter, model=model, k=k, seed=1, refine=effort, draft=True, series="timed",
            on_infeasible="withhold", progress=watch,
        )  # fmt: skip
    return watch.cpu


def run_stages(engine: Engine, quarters: Sequence[str], k: int) -> None:
    """Print what refinement adds to the stage, in each period."""
    print("".join(f"{cell:>12}" for cell in ("period", "stage off s", "fast s", "added", "ratio")))
    for quarter in quarters:
        stage(engine, quarter, "ppms++", k, "fast")  # loads the kernels
        off, fast = (stage(engine, quarter, "ppms++", k, effort) for effort in ("off", "fast"))
        cells = [quarter, f"{off:.2f}", f"{fast:.2f}", f"{fast - off:.2f}"]
        print("".join(f"{cell:>12}" for cell in [*cells, f"{(fast - off) / off:.2f}"]), flush=True)


def exponent(cases: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of log seconds over log cases: 1 is linear, 2 quadratic."""
    return float(np.polyfit(np.log(cases), np.log(seconds), 1)[0])


def run(
    *, cases: Sequence[int], full_cases: Sequence[int], k: int, source: Sequence[Path], dataset: str
) -> None:
    """Print the table, and how the cost of ``fast`` grows; of files, the stage."""
    if source:
        with (
            TemporaryDirectory(prefix="srsql-refinement-") as folder,
            Engine(Path(folder) / "warehouse.duckdb", dataset=dataset) as engine,
        ):
            periods = sorted({row.quarter for row in engine.ingest(source, allow_incomplete=True)})
            run_stages(engine, periods, k)
        return
    warm_up()
    measure(300, k, ["fast", "full"])  # compiled, or loaded from the cache
    print("".join(f"{cell:>12}" for cell in HEAD))
    found = [_print(n, "fast", *measure(n, k, ["fast"])) for n in cases]
    if len(cases) > 1:
        grouping, fast = zip(*found, strict=True)
        print(f"grouping grows as n^{exponent(cases, grouping):.2f}, "
              f"fast as n^{exponent(cases, fast):.2f}", flush=True)  # fmt: skip
    for n in full_cases:
        _print(n, "full", *measure(n, k, ["full"]))


def _print(
    n: int, effort: Refinement, seconds: float, spent: dict[str, float], groups: int
) -> tuple[float, float]:
    refining = spent[effort]
    cells = [f"{n:,}", effort, f"{groups:,}", f"{seconds:.2f}", f"{refining:.2f}"]
    print("".join(f"{cell:>12}" for cell in [*cells, f"{refining / seconds:.2f}"]), flush=True)
    return seconds, refining
