"""Lin 2016, Tables 2 and 5: a table of known measures, and the rules on a synthetic series."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import duckdb
import pytest

import srsql
from srsql.engine.api.engine import Engine
from srsql.engine.console.measures import signal_rows
from srsql.engine.extras.synth import quarter_range, synthesize

RULES = Path(__file__).parent / "lin2016" / "table5_rules.csv"
FIGURES = {
    "ror": 7.602804, "ror_low": 6.155362, "ror_high": 9.390613,
    "prr": 7.044175, "prr_low": 5.784965, "prr_high": 8.577477,
    "chi2": 481.7814,
    "ic_shrunk": 2.453088, "ic025": 2.153455, "ic975": 2.669561,
}  # fmt: skip


def test_the_measures_of_a_known_table() -> None:
    with duckdb.connect() as con:
        srsql.install(con)
        con.execute(
            "CREATE TEMP TABLE tables AS SELECT 'D' AS drug, 'R' AS reaction, 122::DOUBLE AS a, "
            "1320::DOUBLE AS b, 381::DOUBLE AS c, 31341::DOUBLE AS d"
        )
        cursor = con.execute("FROM srsql.signal_measures('temp.main.tables')")
        names = [column[0] for column in cursor.description]
        found: dict[str, Any] = dict(zip(names, cursor.fetchall()[0], strict=True))
    for name, figure in FIGURES.items():
        assert found[name] == pytest.approx(figure, rel=5e-7), name
    assert found["ic"] == pytest.approx(2.479798, abs=1e-6)  # log2(122 * 33164 / (1442 * 503))
    assert found["ic_low"] < found["ic"] < found["ic_high"]
    assert all(found[f"signal_{name}"] for name in ("prr", "mhra", "ror", "ic"))


@pytest.mark.thorough
def test_the_rules_of_table_5_run_on_a_synthetic_series(tmp_path: Path) -> None:
    archives = synthesize(tmp_path, quarter_range("2011Q1", "2011Q2"), cases=400, seed=1)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest(archives)
        engine.release_range("2011Q1:2011Q2", k=4, on_infeasible="withhold", seed=1)
        found = engine.signals(rules=RULES, allow_unknown=True)
    with RULES.open(newline="") as stream:
        asked = list(csv.DictReader(stream))
    assert [(s.drug, s.reaction) for s in found.signals] == [
        (rule["drug"], rule["reaction"]) for rule in asked
    ]
    assert found.quarters == ("2011Q1", "2011Q2")
    assert any(s.original is not None and s.original.a > 0 for s in found.signals)
    ages = [s.condition.min_age for s in found.signals]
    assert ages == [int(r["min_age"]) if r["min_age"] else None for r in asked]
    # under a condition also without those of whom a value is missing that it asks for
    assert len(list(signal_rows(found))) == sum(
        4 if r["min_age"] or r["max_age"] or r["sex"] else 2 for r in asked
    )
