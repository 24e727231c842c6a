"""An account without a home, on an installation that it cannot write: the first run works."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

NOBODY = 65534
ROOT = Path(__file__).parents[2]
PROBE = (
    "import subprocess, sys, numba, srsql; subprocess.run([sys.executable, '-c', '1'], check=True)"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the account's own; it can reach the packages, and a checkout named srsql."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another account")
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    for place in (tmp_path, *tmp_path.parents):
        if not place.stat().st_mode & 0o001:
            place.chmod(place.stat().st_mode | 0o001)
        if place.parent == Path("/tmp") or place.parent == place:
            break
    own = tmp_path / "own"
    own.mkdir()
    os.chown(own, NOBODY, NOBODY)
    if as_nobody(own, "-c", PROBE).returncode:
        pytest.skip("no Python of this version that another account can run has the packages")
    return own


def as_nobody(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python as an account that has no home, with next to no environment.

    The interpreter of the tests may lie in somebody's home; then that of the system runs.
    """
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    packages = os.pathsep.join([str(ROOT.parent), *site.getsitepackages()])
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{version}"):
        done = subprocess.run(
            [*user, python, *arguments], cwd=folder,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": packages},
            capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip
        if "Permission denied" not in done.stderr or python != sys.executable:
            break
    return done


def test_demo_release_and_report_work_without_a_home(folder: Path) -> None:
    db = "srsql-demo/demo.duckdb"
    for command in (
        ("demo",),
        ("release", "--quarter", "2011Q1", "--series", "more", "--allow-linkable", "--db", db,
         "--refine", "off"),  # what demo compiled is compiled again
        ("report", "--quarter", "2011Q1", "--series", "more", "--db", db),
        ("report", "--public", "--quarter", "2011Q1", "--db", db),
        ("publish", "--quarter", "2011Q1", "--to", "out", "--allow-linkable", "--db", db),
        ("compare", "--quarters", "2011Q1", "--models", "k-anonymity", "--k", "5", "--db", db),
    ):  # fmt: skip
        done = as_nobody(folder, "-m", "srsql", *command)
        told = [line for line in done.stderr.splitlines() if " elapsed" not in line]
        assert (done.returncode, told) == (0, []), command
    assert {path.stat().st_uid for path in folder.rglob("*")} == {NOBODY}
    assert list(folder.rglob(".*")) == []
