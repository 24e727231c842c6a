"""Names of terms on a level, as plain Python has them from the table of a dictionary.

Nothing is normalized but blanks at the ends and case, so that data of a test keep to those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Table = Mapping[str, Iterable[str]]
"""Term -> its names."""


def names(table: Table, values: Iterable[str]) -> frozenset[str]:
    """What values count as, in lower case: their names, or themselves where there are none."""
    listed = {term.lower(): {name.lower() for name in called} for term, called in table.items()}
    found: set[str] = set()
    for value in values:
        key = value.strip().lower()
        found |= listed.get(key, {key})
    return frozenset(found)
