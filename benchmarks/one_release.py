"""One release as a process of its own, which imports nothing else: ``python one_release.py TASK``.

The task is JSON: file, dataset, model, k. Printed are the seconds of each stage, the processor
time of the process and its peak memory.
"""

from __future__ import annotations

import json
import resource
import sys
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

QUARTER = "2011Q1"
STAGES = ("import", "open", "ingest", "release", "close")


def run(task: dict[str, str]) -> dict[str, float]:
    """What each stage took."""
    moments = [perf_counter()]
    from srsql import Engine

    moments.append(perf_counter())
    with TemporaryDirectory() as place:
        engine = Engine(Path(place) / "rows.duckdb", dataset=task["dataset"])
        moments.append(perf_counter())
        engine.ingest([task["file"]], period=QUARTER)
        moments.append(perf_counter())
        engine.release.make(
            QUARTER, model=task["model"], k=int(task["k"]), seed=1, on_infeasible="withhold"
        )
        moments.append(perf_counter())
        engine.close()
        moments.append(perf_counter())
    seconds = (after - before for before, after in pairwise(moments))
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = dict(zip(STAGES, seconds, strict=True))
    return found | {"cpu": used.ru_utime + used.ru_stime, "MiB": _peak()}


def _peak() -> float:
    """MiB; what ``getrusage`` tells begins with the peak of whoever started the process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.argv[1]))))
