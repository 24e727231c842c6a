"""Refusals that a newcomer meets first: one line each, with advice that works if followed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support.amount import some_of
from support.archives import pack, vaers
from support.command import Answer, srsql
from support.quarters import crowd, write_quarter

from srsql.cli import cli
from srsql.engine.api.engine import Engine
from srsql.engine.catalog.periods import named_period
from srsql.engine.console.sections import told
from srsql.engine.errors import DatasetError, SrsqlError
from srsql.engine.parameters import nearest

pytestmark = pytest.mark.slow

MADE = ("--k", "3", "--theta", "1", "--seed", "1")


def refused(*arguments: object) -> str:
    answer: Answer = srsql(*arguments)
    assert answer.code not in (0, 1), answer.out
    assert answer.out == ""
    assert len(answer.err.splitlines()) == 1
    return answer.err


def followed(line: str, db: Path) -> list[Answer]:
    """What comes of the commands that a message quotes, each run as it stands there."""
    commands = re.findall(r"'srsql ([^']+)'", line)
    assert commands, line
    return [srsql(*shlex.split(command), "--db", db) for command in commands]


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


OTHERWISE = ["22Q3", "2022q3", "2022-Q3", "Q3/2022", "2022 Q3", "3Q2022"]


@pytest.mark.parametrize(
    "command",
    [
        ("metrics",), ("attack", "--qid", "age=37"), ("audit",), ("lookup", "1"),
        ("query", "SELECT count(*) FROM demo"), ("spellings",),
        ("signals", "--drug", "Drug 1", "--reaction", "Reaction 01"),
    ],
)  # fmt: skip
def test_every_command_reads_a_period_however_it_is_written(
    released: Path, command: tuple[str, ...]
) -> None:
    asked = srsql(*command, "--quarter", "2022Q3", "--db", released, "--json")
    for label in OTHERWISE[: some_of(3)]:
        assert srsql(*command, "--quarter", label, "--db", released, "--json") == asked


def test_a_release_and_a_range_read_it_too(released: Path) -> None:
    for label in OTHERWISE:
        line = refused("release", "--quarter", label, *MADE, "--db", released)
        assert "2022Q3 is already released" in line
    answer = srsql("release", "--quarter", "22q3:2022-Q3", *MADE[:4], "--db", released)
    assert (answer.code, "2022Q3" in answer.out) == (0, True)


@pytest.mark.parametrize(
    "command", [("report",), ("metrics",), ("audit",), ("query", "SELECT count(*) FROM demo")]
)
def test_a_range_where_one_period_is_meant_is_told_which_to_give(
    released: Path, command: tuple[str, ...]
) -> None:
    line = refused(*command, "--quarter", "2022Q3:2022Q4", "--db", released)
    assert "takes one period, such as --quarter 2022Q3" in line
    assert "srsql release" not in line


@pytest.mark.parametrize(
    ("label", "known", "meant"),
    [
        ("22Q4", ["2021Q4", "2022Q4"], "2022Q4"),
        ("22Q4", ["2022Q3"], "2022Q4"),
        ("22Q4", [], "2022Q4"),
        ("2022Q4", ["2022-Q3"], "2022-Q4"),
        ("Q4/2022", ["22Q3"], "22Q4"),
        ("2022-Q3:22q4", ["2022Q3"], "2022Q3:2022Q4"),
        ("2022-10", ["202210"], "202210"),
        ("10/2022", ["2022-09"], "2022-10"),
        ("2026w7", ["2026-W06"], "2026-W07"),
        ("W07/2026", [], "2026W07"),
        ("20260213", ["2026-02-12"], "2026-02-13"),
        ("nondomestic", ["2022", "NonDomestic"], "NonDomestic"),
        ("2022Q5", ["2022Q4"], "2022Q5"),
        ("1922Q4", ["2022Q4"], "1922Q4"),
        ("20224", ["2022Q4"], "20224"),
        ("", ["2022Q4"], ""),
    ],
)
def test_only_another_spelling_is_taken_for_what_is_meant(
    label: str, known: list[str], meant: str
) -> None:
    assert named_period(label, known) == meant


def test_the_first_period_of_a_warehouse_may_be_called_anything() -> None:
    assert named_period("2022-q4", [], fresh=True) == "2022-q4"
    assert named_period("2022-q4", ["2022Q3"], fresh=True) == "2022Q4"
    assert named_period("north", ["NORTH"], fresh=True) == "north"


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        ("relaese", ["release", "restore"], "release"),
        ("remove", ["restore", "demo"], None),
        ("--quater", ["--date", "--quarter"], "--quarter"),
        ("--colour", ["--log", "--out"], None),
        ("wiat", ["wait"], "wait"),
        ("k", ["l", "m"], None),
    ],
)
def test_only_a_slip_is_taken_for_a_misspelt_name(
    typed: str, known: list[str], meant: str | None
) -> None:
    assert nearest(typed, known) == meant


def test_a_word_for_what_commands_do_names_them_and_each_can_be_run() -> None:
    line = refused("remove")
    assert "Did you mean 'srsql forget' or 'srsql correct'?" in line
    for command in re.findall(r"'srsql (\w+)'", line):
        assert srsql(command, "--help").code == 0
    for word, commands in told().words.items():
        assert word not in cli.commands
        assert set(commands) <= set(cli.commands)


def test_what_is_done_otherwise_than_asked_is_refused_with_what_differs(released: Path) -> None:
    asked = ("release", "--quarter", "2022Q3:2022Q3", "--db", released)
    assert "nothing to do" in srsql(*asked).out
    assert "nothing to do" in srsql(*asked, "--k", "3", "--theta", "1").out
    for given, differs in (
        (("--k", "10"), "k 10, was 3"),
        (("--theta", "0.4"), "theta 2/5, was 1"),
        (("--seed", "2"), "seed 2, was 1"),
        (("--ids", "original"), "ids original, was pseudonym"),
    ):
        assert f"but not as asked ({differs})" in refused(*asked, *given)


def test_a_series_that_is_there_as_asked_is_left_as_it_is(released: Path) -> None:
    create = ("series", "create", "twice", "--k", "7", "--db", released)
    first = srsql(*create)
    assert srsql(*create, "--if-needed") == first
    line = refused(*create[:3], "--k", "8", "--if-needed", "--db", released)
    assert "is there, but not as asked (k 8, was 7)" in line
    assert [answer.code for answer in followed(line, released)] == [0]
    assert [answer.code for answer in followed(refused(*create), released)] == [0]


@pytest.mark.thorough
def test_a_quarter_that_is_not_out_is_told_what_can_be_done_about_it(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        for number in range(4):
            cases = crowd(40, first=1 + 100 * number)
            engine.ingest([write_quarter(tmp_path, f"2022Q{number + 1}", cases)])
        for quarter in ("2022Q1", "2022Q3"):
            engine.release(quarter, k=3, theta="1", seed=1)
        engine.create_series("other", k=3, theta="1")
        with pytest.raises(SrsqlError, match="2022Q1 is already released in series 'main'"):
            engine.release("2022Q1")
        with pytest.raises(SrsqlError, match="2022Q2 comes before 2022Q3, which is out"):
            engine.release("2022Q2")
    db = tmp_path / "w.duckdb"
    asked = ("metrics", "--db", db, "--quarter")
    assert "ingest and release it first" in refused(*asked, "2031Q1")
    assert "it comes before 2022Q3" in refused(*asked, "2022Q2")
    for where in (("2022Q4",), ("2022Q2", "--series", "other")):
        line = refused(*asked, *where)
        assert [answer.code for answer in followed(line, db)] == [0]
        assert srsql(*asked, *where).code == 0


def test_what_is_published_already_says_what_to_give_and_that_works(
    released: Path, tmp_path: Path
) -> None:
    asked = ("publish", "--quarter", "2022Q3", "--allow-linkable", "--db", released)
    assert srsql(*asked, "--to", tmp_path / "a").code == 0
    line = refused(*asked, "--to", tmp_path / "a")
    assert "give another --to, or --if-needed" in line
    assert "nothing to do" in srsql(*asked, "--to", tmp_path / "a", "--if-needed").out
    assert srsql(*asked, "--to", tmp_path / "b").code == 0


@pytest.mark.thorough
def test_forgetting_says_either_that_nothing_is_left_or_what_is_to_do(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2022Q3", crowd(40))])
    clean = srsql("forget", "1", "--reason", "test", "--db", db)
    assert "nothing that was erased is left" in clean.out
    assert "to do" not in clean.out
    with Engine(db) as engine:
        engine.release("2022Q3", k=3, theta="1", seed=1)
    again = srsql("forget", "2", "--reason", "test", "--db", db)
    assert "nothing that was erased is left" not in again.out
    commands = again.out.partition("to do, in this order:\n")[2].splitlines()
    assert commands[:2] == ["  srsql correct --quarter 2022Q3", "  srsql forget --rebuild"]
    assert not commands[2].startswith(" "), "these two alone"
    commands = commands[:2]
    for command in commands:
        assert srsql(*shlex.split(command)[1:], "--db", db).code == 0


def test_a_dataset_is_checked_when_the_engine_is_made(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("name = 1\n")
    for name in (tmp_path / "bad.toml", tmp_path / "none.toml", "nowhere"):
        with pytest.raises(DatasetError):
            Engine(tmp_path / "w.duckdb", dataset=name)
    Engine(tmp_path / "w.duckdb", dataset="vaers").close()  # and the file is not held


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
