"""The gamma-Poisson shrinker: macros and UDFs against its definition, and against a package."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.shrinkage import Prior, log_likelihood, posterior

PRIOR: Prior = (0.2, 0.06, 1.4, 1.8, 0.1)
PAIRS = "drug VARCHAR, reaction VARCHAR, n DOUBLE, e DOUBLE"
PRIORS = (
    "prior STRUCT(alpha1 DOUBLE, beta1 DOUBLE, alpha2 DOUBLE, beta2 DOUBLE, p DOUBLE), pairs BIGINT"
)
TABLE = "drug VARCHAR, reaction VARCHAR, a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE"
parameters = st.floats(0.05, 20)


def drawn(seed: int, size: int = 900) -> list[tuple[str, str, float, float]]:
    """Pairs of at least one report, from a mixture with a small part of large rates."""
    luck = random.Random(seed)
    rows = []
    for i in range(size):
        e = luck.lognormvariate(0, 1.5)
        rate = luck.gammavariate(2, 2) if luck.random() < 0.2 else luck.gammavariate(3, 1 / 3)
        n = sum(luck.expovariate(1) < rate * e / 64 for _ in range(64))
        if n:
            rows.append((f"D{i}", "R", float(n), e))
    return rows


def fitted(sql: Any, rows: list[tuple[str, str, float, float]]) -> tuple[int, Prior | None]:
    name = sql.table("pairs", PAIRS, rows)
    ((pairs, prior),) = sql.rows(f"FROM srsql.gps_prior({name})")
    return pairs, None if prior is None else tuple(prior.values())


def shrunk(
    sql: Any, tables: list[tuple[float, float, float, float]], prior: Prior | None
) -> list[dict[str, Any]]:
    name = sql.table("tables", TABLE, [(f"D{i:03}", "R", *row) for i, row in enumerate(tables)])
    value = (
        None
        if prior is None
        else dict(zip(("alpha1", "beta1", "alpha2", "beta2", "p"), prior, strict=True))
    )
    priors = sql.table("priors", PRIORS, [(value, 1)])
    return list(sql.records(f"FROM srsql.shrunk_measures({name}, {priors}) ORDER BY drug"))


@pytest.mark.slow
@REPEATABLE
@given(
    tables=st.lists(
        st.tuples(*[st.integers(0, 30) | st.floats(0.25, 9)] * 3, st.integers(1, 5000)),
        min_size=1,
        max_size=3,
    ),
    prior=st.tuples(parameters, parameters, parameters, parameters, st.floats(0.02, 0.98)),
)
def test_mean_and_quantiles_are_those_of_the_posterior(
    sql: Any, tables: list[tuple[float, float, float, float]], prior: Prior
) -> None:
    for (a, b, c, d), row in zip(tables, shrunk(sql, tables, prior), strict=True):
        e = (a + b) * (a + c) / (a + b + c + d)
        if e == 0:
            assert (row["ebgm"], row["eb05"], row["eb95"]) == (None, None, None)
            continue
        expected = posterior(a, e, prior)
        assert (row["ebgm"], row["eb05"], row["eb95"]) == pytest.approx(expected, rel=1e-4)
        assert row["signal_eb05"] == (row["eb05"] >= 2)


def test_without_a_prior_nothing_is_shrunk(sql: Any) -> None:
    (row,) = shrunk(sql, [(3, 4, 5, 90)], None)
    assert (row["a"], row["ebgm"], row["signal_eb05"]) == (3, None, None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_prior_near_the_fitted_one_or_anywhere_tried_is_more_likely(sql: Any, seed: int) -> None:
    rows = drawn(seed)
    pairs, prior = fitted(sql, rows)
    assert pairs == len(rows)
    assert prior is not None
    assert prior[0] / prior[1] >= prior[2] / prior[3]
    points = [(n, e) for _, _, n, e in rows]
    best = log_likelihood(points, prior)
    luck = random.Random(seed)
    for step in (1e-3, 0.03, 0.5, 2.0):
        for _ in range(25):
            others = [value * luck.lognormvariate(0, step) for value in prior[:4]]
            p = min(0.999, prior[4] * luck.lognormvariate(0, step))
            # squashing moves the optimum by less than this
            assert log_likelihood(points, (*others, p)) <= best + 1e-3


@pytest.mark.thorough
def test_squashing_changes_no_shrunk_measure_in_its_fourth_digit(sql: Any) -> None:
    rows = drawn(4, 3000)
    name = sql.table("pairs", PAIRS, rows)
    _, squashed = fitted(sql, rows)
    ((whole,),) = sql.rows(
        "SELECT srsql_gps_prior(list(p.n), list(p.e), list(1.0::DOUBLE)) "
        f"FROM query_table({name}) AS p"
    )
    (points,) = sql.rows(f"SELECT count(*), sum(s.weight) FROM srsql.squashed_pairs({name}) AS s")
    assert points[0] < points[1] == len(rows)
    assert squashed is not None
    tables = [(1, 5, 9, 900), (3, 2, 10, 900), (12, 90, 20, 800), (40, 200, 150, 9000)]
    for one, other in zip(
        shrunk(sql, tables, squashed), shrunk(sql, tables, tuple(whole.values())), strict=True
    ):
        assert [one[x] for x in ("ebgm", "eb05", "eb95")] == pytest.approx(
            [other[x] for x in ("ebgm", "eb05", "eb95")], rel=5e-5
        )


def test_too_few_pairs_have_no_prior(sql: Any) -> None:
    rows = drawn(5)
    assert fitted(sql, rows[:49]) == (49, None)
    assert fitted(sql, []) == (0, None)
    assert fitted(sql, rows[:50])[1] is not None


def test_every_reported_pair_is_observed_with_what_is_expected_of_it(sql: Any) -> None:
    weights = sql.table(
        "weights", "case_id BIGINT, expected DOUBLE", [(1, 1.0), (2, 1.0), (3, 0.5), (4, 1.0)]
    )
    drugs = sql.table(
        "drugs", "case_id BIGINT, drug VARCHAR", [(1, "P"), (1, "Q"), (2, "P"), (3, "P"), (3, "Q")]
    )
    reactions = sql.table(
        "reactions", "case_id BIGINT, reaction VARCHAR", [(1, "X"), (2, "X"), (3, "Y"), (4, "Y")]
    )
    found = sql.rows(f"FROM srsql.observed_pairs({weights}, {drugs}, {reactions}) ORDER BY ALL")
    # P: 2.5 cases, Q: 1.5, X: 2, all: 3.5; P with Y and Q with Y are expected less than once
    assert found == [
        ("P", "X", 2.0, pytest.approx(2.5 * 2 / 3.5)),
        ("Q", "X", 1.0, pytest.approx(1.5 * 2 / 3.5)),
    ]
