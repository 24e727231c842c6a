"""What compiling the kernels takes of processor time, beside a fixed piece of compiling.

    python -m benchmarks compiling [--small] [--functions 12]

Each group of kernels is compiled by a process of its own, with nothing kept, as on the first use of
an installation. Seconds are user and system time, and of a kernel without those that it calls.
Machines differ, and so do versions of numba: what counts is how many times the fixed piece it is
(``.ci/compiling.toml``), which is compiled in the same run, before and after.

Small: only what the first released quarter waits for.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tomllib
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
RATIOS = ROOT / ".ci" / "compiling.toml"
FUNCTIONS = 12
"""Kernels of the table, those that take longest."""
FIRST = "srsql.udfs.risk.singling_out"
"""What the first released quarter waits for."""
PIECE = "fixed piece"

FIXED = """
import numba, numpy as np

@numba.njit(nogil=True)
def piece(values, order, least):
    kept = np.full(len(values), -1)
    total = values[0]
    for i in range(len(order)):
        at = np.searchsorted(values, values[order[i]])
        while at > 0 and values[at - 1] >= least:
            at -= 1
            total += values[at]
        kept[i] = at
    chosen = np.argsort(values[kept >= 0])
    return total, np.unique(kept), chosen

for kind in (np.int32, np.float64):
    piece(np.arange(9).astype(kind), np.arange(9), kind(3))
"""
KERNELS = """
import json, sys
from time import process_time
from numba.core import event

class Told(event.Listener):
    def __init__(self):
        self.open, self.found = [], {}
    def on_start(self, event):
        self.open.append([event.data["dispatcher"].py_func, process_time(), 0.0])
    def on_end(self, event):
        function, began, inner = self.open.pop()
        took = process_time() - began
        if self.open:
            self.open[-1][2] += took
        name = f"{function.__module__}.{function.__qualname__}"
        times, seconds = self.found.get(name, (0, 0.0))
        self.found[name] = times + 1, seconds + took - inner

told = Told()
event.register("numba:compile", told)
from srsql.udfs.kernels import compile_here
compile_here(sys.argv[1])
print("found", json.dumps(told.found), flush=True)
"""


def groups() -> list[str]:
    """Every group of kernels, as ``load_kernels`` takes them: each function that warms one up."""
    found = []
    for file in sorted((ROOT / "udfs").rglob("*.py")):
        path = file.relative_to(ROOT).with_suffix("")
        module = ".".join(("srsql", *path.parts)).removesuffix(".__init__")
        for line in file.read_text(encoding="utf-8").splitlines():
            name = line.removeprefix("def ").partition("(")[0]
            if line.startswith("def warm_up"):
                found.append(module if name == "warm_up" else f"{module}:{name}")
    return found


def compiled(code: str, name: str) -> tuple[float, dict[str, Any]]:
    """Processor time of a process that compiles, and what it tells of each kernel."""
    with TemporaryDirectory() as caches:
        env = os.environ | {"XDG_CACHE_HOME": caches}
        env.pop("NUMBA_CACHE_DIR", None)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", code, name],
            env=env,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, json.loads(told[0].removeprefix("found ")) if told else {}


def main(small: bool, functions: int = FUNCTIONS) -> None:
    """Print the seconds of each group, and of the kernels that take longest.

    Raises:
        SystemExit: small, and it takes more times the fixed piece than it may.
    """
    pieces = [compiled(FIXED, PIECE)[0]]
    each: dict[str, tuple[int, float]] = {}
    total = 0.0
    for name in [FIRST] if small else groups():
        took, found = compiled(KERNELS, name)
        total += took
        print(f"{took:7.1f} s  {sum(n for n, _ in found.values()):4d} kernels  {name}", flush=True)
        for kernel, (times, seconds) in found.items():
            known = each.get(kernel, (0, 0.0))
            each[kernel] = known[0] + times, known[1] + seconds
    pieces.append(compiled(FIXED, PIECE)[0])
    for kernel, (times, seconds) in sorted(each.items(), key=lambda one: -one[1][1])[:functions]:
        print(f"{seconds:7.1f} s  {times:4d} times  {kernel}")
    piece = median(pieces)
    most = tomllib.loads(RATIOS.read_text(encoding="utf-8"))["first"]
    print(f"{total:7.1f} s in all, {total / piece:.2f} times the fixed piece ({piece:.1f} s)")
    if small and total > most * piece:
        raise SystemExit(f"compiling takes more than {most} times the fixed piece")


def command(arguments: list[str]) -> None:
    """Read the arguments, and run."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m benchmarks compiling", description=__doc__)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--functions", type=int, default=FUNCTIONS)
    options = parser.parse_args(arguments)
    main(options.small, options.functions)
