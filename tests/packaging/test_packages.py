"""What is installed is what is here: setuptools takes a list where the package is the checkout."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from srsql.version import __version__

ROOT = Path(__file__).parents[2]
FOLDERS = ("engine", "schemas", "sql_macros", "udfs")
"""The folders of the checkout that are part of the package."""


def setuptools() -> dict[str, Any]:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, Any] = declared["tool"]["setuptools"]
    return found


def files() -> list[Path]:
    """Every file of the package's folders, but what Python and the tools leave there."""
    found = [path for name in FOLDERS for path in (ROOT / name).rglob("*") if path.is_file()]
    hidden = [path for path in found if not path.name.startswith(".")]
    return [path for path in hidden if path.parent.name != "__pycache__"]


def folder_of(package: str) -> Path:
    return ROOT.joinpath(*package.split(".")[1:])


def test_every_folder_with_modules_is_a_package_and_no_other_is() -> None:
    folders = {path.parent for path in files() if path.suffix == ".py"}
    packages = setuptools()["packages"]
    assert {folder_of(package) for package in packages} == {ROOT, *folders}
    assert packages == sorted(packages), "keep the list in order"
    without = [folder for folder in folders if not (folder / "__init__.py").is_file()]
    assert without == []


def test_every_other_file_is_installed_as_data() -> None:
    data = setuptools()["package-data"]
    installed = {
        path
        for package, patterns in data.items()
        for pattern in patterns
        for path in folder_of(package).glob(pattern)
    }
    assert ROOT / "py.typed" in installed
    assert [path for path in files() if path.suffix != ".py" and path not in installed] == []


def test_every_pattern_of_data_finds_something() -> None:
    for package, patterns in setuptools()["package-data"].items():
        for pattern in patterns:
            assert any(folder_of(package).glob(pattern)), f"{package}: {pattern}"


def test_the_version_is_one_wherever_it_is_told() -> None:
    """The package's, that of the citation, of the dbt package, and the newest of the changelog."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest, day = re.findall(r"^## (\d[\d.]*) - (\S+)$", changelog, re.MULTILINE)[0]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    project = (ROOT / "integrations" / "dbt" / "dbt_project.yml").read_text(encoding="utf-8")
    assert newest == __version__
    assert f"\nversion: {newest}\ndate-released: {day}\n" in citation
    assert f'\nversion: "{newest}"\n' in project
