"""Consecutive quarters released by Spark and by this process: the same rows, in what time and room.

    python -m benchmarks spark --source FILE ... [--dataset faers] [--lake]
        [--models ms,ppms++,ppms-alpha,disassociation] [--theta frequency] [--refine fast]
        [--url local[2]] [--least 10000]

Each model is released in two copies of one warehouse, by parts either way: in this process, and
carried to Spark. With ``--lake`` the rows of the second one lie in a lake, of which Spark carries
the buckets as well. Whatever table differs in a row ends the run: regions, thresholds, clusters,
members and withheld cases among them. Seconds are by the clock, of the
grouping stage (in which parts are carried) and of whole releases; those of Spark are without the
start of its session, which is told once. ``--least`` makes parts of fewer cases than releases do,
so that small quarters are cut as well. Memory is the peak of a worker of Spark and of its driver,
where they are processes of this machine.

Source: SPEC section 17.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import duckdb
import pyarrow as pa

from benchmarks.stage_watch import StageWatch
from srsql import Engine
from srsql.engine.extras.spark.address import SparkAt
from srsql.engine.grouping import parts as grouping
from srsql.engine.workers.carriers import Work

HEAD = ("period", "model", "cases", "withheld", "parts", "sent KiB", "here s", "Spark s", "ratio",
        "whole here", "whole Spark", "ratio")  # fmt: skip
TABLES = """
    SELECT DISTINCT t.schema_name, t.table_name FROM duckdb_tables() AS t
    WHERE t.database_name IN ('here', 'spark') AND NOT t.temporary
        AND NOT starts_with(t.schema_name, 'raw_')
        AND t.table_name NOT IN ('run', 'lake', 'lake_dataset', 'lake_file', 'lake_leftover')
    ORDER BY ALL
"""
"""All but raw rows, where they lie, and when a command ran."""
DISASSOCIATION = "disassociation"
KEYED = frozenset({"id_pseudonym", "series"})
"""Where a series has pseudonyms, their key is drawn for each warehouse."""
DRAWN = ("_reconstructed",)
"""Ends of the names of released tables that are left out: a draw from the chunks, which follows the
numbers of their subrecords."""
CHUNKS = ("_record_chunk", "_shared_chunk")
"""Ends of the names of released tables that are compared by subrecords: the numbers of these are
drawn securely, whatever the seed."""
SUBRECORDS = """
    (SELECT * EXCLUDE (subrecord) FROM (
        SELECT * EXCLUDE (term), list(term ORDER BY term) AS terms FROM {place} GROUP BY ALL
    ))
