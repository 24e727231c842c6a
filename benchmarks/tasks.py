"""What a task of a release takes of memory as quarters grow: buckets, parts and clusters.

    python -m benchmarks tasks [--cases 50000,200000] [--bucket 12500] [--part 5000]
        [--memory-limit 200MB] [--term-k 5]

A synthetic quarter of each size lies in a lake with about so many cases in a bucket, and is
released from there by parts, terms taken apart. Whatever is carried in a stage is carried by one
worker process that begins with the stage, of which DuckDB may take the limit and cannot spill.
Told are the bytes of the stage's largest part (of a bucket: of its files) and the peak of the
worker, Python, its libraries and compiled kernels included: both stay as they are where tasks do
not grow with the quarter.

Source: SPEC section 17.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from benchmarks.buckets import QUARTER, worker_peak
from benchmarks.refinement import numbers
from srsql import Engine
from srsql.engine.extras.synth import synthesize
from srsql.engine.grouping import parts as grouping
from srsql.engine.lake import lake
from srsql.engine.workers.carriers import LocalWorkers, Task

HEAD = ("cases", "stage", "tasks", "largest KiB", "worker MiB")


@dataclass
class Carried:
    """What one stage had carried."""

    workers: LocalWorkers
    tasks: int = 0
    largest: int = 0
    """Bytes of a part."""
    peak: float = 0.0
    """Of the worker, in MiB."""


class Watched:
    """A worker process for each stage, looked at whenever parts have come back."""

    def __init__(self, limit: str) -> None:
        self._limit = limit
        self._stage = ""
        self._open = ExitStack()
        self.stages: dict[str, Carried] = {}

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def __call__(self, step: str) -> None:
        """A stage begins: the worker of the one before ends."""
        self._open.close()
        self._stage = step

    def carry(self, work: Task, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """See ``Carrier``."""
        found = self.stages.get(self._stage)
        if found is None:
            workers = self._open.enter_context(LocalWorkers(1, self._limit))
            found = self.stages[self._stage] = Carried(workers)

        def seen() -> Iterator[pa.Table]:
            for part in parts:
                found.tasks += 1
                found.largest = max(found.largest, work.weight(part) or part.nbytes)
                yield part

        yield from found.workers.carry(work, seen())
        found.peak = max(found.peak, worker_peak(found.workers))


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    found = argparse.ArgumentParser(
        "python -m benchmarks tasks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("--cases", type=numbers, default=[50_000, 200_000])
    found.add_argument("--bucket", type=int, default=12_500, help="cases of a bucket, about")
    found.add_argument("--part", type=int, default=5_000, help="cases of a part at least, about")
    found.add_argument("--memory-limit", default="200MB", help="of DuckDB in the worker")
    found.add_argument("--term-k", type=int, default=5)
    return found


def command(arguments: Sequence[str]) -> None:
    """Measure and print; see the module."""
    asked = parser().parse_args(arguments)
    print(" ".join(f"{cell:>12}" for cell in HEAD), flush=True)
    kept = lake.BUCKETS, grouping.LEAST
    grouping.LEAST = asked.part
    try:
        for cases in asked.cases:
            lake.BUCKETS = (cases // asked.bucket,) * 2
            for stage, found in released(cases, asked).items():
                cells = [
                    cases, stage, found.tasks, f"{found.largest / 1024:.0f}", f"{found.peak:.0f}",
                ]  # fmt: skip
                print(" ".join(f"{cell:>12}" for cell in cells), flush=True)
    finally:
        lake.BUCKETS, grouping.LEAST = kept


def released(cases: int, asked: argparse.Namespace) -> dict[str, Carried]:
    """Release a quarter of so many cases: what each stage had carried."""
    with TemporaryDirectory(prefix="srsql-tasks-") as made, Watched(asked.memory_limit) as watched:
        folder = Path(made)
        files = synthesize(folder / "files", [QUARTER], cases=cases)
        with Engine(folder / "w.duckdb") as engine:
            engine.ingest(files, lake=folder / "lake")
            engine.release.make(
                QUARTER, model="ms", theta="frequency", parts="auto", terms="disassociate",
                term_attributes=["all"], term_k=asked.term_k, m=2, seed=1, carrier=watched,
                progress=watched,
            )  # fmt: skip
        return watched.stages
