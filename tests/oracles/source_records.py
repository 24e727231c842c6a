"""The records of a text source by the contract (SPEC section 22), sign by sign in plain Python.

A record is what its quotes make it. One that opens a quoted field takes the next lines, up to the
one that closes it; it is no record if text follows that quote, if nothing closes it, if a line
within it is a record of its own, or if its number of fields is not that of the header. Then its
first line alone is rejected, and reading goes on at the next line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

WHITE = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200C))
)
CONTROL = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\u2028", "\u2029"}


@dataclass(frozen=True)
class Scan:
    """A text read from outside quotes, or from inside."""

    fields: list[str]
    """The last one may be open, the first one may be the rest of one."""
    ends: str
    """``outside`` quotes, ``inside``, or ``improper``: text follows the quote that closes a field
    of the line before."""
    stray: bool
    """An unquoted field holds a quote."""


@dataclass(frozen=True)
class Record:
    """A record, or a line that is none."""

    line: int
    """The first physical line, from 1."""
    lines: int
    fields: list[str] | None
    """None: rejected."""
    names: int | None = None
    """The line that a rejected one is rejected for, if that is another one."""


@dataclass(frozen=True)
class Rule:
    """How the records of one source look."""

    delimiter: str
    quoted: bool
    """Whether quotes mean anything."""
    width: int
    place: int
    """Of the report id, from 0."""
    is_id: Callable[[str], bool]
    quote: str = '"'
    escape: str | None = None
    """Stands before a sign of a quoted field that is text; None: quotes are doubled."""
    header_lines: int = 1

    def scan(self, text: str, *, inside: bool = False) -> Scan:
        """Read a text by this rule."""
        return scan(text, self.delimiter, self.quote, self.escape, inside=inside)

    def fits(self, fields: Sequence[str]) -> bool:
        """Whether this is the width of the header, or one more with a blank at the end."""
        return len(fields) == self.width or (len(fields) == self.width + 1 and fields[-1] == "")

    def alone(self, text: str) -> bool:
        """Whether a line, wherever it stands, is a record or the beginning of one."""
        parts = text.split(self.delimiter)
        if self.fits(parts) and self.is_id(parts[self.place]):
            return True
        found = self.scan(text)
        if found.ends == "outside":
            return self.fits(found.fields) and self.is_id(found.fields[self.place])
        return (
            found.ends == "inside"
            and not found.stray
            and self.place < len(found.fields) - 1 < self.width
            and self.is_id(found.fields[self.place])
        )


def scan(
    text: str,
    delimiter: str,
    quote: str = '"',
    escape: str | None = None,
    *,
    inside: bool = False,
) -> Scan:
    """Read a text sign by sign."""
    fields, state, stray = [""], "quoted" if inside else "start", False
    for sign in text:
        if state == "escaped":
            fields[-1] += sign
            state = "quoted"
        elif state == "quoted":
            if escape is not None and sign == escape:
                state = "escaped"
            elif sign == quote:
                state = "closing"
            else:
                fields[-1] += sign
        elif state == "closing" and sign == quote and escape is None:
            fields[-1] += sign
            state = "quoted"
        elif sign == delimiter:
            fields.append("")
            state = "start"
        elif state == "closing" and inside and len(fields) == 1:
            return Scan(fields, "improper", stray)
        elif state == "start" and sign == quote:
            state = "quoted"
        else:
            fields[-1] += sign
            stray = stray or sign == quote or state == "closing"
            state = "plain"
    return Scan(fields, "inside" if state in ("quoted", "escaped") else "outside", stray)


def records(lines: Sequence[str], rule: Rule) -> list[Record]:
    """The records below the header, if there is one: it is the first of the lines."""
    found, place = [], rule.header_lines
    while place < len(lines):
        record = _record(lines, place, rule)
        found.append(record)
        place += record.lines
    return found


def _record(lines: Sequence[str], place: int, rule: Rule) -> Record:
    if not rule.quoted:
        return Record(place + 1, 1, lines[place].split(rule.delimiter))
    first = rule.scan(lines[place])
    if first.ends == "outside":
        return Record(place + 1, 1, first.fields)
    for last in range(place + 1, len(lines)):
        ends = rule.scan(lines[last], inside=True).ends
        if ends == "improper":
            return Record(place + 1, 1, None, last + 1)
        if ends == "outside":
            break
    else:
        return Record(place + 1, 1, None)
    for within in range(place + 1, last + 1):
        if rule.alone(lines[within]):
            return Record(place + 1, 1, None, within + 1)
    fields = rule.scan("\n".join(lines[place : last + 1])).fields
    if not rule.fits(fields):
        return Record(place + 1, 1, None, last + 1)
    return Record(place + 1, last + 1 - place, fields)


def whole_number(text: str) -> bool:
    """Whether an id is one where integers are due."""
    digits = text.strip(WHITE)
    return digits != "" and set(digits) <= set("0123456789") and int(digits) < 2**63


def any_text(text: str) -> bool:
    """Whether an id is one where any text is."""
    return text.strip(WHITE) != ""


def cleaned(value: str) -> str:
    """A value without control characters and line ends."""
    if CONTROL.isdisjoint(value):
        return value
    blanked = ""
    for before, sign in zip("x" + value, value, strict=False):
        if sign not in CONTROL:
            blanked += sign
        elif before not in CONTROL:
            blanked += " "
    return blanked.strip(WHITE)


def lines_of(text: str) -> list[str]:
    """Physical lines: a line feed ends one, and the carriage return before it with it."""
    lines = text.removesuffix("\r").replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]
