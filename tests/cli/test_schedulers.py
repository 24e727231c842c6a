"""Commands by the clock: what was done already is no error, every run is seen, logs are read."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.quarters import crowd, write_quarter
from support.released import content

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ReleaseError

pytestmark = pytest.mark.thorough

Run = Callable[..., subprocess.CompletedProcess[str]]
RELEASE = ["release", "--quarter", "2011Q3", "--k", "3", "--theta", "0.5", "--seed", "1"]
UNTOLD = ("step", "note")
NEEDED = [*RELEASE, "--if-needed"]


def done(run: subprocess.CompletedProcess[str]) -> str:
    """What a command printed that came to its end without a line but on how far it was."""
    assert run.returncode == 0, run.stderr
    lines = [line for line in run.stderr.splitlines() if " elapsed" not in line]
    assert lines == [], run.stderr
    return run.stdout


def refused(run: subprocess.CompletedProcess[str], code: int = 2) -> str:
    assert (run.returncode, run.stdout) == (code, "")
    (line,) = run.stderr.splitlines()
    return line


def unchanged(db: Path, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """Everything in the warehouse but its runs; as it was, if that is given."""
    with Engine(db, read_only=True) as engine:
        found = content(engine.con)
    assert before is None or found == before
    return found


# --if-needed: release


def test_a_release_that_is_out_just_as_asked_is_done_and_without_the_option_refused(
    inside: Run, db: Path
) -> None:
    assert "2011Q3 released" in done(inside(*NEEDED))
    before = unchanged(db)
    assert "2011Q3 is out already as release_2011q3" in done(inside(*NEEDED))
    assert "is already released" in refused(inside(*RELEASE))
    told = json.loads(done(inside(*NEEDED, "--json")))
    assert (told["status"], told["rows"]["demo"]) == ("unchanged", 60)
    assert done(inside("release", "--quarter", "2011Q3", "--if-needed")).startswith("2011Q3 is out")
    unchanged(db, before)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--k", "4"], "k 4, was 3"),
        (["--theta", "0.4"], "theta 2/5, was 1/2"),
        (["--model", "ms"], "model ms, was ppms++"),
        (["--missing", "drop"], "missing drop, was keep"),
        (["--on-infeasible", "withhold"], "on_infeasible withhold, was error"),
        (["--seed", "2"], "seed 2, was 1"),
        (["--ids", "per-quarter"], "ids per-quarter, was pseudonym"),
        (["--ss-rule", "pt>=9"], "ss_rule"),
    ],
)
def test_what_differs_from_the_release_that_is_out_is_refused_and_named(
    inside: Run, db: Path, options: list[str], names: str
) -> None:
    done(inside(*RELEASE))
    before = unchanged(db)
    line = refused(inside(*NEEDED, "--change", "--weaker", *options))
    assert "is out in series 'main', but not as asked" in line
    assert names in line
    unchanged(db, before)


def test_a_file_counts_by_what_it_says_and_not_by_its_name(
    inside: Run, db: Path, tmp_path: Path
) -> None:
    file = tmp_path / "known.csv"
    file.write_text("drug,disease\nDRUG 1,TERM 1\n")
    known = ["--knowledge", str(file)]
    done(inside(*RELEASE, *known))
    assert "is out already" in done(inside(*NEEDED, *known))
    file.rename(tmp_path / "moved.csv")
    moved = ["--knowledge", str(tmp_path / "moved.csv")]
    assert "is out already" in done(inside(*NEEDED, *moved))
    (tmp_path / "moved.csv").write_text("drug,disease\nDRUG 1,TERM 2\n")
    assert "known.csv" in refused(inside(*NEEDED, *moved))


def test_a_release_whose_data_changed_or_that_cases_left_is_not_passed_over(
    inside: Run, db: Path, tmp_path: Path
) -> None:
    done(inside(*RELEASE))
    again = write_quarter(tmp_path / "again", "2011Q3", crowd(61))
    done(inside("ingest", "--replace", again))
    assert "other data of the quarter are loaded since" in refused(inside(*NEEDED))
    with Engine(db) as engine:
        engine.con.execute("INSERT INTO srsql.deleted_case VALUES ('faers', '1', 1)")
    assert "cases have left it since: 1 deleted" in refused(inside(*NEEDED))


def test_a_series_that_was_changed_since_asks_for_something_else(inside: Run, db: Path) -> None:
    done(inside(*RELEASE))
    done(inside("series", "set", "main", "--k", "4"))
    assert "k 4, was 3" in refused(inside("release", "--quarter", "2011Q3", "--if-needed"))


def test_a_release_of_which_nobody_knows_how_it_was_made_is_refused(inside: Run, db: Path) -> None:
    done(inside(*RELEASE))
    with Engine(db) as engine:
        engine.con.execute(
            "UPDATE srsql.release SET private_manifest = json_merge_patch(private_manifest,"
            " '{\"parameters\": null}')"
        )
    assert "did not keep what it was made with" in refused(inside(*NEEDED))


def test_a_draft_that_can_be_exposed_is_as_good_as_a_new_one_until_it_is_out(
    inside: Run, db: Path
) -> None:
    draft = [*NEEDED, "--draft"]
    assert "2011Q3 draft" in done(inside(*draft))
    before = unchanged(db)
    assert "2011Q3 is made already as draft_2011q3" in done(inside(*draft))
    unchanged(db, before)
    assert "2011Q3 draft" in done(inside(*draft, "--k", "4"))  # another one takes its place
    confirm = ["release", "--quarter", "2011Q3", "--confirm", "--if-needed"]
    assert "2011Q3 released" in done(inside(*confirm))
    assert "2011Q3 is out already" in done(inside(*confirm))
    assert "no draft of 2011Q3" in refused(inside(*confirm[:-1]))
    assert "2011Q3 is out already" in done(inside(*draft, "--k", "4"))
    assert "k 3, was 4" in refused(inside(*draft, "--change", "--weaker"))


def test_a_range_does_what_is_missing_only_if_what_is_out_is_as_asked(
    inside: Run, db: Path
) -> None:
    done(inside(*RELEASE))
    both = ["release", "--quarter", "2011Q3:2011Q4", "--theta", "0.5", "--if-needed"]
    line = refused(inside(*both, "--k", "4", "--change"))
    assert "2011Q3 is out in series 'main', but not as asked (k 4, was 3)" in line
    with Engine(db, read_only=True) as engine:
        assert engine.sql("SELECT count(*) FROM srsql.release") == [(1,)]
    assert "already released, left as they are: 2011Q3" in done(inside(*both, "--k", "3"))
    assert "nothing to do between" in done(inside(*both, "--k", "3"))


def test_the_engine_has_the_same_keyword(db: Path) -> None:
    with Engine(db) as engine:
        asked: dict[str, Any] = {"k": 3, "theta": "0.5", "if_needed": True}
        assert engine.release("2011Q3", **asked).status == "released"
        again = engine.release("2011Q3", **asked)
        assert (again.status, again.rows["demo"]) == ("unchanged", 60)
        with pytest.raises(ReleaseError, match="k 5, was 3"):
            engine.release("2011Q3", **{**asked, "k": 5})


def test_a_draft_that_cannot_be_exposed_any_more_is_made_again(db: Path) -> None:
    with Engine(db) as engine:
        engine.create_series("main", k=3, theta="0.5")
        asked: dict[str, Any] = {"k": 4, "draft": True, "if_needed": True}
        assert engine.release("2011Q3", **asked).status == "draft"
        assert engine.release("2011Q3", **asked).status == "unchanged"
        engine.set_series("main", k=4)
        assert engine.release("2011Q3", **asked).status == "draft"
        assert engine.confirm("2011Q3").status == "released"


# --if-needed: ingest, correct, publish


def test_the_same_files_are_loaded_already_and_others_are_refused(
    inside: Run, db: Path, kept: Path, tmp_path: Path
) -> None:
    same = kept / "two quarters" / "faers_ascii_2011Q3.zip"
    before = unchanged(db)
    assert "the same files are loaded already" in done(inside("ingest", same, "--if-needed"))
    unchanged(db, before)
    other = write_quarter(tmp_path / "other", "2011Q3", crowd(61))
    assert "is loaded from another file" in refused(inside("ingest", other, "--if-needed"))
    schema = tmp_path / "faers.toml"
    shutil.copy(Path(__file__).parents[2] / "schemas" / "faers.toml", schema)
    shutil.copytree(Path(__file__).parents[2] / "schemas" / "hierarchies", tmp_path / "hierarchies")
    text = schema.read_text()
    schema.write_text(text.replace("domain = [0, 400]", "domain = [0, 300]"))
    assert schema.read_text() != text
    line = refused(inside("ingest", same, "--if-needed", "--dataset", schema))
    assert "is registered with another schema" in line


def test_a_correction_that_nobody_needs_is_done_whatever_the_model(inside: Run, db: Path) -> None:
    correct = ["correct", "--quarter", "2011Q3", "--series", "terms"]
    done(inside("release", "--quarter", "2011Q3", "--model", "disassociation", "--k", "3", "--m",
                "2", "--series", "terms", "--seed", "1"))  # fmt: skip
    assert "cannot be corrected" in refused(inside(*correct))
    assert "no case has left it" in done(inside(*correct, "--if-needed"))
    with Engine(db) as engine:
        engine.con.execute("INSERT INTO srsql.deleted_case VALUES ('faers', '1', 1)")
    assert "cannot be corrected" in refused(inside(*correct, "--if-needed"))


@pytest.mark.parametrize("form", ["parquet", "csv", "duckdb"])
def test_an_artifact_that_is_there_file_by_file_is_published_already(
    inside: Run, db: Path, tmp_path: Path, form: str
) -> None:
    done(inside(*RELEASE))
    publish = ["publish", "--quarter", "2011Q3", "--to", "out", "--format", form, "--if-needed"]
    assert "anybody can check it" in done(inside(*publish))
    out = tmp_path / "out"
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    assert "out is the same artifact already" in done(inside(*publish))
    assert json.loads(done(inside(*publish, "--json")))["unchanged"] is True
    assert "exists and is not an empty folder" in refused(inside(*publish[:-1]))
    pseudonyms = ["--case-ids", "pseudonym", "--key-file", "key"]
    assert "its key file key is not" in refused(inside(*publish, *pseudonyms))
    (out / "README.md").write_text("changed")
    assert "(README.md differ)" in refused(inside(*publish))
    (out / "README.md").unlink()
    assert "README.md differ" in refused(inside(*publish))
    (out / "README.md").write_bytes(before["README.md"])
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    left = [name for name in os.listdir(tmp_path) if "unfinished" in name]
    assert left == []


# the run table


def runs(db: Path) -> list[dict[str, Any]]:
    with Engine(db, read_only=True) as engine:
        return engine.status(runs=True).runs


def test_every_command_that_writes_leaves_a_row_with_how_it_ended(inside: Run, db: Path) -> None:
    done(inside(*RELEASE))
    refused(inside(*RELEASE))
    refused(inside("release", "--quarter", "2011Q4", "--theta", "0"), 2)
    refused(inside("release", "--quarter", "2011Q4", "--theta", "0", "--series", "b"), 3)
    done(inside("series", "set", "main", "--k", "4"))
    found = runs(db)
    assert [(run["command"], run["exit_code"]) for run in reversed(found)] == [
        ("release", 0),
        ("release", 2),
        ("release", 2),
        ("release", 3),
        ("series set", 0),
    ]
    first = found[-1]
    assert first["parameters"] == {"quarter": "2011Q3", "k": 3, "theta": "0.5", "seed": 1}
    assert first["started"] <= first["ended"]
    assert first["seconds"] >= 0
    assert first["pid"] == os.getpid()
    told = done(inside("status"))
    assert "last run (5): series set, " in told
    assert told.count("release, ") == 0
    listed = done(inside("status", "--runs"))
    assert listed.count("exit 2") == 2
    assert "k=3" in listed


def test_commands_that_read_leave_none(inside: Run, db: Path, tmp_path: Path) -> None:
    done(inside(*RELEASE))
    before = db.read_bytes()
    for command in (["status"], ["metrics", "--quarter", "2011Q3"], ["audit"], ["series", "show"],
                    ["publish", "--quarter", "2011Q3", "--to", "out"]):  # fmt: skip
        done(inside(*command))
    assert db.read_bytes() == before
    assert len(runs(db)) == 1


def test_a_run_that_was_killed_has_no_end(db: Path) -> None:
    child = (
        "import os, signal, sys\n"
        "from srsql.engine.api.engine import Engine\n"
        "def stop(text):\n"
        "    if text == 'grouping': os.kill(os.getpid(), signal.SIGKILL)\n"
        "with Engine(sys.argv[1]) as engine, engine.recorded('nightly', {'quarter': '2011Q3'}):\n"
        "    engine.release('2011Q3', k=3, theta='0.5', progress=stop)\n"
    )
    killed = subprocess.run([sys.executable, "-c", child, str(db)], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    with Engine(db, read_only=True) as engine:
        (run,) = engine.status().runs
        assert engine.sql("SELECT count(*) FROM srsql.release") == [(0,)]
    assert (run["command"], run["ended"], run["exit_code"]) == ("nightly", None, None)
    assert run["parameters"] == {"quarter": "2011Q3"}


def test_a_run_that_fails_in_python_has_the_exit_code_of_its_error(db: Path) -> None:
    with Engine(db) as engine:
        for error, code in (
            (ReleaseError("no"), 2),
            (KeyboardInterrupt(), 130),
            (OSError(28, ""), 5),
        ):
            with pytest.raises(type(error)), engine.recorded("mine"):
                raise error
            assert engine.status().runs[0]["exit_code"] == code
        with engine.recorded("mine") as number:
            engine.release("2011Q3", k=3, theta="0.5")
        assert engine.status().runs[0]["run_id"] == number == 4
    with (
        Engine(db, read_only=True) as engine,
        pytest.raises(duckdb.Error, match="read-only"),
        engine.recorded("mine"),
    ):
        pass


def test_nobody_who_is_forgotten_stands_in_the_run_table_nor_in_the_log(
    inside: Run, db: Path, tmp_path: Path
) -> None:
    log = tmp_path / "srsql.jsonl"
    (tmp_path / "ids-of-5555442.txt").write_text("5555443\n")
    forget = ["forget", "5555442", "--file", "ids-of-5555442.txt", "--reason", "Jane Roe asked",
              "--log", log]  # fmt: skip
    done(inside(*forget, "--dry-run"))
    done(inside(*forget))
    inside("lookup", "5555441", "--log", log)
    assert [run["parameters"] for run in runs(db)] == [{}, {"dry_run": True}]
    text = log.read_text() + json.dumps(runs(db))
    for secret in ("5555442", "5555443", "Jane", "5555441", "ids-of"):
        assert secret not in text, secret


# --log, --quiet, --verbose


def events(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_log_is_lines_of_json_from_start_to_end_appended(
    inside: Run, db: Path, tmp_path: Path
) -> None:
    log = tmp_path / "srsql.jsonl"
    done(inside("--log", log, *RELEASE))
    done(inside("status", f"--log={log}"))
    refused(inside(*RELEASE, "--log", log))
    refused(inside("release", "--quarter", "2011Q4", "--colour", "--log", log))
    found = events(log)
    assert all(
        {"time", "level", "command", "event", "seconds", "message", "pid"} <= line.keys()
        for line in found
    )
    assert [(line["command"], line["event"]) for line in found if line["event"] not in UNTOLD] == [
        ("release", "start"),
        ("release", "end"),
        ("status", "start"),
        ("status", "end"),
        ("release", "start"),
        ("release", "error"),
        ("release", "error"),
    ]
    steps = [line["message"] for line in found if line["event"] == "step"]
    assert "grouping" in steps
    first, last = (line for line in found if line["event"] == "error")
    assert (first["level"], first["kind"], first["exit_code"]) == ("error", "release", 2)
    assert "is already released" in first["message"]
    assert (last["kind"], last["message"]) == ("usage", "NoSuchOption")


def test_a_log_that_cannot_be_written_is_refused_before_anything_is_done(
    inside: Run, db: Path
) -> None:
    before = unchanged(db)
    line = refused(inside(*RELEASE, "--log", "absent/srsql.jsonl"))
    assert "--log absent/srsql.jsonl cannot be written" in line
    unchanged(db, before)
    assert runs(db) == []


def test_quiet_keeps_notes_back_and_verbose_shows_every_step(inside: Run, db: Path) -> None:
    made = inside(*RELEASE, "--ids", "original")
    assert "warning: series main shows original ids" in made.stderr
    second = ["release", "--quarter", "2011Q4", "--seed", "1"]
    assert inside("--quiet", *second, "--draft").stderr == ""
    assert inside(*second, "--draft", "--quiet").stderr == ""
    steps = inside(*second, "--verbose").stderr.splitlines()
    assert any(line.endswith(" s  grouping") for line in steps)
    assert steps[-1].endswith(" s  exit 0")
    line = refused(inside("status", "--quiet", "--verbose"))
    assert "--quiet and --verbose exclude each other" in line


def test_what_is_typed_wins_over_the_file_of_defaults(
    inside: Run, db: Path, tmp_path: Path
) -> None:
    (tmp_path / "srsql.toml").write_text("verbose = true\n")
    assert "exit 0" in inside("status").stderr
    assert inside("status", "--quiet").stderr == ""
    assert inside("--quiet", "status", "--log", "mine.jsonl").stderr == ""
    told = events(tmp_path / "mine.jsonl")
    assert [each["event"] for each in told] == ["start", "defaults", "end"]
