"""Kill -9, a full disk and two writers during a publication: a whole artifact or none."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.files import copied
from support.quarters import crowd

from srsql import verify
from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough
POINTS = ["rows", "verification", "before the rename", "after the rename"]
CHILD = """
import os, signal, sys
from srsql.engine.api.engine import Engine

point, db, to = sys.argv[1:]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def progress(stage):
    if stage == point:
        die()

rename = os.replace
if point == "before the rename":
    os.replace = die
if point == "after the rename":
    os.replace = lambda *given: (rename(*given), die())
with Engine(db, read_only=True) as engine:
    engine.publish("2011Q4", to, format="duckdb", progress=progress)
"""
PUBLISH = [sys.executable, "-m", "srsql.cli", "publish", "--quarter", "2011Q4", "--to"]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    made = copied(folder / "source", folder / "w.duckdb", {"2011Q4": crowd(60)})
    with Engine(made) as engine:
        engine.release("2011Q4", k=3, theta="0.5", seed=1)
    return made


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_publication_leaves_a_whole_artifact_or_none_and_a_rerun_works(
    db: Path, tmp_path: Path, point: str
) -> None:
    to = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", CHILD, point, str(db), str(to)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    if point == "after the rename":
        assert verify(to).passed
        return
    assert not to.exists()
    (left,) = tmp_path.iterdir()
    assert left.stat().st_mode & 0o777 == 0o700
    with Engine(db, read_only=True) as engine:  # which finds what was left elsewhere, too
        assert list(tmp_path.iterdir()) == []
        published = engine.publish("2011Q4", to, format="duckdb")
    assert verify(to).passed
    assert published.unfinished == []


def test_a_file_that_may_not_grow_fails_in_one_line_and_leaves_nothing(
    db: Path, tmp_path: Path
) -> None:
    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))

    done = subprocess.run(
        [*PUBLISH, str(tmp_path / "out"), "--db", str(db), "--format", "duckdb"],
        capture_output=True, text=True, timeout=60, check=False, preexec_fn=limited,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (5, "")
    (line,) = done.stderr.splitlines()
    assert "2011Q4 was not published, nothing is at" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small file system")
def test_a_full_disk_fails_in_one_line_and_leaves_nothing(db: Path, tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        done = subprocess.run(
            [*PUBLISH, str(tmp_path / "out"), "--db", str(db)],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 5
        (line,) = done.stderr.splitlines()
        assert "2011Q4 was not published, nothing is at" in line
        assert list(tmp_path.iterdir()) == []
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_of_two_publications_to_one_place_one_is_there_whole(db: Path, tmp_path: Path) -> None:
    to = tmp_path / "out"
    command = [*PUBLISH, str(to), "--db", str(db)]
    with ThreadPoolExecutor(2) as pool:
        done = list(
            pool.map(
                lambda _: subprocess.run(command, capture_output=True, text=True, check=False),
                range(2),
            )
        )
    assert 0 in [one.returncode for one in done]
    for one in done:
        assert one.returncode == 0 or "was not published" in one.stderr or "exists" in one.stderr
    assert verify(to).passed
    assert list(tmp_path.iterdir()) == [to]
