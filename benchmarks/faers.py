"""The quarters of FAERS at a scale, stage by stage: seconds, processor time, peak memory, growth.

Each quarter has the row counts of the real one times the scale. It is written, ingested and
released, and its files are removed; when the last one that was asked for is out, the series is
audited in full. What was measured stands in the warehouse (schema ``benchmark``), so that a later
run goes on where one ended, in pieces (``--from``, ``--to``) where the whole takes too long.

``--ahead`` has the archives of all quarters written first, and takes each quarter in while the one
before it is released, as ``srsql release --quarter A:B --ingest FOLDER`` does: what is measured of
a quarter then is both together, and the archives go at the end.

The exponents are those of: time = c · reports^a · number^b, fitted by least squares to the
logarithms over all quarters and scales that were measured. a = 1 is linear in the reports of the
quarter, b = 0 says that the quarters before it cost nothing. One scale tells little of a where
quarters are alike, and few quarters nothing of b: then it is not shown.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

from benchmarks.history import around
from benchmarks.kernel import peak_mib
from benchmarks.stage_watch import StageWatch
from srsql import Engine
from srsql.engine.extras.synth import quarter_range, synthesize
from srsql.engine.extras.synth.quarters import archive_name, index_of, label_of, real_counts

TOGETHER = "ingest and release"
STAGES = ("synth", "ingest", "release", TOGETHER, "audit in release", "audit in full")
LEAST_POINTS = 8
"""Quarters below which nothing is fitted."""
LEAST_SPREAD = 0.2
"""Standard deviation of a logarithm below which it explains nothing."""
LAYOUT = """
CREATE SCHEMA IF NOT EXISTS benchmark;
CREATE TABLE IF NOT EXISTS benchmark.asked (options VARCHAR);
CREATE TABLE IF NOT EXISTS benchmark.stage (
    number INTEGER, quarter VARCHAR, stage VARCHAR, reports BIGINT,
    seconds DOUBLE, cpu DOUBLE, peak_mib DOUBLE, PRIMARY KEY (quarter, stage)
);
"""
Row = tuple[int, str, str, int, float, float, float]
"""Number of the quarter from 1, quarter, stage, reports, seconds, processor time, peak in MiB."""


def forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


class Series:
    """The quarters of one scale in their warehouse."""

    def __init__(self, engine: Engine, scale: float, options: dict[str, str | int]) -> None:
        self.engine, self.scale, self.options = engine, scale, options
        for statement in LAYOUT.split(";\n")[:-1]:
            engine.con.execute(statement)
        asked = json.dumps({"scale": scale, **options}, sort_keys=True)
        before = engine.sql("SELECT options FROM benchmark.asked")
        if before and before[0][0] != asked:
            raise SystemExit(f"this warehouse has a run of its own ({before[0][0]}): ask for that")
        if not before:
            engine.con.execute("INSERT INTO benchmark.asked VALUES (?)", [asked])

    def rows(self) -> list[Row]:
        return self.engine.sql("SELECT * FROM benchmark.stage ORDER BY number, stage")

    def keep(self, quarter: str, stage: str, spent: tuple[float, float, float]) -> None:
        first = min(real_counts())
        index = index_of(quarter)
        reports = round(real_counts()[index]["demo"] * self.scale)
        row = (index - first + 1, quarter, stage, reports, *spent)
        self.engine.con.execute(
            "INSERT OR REPLACE INTO benchmark.stage VALUES (?, ?, ?, ?, ?, ?, ?)", row
        )

    @contextmanager
    def measured(self, quarter: str, stage: str) -> Iterator[None]:
        """Keep what the block takes, once it has ended well."""
        forget_peak()
        seconds, cpu = perf_counter(), process_time()
        yield
        self.keep(quarter, stage, (perf_counter() - seconds, process_time() - cpu, peak_mib()))

    def has(self, table: str, quarter: str) -> bool:
        """Whether the quarter is ingested or released, as the catalog says."""
        found = self.engine.sql(f"SELECT count(*) FROM srsql.{table} WHERE quarter = ?", [quarter])
        return bool(found[0][0])

    def take(self, quarter: str, folder: Path) -> None:
        """Write, ingest and release one quarter, as far as that has not been done."""
        if not self.has("ingestion", quarter):
            with self.measured(quarter, "synth"):
                written = synthesize(folder, [quarter], scale=self.scale)
            with self.measured(quarter, "ingest"):
                self.engine.ingest(written)
            for path in written:
                path.unlink()
        if not self.has("release", quarter):
            audit = StageWatch("audit")
            with self.measured(quarter, "release"):
                self.engine.release.make(quarter, seed=1, progress=audit, **self.options)
            self.keep(quarter, "audit in release", (audit.seconds, audit.cpu, peak_mib()))

    def take_ahead(self, quarters: Sequence[str], folder: Path) -> None:
        """Write the archives of all quarters; take in and release these in one range."""
        todo = [quarter for quarter in quarters if not self.has("release", quarter)]
        for quarter in todo:
            if (
                folder / f"{archive_name(index_of(quarter), quarter)}.zip"
            ).exists():  # of a run that ended
                continue
            with self.measured(quarter, "synth"):
                synthesize(folder, [quarter], scale=self.scale)
        if todo:
            self.engine.con.execute("DELETE FROM benchmark.stage WHERE stage = 'audit in full'")
            turns = Turns(self)
            ends = f"{quarters[0]}:{quarters[-1]}"
            self.engine.release.make_range(
                ends, sources=[folder], seed=1, progress=turns, **self.options
            )
            turns("")

    def audit(self, quarter: str) -> None:
        """Audit the series in full, with this quarter as its last."""
        self.engine.con.execute("DELETE FROM benchmark.stage WHERE stage = 'audit in full'")
        with self.measured(quarter, "audit in full"):
            found = self.engine.audit.run()
        if not found.safe:
            raise SystemExit("the audit found somebody in danger: figures of it mean nothing")


class Turns:
    """Told each stage of a range: keeps what each quarter takes, and the audit in full."""

    def __init__(self, series: Series) -> None:
        self._series = series
        self._of: tuple[str, str] | None = None
        self._began = (perf_counter(), process_time())
        self._audit = StageWatch("audit")
        forget_peak()

    def __call__(self, said: str) -> None:
        """A stage begins; with it perhaps a quarter, which is the end of the one before."""
        place, _, stage = said.rpartition(": ")
        quarter = place.rpartition("; ")[2]
        of = (quarter, TOGETHER) if quarter else (self._last, "audit in full") if said else None
        if of != self._of:
            self._end()
            self._of = of
        self._audit(stage)

    @property
    def _last(self) -> str:
        return self._of[0] if self._of else ""

    def _end(self) -> None:
        if self._of is None:  # the first quarter is taken in before its first stage
            return
        now = (perf_counter(), process_time())
        spent = (now[0] - self._began[0], now[1] - self._began[1], peak_mib())
        self._series.keep(*self._of, spent)
        if self._of[1] == TOGETHER:
            audit = (self._audit.seconds, self._audit.cpu, spent[2])
            self._series.keep(self._of[0], "audit in release", audit)
            print(f"scale {self._series.scale:g}: {self._of[0]} is out", flush=True)
        self._began, self._audit = now, StageWatch("audit")
        forget_peak()


def exponents(rows: Sequence[Row]) -> tuple[float | None, float | None]:
    """Exponents of processor time over reports and over the number of the quarter, where fitted."""
    points = np.array([(row[3], row[0], row[5]) for row in rows if row[5] > 0 and row[3] > 0])
    if len(points) < LEAST_POINTS:
        return None, None
    logs = np.log(points)
    fitted = [i for i in range(2) if logs[:, i].std() >= LEAST_SPREAD]
    columns = np.column_stack([np.ones(len(logs)), logs[:, fitted]])
    found = np.linalg.lstsq(columns, logs[:, 2], rcond=None)[0]
    by = dict(zip(fitted, found[1:].tolist(), strict=True))
    return by.get(0), by.get(1)


def growth(rows: Sequence[Row]) -> float | None:
    """Processor time per report of the last quarters beside those around the tenth."""
    share = [row[5] / max(1, row[3]) for row in sorted(rows)]
    if len(share) <= 10:
        return None
    return around(share, len(share)) / max(around(share, 10), 1e-12)


def show(found: dict[float, list[Row]]) -> None:
    """Print a table of each scale, and the exponents over all of them."""
    head = ("stage", "quarters", "seconds", "cpu s", "µs a report", "peak MiB", "last to 10th")
    for scale, rows in found.items():
        print(f"\nscale {scale:g}")
        print("".join(f"{cell:>18}" for cell in head))
        for stage in STAGES:
            of = [row for row in rows if row[2] == stage]
            if not of:
                continue
            cpu, grown = sum(row[5] for row in of), growth(of)
            own = ("release", TOGETHER) if stage == "audit in full" else (stage,)
            reports = sum(row[3] for row in rows if row[2] in own)  # that it goes through
            cells = [
                stage, str(len(of)), f"{sum(row[4] for row in of):.1f}", f"{cpu:.1f}",
                f"{cpu / max(1, reports) * 1e6:.1f}", f"{max(row[6] for row in of):.0f}",
                "" if grown is None else f"{grown:.2f}",
            ]  # fmt: skip
            print("".join(f"{cell:>18}" for cell in cells), flush=True)
    print("\nprocessor time grows with  reports^a   number of the quarter^b")
    for stage in STAGES[:-1]:
        fits = exponents([row for rows in found.values() for row in rows if row[2] == stage])
        a, b = ("-" if fit is None else f"{fit:.2f}" for fit in fits)
        print(f"{stage:>25}  {a:>9}   {b:>23}")


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(
        "python -m benchmarks faers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    labels = [label_of(index) for index in sorted(real_counts())]
    whole.add_argument("--scale", type=float, nargs="+", default=[0.005, 0.01])
    whole.add_argument("--from", dest="first", default=labels[0])
    whole.add_argument("--to", dest="last", default=labels[-1])
    whole.add_argument("--folder", type=Path, help="keep the warehouses there, and go on with them")
    whole.add_argument("--model", default="ppms++")
    whole.add_argument("--k", type=int, default=5)
    whole.add_argument("--theta", default="0.4")
    whole.add_argument("--refine", default="off", help="off, fast or full")
    whole.add_argument("--ahead", action="store_true", help="ingest while releases are made")
    whole.add_argument("--memory-limit", help="of the process, such as 6GB")
    whole.add_argument("--small", action="store_true", help="twelve quarters: does it run at all")
    return whole


def run(
    folder: Path, scale: float, quarters: Sequence[str], asked: argparse.Namespace
) -> list[Row]:
    """The figures of one scale, once all its quarters are out."""
    options = {"model": asked.model, "k": asked.k, "theta": asked.theta, "refine": asked.refine}
    files = folder / f"files-{scale:g}"
    with Engine(folder / f"faers-{scale:g}.duckdb", memory_limit=asked.memory_limit) as engine:
        series = Series(engine, scale, options)
        if asked.ahead:
            series.take_ahead(quarters, files)
        else:
            for quarter in quarters:
                series.take(quarter, files)
                print(f"scale {scale:g}: {quarter} is out", flush=True)
            series.audit(quarters[-1])
        shutil.rmtree(files, ignore_errors=True)
        return series.rows()


def command(arguments: Sequence[str]) -> None:
    """Measure and print; see the module."""
    asked = parser().parse_args(arguments)
    if asked.small:
        asked.scale, asked.last = [0.002, 0.004], label_of(min(real_counts()) + 11)
    quarters = quarter_range(asked.first, asked.last)
    with TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        show({scale: run(folder, scale, quarters, asked) for scale in asked.scale})
