"""The grouping kernel: against the compiled quadratic loop, and alone up to a million cases."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks import brute_force
from srsql.udfs.grouping.greedy import ms_group
from srsql.udfs.grouping_problem import Attributes, Cases

TERMS = 15_000
SEED = 2016
# (cases, QIDs, k)
COMPARED = [(5_000, 3, 5), (20_000, 3, 5), (40_000, 3, 5)]
ALONE = [(100_000, 3, 5), (400_000, 3, 5), (1_000_000, 3, 5)]
WIDER = [(n, qids, k) for qids, k in ((3, 20), (5, 5), (5, 20)) for n in (400_000, 1_000_000)]
SMALL_COMPARED = [(2_000, 3, 5), (5_000, 3, 5)]
SMALL_ALONE = [(20_000, 3, 5), (80_000, 3, 5)]


@dataclass(frozen=True)
class Row:
    """One measurement; seconds without compilation, memory of a process of its own."""

    cases: int
    qids: int
    k: int
    seconds: float
    peak_mib: float
    warm_up: float
    groups: int
    brute_seconds: float | None
    same: bool | None


Problem = tuple[Cases, Attributes, NDArray[np.int64], NDArray[np.int64]]


def flat_tree(leaves: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Parents, last and height of a root over inner nodes with so many leaves (0: a leaf)."""
    parent, last, height = [-1], [0], [1 + any(leaves)]
    for below in leaves:
        inner = len(parent)
        parent += [0] + [inner] * below
        last += [inner + below, *range(inner + 1, inner + below + 1)]
        height += [int(below > 0)] + [0] * below
    last[0] = len(parent) - 1
    return parent, last, height


def problem(n: int, qids: int) -> Problem:
    """Cases as adverse-event reports have them: rounded ages and weights, a long tail of terms.

    QIDs: age in years (0-120), weight in kg (0-400), sex; then country under its continent and
    the reporter's occupation. θ by frequency: 1 for the first tenth of the terms, 0.2 for the
    last tenth, 0.4 for the rest.
    """
    rng = np.random.default_rng(SEED)
    age = np.where(rng.random(n) < 0.06, rng.uniform(0, 18, n), rng.normal(56, 17, n))
    weight = np.where(age < 18, 4 + 3.3 * age + rng.normal(0, 4, n), rng.lognormal(4.3, 0.24, n))
    rounded = np.where(rng.random(n) < 0.3, 5, 1)
    weight = np.clip(np.round(weight / rounded) * rounded, 1, 400)
    trees = [flat_tree([0, 0]), flat_tree([30, 25, 20, 10, 5]), flat_tree([0] * 5)][: qids - 2]
    columns = [np.clip(np.round(age), 0, 120), weight, 1 + (rng.random(n) < 0.6)]
    columns += [_leaves(rng, tree, n) for tree in trees[1:]]
    box = np.column_stack(columns).astype(np.int64)
    sizes = [0, 0, *(len(tree[0]) for tree in trees)]
    attributes = Attributes(
        span=np.array([120, 400] + [0] * len(trees), dtype=np.int64),
        tree_start=np.cumsum([0, *sizes], dtype=np.int64),
        parent=np.concatenate([tree[0] for tree in trees]).astype(np.int64),
        last=np.concatenate([tree[1] for tree in trees]).astype(np.int64),
        height=np.concatenate([tree[2] for tree in trees]).astype(np.int64),
    )
    offsets, terms = _terms(rng, n)
    cases = Cases(box, box.copy(), offsets, terms, np.ones(len(terms), np.int64), 1)
    num, den = _frequency_thresholds(terms)
    return cases, attributes, num, den


def _leaves(
    rng: np.random.Generator, tree: tuple[list[int], list[int], list[int]], n: int
) -> NDArray[np.int64]:
    """Leaves with falling shares: half of all reports come from the first."""
    leaves = np.flatnonzero(np.array(tree[2]) == 0)
    share = 1 / np.arange(1, len(leaves) + 1) ** 1.5
    return rng.choice(leaves, n, p=share / share.sum())


