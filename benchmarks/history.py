"""What a release costs when the series behind it grows: seconds per stage by number of the quarter.

Every quarter has as many new cases, and follow-ups of earlier ones. A stage that costs what is new
takes as long in the last quarter as in the tenth; the ratio of the two is what counts. Processor
time and memory are those of the whole process, which makes all the releases. Of the memory, DuckDB
keeps pages of the warehouse, which grows, as long as its limit lets it; the rest is told apart.
"""

from __future__ import annotations

import resource
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from srsql import Engine
from srsql.engine.extras.synth import synthesize

FROM, QUARTERS, CASES = 2004, 60, 4_000
SMALL_QUARTERS, SMALL_CASES = 12, 400
SHOWN = (4, 10, 20)
SPAN = 3
"""Releases around a number whose median stands for it."""
LIMIT = 1.5
"""The last release may take so much of the time of the tenth; more is growth, not noise."""


def labels(n: int) -> list[str]:
    return [f"{FROM + i // 4}Q{1 + i % 4}" for i in range(n)]


def resident() -> float:
    """MiB of memory that the process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def kept_pages(engine: Engine) -> float:
    """MiB of pages of the warehouse that DuckDB keeps."""
    ((pages,),) = engine.sql(
        "SELECT coalesce(sum(m.memory_usage_bytes), 0) FROM duckdb_memory() AS m "
        "WHERE m.tag = 'BASE_TABLE'"
    )
    return float(pages) / 2**20


def around(values: list[float], number: int) -> float:
    """The median of the values of the releases around one of them, which counts from 1."""
    first = max(0, min(number - 1 - SPAN // 2, len(values) - SPAN))
    return sorted(values[first : first + SPAN])[SPAN // 2]


def series(folder: Path, quarters: list[str], cases: int) -> dict[str, list[float]]:
    """Stage -> seconds of each release; ``cpu`` and ``MiB`` of the process beside them."""
    found: dict[str, list[float]] = {}
    with Engine(folder / "history.duckdb") as engine:
        for path in synthesize(folder / "files", quarters, cases=cases, zipped=False):
            engine.ingest([path])
        for quarter in quarters:
            began = process_time()
            made = engine.release.make(quarter, model="ppms++", k=5, theta="0.4", seed=1)
            for stage, seconds in made.seconds.items():
                found.setdefault(stage, []).append(seconds)
            found.setdefault("all stages", []).append(sum(made.seconds.values()))
            found.setdefault("cpu", []).append(process_time() - began)
            has = resident()
            found.setdefault("MiB", []).append(has)
            found.setdefault("MiB beside pages", []).append(has - kept_pages(engine))
    return found


def main(small: bool) -> None:
    """Print the seconds of each stage, and the ratio of the last quarter to the tenth."""
    quarters = labels(SMALL_QUARTERS if small else QUARTERS)
    shown = [n for n in (*SHOWN, len(quarters)) if n <= len(quarters)]
    with TemporaryDirectory() as folder:
        found = series(Path(folder), quarters, SMALL_CASES if small else CASES)
    head = ("stage", *(f"quarter {n}" for n in shown), "last to 10th")
    print("".join(f"{cell:>14}" for cell in head))
    for stage, values in found.items():
        ratio = around(values, len(values)) / max(around(values, 10), 1e-9)
        cells = [f"{around(values, n):.3f}" for n in shown]
        print(f"{stage[:20]:>20}" + "".join(f"{c:>12}" for c in cells) + f"{ratio:>12.2f}")
    grown = around(found["audit"], len(quarters)) / around(found["audit"], 4)
    print(f"audit, last to fourth: {grown:.2f}")
