"""Which period follows on which: by the calendar of labels, else by their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import srsql
from srsql.engine.warehouse.series import gaps, period_numbers, without_calendar

FORMS = {
    12: re.compile(r"(\d{4})"),
    3: re.compile(r"(\d{4})[- ]?[Qq]([1-4])"),
    1: re.compile(r"(\d{4})-(0[1-9]|1[0-2])"),
}
LABELS = st.one_of(
    st.builds("{:04d}".format, st.integers(1990, 2030)),
    st.builds("{:04d}Q{}".format, st.integers(1990, 2030), st.integers(1, 4)),
    st.builds("{:04d}-{:02d}".format, st.integers(1990, 2030), st.integers(1, 12)),
    st.sampled_from(["NonDomestic", "2022Q5", "2022-13", "22Q1", "wave 3", ""]),
)


@pytest.fixture(scope="module")
def engine() -> Iterator[srsql.Engine]:
    with duckdb.connect() as con:
        yield srsql.Engine(con)


def read(label: str) -> tuple[int, int] | None:
    """How many months a period has, and the first of them; None: no calendar knows its label."""
    for months, form in FORMS.items():
        if found := form.fullmatch(label):
            year, *part = map(int, found.groups())
            return months, 12 * year + (months * (part[0] - 1) if part else 0)
    return None


def between(earlier: str, later: str) -> list[int] | None:
    """First months of the periods between two; None: they have no calendar in common."""
    a, b = read(earlier), read(later)
    if a is None or b is None or a[0] != b[0]:
        return None
    return list(range(a[1] + a[0], b[1], a[0]))


@given(LABELS, LABELS)
def test_what_is_between_two_periods_is_what_plain_python_counts(
    engine: srsql.Engine, one: str, other: str
) -> None:
    ((months, begin, follows, listed),) = engine.sql(
        "SELECT srsql.period_months($1), srsql.period_begin($1), srsql.follows_on($1, $2),"
        " srsql.periods_between($1, $2)",
        [one, other],
    )
    assert (months, begin) == (read(one) or (None, None))
    expected = between(one, other)
    assert [entry and entry[1] for entry in map(read, listed)] == (expected or [])
    own, its = read(one), read(other)
    same = own is not None and its is not None and own[0] == its[0]
    assert follows == (not same or (own or (0, 0))[1] + (own or (0, 0))[0] == (its or (0, 0))[1])


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
