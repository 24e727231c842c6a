"""What `srsql query` prints: the table of bounds, and lines on how to read it."""

from __future__ import annotations

from collections.abc import Iterator

from srsql.engine.console.text import printable
from srsql.engine.query.answer import BOUNDS, Answer

SHOWN = 200
"""Rows in the table; `--json` and `Engine.query` give all."""


def answer_columns(answer: Answer) -> list[str]:
    """The headings of ``answer_rows``."""
    return [printable(name) for name in answer.columns]


def answer_rows(answer: Answer) -> Iterator[list[str]]:
    """The cells of ``Answer.columns``."""
    groups = len(answer.columns) - len(BOUNDS)
    for row in answer.rows[:SHOWN]:
        lower, expected, upper = row[groups:]
        point = f"{expected:,.0f}" if lower == upper else f"{expected:,.1f}"
        keys = ["-" if key is None else printable(str(key)) for key in row[:groups]]
        yield [*keys, f"{lower:,}", point, f"{upper:,}"]


def answer_lines(answer: Answer) -> Iterator[str]:
    """What was counted over what, and how to read it."""
    quarters = answer.quarters
    when = quarters[0] if len(quarters) == 1 else f"{quarters[0]} to {quarters[-1]}"
    yield f"{answer.counted} of {answer.dataset}, series {answer.series}, {when}"
    if len(answer.rows) > SHOWN:
        yield f"{SHOWN:,} of {len(answer.rows):,} rows are shown; --json gives all"
    yield from map(printable, answer.notes)
