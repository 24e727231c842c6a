"""The lists of the lanes name tests that are there, so that none is forgotten when it moves."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


LANES = ("slow", "thorough")


def listed(lane: str) -> list[str]:
    lines = (TESTS / f"{lane}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@cache
def functions() -> dict[str, set[str]]:
    """Test functions by the name of their file."""
    found: dict[str, set[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        found.setdefault(path.name, set()).update(names)
    return found


def test_every_file_of_tests_has_a_name_of_its_own() -> None:
    counted = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("lane", LANES)
def test_every_listed_test_is_there(lane: str) -> None:
    tests = functions()
    gone = [
        line
        for line in listed(lane)
        for file, _, test in [line.partition("::")]
        if file not in tests or (test and test.partition("[")[0] not in tests[file])
    ]
    assert gone == []


@pytest.mark.parametrize("lane", LANES)
def test_a_list_is_in_order_and_names_nothing_twice(lane: str) -> None:
    lines = listed(lane)
    assert lines == sorted(set(lines))
    whole = {line for line in lines if "::" not in line}
    assert [line for line in lines if "::" in line and line.partition("::")[0] in whole] == []
