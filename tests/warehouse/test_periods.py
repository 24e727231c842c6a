"""Which period follows on which: by the calendar of labels, else by their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from itertools import pairwise

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import srsql
from srsql.engine.catalog.periods import days_of
from srsql.engine.catalog.series import gaps, misplaced, period_numbers, without_calendar

FORMS = {
    "year": re.compile(r"(\d{4})"),
    "quarter": re.compile(r"(\d{4})[- ]?[Qq]([1-4])"),
    "month": re.compile(r"(\d{4})-(0[1-9]|1[0-2])"),
    "week": re.compile(r"(\d{4})[- ]?[Ww](\d{2})"),
    "day": re.compile(r"(\d{4})-(\d{2})-(\d{2})"),
}
YEARS = st.integers(1990, 2030)
LABELS = st.one_of(
    st.builds("{:04d}".format, YEARS),
    st.builds("{:04d}Q{}".format, YEARS, st.integers(1, 4)),
    st.builds("{:04d}-{:02d}".format, YEARS, st.integers(1, 12)),
    st.builds("{:04d}W{:02d}".format, YEARS, st.integers(1, 53)),
    st.builds("{:04d}W{:02d}".format, st.integers(2019, 2021), st.integers(50, 53)),
    st.builds("{:04d}-{:02d}-{:02d}".format, YEARS, st.integers(1, 12), st.integers(1, 31)),
    st.dates(date(2019, 12, 28), date(2020, 3, 2)).map(date.isoformat),
    st.sampled_from(["NonDomestic", "2022Q5", "2022-13", "22Q1", "wave 3", "2022W00", ""]),
)


@pytest.fixture(scope="module")
def engine() -> Iterator[srsql.Engine]:
    with duckdb.connect() as con:
        yield srsql.Engine(con)


def read(label: str) -> tuple[str, list[date]] | None:
    """What a period is, and its days; None: no calendar knows its label."""
    for kind, form in FORMS.items():
        if found := form.fullmatch(label):
            with suppress(ValueError):
                return kind, days(kind, *map(int, found.groups()))
    return None


def days(kind: str, year: int, part: int = 1, day: int = 1) -> list[date]:
    if kind == "day":
        return [date(year, part, day)]
    if kind == "week":
        return [date.fromisocalendar(year, part, n) for n in range(1, 8)]
    months = {"year": 12, "quarter": 3, "month": 1}[kind]
    first = months * (part - 1) + 1
    every = [date(year, 1, 1) + timedelta(n) for n in range(366)]
    return [d for d in every if d.year == year and first <= d.month < first + months]


def between(earlier: str, later: str) -> list[str] | None:
    """Labels of the periods between two; None: they have no calendar in common."""
    a, b = read(earlier), read(later)
    if a is None or b is None or a[0] != b[0]:
        return None
    found, at = [], a[1][-1] + timedelta(1)
    while at < b[1][0]:
        found.append(label_of(a[0], at))
        at = read(found[-1])[1][-1] + timedelta(1)  # type: ignore[index]
    return found


def label_of(kind: str, day: date) -> str:
    week = day.isocalendar()
    return {
        "year": f"{day.year}",
        "quarter": f"{day.year}Q{(day.month + 2) // 3}",
        "month": f"{day.year}-{day.month:02}",
        "week": f"{week.year}W{week.week:02}",
        "day": day.isoformat(),
    }[kind]


@pytest.mark.thorough
@given(LABELS, LABELS)
def test_what_is_between_two_periods_is_what_plain_python_counts(
    engine: srsql.Engine, one: str, other: str
) -> None:
    ((kind, follows, number, after, listed, period),) = engine.sql(
        "SELECT srsql.period_kind($1), srsql.follows_on($1, $2), srsql.period_number($1),"
        " srsql.period_number($2), srsql.periods_between($1, $2), srsql.calendar_period($1)",
        [one, other],
    )
    own, its = read(one), read(other)
    assert period == (own and {"kind": kind, "number": number})
    assert kind == (own and own[0])
    assert (number is None) == (own is None)
    expected = between(one, other)
    assert listed == (expected or [])
    if expected is None or own is None or its is None:
        assert follows
        return
    assert follows == (its[1][0] == own[1][-1] + timedelta(1))
    if its[1][0] > own[1][0]:
        assert after - number == len(expected) + 1


@given(LABELS)
def test_the_days_of_a_period_are_those_of_its_label(label: str) -> None:
    found = read(label)
    assert days_of(label) == (found and (found[1][0].isoformat(), found[1][-1].isoformat()))


def test_a_year_has_52_or_53_weeks_which_follow_on_each_other(engine: srsql.Engine) -> None:
    """The weeks of ISO 8601: 2020 and 2026 have 53, and December 29, 2025 is of 2026."""
    asked = [("2020W53", "2021W01"), ("2025W52", "2026W01"), ("2026W53", "2027W01")]
    for one, other in asked:
        assert engine.sql("SELECT srsql.follows_on($1, $2)", [one, other]) == [(True,)]
    assert engine.sql("SELECT srsql.follows_on('2020W52', '2021W01')") == [(False,)]
    assert engine.sql("SELECT srsql.period_kind('2025W53')") == [(None,)]
    assert days_of("2026W01") == ("2025-12-29", "2026-01-04")
    assert gaps(engine.warehouse, ["2020W51", "2021W02", "2021W03"]) == [
        "2020W52 to 2021W01 (3 periods) are missing between 2020W51 and 2021W02"
    ]


@given(st.integers(1, 9999))
def test_weeks_before_a_year_are_counted_as_the_calendar_of_python_does(
    engine: srsql.Engine, year: int
) -> None:
    first = date.fromisocalendar(year, 1, 1).toordinal() if year > 1 else 1
    assert engine.sql("SELECT srsql.weeks_before($1)", [year]) == [((first - 1) // 7,)]


@pytest.mark.parametrize(
    ("there", "label", "told"),
    [
        ("2026Q1", "2026W07", "one kind, and these are a week and a quarter"),
        ("2026-02", "2026-02-13", "one kind, and these are a day and a month"),
        ("2026W06", "2026-W07", "written alike"),
        ("2026W06", "2026W54", "on no calendar"),
        ("2026-02-13", "2026-02-30", "on no calendar"),
        ("2026W06", "2026W07", None),
        ("NonDomestic", "2026", None),
        ("batch 9", "batch 10", "as many digits each"),
    ],
)
def test_periods_of_a_dataset_are_of_one_kind_and_written_alike(
    engine: srsql.Engine, there: str, label: str, told: str | None
) -> None:
    engine.sql("DELETE FROM srsql.ingestion")
    engine.sql("INSERT INTO srsql.ingestion VALUES (1, 'd', ?, '', '', '', false)", [there])
    found = misplaced(engine.warehouse, "d", label)
    engine.sql("DELETE FROM srsql.ingestion")
    assert (found is None) == (told is None)
    assert told is None or (found is not None and told in found and "\n" not in found)


@pytest.mark.thorough
@given(st.sets(LABELS, min_size=1, max_size=8))
def test_numbers_of_periods_differ_by_one_where_one_follows_on_the_other(
    engine: srsql.Engine, labels: set[str]
) -> None:
    numbers = period_numbers(engine.warehouse, labels)
    ordered = sorted(labels)
    assert list(numbers) == ordered
    for one, other in pairwise(ordered):
        (((follows),),) = engine.sql("SELECT srsql.follows_on($1, $2)", [one, other])
        assert numbers[other] - numbers[one] == (1 if follows else 2)


def test_gaps_are_named_and_labels_without_a_calendar_too(engine: srsql.Engine) -> None:
    quarters = ["2025Q4", "2022Q4", "2026Q1", "2026Q3"]
    assert gaps(engine.warehouse, quarters) == [
        "2023Q1 to 2025Q3 (11 periods) are missing between 2022Q4 and 2025Q4",
        "2026Q2 is missing between 2026Q1 and 2026Q3",
    ]
    assert gaps(engine.warehouse, ["2021", "2022", "NonDomestic"]) == []
    assert without_calendar(engine.warehouse, ["2021", "NonDomestic"]) == ["NonDomestic"]


@pytest.mark.parametrize(
    "label",
    [
        "2026-13", "2026-2", "2026W7", "2026w007", "2026W54", "2026-2-13", "2026-02-30", "20260213",
        "2026Q5", "2026W٠٧", "２０２６W07", "２０２６",
    ],
)  # fmt: skip
def test_what_looks_like_a_period_and_is_none_is_refused(engine: srsql.Engine, label: str) -> None:
    told = misplaced(engine.warehouse, "nothing", label)
    assert told is not None
    assert "is on no calendar" in told


@pytest.mark.parametrize(
    "label", ["2022", "NonDomestic", "2026-02", "2026-W07", "wave 3", "batch 2026", "2022-extra"]
)
def test_calendars_and_plain_names_are_taken(engine: srsql.Engine, label: str) -> None:
    assert misplaced(engine.warehouse, "nothing", label) is None


@pytest.mark.parametrize("label", ["２０２６W07", "2026W٠٧", "２０２６", "2026-0２"])
def test_days_are_those_of_labels_in_plain_digits(label: str) -> None:
    assert days_of(label) is None
