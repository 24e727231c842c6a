"""Hierarchies of 100,000 nodes beside those of 100: ingestion, a release and its metrics.

Both warehouses get the same records, but for the category, of whose nodes each record names one.
Seconds are those of the processor, of a process for each command, and the least of several runs
that alternate. SPEC section 22 has no figure for a release, which groups by finer values; ingestion
and metrics may cost at most twice as much (``RATIO``).
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

RATIO = 2.0
FEW, MANY = 100, 100_000
COMMANDS = {
    "ingest": "ingest rep.csv --dataset own.toml --period 2024",
    "release": "release --quarter 2024 --dataset own --theta 0.4 --seed 1",
    "metrics": "metrics --quarter 2024 --dataset own",
}
BOUNDED = ("ingest", "metrics")
DATASET = """
name = "own"
report_table = "rep"
report_id = "id"
case_id = "id"
[source]
reader = "csv"
[tables.rep]
files = ["rep.csv"]
columns = ["id", "age", "zip", "drug", "pt"]
publish = ["drug"]
[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]
[[qid]]
name = "zip"
kind = "categorical"
column = "zip"
hierarchy = "zip.csv"
[[sensitive]]
table = "rep"
column = "pt"
"""


def write(folder: Path, nodes: int, records: int) -> Path:
    """A dataset whose hierarchy has so many leaves, in a folder of its own."""
    folder.mkdir()
    luck = random.Random(16)
    (folder / "own.toml").write_text(DATASET)
    with (folder / "zip.csv").open("w") as tree:
        tree.write("node,parent\nAny,\n")
        inner = nodes // 100 if nodes > FEW else 10
        tree.writelines(f"{place}**,Any\n" for place in range(inner))
        tree.writelines(f"{place:05},{place * inner // nodes}**\n" for place in range(nodes))
    with (folder / "rep.csv").open("w") as file:
        file.write("id,age,zip,drug,pt\n")
        for number in range(records):
            leaf = min(int(luck.paretovariate(1.1) * 37), 10**9) % nodes
            term = f"D{luck.randrange(50)},PT{luck.randrange(200)}"
            file.write(f"{number},{luck.randrange(96)},{leaf:05},{term}\n")
    return folder


def seconds(folder: Path, command: str) -> float:
    """Processor time of one command on the warehouse of a folder."""
    environment = {**os.environ, "SRSQL_DB": "w.duckdb"}
    words = [sys.executable, "-m", "srsql", *command.split(), "--quiet"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(small: bool) -> None:
    """Print the table; fail where a ratio is above its bound."""
    rounds, records = (2, 5_000) if small else (4, 50_000)
    with TemporaryDirectory() as place:
        least: dict[tuple[str, int], float] = {}
        for again in range(rounds):
            folders = {
                nodes: write(Path(place) / f"{nodes}-{again}", nodes, records)
                for nodes in (FEW, MANY)
            }
            for name, command in COMMANDS.items():
                for nodes, folder in folders.items():
                    taken = seconds(folder, command)
                    least[name, nodes] = min(taken, least.get((name, nodes), taken))
    print(f"{records:,} records; seconds of the processor, least of {rounds}")
    print(f"| command | {FEW:,} nodes | {MANY:,} nodes | ratio |\n| --- | ---: | ---: | ---: |")
    ratios = {name: least[name, MANY] / least[name, FEW] for name in COMMANDS}
    for name, ratio in ratios.items():
        print(f"| {name} | {least[name, FEW]:.2f} | {least[name, MANY]:.2f} | {ratio:.2f} |")
    late = [f"{name} {ratios[name]:.2f}" for name in BOUNDED if ratios[name] > RATIO]
    if late:
        sys.exit(f"above {RATIO:g} times: {', '.join(late)}")
