"""A whole process from a CSV file to a release: importing, opening, ingesting, releasing, closing.

    python -m benchmarks rows [--rows 1000000] [--models k-anonymity,xy-anonymity] [--k 5]
        [--runs 3] [--against FOLDER]

The table is the one that the peers get (``benchmarks.peers.people``): a row a case with age,
weight, sex and the first reaction of synthetic reports, most of which lack a value. Each run is a
process of its own; where another checkout is given, in which the package is found as ``srsql``
(FOLDER/srsql), its runs take turns with ours, and what is told in the end is the ratio of the
medians.

Source: SPEC section 17.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks import one_release
from benchmarks.one_release import STAGES
from benchmarks.peers.ours import write_dataset
from benchmarks.peers.people import write_people

COLUMNS = (*STAGES, "whole", "cpu", "MiB")
"""Seconds of the stages, of the process by the clock and of its processors, and its peak."""
FEW = 300
"""Rows of a first run, after which no kernel has to be compiled."""


def command(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks rows")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--models", default="k-anonymity", help="names with commas")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3, help="of each model and checkout")
    parser.add_argument("--against", type=Path, help="folder with another checkout, named srsql")
    asked = parser.parse_args(arguments)
    checkouts = {"this": None} | ({"other": asked.against} if asked.against else {})
    print("model", "checkout", *COLUMNS, sep="\t")
    with TemporaryDirectory() as place:
        folder = Path(place)
        dataset = write_dataset(folder)
        (whole, _), (few, _) = (_tables(folder, rows) for rows in (asked.rows, FEW))
        for model in asked.models.split(","):
            task = {"dataset": str(dataset), "model": model, "k": str(asked.k)}
            for name in checkouts:
                _run(few, task, checkouts[name])
            medians = _measured(whole, task, checkouts, asked.runs)
            if "other" in medians:
                print(f"{model}: {medians['this'] / medians['other']:.2f} of the other's time")


def _tables(folder: Path, rows: int) -> list[Path]:
    made = folder / str(rows)
    made.mkdir()
    return [table.file for table in write_people(made, [rows])]


def _measured(
    file: Path, task: dict[str, str], checkouts: dict[str, Path | None], runs: int
) -> dict[str, float]:
    """Prints every run; the median of the whole of each checkout."""
    wholes: dict[str, list[float]] = {name: [] for name in checkouts}
    for _ in range(runs):
        for name, other in checkouts.items():
            found = _run(file, task, other)
            print(task["model"], name, *(f"{found[each]:.2f}" for each in COLUMNS), sep="\t")
            wholes[name].append(found["whole"])
    return {name: median(seconds) for name, seconds in wholes.items()}


def _run(file: Path, task: dict[str, str], checkout: Path | None) -> dict[str, float]:
    """One process; seconds of its stages, and what it took in all."""
    environment = dict(os.environ)
    if checkout is not None:
        environment["PYTHONPATH"] = str(checkout.resolve())
    asked = json.dumps(task | {"file": str(file)})
    call = [sys.executable, "-P", str(one_release.__file__), asked]
    began = perf_counter()
    done = subprocess.run(call, env=environment, check=True, capture_output=True, text=True)
    stages: dict[str, float] = json.loads(done.stdout)
    return stages | {"whole": perf_counter() - began}
