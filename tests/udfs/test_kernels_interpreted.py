"""Kernels make the same, to the bit, compiled, interpreted, and compiled with checked indices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.kernel_runs import RUNS, run

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
FEW = ["ms", "whole rows"]


def elsewhere(folder: Path, names: list[str], **environment: str) -> dict[str, str]:
    """What another process with this environment makes."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "support.kernel_runs", str(folder), *names],
        cwd=TESTS,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(line.split("\t") for line in done.stdout.splitlines() if "\t" in line)


def compiled(folder: Path, names: list[str]) -> dict[str, str]:
    folder.mkdir()
    return run(folder, names)


@pytest.mark.thorough
def test_interpreted_kernels_make_the_same_releases(tmp_path: Path) -> None:
    found = elsewhere(tmp_path / "plain", FEW, NUMBA_DISABLE_JIT="1")
    assert found == compiled(tmp_path / "compiled", FEW)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "environment",
    [{"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_BOUNDSCHECK": "1"}],
    ids=["interpreted", "checked indices"],
)
def test_every_model_makes_the_same_however_its_kernels_run(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}  # compiled code does not say if it checks
    found = elsewhere(tmp_path / "other", list(RUNS), **environment, **cache)
    assert found.keys() == RUNS.keys()
    assert found == compiled(tmp_path / "compiled", list(RUNS))


def test_checked_indices_are_really_checked(tmp_path: Path) -> None:
    kernel = tmp_path / "beyond.py"
    kernel.write_text(
        "import numpy as np\nfrom srsql.udfs.compiled import njit\n"
        "@njit()\ndef last(a):\n    return a[len(a)]\nlast(np.zeros(3))\n"
    )
    for name in ("NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT"):
        done = subprocess.run(
            [sys.executable, str(kernel)],
            cwd=tmp_path,
            env=os.environ | {name: "1", "XDG_CACHE_HOME": str(tmp_path / name)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "IndexError" in done.stderr
