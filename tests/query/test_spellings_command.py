"""`srsql spellings`: the terms that reports spell in several ways, counted by cases."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from support.command import srsql
from support.quarters import Report, crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import QueryError

KEYS = {
    "Nausea": "nausea", "NAUSEA": "nausea", "na\u00fasea.": "nausea", "Beta - thal": "beta-thal",
    "BETA\u2013THAL": "beta-thal", "Rash": "rash",
}  # fmt: skip


def reports() -> list[Report]:
    """Two spellings in one case, too."""
    listed = list(KEYS)
    return [
        replace(r, pt=tuple({listed[r.caseid % 6], listed[r.caseid * 5 % 6]}), drugs=("Aspirin",))
        for r in crowd(40)
    ]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spellings")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", reports())])
        engine.release("2011Q4", k=3, theta="1", seed=1)
    return folder


def counted() -> list[tuple[str, str, int, int]]:
    """Key, spelling, its cases and those of the key, by plain Python."""
    spelled: dict[str, set[int]] = defaultdict(set)
    keyed: dict[str, set[int]] = defaultdict(set)
    for report in reports():
        for term in report.pt:
            spelled[term].add(report.caseid)
            keyed[KEYS[term]].add(report.caseid)
    rows = [(KEYS[t], t, len(cases), len(keyed[KEYS[t]])) for t, cases in spelled.items()]
    several = [row for row in rows if sum(row[0] == other[0] for other in rows) > 1]
    return sorted(several, key=lambda row: (-row[3], row[0], -row[2], row[1]))


def test_spellings_of_one_key_are_listed_with_their_cases(place: Path) -> None:
    answer = srsql("spellings", "--column", "pt", "--db", place / "w.duckdb", "--format", "csv")
    assert (answer.code, answer.err) == (0, "")
    found = [
        (row["key"], row["spelling"], int(row["cases"]), int(row["cases_of_key"]))
        for row in csv.DictReader(io.StringIO(answer.out))
    ]
    assert found == counted()
    text = srsql("spellings", "--db", place / "w.duckdb").out
    assert "2 terms of indi_pt, pt, drugname have several spellings" in text
    assert "not for publication" in text


def test_released_rows_tell_the_same_of_what_they_show(place: Path) -> None:
    with Engine(place / "w.duckdb", read_only=True) as engine:
        found = engine.spellings(column="reac.pt", released_only=True, quarter="2011Q4")
        shown = dict(
            engine.sql(
                "SELECT r.pt, count(DISTINCT r.caseid) FROM released.reac AS r GROUP BY r.pt"
            )
        )
        assert {each.spelling: each.cases for each in found.spellings} == {
            term: count for term, count in shown.items() if KEYS[term] != "rash"
        }
        assert engine.spellings(column="drugname").spellings == ()
        with pytest.raises(QueryError, match="no such column with terms"):
            engine.spellings(column="role_cod")
