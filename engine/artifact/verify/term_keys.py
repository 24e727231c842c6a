"""The keys of terms, as verification derives them, and the columns of an artifact that have them.

A key is derived word by word, from one table of characters. The derivation shares no line with what
makes keys, nor with what checks a release; all are held against the same examples. The Unicode
version is pinned: a text with a character that Unicode 14.0 leaves unassigned keeps its letters.

Source: SPEC section 2 (term, key).
"""

from __future__ import annotations

import string
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import resources

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import Manifest, key_pairs
from srsql.engine.artifact.verify.published_rows import published_rows
from srsql.engine.artifact.verify.reading import loaded
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.catalog.released_terms import Items
from srsql.engine.store.statements import column, query, temporary, union_all

SPELLINGS = "srsql_term_spelling"
"""Table (spelling, key) of the terms of a quarter that was read."""
TERM_KEYS = "term keys"
"""Name of the check."""
_HELD = ("record_chunk", "shared_chunk", "item_chunk", "reconstructed")
"""Tables of disassociated terms that name terms."""
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


def keep_keys(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> None:
    """Derive the key of every spelling that the loaded tables show, and keep both in ``SPELLINGS``.

    Args:
        con: into which the tables were loaded.
        manifest: that declares them; where its terms have no key, the table is empty.
    """
    shown = [
        exp.select(column(c.name, "t").as_("spelling"))
        .distinct()
        .from_(temporary(loaded(item.name), alias="t"))
        .where(column(c.name, "t").is_(exp.null()).not_())
        for item in manifest.tables
        for c in item.columns
        if manifest.term_key and c.role in ("sensitive", "quasi-sensitive")
    ]
    texts: list[str] = []
    if shown:
        every = exp.select(exp.column("spelling", "s")).distinct()
        rows = con.execute(every.from_(union_all(list(shown)).subquery("s")).sql("duckdb"))
        texts = [row[0] for row in rows.fetchall()]
    told = {"spellings": texts, "keys": [key_of_term(text) for text in texts]}
    con.execute(query("artifact/reading", "keep_keys"), told)


def key_checks(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> list[Check]:
    """The check of the key columns of a quarter; none where its terms have no key.

    Args:
        con: with the table of ``keep_keys``.
        manifest: that declares the columns.
    """
    if not manifest.term_key:
        return []
    faults, total = list[str](), 0
    for item in manifest.tables:
        wrong = []
        for spelling, key in key_pairs(item).items():
            total += item.rows
            wrong.append(
                exp.NullSafeNEQ(this=column(key, "t"), expression=column("key", f"k_{spelling}"))
            )
        if not wrong:
            continue
        counting = exp.select(exp.Count(this=exp.Star())).where(exp.or_(*wrong))
        counting = counting.from_(temporary(loaded(item.name), alias="t"))
        for spelling in key_pairs(item):
            alias = f"k_{spelling}"
            same = column(spelling, "t").eq(column("spelling", alias))
            counting = counting.join(temporary(SPELLINGS, alias=alias), on=same, join_type="left")
        ((rows,),) = con.execute(counting.sql("duckdb")).fetchall()
        if rows:
            faults.append(
                f"{rows} rows of {item.name} have a key that is not that of their spelling"
            )
    return [Check(TERM_KEYS, faults, total)]


def spelling_faults(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> list[str]:
    """Terms that are told apart from records in more than one spelling.

    Args:
        con: into which the tables of terms were loaded.
        manifest: that declares them; where whole rows are taken apart, it tells which of their
            columns have thresholds, and those are looked at.
    """
    if manifest.terms is None or not manifest.term_key:
        return []
    published = published_rows(manifest)
    shown = [
        exp.select(column("term", "t")).from_(temporary(loaded(name), alias="t")) for name in _HELD
    ]
    terms = exp.select(exp.column("term", "s")).distinct()
    rows = con.execute(terms.from_(union_all(list(shown)).subquery("s")).sql("duckdb")).fetchall()
    spellings = Counter[tuple[str, str | None]]()
    for (item,) in rows:
        if spelled := published.spelled(str(item)):
            attribute, term = spelled
            spellings[attribute, key_of_term(term)] += 1
    several = sum(number > 1 for number in spellings.values())
    return [f"{several} terms are told in more than one spelling"] if several else []


class KeyedItems(Items):
    """Items of a release that compares terms by their key."""

    def value(self, item: str) -> str | None:
        """The key of the sensitive value of an item; None: it has none."""
        found = super().value(item)
        return found and key_of_term(found)
