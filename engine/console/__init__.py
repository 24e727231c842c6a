"""What a terminal shows: lines and tables, with texts of others made safe to show."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@dataclass(frozen=True)
class Table:
    """A table with a title."""

    title: str
    columns: Sequence[str]
    rows: Iterable[Sequence[str]]


Parts = Iterator[str | Table]
"""An answer, part by part: a line, or a table."""


def printable(text: str) -> str:
    """The text with what steers a terminal, turns its direction or breaks its line written out.

    Such as ``\\x1b`` for ESC; letters of any script stay.
    """
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if unicodedata.category(char) in _UNSEEN
        else char
        for char in text
    )
