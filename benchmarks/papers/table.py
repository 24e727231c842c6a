"""The tables of commands and of verdicts in docs/papers.md, from what stands beside the claims.

What stands outside the markers is written by hand.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.papers import recorded
from benchmarks.papers.claims import GRIDS

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
BEGIN, END = "<!-- {}: begin -->\n", "<!-- {}: end -->\n"


def table() -> str:
    """A row for every grid: which figures of which paper, and what is typed."""
    rows = ["| paper | figures | command |", "| --- | --- | --- |"]
    rows += [f"| {grid.paper} | {', '.join(grid.places)} | `{grid.command}` |" for grid in GRIDS]
    return "\n".join(rows) + "\n"


def page(text: str) -> str:
    """The page with the tables of today."""
    for name, made in (("grids", table()), ("verdicts", recorded.table())):
        before, _, rest = text.partition(BEGIN.format(name))
        after = rest.partition(END.format(name))[2]
        text = before + BEGIN.format(name) + made + END.format(name) + after
    return text
