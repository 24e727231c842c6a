"""A table as a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from srsql.engine.console.forms import table_lines


def print_table(
    console: Console, title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]
) -> None:
    """Print a table in the form that was asked for."""
    for line in table_lines(console, title, columns, rows):
        console.print(line)
