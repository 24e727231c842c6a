"""Periods by their labels: the days of one, and which one is meant however it is written.

What follows on what is asked in SQL (``sql_macros/warehouse/periods.sql``).
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date

_YEAR = re.compile(r"([0-9]{4})")
_QUARTER = re.compile(r"([0-9]{4})[- ]?[Qq]([1-4])")
_MONTH = re.compile(r"([0-9]{4})-?M?(0[1-9]|1[0-2])")
_WEEK = re.compile(r"([0-9]{4})[- ]?[Ww]([0-9]{2})")
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_BETWEEN = r"[-/. ]?"
_SPELLED = {
    kind: tuple(re.compile(each.replace("~", _BETWEEN), re.IGNORECASE) for each in patterns)
    for kind, patterns in {
        "quarter": (
            r"(?P<year>\d{4}|\d{2})~Q(?P<a>[1-4])",
            r"(?:Q(?P<a>[1-4])|(?P<b>[1-4])Q)~(?P<year>\d{4})",
        ),
        "week": (r"(?P<year>\d{4})~W(?P<a>\d{1,2})", r"W(?P<a>\d{1,2})~(?P<year>\d{4})"),
        "month": (
            r"(?P<year>\d{4})~M?(?P<a>0[1-9]|1[0-2])",
            r"(?P<a>0?[1-9]|1[0-2])[-/. ](?P<year>\d{4})",
        ),
        "day": (r"(?P<year>\d{4})~(?P<a>\d{2})~(?P<b>\d{2})",),
        "year": (r"(?P<year>\d{4})",),
    }.items()
}
"""How people write periods; the first kind that fits."""


def days_of(label: str) -> tuple[str, str] | None:
    """First and last day of a period, as YYYY-MM-DD; None: its label has no calendar.

    Source:
        ISO 8601-1:2019, section 5.5 (week date).
    """
    with suppress(ValueError):  # a year 0, or a day or week that there is not
        if found := _WEEK.fullmatch(label):
            year, week = int(found[1]), int(found[2])
            monday, sunday = (date.fromisocalendar(year, week, day) for day in (1, 7))
            return monday.isoformat(), sunday.isoformat()
        if found := _DAY.fullmatch(label):
            day = date(int(found[1]), int(found[2]), int(found[3])).isoformat()
            return day, day
        if found := _MONTH.fullmatch(label):
            return _months(int(found[1]), int(found[2]), 1)
        if found := _QUARTER.fullmatch(label):
            return _months(int(found[1]), 3 * int(found[2]) - 2, 3)
        if found := _YEAR.fullmatch(label):
            return _months(int(found[1]), 1, 12)
    return None


def named_period(label: str, known: Iterable[str], *, fresh: bool = False) -> str:
    """The period that is meant, as the data call it, however it is written.

    Such as 2018Q4 for 18Q4, 2018-q4 or Q4/2018. A period that the data do not have is written as
    the others are, and where there are none, as the sources of this engine have it.

    Args:
        label: as somebody typed it: a period, or a range FIRST:LAST.
        known: the labels that there are.
        fresh: it may be the first of its kind, which may be called anything.

    Returns:
        The label; as it was given where it is on no calendar, and no known one differs from it in
        case and signs alone.
    """
    names = list(dict.fromkeys(known))
    if label in names:
        return label
    if ":" in label:
        return ":".join(named_period(end.strip(), names, fresh=fresh) for end in label.split(":"))
    if fresh and _read(label) is None:
        return label
    same = [name for name in names if _meaning(name) == _meaning(label)]
    if len(same) == 1:
        return same[0]
    read = _read(label)
    if read is None or same:
        return label
    kind, match = read
    for name in names:
        other = _read(name)
        if other is not None and other[0] == kind:
            return _written_like(match, other[1])
    return _usual(kind, match) if not fresh else label


def _read(label: str) -> tuple[str, re.Match[str]] | None:
    """The kind of period that a label is of, and its numbers."""
    text = label.strip()
    for kind, patterns in _SPELLED.items():
        for pattern in patterns:
            if text.isascii() and (match := pattern.fullmatch(text)):
                return kind, match
    return None


def _numbers(match: re.Match[str]) -> tuple[int, int | None, int | None]:
    """The year, and what stands within it."""
    told = match.groupdict()
    year = int(told["year"]) + (2000 if len(told["year"]) == 2 else 0)
    first, second = (int(told[name]) if told.get(name) else None for name in "ab")
    return (year, first, second) if first is not None else (year, second, None)


def _meaning(label: str) -> object:
    """What two spellings of one period have in common."""
    read = _read(label)
    if read is None:
        return "".join(char for char in label.casefold() if char.isalnum())
    return read[0], _numbers(read[1])


def _written_like(match: re.Match[str], other: re.Match[str]) -> str:
    """A period in the spelling of another one of its kind."""
    year, first, second = _numbers(match)
    parts = {"year": year, "a": first, "b": first if other.groupdict().get("a") is None else second}
    text, places = other.string, []
    for name, number in parts.items():
        if name in other.re.groupindex and other[name] is not None and number is not None:
            width = len(other[name])
            shown = f"{number:0{width}d}"
            places.append((other.start(name), other.end(name), shown[-2:] if width == 2 else shown))
    for start, end, shown in sorted(places, reverse=True):
        text = text[:start] + shown + text[end:]
    return text


def _usual(kind: str, match: re.Match[str]) -> str:
    """A period as sources and the calendar of the warehouse write it."""
    year, first, second = _numbers(match)
    return {
        "quarter": f"{year}Q{first}",
        "week": f"{year}W{first or 0:02}",
        "month": f"{year}-{first or 0:02}",
        "day": f"{year}-{first or 0:02}-{second or 0:02}",
        "year": f"{year}",
    }[kind]


def is_batch_of(label: str, longer: str) -> bool:
    """Whether a period is shorter than another one, with which it has a day in common.

    A week may lie in two quarters.
    """
    one, two = days_of(label), days_of(longer)
    if one is None or two is None or _length(one) >= _length(two):
        return False
    return may_overlap(label, longer)


def may_overlap(label: str, other: str) -> bool:
    """Whether two periods have a day in common, or one of them has no calendar."""
    one, two = days_of(label), days_of(other)
    return one is None or two is None or (one[0] <= two[1] and two[0] <= one[1])


def _length(days: tuple[str, str]) -> int:
    first, last = map(date.fromisoformat, days)
    return (last - first).days


def _months(year: int, first: int, count: int) -> tuple[str, str]:
    last = first + count - 1
    end = date(year, last, calendar.monthrange(year, last)[1])
    return date(year, first, 1).isoformat(), end.isoformat()
