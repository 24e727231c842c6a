"""The benchmark of parts prints one line for each setting, and cuts what is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.benchmark import load
from support.quarters import crowd, write_quarter

from srsql.engine.grouping import parts as grouping

parts = load("parts")


@pytest.mark.thorough
def test_a_tiny_run_prints_each_setting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "LEAST", grouping.LEAST)  # the benchmark sets it
    file = str(write_quarter(tmp_path, "2011Q1", crowd(80)))
    parts.command(["--source", file, "--refine", "off", "--workers", "1", "--least", "20"])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[:6] for row in rows] == [
        ["2011Q1", "ms", "frequency", "off", given, "1"] for given in ("1", "auto")
    ]
    assert [row[7:9] for row in rows] == [["80", "0"]] * 2
    assert grouping.LEAST == 20


def test_what_is_not_cut_is_carried_once() -> None:
    asked = {"models": ["ms"], "theta": ["0.4"], "refine": ["off"], "parts": ["1", "auto"],
             "workers": ["1", "2"]}  # fmt: skip
    found = [(each["parts"], each["workers"]) for each in parts.settings(asked)]
    assert found == [("1", 1), ("auto", 1), ("auto", 2)]
