"""An account without a home, on an installation that it cannot write: the first run works."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support.amount import IN_FULL

pytestmark = pytest.mark.thorough

NOBODY = 65534
ROOT = Path(__file__).parents[2]
PROBE = (
    "import subprocess, sys, numba, srsql; subprocess.run([sys.executable, '-c', '1'], check=True)"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of the account's own; it can reach the packages, and a checkout named srsql.

    Not one of pytest's: another session of it takes everybody's rights to these away.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can act as another account")
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    with TemporaryDirectory(prefix="srsql-nobody-") as made:
        Path(made).chmod(0o711)
        own = Path(made) / "own"
        own.mkdir()
        os.chown(own, NOBODY, NOBODY)
        if as_nobody(own, "-c", PROBE).returncode:
            pytest.skip("no Python of this version that another account can run has the packages")
        yield own


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
    compiling = (  # each compiles again what demo did
        ("release", "--quarter", "2011Q1", "--series", "more", "--allow-linkable", "--db", db,
         "--refine", "off"),
        ("compare", "--quarters", "2011Q1", "--models", "k-anonymity", "--k", "5", "--db", db),
    )  # fmt: skip
    for command in (
        ("demo",),
        ("report", "--quarter", "2011Q1", "--db", db),
        ("report", "--public", "--quarter", "2011Q1", "--db", db),
        ("publish", "--quarter", "2011Q1", "--to", "out", "--db", db),
        *(compiling if IN_FULL else ()),
    ):
        done = as_nobody(folder, "-m", "srsql", *command)
        told = [line for line in done.stderr.splitlines() if " elapsed" not in line]
        assert (done.returncode, told) == (0, []), command
    assert {path.stat().st_uid for path in folder.rglob("*")} == {NOBODY}
    assert list(folder.rglob(".*")) == []
