"""The examples in the docstrings of the engine's calls run, and print what they say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from support.quarters import crowd, write_quarter

from srsql import Counting, Engine
from srsql.engine.api import artifacts, audits, engine, questions, releases, signals, steward

MODULES = (engine, releases, audits, questions, signals, steward, artifacts)
"""In the order in which a first quarter is worked on."""


@pytest.mark.slow
def test_every_group_of_calls_has_an_example_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = write_quarter(tmp_path, "2011Q4", crowd(60, terms=3))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    with Engine(tmp_path / "w.duckdb") as opened:
        names = {"engine": opened, "source": source, "Counting": Counting}
        for module in MODULES:
            found = doctest.DocTestFinder(exclude_empty=True).find(module, globs=names)
            examples = [each for each in found if each.examples]
            assert examples, module.__name__
            for each in sorted(examples, key=lambda each: each.lineno or 0, reverse=True):
                assert runner.run(each, clear_globs=False).failed == 0, each.name
