"""What count tables tell of a real quarter, what each rule costs, and what an attacker gets.

    python -m benchmarks told_counts --source FILE --quarter 2022Q4 [--dataset vaers]
        [--table-k 5,3] [--tree "sex first,age first,flat"]

Counted are the cases that have a drug, in strata of their own sex and age: a release tells no
more strata, since regions that straddle two are of neither. Thresholds are those of
``frequency``.

* *signals*: pairs that meet the MHRA criterion on the originals; *k*: those of k cases and more;
  why the rest of these is not told; *equal*: told ones whose PRR, ROR and IC are those of the
  originals to the last digit; *EBGM*: how far it is from the originals' where its prior is fitted
  to told pairs (median and greatest, as a ratio).
* *strata*: the share of told incidences of a drug and a reaction of which sex, age or both are
  told.
* *women of 65 and more*: of the pairs that some of them have, those that are told; of the others
  the median of upper bound to truth.
* *released* (``--released``): the same question of a release with counts, and of one of whole rows
  taken apart, for pairs that 3 of these women have: the share that is exact, and of the others
  the median of upper bound to truth. ``wrong`` counts bounds that leave the truth out.
* *attacker*: pairs of told items, by stratum, that are not told; those known to be 1 to k - 1,
  those pinned, and those of which a lower bound breaks the threshold, by bounds of Fréchet, by
  parts and wholes (shuttle), and by a third item that both have told pairs with.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.told_counts.attacker import attacked
from benchmarks.told_counts.figures import signals, strata_told, women
from benchmarks.told_counts.released import women_of_releases
from benchmarks.told_counts.tables import TREES, count, read
from srsql import Engine
from srsql.engine.extras.synth import synthesize

SYNTHETIC = "synthetic"


def command(arguments: Sequence[str]) -> None:
    """Measure and print; see the module."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks told_counts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--source", default=SYNTHETIC, help="a file; else a synthetic quarter")
    parser.add_argument("--quarter", default="2011Q4")
    parser.add_argument("--dataset", default="faers")
    parser.add_argument("--scale", type=float, default=1.0, help="of the synthetic quarter")
    parser.add_argument("--table-k", default="5,3")
    parser.add_argument("--tree", default=",".join(TREES))
    parser.add_argument("--no-attacker", action="store_true")
    parser.add_argument("--released", action="store_true", help="releases alone")
    asked = parser.parse_args(arguments)
    with TemporaryDirectory() as made, Engine(Path(made) / "w.duckdb") as engine:
        if asked.source == SYNTHETIC:
            source = synthesize(Path(made) / "files", [asked.quarter], scale=asked.scale, seed=1)
        else:
            source = [Path(asked.source)]
        engine.ingest(source, dataset=asked.dataset, allow_incomplete=True)
        if asked.released:
            _released(engine, asked)
            return
        cases = read(engine, asked.dataset, asked.quarter)
        print(f"{asked.dataset} {asked.quarter}: {cases:,} cases with a drug")
        for k in map(int, asked.table_k.split(",")):
            for number, tree in enumerate(asked.tree.split(",")):
                count(engine.con, TREES[tree], k)
                if number == 0:
                    print(f"k = {k}: signals {signals(engine.con, k)}")
                print(f"k = {k}, {tree}: strata {strata_told(engine.con, TREES[tree])}")
                print(f"k = {k}, {tree}: women of 65 and more {women(engine.con, TREES[tree])}")
                if number == 0 and not asked.no_attacker:
                    for step, found in attacked(engine.con, TREES[tree], k).items():
                        print(f"k = {k}, {tree}: attacker, {step}: {found}", flush=True)


def _released(engine: Engine, asked: argparse.Namespace) -> None:
    """Of the first k."""
    k = int(asked.table_k.split(",")[0])
    for kind, found in women_of_releases(engine, asked.dataset, asked.quarter, k):
        print(f"k = {k}, {kind}: women of 65 and more {found}", flush=True)
