"""Cases of one report with one value have what they have where reports and values are gathered."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from support.lanes import thorough_but
from support.persons import suspect

from srsql import Engine
from srsql.engine.grouping import cases

pytestmark = pytest.mark.slow

DATASET = """
name = "visits"
report_table = "visit"
report_id = "{report_id}"
case_id = "patient_id"
id_type = "{id_type}"

[source]
reader = "csv"

[tables.visit]
files = ["visit*.csv"]
publish = ["finding"]
columns = ["visit_id", "patient_id", "age", "weight", "finding"]

[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]

[[qid]]
name = "weight"
kind = "numeric"
column = "weight"
domain = [0, 200]

[[sensitive]]
table = "visit"
column = "finding"
"""
PERIODS = ("2011Q1", "2011Q2")
KEPT = ("member", "region", "case_term", "case_qid", "case_flag", "threshold", "ss_rule", "measure")


def series(folder: Path, text: str, model: str, visits: int, **options: Any) -> dict[str, Any]:
    """What the catalog keeps of two periods, and what is released of them."""
    luck = random.Random(8)
    folder.mkdir()
    dataset = folder / "visits.toml"
    dataset.write_text(text, encoding="utf-8")
    with Engine(folder / "w.duckdb", dataset=dataset, threads=2) as engine:
        for number, period in enumerate(PERIODS):
            rows = ["visit_id,patient_id,age,weight,finding"]
            for at in range(120):
                patient = 40 * number + at
                for visit in range(visits if at % 9 == 0 else 1):
                    known = [luck.choice([luck.randint(20, 90), ""]) for _ in range(2)]
                    finding = luck.choice(["", *(f"F{i}" for i in range(9))])
                    values = [10 * patient + visit, patient, *known, finding]
                    rows.append(",".join(map(str, values)))
            file = folder / f"visit_{number}.csv"
            file.write_text("\n".join([*rows, ""]), encoding="utf-8")
            engine.ingest([file], period=period)
            if "count" in options:
                pairs = [(str(case), str(case + 1), 0.95) for case in range(0, 160, 9)]
                suspect(engine, pairs, "visits")
            engine.release(
                period, model=model, k=3, seed=1, ids="original", on_infeasible="withhold",
                allow_linkable=True, **options,
            )  # fmt: skip
        kept = {
            name: sorted(engine.con.execute(f"FROM srsql.{name}").fetchall(), key=str)
            for name in KEPT
        }
        shown = [
            engine.con.execute(f"FROM release_{period.lower()}.visit ORDER BY ALL").fetchall()
            for period in PERIODS
        ]
    return {**kept, "shown": shown}


@pytest.mark.parametrize(
    ("model", "report_id", "visits", "sole", "id_type"),
    thorough_but(
        [("ms", "patient_id", 1, True, "integer")],
        (
            (model, *reports, id_type)
            for model in ("k-anonymity", "ms")
            for reports in (("patient_id", 1, True), ("visit_id", 1, True), ("visit_id", 3, False))
            for id_type in ("integer", "text")
        ),
    ),
)
def test_what_is_there_once_is_what_gathering_makes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, report_id: str, visits: int,
    sole: bool, id_type: str,
) -> None:  # fmt: skip
    text = DATASET.format(report_id=report_id, id_type=id_type)
    told: list[bool] = []
    work_out = cases.work_out

    def seen(*task: Any, **known: Any) -> None:
        told.append(known.get("sole", False))
        work_out(*task, **known)

    monkeypatch.setattr(cases, "work_out", seen)
    found = series(tmp_path / "found", text, model, visits)
    assert any(told) == sole
    monkeypatch.setattr(cases, "has_one_value", lambda dataset, with_drugs: False)
    monkeypatch.setattr(cases, "work_out", lambda *task, **_: work_out(*task))
    assert series(tmp_path / "gathered", text, model, visits) == found


@pytest.mark.thorough
def test_a_person_with_several_cases_is_gathered_though_each_case_has_one_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = DATASET.format(report_id="patient_id", id_type="integer")
    persons = {"count": "persons", "match": "0.9"}
    found = series(tmp_path / "found", text, "ms", 1, **persons)
    monkeypatch.setattr(cases, "has_one_value", lambda dataset, with_drugs: False)
    assert series(tmp_path / "gathered", text, "ms", 1, **persons) == found
