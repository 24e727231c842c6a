"""What sources write, read by macros, against the same in Python."""

from __future__ import annotations

import datetime
import re
from bisect import bisect_right
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.source_records import cleaned, scan

from srsql.engine.ingest.quoted import quoting
from srsql.engine.ingest.records import CONTROLS, RETURN, SEPARATOR
from srsql.engine.store.statements import SPACE, SPACES

ASKED = ("closed", "delimiter", "quote", "field", "inner_text", "behind", "escaped")
TEXTS = st.text(alphabet=[*"0129a-T ", "\u00a0", "\t", "Q"], max_size=12)


@pytest.mark.thorough
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=st.text(alphabet=["a", " ", "\n", '"', "$", "é", RETURN], max_size=40),
    returns=st.booleans(),
)
def test_lines_are_numbered_as_python_splits_them(
    sql: Any, tmp_path: Path, text: str, returns: bool
) -> None:
    file = tmp_path / "lines.txt"
    file.write_text(text, encoding="utf-8", newline="")
    found = sql.rows(
        "SELECT l.line, l.text FROM srsql.physical_lines(?, ?, ?, ?) AS l ORDER BY l.line",
        [str(file), SEPARATOR, returns, RETURN],
    )
    lines = text.removesuffix("\n").split("\n") if text else []
    expected = [line.replace(RETURN, "\r") if returns else line for line in lines]
    assert found == list(enumerate(expected, 1))


@given(written=st.none() | TEXTS, integer=st.booleans())
def test_an_id_is_what_is_between_white_space(sql: Any, written: str | None, integer: bool) -> None:
    statement = "SELECT srsql.identifier(?, ?, ?)"
    ((found,),) = sql.rows(statement, [written, SPACES, integer])
    text = (written or "").strip(SPACE)
    expected = text or None
    if integer:
        number = int(text) if re.fullmatch("[0-9]+", text) else None
        expected = None if number is None or number >= 2**63 else str(number)
    assert found == expected


@pytest.mark.parametrize("rule", ["label", "year", "quarter", "month", "week", "day"])
@given(text=st.none() | TEXTS | st.sampled_from(["2022-10-14", "20221014", "202210", "2022"]))
def test_a_period_is_read_off_a_label_or_a_date(sql: Any, rule: str, text: str | None) -> None:
    sql.table("srsql_period_key", "text VARCHAR", [(text,)])
    ((found,),) = sql.rows(
        "SELECT l.label FROM srsql.period_labels('temp.main.srsql_period_key', ?, ?) AS l",
        [rule, SPACES],
    )
    name = (text or "").strip(SPACE)
    date = re.fullmatch(r"([0-9]{4})(?:-?(0[1-9]|1[0-2])(?:-?([0-9]{2})(?:[ T].*)?)?)?", name)
    year, month, day = (date[1], date[2], date[3]) if date else ("", None, None)
    told, week = None, None
    if day:
        with suppress(ValueError):  # a day that there is not
            told = datetime.date(int(year), int(month or 0), int(day))
            week = told.isocalendar()
    quarter = f"{year}Q{(int(month) + 2) // 3}" if month else None
    expected = {
        "label": name or None,
        "year": year or None,
        "quarter": quarter,
        "month": f"{year}-{month}" if month else None,
        "week": week and f"{week.year:04}W{week.week:02}",
        "day": told and told.isoformat(),
    }
    assert found == expected[rule]


@given(
    text=st.none()
    | TEXTS
    | st.sampled_from(
        ["2022-10-14", " 20221014 ", "2022-02-30", "2022-10-14T09:30", "202210", "2022"]
    )
)
def test_a_day_is_one_that_is_told_to_the_day(sql: Any, text: str | None) -> None:
    ((found,),) = sql.rows("SELECT srsql.day_of(?, ?)", [text, SPACES])
    told = re.fullmatch(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:[ T].*)?", (text or "").strip(SPACE))
    expected = None
    if told and int(told[1]):
        with suppress(ValueError):
            expected = datetime.date(*map(int, told.groups()))
    assert found == expected


