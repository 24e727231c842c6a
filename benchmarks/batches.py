"""A year in weekly batches against four quarters of the same cases: loss, delay, what is withheld.

The year is one whose 52 weeks have just the synthetic reports of its four quarters (2018, 2024).
Each row releases the whole year as a series of its own. NIL is that of all released cases together;
withheld and waiting are shares of the year's reports: those that no release has, and those of them
that still wait when the year is over. Days are those from the receipt of a released report to the
end of the period that it is released in; periods are how many of them the cases of a release
waited.
The command fails if a released group is in danger, or if a report is in two releases. Seconds are
those of the processor, without ingestion.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from srsql import Engine
from srsql.engine.catalog.periods import days_of
from srsql.engine.extras.synth import quarter_range, synthesize

YEARS = (2018, 2024)
HEAD = (
    "| periods | max delay | cases | groups | NIL | withheld | waiting | days, median | 95 % "
    "| periods, median | 95 % | seconds |"
)
LOSS = """
SELECT sum(m.violating) / sum(m.total)
FROM srsql.measure AS m
INNER JOIN srsql.release AS r ON m.release_id = r.release_id
WHERE m.measure = 'nil' AND r.series = $series
"""
COUNTS = """
SELECT count(DISTINCT m.case_id), count(DISTINCT (m.release_id, m.group_id)), sum(m.reports)
FROM srsql.member AS m
INNER JOIN srsql.release AS r ON m.release_id = r.release_id
WHERE r.series = $series
"""
WAITING = """
SELECT coalesce(sum(w.reports), 0)
FROM srsql.withheld AS w
SEMI JOIN srsql.waiting AS p ON w.release_id = p.release_id AND w.case_id = p.case_id
WHERE w.release_id = (SELECT max(r.release_id) FROM srsql.release AS r WHERE r.series = $series)
"""
RELEASES = "SELECT r.release_id FROM srsql.release AS r WHERE r.series = $series ORDER BY ALL"
RELEASED = """
SELECT r.quarter, d.delay, t.primaryid, strptime(t.fda_dt, '%Y%m%d')::DATE
FROM srsql.member_delays($release) AS d
INNER JOIN srsql.release AS r ON r.release_id = $release
INNER JOIN raw_faers.demo AS t
    ON d.case_id = t.caseid::VARCHAR AND t.quarter BETWEEN d.since AND r.quarter
"""


def warehouse(folder: Path, year: int, cases: int, *, weeks: bool) -> tuple[Path, str]:
    """A warehouse with the year, and its range of periods."""
    first, last = (f"{year}W01", f"{year}W52") if weeks else (f"{year}Q1", f"{year}Q4")
    name = "weeks" if weeks else "quarters"
    files = synthesize(folder / name, quarter_range(first, last), cases=cases, seed=1)
    path = folder / f"{name}.duckdb"
    with Engine(path) as engine:
        engine.ingest(files)
    return path, f"{first}:{last}"


def quantile(values: Sequence[int], share: float) -> int:
    """The value that so many do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def measured(path: Path, periods: str, series: str, options: dict[str, Any]) -> list[Any]:
    """The cells of a row after the first two."""
    own = {"series": series}
    with Engine(path) as engine:
        ((reports,),) = engine.sql("SELECT count(*) FROM raw_faers.demo")
        began = process_time()
        made = engine.release.make_range(
            periods, series=series, seed=1, on_infeasible="withhold", allow_linkable=True, **options
        )
        seconds = process_time() - began
        assert made.audit is None or made.audit.safe, f"{series}: {made.audit}"
        ((nil,),), ((cases, groups, released),), ((waiting,),) = (
            engine.warehouse.rows(text, own) for text in (LOSS, COUNTS, WAITING)
        )
        rows = [
            row
            for (release,) in engine.warehouse.rows(RELEASES, own)
            for row in engine.warehouse.rows(RELEASED, {"release": release})
        ]
    assert len(rows) == len({row[2] for row in rows}) == released, "a report is released twice"
    ends = {label: date.fromisoformat((days_of(label) or ("", ""))[1]) for label, *_ in rows}
    days = [(ends[label] - received).days for label, _, _, received in rows]
    delays = [row[1] for row in rows]
    return [
        f"{cases:,}", f"{groups:,}", f"{nil:.4f}", f"{(reports - released) / reports:.2%}",
        f"{waiting / reports:.2%}", quantile(days, 0.5), quantile(days, 0.95),
        quantile(delays, 0.5), quantile(delays, 0.95), f"{seconds:.0f}",
    ]  # fmt: skip


def command(arguments: list[str]) -> None:
    """``python -m benchmarks batches [--year 2024] [--cases 3000] [--max-delay 0,1,4] ...``"""
    parser = argparse.ArgumentParser(prog="python -m benchmarks batches", description=__doc__)
    parser.add_argument("--year", type=int, choices=YEARS, default=2024)
    parser.add_argument("--cases", type=int, default=3000, help="new ones of every quarter")
    parser.add_argument("--max-delay", default="0,1,4", help="of weeks, with commas; 0: none waits")
    parser.add_argument("--model", default="ppms++")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--theta", default="frequency", help="as of release")
    asked = parser.parse_args(arguments)
    options = {"model": asked.model, "k": asked.k, "theta": asked.theta}
    print(HEAD, "|" + " --- |" * (HEAD.count("|") - 1), sep="\n")
    with TemporaryDirectory() as name:
        path, periods = warehouse(Path(name), asked.year, asked.cases, weeks=False)
        cells = measured(path, periods, "quarters", options)
        print("| quarters | none |", " | ".join(map(str, cells)), "|", flush=True)
        path, periods = warehouse(Path(name), asked.year, asked.cases, weeks=True)
        for most in map(int, asked.max_delay.split(",")):
            held = options | ({"max_delay": most} if most else {})
            cells = measured(path, periods, f"weeks{most}", held)
            print(f"| weeks | {most or 'none'} |", " | ".join(map(str, cells)), "|", flush=True)


def main(small: bool) -> None:
    """As ``python -m benchmarks batches``, or small."""
    command(["--cases", "300", "--max-delay", "0,2"] if small else [])
