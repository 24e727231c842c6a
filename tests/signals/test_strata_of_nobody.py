"""Strata under a condition that nobody meets: tables of zeros, as without strata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("nobody")
    with Engine(folder / "w.duckdb") as opened:
        opened.ingest([write_quarter(folder, "2011Q4", crowd(12, terms=4))])
        opened.release("2011Q4", model="ms", k=3, theta="1", seed=1)
        yield opened


@pytest.mark.parametrize("only", [True, False])
@pytest.mark.parametrize("strata", [["sex"], ["sex", "age", "period"]])
def test_a_pair_of_which_nobody_meets_the_condition_is_zeros_in_every_stratum(
    engine: Engine, only: bool, strata: list[str]
) -> None:
    asked: dict[str, Any] = {"min_age": "110", "missing": "exclude", "released_only": only}
    (one,) = engine.signals(drug="Drug 1", reaction="Reaction 01", strata=strata, **asked).signals
    (plain,) = engine.signals(drug="Drug 1", reaction="Reaction 01", **asked).signals
    assert one.released == plain.released
    assert (one.released.a_upper, one.released.d_upper) == (0, 0)
    sides = [one.released_stratified] if only else [
        one.released_stratified, one.original_stratified,
    ]  # fmt: skip
    for found in sides:
        assert found is not None
        assert (found.strata, found.n, found.n_upper, found.e, found.e_upper) == (0, 0, 0, 0, 0)
        assert (found.prr, found.ror, found.ebgm, found.prr_upper) == (None,) * 4
        assert (found.signal_prr, found.signal_ror) == ("does not",) * 2
