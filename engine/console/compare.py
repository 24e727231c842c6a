"""A comparison in words."""

from __future__ import annotations

from srsql.engine.console.text import printable
from srsql.engine.study.compare import Compared

_SHOWN = 5


def lines(made: Compared) -> list[str]:
    """What was run, what could not be, what the papers' claims came to, where it is."""
    span = made.quarters[0] + (f" to {made.quarters[-1]}" if len(made.quarters) > 1 else "")
    told = [
        f"{printable(span)} of {made.dataset}: {made.cells} cells, {made.already} of them finished "
        f"before, {made.rows:,} rows"
    ]
    told += [f"not run: {printable(text)}" for text in made.errors[:_SHOWN]]
    if len(made.errors) > _SHOWN:
        told.append(f"not run: {len(made.errors) - _SHOWN} more, see the page")
    verdicts = ("holds", "does not hold", "cannot be told")
    counts = ", ".join(f"{made.verdicts.get(name, 0)} {name}" for name in verdicts)
    told.append(f"claims of papers: {counts}")
    return told + [f"wrote {file}" for file in made.files]
