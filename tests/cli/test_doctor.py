"""`srsql doctor`: what is there, what lacks, and whether anything runs here."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.command import srsql

from srsql.engine.console import doctor
from srsql.engine.store.doors import EXTRAS


def test_a_machine_that_runs_the_tests_is_ready_and_everything_is_told(tmp_path: Path) -> None:
    answer = srsql("doctor", "--folder", tmp_path, "--json")
    assert answer.code == 0
    found = {each["what"]: each for each in json.loads(answer.out)}
    assert found.keys() >= {"srsql", "Python", "compiled kernels", "memory", "warehouse"}
    assert found.keys() >= {f"extra {extra} ({name})" for name, extra in EXTRAS.items()}
    text = srsql("doctor", "--folder", tmp_path, "--all").out
    assert text.startswith("ready: srsql ")
    assert str(tmp_path) in text


def test_what_lacks_stands_first_with_what_to_do_and_the_exit_code_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_needed", lambda: ["duckdb", "no-such-package"])
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    answer = srsql("doctor", "--folder", tmp_path)
    assert answer.code == 2
    lines = answer.out.splitlines()
    assert lines[0] == "NOT ready: no-such-package, warehouse, temporary files"
    assert lines[3].startswith("LACKS  no-such-package ")
    assert lines[3].endswith("  pip install no-such-package")
    assert "make room" in lines[4]


def test_an_extra_that_lacks_is_told_with_how_to_get_it_and_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "installed", lambda package: package != "splink")
    answer = srsql("doctor", "--folder", tmp_path)
    assert answer.code == 0
    assert "extra persons (splink)" in answer.out.splitlines()[0]
    assert "pip install 'srsql[persons]'" in answer.out


def test_a_folder_of_kernels_that_nothing_is_kept_in_is_told_with_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("srsql.udfs.caches.kept_in", lambda: None)
    assert "set XDG_CACHE_HOME" in srsql("doctor", "--folder", tmp_path).out
    empty = tmp_path / "kernels"
    empty.mkdir()
    monkeypatch.setattr("srsql.udfs.caches.kept_in", lambda: empty)
    assert "the first release compiles them" in srsql("doctor", "--folder", tmp_path).out
