"""What people wait for after the release: every command as a multiple of the release or plain SQL.

    python -m benchmarks answers [--scale 1] [--years 22] [--year-scale 0.05] [--only signals,query]
        [--memory-limit 6GB] [--small] [--keep FOLDER]

A synthetic quarter of the real row counts is taken in and released; then each command runs on it
as a process of its own, one after the other: seconds by the clock, processor time, peak memory, and
the seconds as a multiple of the release's (signals: of plain SQL, a process that counts the same
pairs over the released views and knows nothing of us). Then the same for a series of ``--years``
years of quarters. ``--small`` takes sizes for CI, where only the order of magnitude is looked at:
it fails where a multiple is above ``SMALL_LIMITS``.

Source: SPEC section 17.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

QUARTER, FIRST_YEAR = "2011Q4", 2001
PLAIN = """
import sys
import duckdb

con = duckdb.connect(sys.argv[1], read_only=True)
con.execute("SET enable_progress_bar = false")
schemas, pair = sys.argv[2].split(","), sys.argv[3:]
held = " UNION ALL ".join(
    f"SELECT DISTINCT d.caseid, d.drugname, r.pt FROM {s}.drug AS d JOIN {s}.reac AS r "
    "USING (primaryid)" + (" WHERE d.drugname = $1 AND r.pt = $2" if pair else "")
    for s in schemas
)
print(con.execute(
    f"SELECT count(*), sum(n) FROM (SELECT drugname, pt, count(*) AS n FROM ({held}) GROUP BY ALL)",
    pair or None,
).fetchall())
"""
COMMON = """
import sys
import duckdb

