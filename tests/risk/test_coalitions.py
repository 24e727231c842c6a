"""What colluding cases conclude is what going through all coalitions finds."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from oracles.coalitions import concluded
from support.command import srsql
from support.quarters import crowd, write_quarter
from support.released import rows as shown

from srsql.engine.api.engine import Engine
from srsql.engine.errors import WarehouseError

COLUMNS = (
    "crowd INTEGER, cases BIGINT, value INTEGER, holders BIGINT, theta_num BIGINT, "
    "theta_den BIGINT, pool BIGINT"
)


def found(sql: Any, cells: list[tuple[int, ...]], members: int, k: int) -> dict[Any, Any]:
    given = sql.table("cells", COLUMNS, cells)
    told = sql.records(f"FROM srsql.coalition({given}, '', {members}, {k}, 1)")
    return {(row["measure"], row["scope"].partition(",")[0]): row for row in told}


@pytest.mark.parametrize("seed", range(60))
def test_every_figure_is_that_of_all_coalitions(sql: Any, seed: int) -> None:
    draw = random.Random(seed)
    members, k = draw.randint(1, 4), draw.randint(2, 6)
    cells, above, certain = [], {"worst": 0.0, "at random": 0.0}, {"worst": 0.0, "at random": 0.0}
    bounded = holdings = few = everybody = 0
    for number in range(draw.randint(1, 5)):
        size, outside = draw.randint(1, 7), draw.choice([0, 0, draw.randint(1, 4)])
        everybody += size
        few += size if size - members < k else 0
        for value in range(draw.randint(1, 3)):
            holders = draw.randint(1, size)
            theta = Fraction(draw.randint(1, 6), 6)
            cells.append(
                (number, size, value, holders, theta.numerator, theta.denominator, size + outside)
            )
            most, each = concluded([n < holders for n in range(size)], outside, members)
            holdings += holders
            certain["worst"] += holders * (most == 1)
            certain["at random"] += holders * sum(share == 1 for share in each) / len(each)
            if theta < 1:
                bounded += holders
                above["worst"] += holders * (most > theta)
                above["at random"] += holders * sum(share > theta for share in each) / len(each)
    told = found(sql, cells, members, k)
    candidates = told["coalition_candidates", "worst"]
    assert (candidates["violating"], candidates["total"]) == (few, everybody)
    alone = sum(cell[3] for cell in cells if cell[3] == cell[1])
    assert told["coalition_certain", "without"]["violating"] == alone
    for how in ("worst", "at random"):
        row = told["coalition_certain", how]
        assert row["violating"] == pytest.approx(certain[how], abs=1e-9)
        assert row["total"] == pytest.approx(holdings)
        if bounded:
            row = told["coalition_above", how]
            assert row["violating"] == pytest.approx(above[how], abs=1e-9)
            assert row["total"] == pytest.approx(bounded)


def test_groups_of_a_release_are_asked_by_what_its_rows_show(tmp_path: Path) -> None:
    """Every case has two values that nobody of its group shares: of k, all but one collude."""
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(60))])
        engine.release("2011Q4", model="ms", k=3, theta="1/3", seed=1, on_infeasible="withhold")
        plain = engine.audit.metrics("2011Q4")
        assert not [row for row in plain if row.measure.startswith("coalition")]
        told = {
            (row.measure, row.scope): row for row in engine.audit.metrics("2011Q4", coalition=1)
        }
        sizes = shown(
            engine.con,
            "SELECT count(DISTINCT caseid) AS n FROM release_2011q4.demo "
            "GROUP BY age_low, age_high, wt_low, wt_high, sex",
        )
        least = told["coalition_candidates", "worst, 1 cases"]
        assert least.total == sum(row["n"] for row in sizes)
        worst, chance = (
            told["coalition_above", f"{how}, 1 cases"] for how in ("worst", "at random")
        )
        assert worst.total == pytest.approx(chance.total)
        assert worst.violating >= chance.violating > 0
        assert told["coalition_certain", "worst, 1 cases"].violating == 0


def test_chunks_of_disassociated_terms_are_asked_by_known_term(tmp_path: Path) -> None:
    """Of what is published alone: the supports within each chunk, counted in Python."""
    db = tmp_path / "w.duckdb"
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(80, terms=6))])
        engine.release("2011Q4", model="disassociation", k=3, m=2, term_attributes="pt,indi_pt")
        told = {(r.measure, r.scope): r for r in engine.audit.metrics("2011Q4", coalition=2)}
        chunks: dict[tuple[int, int], dict[int, set[str]]] = {}
        for row in shown(engine.con, "SELECT * FROM release_2011q4.record_chunk"):
            subrecords = chunks.setdefault((row["cluster"], row["chunk"]), {})
            subrecords.setdefault(row["subrecord"], set()).add(row["term"])
    holdings = sure = few = 0
    for subrecords in chunks.values():
        for term in set().union(*subrecords.values()):
            holders = [terms for terms in subrecords.values() if term in terms]
            few += len(holders) * (len(holders) - 2 < 3)
            for other in set().union(*holders) - {term}:
                both = sum(other in terms for terms in holders)
                holdings += both
                sure += both * (len(holders) - both <= 2)
    scope = "worst, 2 cases, known term and cluster"
    assert told["coalition_candidates", scope].violating == few
    assert (holdings == 0) == (("coalition_certain", scope) not in told)
    if holdings:
        assert told["coalition_certain", scope].total == holdings
        assert told["coalition_certain", scope].violating == sure


def test_a_release_without_groups_is_refused_and_the_command_tells_figures(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(60))])
        engine.release("2011Q4", model="ipa", seed=1, series="other")
        with pytest.raises(WarehouseError, match="no groups or clusters"):
            engine.audit.metrics("2011Q4", series="other", coalition=2)
        engine.release("2011Q4", model="ms", k=3, theta="0.5", seed=1, allow_linkable=True)
    made = srsql("metrics", "--db", db, "--quarter", "2011Q4", "--coalition", 2, "--json")
    assert made.code == 0, made.err
    assert "coalition_certain" in {row["measure"] for row in made.json}
