"""`srsql compare` from end to end: resumption, what is refused, whose files are touched."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from support.advice import task_of
from support.benchmark import load
from support.command import srsql
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.extras.study.results import MEASURED
from srsql.engine.extras.study.worker import _span, run_cell

pytestmark = pytest.mark.slow

GRID = ("--quarters", "2011Q3:2011Q4", "--jobs", 2)


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def results(out: Path) -> pd.DataFrame:
    return pd.read_parquet(out / "results.parquet").drop(columns=list(MEASURED))


@pytest.mark.thorough
def test_a_second_run_does_what_is_missing_and_gives_the_same_table(
    db: Path, tmp_path: Path
) -> None:
    with Engine(db) as engine:
        engine.release("2011Q3", model="ms", seed=1)
    before, out = digest(db), tmp_path / "out"
    grid = (
        "compare", *GRID, "--models", "ms,msdp-num", "--k", "5,1", "--theta", "0.4",
        "--db", db, "--out", out, "--json",
    )  # fmt: skip
    first = srsql(*grid).json
    assert (first["cells"], first["already"]) == (4, 0)
    assert [text[:24] for text in first["errors"]] == [
        "ms, 2011Q3:2011Q4: k is ", "msdp-num, 2011Q3:2011Q4:"
    ]  # fmt: skip
    table = results(out)
    assert set(table["quarter"]) == {"2011Q3", "2011Q4", "2011Q3:2011Q4"}  # the range: refused
    assert {"nil_star", "dir", "audit_ssgr", "stage", "rows"} <= set(table["measure"])
    csv = pd.read_csv(out / "results.csv", dtype=str, keep_default_na=False)
    assert len(csv) == len(table) == first["rows"]
    assert (out / "compare.html").read_text().startswith("<!DOCTYPE html>")

    cells = sorted((out / "cells").iterdir())
    assert len(cells) == 2
    kept = cells[0].stat().st_mtime_ns
    cells[1].write_text('{"rows"')  # damaged, as if never finished
    second = srsql(*grid).json
    assert second["already"] == 1
    assert cells[0].stat().st_mtime_ns == kept
    pd.testing.assert_frame_equal(results(out), table)
    assert digest(db) == before
    assert sorted(os.listdir(out / "cells")) == [cell.name for cell in cells]


@pytest.mark.thorough
def test_a_run_killed_half_way_leaves_what_was_finished_and_no_worker(
    db: Path, tmp_path: Path
) -> None:
    before, out = digest(db), tmp_path / "out"
    grid = [
        "compare", "--quarters", "2011Q3", "--models", "k-anonymity", "--k", "3,4,5",
        "--db", str(db), "--out", str(out), "--jobs", "1",
    ]  # fmt: skip
    killed = subprocess.Popen([sys.executable, "-P", "-m", "srsql.cli", *grid])
    deadline = time.monotonic() + 120
    while not list(out.glob("cells/*.json")):
        assert time.monotonic() < deadline
        assert killed.poll() is None
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    (scratch,) = db.parent.glob(".w.duckdb.*.scratch")
    assert scratch.stat().st_mode & 0o777 == 0o700
    assert not list(out.rglob("*.duckdb"))
    finished = {file: file.stat().st_mtime_ns for file in out.glob("cells/*.json")}
    assert 1 <= len(finished) < 3
    assert not (out / "results.parquet").exists()

    made = srsql(*grid, "--json").json
    assert (made["cells"], made["errors"]) == (3, [])
    assert made["already"] in (len(finished), len(finished) + 1)  # one may have ended meanwhile
    assert {file: file.stat().st_mtime_ns for file in finished} == finished
    assert not scratch.exists()
    assert digest(db) == before


@pytest.mark.thorough
def test_a_quarter_that_is_refused_is_a_row_with_the_reason_and_the_others_go_on(
    db: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    pair = ("--drug", "Drug 1", "--reaction", "Reaction 01", "--min-age", 18)
    grid = ("compare", *GRID, "--models", "ppms-alpha", *pair, "--db", db, "--out", out)
    answer = srsql(*grid)
    assert answer.code == 0
    assert "ppms-alpha needs the cases of the quarter after 2011Q4" in answer.out
    table = results(out)
    failed = table[table["error"].notna()]
    assert failed[["quarter", "measure"]].values.tolist() == [["2011Q4", "release"]]
    kept = table[table["quarter"] == "2011Q3"].set_index("measure")
    assert "nil" in kept.index
    assert kept.loc["signal_a", "scope"] == "Drug 1, age >= 18 => Reaction 01"
    assert kept.loc["signal_a", "total"] > 0
    assert "1 cells, 1 of them finished before" in srsql(*grid).out


def test_a_range_with_a_refused_quarter_is_not_compared_with_the_whole_range() -> None:
    asked = ["2011Q1", "2011Q2", "2011Q3", "2011Q4"]
    assert _span(asked, asked) == "2011Q1:2011Q4"
    assert _span(asked, asked[:2]) == "2011Q1:2011Q2"
    assert _span(asked, ["2011Q1", "2011Q3", "2011Q4"]) == "2011Q1:2011Q4 without 2011Q2"


@pytest.mark.thorough
def test_a_series_that_is_called_like_the_comparison_is_no_part_of_it(
    db: Path, tmp_path: Path
) -> None:
    found = []
    for name in ("compared", "compared_2", None):
        task = task_of(db, tmp_path / f"own_{name}.duckdb", "2011Q4", {"model": "ppms++"})
        rows = run_cell(task | {"cases": None, "signals": {}}, lambda _: None)
        assert not [row["error"] for row in rows if row.get("error")]
        found.append({(r["measure"], r["scope"]): r["ratio"] for r in rows if "ratio" in r})
        with Engine(db) as engine:
            if name:
                engine.release(
                    "2011Q3", model="ms", k=9, series=name, on_infeasible="withhold",
                    allow_linkable=True,
                )  # fmt: skip
    assert found[0] == found[1] == found[2]


@pytest.mark.thorough
def test_what_no_released_case_can_tell_has_no_value_and_dropped_originals_are_not_compared(
    tmp_path: Path,
) -> None:
    reports = [replace(r, age="" if n % 3 else r.age) for n, r in enumerate(crowd(90, terms=3))]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", reports)])
    asked = {"drug": "Drug 1", "reaction": "Reaction 01"}
    table = {}
    for medical in (False, True):
        if medical:  # a disease of women alone, which half of the cases cannot have
            known = [replace(r, indi=("Breast cancer",)) for r in reports]
            with Engine(tmp_path / "w.duckdb") as engine:
                engine.ingest([write_quarter(tmp_path, "2011Q4", known)], replace=True)
        scratch = tmp_path / f"own_{medical}.duckdb"
        task = task_of(tmp_path / "w.duckdb", scratch, "2011Q4",
                       {"model": "ppms++", "missing": "drop", "theta": "1"})  # fmt: skip
        rows = run_cell(task | {"cases": None, "signals": asked}, lambda _: None)
        assert not [row["error"] for row in rows if row.get("error")]
        rows = [row | {"model": "ppms++", "theta": "1", "k": 5} for row in rows]
        table[medical] = {(r["measure"], r["scope"]): r for r in rows if "ratio" in r}
        of_knowledge = {
            c.id: c.judge(rows).outcome
            for c in load("papers.claims").CLAIMS
            if c.place == "Fig. 10"
        }
        assert (of_knowledge["rr-bias-without-noise"] == "cannot be told") is not medical
    scope = "Drug 1 => Reaction 01"
    complete = [r for r in reports if r.age]
    held = sum(r.drugs == ("Drug 1",) and r.pt == ("Reaction 01",) for r in complete)
    assert table[False]["signal_a", scope]["total"] == held
    assert table[False]["signal_a_change", scope]["ratio"] == 0
    kept, lost, undecided = (
        table[False][f"signals_{what}", "signal_prr"] for what in ("kept", "lost", "undecided")
    )
    assert kept["violating"] == kept["total"]
    assert lost["violating"] == undecided["violating"] == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--models", "mss"), "mss"),
        (("--models", ""), "at least one model"),
        (("--models", "ms", "--k", "five"), "five"),
        (("--models", "ms", "--k", "1"), "no cell of the grid can be run: k is 1"),
        (("--models", "ms", "--theta", "often"), "not a threshold"),
        (("--models", "ms", "--quarters", "2011Q4:2011Q3"), "comes after"),
        (("--models", "ms", "--quarters", "2012Q1"), "ingest it first"),
        (("--models", "ms", "--rules", "none.csv"), "none.csv: cannot be read"),
        (("--models", "ms", "--drug", "a"), "--reaction"),
        (("--models", "ms", "--cases", "20,61"), "--cases 61: 2011Q3 has 60 cases"),
        (("--models", "ms", "--db", "none.duckdb"), "no warehouse at none.duckdb"),
        (("--models", "ms", "--out", "w.duckdb"), "w.duckdb"),
    ],
)
def test_what_means_nothing_ends_with_one_line_and_makes_nothing(
    db: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(db.parent)
    before = sorted(os.listdir())
    answer = srsql("compare", "--quarters", "2011Q3", "--db", "w.duckdb", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert len(answer.err.splitlines()) == 1
    assert sorted(os.listdir()) == before


@pytest.mark.thorough
def test_where_no_worker_ends_well_nothing_is_written(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "srsql.engine.extras.study.study.run",
        lambda warehouse, dataset, todo, *_: {file: "the worker failed: x" for _, file in todo},
    )
    out = tmp_path / "out"
    answer = srsql("compare", *GRID, "--models", "ms", "--db", db, "--out", out)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.strip() == "srsql: no cell was measured: the worker failed: x"
    assert not list(out.glob("results.*"))
