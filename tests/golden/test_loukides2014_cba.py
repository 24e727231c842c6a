"""Loukides 2014, Fig. 3: CBA on the paper's records of Fig. 1, and on the composed ones.

Section 1.1 says of Fig. 3(a) that 7 of 13 codes are suppressed and that u1 and u3 can be performed
accurately. Both cannot be: u1 and u3 have eight codes, which leaves five. CBA is public in part
(docs/comparators.md says what is ours), and ours suppresses these five at most: u1 is released
and one other constraint, which is u5 (five records) rather than u3 (four). The two cannot stand,
since only r2 has codes of both.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from oracles.generalizing import generalized as defined
from oracles.generalizing import is_km
from support.generalized import TABLES, Generalized, generalized
from support.medical_codes import example

from srsql.engine.risk.term_loss import matching_errors
from srsql.engine.terms.policies import UtilityPolicy

EXAMPLE, FIG_1 = example("loukides2014"), example("loukides2014_fig1")
K, M = 3, 2
RECORDS, POLICY, CODES, numbers = EXAMPLE.records, EXAMPLE.policy, EXAMPLE.codes, EXAMPLE.numbers
SIX = {"294.10", "295.04", "296.00", "296.01", "296.02", "296.03"}
"""The codes that Fig. 3(a) generalizes together, so one constraint has them all."""
FIG_3 = [frozenset(SIX), *POLICY[1:], frozenset({"834.0"}), frozenset({"944.01"})]


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


def test_fig_1_keeps_u1_and_one_constraint_more_and_suppresses_five_codes(
    desk: Generalized,
) -> None:
    desk.make(FIG_1.baskets, FIG_1.constraints, K, M)
    nodes = set(desk.nodes().values())
    assert nodes == defined(FIG_1.baskets, FIG_1.constraints, K, M)
    assert nodes == {FIG_1.numbers(SIX), FIG_1.numbers({"834.0", "944.01"})}
    assert is_km(desk.records(), K, M)
    assert desk.failed(K, M, FIG_1.constraints) == set()


def test_fig_1_cannot_keep_u3_beside_u5() -> None:
    u3, u5 = FIG_1.policy[2], FIG_1.policy[4]
    assert [i for i, r in enumerate(FIG_1.records, 1) if r & u3 and r & u5] == [2]


def test_the_studies_that_fig_1_keeps_count_exactly(desk: Generalized) -> None:
    desk.make(FIG_1.baskets, FIG_1.constraints, K, M)
    desk.checks(K, M, FIG_1.constraints)
    named = {f"u{i}": tuple(f"T{t}" for t in sorted(u)) for i, u in enumerate(FIG_1.constraints, 1)}
    found = matching_errors(
        desk.desk.warehouse, TABLES, "temp.main.originals", UtilityPolicy("Fig. 3(b)", named)
    )
    errors = {c.constraint: c.mre for c in found.constraints}
    assert errors == {"u1": 0, "u2": 100, "u3": 100, "u4": 100, "u5": 0}
