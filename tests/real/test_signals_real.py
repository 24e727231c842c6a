"""Signals of a real quarter: the papers' rules, every pair, and what a release changes of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.real_data import needs

from srsql.engine.api.engine import Engine

RULES = Path(__file__).parents[1] / "golden" / "lin2016" / "table5_rules.csv"
pytestmark = [pytest.mark.slow, needs("faers/faers_ascii_2022Q4.zip")]


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
