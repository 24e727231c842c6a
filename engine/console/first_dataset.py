"""What a terminal shows of `init`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from srsql.engine.console import Parts, Table
from srsql.engine.errors import printable

if TYPE_CHECKING:
    from srsql.engine.extras.first_dataset import FirstDataset

GUESSES = ["key", "guess", "why"]


def first_dataset_parts(made: FirstDataset) -> Parts:
    """The file, what is left to fill in, what was guessed, and the next command."""
    state = "every line of it is a guess: read it" if made.loads else "it needs what is named below"
    yield f"{printable(made.file)} written; {state}"
    for file in made.hierarchies:
        yield f"  {printable(file)} written: its values stand beneath one node; group them"
    for text in made.fill_in:
        yield f"  fill in: {printable(text)}"
    for text in made.candidates:
        yield f"  candidate: {printable(text)}"
    rows = [[printable(text) for text in (g.key, g.value, g.why)] for g in made.guesses]
    yield Table("guesses", GUESSES, rows)
    yield f"next: {printable(made.next)}"
