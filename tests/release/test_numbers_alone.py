"""Series of a dataset all of whose quasi-identifiers are numbers, so that no hierarchy is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.lanes import thorough_but

from srsql import Engine

pytestmark = pytest.mark.slow

DATASET = """
name = "visits"
report_table = "visit"
report_id = "visit_id"
case_id = "patient_id"

[source]
reader = "csv"

[tables.visit]
files = ["visit*.csv"]
publish = ["finding"]
columns = ["visit_id", "patient_id", "age", "finding"]

[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]

[[sensitive]]
table = "visit"
column = "finding"
"""
PERIODS = ("2011Q1", "2011Q2", "2011Q3")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Three periods of thirty patients, a third of whom come again in the next one."""
    (tmp_path / "visits.toml").write_text(DATASET, encoding="utf-8")
    for number, period in enumerate(PERIODS):
        patients = range(20 * number, 20 * number + 30)
        rows = [f"{10 * p + number},{p},{20 + p % 50},F{p % 7}" for p in patients]
        (tmp_path / period).mkdir()
        text = "\n".join(["visit_id,patient_id,age,finding", *rows, ""])
        (tmp_path / period / "visit.csv").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("model", "options"),
    thorough_but(
        [("ppms++", {})],
        [
            ("ppms", {}),
            ("ppms++", {}),
            ("ppms-alpha", {"assume_md": "all"}),
            ("ppms-stay", {}),
            ("ms", {}),
        ],
    ),
)
def test_a_second_period_is_released_and_audited(
    visits: Path, model: str, options: dict[str, Any]
) -> None:
    """DuckDB 2.0 could not plan what joined the empty table of nodes within the transaction."""
    with Engine(visits / "w.duckdb", dataset=str(visits / "visits.toml")) as engine:
        for period in PERIODS:
            engine.ingest([visits / period], period=period)
        given = {"k": 3, "theta": "0.5", "seed": 1, "on_infeasible": "withhold", **options}
        for period in PERIODS[:2]:
            assert engine.release(period, model=model, **given).status == "released"
        assert {row.quarter for row in engine.audit().releases} == set(PERIODS[:2])
