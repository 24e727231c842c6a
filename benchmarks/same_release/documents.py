"""Two JSON documents, value by value."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

DATA_KEYS = {
    "term",
    "drug",
    "reaction",
    "value",
    "values",
    "rows",
    "qid",
    "case_id",
    "term_case_id",
}
"""Keys whose strings are data, also where they look like a phrase."""
TO_TWELVE_DIGITS = {"eb05", "eb95"}
"""Keys of quantiles that vary in their last bits between two runs of one version."""
ABSENT = "(absent)"


@dataclass(frozen=True)
class Difference:
    """One leaf that is not the same."""

    path: str
    before: Any
    after: Any
    is_text: bool
    """A phrase, which may change, rather than a value, which may not."""
    is_rounding: bool = False
    """A figure of ``TO_TWELVE_DIGITS`` that differs behind the twelfth digit."""

    def __str__(self) -> str:
        return f"{self.path}: {self.before!r} -> {self.after!r}"


def differences(
    before: Any, after: Any, path: str = "", data: bool = False
) -> Iterator[Difference]:
    """Every leaf that differs, with where it is.

    Args:
        before: document.
        after: the other document.
        path: where in the whole document they stand.
        data: whether strings are data, whatever they look like.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(k for k in after if k not in before)]:
            yield from differences(
                before.get(key, ABSENT),
                after.get(key, ABSENT),
                f"{path}/{key}",
                data or key in DATA_KEYS,
            )
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{path}/{i}", data)
    elif not _same(before, after):
        text = not data and is_phrase(before) and is_phrase(after)
        rounding = path.rpartition("/")[2] in TO_TWELVE_DIGITS and _close(before, after)
        yield Difference(path or "/", _short(before), _short(after), text, rounding)


def leaves(document: Any) -> int:
    """How many values a document has."""
    if isinstance(document, dict):
        return sum(leaves(value) for value in document.values())
    if isinstance(document, list):
        return sum(leaves(value) for value in document)
    return 1


def is_phrase(value: Any) -> bool:
    """Whether a value is something to read: a string of several words, or none at all."""
    if value == ABSENT:
        return True
    words = value.split() if isinstance(value, str) else []
    return len(words) > 1 and any(re.search("[a-z]", word) for word in words)


def _same(before: Any, after: Any) -> bool:
    """Equal, and of one kind: JSON tells 1 from true, and 1 from 1.0."""
    return type(before) is type(after) and before == after


def _close(before: Any, after: Any) -> bool:
    numbers = isinstance(before, float) and isinstance(after, float)
    return numbers and math.isclose(before, after, rel_tol=1e-12)


def _short(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        shown = f"{type(value).__name__} of {len(value)}"
        return f"({shown})"
    return value
