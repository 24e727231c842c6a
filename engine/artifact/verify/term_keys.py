"""The key of a term, as verification derives it: word by word, from one table of characters.

It shares no line with what makes keys and with what checks a release; all are held against the same
examples. The Unicode version is pinned: a text with a character that Unicode 14.0 leaves unassigned
keeps its letters.

Source: SPEC section 2 (term, key).
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib import resources

UNASSIGNED, APOSTROPHE, HYPHEN, UNSEEN, MARK = 1, 2, 4, 8, 16
"""What a character is; it can be several of them."""
_LISTED = {
    APOSTROPHE: "60 b4 2b9 2bb-2bd 2c8 55a 5f3 1fef 1ffd 2018-201b 2032 2035 a78c ff07 ff40",
    HYPHEN: "2d7 58a 5be 1806 2010-2015 2043 2212 2e3a-2e3b fe58 fe63 ff0d",
    UNSEEN: "0-8 e-1b 7f-84 86-9f ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 202a-202e "
    "2060-206f 3164 fe00-fe0f feff ffa0 fff0-fff8 1bca0-1bca3 1d173-1d17a e0000-e0fff",
    MARK: "300-36f",
}
"""Characters by their numbers; unseen are control characters that part nothing as well."""
_PLAIN = frozenset(f"{string.ascii_letters}{string.digits} '(),&%+")
"""Of such characters nothing changes but case and blanks."""


def key_of_term(text: str) -> str | None:
    """The key of a term.

    Args:
        text: a spelling of it.

    Returns:
        The key; None where the text is white space alone. A text of which nothing would be left is
        its own key, composed (NFC).
    """
    words = text.split()
    if not words:
        return None
    if _PLAIN.issuperset(text):
        return " ".join(words).lower()
    key = " ".join(_words(text))
    while (again := " ".join(_words(key))) != key:
        key = again
    return key or unicodedata.normalize("NFC", text)


def _words(text: str) -> list[str]:
    """The words of a text after one pass of the rules; a blank stands beside no hyphen or slash."""
    kinds = _kinds()
    folds = not any(kinds[ord(each)] & UNASSIGNED for each in text)
    words: list[str] = []
    for word in text.split():  # parts where Unicode has white space
        signs = "".join(_signs(word, kinds, joins=folds))
        words += (_letters(signs, kinds) if folds else signs).split()
    for sign in "-/":
        words = sign.join(each.strip() for each in " ".join(words).split(sign)).split(" ")
    while words and not words[-1].rstrip("."):
        words.pop()
    return [*words[:-1], words[-1].rstrip(".")] if words else []


def _signs(word: str, kinds: bytes, *, joins: bool) -> Iterator[str]:
    """The characters of a word that can be seen, with one apostrophe and one hyphen.

    ``joins``: ``^`` between two letters is an apostrophe.
    """
    for at, each in enumerate(word):
        kind = kinds[ord(each)]
        if kind & APOSTROPHE:
            yield "'"
        elif kind & HYPHEN:
            yield "-"
        elif joins and each == "^" and 0 < at < len(word) - 1:
            letters = _is_letter(word[at - 1], kinds) and _is_letter(word[at + 1], kinds)
            yield "'" if letters else each
        elif not kind & UNSEEN:
            yield each


def _is_letter(character: str, kinds: bytes) -> bool:
    """Whether it is a letter to Unicode, and none of the signs written for an apostrophe."""
    is_sign = kinds[ord(character)] & (APOSTROPHE | HYPHEN)
    return not is_sign and unicodedata.category(character)[0] == "L"


def _letters(signs: str, kinds: bytes) -> str:
    """The letters without their marks, case folded."""
    parted = unicodedata.normalize("NFKD", signs)
    bare = "".join(each for each in parted if not kinds[ord(each)] & MARK)
    return unicodedata.normalize("NFC", bare).casefold()


@cache
def _kinds() -> bytes:
    """What each character is, by its number."""
    kinds = bytearray(0x110000)
    listed = (resources.files("srsql.udfs") / "unassigned_14.txt").read_text(encoding="ascii")
    for kind, text in {**_LISTED, UNASSIGNED: listed}.items():
        for part in text.split():
            first, _, last = part.partition("-")
            for code in range(int(first, 16), int(last or first, 16) + 1):
                kinds[code] |= kind
    return bytes(kinds)
