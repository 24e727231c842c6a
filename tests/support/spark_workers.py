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
    """Processes that a daemon of pyspark forked, with their seconds of the processor."""
    daemons, found = set(), {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if b"pyspark.daemon" not in (folder / "cmdline").read_bytes():
                continue
            fields = (folder / "stat").read_text().rpartition(") ")[2].split()
            daemons.add(int(folder.name))
            found[int(folder.name)] = int(fields[1]), sum(map(int, fields[11:13])) / _TICKS
    return {pid: used for pid, (parent, used) in found.items() if parent in daemons}


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
