"""What refinement saves beside the greedy, how near it is to the best, and how long it takes.

    python -m benchmarks refinement losses --source FILE ... --dataset faers --models ms,ppms++
        [--k 5,10,20] [--theta frequency,0.4,0.2] [--seeds 1,2,3] [--missing keep]
        [--efforts off,fast,full]
    python -m benchmarks refinement optima --source FILE [--instances 100]
    python -m benchmarks refinement times [--cases 50000,100000] [--full-cases 20000]
    python -m benchmarks refinement times --source FILE

*losses* releases the periods of the files as one series a setting, with the command's own options;
a seed draws the first record of every pattern, so that seeds tell what several would win.
*optima* draws a few records and compares with the best of all groupings of them. *times* runs the
kernels alone on synthetic quarters, or of files the grouping stage of a release. Seconds are those
of the processor, of all threads.

Source: SPEC section 7 (refinement).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.refinement import losses, optima, times

EFFORTS = ("off", "fast", "full")


def words(text: str) -> list[str]:
    """The parts of a list with commas."""
    return [word for part in text.split(",") if (word := part.strip())]


def numbers(text: str) -> list[int]:
    """The same of whole numbers."""
    return [int(word) for word in words(text)]


def fractions(text: str) -> list[Fraction]:
    """The same of exact fractions."""
    return [Fraction(word) for word in words(text)]


def efforts(text: str) -> list[str]:
    """The same of ``--refine``.

    Raises:
        ValueError: one of them is none.
    """
    asked = words(text)
    if not set(asked) <= set(EFFORTS):
        raise ValueError(text)
    return asked


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    told: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    whole = argparse.ArgumentParser("python -m benchmarks refinement", description=__doc__, **told)
    parts = whole.add_subparsers(dest="part", required=True)
    of = parts.add_parser("losses", help="NIL of releases, refined and not")
    of.add_argument("--source", type=Path, nargs="+", required=True, help="files of the periods")
    of.add_argument("--dataset", default="faers")
    of.add_argument("--quarters", type=words, help="which of them; by default all, in order")
    of.add_argument("--models", type=words, default=["ms", "ppms++", "ppms-alpha"])
    of.add_argument("--k", type=numbers, default=[5])
    of.add_argument("--theta", type=words, default=["frequency"])
    of.add_argument("--seeds", type=numbers, default=[1], help="of the first records")
    of.add_argument("--missing", choices=["keep", "drop"], default="keep")
    of.add_argument("--efforts", type=efforts, default=list(EFFORTS), help="off,fast,full")
    of = parts.add_parser("optima", help="loss beside that of the best grouping")
    of.add_argument("--source", type=Path, nargs="+", required=True, help="files of one period")
    of.add_argument("--dataset", default="faers")
    of.add_argument("--instances", type=int, default=100)
    of.add_argument("--records", type=int, default=12, help="of an instance")
    of.add_argument("--k", type=int, default=3)
    of.add_argument(
        "--theta", type=fractions, default=[Fraction(1), Fraction(2, 3), Fraction("0.4")]
    )
    of.add_argument("--missing", choices=["keep", "drop"], default="drop")
    of = parts.add_parser("times", help="seconds of the kernels")
    of.add_argument("--cases", type=numbers, default=[50_000, 100_000, 200_000, 1_000_000])
    of.add_argument("--full-cases", type=numbers, default=[10_000, 20_000])
    of.add_argument("--source", type=Path, nargs="+", default=[], help="time the stage of these")
    of.add_argument("--dataset", default="faers")
    of.add_argument("--k", type=int, default=5)
    return whole


def command(arguments: Sequence[str]) -> None:
    """Measure and print; see the module."""
    asked = vars(parser().parse_args(arguments))
    run = {"losses": losses.run, "optima": optima.run, "times": times.run}[asked.pop("part")]
    run(**asked)
