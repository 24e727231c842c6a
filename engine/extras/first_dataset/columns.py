"""What the values of a column look like: numbers, dates, units, codes, terms or free text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from srsql.engine.extras.first_dataset.samples import Sample

MOST_CODES = 100
"""Different values that a column of codes has at most."""
LONGEST_TERM = 100
"""Characters that a term has at most."""
_MOST = 0.95
"""The share of the values that say what a column holds."""
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d{1,15}([.]\d*)?|[.]\d+)")
_COMMA = re.compile(r"[+-]?\d{1,15}(,\d+)?")
_WITH_UNIT = re.compile(r"([+-]?\d{1,15}(?:[.]\d*)?)\s*([A-Za-z]{1,10})")
_PERIOD = re.compile(r"(?:19|20)\d\d\s?-?\s?(?:Q[1-4]|W\d\d)")
_DATES = (
    (re.compile(r"\d{4}-\d\d-\d\d(?:[ T][\d:.]+.*)?"), "%Y-%m-%d", None),
    (re.compile(r"(?:19|20)\d\d[01]\d[0-3]\d"), "%Y%m%d", None),
    (re.compile(r"\d{4}/\d\d?/\d\d?"), "%Y/%m/%d", "%Y/%m/%d"),
    (re.compile(r"\d\d?/\d\d?/\d{4}"), "%m/%d/%Y", "%m/%d/%Y"),
    (re.compile(r"\d\d?/\d\d?/\d{4}"), "%d/%m/%Y", "%d/%m/%Y"),
    (re.compile(r"\d\d?[.]\d\d?[.]\d{4}"), "%d.%m.%Y", "%d.%m.%Y"),
    (re.compile(r"\d\d?-[A-Za-z]{3}-\d\d"), "%d-%b-%y", "%d-%b-%y"),
    (re.compile(r"\d\d?-[A-Za-z]{3}-\d{4}"), "%d-%b-%Y", "%d-%b-%Y"),
)
"""What a date looks like, how Python reads it, and what ``format`` of a period is then."""
NULL_WORDS = {"NULL", "N/A", "NAN", "\\N", "#N/A"}
"""Words that tools write for a blank."""
UNKNOWN_WORDS = {
    "U", "UNK", "UNKNOWN", "NS", "NI", "NA", "NOT SPECIFIED", "NOT REPORTED", "NOT STATED", "不明",
    "NON PRÉCISÉ", "UNBEKANNT", "DESCONOCIDO", "MISSING", *NULL_WORDS,
}  # fmt: skip
"""Codes that stand for "not known"."""


@dataclass(frozen=True)
class Column:
    """One column of a sample."""

    place: int
    """From 0."""
    header: str
    """Its name in the file; empty: the file has no header."""
    texts: Sequence[str]
    """A text a record, blank or not."""
    blanks: frozenset[str] = field(default=frozenset(NULL_WORDS))

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each value stands there, without blanks and the words for them."""
        counted = Counter(text for text in self.texts if text)
        return Counter({t: n for t, n in counted.items() if t.upper() not in self.blanks})

    @property
    def filled(self) -> int:
        """Records with a value."""
        return self.counts.total()

    @property
    def different(self) -> int:
        """Different values."""
        return len(self.counts)

    @cached_property
    def known(self) -> Counter[str]:
        """The values without codes for "not known"."""
        return Counter({t: n for t, n in self.counts.items() if t.upper() not in UNKNOWN_WORDS})

    def share(self, pattern: re.Pattern[str]) -> float:
        """The share of the known values that a pattern matches."""
        known = self.known
        matching = sum(n for text, n in known.items() if pattern.fullmatch(text))
        return matching / known.total() if known else 0.0

    @cached_property
    def whole(self) -> bool:
        """Whether the values are whole numbers."""
        return self.share(_WHOLE) >= _MOST

    @cached_property
    def numeric(self) -> bool:
        """Whether they are numbers with a point, if any sign."""
        return self.share(_NUMBER) >= _MOST

    @cached_property
    def comma(self) -> bool:
        """Whether they are numbers with a comma for the decimal sign."""
        return not self.numeric and self.share(_COMMA) >= _MOST

    @cached_property
    def units(self) -> Counter[str]:
        """Units behind the numbers, upper-cased, if the values have some."""
        if self.share(_WITH_UNIT) < _MOST:
            return Counter()
        found: Counter[str] = Counter()
        for text, count in self.known.items():
            match = _WITH_UNIT.fullmatch(text)
            if match is not None:
                found[match[2].upper()] += count
        return found

    @cached_property
    def date(self) -> tuple[str, str | None] | None:
        """How Python reads the dates, and the ``format`` to declare; None: there are none."""
        for pattern, python, declared in _DATES:
            if self.share(pattern) >= _MOST and self._read_by(python) >= _MOST:
                return python, declared
        return None

    def _read_by(self, form: str) -> float:
        read = 0
        for text, count in self.known.items():
            try:
                datetime.strptime(text[:10] if form == "%Y-%m-%d" else text, form)
            except ValueError:
                continue
            read += count
        return read / self.known.total()

    @cached_property
    def labels(self) -> bool:
        """Whether the values are labels of periods, such as 2024Q1."""
        return self.share(_PERIOD) >= _MOST

    @property
    def unique(self) -> bool:
        """Whether each record has a value of its own, that can be an id."""
        plain = not self.date and not (self.numeric and not self.whole) and not self.comma
        short = max(map(len, self.counts), default=0) <= LONGEST_TERM
        return bool(self.texts) and self.different == len(self.texts) and plain and short

    @property
    def coded(self) -> bool:
        """Whether there are few different values, each of several records."""
        return 1 < self.different <= MOST_CODES and self.different * 3 <= self.filled

    @cached_property
    def short(self) -> bool:
        """Whether most values are no longer than terms are, and none is a number with decimals."""
        brief = sum(n for text, n in self.counts.items() if len(text) <= LONGEST_TERM)
        return brief >= _MOST * self.filled and not (self.numeric and not self.whole)

    @property
    def terms(self) -> bool:
        """Whether the values are short texts that come again."""
        if not self.counts or self.numeric or self.date or self.labels or self.comma:
            return False
        return self.short and self.different * 4 <= self.filled * 3

    @property
    def told(self) -> str:
        """What the column holds, in a few words and without a value."""
        if not self.counts:
            return "blank"
        if self.labels:
            kind = "labels of periods"
        elif self.date:
            kind = "dates"
        elif self.whole:
            kind = "whole numbers"
        elif self.numeric:
            kind = "numbers"
        elif self.comma:
            kind = "numbers with a decimal comma"
        elif self.units:
            kind = "numbers with a unit"
        elif not self.short:
            kind = "free text"
        else:
            kind = "codes" if self.coded else "texts"
        return f"{kind}, {self.different:,} different"


def columns_of(sample: Sample) -> list[Column]:
    """The columns of a sample."""
    texts = [
        [row[place] if place < len(row) else "" for row in sample.rows]
        for place in range(len(sample.header))
    ]
    return [Column(place, name, texts[place]) for place, name in enumerate(sample.header)]