con = duckdb.connect(sys.argv[1], read_only=True)
con.execute("SET enable_progress_bar = false")
print(*con.execute(
    f"SELECT d.drugname, r.pt FROM {sys.argv[2]}.drug AS d JOIN {sys.argv[2]}.reac AS r "
    "USING (primaryid) GROUP BY ALL ORDER BY count(DISTINCT d.caseid) DESC, 1, 2 LIMIT 1"
).fetchone(), sep="\\n")
"""
SMALL_LIMITS = {"metrics": 1.2, "report": 3.0, "publish": 3.0, "verify": 2.0, "query": 0.5}
"""Processor time, as a multiple of that of the release, of a few thousand reports."""


@dataclass(frozen=True)
class Took:
    """What a process took."""

    seconds: float
    cpu: float
    peak: float
    """MiB."""
    output: str


def took(call: Sequence[str], folder: Path, accepted: Sequence[int] = (0,)) -> Took:
    """Run a process to its end.

    This process stays small, since the system counts what it has into the peak of those it starts.
    """
    with (folder / "out.txt").open("w+", encoding="utf-8") as told:
        began = perf_counter()
        process = subprocess.Popen(call, stdout=told, stderr=subprocess.STDOUT, cwd=folder)
        _, status, used = os.wait4(process.pid, 0)
        seconds = perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        output = told.read()
    if process.returncode not in accepted:
        raise SystemExit(f"{' '.join(call)} ended with {process.returncode}:\n{output[-2_000:]}")
    return Took(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, output)


class World:
    """A warehouse and what runs on it; prints a line for each command."""

    def __init__(self, folder: Path, title: str, limit: str, only: Sequence[str]) -> None:
        self.folder, self.file = folder, folder / "w.duckdb"
        self._limit, self._only = limit, only
        self.ratios: dict[str, float] = {}
        """Of processor time, which other processes on the machine change little."""
        print(f"\n{title}")
        print(f"{'command':>24}{'s':>9}{'cpu s':>9}{'MiB':>8}{'times':>8}  of")

    def run(self, name: str, *words: str, base: tuple[str, Took] | None = None) -> Took | None:
        """One command of ours; ``base``: what its seconds are a multiple of."""
        if self._only and base is not None and not any(each in name for each in self._only):
            return None
        limits = ["--memory-limit", self._limit] if self._limit else []
        call = [sys.executable, "-m", "srsql", *words, "--db", str(self.file), *limits]
        return self.told(name, took(call, self.folder, (0, 1) if name == "audit" else (0,)), base)

    def compiled(self, *words: str) -> None:
        """A command on a copy, after which no kernel has to be compiled."""
        copy = self.folder / "copy.duckdb"
        shutil.copy(self.file, copy)
        call = [sys.executable, "-m", "srsql", *words, "--db", str(copy)]
        self.told("the same, compiling", took(call, self.folder), None)
        copy.unlink()

    def plain(self, name: str, program: str, *words: str) -> Took:
        """One process that knows nothing of us."""
        call = [sys.executable, "-c", program, str(self.file), *words]
        return self.told(name, took(call, self.folder), None)

    def told(self, name: str, found: Took, base: tuple[str, Took] | None) -> Took:
        """Print what a process took."""
        cells = f"{name:>24}{found.seconds:>9.2f}{found.cpu:>9.2f}{found.peak:>8.0f}"
        if base is not None:
            self.ratios[name] = found.cpu / base[1].cpu
            cells += f"{found.seconds / base[1].seconds:>8.2f}  {base[0]}"
        print(cells, flush=True)
        return found


def synthesized(folder: Path, first: str, last: str, scale: float) -> Path:
    """Files of synthetic quarters."""
    files = folder / "files"
    words = ["--from", first, "--to", last, "--scale", str(scale), "--out", str(files)]
    took([sys.executable, "-m", "srsql", "synth", *words], folder)
    return files


def answered(world: World, period: str, schemas: Sequence[str], sizes: Took) -> None:
    """Every command on what is released; ``sizes``: the release."""
    release = ("release", sizes)
    pair = took(
        [sys.executable, "-c", COMMON, str(world.file), schemas[-1]], world.folder
    ).output.splitlines()
    listed = ",".join(schemas)
    one = ("plain SQL, a pair", world.plain("plain SQL, a pair", PLAIN, listed, *pair))
    every = ("plain SQL, all pairs", world.plain("plain SQL, all pairs", PLAIN, listed))
    last = schemas[-1].removeprefix("release_").upper()
    asked = ["--quarter", last] if len(schemas) == 1 else []
    drug, reaction = (["--drug", pair[0]], ["--reaction", pair[1]])
    world.run("signals, a pair", "signals", "pairs", *asked, *drug, *reaction, base=one)
    world.run("signals, all pairs", "signals", "pairs", *asked, "--all", base=every)
    question = (
        "SELECT sex, COUNT(DISTINCT demo.caseid) FROM demo JOIN drug USING (primaryid) "
        f"WHERE drugname = '{pair[0].replace(chr(39), chr(39) * 2)}' GROUP BY sex"
    )
    world.run("query", "query", question, *asked, base=release)
    world.run("status", "status", base=release)
    world.run("attack", "attack", "--quarter", last, "--qid", "age=44", "--qid", "sex=M",
              base=release)  # fmt: skip
    world.run("metrics", "metrics", "--quarter", last, base=release)
    world.run("audit", "audit", *asked, base=release)
    out = str(world.folder / "report.html")
    world.run("report", "report", *asked, "--out", out, base=release)
    artifact = str(world.folder / "artifact")
    if world.run("publish", "publish", "--quarter", period, "--to", artifact, base=release):
        call = [sys.executable, "-m", "srsql", "verify", artifact]
        world.told("verify", took(call, world.folder), release)


@contextmanager
def folder_of(keep: Path | None) -> Iterator[Path]:
    """A folder that stays, or goes with the block."""
    if keep is not None:
        keep.mkdir(parents=True)
        yield keep.resolve()
        return
    with TemporaryDirectory(prefix="srsql-answers-") as made:
        yield Path(made)


def command(arguments: Sequence[str]) -> None:
    """Measure and print; see the module."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks answers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of the quarter")
    parser.add_argument("--years", type=int, default=22, help="of the series; 0: none")
    parser.add_argument("--year-scale", type=float, default=0.05, help="of its quarters")
    parser.add_argument("--only", default="", help="commands whose names have one of these words")
    parser.add_argument("--memory-limit", default="", help="of every command")
    parser.add_argument("--small", action="store_true", help="sizes for CI")
    parser.add_argument("--keep", type=Path, help="a new folder for what is made")
    asked = parser.parse_args(arguments)
    if asked.small:
        asked.scale, asked.years = 0.02, 0
    only = [each for each in asked.only.split(",") if each]
    with folder_of(asked.keep) as folder:
        made = folder / "quarter"
        made.mkdir()
        world = World(made, f"one quarter at scale {asked.scale}", asked.memory_limit, only)
        files = synthesized(made, QUARTER, QUARTER, asked.scale)
        world.run("ingest", "ingest", str(files))
        world.compiled("release", "--quarter", QUARTER)
        release = world.run("release", "release", "--quarter", QUARTER)
        assert release is not None
        answered(world, QUARTER, [f"release_{QUARTER.lower()}"], release)
        above = [n for n, most in SMALL_LIMITS.items() if world.ratios.get(n, 0) > most]
        if asked.years:
            _series(folder, asked, only)
    if asked.small and above:
        told = ", ".join(f"{n} {world.ratios[n]:.1f} > {SMALL_LIMITS[n]}" for n in above)
        raise SystemExit(f"times the release: {told}")


def _series(folder: Path, asked: argparse.Namespace, only: Sequence[str]) -> None:
    made = folder / "series"
    made.mkdir()
    labels = [f"{FIRST_YEAR + n // 4}Q{1 + n % 4}" for n in range(4 * asked.years)]
    title = f"{len(labels)} quarters at scale {asked.year_scale}"
    world = World(made, title, asked.memory_limit, only)
    files = synthesized(made, labels[0], labels[-1], asked.year_scale)
    world.run("ingest", "ingest", str(files))
    period = f"{labels[0]}:{labels[-1]}"
    release = world.run("release", "release", "--quarter", period)
    assert release is not None
    answered(world, period, [f"release_{label.lower()}" for label in labels], release)
