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


@needs("faers")
def test_the_real_quarter_of_2022_is_audited_attacked_and_measured_as_by_srsql(
    tmp_path: Path, real: Any
) -> None:
    db = real("2022Q4", tmp_path / "w.duckdb")
    made = srsql(
        "release", "--db", db, "--quarter", "2022Q4", "--k", 5, "--theta", "frequency",
        "--seed", 1, "--json",
    )  # fmt: skip
    assert made.code == 0, made.err
    of_quarter = ("--db", db, "--quarter", "2022Q4", "--json")
    audited = srsql("audit", "--db", db, "--json").json
    attacked = srsql("attack", *of_quarter[:4], "--qid", "age=65", "--qid", "sex=F", "--json").json
    measured = srsql("metrics", *of_quarter).json
    audit, attack, metrics = answers(
        db,
        [
            "FROM srsql.audit()",
            "FROM srsql.attack('2022Q4', {'age': 65, 'sex': 'F'})",
            "FROM srsql.metrics('2022Q4')",
        ],
    )
    told = [tuple(row[name] for name in (*FIGURES, "scope")) for row in audit]
    assert told == [tuple(row[name] for name in (*FIGURES, "scope")) for row in audited["releases"]]
    assert all(row["safe"] and row["agrees"] for row in audit)
    assert audited["safe"]
    (candidates,) = [row["cases"] for row in attack if row["step"] == "candidates"]
    assert candidates == len(attacked["candidates"])
    due = {(row["measure"], row["scope"]): row["ratio"] for row in measured}
    for row in metrics:
        if row["measure"] in ("nil", "dr"):
            assert row["ratio"] == pytest.approx(due[row["measure"], row["scope"]], abs=1e-12)
            assert row["agrees"]
