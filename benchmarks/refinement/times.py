"""Seconds of the grouping kernel, and of refining what it made, on synthetic quarters."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import problem
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


def exponent(cases: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of log seconds over log cases: 1 is linear, 2 quadratic."""
    return float(np.polyfit(np.log(cases), np.log(seconds), 1)[0])


def run(*, cases: Sequence[int], full_cases: Sequence[int], k: int) -> None:
    """Print the table, and how the cost of ``fast`` grows."""
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
