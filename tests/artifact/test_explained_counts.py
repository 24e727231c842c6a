"""What an artifact's README and methods page explain, held against the engine and the rows."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from artifact.conftest import OPTIONS
from oracles.term_key import term_key
from support.artifacts import make, manifest_of, read_csv, rehash, rehash_range, thresholds_of
from support.quarters import crowd, write_quarter

from srsql import Engine, verify
from srsql.engine.artifact.explained import CODES, FAERS, unprotected
from srsql.engine.artifact.format import Manifest
from srsql.schemas import load_dataset

pytestmark = pytest.mark.thorough

QUARTERS = ("2011Q3", "2011Q4")
ALL, LAST = "2011Q3:2011Q4", "2011Q4"
FORMS = ("csv", "parquet", "duckdb")
LIMIT, WANTED = 60, "F"
QUESTION = f"SELECT count(DISTINCT caseid) FROM demo WHERE age >= {LIMIT} AND sex = '{WANTED}'"


@pytest.fixture(scope="module")
def db(plain_pages: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two quarters with cases in both, values that nobody knows, and two reports of some cases."""
    folder = tmp_path_factory.mktemp("explained")
    with Engine(folder / "w.duckdb") as engine:
        for number, quarter in enumerate(QUARTERS):
            reports = crowd(60, first=1 + 30 * number, version=1 + number)
            reports = [
                replace(r, age=str(18 + 3 * n % 80), sex="FM"[n % 2] if n % 5 else "")
                for n, r in enumerate(reports)
            ]
            reports = [replace(r, age="") if n % 4 == 0 else r for n, r in enumerate(reports)]
            engine.ingest([write_quarter(folder, quarter, reports)])
        for quarter in QUARTERS:
            options = OPTIONS | {"theta": "frequency"}
            engine.release(quarter, model="ppms++", **options)
            engine.release(quarter, model="ppms++", **options, series="apart", ids="per-quarter",
                           allow_linkable=True)  # fmt: skip
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def made(db: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """(quarters, format) -> the artifact; not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    return {
        (what, form): make(db, folder / f"{form}-{len(what)}", what, format=form)
        for what in (ALL, LAST)
        for form in FORMS
    }


def statements(folder: Path) -> list[str]:
    """The SQL of the README: what is indented, and no command."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?:^    .*\n)+", text, flags=re.MULTILINE)
    return [block for block in blocks if block.lstrip().startswith(("SELECT", "WITH"))]


