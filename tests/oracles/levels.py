"""Names of terms on a level, as plain Python has them from the table of a dictionary.

Nothing is normalized but blanks at the ends and upper case, so that data of a test keep to those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Table = Mapping[str, Iterable[str]]
"""Term -> its names, in upper case."""


def names(table: Table, values: Iterable[str]) -> frozenset[str]:
    """What values count as: their names, or themselves where the table lacks them."""
    found: set[str] = set()
    for value in values:
        known = table.get(value.strip().upper())
        found |= set(known) if known is not None else {value.strip().upper()}
    return frozenset(found)
