"""`verify` finds what the definitions find: k, theta and ids of any table, read by plain Python."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from artifact.conftest import Artifacts
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.artifact import regions, terms, too_frequent, too_small
from oracles.examples import REPEATABLE
from support.artifacts import make, manifest_of, read_csv, rehash, thresholds_of, write_csv
from support.quarters import Report, write_quarter

from srsql import verify
from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough

REGION = ("age_low", "age_high", "wt_low", "wt_high", "sex")


def expected(folder: Path) -> tuple[int, int]:
    """Regions below k, and (region, value) pairs above theta."""
    crowds = regions(read_csv(folder, "demo"), REGION)
    held = terms(
        (row["caseid"], row[column])
        for table, column in (("reac", "pt"), ("indi", "indi_pt"))
        for row in read_csv(folder, table)
    )
    k = manifest_of(folder)["k"]
    return len(too_small(crowds, k)), len(too_frequent(crowds, held, thresholds_of(folder)))


def found(folder: Path) -> tuple[int, int]:
    checks = {check.name: len(check.faults) for check in verify(folder).checks}
    return checks["k"], checks["theta"]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forged")


@settings(REPEATABLE, max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_verify_agrees_with_the_definitions_on_any_forgery(
    kept_artifacts: Artifacts, scratch: Path, seed: int
) -> None:
    rng = random.Random(seed)
    folder = scratch / "out"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(kept_artifacts["ms", "csv"], folder)
    demo = read_csv(folder, "demo")
    for _ in range(rng.randint(0, 4)):
        one, other = rng.sample(demo, 2)
        names = rng.sample(REGION, rng.randint(1, len(REGION)))
        one.update({name: rng.choice([other[name], None, "M"]) for name in names})
    for _ in range(rng.randint(0, 3)):
        demo.pop(rng.randrange(len(demo)))
    reac = read_csv(folder, "reac")
    for _ in range(rng.randint(0, 6)):
        spelling = rng.choice(reac)["pt"] or ""
        rng.choice(reac)["pt"] = rng.choice([spelling.lower(), f"\u00a0{spelling} ", "Else", None])
    cases = {row["caseid"] for row in demo}
    for name, table in (("demo", demo), ("reac", reac)):
        kept = [row for row in table if row["caseid"] in cases]
        kept = [
            {n: "1" if v == "M" and n.endswith(("low", "high")) else v for n, v in row.items()}
            for row in kept
        ]
        write_csv(folder, name, kept)
    for name in ("drug", "indi", "outc"):
        write_csv(folder, name, [r for r in read_csv(folder, name) if r["caseid"] in cases])
    rehash(folder, counts=True)
    assert found(folder) == expected(folder)


@pytest.mark.parametrize("seed", range(2))
def test_every_artifact_of_a_random_series_passes_alone_and_together(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)

    def value(options: list[str]) -> str:
        return rng.choice(options) if rng.random() < 0.85 else ""

    def report(case: int, version: int) -> Report:
        return Report(
            10 * case + version, case,
            age=value([str(n) for n in range(20, 80, 5)]), sex=value(["M", "F"]),
            wt=value(["50", "60", "75"]),
            pt=tuple(f"R{rng.randrange(60)}" for _ in range(rng.randint(1, 3))),
            indi=tuple(f"D{rng.randrange(60)}" for _ in range(rng.randint(0, 2))),
        )  # fmt: skip

    model = rng.choice(["ppms", "ppms-ear", "ppms++", "ppms-alpha"])
    folders = []
    with Engine(tmp_path / "w.duckdb") as engine:
        known = 0
        for number, quarter in enumerate(("2011Q1", "2011Q2")):
            old = [c for c in range(known) if rng.random() < 0.3]
            new = list(range(known, known + rng.randint(30, 60)))
            known += len(new)
            reports = [report(case, number) for case in (*old, *new)]
            engine.ingest([write_quarter(tmp_path, quarter, reports)], allow_incomplete=True)
            options = {"assume_md": "all"} if model == "ppms-alpha" else {}
            engine.release(
                quarter, model=model, k=rng.choice([2, 4]), theta="frequency", seed=seed,
                on_infeasible="withhold", change=True, weaker=True,
                **options,  # type: ignore[arg-type]
            )  # fmt: skip
    form = rng.choice(["parquet", "csv", "duckdb"])
    for quarter in ("2011Q1", "2011Q2"):
        folders.append(make(tmp_path / "w.duckdb", tmp_path / quarter, quarter, format=form))
    together = verify(folders)
    assert together.passed, together.failures
    assert {check.name for check in together.checks} >= {"new k", "new theta", "cover"}
    if form == "csv":
        assert [expected(folder) for folder in folders] == [(0, 0)] * 2
