"""Refusals that a newcomer meets first: one line each, with advice that works if followed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.archives import pack, vaers
from support.command import Answer, srsql
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import meant

pytestmark = pytest.mark.slow

MADE = ("--k", "3", "--theta", "1", "--seed", "1")


def refused(*arguments: object) -> str:
    answer: Answer = srsql(*arguments)
    assert answer.code not in (0, 1), answer.out
    assert answer.out == ""
    assert len(answer.err.splitlines()) == 1
    return answer.err


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with 2022Q3 and 2022Q4, of which the first is released, in two series."""
    folder = tmp_path_factory.mktemp("released")
    with Engine(folder / "w.duckdb") as engine:
        for quarter in ("2022Q3", "2022Q4"):
            engine.ingest([write_quarter(folder, quarter, crowd(40))])
        for series in ("main", "journal"):
            engine.release("2022Q3", k=3, theta="1", seed=1, series=series, allow_linkable=True)
    return folder / "w.duckdb"


@pytest.mark.thorough
def test_an_archive_of_vaers_says_which_dataset_to_give(tmp_path: Path) -> None:
    files = vaers("VAERS_ID,STATE,AGE_YRS,SEX,SYMPTOM_TEXT\n1,CT,42,F,x\n")
    archive = pack(tmp_path / "2004VAERSData.zip", files)
    line = refused("ingest", archive, "--db", tmp_path / "w.duckdb")
    assert "2004VAERSData.zip looks like VAERS: give --dataset vaers" in line
    assert srsql("ingest", archive, "--dataset", "vaers", "--db", tmp_path / "w.duckdb").code == 0
    unpacked = tmp_path / "folder"
    unpacked.mkdir()
    (unpacked / "2004VAERSDATA.csv").write_text("VAERS_ID\n")
    assert "looks like VAERS" in refused("ingest", unpacked, "--db", tmp_path / "x.duckdb")
    assert "looks like VAERS" in refused(
        "ingest", unpacked / "2004VAERSDATA.csv", "--db", tmp_path / "x.duckdb"
    )


def test_an_archive_of_faers_given_as_vaers_says_so_as_well(tmp_path: Path) -> None:
    archive = write_quarter(tmp_path, "2022Q4", crowd(3))
    line = refused("ingest", archive, "--dataset", "vaers", "--db", tmp_path / "w.duckdb")
    assert "looks like FAERS: give --dataset faers" in line


@pytest.mark.thorough
def test_an_archive_of_nothing_known_says_what_is_in_it_and_what_is_wanted(tmp_path: Path) -> None:
    archive = pack(tmp_path / "q.zip", {"letter.txt": "x"})
    line = refused("ingest", archive, "--db", tmp_path / "w.duckdb")
    assert "no file of dataset 'faers' in it (it has: letter.txt; wanted: demo*.txt" in line


@pytest.mark.parametrize(
    "label",
    [
        pytest.param("22Q4", marks=pytest.mark.thorough),
        "2022q4",
        "2022-Q4",
        "Q4/2022",
        "2022 Q4",
        "20224",
    ],
)
def test_a_quarter_that_is_written_otherwise_is_told_which_one_is_meant(
    released: Path, label: str
) -> None:
    line = refused("release", "--quarter", label, *MADE, "--db", released)
    assert "did you mean 2022Q4?" in line if label != "20224" else "2022Q3 to 2022Q4" in line


@pytest.mark.parametrize(
    "command",
    [
        ("metrics",), ("attack", "--qid", "age=37"), ("report",), ("correct",), ("audit",),
        ("publish", "--to", "out"), ("query", "SELECT count(*) FROM demo"),
        ("signals", "--drug", "Drug 1", "--reaction", "Reaction 01"),
    ],
)  # fmt: skip
def test_every_command_tells_the_quarters_that_are_out_and_the_one_that_is_meant(
    released: Path, command: tuple[str, ...]
) -> None:
    line = refused(*command, "--quarter", "22Q3", "--db", released)
    assert "it has: 2022Q3 to 2022Q3 (1); did you mean 2022Q3?" in line


@pytest.mark.parametrize("command", ["compare", "advise"])
def test_studies_tell_it_too(released: Path, command: str, tmp_path: Path) -> None:
    asked = ("--quarters", "22Q4", "--models", "ms") if command == "compare" else (
        "--quarter", "22Q4"
    )  # fmt: skip
    line = refused(command, *asked, "--out", tmp_path / "out", "--db", released)
    assert "did you mean 2022Q4?" in line


def test_a_range_tells_it_too(released: Path) -> None:
    line = refused("release", "--quarter", "22Q3:22Q4", *MADE, "--db", released)
    assert "did you mean 2022Q3?" in line


@pytest.mark.parametrize(
    ("label", "known", "said"),
    [
        ("22Q4", ["2021Q4", "2022Q4"], "; did you mean 2022Q4?"),
        ("2022Q4", ["2022Q4"], ""),
        ("2022Q5", ["2022Q4"], ""),
        ("22Q4", ["2022Q3"], ""),
        ("1922Q4", ["2022Q4"], ""),
        ("nondomestic", ["2022", "NonDomestic"], "; did you mean NonDomestic?"),
        ("2022-10", ["202210"], "; did you mean 202210?"),
        ("", ["2022Q4"], ""),
    ],
)
def test_only_another_spelling_is_taken_for_what_is_meant(
    label: str, known: list[str], said: str
) -> None:
    assert meant(label, known) == said


