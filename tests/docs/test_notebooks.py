"""The notebooks show what comes out, and nothing of the machine that they were run on."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = [
    *sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")),
    ROOT / "integrations" / "jupysql" / "artifact.ipynb",
]


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def test_a_steward_an_analyst_and_an_auditor_have_one_each() -> None:
    assert [path.stem for path in NOTEBOOKS[:-1]] == ["analyst", "auditor", "steward"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_was_run_in_order_without_an_error(path: Path) -> None:
    code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    kinds = {output["output_type"] for cell in code for output in cell["outputs"]}
    assert kinds <= {"stream", "execute_result", "display_data"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_text_and_name_no_path(path: Path) -> None:
    for cell in cells(path):
        for output in cell.get("outputs", []):
            assert set(output.get("data", {})) <= {"text/plain"}
            assert "/" + "tmp" not in json.dumps(output)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_works_in_an_empty_folder_so_that_it_can_be_run_again(path: Path) -> None:
    first = next(cell for cell in cells(path) if cell["cell_type"] == "code")
    assert "\nos.chdir(tempfile.mkdtemp())" in "".join(first["source"])


@pytest.mark.thorough
@pytest.mark.skipif(
    not all(map(find_spec, ("nbclient", "ipykernel"))),
    reason="nbclient and ipykernel are not installed (.ci/integrations has them)",
)
@pytest.mark.parametrize("path", NOTEBOOKS[:-1], ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom_and_shows_what_comes_out(path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "run_notebooks.py"), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
