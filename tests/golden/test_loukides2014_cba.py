"""Loukides 2014, Fig. 3: CBA on the records of golden/loukides2014, which are not the paper's."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracles.generalizing import generalized as defined
from oracles.generalizing import is_km
from support.generalized import TABLES, Generalized, generalized

from srsql.engine.risk.term_loss import matching_errors
from srsql.engine.terms.policies import UtilityPolicy

FOLDER = Path(__file__).parents[3] / "shared" / "golden" / "loukides2014"
K, M = 3, 2


def _codes(file: str) -> list[frozenset[str]]:
    with (FOLDER / file).open(newline="") as lines:
        return [frozenset(row["codes"].split(";")) for row in csv.DictReader(lines)]


RECORDS, POLICY = _codes("records.csv"), _codes("utility_policy.csv")
CODES = sorted(frozenset().union(*RECORDS))
SIX = {"294.10", "295.04", "296.00", "296.01", "296.02", "296.03"}
"""The codes that Fig. 3(a) generalizes together, so one constraint has them all."""
FIG_3 = [frozenset(SIX), *POLICY[1:], frozenset({"834.0"}), frozenset({"944.01"})]


def numbers(codes: frozenset[str] | set[str]) -> frozenset[int]:
    return frozenset(CODES.index(code) for code in codes)


@pytest.fixture(scope="module")
def desk() -> Iterator[Generalized]:
    with generalized() as made:
        yield made


@pytest.mark.parametrize("policy", [POLICY, FIG_3, []], ids=["u1 to u3", "Fig. 3", "none"])
def test_the_result_is_3_2_anonymous_and_as_defined(
    desk: Generalized, policy: list[frozenset[str]]
) -> None:
    baskets, constraints = [numbers(r) for r in RECORDS], [numbers(u) for u in policy]
    desk.make(baskets, constraints, K, M)
    assert set(desk.nodes().values()) == defined(baskets, constraints, K, M)
    assert is_km(desk.records(), K, M)
    assert desk.failed(K, M, constraints) == set()


def test_fig_3_generalizes_the_six_codes_together_and_suppresses_others(
    desk: Generalized,
) -> None:
    constraints = [numbers(u) for u in FIG_3]
    desk.make([numbers(r) for r in RECORDS], constraints, K, M)
    assert numbers(SIX) in desk.nodes().values()
    assert 0 < len(CODES) - sum(map(len, desk.nodes().values())) < len(CODES)


def test_a_study_whose_codes_are_released_counts_exactly(desk: Generalized) -> None:
    constraints = [numbers(u) for u in FIG_3]
    desk.make([numbers(r) for r in RECORDS], constraints, K, M)
    desk.checks(K, M, constraints)
    named = {f"u{i}": tuple(f"T{t}" for t in u) for i, u in enumerate(constraints)}
    found = matching_errors(
        desk.desk.warehouse, TABLES, "temp.main.originals", UtilityPolicy("Fig. 3", named)
    )
    released = frozenset().union(*desk.nodes().values())
    exact = {c.constraint for c in found.constraints if c.mre == 0}
    assert exact == {f"u{i}" for i, u in enumerate(constraints) if u <= released}
    assert "u0" in exact
