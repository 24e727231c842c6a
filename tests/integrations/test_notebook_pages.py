"""The pages for JupySQL and Quarto run from top to bottom."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUARTO = ROOT / "integrations" / "quarto" / "artifact.qmd"
CELL = re.compile(r"^```\{python\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.thorough
@pytest.mark.skipif(
    not all(map(find_spec, ("nbclient", "ipykernel", "sql"))),
    reason="nbclient, ipykernel and jupysql are not installed (.ci/integrations has them)",
)
def test_the_notebook_of_jupysql_shows_what_comes_out() -> None:
    notebook = ROOT / "integrations" / "jupysql" / "artifact.ipynb"
    ran = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "run_notebooks.py"), str(notebook)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.thorough
def test_the_cells_of_the_quarto_page_run_in_order(tmp_path: Path) -> None:
    cells = CELL.findall(QUARTO.read_text(encoding="utf-8"))
    (tmp_path / "page.py").write_text("\n".join(cells), encoding="utf-8")
    for _ in ("first", "again"):
        ran = subprocess.run(
            [sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["page.py"]
    printed = ran.stdout.splitlines()
    assert printed[0].startswith("verified: True, ")
    assert printed[1].startswith("ppms++, k = 5: After every exclusion at least 5 distinct cases")
    bounds = [re.fullmatch(r" *\d+ to \d+: +(\d+) to +(\d+) cases", line) for line in printed[2:7]]
    assert all(match and int(match[1]) <= int(match[2]) for match in bounds)
    assert re.fullmatch(r"[\d,]+ pairs of at least three cases", printed[-1])


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("quarto") is None, reason="quarto is not on PATH")
def test_quarto_renders_the_page(tmp_path: Path) -> None:
    shutil.copy(QUARTO, tmp_path)
    ran = subprocess.run(
        ["quarto", "render", QUARTO.name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "Cases by age" in (tmp_path / "artifact.html").read_text(encoding="utf-8")
