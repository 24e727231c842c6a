"""Brute force over whole rows that are taken apart: how many candidates known items leave.

``python -m benchmarks candidates --source FILE --quarter 2022Q4`` releases a quarter and looks for
every case of it by its quasi-identifiers, as its reports tell them, and by every set of at most *m*
of its items. Who a row could be is decided by the checker of the tests (``tests/oracles``), from
released rows and clusters alone; it shares nothing with what makes or measures a release. Printed
are of each k

* the targets, and the sets of items that were looked at (over all ways to know a target);
* the fewest candidates that any of them leaves, the sets that leave fewer than k, and the targets
  that some set leaves out themselves;
* what ``srsql verify`` says of the published artifact: how many rows of clusters and chunks it
  checked, that k cases of every cluster have each of its regions and that chunks keep k^m among
  them, and whether all its checks pass;
* seconds of processor time, of the release and of the brute force.

``--sample N`` looks for so many cases, drawn with k as the seed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from srsql import Engine
from srsql.engine.artifact.verify.verify import verify

HEAD = (
    "| k | m | targets | sets | fewest candidates | below k | lost | verify: rows | passed "
    "| release, s | brute force, s |"
)
CHECK = "terms"
"""The check of ``srsql verify`` of clusters and chunks."""


def measured(
    source: Path, name: str, quarter: str, k: int, m: int, sample: int | None
) -> tuple[str, ...]:
    """The cells of one release; ``source`` is a warehouse, which is copied."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from oracles.whole_rows import Candidates
    from support.whole_rows import SOURCES, released

    with TemporaryDirectory() as folder:
        path = Path(shutil.copy(source, Path(folder) / "candidates.duckdb"))
        with Engine(path, dataset=name) as engine:
            began = process_time()
            shown, clusters, targets = released(engine, SOURCES[name], quarter, k, m)
            made = process_time() - began
            engine.artifact.publish(quarter, to=Path(folder) / "out")
        checks = verify(Path(folder) / "out")
    if sample is not None:
        drawn = random.Random(k).sample(sorted(targets, key=str), sample)
        targets = {each: targets[each] for each in drawn}
    began = process_time()
    left = Candidates(shown, clusters).left(targets, m, k)
    seconds = process_time() - began
    rows = sum(check.total for check in checks.checks if check.name == CHECK)
    return (
        str(k), str(m), f"{left.targets:,}", f"{left.sets:,}", str(left.fewest),
        f"{left.below:,}", str(len(left.lost)), f"{rows:,}", "yes" if checks.passed else "no",
        f"{made:.0f}", f"{seconds:.0f}",
    )  # fmt: skip


def command(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks candidates", description=__doc__)
    parser.add_argument(
        "--source", type=Path, required=True, help="an archive, or a folder of them"
    )
    parser.add_argument("--quarter", required=True, help="several with commas")
    parser.add_argument("--dataset", choices=("faers", "vaers"), default="faers")
    parser.add_argument("--k", default="3,5,10", help="numbers with commas")
    parser.add_argument("--m", type=int, default=2, help="items that an attacker knows, at most")
    parser.add_argument("--sample", type=int, help="so many targets; default: all")
    asked = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        source = Path(folder) / "source.duckdb"
        with Engine(source) as engine:
            engine.ingest([asked.source], dataset=asked.dataset, allow_incomplete=True)
        print(f"| quarter {HEAD}", "|" + " --- |" * (HEAD.count("|")), sep="\n", flush=True)
        for quarter in asked.quarter.split(","):
            for k in map(int, asked.k.split(",")):
                found = measured(source, asked.dataset, quarter, k, asked.m, asked.sample)
                print(f"| {quarter} | {' | '.join(found)} |", flush=True)
