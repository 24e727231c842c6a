"""What was found of each claim on which data, kept for the table of verdicts in the docs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.papers.claims import CLAIMS, Verdict
from srsql.engine.extras.study.results import Row

FILE = Path(__file__).with_name("verdicts.toml")
Kept = dict[str, dict[str, str]]
"""Name of the data -> claim -> what was found."""


def kept() -> Kept:
    """What was found so far."""
    if not FILE.exists():
        return {}
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def keep(name: str, rows: Sequence[Row]) -> int:
    """Keep what a table of comparisons says of each claim that it tells of; how many there are.

    What an earlier table of these data said of the same claims goes.
    """
    judged = {claim.id: claim.judge(rows) for claim in CLAIMS}
    found = {claim: told(each) for claim, each in judged.items() if _compared(each)}
    every, name = kept(), name.replace('"', "'")
    every[name] = every.get(name, {}) | found
    FILE.write_text(_text(every), encoding="utf-8")
    return len(found)


def _compared(found: Verdict) -> bool:
    return found.outcome != "cannot be told" or "by seed" in found.measured


def told(found: Verdict) -> str:
    """The verdict, and of how many comparisons."""
    if found.outcome == "cannot be told":
        return "differs by seed"
    return f"{found.outcome} ({found.agreeing} of {found.comparisons})"


def _text(every: Mapping[str, Mapping[str, str]]) -> str:
    head = "# Written by: python -m benchmarks papers FOLDER --keep NAME\n"
    parts = []
    for name, found in every.items():
        lines = [f'"{claim}" = "{each}"' for claim, each in sorted(found.items())]
        parts.append("\n".join((f'\n["{name}"]', *lines, "")))
    return head + "".join(parts)


def table() -> str:
    """A row for each claim, a column for each of the data."""
    every = kept()
    names = list(every)
    rows = [
        "| " + " | ".join(("paper", "where", "claim", *names)) + " |",
        "| " + " | ".join(["---"] * (3 + len(names))) + " |",
    ]
    rows += [
        "| " + " | ".join((c.paper, c.place, c.sentence, *(every[n].get(c.id, "") for n in names)))
        + " |"
        for c in CLAIMS
    ]  # fmt: skip
    return "\n".join(rows) + "\n"
