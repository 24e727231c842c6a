"""Dictionaries of terms: what a term is called on coarser levels, such as an ingredient or a SOC.

A dictionary is one table: a term, and its names on levels that go from fine to coarse. It is read
from a plain CSV (``name,ingredient,class``), from a hierarchy (``node,parent``), and from the files
of MedDRA, ATC and OMOP (see ``vocabularies``). A term may have several names on a level, as a
combination has several ingredients. What is named so is a term itself, called by its own name.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from srsql.schemas.hierarchy import Hierarchy
from srsql.schemas.outside import open_text

_CODE = re.compile(r"/[0-9]{5,}/")
_BETWEEN = re.compile(r"""[\s\xa0\-‐‑‒–—.,;:'’"/\\()\[\]{}*_]+""", re.ASCII)
_LONGEST = 1_000
"""Characters of a term or of a name; longer ones are no names."""
_LONGEST_LINE = 1_000_000
"""Characters of a line of a file; what has a longer one is no table."""
MOST_BYTES = 1 << 34
"""Of a file of a dictionary: the largest of OMOP has some GB."""


class DictionaryError(ValueError):
    """A dictionary cannot be read, or has no such level; the text says what to do."""


def spelling(text: str) -> str:
    """What the spellings of a term have in common: in upper case, without codes of dictionaries
    such as ``/00002701/``, with one blank for blanks, hyphens, stops, brackets and the like.

    The macro ``srsql.term_spelling`` is the same in SQL.
    """
    upper = unicodedata.normalize("NFC", text).strip().upper()
    return _BETWEEN.sub(" ", _CODE.sub(" ", upper)).strip() or upper


@dataclass(frozen=True)
class Dictionary:
    """Terms and their names on levels."""

    origin: str
    """What it is called in messages; never a path."""
    levels: tuple[str, ...]
    """From fine to coarse."""
    names: Mapping[str, Mapping[str, tuple[str, ...]]]
    """Level -> term -> its names there, in their order."""

    def level(self, asked: str) -> str:
        """The level of that name, in upper or lower case.

        Raises:
            DictionaryError: there is none.
        """
        for name in self.levels:
            if name.upper() == asked.strip().upper():
                return name
        raise DictionaryError(
            f"{self.origin} has no level {asked!r}: it has {', '.join(self.levels)}"
        )

    def pairs(self, level: str) -> Iterator[tuple[str, str]]:
        """Every term with each of its names on a level."""
        for term, names in self.names[self.level(level)].items():
            yield from ((term, name) for name in names)

    def members(self, level: str) -> dict[str, tuple[str, ...]]:
        """Name on a level -> the terms that are called so, in their order."""
        found: dict[str, list[str]] = {}
        for term, name in self.pairs(level):
            found.setdefault(name, []).append(term)
        return {name: tuple(terms) for name, terms in found.items()}

    def table(self) -> Iterator[tuple[str, ...]]:
        """Rows of the plain CSV that has the same, its header first.

        A term with one name at most on each level has one row, else one row for each name.
        """
        yield ("term", *self.levels)
        terms = dict.fromkeys(term for level in self.levels for term in self.names[level])
        for term in terms:
            listed = [self.names[level].get(term, ()) for level in self.levels]
            if max(map(len, listed)) <= 1:
                yield (term, *(names[0] if names else "" for names in listed))
                continue
            for place, names in enumerate(listed):
                for name in names:
                    cells = [""] * len(self.levels)
                    cells[place] = name
                    yield (term, *cells)


class Maker:
    """Gathers the entries of a dictionary.

    Args:
        origin: see ``Dictionary``.
        levels: from fine to coarse.
    """

    def __init__(self, origin: str, levels: Sequence[str]) -> None:
        self.origin, self.levels = origin, tuple(levels)
        self._said: dict[str, dict[str, dict[str, None]]] = {level: {} for level in levels}
        self._follows: dict[str, dict[str, dict[str, None]]] = {level: {} for level in levels}
        self._spelled: dict[str, str] = {}

    def add(self, term: str, path: Mapping[str, str]) -> None:
        """One term and its names; each name is below the ones on coarser levels.

        Raises:
            DictionaryError: a term or name is too long to be one, or has a NUL character.
        """
        given = [(level, path[level].strip()) for level in self.levels if path.get(level)]
        given = [(level, name) for level, name in given if name]
        if not term.strip() or not given:
            return
        key = self._key(term)
        for place, (level, name) in enumerate(given):
            called = self._spelled[self._key(name)]
            self._said[level].setdefault(key, {})[called] = None
            for _, finer in given[: place + 1]:
                self._follows[level].setdefault(self._key(finer), {})[called] = None

    def made(self) -> Dictionary:
        """The dictionary; what is said of a term counts before what follows from its being a name.
        A level without names is none.

        Raises:
            DictionaryError: nothing is in it.
        """
        if not any(self._said.values()):
            raise DictionaryError(f"{self.origin}: no term has a name on any level")
        names = {}
        for level in self.levels:
            entries = self._follows[level] | self._said[level]
            if self._said[level]:
                names[level] = {self._spelled[key]: tuple(each) for key, each in entries.items()}
        return Dictionary(self.origin, tuple(names), names)

    def _key(self, text: str) -> str:
        if "\0" in text or len(text) > _LONGEST:
            raise DictionaryError(
                f"{self.origin}: {text[:40]!r} is no name of a term: it has a NUL character, or "
                f"more than {_LONGEST:,} characters"
            )
        key = spelling(text)
        self._spelled.setdefault(key, " ".join(text.split()))
        return key


def of_table(origin: str, rows: Iterable[Sequence[str]]) -> Dictionary:
    """The dictionary of a plain CSV: terms in the first column, names on a level in each other one.

    Args:
        origin: see ``Dictionary``.
        rows: the header, then the terms; an empty field is no name.

    Raises:
        DictionaryError: no level is in the header, two are called the same, or a row is too long.
    """
    lines = iter(rows)
    header = [name.strip() for name in next(lines, [])]
    levels = header[1:]
    if not levels or not all(header):
        raise DictionaryError(
            f"{origin}: a dictionary has a header such as name,ingredient: the term, then its "
            "names on levels from fine to coarse"
        )
    if len({level.upper() for level in levels}) != len(levels):
        raise DictionaryError(f"{origin}: two levels have the same name in the header")
    maker = Maker(origin, levels)
    for number, row in enumerate(lines, start=2):
        if len(row) > len(header):
            raise DictionaryError(f"{origin}: row {number} has more fields than the header")
        if row:
            maker.add(row[0], dict(zip(levels, row[1:], strict=False)))
    return maker.made()


def of_hierarchy(origin: str, tree: Hierarchy) -> Dictionary:
    """The dictionary of a hierarchy, with the levels 1, 2, ... of ``nodes_on_level``.

    Raises:
        DictionaryError: it has no inner node except its root.
    """
    levels = [str(level) for level in range(1, tree.height[0]) if nodes_on_level(tree, level)]
    if not levels:
        raise DictionaryError(f"{origin}: the hierarchy has no inner node except its root")
    names: dict[str, dict[str, tuple[str, ...]]] = {}
    for level in levels:
        names[level] = {
            tree.labels[below]: (tree.labels[node],)
            for node in nodes_on_level(tree, int(level))
            for below in range(node, tree.last[node] + 1)
        }
    return Dictionary(origin, tuple(levels), names)


def nodes_on_level(tree: Hierarchy, level: int) -> list[int]:
    """The highest inner nodes, other than the root, of which no path down is longer than a level.

    For ICD-9, the 3-digit code, section, chapter (1, 2, 3; Loukides 2014, section 6.1). A leaf that
    hangs on a node too high for that is below none of them.
    """
    height, parent = tree.height, tree.parent
    return [
        node
        for node in range(1, len(height))
        if 1 <= height[node] <= level and (parent[node] == 0 or height[parent[node]] > level)
    ]


def chained(dictionaries: Sequence[Dictionary]) -> Dictionary:
    """Several as one: what a term is called in the first is looked up in the next, and so on.

    Raises:
        DictionaryError: two of them have a level of the same name.
    """
    first, *others = dictionaries
    for other in others:
        both = {level.upper() for level in first.levels} & {o.upper() for o in other.levels}
        if both:
            raise DictionaryError(
                f"{first.origin} and {other.origin} both have a level {min(both)!r}: rename one"
            )
        first = _chained(first, other)
    return first


def _chained(first: Dictionary, other: Dictionary) -> Dictionary:
    known = {
        level: {spelling(term): names for term, names in entries.items()}
        for level, entries in other.names.items()
    }
    names = dict(first.names) | {level: dict(entries) for level, entries in other.names.items()}
    terms = dict.fromkeys(term for level in first.levels for term in first.names[level])
    for level in other.levels:
        more = dict(other.names[level])
        for term in terms:
            if spelling(term) in known[level]:
                continue
            called = [name for at in first.levels for name in first.names[at].get(term, ())]
            found = [up for name in called for up in known[level].get(spelling(name), ())]
            if found:
                more[term] = tuple(dict.fromkeys(found))
        names[level] = more
    origin = f"{first.origin} with {other.origin}"
    return Dictionary(origin, (*first.levels, *other.levels), names)


def read_rows(path: Path, separator: str = "") -> Iterator[list[str]]:
    """The rows of a text file with separators, the header first; ``separator``: found in it.

    Raises:
        DictionaryError: it cannot be read.
    """
    try:
        with open_text(path, MOST_BYTES) as file:
            head = file.readline(_LONGEST_LINE)
            file.seek(0)
            found = separator or max(",;\t|", key=head.count)
            if found in "\t$":
                yield from csv.reader(_lines(file), delimiter=found, quoting=csv.QUOTE_NONE)
            else:
                yield from csv.reader(_lines(file), delimiter=found)
    except UnicodeDecodeError:
        raise DictionaryError(
            f"{path.name}: is not UTF-8: convert it, as with iconv -f latin1 -t utf8"
        ) from None
    except (OSError, csv.Error) as error:
        raise DictionaryError(f"{path.name}: cannot be read ({error})") from None


def _lines(file: TextIO) -> Iterator[str]:
    """The lines of a file, of which none is read that is too long to be one of a table.

    Raises:
        csv.Error: one is.
    """
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE and line[-1] not in "\r\n":
            raise csv.Error(f"a line has {_LONGEST_LINE:,} characters or more")
        yield line
