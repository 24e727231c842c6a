"""The table of commands in docs/papers.md, from the grids beside the papers' claims.

What stands outside the markers is written by hand.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.papers.claims import GRIDS

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
BEGIN, END = "<!-- grids: begin -->\n", "<!-- grids: end -->\n"


def table() -> str:
    """A row for every grid: which figures of which paper, and what is typed."""
    rows = ["| paper | figures | command |", "| --- | --- | --- |"]
    rows += [f"| {grid.paper} | {', '.join(grid.places)} | `{grid.command}` |" for grid in GRIDS]
    return "\n".join(rows) + "\n"


def page(text: str) -> str:
    """The page with the table of today."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    return before + BEGIN + table() + END + after
