"""Every contestant on every size, each run in a process of its own; tables as they come."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from benchmarks.peers import show
from benchmarks.peers.contest import CONTESTS, Contest, Contestant
from benchmarks.peers.environment import UnavailableError, arx, interpreter
from benchmarks.peers.judge import Verdict, judge
from benchmarks.peers.people import Table, write_people

SIZES, SMALL_SIZES = (1_000, 10_000, 100_000), (2_000,)
SECONDS, MEMORY_MIB = 120, 10_240
"""What one run may take; a peer that takes more at one size is not tried at a larger one."""
WARM_SECONDS = 1_800
"""What compiling the kernels may take, on the first use of an installation."""
THEIRS = Path(__file__).with_name("theirs.py")
Where = TypeVar("Where")


@dataclass(frozen=True)
class Outcome:
    """What one run came to: a cost and a verdict, or the reason why there is none."""

    cost: dict[str, Any] | None = None
    verdict: Verdict | None = None
    failed: str = ""
    complete: str = ""
    """Why the run was given the complete rows alone; empty: it had all of them."""


class Runs:
    """The runs of one table folder; remembers who stopped where."""

    def __init__(self, folder: Path, peers: Path | None, arx: list[str] | None) -> None:
        self._folder, self._peers, self._arx = folder, peers, arx
        self._out_of_reach: dict[tuple[str, bool], str] = {}
        self._complete: dict[str, str] = {}

    def can(self, contestant: Contestant) -> bool:
        """Whether this machine has what it needs; what is written here needs nothing."""
        needed = {"srsql": True, "k-member": True, "arx": self._arx is not None}
        return needed.get(contestant.tool, self._peers is not None)

    def warm_up(self, contestant: Contestant, people: Path) -> float:
        """Seconds of a first, small run of srsql, so that no run that is measured compiles."""
        task = {**contestant.options, "tool": "srsql", "people": str(people), "few": True}
        cost, error = self._run(task, WARM_SECONDS)
        if cost is None:
            raise SystemExit(f"{contestant.name}: {error}")
        return float(cost["warm_up"])

    def anonymize(self, contestant: Contestant, table: Table) -> Outcome:
        """Run and judge; a peer that stops at a missing value gets the complete rows."""
        name = contestant.name
        if contestant.at_most is not None and table.rows > contestant.at_most:
            return Outcome(failed=f"left out: n², {contestant.at_most:,} rows at most")
        reached = (name, table.complete)
        if reached in self._out_of_reach:
            return Outcome(failed=self._out_of_reach[reached])
        task = {**contestant.options, "tool": contestant.tool, "people": str(table.file)}
        task["released"] = str(self.released(contestant))
        cost, error = self._run(task | {"complete": name in self._complete})
        if error and not error.startswith("over ") and not table.complete:
            first = error
            cost, error = self._run(task | {"complete": True})
            if not error:
                self._complete[name] = first
        if error:
            if error.startswith("over "):
                self._out_of_reach[reached] = f"not tried: {error} for {table.name}"
            return Outcome(failed=error)
        released = pd.read_csv(task["released"], dtype={"sex": "str", "term": "str"})
        verdict = judge(pd.read_csv(table.file, dtype={"sex": "str", "term": "str"}), released)
        reason = "" if table.complete else self._complete.get(name, "")
        return Outcome(cost, verdict, complete=reason)

    def released(self, contestant: Contestant) -> Path:
        """Where its last release is."""
        return self._folder / f"{contestant.name.replace(' ', '_')}.csv"

    def check(self, contestant: Contestant) -> tuple[dict[str, Any] | None, dict[str, Any], str]:
        """pycanon's and our own check of the last release, and why the first is missing."""
        released = str(self.released(contestant))
        theirs, error = self._run({"tool": "pycanon", "released": released})
        if theirs is None:
            return None, {}, error
        task = {"tool": "check", "released": released, "told": theirs["as_value"]}
        ours, error = self._run(task)
        return theirs, ours or {}, error

    def _command(self, task: dict[str, Any]) -> list[str]:
        if task["tool"] == "arx":
            assert self._arx is not None
            told = [task["people"], task["released"], task["k"], task.get("l", 1), task["recoding"]]
            steps = [f"{name}={','.join(map(str, s))}" for name, s in task["steps"].items()]
            return [*self._arx, *map(str, told), *steps]
        start = [str(self._peers or sys.executable), str(THEIRS)]
        if task["tool"] in ("srsql", "check"):
            start = [sys.executable, "-m", "benchmarks.peers.ours"]
        return [*start, json.dumps({**task, "memory_mib": MEMORY_MIB})]

    def _run(
        self, task: dict[str, Any], seconds: int = SECONDS
    ) -> tuple[dict[str, Any] | None, str]:
        command = self._command(task)
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None, f"over {seconds} s"
        if ran.returncode == 0:
            return json.loads(ran.stdout), ""
        last = (ran.stderr.strip().splitlines() or [f"exit {ran.returncode}"])[-1]
        if ran.returncode < 0 or "Memory" in last:
            return None, f"over {MEMORY_MIB // 1024} GiB"
        return None, last


def main(small: bool) -> None:
    """Print the tables; whoever cannot be run is left out, and one line says why."""
    peers = _found("the peers of the package index", interpreter)
    arx_command = _found("ARX", lambda: arx(MEMORY_MIB))
    sizes = SMALL_SIZES if small else SIZES
    with tempfile.TemporaryDirectory() as folder:
        tables = write_people(Path(folder), sizes)
        runs = Runs(Path(folder), peers, arx_command)
        ours = [one for contest in CONTESTS for one in contest.contestants if one.ours]
        longest = max(runs.warm_up(one, tables[0].file) for one in ours)
        print(f"compiling or loading kernels, not counted below: up to {longest:.1f} s a process")
        checks: list[show.Check] = []
        for table in tables:
            for contest in CONTESTS[:1] if table.complete else CONTESTS:
                checks += _hold(contest, table, runs, peers is not None)
        show.legend()
        show.checks(checks)


def _found(named: str, find: Callable[[], Where]) -> Where | None:
    try:
        return find()
    except UnavailableError as error:
        print(f"without {named}: {error}")
        return None


def _hold(contest: Contest, table: Table, runs: Runs, with_peers: bool) -> list[show.Check]:
    show.heading(contest, table.name)
    first, checks = None, []
    for contestant in contest.contestants:
        if runs.can(contestant):
            outcome = runs.anonymize(contestant, table)
            first = first or outcome
            show.outcome(contest, contestant.name, outcome, first)
            if contestant.ours and with_peers and not outcome.failed:
                checks.append(show.Check(contestant.name, table.name, *runs.check(contestant)))
    return checks