def _terms(rng: np.random.Generator, n: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """About seven distinct terms a case, of a Zipf tail over 15 000."""
    share = 1 / (np.arange(1, TERMS + 1) + 20.0)
    case = np.repeat(np.arange(n), 1 + rng.poisson(6.2, n))
    drawn = np.searchsorted(np.cumsum(share / share.sum()), rng.random(len(case)))
    pairs = np.unique(case * TERMS + np.minimum(drawn, TERMS - 1))
    offsets = np.searchsorted(pairs, np.arange(n + 1) * TERMS).astype(np.int64)
    return offsets, (pairs % TERMS).astype(np.int32)


def _frequency_thresholds(
    terms: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    count = np.bincount(terms, minlength=TERMS)
    ranked = np.argsort(-count, kind="stable")[: np.count_nonzero(count)]
    fifths = np.full(TERMS, 2, dtype=np.int64)
    tenth = len(ranked) // 10
    fifths[ranked[:tenth]] = 5
    fifths[ranked[len(ranked) - tenth :]] = 1
    return fifths, np.full(TERMS, 5, dtype=np.int64)


def measure(n: int, qids: int, k: int, compare: bool) -> Row:
    """One row, in this process: peak memory counts from its start."""
    warm = problem(200, qids)
    began = perf_counter()
    ms_group(*warm, k, 0)
    warm_up = perf_counter() - began
    task = problem(n, qids)
    began = perf_counter()
    groups = ms_group(*task, k, 0)
    seconds = perf_counter() - began
    peak, brute_seconds, same = peak_mib(), None, None
    if compare:
        brute_force.group(*warm, k, 0)
        began = perf_counter()
        expected = brute_force.group(*task, k, 0)
        brute_seconds = perf_counter() - began
        same = bool(np.array_equal(groups, expected))
    found = int(groups.max()) + 1
    return Row(n, qids, k, seconds, peak, warm_up, found, brute_seconds, same)


def peak_mib(process: int | str = "self") -> float:
    """Peak memory of this process, where ru_maxrss counts that of who started it, too; or of the
    one of that number.

    Raises:
        OSError: there is no other process of that number.
    """
    try:
        told = Path(f"/proc/{process}/status").read_text()
        return int(told.split("VmHWM:")[1].split()[0]) / 1024
    except OSError:
        if process != "self":
            raise
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_apart(n: int, qids: int, k: int, compare: bool) -> Row:
    """One row in a process of its own, so that memory is this row's alone."""
    arguments = [str(n), str(qids), str(k), str(int(compare))]
    command = [sys.executable, "-m", "benchmarks.kernel", *arguments]
    return Row(**json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))


def exponent(rows: list[Row]) -> float:
    """Slope of log seconds over log cases: 1 is linear, 2 quadratic."""
    cases, seconds = np.log([row.cases for row in rows]), np.log([row.seconds for row in rows])
    return float(np.polyfit(cases, seconds, 1)[0])


def main(small: bool) -> None:
    """Print the table; fail where the kernel and the quadratic loop disagree."""
    head = ("cases", "QIDs", "k", "groups", "seconds", "peak MiB", "brute s", "ratio", "same")
    print("".join(f"{column:>10}" for column in head))
    compared = [_print(measure_apart(*p, True)) for p in (SMALL_COMPARED if small else COMPARED)]
    alone = [_print(measure_apart(*p, False)) for p in (SMALL_ALONE if small else ALONE)]
    for p in [] if small else WIDER:
        _print(measure_apart(*p, False))
    print(f"cost grows as n^{exponent(alone):.2f} from {alone[0].cases:,} to {alone[-1].cases:,}")
    print(f"compilation, or loading its cache (not counted above): {compared[0].warm_up:.1f} s")
    if not all(row.same for row in compared):
        raise SystemExit("the kernel and the quadratic loop give different groups")


def _print(row: Row) -> Row:
    cells = [f"{row.cases:,}", str(row.qids), str(row.k), f"{row.groups:,}", f"{row.seconds:.3f}"]
    cells.append(f"{row.peak_mib:.0f}")
    if row.brute_seconds is not None:
        ratio = row.brute_seconds / row.seconds
        cells += [f"{row.brute_seconds:.3f}", f"{ratio:.1f}", "yes" if row.same else "NO"]
    print("".join(f"{cell:>10}" for cell in cells), flush=True)
    return row


if __name__ == "__main__":
    n, qids, k, compare = map(int, sys.argv[1:])
    print(json.dumps(vars(measure(n, qids, k, bool(compare)))))
