"""The key of a term, rule by rule as TABLES.md C lists them, each over the whole text."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path

APOSTROPHES = {
    "LEFT SINGLE QUOTATION MARK", "RIGHT SINGLE QUOTATION MARK", "SINGLE LOW-9 QUOTATION MARK",
    "SINGLE HIGH-REVERSED-9 QUOTATION MARK", "MODIFIER LETTER TURNED COMMA",
    "MODIFIER LETTER APOSTROPHE", "MODIFIER LETTER REVERSED COMMA", "MODIFIER LETTER PRIME",
    "MODIFIER LETTER VERTICAL LINE", "PRIME", "REVERSED PRIME", "GRAVE ACCENT", "ACUTE ACCENT",
    "GREEK VARIA", "GREEK OXIA", "ARMENIAN APOSTROPHE", "HEBREW PUNCTUATION GERESH",
    "LATIN SMALL LETTER SALTILLO", "FULLWIDTH APOSTROPHE", "FULLWIDTH GRAVE ACCENT",
}  # fmt: skip
HYPHENS = {
    "HYPHEN", "NON-BREAKING HYPHEN", "FIGURE DASH", "EN DASH", "EM DASH", "HORIZONTAL BAR",
    "MINUS SIGN", "MODIFIER LETTER MINUS SIGN", "HYPHEN BULLET", "ARMENIAN HYPHEN",
    "HEBREW PUNCTUATION MAQAF", "MONGOLIAN TODO SOFT HYPHEN", "TWO-EM DASH", "THREE-EM DASH",
    "SMALL EM DASH", "SMALL HYPHEN-MINUS", "FULLWIDTH HYPHEN-MINUS",
}  # fmt: skip
IGNORABLE = [
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]  # fmt: skip
"""Default_Ignorable_Code_Point of DerivedCoreProperties.txt, Unicode 14.0."""
_LIST = Path(__file__).parents[2] / "udfs" / "unassigned_14.txt"


@cache
def unassigned() -> frozenset[str]:
    """Every character that Unicode 14.0 leaves unassigned."""
    found: set[str] = set()
    for part in _LIST.read_text(encoding="ascii").split():
        ends = [int(end, 16) for end in part.split("-")]
        found.update(map(chr, range(ends[0], ends[-1] + 1)))
    return frozenset(found)


def is_blank(sign: str) -> bool:
    """White space, or one of the control characters that part."""
    return sign.isspace()


def is_gone(sign: str) -> bool:
    """Another control character, or one that nobody can see."""
    if unicodedata.category(sign) == "Cc":
        return not is_blank(sign)
    return any(low <= ord(sign) <= high for low, high in IGNORABLE)


def one_pass(text: str) -> str:
    """The rules in their order, each once."""
    pinned = not set(text) & unassigned()
    text = "".join("'" if unicodedata.name(c, "") in APOSTROPHES else c for c in text)
    text = "".join("-" if unicodedata.name(c, "") in HYPHENS else c for c in text)
    if pinned:
        signs = list(text)
        for at in range(1, len(text) - 1):
            if text[at] == "^" and text[at - 1].isalpha() and text[at + 1].isalpha():
                signs[at] = "'"
        text = "".join(signs)
    text = "".join(" " if is_blank(c) else c for c in text)
    text = "".join(c for c in text if not is_gone(c))
    if pinned:
        text = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in text if not "\u0300" <= c <= "\u036f")
        text = unicodedata.normalize("NFC", text).casefold()
    text = "".join(" " if is_blank(c) else c for c in text)
    while "  " in text:
        text = text.replace("  ", " ")
    for sign in "-/":
        text = text.replace(f" {sign}", sign).replace(f"{sign} ", sign)
    text = text.strip(" ")
    while text.endswith((".", " ")):
        text = text[:-1]
    return text


def term_key(text: str) -> str | None:
    """The fixed point of the rules; a text of which nothing is left keeps itself (NFC)."""
    if all(is_blank(c) for c in text):
        return None
    key, before = text, ""
    while key != before:
        key, before = one_pass(key), key
    return key or unicodedata.normalize("NFC", text)
