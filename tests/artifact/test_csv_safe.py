"""Artifacts of which no spreadsheet runs a cell: they say so, verify, and a forged one fails."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.artifacts import make, manifest_of, rehash
from support.command import srsql
from support.quarters import Report, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.files import MARKED
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.store.frames import csv_safe

pytestmark = pytest.mark.slow

TERMS = ("=cmd|' /C calc'!A0", "+1+1", "-5", "-x", "@SUM(A1)", "'=y", "''", "'plain", "=", "-1e5")
SAFE = (
    "'=cmd|' /C calc'!A0",
    "'+1+1",
    "-5",
    "'-x",
    "'@SUM(A1)",
    "''=y",
    "''",
    "'plain",
    "'=",
    "-1e5",
)
QUARTERS = ("2011Q3", "2011Q4")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formulas")
    reports = [
        Report(10 * n, n, str(30 + n % 3), "MF"[n % 2], "70", (TERMS[n % len(TERMS)],), ("Pain",),
               (TERMS[-n % len(TERMS)],))
        for n in range(1, 41)
    ]  # fmt: skip
    with Engine(folder / "w.duckdb") as engine:
        for quarter in QUARTERS:
            engine.ingest([write_quarter(folder, quarter, reports)])
            engine.release(quarter, model="ms", k=3, theta="1", seed=1)
    return folder / "w.duckdb"


def cells(folder: Path) -> list[str]:
    """Every cell of every CSV file of a folder."""
    found: list[str] = []
    for file in sorted(folder.glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as opened:
            found += [cell for row in csv.reader(opened) for cell in row]
    return found


def formulas(folder: Path) -> list[str]:
    return [c for c in cells(folder) if c[:1] in "=+-@\t\r" and c and not _is_number(c)]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) is not None


@pytest.mark.thorough
@pytest.mark.parametrize("quarter", ["2011Q3", "2011Q3:2011Q4"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_safe_artifact_has_no_formula_says_so_and_verifies(
    db: Path, tmp_path: Path, quarter: str, form: str
) -> None:
    folder = make(db, tmp_path / "safe", quarter, format=form, csv_safe=True)
    plain = make(db, tmp_path / "plain", quarter, format=form)
    assert formulas(plain) != []
    assert formulas(folder) == []
    told = json.dumps(manifest_of(folder))
    assert '"csv_safe": true' in told
    assert "csv_safe" not in json.dumps(manifest_of(plain))
    assert "has an apostrophe\nin front of it" in (folder / "README.md").read_text()
    assert verify(folder).passed
    assert verify(plain).passed


@pytest.mark.thorough
def test_values_are_what_they_were_but_for_one_apostrophe(db: Path, tmp_path: Path) -> None:
    folder = make(db, tmp_path / "safe", "2011Q3", format="csv", csv_safe=True)
    with (folder / "reac.csv").open(encoding="utf-8", newline="") as file:
        assert {row["pt"] for row in csv.DictReader(file)} == set(SAFE)
    plain = make(db, tmp_path / "plain", "2011Q3", format="csv")
    digests = [
        {t["name"]: t["content_sha256"] for t in manifest_of(each)["tables"]}
        for each in (folder, plain)
    ]
    assert digests[0] == digests[1]
    asked = ("query", "SELECT pt, count(*) FROM reac GROUP BY pt", "--json")
    answers = [srsql(*asked, "--artifact", each).json["rows"] for each in (folder, plain)]
    assert sorted(answers[0]) == sorted(answers[1])


@pytest.mark.thorough
def test_a_forged_safe_artifact_fails(db: Path, tmp_path: Path) -> None:
    folder = make(db, tmp_path / "claims", "2011Q3", format="csv", csv_safe=True)
    plain = make(db, tmp_path / "plain", "2011Q3", format="csv")
    (folder / "reac.csv").write_bytes((plain / "reac.csv").read_bytes())
    rehash(folder)
    found = verify(folder)
    assert not found.passed
    assert any("a cell that a spreadsheet runs as a formula" in text for text in found.failures)

    folder = make(db, tmp_path / "values", "2011Q3", format="csv", csv_safe=True)
    name = "value-thresholds.csv"
    (folder / name).write_bytes((plain / name).read_bytes())
    rehash(folder)
    assert not verify(folder).passed

    folder = make(db, tmp_path / "changed", "2011Q3", format="csv", csv_safe=True)
    text = (folder / "reac.csv").read_text().replace("'+1+1", "'+1+2")
    (folder / "reac.csv").write_text(text)
    rehash(folder)
    assert not verify(folder).passed

    folder = make(db, tmp_path / "denies", "2011Q3", format="csv", csv_safe=True)
    told = manifest_of(folder)
    del told["csv_safe"]
    (folder / "manifest.json").write_text(json.dumps(told, indent=1))
    rehash(folder)
    assert not verify(folder).passed


@pytest.mark.thorough
def test_the_quarters_of_a_range_say_the_same(db: Path, tmp_path: Path) -> None:
    folder = make(db, tmp_path / "range", "2011Q3:2011Q4", format="csv", csv_safe=True)
    told = manifest_of(folder)
    del told["quarters"][1]["csv_safe"]
    (folder / "manifest.json").write_text(json.dumps(told, indent=1))
    rehash(folder)
    found = verify(folder)
    assert any("says otherwise than 2011Q3 whether it is csv_safe" in t for t in found.failures)


@pytest.mark.thorough
def test_csv_of_answers_is_safe_on_demand(db: Path, tmp_path: Path) -> None:
    asked = ("query", "SELECT pt, count(*) FROM reac GROUP BY pt", "--db", db)
    rows = list(csv.reader(srsql(*asked, "--csv", "-", "--csv-safe").out.splitlines()))
    assert {row[0] for row in rows[1:]} == set(SAFE)
    rows = list(csv.reader(srsql(*asked, "--csv", "-").out.splitlines()))
    assert {row[0] for row in rows[1:]} == set(TERMS)
    file = tmp_path / "signals.csv"
    assert srsql("signals", "--all", "--csv", file, "--csv-safe", "--db", db).code == 0
    assert cells(tmp_path)
    assert formulas(tmp_path) == []
    refused = srsql(*asked, "--csv-safe")
    assert (refused.code, refused.out) == (2, "")
    assert "--csv-safe is for CSV: give --format csv" in refused.err


@given(text=st.text(alphabet="'=+-@\t\r1e.a", max_size=6))
def test_taking_one_apostrophe_off_gives_what_it_was(text: str) -> None:
    safe = csv_safe(text)
    assert safe[:1] not in tuple("=+-@\t\r") or safe == "" or _is_number(safe)
    assert (safe[1:] if re.match(MARKED, safe) else safe) == text


def test_numbers_stay_numbers() -> None:
    assert [csv_safe(n) for n in (-5, -0.5, None, "-5", "+4.2", "-.5", "-1e-3")] == [
        -5, -0.5, None, "-5", "+4.2", "-.5", "-1e-3",
    ]  # fmt: skip