@given(
    number=st.none() | st.integers(-5, 60),
    firsts=st.lists(st.integers(0, 50), min_size=1, max_size=4, unique=True).map(sorted),
)
def test_a_class_is_the_last_that_begins_at_or_below_a_number(
    sql: Any, number: int | None, firsts: list[int]
) -> None:
    labels = [f"class {place}" for place in range(len(firsts) + 1)]
    ((found,),) = sql.rows(
        "SELECT srsql.class_label(?::INTEGER, ?::INTEGER[], ?::VARCHAR[])", [number, firsts, labels]
    )
    assert found == (None if number is None else labels[bisect_right(firsts, number)])


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t", "^", "-", "\\", "¦"])
@given(data=st.data())
def test_fields_are_split_as_their_quotes_say(sql: Any, delimiter: str, data: Any) -> None:
    text = data.draw(st.text(alphabet=[delimiter, '"', '"', "a", " ", "\n"], max_size=12))
    how = quoting(delimiter)
    ((closed, fields),) = sql.rows(
        "SELECT regexp_matches($text, $closed), "
        "srsql.quoted_fields($text, $delimiter, $quote, $field, $inner_text, $behind, $escaped)",
        {"text": text, **{name: how[name] for name in ASKED}},
    )
    wanted = scan(text, delimiter)
    assert closed == (wanted.ends == "outside")
    assert not closed or fields == wanted.fields
    ((stays, closes),) = sql.rows(
        "SELECT regexp_matches($text, $stays), regexp_matches($text, $closes)",
        {"text": text, "stays": how["stays"], "closes": how["closes"]},
    )
    ends = scan(text, delimiter, inside=True).ends
    assert (stays, closes) == (ends == "inside", ends == "outside")


@given(fields=st.lists(st.sampled_from(["", "a"]), min_size=1, max_size=4))
def test_a_record_may_end_with_a_blank_field_that_the_header_has_not(
    sql: Any, fields: list[str]
) -> None:
    fits = len(fields) == 2 or (len(fields) == 3 and fields[2] == "")
    assert sql.rows("SELECT srsql.has_width(?::VARCHAR[], 2)", [fields]) == [(fits,)]


@given(
    values=st.lists(
        st.none()
        | st.text(
            alphabet=["a", " ", "\n", "\r", "\t", "\x01", "\x7f", "\x85", "\u2028", "\u00a0"]
        ),
        max_size=4,
    )
)
def test_a_run_of_control_characters_is_one_blank_and_none_at_the_ends(
    sql: Any, values: list[str | None]
) -> None:
    wanted = [value if value is None else cleaned(value) for value in values]
    places = [n for n, pair in enumerate(zip(values, wanted, strict=True), 1) if pair[0] != pair[1]]
    found = sql.rows(
        "SELECT srsql.fields_without_controls($fields::VARCHAR[], $controls, $ends), "
        "srsql.fields_with_controls($fields::VARCHAR[], $controls)",
        {"fields": values, "controls": CONTROLS, "ends": SPACES},
    )
    assert found == [(wanted, places)]
    for value, clean in zip(values, wanted, strict=True):
        one = "SELECT srsql.without_controls(?::VARCHAR, ?, ?)"
        assert sql.rows(one, [value, CONTROLS, SPACES]) == [(clean,)]


def test_reasons_that_name_lines_are_counted_as_one(sql: Any) -> None:
    reasons = {
        "a quoted field holds line 5, a record of its own": (
            "a quoted field holds another line, a record of its own"
        ),
        "too few fields (a short row, or a line end inside a value)": (
            "too few fields (a short row, or a line end inside a value)"
        ),
    }
    for reason, counted in reasons.items():
        assert sql.rows("SELECT srsql.reason_alone(?)", [reason]) == [(counted,)]
