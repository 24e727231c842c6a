"""Running a grid: every cell in a process and on a copy of its own, finished ones never again."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from srsql.engine.catalog.datasets import dataset_names
from srsql.engine.catalog.releases import not_ingested
from srsql.engine.errors import CompareError, SrsqlError
from srsql.engine.extras.study.grid import Cell, Rules
from srsql.engine.release.request import is_range, range_ends
from srsql.engine.store.database_file import LEAST_MEMORY
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.version import __version__

CELLS = "cells"
"""Folder of the finished cells."""
LEAST = 2**31
"""Bytes of memory for which a further worker is started."""
SHARE = 0.8
"""Of the memory that is available, what all workers may take."""
Progress = Callable[[str], None]
WORKER = f"{__package__}.worker"
"""The module that each process runs: it measures a single cell."""
_COPY = "import shutil, sys; shutil.copyfile(sys.argv[1], sys.argv[2])"


@dataclass(frozen=True)
class Workers:
    """The processes that measure cells, and where their results go."""

    out: Path
    """Folder for results and finished cells, made if absent."""
    jobs: int | None = None
    """Processes at a time; None: as many as cores and memory take."""
    progress: Progress | None = None
    """Takes one line at a time."""
    tell: Progress = field(default=lambda _: None, kw_only=True)
    """Takes what an advice knows before its end, a line at a time."""
    error: type[SrsqlError] = field(default=CompareError, kw_only=True)
    """The kind of error that is raised."""
    csv_safe: bool = field(default=False, kw_only=True)
    """Whether cells of CSV files have an apostrophe where they would be formulas."""

    def check(self) -> None:
        """Refuse less than one process.

        Raises:
            SrsqlError: of the kind ``error``.
        """
        if self.jobs is not None and self.jobs < 1:
            raise self.error(f"--jobs {self.jobs}: give at least 1")

    def need_one_set(self, dataset: Dataset) -> None:
        """Refuse a dataset by which settings are not measured."""
        dataset.need_one_set(
            self.error,
            "by which models are not compared: give a dataset without [[qid_set]], or "
            "'srsql release' and 'srsql metrics' for each setting",
        )

    def make_folder(self) -> Path:
        """The folder of the finished cells.

        Raises:
            SrsqlError: of the kind ``error``: it cannot be made.
        """
        folder = self.out / CELLS
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self.error(f"{folder} cannot be made ({error.strerror}): give --out") from None
        return folder


def quarters_of(warehouse: Warehouse, dataset: Dataset, text: str) -> list[str]:
    """The ingested quarters of ``A:B``, or of one quarter.

    Args:
        warehouse: whose catalog is asked.
        dataset: whose quarters.
        text: a range, or one quarter.

    Raises:
        CompareError: an end of the range is not ingested.
    """
    first, last = range_ends(text) if is_range(text) else (text, text)
    rows = warehouse.rows(query("study/data", "ingested_quarters"), [dataset.name, first, last])
    found = [quarter for (quarter,) in rows]
    for end in (first, last):
        if end not in found:
            raise CompareError(not_ingested(warehouse, dataset.name, end))
    return found


def fingerprint(warehouse: Warehouse, dataset: Dataset, quarters: list[str], rules: Rules) -> str:
    """What results follow from beside the cell: data, schema, rules and software.

    Args:
        warehouse: whose catalog is asked.
        dataset: whose data.
        quarters: those that are released.
        rules: whose signals are measured.
    """
    files = warehouse.rows(query("study/data", "ingested_files"), [dataset.name])
    schema = warehouse.rows(query("study/data", "schema_fingerprint"), [dataset.name])
    return json.dumps([__version__, dataset.name, files, schema, quarters, rules.content])


def run(
    warehouse: Warehouse,
    dataset: Dataset,
    todo: Sequence[tuple[Cell, Path]],
    quarters: list[str],
    rules: Rules,
    workers: Workers,
    more: Mapping[str, Any] | None = None,
) -> dict[Path, str]:
    """Measure the cells; each that ends well has its file.

    The warehouse is only read, and free for others once it is copied.

    Args:
        warehouse: a file; every worker has a copy of its own.
        dataset: whose quarters are released.
        todo: the cells, each with the file of its results.
        quarters: what every cell releases, in order.
        rules: whose signals are measured.
        workers: the processes.
        more: what a task has beside what every task has.

    Returns:
        Of cells whose worker broke off, why.

    Raises:
        CompareError: the warehouse is no file, or the folder takes no copy of it.
    """
    if not todo:
        return {}
    if warehouse.path is None:
        raise workers.error("this works on copies of a warehouse file: open one, or give --db")
    if dataset.name not in dataset_names(warehouse):
        raise CompareError(f"dataset {dataset.name} is not in the warehouse: ingest it first")
    cores, memory = _machine(warehouse)
    jobs = jobs_of(warehouse, workers)
    task = {
        **(more or {}),
        "dataset": dataset.name,
        "quarters": quarters,
        "signals": rules.call,
        "threads": max(1, cores // jobs),
        "memory_limit": f"{max(memory // jobs, LEAST_MEMORY) >> 20}MiB",
    }
    with _scratch(warehouse) as folder:
        task["snapshot"] = str(_copy(warehouse.path, folder / "snapshot.duckdb"))
        processes = _Processes(_Lines(len(todo), workers.progress))
        broken: dict[Path, str] = {}

        def measure(cell: Cell, file: Path) -> None:
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                own = {
                    "scratch": str(Path(scratch) / "w.duckdb"),
                    "options": dict(cell.options),
                    "cases": cell.cases,
                    "file": str(file),
                }
                why = processes.measure(cell, task | own)
            if why is not None:
                broken[file] = why

        with warehouse.let_go(), ThreadPoolExecutor(jobs) as pool:
            try:
                for each in [pool.submit(measure, cell, file) for cell, file in todo]:
                    each.result()
            except BaseException:
                processes.stop()
                raise
    return broken


def jobs_of(warehouse: Warehouse, workers: Workers) -> int:
    """How many workers are at work at a time.

    Args:
        warehouse: of which each has a copy.
        workers: as they were asked for.
    """
    size = sum(f.stat().st_size for f in _files(warehouse.path)) if warehouse.path else 0
    return workers.jobs or _fitting(size, *_machine(warehouse))


def _machine(warehouse: Warehouse) -> tuple[int, int]:
    """Cores and bytes of memory for all workers together."""
    limits = warehouse.limits
    memory = int(available_memory() * SHARE) if limits.bytes is None else limits.bytes
    return limits.threads or _cores(), memory


class _Processes:
    """The workers that run, so that they end with the comparison."""

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self._stopped = threading.Event()
        self._running: set[subprocess.Popen[str]] = set()

    def stop(self) -> None:
        """End all of them, and start no more."""
        self._stopped.set()
        for process in list(self._running):
            process.kill()

    def measure(self, cell: Cell, task: dict[str, Any]) -> str | None:
        """Have one worker do the task; why it broke off, if it did."""
        if self._stopped.is_set():
            return None
        with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
            )
            self._running.add(process)
            assert process.stdin is not None
            assert process.stdout is not None
            with process.stdin, process.stdout:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(json.dumps(task) + "\n")
                    process.stdin.flush()
                for line in process.stdout:
                    if self._stopped.is_set():
                        process.kill()
                    self._lines.show(cell, line.strip())
                code = process.wait()
            self._running.discard(process)
            self._lines.count_one()
            if code == 0:
                return None
            if code < 0:
                return f"the worker was ended by signal {-code} (out of memory?): run it again"
            errors.seek(0)
            last = (errors.read().strip().splitlines() or [f"exit code {code}"])[-1]
            return f"the worker failed: {' '.join(last.split())[:300]}"


class _Lines:
    """Progress of several workers as one line."""

    def __init__(self, cells: int, progress: Progress | None) -> None:
        self._cells, self._progress, self._done = cells, progress, 0
        self._lock = threading.Lock()

    def show(self, cell: Cell, text: str) -> None:
        """What a worker does for a cell."""
        with self._lock:
            if self._progress:
                self._progress(f"{self._done} of {self._cells} cells; {cell.label}: {text}")

    def count_one(self) -> None:
        """A cell is finished."""
        with self._lock:
            self._done += 1


@contextmanager
def _scratch(warehouse: Warehouse) -> Iterator[Path]:
    """A folder for copies of the warehouse, in the private one of the warehouse; never among the
    results, which others may read."""
    if warehouse.scratch is None:
        raise CompareError(f"there is no room for copies beside {warehouse.path}: make some")
    with tempfile.TemporaryDirectory(prefix="study-", dir=warehouse.scratch) as folder:
        yield Path(folder)


def _files(path: Path) -> list[Path]:
    return [f for f in (path, path.with_name(f"{path.name}.wal")) if f.exists()]


def _copy(path: Path, target: Path) -> Path:
    """The warehouse as it is, by a process of its own: closing a file gives up the locks on it."""
    for file in _files(path):
        to = target if file == path else target.with_name(f"{target.name}.wal")
        done = subprocess.run(
            [sys.executable, "-I", "-c", _COPY, str(file), str(to)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            full = OSError(errno.ENOSPC, why) if "No space left" in why else None
            raise CompareError(f"{path} cannot be copied to {target.parent}: {why}") from full
    return target


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int:
    """Bytes that are available, of the machine or of the group this process is in."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found = int(line.split()[1]) * 1024
    with contextlib.suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text(encoding="ascii"))
        used = int((group / "memory.current").read_text(encoding="ascii"))
        found = min(found, max(limit - used, 0))
    return found


def _fitting(size: int, cores: int, memory: int) -> int:
    """How many workers the cores and the memory take; a release needs several times its data."""
    return max(1, min(cores, memory // max(LEAST, 4 * size)))
