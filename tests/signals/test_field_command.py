"""`srsql signals` beside pairs: what each way prints, and what is refused in one line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from support.command import srsql
from support.quarters import side_effects, write_quarter

from srsql.engine.api.engine import Engine

PAIR = ("--drug", "Drug A", "--reaction", "Bleeding")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("field")
    reports = side_effects(2, [f"Drug {name}" for name in "ABCD"], ["Bleeding", "Rash", "Pain"])
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", reports)])
        engine.release("2011Q4", k=3, theta="1", seed=1)
    return folder / "w.duckdb"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "key", "columns"),
    [
        pytest.param((*PAIR, "--trend"), "points", "span", marks=pytest.mark.thorough),
        ((*PAIR, "--with-drug", "drug b"), "measures", "omega025_lower"),
        (("--drug", "Drug A", "--likelihood", "--draws", "99"), "reactions", "log_lr"),
    ],
)
def test_each_way_has_a_document_a_table_and_lines(
    db: Path, asked: tuple[str, ...], key: str, columns: str
) -> None:
    document = json.loads(srsql("signals", *asked, "--db", db, "--json").out)
    assert document[key]
    assert document["counted"]["quarters"] == ["2011Q4"]
    table = srsql("signals", *asked, "--db", db, "--released-only", "--format", "csv").out
    header, *rows = csv.reader(io.StringIO(table))
    assert columns in header
    assert rows
    assert "original" not in {row[header.index("data")] for row in rows}
    answer = srsql("signals", *asked, "--db", db)
    assert answer.code == 0
    assert "not for publication" in answer.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ((), "a missing value counts by the condition's share of the domain"),
        (("--missing", "exclude"), "or as released was given up"),
    ],
)
def test_bounds_under_a_condition_say_whose_they_are(
    db: Path, asked: tuple[str, ...], told: str
) -> None:
    for way in (("--trend",), ("--with-drug", "drug b")):
        answer = srsql("signals", *PAIR, *way, "--min-age", "40", *asked, "--db", db)
        assert told in " ".join(answer.out.split())


def test_an_export_names_its_files(db: Path, tmp_path: Path) -> None:
    answer = srsql("signals", "--all", "--export", "openebgm", "--to", tmp_path / "out", "--db", db)
    assert answer.code == 0
    assert "openebgm.csv" in answer.out
    assert "not for publication" not in answer.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ((*PAIR, "--trend", "--likelihood"), "--trend and --likelihood exclude each other"),
        ((*PAIR, "--figure", "x.svg"), "--figure is of --trend: ask for both"),
        ((*PAIR, "--seed", "3"), "--seed is of --likelihood: ask for both"),
        ((*PAIR, "--trend", "--strata", "sex"), "--trend takes no --strata: leave it out"),
        ((*PAIR, "--likelihood"), "--likelihood takes no --reaction: leave it out"),
        (("--drug", "Drug A", "--trend"), "--trend needs --reaction"),
        (("--all", "--export", "pvda"), "--export needs --to"),
        ((*PAIR, "--trend", "--allow-linkable"), "--allow-linkable is of --export: ask for both"),
        (("--export", "pvda", "--to", "x"), "give --all for pvda and openebgm, --drug for"),
        (("--all", "--export", "treescan", "--to", "x"), "has counts of one drug: give --drug"),
        ((*PAIR, "--with-drug", "Drug Z"), "no case has the drug 'Drug Z'"),
        ((*PAIR, "--with-drug", ""), "'' is no name of a drug: give one"),
        (("--drug", "", "--reaction", "Rash", "--trend"), "'' is no name of a drug: give one"),
        (("--drug", "Drug A", "--reaction", ""), "'' is no name of a reaction: give one"),
        ((*PAIR, "--without-drug", " "), "' ' is no name of a drug: give one"),
        ((*PAIR, "--without-drug", "drug\u200b a"), "the drug 'Drug A' is left out by"),
        (
            (*PAIR, "--with-drug", "\u2060", "--allow-unknown"),
            "'\\u2060' is no name of a drug: give one",
        ),
        (("--drug", "", "--likelihood"), "'' is no name of a drug: give one"),
    ],
)
def test_what_does_not_go_together_is_one_line(db: Path, asked: tuple[str, ...], text: str) -> None:
    answer = srsql("signals", *asked, "--db", db)
    assert answer.code == 2
    assert text in answer.err
    assert len(answer.err.splitlines()) == 1
