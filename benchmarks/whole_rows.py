"""Whole rows of a synthetic quarter taken apart, all items: seconds, memory, growth, who is alone.

``python -m benchmarks whole_rows --scale 0.24,0.48,1,2.4`` writes 2011Q4 with the row counts of the
real one times each scale (seed 1), ingests it, and releases it in a process of its own. Printed are

* processor seconds and peak memory of the release, after a small one that loads the kernels;
* its cases and clusters; *in chunks*: of the rows that tell items, those of record chunks, one an
  occurrence, beside those of item chunks, one a cluster and item;
* *below k*: the cases that some one item, some two items, and all their items leave with fewer than
  k candidates, as ``srsql metrics`` has them (``candidates_below_k``), of ``--cases`` drawn ones
  (default: all); *told*: the cases of which some two items tell a further value with certainty;
* the exponents: seconds = c · reports^a between two sizes and by least squares over all of them;
* ``--stages``: the processor seconds of each stage of the largest.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

from benchmarks.faers import forget_peak
from benchmarks.kernel import peak_mib
from srsql import Engine
from srsql.engine.extras.synth import synthesize
from srsql.engine.risk.singling_out import EVERY_CASE, measure_singling_out
from srsql.engine.shapes import series_dataset

QUARTER, SEED, WARM = "2011Q4", 1, 500
BELOW = tuple(
    ("candidates_below_k", f"{items}{of}")
    for items, of in (
        ("1 of the drugs or terms", ", worst"), ("2 of the drugs or terms", ", worst"),
        ("all drugs and terms", ""),
    )
)  # fmt: skip
TOLD = ("certain_term", "2 of the drugs or terms, worst")
HEAD = (
    "| reports | cases | clusters | in chunks | release, s | peak MiB | looked at "
    "| below k: 1 item | 2 items | all items | told | looking, s |"
)


class Stages:
    """Told each stage when it begins; adds up the processor time of all of them."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._name, self._began = "", process_time()

    def __call__(self, step: str) -> None:
        """A stage begins, and so the one before is over."""
        now = process_time()
        self.seconds[self._name] += now - self._began
        self._name, self._began = step, now


@dataclass(frozen=True)
class Measured:
    """One release."""

    reports: int
    cases: int
    clusters: int
    in_chunks: float
    seconds: float
    peak_mib: float
    looked_at: int
    below: Sequence[float]
    """Cases with fewer than k candidates, by ``BELOW``."""
    told: float
    looking: float
    """Seconds of measuring who is singled out."""
    stages: dict[str, float] = field(default_factory=dict)


def measure(source: Path, warm: Path, options: dict[str, Any], cases: int) -> Measured:
    """Release the quarter of an archive; ``warm`` is a small one, of which nothing is told."""
    with TemporaryDirectory() as folder:
        with Engine(Path(folder) / "warm.duckdb") as engine:
            engine.ingest([warm])
            engine.release.make(QUARTER, **options)
        with Engine(Path(folder) / "rows.duckdb") as engine:
            engine.ingest([source])
            forget_peak()
            stages, began = Stages(), process_time()
            made = engine.release.make(QUARTER, progress=stages, **options)
            seconds, peak = process_time() - began, peak_mib()
            stages("end")
            began = process_time()
            visible = series_dataset(engine.warehouse, engine.dataset(), "main")
            found = {
                (row.measure, row.scope): row
                for row in measure_singling_out(engine.warehouse, visible, made.release_id, cases)
            }
            looking = process_time() - began
            ((reports, released, clusters, told, alone),) = engine.sql(
                f"SELECT (SELECT count(*) FROM raw_faers.demo), "
                f"(SELECT count(*) FROM {made.schema}.demo), "
                f"(SELECT count(*) FROM {made.schema}.clusters), "
                f"(SELECT count(*) FROM {made.schema}.record_chunk), "
                f"(SELECT count(*) FROM {made.schema}.item_chunk)"
            )
    return Measured(
        reports, released, clusters, told / (told + alone), seconds, peak,
        int(found[BELOW[1]].total or 0), [found[each].violating or 0.0 for each in BELOW],
        found[TOLD].ratio or 0.0, looking, dict(stages.seconds),
    )  # fmt: skip


def measured_apart(source: Path, warm: Path, options: dict[str, Any], cases: int) -> Measured:
    """The same in a process of its own."""
    asked = json.dumps([str(source), str(warm), options, cases])
    command = [sys.executable, "-m", "benchmarks.whole_rows", asked]
    return Measured(
        **json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    )


def exponents(found: Sequence[Measured]) -> tuple[list[float], float]:
    """Of seconds over reports: between neighbours, and by least squares over all."""
    points = [(log(one.reports), log(one.seconds)) for one in found]
    between = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in pairwise(points)]
    x, y = np.array(points).T
    return between, float(np.polyfit(x, y, 1)[0])


def command(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks whole_rows",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--scale", default="0.24,0.48,1,2.4", help="numbers with commas")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--m", type=int, default=2)
    parser.add_argument("--cases", type=int, default=EVERY_CASE, help="that are looked for")
    parser.add_argument("--stages", action="store_true", help="of the largest release")
    asked = parser.parse_args(arguments)
    options = {
        "model": "ms", "k": asked.k, "m": asked.m, "terms": "disassociate",
        "term_attributes": "all", "seed": SEED, "on_infeasible": "withhold",
    }  # fmt: skip
    print(HEAD, "|" + " --- |" * (HEAD.count("|") - 1), sep="\n", flush=True)
    found: list[Measured] = []
    with TemporaryDirectory() as folder:
        (warm,) = synthesize(Path(folder) / "warm", [QUARTER], cases=WARM, seed=SEED)
        for scale in sorted(map(float, asked.scale.split(","))):
            out = Path(folder) / f"{scale:g}"
            (source,) = synthesize(out, [QUARTER], scale=scale, seed=SEED)
            found.append(measured_apart(source, warm, options, asked.cases))
            source.unlink()
            one = found[-1]
            below = " | ".join(f"{count:,.0f}" for count in one.below)
            print(
                f"| {one.reports:,} | {one.cases:,} | {one.clusters:,} | {one.in_chunks:.1%} "
                f"| {one.seconds:.1f} | {one.peak_mib:,.0f} | {one.looked_at:,} | {below} "
                f"| {one.told:.1%} | {one.looking:.1f} |",
                flush=True,
            )
    if len(found) > 1:
        between, fitted = exponents(found)
        print(f"between neighbours {', '.join(f'{a:.2f}' for a in between)}; fitted {fitted:.2f}")
    if asked.stages:
        for name, seconds in sorted(found[-1].stages.items(), key=lambda each: -each[1]):
            print(f"{seconds:>10.1f} {name}")


if __name__ == "__main__":
    archive, small, options_of, drawn = json.loads(sys.argv[1])
    print(json.dumps(asdict(measure(Path(archive), Path(small), options_of, drawn))))
