"""The command `init`, and what a terminal shows of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from srsql.engine.console import Parts, Table, json_option, show
from srsql.engine.console.session import OneCommand
from srsql.engine.errors import printable

if TYPE_CHECKING:
    from srsql.engine.extras.first_dataset import FirstDataset

GUESSES = ["key", "guess", "why"]


@click.command("init", cls=OneCommand)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    default=Path("dataset.toml"),
    show_default=True,
    help="TOML file to write; its name is that of the dataset.",
)
@json_option
def init_command(paths: tuple[Path, ...], to: Path, as_json: bool) -> None:
    """Write a first dataset file, guessed from CSV, Parquet or the tables of a DuckDB file."""
    from srsql.engine.extras.first_dataset import write_first_dataset

    made = write_first_dataset(paths, to)
    show(made, as_json, first_dataset_parts(made))


def first_dataset_parts(made: FirstDataset) -> Parts:
    """The file, what is left to fill in, the next command, and what was guessed."""
    state = "every line of it is a guess: read it" if made.loads else "it needs what is named below"
    yield f"{printable(made.file)} written; {state}"
    for file in made.hierarchies:
        yield f"  {printable(file)} written: its values stand beneath one node; group them"
    for text in made.fill_in:
        yield f"  fill in: {printable(text)}"
    for text in made.candidates:
        yield f"  candidate: {printable(text)}"
    rows = [[printable(text) for text in (g.key, g.value, g.why)] for g in made.guesses]
    yield f"  next: {printable(made.next)}"
    yield Table("guesses", GUESSES, rows)