"""
TOLD = ("region", "threshold", "member", "withheld", "disassociated")
"""Tables of the catalog of which is told how many rows were compared; chunks of clusters are tables
of released rows."""


class Counting:
    """A carrier that counts what goes to Spark: parts, and their bytes."""

    def __init__(self, spark: SparkAt) -> None:
        self._spark = spark
        self.parts = self.sent = 0

    def carry(self, work: Work, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        yield from self._spark.carry(work, self._counted(parts))

    def _counted(self, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        for part in parts:
            self.parts += 1
            self.sent += part.nbytes
            yield part


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    found = argparse.ArgumentParser(
        "python -m benchmarks spark",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("--source", type=Path, nargs="+", required=True)
    found.add_argument("--dataset", default="faers")
    found.add_argument("--lake", action="store_true", help="Spark's rows lie in a lake")
    found.add_argument("--models", default="ms,ppms++,ppms-alpha,disassociation")
    found.add_argument("--theta", default="frequency")
    found.add_argument("--refine", default="fast")
    found.add_argument("--url", default="local[2]")
    found.add_argument("--least", type=int, default=grouping.LEAST, help="cases of a part")
    return found


def command(arguments: Sequence[str]) -> None:
    """Measure, compare and print; see the module."""
    asked = parser().parse_args(arguments)
    grouping.LEAST = asked.least
    with TemporaryDirectory(prefix="srsql-spark-") as name, SparkAt(asked.url, Path(name)) as spark:
        folder = Path(name)
        kept = dict.fromkeys(("here", "spark"), folder / "ingested.duckdb")
        lakes: dict[str, Path | None] = {"here": None}
        if asked.lake:
            kept["spark"], lakes["spark"] = folder / "ingested_lake.duckdb", folder / "lake"
        for which, lake in lakes.items():
            with Engine(kept[which], dataset=asked.dataset) as engine:
                periods = sorted(
                    {
                        row.quarter
                        for row in engine.ingest(asked.source, allow_incomplete=True, lake=lake)
                    }
                )
        began = perf_counter()
        list(spark.carry(Work("SELECT 1 AS one", {}, {}), [pa.table({"part": [0]})]))
        print(f"Spark at {asked.url} answers after {perf_counter() - began:.1f} s", flush=True)
        print("".join(f"{cell:>16}" for cell in HEAD), flush=True)
        for model in asked.models.split(","):
            files = {which: folder / f"{which}.duckdb" for which in kept}
            for which, file in files.items():
                shutil.copy(kept[which], file)
            _released(files, periods, asked, model, spark)
            rows = _compared(files, KEYED if model == DISASSOCIATION else frozenset())
            told = ", ".join(f"{name} {rows[name]:,}" for name in TOLD)
            print(f"{model}: {sum(rows.values()):,} rows are the same ({told})", flush=True)
        for what, peak in sorted(_peaks().items()):
            print(f"{what}: {peak:,} MiB at most")


def _released(
    files: dict[str, Path],
    periods: list[str],
    asked: argparse.Namespace,
    model: str,
    spark: SparkAt,
) -> None:
    """Release the periods in both warehouses, and print a line for each."""
    options: dict[str, Any] = {}
    if model != DISASSOCIATION:
        options = {"theta": asked.theta, "refine": asked.refine, "parts": "auto",
                   "ids": "original", "on_infeasible": "withhold"}  # fmt: skip
    if model == "ppms-alpha":
        options["assume_md"] = "all"
    for period in periods:
        took: dict[str, tuple[float, float]] = {}
        counting = Counting(spark)
        for which, file in files.items():
            watch = StageWatch("grouping")
            carried: dict[str, Any] = {} if which == "here" else {"carrier": counting}
            with Engine(file, dataset=asked.dataset) as engine:
                began = perf_counter()
                made = engine.release.make(
                    period, model=model, seed=1, date="2026-01-01", progress=watch,
                    **options, **carried,
                )  # fmt: skip
                took[which] = watch.seconds, perf_counter() - began
        cases = made.manifest["cases"]
        cells: list[Any] = [period, model, cases["released"], cases["withheld"], counting.parts]
        cells.append(counting.sent >> 10)
        for here, there in zip(took["here"], took["spark"], strict=True):
            cells += [f"{here:.1f}", f"{there:.1f}", f"{there / here:.2f}"]
        print("".join(f"{cell:>16}" for cell in cells), flush=True)


def _compared(files: dict[str, Path], keyed: frozenset[str] = frozenset()) -> Counter[str]:
    """How many rows two warehouses hold alike in every one of ``TABLES``.

    They are told by the name of the table, which each period has in a schema of its own.

    Args:
        files: of the warehouses ``here`` and ``spark``.
        keyed: tables that are left out.

    Raises:
        SystemExit: some differ, or one of them lacks a table.
    """
    rows: Counter[str] = Counter()
    with duckdb.connect() as con:
        for name, file in files.items():
            con.execute(f"ATTACH '{file}' AS {name} (READ_ONLY)")
        for schema, table in con.execute(TABLES).fetchall():
            if table in keyed or table.endswith(DRAWN):
                continue
            place = f'"{schema}"."{table}"'
            both = {name: f"{name}.{place}" for name in files}
            if table.endswith(CHUNKS):
                both = {name: SUBRECORDS.format(place=at) for name, at in both.items()}
            pairs = (("here", "spark"), ("spark", "here"))
            differ = [
                con.execute(
                    f"SELECT count(*) FROM (FROM {both[a]} EXCEPT ALL FROM {both[b]})"
                ).fetchall()[0][0]
                for a, b in pairs
            ]
            if any(differ):
                raise SystemExit(f"{schema}.{table}: {differ} rows are in one of them only")
            rows[table] += con.execute(f"SELECT count(*) FROM {both['here']}").fetchall()[0][0]
    return rows


def _peaks() -> dict[str, int]:
    """MiB that Spark's processes of this machine had at most, as long as they live: the driver, and
    the worker that had most."""
    parents, peaks, kinds = {}, {}, {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError, KeyError):
            status = dict(
                line.split(":", 1) for line in (folder / "status").read_text().splitlines()
            )
            pid, said = int(folder.name), (folder / "cmdline").read_bytes()
            parents[pid], peaks[pid] = int(status["PPid"]), int(status["VmHWM"].split()[0]) >> 10
            kinds[pid] = "driver" if b"org.apache.spark" in said else "worker"
            if kinds[pid] == "worker" and b"pyspark.daemon" not in said:
                del kinds[pid]
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    found: dict[str, int] = {}
    for pid in ours & kinds.keys():
        found[kinds[pid]] = max(found.get(kinds[pid], 0), peaks[pid])
    return found
