"""Derived columns as they are made at ingestion, against the same rules in plain Python."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path

import pytest
from support.ward import QUARTERS, write_rows, write_ward

from srsql import Engine
from srsql.schemas.derived import class_labels


def parts(text: str) -> tuple[str, str, date | None]:
    """Year, month and day of a text, as far as it tells them."""
    plain = text.strip().split("T")[0].replace("-", "")
    if not (plain.isdigit() and len(plain) in (4, 6, 8)):
        return "", "", None
    year, month = plain[:4], plain[4:6]
    if month and not 1 <= int(month) <= 12:
        return "", "", None
    try:
        when = date.fromisoformat(f"{year}-{month}-{plain[6:]}") if len(plain) == 8 else None
    except ValueError:
        when = None
    return year, month, when


def quarter_of(text: str) -> str | None:
    year, month, _ = parts(text)
    return f"{year}Q{(int(month) + 2) // 3}" if month else None


def class_of(number: int, classes: list[int], unit: str) -> str:
    return class_labels(tuple(classes), unit)[sum(first <= number for first in classes)]


def expected(told: dict[str, object]) -> tuple[object, ...]:
    year, month, end = parts(str(told["told"]))
    drugs, grades = told["drugs"], told["grades"]
    assert isinstance(drugs, list)
    assert isinstance(grades, list)
    starts = [when for _, begun in drugs if (when := parts(begun)[2])]
    onset = None
    if starts and end:
        days = (end - min(starts)).days
        onset = class_of(days, [7, 30, 90], " days") if days >= 0 else "before the start"
    names = {name.strip().upper() for name, _ in drugs} - {""}
    grave = any(grade.strip().upper() in ("DE", "HO") for grade in grades)
    seen = parts(str(told["seen"]))[0] or None
    quarter = quarter_of(str(told["seen"]))
    return (
        seen, quarter, f"{year}-{month}" if month else None, onset,
        "serious" if grave else "not serious", class_of(len(names), [2, 5], ""),
        int(seen) if seen and 2015 <= int(seen) <= 2030 else None,
        quarter if quarter in QUARTERS else None,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("lake", [False, True])
def test_a_report_has_what_the_rules_make_of_its_rows(tmp_path: Path, lake: bool) -> None:
    dataset = write_ward(tmp_path)
    found = write_rows(tmp_path, random.Random(3), 300)
    where = {"lake": tmp_path / "lake"} if lake else {}
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest(
            [tmp_path / "rows"], dataset=str(dataset), period="2020", max_unread=1.0, **where
        )
        rows = engine.sql(
            "SELECT visit_id, seen_year, seen_quarter, month, onset, grave, many, srsql_year, "
            "srsql_season FROM raw_ward.visit"
        )
        rejected = engine.sql(
            "SELECT j.column_name, j.reason, count(*) FROM srsql.reject AS j "
            "WHERE j.kind = 'value' GROUP BY ALL ORDER BY ALL"
        )
    due = {number: expected(told) for number, told in found.items()}
    assert {row[0]: row[1:] for row in rows} == due
    seen = {number: str(told["seen"]) for number, told in found.items()}
    told = [str(each["told"]) for each in found.values()]
    outside = sum(row[0] is not None and row[6] is None for row in due.values())
    assert rejected == [
        ("seen", "no date that tells its quarter", sum(
            bool(text.strip()) and due[n][1] is None for n, text in seen.items()
        )),
        ("seen", "no date that tells its year", sum(
            bool(text.strip()) and due[n][0] is None for n, text in seen.items()
        )),
        ("seen_quarter", "unknown code", sum(
            row[1] is not None and row[7] is None for row in due.values()
        )),
        ("seen_year", "outside 2015 to 2030", outside),
        ("told", "no date that tells its day", sum(
            bool(text.strip()) and parts(text)[2] is None for text in told
        )),
        ("told", "no date that tells its month", sum(
            bool(text.strip()) and not parts(text)[1] for text in told
        )),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_release_shows_coarse_columns_and_never_a_date(tmp_path: Path) -> None:
    dataset = write_ward(tmp_path)
    write_rows(tmp_path, random.Random(4), 300)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([tmp_path / "rows"], dataset=str(dataset), period="2020", max_unread=1.0)
        made = engine.release("2020", k=5, theta="0.9", on_infeasible="withhold", seed=1)
        shown = [name for name, *_ in engine.sql("DESCRIBE release_2020.visit")]
        told = engine.sql("SELECT derived FROM release_2020.manifest")[0][0]
    assert shown == [
        "visit_id", "patient_id", "quarter", "age_low", "age_high", "year_low", "year_high",
        "season", "month", "onset", "grave", "many",
    ]  # fmt: skip
    assert made.manifest["derived"] == told
    assert told.startswith(
        "seen_year: year of visit.seen (visit.seen is not published); seen_quarter: quarter of "
    )
    assert "many: number of different taken.drug in classes: 0-1, 2-4, 5 or more (protects nothing "
    assert "of taken.drug, published in the same release)" in told
