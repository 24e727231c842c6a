"""What grouping by parts loses and takes beside the run without, in one process and in several.

    python -m benchmarks parts --source FILE ... [--dataset faers] [--models ms] [--theta frequency]
        [--refine off,fast] [--parts 1,auto] [--workers 1,2] [--least 10000]

Each setting is a series of its own, of all periods of the files. Seconds are those of the grouping
stage: by the clock, of this process, and of its workers. ``--least`` makes parts of fewer cases
than releases do, so that small periods are cut as well; the rest is as the command does it.

Source: SPEC section 17.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.stage_watch import StageWatch
from srsql import Engine
from srsql.engine.grouping import parts as grouping

HEAD = ("period", "model", "theta", "refine", "parts", "workers", "NIL", "cases", "withheld",
        "clock s", "own CPU s", "workers' s")  # fmt: skip
NIL = """
    SELECT m.ratio FROM srsql.measure AS m
    WHERE m.release_id = ? AND m.stage = 'metric' AND m.measure = 'nil'
"""


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    found = argparse.ArgumentParser(
        "python -m benchmarks parts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("--source", type=Path, nargs="+", required=True)
    found.add_argument("--dataset", default="faers")
    for name, usual in (
        ("models", "ms"),
        ("theta", "frequency"),
        ("refine", "off,fast"),
        ("parts", "1,auto"),
        ("workers", "1,2"),
    ):
        found.add_argument(f"--{name}", type=lambda text: text.split(","), default=usual.split(","))
    found.add_argument("--least", type=int, default=grouping.LEAST, help="cases of a part")
    return found


def settings(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Options of releases; one process carries what is not cut."""
    names = ("models", "theta", "refine", "parts", "workers")
    found = []
    for model, theta, refine, parts, workers in product(*(asked[name] for name in names)):
        if parts == "1" and workers != asked["workers"][0]:
            continue
        alpha = {"assume_md": "all"} if model == "ppms-alpha" else {}
        found.append(
            {"model": model, "theta": theta, "refine": refine, "parts": parts,
             "workers": int(workers), **alpha}
        )  # fmt: skip
    return found


def command(arguments: Sequence[str]) -> None:
    """Measure and print; see the module."""
    asked = vars(parser().parse_args(arguments))
    grouping.LEAST = asked["least"]
    print("".join(f"{cell:>11}" for cell in HEAD), flush=True)
    with (
        TemporaryDirectory(prefix="srsql-parts-") as folder,
        Engine(Path(folder) / "warehouse.duckdb", dataset=asked["dataset"]) as engine,
    ):
        periods = sorted(
            {row.quarter for row in engine.ingest(asked["source"], allow_incomplete=True)}
        )
        for number, options in enumerate(settings(asked)):
            for period in periods:
                watch = StageWatch("grouping")
                made = engine.release.make(
                    period, series=f"parts{number}", seed=1, ids="original", progress=watch,
                    on_infeasible="withhold", allow_linkable=True, **options,
                )  # fmt: skip
                ((nil,),) = engine.sql(NIL, [made.release_id])
                cases = made.manifest["cases"]
                cells = [period, *(options[name] for name in HEAD[1:6]), f"{nil:.6f}"]
                cells += [
                    cases["released"],
                    cases["withheld"],
                    *(f"{s:.1f}" for s in (watch.seconds, watch.cpu, watch.others)),
                ]
                print("".join(f"{cell:>11}" for cell in cells), flush=True)