def statement(folder: Path, part: str) -> str:
    (found,) = [each for each in statements(folder) if part in each]
    return found


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a statement from within a folder, as a reader does."""

    def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
        monkeypatch.chdir(folder)
        database = folder / "release.duckdb"
        with duckdb.connect(
            str(database) if database.exists() else ":memory:", read_only=database.exists()
        ) as con:
            return con.execute(sql).fetchall()

    return rows


def bounds(db: Path, quarter: str | None) -> tuple[int, float, int]:
    with Engine(db, read_only=True) as engine:
        (row,) = engine.query(QUESTION, quarter=quarter).rows
    lower, expected, upper, _ = row
    return lower, expected, upper


@pytest.mark.parametrize("form", FORMS)
def test_the_bounds_of_the_readme_are_those_of_query(
    db: Path, made: dict[tuple[str, str], Path], run: Any, form: str
) -> None:
    for what, quarter in ((LAST, LAST), (ALL, None)):
        sql = statement(made[what, form], "AS lower").replace("VALUE", WANTED)
        lines = [line for line in sql.splitlines() if "max(u.quarter)" not in line]
        assert len(lines) == len(sql.splitlines()) - (what == ALL)
        ((lower, expected, upper),) = run(made[what, form], "\n".join(lines))
        assert (lower, pytest.approx(expected, abs=1e-9), upper) == bounds(db, quarter)
        assert lower < expected < upper


def test_a_condition_over_a_whole_domain_leaves_a_missing_value_out_of_lower(
    db: Path, made: dict[tuple[str, str], Path], run: Any
) -> None:
    """Its original may lack the value, too, and NULL meets no comparison."""
    regions = {row["caseid"]: row for row in read_csv(made[LAST, "csv"], "demo")}.values()
    known = sum(row["age_low"] is not None and row["sex"] != "Any" for row in regions)
    question = "SELECT count(DISTINCT caseid) FROM demo WHERE age BETWEEN 0 AND 120 AND sex IN {}"
    with Engine(db, read_only=True) as engine:
        (asked,) = engine.query(question.format("('F', 'M')"), quarter=LAST).rows
        ((truth,),) = engine.sql(
            "SELECT count(DISTINCT d.caseid) FROM raw_faers.demo AS d WHERE d.quarter = ? "
            "AND try_cast(d.age AS INTEGER) BETWEEN 0 AND 120 AND d.sex IN ('F', 'M')",
            [LAST],
        )
    assert asked == (known, len(regions), len(regions), known)
    assert known <= truth < len(regions)
    for form in FORMS:
        sql = statement(made[LAST, form], "AS lower").replace("VALUE", "F', 'M")
        sql = sql.replace("61 / 121", "121 / 121").replace("t.age_low, 60", "t.age_low, 0")
        assert run(made[LAST, form], sql) == [(known, len(regions), len(regions))]


def share(row: dict[str, Any]) -> Fraction:
    """Of a region: how much of it lies in the question."""
    low, high = (int(row[f"age_{end}"] or default) for end, default in (("low", 0), ("high", 120)))
    values = range(low, high + 1)
    age = Fraction(sum(value >= LIMIT for value in values), len(values))
    return age * {"F": Fraction(1), "M": Fraction(0), "Any": Fraction(1, 2)}[row["sex"]]


def latest(folder: Path) -> dict[str, dict[str, Any]]:
    """Case -> a report of its latest quarter."""
    return {
        row["caseid"]: row for row in sorted(read_csv(folder, "demo"), key=lambda r: r["quarter"])
    }


def test_each_case_is_counted_once_as_its_latest_quarter_has_it(
    made: dict[tuple[str, str], Path], run: Any
) -> None:
    folder = made[ALL, "csv"]
    cases = latest(folder)
    shares = [share(row) for row in cases.values()]
    due = (sum(s == 1 for s in shares), float(sum(shares)), sum(s > 0 for s in shares))
    sql = statement(folder, "AS lower").replace("VALUE", WANTED)
    ((lower, expected, upper),) = run(folder, sql)
    assert (lower, pytest.approx(expected, abs=1e-9), upper) == due
    assert run(folder, statement(folder, "AS cases FROM 'demo.csv'")) == [(len(cases),)]
    assert len(cases) < len(read_csv(folder, "demo"))
    holders = defaultdict(set)
    for row in read_csv(folder, "reac"):
        if row["quarter"] == cases[row["caseid"]]["quarter"]:
            holders[term_key(row["pt"])].add(row["caseid"])
    found = run(folder, statement(folder, "AS cases FROM 'reac.csv'"))
    assert dict(found) == {term: len(held) for term, held in holders.items()}


def test_every_statement_runs_from_within_the_folder(
    made: dict[tuple[str, str], Path], run: Any
) -> None:
    for folder in made.values():
        assert len(statements(folder)) == 4
        for sql in statements(folder):
            assert run(folder, sql)


def test_distinct_cases_of_all_quarters_are_told_where_ids_follow_them(
    db: Path, made: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    folder = made[ALL, "csv"]
    distinct = len(latest(folder))
    assert manifest_of(folder)["released_cases"] == distinct
    for name in ("README.md", "methods.md"):
        assert (
            f"Over all quarters there are {distinct} distinct cases." in (folder / name).read_text()
        )
    apart = make(db, tmp_path / "apart", ALL, format="csv", series="apart")
    assert "released_cases" not in manifest_of(apart)
    for name in ("README.md", "methods.md"):
        text = (apart / name).read_text()
        assert "over all quarters cannot be told: ids are new in every quarter" in text


def test_individuals_of_several_quarters_are_distinct_cases_for_catalogues_too(
    db: Path, made: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    name, distinct = "healthdcatap:numberOfUniqueIndividuals", len(latest(made[ALL, "csv"]))
    told = {f: json.loads((made[ALL, f] / "dcat.jsonld").read_text()) for f in FORMS}
    assert {each[name]["@value"] for each in told.values()} == {str(distinct)}
    folder = shutil.copytree(made[ALL, "csv"], tmp_path / "several")
    added = sum(part["counts"]["released_cases"] for part in manifest_of(folder)["quarters"])
    assert distinct < added
    told["csv"][name]["@value"] = str(added)
    (folder / "dcat.jsonld").write_text(json.dumps(told["csv"]))
    written = [part | {"software_version": "9.9"} for part in manifest_of(folder)["quarters"]]
    rehash_range(folder, reworded=False, software_version="9.9", quarters=written)
    due = f"dcat.jsonld: it has another number of cases than manifest.json: {added}, not {distinct}"
    assert any(due in text for text in verify(folder).failures), verify(folder).failures
    apart = make(db, tmp_path / "apart", ALL, format="csv", series="apart")
    assert name not in json.loads((apart / "dcat.jsonld").read_text())


def free_pairs(folder: Path) -> dict[str, int]:
    """What a threshold of 1 leaves unbounded, from the files."""
    thresholds = thresholds_of(folder)
    free = {value for value, (num, den) in thresholds.items() if num == den}
    cells = (("reac", "pt"), ("indi", "indi_pt"))
    held = {
        (row["caseid"], term_key(str(row[column])))
        for table, column in cells
        for row in read_csv(folder, table)
    }
    held = {pair for pair in held if pair[1] in thresholds}
    return {
        "values": len(free),
        "all_values": len(thresholds),
        "held_unprotected": sum(value in free for _, value in held),
        "held": len(held),
    }


def test_what_a_threshold_of_1_leaves_unbounded_is_told_and_listed(
    made: dict[tuple[str, str], Path], run: Any
) -> None:
    folder = made[LAST, "csv"]
    due = free_pairs(folder)
    assert due["values"]
    assert manifest_of(folder)["unprotected"] == due
    text = " ".join((folder / "README.md").read_text().split())
    assert f"not protected: {due['values']} of {due['all_values']} (" in text
    assert f"{due['held_unprotected']} of {due['held']} (" in text
    listed = run(folder, statement(folder, "theta_num = theta_den"))
    assert len(listed) == due["values"]


def test_where_no_value_has_a_threshold_of_1_the_readme_says_so_in_words(
    made: dict[tuple[str, str], Path],
) -> None:
    part = Manifest.model_validate(manifest_of(made[LAST, "csv"]))
    assert part.unprotected is not None
    none = {"values": 0, "held_unprotected": 0}
    part = part.model_copy(update={"unprotected": part.unprotected.model_copy(update=none)})
    number = part.unprotected.all_values if part.unprotected else 0
    said = f"not protected; none of the {number} released values "
    one, several = (" ".join(unprotected(part, several=s).split()) for s in (False, True))
    assert one.endswith(f"{said}has one.")
    assert f"{said}in {LAST} has one. To list them:" in several  # another quarter may have some


def test_empty_values_are_counted_and_not_said_to_be_one_or_the_other(
    made: dict[tuple[str, str], Path],
) -> None:
    folder = made[LAST, "csv"]
    regions = {row["caseid"]: row for row in read_csv(folder, "demo")}
    empty = sum(row["age_low"] is None for row in regions.values())
    for name in ("README.md", "methods.md"):
        text = " ".join((folder / name).read_text().split())
        assert f"age of {empty} of {len(regions)} (" in text
        assert "which of the two is told neither of a case nor in numbers" in text


def forgeries(made: dict[tuple[str, str], Path], folder: Path) -> Iterator[tuple[Path, str]]:
    one = shutil.copytree(made[LAST, "csv"], folder / "one")
    rehash(one, unprotected=manifest_of(one)["unprotected"] | {"values": 0})
    yield one, "unprotected is told as"
    several = shutil.copytree(made[ALL, "csv"], folder / "several")
    rehash_range(several, released_cases=7)
    yield several, "released_cases of all quarters is 7"


def test_figures_that_the_rows_do_not_have_are_refused(
    made: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    for folder, says in forgeries(made, tmp_path):
        found = [text for text in verify(folder).failures if says in text]
        assert found, says


def test_codes_roles_and_formulas_are_explained(made: dict[tuple[str, str], Path]) -> None:
    folder = made[ALL, "csv"]
    with (folder / "data-dictionary.csv").open(encoding="utf-8", newline="") as file:
        told = {row["column"]: row["meaning"] for row in csv.DictReader(file)}
    for name, text in CODES.items():
        assert told[name] == text
    assert "completed years" in told["age_low"]
    methods = (folder / "methods.md").read_text()
    for name in FAERS:
        declared = load_dataset(name).signals
        assert declared is not None
        counted = " and ".join(declared.suspect)
        assert f"srsql signals counts {counted} where" in CODES[declared.role or ""]
        assert f"`{declared.role}` is {' or '.join(declared.suspect)}" in methods
    for measure in ("PRR =", "ROR =", "IC = log2(a / E)", "IC025"):
        assert measure in methods
