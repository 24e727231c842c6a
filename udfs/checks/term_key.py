"""The key of a term once more, for the checks: character by character, from the definition.

It shares no line with :mod:`srsql.udfs.term_key`; both are held against the same examples.

Source: SPEC section 2 (term, key).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources

_QUOTES = {
    0x60, 0xB4, 0x2B9, 0x2BB, 0x2BC, 0x2BD, 0x2C8, 0x55A, 0x5F3, 0x1FEF, 0x1FFD, 0x2018, 0x2019,
    0x201A, 0x201B, 0x2032, 0x2035, 0xA78C, 0xFF07, 0xFF40,
}  # fmt: skip
_DASHES = {
    0x58A, 0x5BE, 0x1806, 0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2043, 0x2212, 0x2D7,
    0x2E3A, 0x2E3B, 0xFE58, 0xFE63, 0xFF0D,
}  # fmt: skip
_PARTING = {*range(0x09, 0x0E), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)}
_PARTING |= {0x2028, 0x2029, 0x202F, 0x205F, 0x3000}
_UNSEEN = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
_WORDS = re.compile(r"[A-Za-z0-9(),&%+]+(?:[ ][A-Za-z0-9(),&%+]+)*")
"""Words with one blank between them: of such a text nothing changes but the case of its letters."""
_UNSEEN_FROM = [first for first, _ in _UNSEEN]


@lru_cache(maxsize=1 << 16)
def checked_term_key(text: str) -> str | None:
    """The key of a term; None where the text is white space alone."""
    if _WORDS.fullmatch(text):
        return text.lower()
    seen, key = None, text
    while key != seen:
        seen, key = key, _pass(key)
    if not key and any(ord(each) not in _PARTING for each in text):
        return unicodedata.normalize("NFC", text)
    return key or None


def _pass(text: str) -> str:
    pinned = all(not _is_unassigned(ord(each)) for each in text)
    signs = "".join(_signs(text, pinned=pinned))
    if pinned:
        letters = (part for each in signs for part in _decomposed(each))
        bare = "".join(each for each in letters if not 0x300 <= ord(each) <= 0x36F)
        signs = "".join(each.casefold() for each in unicodedata.normalize("NFC", bare))
    return _spaced(signs)


def _signs(text: str, *, pinned: bool) -> Iterator[str]:
    """The characters with quotes, dashes and blanks as one sign each, without what nobody sees."""
    for place, each in enumerate(text):
        code = ord(each)
        if code in _QUOTES or (pinned and each == "^" and _joins_letters(text, place)):
            yield "'"
        elif code in _DASHES:
            yield "-"
        elif code in _PARTING:
            yield " "
        elif code >= 0x20 and not 0x7F <= code <= 0x9F and not _is_unseen(code):
            yield each


def _joins_letters(text: str, place: int) -> bool:
    beside = (text[place - 1 : place], text[place + 1 : place + 2])
    # a sign that became an apostrophe in this pass is a letter to Unicode, and none here
    return all(
        each and ord(each) not in _QUOTES and unicodedata.category(each).startswith("L")
        for each in beside
    )


def _is_unseen(code: int) -> bool:
    at = bisect_right(_UNSEEN_FROM, code) - 1
    return at >= 0 and code <= _UNSEEN[at][1]


def _decomposed(character: str) -> str:
    """NFKD of one character, by its own entry in the character database."""
    if 0xAC00 <= ord(character) <= 0xD7A3:  # Hangul syllables have none: NFC puts them together
        return character
    _, _, listed = unicodedata.decomposition(character).rpartition(">")
    return "".join(_decomposed(chr(int(part, 16))) for part in listed.split()) or character


def _spaced(text: str) -> str:
    """One blank at most between words, none beside - and /, none and no dot at the end."""
    kept: list[str] = []
    for each in text:
        if each == " " and (not kept or kept[-1] in " -/"):
            continue
        if each in "-/" and kept and kept[-1] == " ":
            kept.pop()
        kept.append(each)
    while kept and kept[-1] in " .":
        kept.pop()
    return "".join(kept)


@cache
def _unassigned_ends() -> tuple[list[int], list[int]]:
    """First and last characters of the ranges that Unicode 14.0 leaves unassigned."""
    text = (resources.files("srsql.udfs") / "unassigned_14.txt").read_text(encoding="ascii")
    pairs = [(part.split("-") * 2)[:2] for part in text.split()]
    return [int(one, 16) for one, _ in pairs], [int(other, 16) for _, other in pairs]


def _is_unassigned(code: int) -> bool:
    if code < 0x378:
        return False
    firsts, lasts = _unassigned_ends()
    at = bisect_right(firsts, code) - 1
    return at >= 0 and code <= lasts[at]
