"""Lanes are marked beside the tests, once, and what is thorough is in no other lane."""

from __future__ import annotations

import ast
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SLOW, THOROUGH = "pytest.mark.slow", "pytest.mark.thorough"
"""What is thorough is slow, too (``tests/conftest.py``): either mark is enough."""


def marks(*nodes: ast.AST) -> list[str]:
    """The lanes that are named anywhere in these parts of a file."""
    parts = (ast.unparse(part) for node in nodes for part in ast.walk(node)
             if isinstance(part, ast.Attribute))  # fmt: skip
    return [part for part in parts if part in (SLOW, THOROUGH)]


def anyway(outer: list[str], inner: list[str]) -> bool:
    """Whether something inside is marked with what it has by what is around it."""
    return any(THOROUGH in outer or mark in outer for mark in inner)


def marked_twice(path: Path) -> list[str]:
    """What in a file of tests has a mark too many."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    file = marks(*(node.value for node in tree.body if isinstance(node, ast.Assign)
                   and ast.unparse(node.targets[0]) == "pytestmark"))  # fmt: skip
    found = [path.name] if len(file) > 1 else []
    grouped = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    for node in (*tree.body, *chain.from_iterable(grouped)):
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
            own = marks(*(each for each in node.decorator_list if each not in calls))
            if len(own) > 1 or anyway(file, own) or anyway(file + own, marks(*calls)):
                found.append(f"{path.name}::{node.name}")
    return found


def test_every_file_of_tests_has_a_name_of_its_own() -> None:
    counted = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.slow
def test_nothing_is_marked_twice() -> None:
    assert [each for path in sorted(TESTS.rglob("test_*.py")) for each in marked_twice(path)] == []


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("@slow\ndef test_a(): ...", []),
        ("@slow\n@parametrize('x', [param(1, marks=thorough)])\ndef test_a(): ...", []),
        ("@slow\n@thorough\ndef test_a(): ...", ["test_x.py::test_a"]),
        ("pytestmark = slow\n@slow\ndef test_a(): ...", ["test_x.py::test_a"]),
        ("pytestmark = slow\n@thorough\ndef test_a(): ...", []),
        ("pytestmark = [thorough, slow]\ndef test_a(): ...", ["test_x.py"]),
        ("@thorough\n@parametrize('x', [param(1, marks=slow)])\ndef test_a(): ...",
         ["test_x.py::test_a"]),
    ],
)  # fmt: skip
def test_a_second_mark_is_found(tmp_path: Path, lines: str, found: list[str]) -> None:
    path = tmp_path / "test_x.py"
    path.write_text(lines.replace("thorough", THOROUGH).replace("slow", SLOW), encoding="utf-8")
    assert marked_twice(path) == found


@pytest.mark.thorough
def test_what_is_thorough_is_slow_too(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("slow")
