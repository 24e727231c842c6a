"""A bare DuckDB client audits real quarters as ``srsql audit`` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.bare import answers
from support.command import srsql
from support.real_data import needs

pytestmark = [pytest.mark.thorough, needs("faers_als")]
COMING = "CREATE TEMP VIEW coming AS SELECT caseid AS case_id, quarter FROM raw_faers.demo"
FIGURES = ("attacks", "not_evaluated", "groups", "dig", "dsg", "ssg", "persistence", "outside")


@pytest.mark.parametrize(
    ("model", "periods", "safe"),
    [("ppms-alpha", "2021Q2:2022Q4", True), ("ms", "2012Q3:2016Q4", False)],
)
def test_every_figure_of_a_real_series_is_that_of_srsql_audit(
    tmp_path: Path, real: Any, model: str, periods: str, safe: bool
) -> None:
    db = real("als", tmp_path / "als.duckdb")
    levels = tmp_path / "levels.csv"
    levels.write_text("value,theta\nAmyotrophic lateral sclerosis,1\n*,0.5\n")
    made = srsql(
        "release", "--db", db, "--quarter", periods, "--model", model, "--k", 3,
        "--theta", f"levels:{levels}", "--on-infeasible", "withhold",
        "--seed", 1, "--json",
    )  # fmt: skip
    assert made.code == 0, made.err
    found = srsql("audit", "--db", db, "--json").json
    _, rows = answers(db, [COMING, "FROM srsql.audit(reports := 'coming')"])
    told = [tuple(row[name] for name in (*FIGURES, "scope", "release_id")) for row in rows]
    due = [
        tuple(row[name] for name in (*FIGURES, "scope", "release_id")) for row in found["releases"]
    ]
    assert told == due
    assert all(row["safe"] for row in rows) == found["safe"] == safe
