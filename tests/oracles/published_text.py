"""What a published text must not hold, from the definition (SPEC section 22), in plain Python."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

LEAST = 6
"""Characters that an id has at least to be searched."""
Row = tuple[str, Sequence[str]]
"""A text, and the ids of its own row."""


def breaks_a_line(text: str) -> bool:
    """Whether a character is a control character or a line end of Unicode."""
    return any(unicodedata.category(sign) in ("Cc", "Zl", "Zp") for sign in text)


def core(written: str) -> str:
    """An id from its first letter or digit to its last."""
    signs = [place for place, sign in enumerate(written) if sign.isalnum()]
    return written[signs[0] : signs[-1] + 1].upper() if signs else ""


def holds(text: str, written: str) -> bool:
    """Whether an id stands in a text where neither a letter nor a digit touches it."""
    word, text = core(written), text.upper()
    if len(word) < LEAST:
        return False
    for place in range(len(text) - len(word) + 1):
        before, after = text[place - 1 : place], text[place + len(word) :][:1]
        if text[place:].startswith(word) and not before.isalnum() and not after.isalnum():
            return True
    return False


def with_ids_of_others(rows: Iterable[Row], ids: Iterable[str], *, keyed: bool) -> set[str]:
    """The texts that hold an id of another report or case; of pseudonyms, any id of the source."""
    known = {core(each) for each in ids}
    return {
        text
        for text, own in rows
        for word in known
        if holds(text, word) and (keyed or word not in map(core, own))
    }
