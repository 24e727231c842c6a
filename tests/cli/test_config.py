"""`srsql.toml` and `srsql config`: which default holds, where it comes from, what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from srsql.cli import cli
from srsql.engine.console.config import keys_of, read_defaults
from srsql.engine.console.later import FileOption
from srsql.engine.console.session import each_command
from srsql.engine.errors import ConfigError
from srsql.engine.release.series_commands import series_options

pytestmark = pytest.mark.slow

Run = Callable[..., subprocess.CompletedProcess[str]]


def listed(inside: Run, *arguments: str) -> dict[tuple[str, str], tuple[Any, str]]:
    done = inside("config", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")  # --json: nothing beside the document
    return {
        (row["command"], row["option"]): (row["value"], row["source"])
        for row in json.loads(done.stdout)
    }


def refused(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (2, "")
    *told, line = done.stderr.splitlines()
    assert all(each.startswith("srsql: defaults are read from ") for each in told)
    assert len(told) <= 1
    return line


@pytest.fixture
def toml(tmp_path: Path) -> Callable[[str], None]:
    return lambda text: (tmp_path / "srsql.toml").write_text(text) and None


def test_each_default_is_told_with_where_it_comes_from(
    inside: Run, toml: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    toml("wait = 60\n[release]\nif-needed = true\nworkers = 2\n[series]\nthreads = 1\n")
    found = listed(inside)
    assert found["release", "--db"] == ("w.duckdb", "environment (SRSQL_DB)")
    assert found["release", "--if-needed"] == (True, "srsql.toml")
    assert found["release", "--workers"] == (2, "srsql.toml")
    assert found["release", "--model"] == ("ppms++", "built in")
    assert found["series create", "--threads"] == (1, "srsql.toml")
    assert found["status", "--wait"] == (60, "srsql.toml")
    assert ("verify", "--wait") not in found
    monkeypatch.delenv("SRSQL_DB")
    assert listed(inside)["release", "--db"] == ("srsql.duckdb", "built in")
    assert {name for name, _ in listed(inside, "series")} == {
        "series create", "series show", "series set"
    }  # fmt: skip


def test_every_command_with_a_default_is_listed(inside: Run) -> None:
    assert {name for name, _ in listed(inside)} == {name for name, _ in each_command(cli)}


def test_the_table_is_for_people(inside: Run, toml: Callable[[str], None], tmp_path: Path) -> None:
    assert f"there is no {tmp_path / 'srsql.toml'}" in inside("config").stdout
    toml("[release]\nworkers = 7\n")
    done = inside("config", "release", "--all")
    assert done.returncode == 0
    assert done.stderr == f"srsql: defaults are read from {tmp_path / 'srsql.toml'}\n"
    assert str(tmp_path / "srsql.toml") in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if " --workers " in line]
    assert line.split() == ["release", "--workers", "7", "srsql.toml"]


def test_a_key_is_the_long_name_of_the_option_however_its_words_are_joined(
    inside: Run, db: Path, toml: Callable[[str], None]
) -> None:
    toml("json = true\n[release]\nif-needed = true\n")
    assert json.loads(inside("status").stdout)["path"] == "w.duckdb"
    toml("as_json = true\n[release]\nif_needed = true\n")
    assert json.loads(inside("status").stdout)["path"] == "w.duckdb"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[release]\nkay = 4\n", "[release] takes no option kay"),
        ("[release]\nworkrs = 2\n", "did you mean workers?"),
        ("wiat = 4\n", "did you mean wait?"),
        ("[realease]\nworkers = 4\n", "did you mean [release]?"),
        ('[release]\nworkers = "many"\n', "release: workers = 'many'"),
        ("[release]\nworkers = 0\n", "--workers 0: give a whole number from 1"),
        ('[audit]\nmodel = "ms"\n', "[audit] takes no option model"),
        ('wait = "long"\n', "wait = 'long'"),
        ("[signals]\nmissing = 3\n", "missing = 3"),
        ("[release\n", "srsql.toml cannot be read"),
    ],
)
def test_check_names_the_first_value_that_is_not_taken(
    inside: Run, toml: Callable[[str], None], text: str, names: str
) -> None:
    toml(text)
    assert names in refused(inside("config", "check"))


def test_check_says_that_there_is_no_fault(inside: Run, toml: Callable[[str], None]) -> None:
    assert "every default is built in" in inside("config", "check").stdout
    toml('wait = 60\n[release]\nworkers = 2\n[signals]\nroles = ["PS"]\npreset = "usual"\n')
    done = inside("config", "check", "--json")
    assert done.returncode == 0
    waiting = [name for name, one in each_command(cli) if any(p.name == "wait" for p in one.params)]
    assert json.loads(done.stdout)["defaults"] == len(waiting) + 3


def test_a_command_that_there_is_not_is_named_with_what_was_meant(inside: Run) -> None:
    assert "did you mean release?" in refused(inside("config", "realease"))


UNSETTABLE = [
    ("db", "'elsewhere.duckdb'", "--db"),
    ("out", "'victim'", "--out"),
    ("log", "'victim'", "--log"),
    ("ids", "'original'", "--ids"),
    ("k", "2", "--k"),
    ("csv", "'victim'", "--csv"),
    ("dataset", "'weak.toml'", "--dataset"),
]


@pytest.mark.parametrize(("key", "value", "option"), UNSETTABLE)
def test_a_file_neither_names_a_file_to_write_nor_weakens_a_release(
    inside: Run, toml: Callable[[str], None], tmp_path: Path, key: str, value: str, option: str
) -> None:
    (tmp_path / "victim").write_text("kept")
    toml(f"{key} = {value}\n")
    line = refused(inside("status"))
    assert f"srsql.toml: srsql: {key} cannot be set in a file" in line
    assert f"take it out of {tmp_path / 'srsql.toml'}, and give {option} on the command" in line
    assert (tmp_path / "victim").read_text() == "kept"


def test_every_option_of_every_command_is_refused_in_a_file_unless_it_is_declared_for_files() -> (
    None
):
    """Written down here a second time, on purpose: whoever adds one here says why it is harmless.

    None of these names a place, a dataset or a series, and none changes what a release promises or
    an audit attacks.
    """
    harmless = {
        "--quiet", "--verbose", "--wait", "--json", "--format", "--csv-safe",
        "--all", "--whole", "--explain",  # how it is shown
        "--threads", "--memory-limit", "--jobs", "--workers",  # what it takes of the machine
        "--if-needed", "--released-only",  # does less than without it
        "--publisher", "--contact", "--license", "--cite-as", "--landing-page", "--access",
        "--access-body", "--legislation", "--thesaurus",  # stated of an artifact, in its papers
        "--roles", "--preset", "--strata", "--age-bands", "--missing", "--draws",  # how to count
    }  # fmt: skip
    found = set()
    for name, command in each_command(cli):
        for param in command.params:
            if isinstance(param, FileOption):
                found |= set(param.opts)
                assert not isinstance(param.type, click.Path), (name, param.name)
                assert param.name not in SERIES_PARAMETERS or name not in MAKING, (name, param.name)
    assert found == harmless


SERIES_PARAMETERS = set(series_options())
MAKING = ("release", "series create", "series set")


def test_each_option_that_is_not_declared_for_files_is_refused_under_every_name(
    inside: Run, toml: Callable[[str], None]
) -> None:
    for name, command in each_command(cli):
        first = name.split()[0]
        for param in command.params:
            if isinstance(param, FileOption) or not isinstance(param, click.Option):
                continue
            for key in {str(param.name), *(each.lstrip("-") for each in param.opts)}:
                toml(f"[{first}]\n{key} = 'x'\n")
                with pytest.raises(ConfigError) as error:
                    read_defaults(keys_of(cli))
                assert "cannot be set in a file" in str(error.value), (name, key)


def test_a_command_says_once_which_file_its_defaults_are_from(
    inside: Run, db: Path, toml: Callable[[str], None], tmp_path: Path
) -> None:
    assert inside("status").stderr == ""
    toml("quiet = true\njson = true\n")  # the file cannot silence what is said of it
    told = f"srsql: defaults are read from {tmp_path / 'srsql.toml'}\n"
    assert inside("status").stderr == told
    assert inside("series", "show").stderr == told
    for silent in (["--quiet"], ["--json"], ["--format", "json"]):
        assert inside("status", *silent).stderr == ""
    assert inside("--quiet", "status").stderr == ""


def test_a_file_of_defaults_that_cannot_be_read_in_time_is_refused(
    inside: Run, toml: Callable[[str], None], tmp_path: Path
) -> None:
    toml("[" * 3 + "x" * (1 << 20))
    assert "more than 1,048,576 bytes" in refused(inside("status"))
    toml("x = " + "[" * 5_000)
    assert "nested more than 32 deep" in refused(inside("status"))
    (tmp_path / "srsql.toml").unlink()
    os.mkfifo(tmp_path / "srsql.toml")
    assert "it is a pipe (FIFO): give a plain file" in refused(inside("status"))
