"""What is checked before a version is published, and what the host is told."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from support.scripts import load

ROOT = Path(__file__).parents[2]
TEXTS = ("version.py", "CHANGELOG.md", "CITATION.cff")


@pytest.fixture(scope="module")
def check() -> ModuleType:
    return load(ROOT / ".ci" / "release_check.py")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The three texts, as they are for a version that is ready."""
    (tmp_path / "version.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n## 1.2.3, 2030-01-02\n")
    (tmp_path / "CITATION.cff").write_text("version: 1.2.3\ndate-released: 2030-01-02\n")
    return tmp_path


def test_a_version_that_is_ready_passes(check: ModuleType, checkout: Path) -> None:
    assert list(check.texts_wrong(checkout, "v1.2.3")) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("version.py", "1.2.3", "1.2.4", "the tag is v1.2.3, version.py has 1.2.4"),
        ("CHANGELOG.md", ", 2030-01-02", "", "the section of 1.2.3 in the changelog has no date"),
        ("CHANGELOG.md", "1.2.3", "1.2.2", "the changelog has no section of 1.2.3"),
        ("CHANGELOG.md", "Unreleased\n", "Unreleased\n\n* New.\n", "Unreleased of the changelog"),
        ("CITATION.cff", "1.2.3", "1.2.2", "CITATION.cff has version 1.2.2, version.py 1.2.3"),
        ("CITATION.cff", "01-02", "01-03", "CITATION.cff has 2030-01-03, the changelog 2030-01-02"),
    ],
)
def test_what_contradicts_is_told(
    check: ModuleType, checkout: Path, file: str, old: str, new: str, told: str
) -> None:
    text = (checkout / file).read_text()
    (checkout / file).write_text(text.replace(old, new, 1))
    assert any(line.startswith(told) for line in check.texts_wrong(checkout, "v1.2.3"))


def test_the_texts_of_this_checkout_agree(check: ModuleType) -> None:
    assert list(check.texts_wrong(ROOT, None)) == []


def test_a_wheel_with_a_warehouse_or_without_its_data_is_told(
    check: ModuleType, tmp_path: Path
) -> None:
    wheel = tmp_path / "srsql-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("srsql/py.typed", "srsql/mine.duckdb", "srsql/tests/a.py"):
            archive.writestr(name, "")
    wrong = list(check.files_wrong(wheel))
    assert f"{wheel.name} has srsql/mine.duckdb" in wrong
    assert f"{wheel.name} has tests" in wrong
    assert f"{wheel.name} lacks schemas/glossary.toml" in wrong


def test_the_workflow_runs_what_ci_runs_on_the_pythons_of_the_package() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [
        line.rpartition(" :: ")[2]
        for line in package["classifiers"]
        if re.search(r"Python :: 3\.\d+$", line)
    ]
    (listed,) = re.findall(r"^ +python: \[(.*)\]$", workflow, re.MULTILINE)
    assert [each.strip(' "') for each in listed.split(",")] == named
    assert "\n        run: .ci/run\n" in workflow


def test_a_bug_brings_the_output_of_doctor_and_a_broken_bound_goes_elsewhere() -> None:
    form = (ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text(encoding="utf-8")
    assert "Output of `srsql doctor`" in form
    assert form.count("SECURITY.md") == 2
    assert form.count("required: true") == 5


def test_the_recipe_of_the_container_installs_what_constraints_name() -> None:
    recipe = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "pip install --no-cache-dir -c /src/constraints.txt '/src[all]'" in recipe
    assert recipe.index("USER steward") < recipe.index("ENTRYPOINT")
    assert shutil.which("bash")
    subprocess.run(["bash", "-n", ROOT / ".ci" / "container"], check=True)
