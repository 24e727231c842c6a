"""What a terminal shows, and how texts of others are made safe to show there."""

from __future__ import annotations

import unicodedata

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


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
