"""The command as a process: exit codes, streams, environment, configuration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from support.quarters import Report, crowd, write_quarter

pytestmark = pytest.mark.slow

Run = Callable[..., subprocess.CompletedProcess[str]]

SRSQL = Path(sys.executable).with_name("srsql")


def refused(done: subprocess.CompletedProcess[str], code: int = 2) -> str:
    """The one line on stderr of a command that ended with exit 2, or another code."""
    assert (done.returncode, done.stdout) == (code, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("srsql: ")
    assert "Traceback" not in line
    return line


@pytest.mark.thorough
def test_a_series_of_commands_prints_one_json_document_each_and_nothing_else(
    srsql: Run, tmp_path: Path
) -> None:
    archive = write_quarter(tmp_path, "2011Q4", crowd(60))
    commands = [
        ["ingest", archive],
        ["release", "--quarter", "2011Q4", "--k", "3", "--theta", "1/2", "--seed", "1"],
        ["metrics", "--quarter", "2011Q4"],
        ["status"],
    ]
    printed = []
    for command in commands:
        done = srsql(*command, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(json.loads(done.stdout))
        assert len(done.stdout.splitlines()) == 1
    (ingested,), released, metrics, status = printed
    assert (ingested["quarter"], ingested["status"]) == ("2011Q4", "loaded")
    assert {f["table"]: f["loaded"] for f in ingested["files"]}["demo"] == 60
    assert (released["status"], released["rows"]["demo"]) == ("released", 60)
    assert released["manifest"]["theta"] == "1/2"
    assert {"nil", "dr"} <= {row["measure"] for row in metrics}
    assert [r["quarter"] for r in status["quarters"]] == ["2011Q4"]
    assert [(r["quarter"], r["released_cases"]) for r in status["releases"]] == [("2011Q4", 60)]


@pytest.mark.thorough
def test_the_warehouse_of_the_default_name_works(srsql: Run, tmp_path: Path) -> None:
    archive = write_quarter(tmp_path, "2011Q4", crowd(60))
    for command in (["ingest", archive], ["release", "--quarter", "2011Q4", "--theta", "0.5"]):
        done = srsql(*command, env={})
        assert (done.returncode, done.stderr) == (0, "")
    with duckdb.connect(str(tmp_path / "srsql.duckdb"), read_only=True) as con:
        assert con.execute("SELECT count(*) FROM release_2011q4.demo").fetchall() == [(60,)]


@pytest.mark.thorough
def test_without_json_the_same_commands_print_tables_and_no_noise(srsql: Run, db: Path) -> None:
    done = srsql("release", "--quarter", "2011Q4", "--k", "3", "--theta", "0.5")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2011Q4 released as release_2011q4: 60 cases" in done.stdout
    for command in (["metrics", "--quarter", "2011Q4"], ["status"]):
        done = srsql(*command)
        assert (done.returncode, done.stderr) == (0, "")
        assert "2011Q4" in done.stdout
        assert "\x1b" not in done.stdout


def test_help_lists_every_command_on_one_line(srsql: Run) -> None:
    done = srsql("--help")
    assert (done.returncode, done.stderr) == (0, "")
    section = done.stdout[done.stdout.index("First day:") : done.stdout.index("This run:")]
    lines = [line for line in section.splitlines() if line.startswith("  ")]
    listed = dict(line.split(maxsplit=1) for line in lines)
    assert set(listed) >= {"demo", "ingest", "metrics", "release", "status", "synth"}
    assert all(text.endswith(".") for text in listed.values())
    assert all(len(line) <= 100 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["release", "--quarter", "2031Q1"], "2031Q1 of dataset faers is not in the warehouse"),
        (["release", "--quarter", "2011Q4", "--model", "magic"], "magic"),
        (["release", "--quarter", "2011Q4", "--theta", "often"], "'often' is not a threshold"),
        (["release", "--quarter", "2011Q4", "--series", "a b"], "--series 'a b'"),
        (["release", "--quarter", "2011Q4", "--k", "1"], "k is 1"),
        (["release", "--quarter", "2011Q4", "--k", "many"], "--k"),
        (["release", "--quarter", "2011Q4", "--dataset", "nowhere"], "nowhere"),
        (["release", "--quarter", "2011Q4", "--draft", "--confirm"], "--draft and --confirm"),
        (["release", "--quarter", "2011Q4", "--confirm"], "no draft of 2011Q4"),
        (["release", "--quarter", "2011Q4", "--knowledge", "none.csv"], "none.csv"),
        (["release"], "--quarter"),
        (["metrics", "--quarter", "2011Q4"], "2011Q4 is not released in series 'main'"),
        (["ingest", "none.zip"], "none.zip"),
        (["ingest", "none.zip", "--max-reject-rate", "2"], "--max-reject-rate"),
        (["frobnicate"], "frobnicate"),
        (["status", "--colour"], "--colour"),
    ],
)
def test_what_cannot_be_done_is_one_line_that_names_it_and_exit_2(
    inside: Run, db: Path, arguments: list[str], names: str
) -> None:
    assert names in refused(inside(*arguments))


def test_what_no_grouping_can_keep_is_one_line_with_the_ways_out_and_exit_3(
    inside: Run, db: Path
) -> None:
    assert "Ways out" in refused(inside("release", "--quarter", "2011Q4", "--theta", "0"), 3)


@pytest.mark.parametrize("k", ["2147483648", "99999999999999999999"])
def test_a_k_that_no_quarter_can_have_is_refused_as_such(inside: Run, db: Path, k: str) -> None:
    line = refused(inside("release", "--quarter", "2011Q4", "--k", k, "--theta", "1"))
    assert "Conversion" not in line
    assert "INSERT" not in line


@pytest.mark.parametrize("command", [["release", "--quarter", "2011Q4"], ["status"]])
def test_a_missing_warehouse_is_named_and_not_created(
    inside: Run, tmp_path: Path, command: list[str]
) -> None:
    line = refused(inside(*command, "--db", "none.duckdb"))
    assert "no warehouse at none.duckdb" in line
    assert "srsql ingest" in line
    assert not (tmp_path / "none.duckdb").exists()


def test_a_file_that_is_no_warehouse_is_refused_in_one_line(inside: Run, tmp_path: Path) -> None:
    (tmp_path / "letter.duckdb").write_text("Dear steward,\n" * 1000)
    line = refused(inside("status", "--db", "letter.duckdb"), 5)
    assert "letter.duckdb is damaged or not a DuckDB file: restore a backup" in line
    assert "is a directory" in refused(inside("status", "--db", "."))


@pytest.mark.thorough
def test_debug_shows_the_traceback(srsql: Run, db: Path) -> None:
    done = srsql("--debug", "metrics", "--quarter", "2011Q4")
    assert done.returncode != 0
    assert "Traceback" in done.stderr
    assert "ReleaseError" in done.stderr


@pytest.mark.thorough
def test_the_environment_names_the_warehouse_and_the_option_wins_over_it(
    srsql: Run, db: Path
) -> None:
    moved = db.rename(db.with_name("moved.duckdb"))
    done = srsql("status", "--json", env={"SRSQL_DB": str(moved)})
    assert json.loads(done.stdout)["path"] == str(moved)
    line = refused(srsql("status", "--db", "other.duckdb", env={"SRSQL_DB": str(moved)}))
    assert "other.duckdb" in line


@pytest.mark.thorough
def test_srsql_toml_gives_defaults_and_the_command_line_wins_over_them(
    srsql: Run, db: Path, tmp_path: Path
) -> None:
    (tmp_path / "srsql.toml").write_text("[release]\nif-needed = true\n[status]\njson = true\n")
    asked = ("release", "--quarter", "2011Q3", "--k", "4", "--seed", "11", "--json")
    made = [json.loads(srsql(*asked).stdout)["release_id"] for _ in range(2)]
    assert made[0] == made[1]  # if needed
    assert json.loads(srsql("status").stdout)["releases"]
    assert "2011Q3" in srsql("status", "--format", "table").stdout


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("kay = 4\n", "kay"),
        ("[release]\nkay = 4\n", "kay"),
        ("[realease]\nworkers = 4\n", "'realease'"),
        ("[release\n", "srsql.toml cannot be read"),
        ('[release]\nworkers = "many"\n', "many"),
        ('[release]\nmodel = "magic"\n', "model cannot be set in a file"),
    ],
)
def test_a_wrong_srsql_toml_is_refused_in_one_line_that_names_the_key(
    inside: Run, db: Path, tmp_path: Path, text: str, names: str
) -> None:
    (tmp_path / "srsql.toml").write_text(text)
    assert names in refused(inside("release", "--quarter", "2011Q4"))


@pytest.mark.thorough
def test_the_output_can_be_cut_off_by_a_pipe_without_noise(srsql: Run, db: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", f"'{SRSQL}' status --db '{db}' | true"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.thorough
def test_a_draft_is_confirmed_by_a_second_command(srsql: Run, db: Path) -> None:
    options = ["--quarter", "2011Q4", "--json"]
    draft = json.loads(srsql("release", *options, "--theta", "0.5", "--draft").stdout)
    assert (draft["status"], draft["schema"]) == ("draft", "draft_2011q4")
    assert [r["status"] for r in json.loads(srsql("status", "--json").stdout)["releases"]] == [
        "draft"
    ]
    done = json.loads(srsql("release", *options, "--confirm").stdout)
    assert (done["status"], done["schema"]) == ("released", "release_2011q4")
    assert done["rows"] == draft["rows"]
    assert "is already released" in refused(srsql("release", "--quarter", "2011Q4"))


@pytest.mark.thorough
def test_any_duckdb_client_reads_the_released_views(srsql: Run, db: Path) -> None:
    assert srsql("release", "--quarter", "2011Q4", "--theta", "0.5").returncode == 0
    with duckdb.connect(str(db), read_only=True) as con:
        for view in ("demo", "drug", "reac", "indi", "outc", "manifest"):
            assert con.execute(f"SELECT count(*) FROM release_2011q4.{view}").fetchall()[0][0] > 0
        assert con.execute("SELECT count(*) FROM released.case_latest").fetchall() == [(60,)]


@pytest.mark.thorough
def test_names_and_values_that_look_like_markup_or_sql_are_printed_as_they_are(
    srsql: Run, tmp_path: Path
) -> None:
    odd = "[bold]'; DROP SCHEMA srsql CASCADE; --[/bold]"
    reports = [Report(n, n, "40", "F", "70", (odd,), ("Pain",)) for n in range(1, 11)]
    archive = write_quarter(tmp_path, "2011Q4", reports)
    assert srsql("ingest", archive).returncode == 0
    line = refused(srsql("release", "--quarter", "2011Q4", "--theta", "0.5"), 3)
    assert odd in line or odd.replace("'", "\\'") in line
    assert srsql("status").returncode == 0


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to act as another user")
@pytest.mark.parametrize(
    ("command", "works"),
    [
        (["status"], True),
        (["metrics", "--quarter", "2011Q3"], True),
        (["release", "--quarter", "2011Q4"], False),
    ],
)
def test_on_a_read_only_file_reading_works_and_writing_is_refused_in_one_line(
    srsql: Run, db: Path, command: list[str], works: bool
) -> None:
    assert srsql("release", "--quarter", "2011Q3", "--theta", "0.5").returncode == 0
    before = db.read_bytes()
    inner = read_only(db, command)
    if works:
        assert (inner.returncode, inner.stderr) == (0, "")
    else:
        assert str(db) in refused(inner)
    assert db.read_bytes() == before


def read_only(db: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run the command where the folder of the warehouse is mounted read-only."""
    script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
    shell = ["unshare", "--mount", "sh", "-c", script, "sh"]
    return subprocess.run(
        [*shell, str(db.parent), str(SRSQL), *command, "--db", str(db)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd="/",
    )
