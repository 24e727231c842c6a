"""What the super-records of a lake take of memory where a bucket is merged.

    python -m benchmarks buckets [--cases 20000,80000] [--bucket 5000] [--memory-limit 100MB]

A synthetic quarter of each size lies in a lake with about so many cases in a bucket; all buckets
are merged by one worker process, of which DuckDB may take the limit and cannot spill. Then the
largest size lies in as many buckets as the smallest one. Memory is the peak of the worker process,
Python and its libraries included (160 MiB); what does not fit the limit is told as what went wrong.

Source: SPEC section 17.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import pyarrow as pa

from benchmarks.kernel import peak_mib
from benchmarks.refinement import numbers
from srsql import Engine
from srsql.engine.errors import WarehouseError, one_line
from srsql.engine.extras.synth import synthesize
from srsql.engine.lake import lake
from srsql.engine.workers.carriers import LocalWorkers, Task

HEAD = ("cases", "buckets", "largest MiB", "worker MiB", "seconds")
QUARTER = "2011Q4"
FILES = """
    SELECT count(DISTINCT f.bucket), (
        SELECT max(s.size) FROM (
            SELECT sum(g.bytes) / 2**20 AS size FROM srsql.lake_file AS g GROUP BY g.bucket
        ) AS s
    )
    FROM srsql.lake_file AS f
"""


class MergedError(Exception):
    """The cases are merged, and no more is asked."""


class Watched:
    """A worker process; its peak is looked at when all buckets have come back."""

    def __init__(self, workers: LocalWorkers) -> None:
        self._workers = workers
        self.peak = 0.0

    def carry(self, work: Task, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        yield from self._workers.carry(work, parts)
        self.peak = max(self.peak, worker_peak(self._workers))


def worker_peak(workers: LocalWorkers) -> float:
    """Peak memory in MiB of the largest worker that runs; 0 where none does."""
    peak = 0.0
    for process in workers._running:
        with suppress(OSError):
            peak = max(peak, peak_mib(process.pid))
    return peak


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    found = argparse.ArgumentParser(
        "python -m benchmarks buckets",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("--cases", type=numbers, default=[20_000, 80_000])
    found.add_argument("--bucket", type=int, default=5_000, help="cases of a bucket, about")
    found.add_argument("--memory-limit", default="100MB", help="of DuckDB in the worker")
    return found


def merged(folder: Path, limit: str) -> tuple[str, float]:
    """Merge the quarter of a warehouse: the peak of the worker, or why not, and seconds."""
    began = perf_counter()

    def told(stage: str) -> None:
        if stage == "history":
            raise MergedError

    with Engine(folder / "w.duckdb") as engine, LocalWorkers(1, limit) as workers:
        watched = Watched(workers)
        try:
            engine.release.make(QUARTER, model="ms", seed=1, carrier=watched, progress=told)
        except MergedError:
            return f"{watched.peak:.0f}", perf_counter() - began
        except WarehouseError as error:
            return one_line(error).partition("(")[0], perf_counter() - began
    raise AssertionError("the release went on")


def command(arguments: Sequence[str]) -> None:
    """Measure and print; see the module."""
    asked = parser().parse_args(arguments)
    sizes: list[int] = asked.cases
    kept = lake.BUCKETS
    print(" ".join(f"{cell:>12}" for cell in HEAD), flush=True)
    runs = [(cases, cases // asked.bucket) for cases in sizes]
    if len(sizes) > 1:
        runs.append((sizes[-1], runs[0][1]))
    for cases, buckets in runs:
        with TemporaryDirectory(prefix="srsql-buckets-") as made:
            folder = Path(made)
            files = synthesize(folder / "files", [QUARTER], cases=cases)
            lake.BUCKETS = (buckets, buckets)
            try:
                with Engine(folder / "w.duckdb") as engine:
                    engine.ingest(files, lake=folder / "lake")
                    ((found, largest),) = engine.sql(FILES)
            finally:
                lake.BUCKETS = kept
            peak, seconds = merged(folder, asked.memory_limit)
            cells = [cases, found, f"{largest:.2f}", peak, f"{seconds:.1f}"]
            print(" ".join(f"{cell:>12}" for cell in cells), flush=True)