def test_theta_0_says_what_it_means_and_what_to_give(released: Path) -> None:
    asked = ("--quarter", "2022Q4", "--model", "ms", "--series", "zero", "--theta", "0")
    line = refused("release", *asked, "--db", released)
    assert "give a theta above 0, such as 0.4: 0 says that nobody may hold the value" in line
    assert "withhold every case that holds one (--on-infeasible withhold)" in line


def test_a_levels_file_that_is_not_there_is_named(released: Path) -> None:
    asked = ("release", "--quarter", "2022Q4", "--theta", "levels:none.toml", "--db", released)
    line = refused(*asked)
    assert "--theta levels:none.toml: there is no file none.toml: give the path" in line
    assert "Errno" not in line


def test_a_hierarchy_is_looked_up_beside_the_users_file_and_its_path_is_told(
    tmp_path: Path,
) -> None:
    text = """
name = "clinic"
report_table = "visit"
report_id = "visit_id"
case_id = "visit_id"
[source]
reader = "csv"
[tables.visit]
files = ["visit*.csv"]
columns = ["visit_id", "ward", "disease"]
[[qid]]
name = "ward"
kind = "categorical"
column = "ward"
hierarchy = "wards.csv"
[[sensitive]]
table = "visit"
column = "disease"
"""
    (tmp_path / "clinic.toml").write_text(text)
    data = tmp_path / "visits.csv"
    data.write_text("visit_id,ward,disease\n1,A,flu\n")
    asked = ("ingest", data, "--dataset", tmp_path / "clinic.toml", "--period", "1",
             "--db", tmp_path / "w.duckdb")  # fmt: skip
    line = refused(*asked)
    assert f"key qid.ward.hierarchy: no file {tmp_path / 'wards.csv'}" in line
    assert "site-packages" not in line
    (tmp_path / "wards.csv").write_text("node,parent\nAny,\nA,Any\n")
    assert srsql(*asked).code == 0


@pytest.mark.parametrize(
    "command",
    [
        ("audit",), ("report",), ("query", "SELECT count(*) FROM demo"), ("signals", "--all"),
        ("metrics", "--quarter", "2022Q3"), ("lookup", "7"), ("series", "show", "jounral"),
        ("series", "set", "jounral", "--k", "4"), ("publish", "--quarter", "2022Q3", "--to", "x"),
        ("attack", "--quarter", "2022Q3", "--qid", "age=1"), ("correct", "--quarter", "2022Q3"),
    ],
)  # fmt: skip
def test_an_unknown_series_is_told_with_those_that_there_are(
    released: Path, command: tuple[str, ...]
) -> None:
    named = () if command[0] == "series" else ("--series", "jounral")
    line = refused(*command, *named, "--db", released)
    assert "'jounral'" in line
    assert "journal, main" in line


@pytest.mark.thorough
def test_periods_years_apart_do_not_count_as_consecutive(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    with Engine(db) as engine:
        for quarter, number in (("2022Q4", 1), ("2025Q4", 101)):
            engine.ingest([write_quarter(tmp_path, quarter, crowd(40, first=number))])
    first = srsql("release", "--quarter", "2022Q4", *MADE, "--db", db)
    second = srsql("release", "--quarter", "2025Q4", *MADE, "--db", db)
    assert (first.code, second.code) == (0, 0)
    gap = "2023Q1 to 2025Q3 (11 periods) are missing between 2022Q4 and 2025Q4"
    assert gap in second.out
    assert gap in srsql("audit", "--db", db).out
    assert gap in srsql("series", "show", "--db", db).out


@pytest.mark.thorough
def test_corrupt_files_are_one_line(tmp_path: Path) -> None:
    archive = write_quarter(tmp_path, "2022Q4", crowd(30))
    data = archive.read_bytes()
    archive.write_bytes(data[: len(data) // 2])
    assert "is not a complete zip: download it again" in refused(
        "ingest", archive, "--db", tmp_path / "w.duckdb"
    )
    archive.write_bytes(data[:100] + bytes(100) + data[200:])
    assert "is damaged or cut off: download it again" in refused(
        "ingest", archive, "--db", tmp_path / "w.duckdb"
    )
    for name in ("t.parquet", "t.csv"):
        (tmp_path / name).write_bytes(b"PAR1 nonsense \xff\x00,\n\n\n")
        asked = ("import-release", tmp_path / name, "--quarter", "1", "--map", "age=A")
        assert name in refused(*asked, "--db", tmp_path / "w.duckdb")
    line = refused(*asked[:1], tmp_path / "t.parquet", *asked[2:], "--db", tmp_path / "w.duckdb")
    assert "damaged, cut off or no Parquet file" in line
    assert "file 't.parquet'" in line  # and not that of its copy
