"""The key of a term: one text for all of its spellings.

Two spellings with the same key are the same term to every threshold, count and comparison. The
Unicode version is pinned: a text with a character that Unicode 14.0 leaves unassigned keeps its
letters as they are, so that a newer interpreter changes no key.

Source: SPEC section 2 (term, key).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from importlib import resources

VERSION = 1
"""Of the rules below. Version 0 is the form of earlier releases: visible text in upper case."""
APOSTROPHES = (
    "\u2018\u2019\u201a\u201b\u02bb\u02bc\u02bd\u02b9\u02c8\u2032\u2035`\u00b4\u1fef\u1ffd\u055a"
    "\u05f3\ua78c\uff07\uff40"
)
"""Signs that are written for an apostrophe."""
HYPHENS = (
    "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u02d7\u2043\u058a\u05be\u1806\u2e3a\u2e3b\ufe58"
    "\ufe63\uff0d"
)
"""Signs that are written for a hyphen."""
_SIGNS = str.maketrans(
    dict.fromkeys(map(ord, APOSTROPHES), "'") | dict.fromkeys(map(ord, HYPHENS), "-")
)
_BLANK = re.compile(r"[\t-\r\x1c-\x1f\x85 \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_GONE = re.compile(
    "[\\x00-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""Control characters that part nothing, and Unicode's Default_Ignorable_Code_Point."""
_MARKS = re.compile("[\u0300-\u036f]+")
_BESIDE = re.compile(" *([-/]) *")


@lru_cache(maxsize=1 << 16)
def term_key(text: str) -> str | None:
    """The key of a term.

    Args:
        text: any spelling.

    Returns:
        The key, for which ``term_key(key) == key``; None where the text is white space alone. A
        text of which nothing would be left keeps itself, composed (NFC).

    Source:
        SPEC section 2.
    """
    key = text
    while (folded := _folded(key)) != key:
        key = folded
    if key:
        return key
    return unicodedata.normalize("NFC", text) if _BLANK.sub("", text) else None


def _folded(text: str) -> str:
    """One pass of the rules."""
    text = text.translate(_SIGNS)
    assigned = text.isascii() or _unassigned().search(text) is None
    if assigned:
        text = _between_letters(text)
    text = _GONE.sub("", _BLANK.sub(" ", text))
    if text.isascii():
        text = text.lower()
    elif assigned:
        text = _MARKS.sub("", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFC", text).casefold()
    return _BLANK.sub(" ", _BESIDE.sub(r"\1", text)).lstrip(" ").rstrip(" .")


def _between_letters(text: str) -> str:
    """A text in which ``^`` between two letters is an apostrophe, as older files write it."""
    if "^" not in text:
        return text
    around = zip(" " + text, text, text[1:] + " ", strict=False)
    return "".join(
        "'" if sign == "^" and before.isalpha() and after.isalpha() else sign
        for before, sign, after in around
    )


@cache
def _unassigned() -> re.Pattern[str]:
    """Characters that Unicode 14.0 leaves unassigned."""
    listed = (resources.files("srsql.udfs") / "unassigned_14.txt").read_text(encoding="ascii")
    ends = (part.partition("-") for part in listed.split())
    ranges = (f"{chr(int(a, 16))}-{chr(int(b or a, 16))}" for a, _, b in ends)
    return re.compile(f"[{''.join(ranges)}]")
