"""The days of a period, read off its label: years, quarters, months, ISO weeks and days.

What follows on what is asked in SQL (``sql_macros/warehouse/periods.sql``).
"""

from __future__ import annotations

import calendar
import re
from contextlib import suppress
from datetime import date

_YEAR = re.compile(r"([0-9]{4})")
_QUARTER = re.compile(r"([0-9]{4})[- ]?[Qq]([1-4])")
_MONTH = re.compile(r"([0-9]{4})-?M?(0[1-9]|1[0-2])")
_WEEK = re.compile(r"([0-9]{4})[- ]?[Ww]([0-9]{2})")
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


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
