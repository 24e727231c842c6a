"""The real ALS quarters as series of perturbed releases: checked, audited, charged."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from support.real_data import DATA, needs

from srsql.engine.api.engine import Engine

pytestmark = [pytest.mark.thorough, needs("faers_als")]
FIRST, LAST = "2018Q1", "2019Q2"


@pytest.mark.parametrize("model", ["ppms-dp-num", "ppms-dp-all"])
def test_real_quarters_are_released_with_noise(model: str, tmp_path: Path) -> None:
    levels = tmp_path / "levels.csv"
    levels.write_text("value,theta\nAmyotrophic lateral sclerosis,1\n*,0.5\n")
    archives = sorted(
        p for p in (DATA / "faers_als").glob("*.zip") if FIRST <= p.stem[-6:].upper() <= LAST
    )
    with Engine(tmp_path / "als.duckdb") as engine:
        engine.ingest(archives)
        made = engine.release_range(
            f"{FIRST}:{LAST}", model=model, k=3, theta=f"levels:{levels}",
            on_infeasible="withhold", epsilon="1",
        )  # fmt: skip
        assert sum(one.manifest["cases"]["released"] for one in made.released) > 100
        found = engine.audit()
        assert found.safe
        assert all(row.internal == 0 for row in found.releases)
        budget, _ = engine.status().budget
        most = engine.sql(
            "SELECT max(n) FROM (SELECT count(DISTINCT l.release_id) AS n"
            " FROM srsql.ledger('faers', 'main') AS l GROUP BY l.case_id)"
        )[0][0]
        assert Fraction(budget["worst_epsilon"]) <= most
        numbers = engine.sql(
            "SELECT count(*), count(*) FILTER (WHERE d.wt_low = d.wt_high AND d.wt_low BETWEEN 0"
            " AND 400) FROM released.demo AS d WHERE d.wt_low IS NOT NULL"
        )
        assert numbers[0][0] == numbers[0][1] > 0
