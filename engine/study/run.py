"""Running a grid: every cell in a process and on a copy of its own, finished ones never again."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from srsql.engine.errors import CompareError
from srsql.engine.release.ranges import is_range, range_ends
from srsql.engine.study.grid import Cell, Rules
from srsql.engine.warehouse.catalog import dataset_names
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.version import __version__

CELLS = "cells"
"""Folder of the finished cells."""
LEAST = 2**31
"""Bytes of memory for which a further worker is started."""
SHARE = 0.8
"""Of the memory that is available, what all workers may take."""
Progress = Callable[[str], None]
WORKER = "srsql.engine.api.cell_worker"
"""Module that works a cell off."""
_COPY = "import shutil, sys; shutil.copyfile(sys.argv[1], sys.argv[2])"


def quarters_of(warehouse: Warehouse, dataset: Dataset, text: str) -> list[str]:
    """The ingested quarters of ``A:B``, or of one quarter.

    Raises:
        CompareError: an end of the range is not ingested.
    """
    first, last = range_ends(text) if is_range(text) else (text, text)
    found = [
        row[0]
        for row in warehouse.rows(
            "SELECT DISTINCT i.quarter FROM srsql.ingestion AS i WHERE i.dataset = ? "
            "AND NOT i.replaced AND i.quarter BETWEEN ? AND ? ORDER BY i.quarter",
            [dataset.name, first, last],
        )
    ]
    for end in (first, last):
        if end not in found:
            raise CompareError(
                f"{end} of dataset {dataset.name} is not in the warehouse: ingest it first"
            )
    return found


def fingerprint(warehouse: Warehouse, dataset: Dataset, quarters: list[str], rules: Rules) -> str:
    """What results follow from beside the cell: data, schema, rules and software."""
    loaded = warehouse.rows(
        "SELECT i.quarter, i.sha256 FROM srsql.ingestion AS i "
        "WHERE i.dataset = ? AND NOT i.replaced ORDER BY i.quarter, i.sha256",
        [dataset.name],
    )
    schema = warehouse.rows(
        "SELECT d.fingerprint FROM srsql.dataset AS d WHERE d.dataset = ?", [dataset.name]
    )
    return json.dumps([__version__, dataset.name, loaded, schema, quarters, rules.content])


def run(
    warehouse: Warehouse,
    dataset: Dataset,
    todo: Sequence[tuple[Cell, Path]],
    quarters: list[str],
    rules: Rules,
    jobs: int | None,
    progress: Progress | None,
    module: str = WORKER,
    more: Mapping[str, Any] | None = None,
) -> dict[Path, str]:
    """Work the cells off; each that ends well has its file. The warehouse is only read.

    ``module``: what works a cell off, with ``more`` in its task.

    Returns:
        Of cells whose worker broke off, why.

    Raises:
        CompareError: the warehouse is no file, or the folder takes no copy of it.
    """
    if not todo:
        return {}
    if warehouse.path is None:
        raise CompareError("this works on copies of a warehouse file: open one, or give --db")
    if dataset.name not in dataset_names(warehouse):
        raise CompareError(f"dataset {dataset.name} is not in the warehouse: ingest it first")
    size = sum(f.stat().st_size for f in _files(warehouse.path))
    jobs = jobs or _fitting(size)
    task = {
        **(more or {}),
        "module": module,
        "dataset": dataset.name,
        "quarters": quarters,
        "signals": rules.asked,
        "threads": max(1, _cores() // jobs),
        "memory_limit": f"{max(_memory() * SHARE / jobs / 2**20, 512):.0f}MiB",
    }
    broken: dict[Path, str] = {}
    told = _Told(len(todo), progress)
    with _scratch(todo[0][1].parent) as folder:
        snapshot = _copied(warehouse.path, folder / "snapshot.duckdb")
        stopped = threading.Event()
        running: set[subprocess.Popen[str]] = set()

        def one(cell: Cell, file: Path) -> None:
            if stopped.is_set():
                return
            with tempfile.TemporaryDirectory(dir=folder) as own:
                options = dict(cell.options)
                asked = task | {
                    "snapshot": str(snapshot),
                    "scratch": str(Path(own) / "w.duckdb"),
                    "options": options,
                    "cases": cell.cases,
                    "file": str(file),
                }
                why = _work(asked, lambda text: told(cell, text), stopped, running)
            if why is not None:
                broken[file] = why
            told.finished()

        with ThreadPoolExecutor(jobs) as pool:
            try:
                for done in [pool.submit(one, cell, file) for cell, file in todo]:
                    done.result()
            except BaseException:
                stopped.set()
                for worker in list(running):
                    worker.kill()
                raise
    return broken


def _work(
    task: dict[str, Any],
    tell: Progress,
    stopped: threading.Event,
    running: set[subprocess.Popen[str]],
) -> str | None:
    """Have one worker do the task; why it broke off, if it did."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        worker = subprocess.Popen(
            [sys.executable, "-P", "-m", task["module"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
        )
        running.add(worker)
        assert worker.stdin is not None
        assert worker.stdout is not None
        with worker.stdin, worker.stdout:
            with contextlib.suppress(BrokenPipeError):
                worker.stdin.write(json.dumps(task) + "\n")
                worker.stdin.flush()
            for line in worker.stdout:
                if stopped.is_set():
                    worker.kill()
                tell(line.strip())
            code = worker.wait()
        running.discard(worker)
        if code == 0:
            return None
        if code < 0:
            return f"the worker was ended by signal {-code} (out of memory?): run it again"
        errors.seek(0)
        last = (errors.read().strip().splitlines() or [f"exit code {code}"])[-1]
        return f"the worker failed: {' '.join(last.split())[:300]}"


class _Told:
    """Progress of several workers as one line."""

    def __init__(self, cells: int, progress: Progress | None) -> None:
        self._cells, self._progress, self._done = cells, progress, 0
        self._lock = threading.Lock()

    def __call__(self, cell: Cell, text: str) -> None:
        with self._lock:
            if self._progress:
                self._progress(f"{self._done} of {self._cells} cells; {cell.label}: {text}")

    def finished(self) -> None:
        with self._lock:
            self._done += 1


@contextmanager
def _scratch(beside: Path) -> Iterator[Path]:
    """A folder for copies of the warehouse, gone at the end; those of killed runs go, too."""
    for old in beside.glob(".scratch-*"):
        if not _alive(int(old.name.partition("-")[2])):
            shutil.rmtree(old, ignore_errors=True)
    folder = beside / f".scratch-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        raise CompareError(f"{beside} cannot be written ({error.strerror})") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _files(path: Path) -> list[Path]:
    return [f for f in (path, path.with_name(f"{path.name}.wal")) if f.exists()]


def _copied(path: Path, target: Path) -> Path:
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
            raise CompareError(f"{path} cannot be copied to {target.parent}: {why}")
    return target


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> int:
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


def _fitting(size: int) -> int:
    """How many workers the cores and the memory take; a release needs several times its data."""
    return max(1, min(_cores(), int(_memory() * SHARE) // max(LEAST, 4 * size)))
