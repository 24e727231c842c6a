"""`srsql.toml` and `srsql config`: which default holds, where it comes from, what is wrong."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from srsql.cli import cli
from srsql.engine.console.session import each_command

Run = Callable[..., subprocess.CompletedProcess[str]]


def listed(inside: Run, *arguments: str) -> dict[tuple[str, str], tuple[Any, str]]:
    done = inside("config", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return {
        (row["command"], row["option"]): (row["value"], row["source"])
        for row in json.loads(done.stdout)
    }


def refused(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    return line


@pytest.fixture
def toml(tmp_path: Path) -> Callable[[str], None]:
    return lambda text: (tmp_path / "srsql.toml").write_text(text) and None


def test_each_default_is_told_with_where_it_comes_from(
    inside: Run, toml: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    toml('wait = 60\n[release]\nk = 7\non-infeasible = "withhold"\n[series]\nk = 9\n')
    found = listed(inside)
    assert found["release", "--db"] == ("w.duckdb", "environment (SRSQL_DB)")
    assert found["release", "--k"] == (7, "srsql.toml")
    assert found["release", "--on-infeasible"] == ("withhold", "srsql.toml")
    assert found["release", "--model"] == ("ppms++", "built in")
    assert found["series create", "--k"] == (9, "srsql.toml")
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
    toml("[release]\nk = 7\n")
    done = inside("config", "release")
    assert (done.returncode, done.stderr) == (0, "")
    assert str(tmp_path / "srsql.toml") in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if " --k " in line]
    assert line.split() == ["release", "--k", "7", "srsql.toml"]


def test_a_key_is_the_long_name_of_the_option_however_its_words_are_joined(
    inside: Run, db: Path, toml: Callable[[str], None]
) -> None:
    toml('json = true\n[release]\non-infeasible = "withhold"\n')
    assert json.loads(inside("status").stdout)["path"] == "w.duckdb"
    toml('as_json = true\n[release]\non_infeasible = "withhold"\n')
    assert json.loads(inside("status").stdout)["path"] == "w.duckdb"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[release]\nkay = 4\n", "[release] takes no option kay"),
        ("[release]\nthetta = 0.5\n", "did you mean theta?"),
        ("wiat = 4\n", "did you mean wait?"),
        ("[realease]\nk = 4\n", "did you mean [release]?"),
        ('[release]\nk = "many"\n', "release: k = 'many'"),
        ('[release]\ntheta = "often"\n', "'often' is not a threshold"),
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
    toml('wait = 60\n[release]\nk = 7\ntheta = "1/3"\n[audit]\nattacks = ["b", "f"]\n')
    done = inside("config", "check", "--json")
    assert done.returncode == 0
    waiting = [name for name, one in each_command(cli) if any(p.name == "wait" for p in one.params)]
    assert json.loads(done.stdout)["defaults"] == len(waiting) + 3


def test_a_command_that_there_is_not_is_named_with_what_was_meant(inside: Run) -> None:
    assert "did you mean release?" in refused(inside("config", "realease"))
