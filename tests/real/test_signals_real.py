"""Signals of a real quarter: the papers' rules, every pair, and what a release changes of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oracles.signals import measures
from support.real_data import needs

from srsql.engine.api.engine import Engine

RULES = Path(__file__).parents[1] / "golden" / "lin2016" / "table5_rules.csv"
pytestmark = [pytest.mark.thorough, needs("faers/faers_ascii_2022Q4.zip")]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, real: Any) -> Iterator[Engine]:
    with Engine(real("2022Q4", tmp_path_factory.mktemp("real") / "w.duckdb")) as opened:
        opened.release("2022Q4", k=5, theta="frequency", on_infeasible="withhold", seed=1)
        yield opened


def test_the_rules_of_table_5_run_on_2022q4(engine: Engine) -> None:
    found = engine.signals(rules=RULES, allow_unknown=True)
    assert len(found.signals) == 7
    for signal in found.signals:
        assert signal.original is not None
        assert signal.released.c_lower <= signal.original.c_lower
        assert signal.original.c_upper <= signal.released.c_upper


def test_without_a_condition_no_pair_is_biased_since_nothing_is_withheld(engine: Engine) -> None:
    assert engine.sql("SELECT count(*) FROM srsql.withheld AS w") == [(0,)]
    found = engine.signals(every_pair=True, quarter="2022Q4")
    assert len(found.signals) > 1000
    assert all(signal.original == signal.released for signal in found.signals)
    prr = next(row for row in found.quantiles if row.measure == "prr_bias")
    assert (prr.least, prr.most) == (1, 1)


def test_under_a_condition_the_released_bounds_hold_the_original_ones(engine: Engine) -> None:
    found = engine.signals(every_pair=True, min_age=18, sex="F")
    assert len(found.signals) > 1000
    for signal in found.signals:
        assert signal.original is not None
        for cell in "abcd":
            own, shown = (
                (getattr(side, f"{cell}_lower"), getattr(side, f"{cell}_upper"))
                for side in (signal.original, signal.released)
            )
            assert shown[0] <= own[0] <= own[1] <= shown[1]
    for row in found.quantiles:
        assert row.median is not None
        assert math.isfinite(row.median)


def test_humira_and_arthralgia_among_women_from_65_are_shown_as_the_usual_tools_count_them(
    engine: Engine,
) -> None:
    """PRR is 8.78 of who is known; spreading missing ages over 0 to 120 makes 7.33 of it."""
    asked: dict[str, Any] = {"drug": "humira", "reaction": "arthralgia", "min_age": 65, "sex": "F"}
    (both,) = engine.signals(**asked).signals
    (known,) = engine.signals(**asked, missing="exclude").signals
    assert both.original is not None
    assert both.original_complete is not None
    assert known.original is not None
    assert both.original.prr == pytest.approx(7.33, abs=0.005)
    assert both.original_complete.prr == known.original.prr == pytest.approx(8.78, abs=0.005)
    cells = [getattr(known.original, cell) for cell in "abcd"]
    assert cells == [8, 3, 130, 1439]
    assert sum(cells) == 1580
    oracle = measures(*cells)
    assert {name: getattr(known.original, name) for name in oracle} == pytest.approx(oracle)
    assert both.original_complete.signal_mhra == known.original.signal_mhra == "holds"


def test_the_table_of_the_usual_tools_is_that_of_the_cases_that_are_known(engine: Engine) -> None:
    """Recomputed case by case, for every pair of at least three known women from 65."""
    engine.con.execute(
        "CREATE OR REPLACE TEMP TABLE known AS SELECT d.caseid FROM raw_faers.demo AS d "
        "GROUP BY d.caseid HAVING min(d.srsql_age) >= 65 AND min(d.srsql_sex) = 'F' "
        "AND max(d.srsql_sex) = 'F'"
    )
    drugs, reactions = (
        engine.sql(
            f"SELECT DISTINCT d.caseid, t.{name} FROM raw_faers.{table} AS t "
            "INNER JOIN raw_faers.demo AS d USING (primaryid) "
            "SEMI JOIN known AS k ON d.caseid = k.caseid "
            f"WHERE t.{name} IS NOT NULL AND {where}"
        )
        for table, name, where in (
            ("drug", "srsql_drugname", "t.role_cod IN ('PS', 'SS')"),
            ("reac", "srsql_pt", "true"),
        )
    )
    ((everyone,),) = engine.sql("SELECT count(*) FROM known")
    by_case: dict[Any, set[str]] = {}
    for case, reaction in reactions:
        by_case.setdefault(case, set()).add(reaction)
    with_drug = Counter(drug for _, drug in drugs)
    with_reaction = Counter(reaction for _, reaction in reactions)
    together = Counter((drug, r) for case, drug in drugs for r in by_case.get(case, ()))
    found = engine.signals(every_pair=True, min_age=65, sex="F", missing="exclude").signals
    assert {(s.drug, s.reaction) for s in found} == {p for p, n in together.items() if n >= 3}
    assert len(found) > 1000
    for signal in found:
        a = together[signal.drug, signal.reaction]
        b, c = with_drug[signal.drug] - a, with_reaction[signal.reaction] - a
        own = signal.original
        assert own is not None
        assert (own.a, own.b, own.c, own.d) == (a, b, c, everyone - a - b - c)
        assert own.signal_mhra in ("holds", "does not")
        shown = measures(a, b, c, everyone - a - b - c)
        for name in ("prr", "ror", "chi2", "ic"):
            assert getattr(own, name) == (
                None if shown[name] is None else pytest.approx(shown[name], rel=1e-9, abs=1e-9)
            )
