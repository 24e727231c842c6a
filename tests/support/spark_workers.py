"""The workers of Spark within this machine, as the system lists them; one that works is killed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

WORKED = 0.3
"""Seconds of the processor, by which a worker is known to be at work."""
_TICKS = os.sysconf("SC_CLK_TCK")


def workers() -> dict[int, float]:
    """Processes that the daemon of this process' Spark forked, with their seconds of the processor.

    This process started a JVM, which started the daemon.
    """
    parents, daemons, used = {}, set(), {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            pid, fields = (
                int(folder.name),
                (folder / "stat").read_text().rpartition(") ")[2].split(),
            )
            parents[pid] = int(fields[1])
            used[pid] = sum(map(int, fields[11:13])) / _TICKS
            if b"pyspark.daemon" in (folder / "cmdline").read_bytes():
                daemons.add(pid)
    ours = {pid for pid in daemons if parents.get(parents[pid]) == os.getpid()}
    return {pid: used[pid] for pid in daemons if parents[pid] in ours}


@contextmanager
def one_killed() -> Iterator[list[int]]:
    """While this lasts, the first worker that works is killed; its number is in the list then."""
    before, killed, ended = workers(), list[int](), threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            for pid, used in workers().items():
                if used > before.get(pid, 0.0) + WORKED:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                    return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join(10)
