"""SIGTERM, SIGHUP and Ctrl-C: one line, exit code 128 + the signal, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.files import copied
from support.quarters import crowd, write_quarter
from support.released import content

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.slow

QUARTERS = {"2011Q3": crowd(60), "2011Q4": crowd(60, first=31, version=2)}
NAMES = {signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP", signal.SIGINT: "Ctrl-C"}
IMPORTING = """
import os, sys
at, number = sys.argv[1], int(sys.argv[2])
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == at:
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Finder())
from srsql.__main__ import main
sys.argv[1:] = ["status"]
main()
"""
STAGED = """
import os, sys
from srsql.engine.api import engine
real, at, number = engine.release, sys.argv[1], int(sys.argv[2])
def said(stage):
    if stage == at:
        os.kill(os.getpid(), number)
engine.release = lambda warehouse, dataset, request, _: real(warehouse, dataset, request, said)
from srsql.__main__ import main
sys.argv = ["srsql", "release", "--quarter", "2011Q4", "--k", "3", "--theta", "0.5",
            "--db", sys.argv[3]]
main()
"""
STUCK = """
import os, sys, threading
import numba
from srsql.engine import interruption
from srsql.udfs.compiled import njit
interruption.GRACE = 0.3
@njit()
def stuck(n):
    total = 0
    while n > 0:
        total += n % 7
        n += 1 if total % 2 else -1
        if n < 10:
            n = 10**12
    return total
with interruption.signals_taken():
    interruption.LEFT.add(sys.argv[1])
    threading.Timer(1, lambda: print("running", flush=True)).start()
    stuck(10**12)
"""


def interrupted(done: subprocess.CompletedProcess[str], number: int) -> None:
    assert done.returncode == 128 + number, done.stderr
    assert done.stderr == (
        f"srsql: interrupted by {NAMES[signal.Signals(number)]}; "
        "what was not finished was rolled back\n"
    )


def hear_signals() -> None:
    """A child hears what whoever runs the tests ignores, such as SIGHUP under nohup."""
    for number in NAMES:
        signal.signal(number, signal.SIG_DFL)


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], preexec_fn=hear_signals,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def db(kept: Path, tmp_path: Path) -> Path:
    return copied(kept / "quarters", tmp_path / "w.duckdb", QUARTERS)


@pytest.mark.thorough
@pytest.mark.parametrize("number", [*NAMES])
@pytest.mark.parametrize("module", ["srsql.cli", "duckdb", "srsql.engine.extras.study.study"])
def test_a_signal_while_modules_are_loaded_is_one_line(module: str, number: int) -> None:
    interrupted(run(IMPORTING, module, int(number)), number)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("stage", "number"),
    [("cases", signal.SIGTERM), ("grouping", signal.SIGHUP), ("checks", signal.SIGINT),
     ("metrics", signal.SIGTERM)],
)  # fmt: skip
def test_a_signal_during_a_release_leaves_nothing(db: Path, stage: str, number: int) -> None:
    with Engine(db) as engine:
        before = content(engine.con)
    interrupted(run(STAGED, stage, int(number), db), number)
    assert [path.name for path in db.parent.iterdir()] == [db.name]
    with Engine(db) as engine:
        assert content(engine.con) == before


@pytest.mark.thorough
def test_a_signal_under_nohup_is_ignored(db: Path) -> None:
    code = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{STAGED}"
    done = run(code, "grouping", int(signal.SIGHUP), db)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.thorough
def test_a_kernel_that_does_not_come_back_is_not_waited_for(tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.mkdir()
    (left / "raw.txt").write_text("a patient")
    script = tmp_path / "stuck.py"
    script.write_text(STUCK)
    child = subprocess.Popen(
        [sys.executable, str(script), str(left)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "running\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=30)
    interrupted(subprocess.CompletedProcess([], child.returncode, out, err), signal.SIGTERM)
    assert not left.exists()


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["compare", "advise"])
def test_a_comparison_that_is_ended_leaves_no_copy_and_never_has_one_among_its_results(
    db: Path, tmp_path: Path, command: str
) -> None:
    out = tmp_path / "out"
    asked = {
        "compare": ["--quarters", "2011Q3", "--models", "ms", "--k", "3,4,5,6"],
        "advise": ["--quarter", "2011Q3", "--models", "ms", "--theta", "0.5", "--max-risk", "0.2"],
    }[command]
    old = os.umask(0)
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "srsql", command, *asked, "--jobs", "1", "--db", str(db),
             "--out", str(out)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    finally:
        os.umask(old)
    deadline = time.monotonic() + 60
    while not (copies := list(tmp_path.glob(".w.duckdb.*.scratch/study-*/*/w.duckdb"))):
        assert time.monotonic() < deadline
        assert child.poll() is None
        time.sleep(0.02)
    folder = copies[0].parents[2]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not [path for path in out.rglob("*") if path.suffix == ".duckdb"]
    child.send_signal(signal.SIGTERM)
    told, err = child.communicate(timeout=60)
    if command == "advise":
        assert err.startswith("settings to try: ")
        kept = f" on the quarter and kept in {out}: the same command goes on from there\n"
        assert kept in err
        err = err[err.rindex("srsql: ") :]
    interrupted(subprocess.CompletedProcess([], child.returncode, told, err), signal.SIGTERM)
    assert not folder.exists()


@pytest.mark.thorough
def test_the_raw_text_of_a_killed_ingestion_goes_at_the_next_opening(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\nfrom srsql.engine import ingest\nreal = ingest.extract_text\n"
        "def die(*given):\n real(*given)\n os.kill(os.getpid(), signal.SIGKILL)\n"
        "ingest.extract_text = die\nfrom srsql.__main__ import main\n"
        "sys.argv[0] = 'srsql'\nmain()"
    )
    archive, db = write_quarter(tmp_path, "2011Q3", crowd(30)), tmp_path / "w.duckdb"
    assert run(code, "ingest", archive, "--db", db).returncode == -signal.SIGKILL
    (folder,) = tmp_path.glob(".w.duckdb.*")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path for path in folder.rglob("file*.txt") if b"MFR-" in path.read_bytes()]
    with Engine(db, read_only=True):
        assert not folder.exists()
