"""One run of srsql: ``python -m benchmarks.peers.ours TASK`` with the task as JSON."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb
import pandas as pd

from benchmarks.kernel import peak_mib
from srsql import Engine, install

QUARTER = "2011Q1"
DATASET = """
name = "people"
report_table = "people"
report_id = "row"
case_id = "row"
id_type = "integer"

[source]
reader = "csv"

[tables.people]
files = ["people*.csv"]
publish = ["term"]
columns = ["row", "age", "wt", "sex", "term"]

[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]

[[qid]]
name = "wt"
kind = "numeric"
column = "wt"
domain = [0, 400]

[[qid]]
name = "sex"
kind = "categorical"
column = "sex"
hierarchy = "sex.csv"

[[sensitive]]
table = "people"
column = "term"
"""
RELEASED = """
SELECT
    d."row", d.age_low, d.age_high, d.wt_low, d.wt_high,
    CASE WHEN d.sex <> 'Any' THEN d.sex END AS sex,
    upper(d.term) AS term
FROM release_2011q1.people AS d
ORDER BY d."row"
"""
WARM_ROWS = 300


def write_dataset(folder: Path) -> Path:
    """The dataset of the table of people, with its hierarchy, in a folder; its file."""
    dataset = folder / "people.toml"
    dataset.write_text(DATASET)
    dataset.with_name("sex.csv").write_text("node,parent\nAny,\nM,Any\nF,Any\n")
    return dataset


def anonymize(task: dict[str, Any]) -> dict[str, Any]:
    """From the file to the released table in memory: ingestion, release with its checks, reading.

    A first, small run loads the kernels; its time is told apart. With ``few`` it is the only one:
    on the first use of an installation they are compiled, which takes memory of its own.
    """
    people = Path(task["people"])
    before = peak_mib()
    with tempfile.TemporaryDirectory() as folder:
        dataset = write_dataset(Path(folder))
        few = dataset.with_name("people_few.csv")
        pd.read_csv(people, nrows=WARM_ROWS).to_csv(few, index=False)
        began = perf_counter()
        _release(few, dataset, "few", task)
        warm_up = perf_counter() - began
        if task.get("few"):
            return {"warm_up": warm_up}
        began = perf_counter()
        released, parts = _release(people, dataset, "all", task)
        seconds, peak = perf_counter() - began, peak_mib()
    released.to_csv(task["released"], index=False)
    cost = {"seconds": seconds, "peak_mib": peak, "import_mib": before}
    return {**cost, "warm_up": warm_up, "parts": parts}


def _release(
    people: Path, dataset: Path, name: str, task: dict[str, Any]
) -> tuple[pd.DataFrame, dict[str, float]]:
    parts = [perf_counter()]
    with Engine(dataset.with_name(f"{name}.duckdb"), dataset=dataset) as engine:
        engine.ingest([people], period=QUARTER)
        parts.append(perf_counter())
        names = ("model", "k", "l", "alpha", "theta", "refine")
        options = {key: task[key] for key in names if key in task}
        engine.release.make(QUARTER, seed=1, on_infeasible="withhold", ids="original", **options)
        parts.append(perf_counter())
        released = engine.con.execute(RELEASED).df()
        parts.append(perf_counter())
    stages = ("ingest", "release", "read")
    return released, {n: b - a for n, a, b in zip(stages, parts, parts[1:], strict=False)}


def check(task: dict[str, Any]) -> dict[str, Any]:
    """Whether a released table keeps k, l and alpha as told, and nothing better, by our checks.

    The told numbers are tight if each check passes for them and fails for the next.
    """
    told, con = task["told"], duckdb.connect()
    install(con)
    began = perf_counter()
    con.execute(
        'CREATE TEMP TABLE seen_row AS SELECT p."row" AS report_id, row(p.age_low, p.age_high,'
        " p.wt_low, p.wt_high, p.sex)::VARCHAR AS region, p.term"
        " FROM read_csv($1, all_varchar = true) AS p",
        [task["released"]],
    )
    con.execute(
        "CREATE TEMP TABLE seen_value AS SELECT r.report_id, 'term' AS attribute, r.term"
        " FROM temp.main.seen_row AS r"
    )
    alpha = Fraction(told["alpha"]).limit_denominator(10**6)
    kept = [_passes(con, told["k"], told["l"], alpha)]
    seconds = perf_counter() - began
    below = alpha - Fraction(1, 10**9)
    kept.append(_passes(con, told["k"] + 1, told["l"] + 1, below))
    con.close()
    same = kept == [(True, True, True), (False, False, False)]
    return {"seconds": seconds, "peak_mib": peak_mib(), "same": same}


def _passes(
    con: duckdb.DuckDBPyConnection, k: int, least: int, alpha: Fraction
) -> tuple[bool, ...]:
    rows, values = "'temp.main.seen_row'", "'temp.main.seen_value'"
    calls = (
        f"check_reports({rows}, {k:d}, 0)",
        f"check_values({rows}, {values}, ['term'], {least:d}, 0)",
        f"check_alpha({rows}, {values}, {alpha.numerator:d}, {alpha.denominator:d}, 0)",
    )
    found = [con.execute(f"SELECT c.passed FROM srsql.{call} AS c").fetchall() for call in calls]
    return tuple(bool(row[0][0]) for row in found)


if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    limit = task["memory_mib"] * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    print(json.dumps(check(task) if task["tool"] == "check" else anonymize(task)))
