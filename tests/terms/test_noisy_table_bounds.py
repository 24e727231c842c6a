"""Counts with noise: the privacy loss, summed over all outputs, and what the sampler draws."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction

import numpy as np
import pytest
from oracles.noisy_tables import Held, chance, counts, excess, passes
from support.sql import Sql

from srsql.engine.terms.noisy_tables import CASES, ITEMS, PAIRS, SHARES, NoisyParameters, TableNoise
from srsql.udfs.mechanisms import laplace_noise

KINDS = [("drug", "reaction")]
SMALL = [
    TableNoise(PAIRS, Fraction(epsilon), Fraction(delta), counts)
    for epsilon in ("1/2", "1", "3")
    for delta in ("1/20", "1/1000")
    for counts in (1, 2)
]


def ids(noise: TableNoise) -> str:
    return f"{noise.epsilon}-{noise.delta}-{noise.counts}"


@pytest.mark.parametrize("noise", SMALL, ids=ids)
def test_no_set_of_outputs_tells_more_than_epsilon_and_delta(noise: TableNoise) -> None:
    """Keys that the case shares with others (counts up to beyond the threshold), and its own."""
    threshold, scale = noise.threshold, float(noise.scale)
    assert threshold is not None
    worst = 0.0
    near = (1, 2, threshold - 1, threshold, threshold + 3)
    shared = [[]] if noise.counts == 1 else [[], *([n] for n in near)]
    for first in (0, *near):
        for rest in shared:
            smaller = [first, *rest, *([0] * (noise.counts - 1 - len(rest)))]
            larger = [n + 1 for n in smaller]
            for one, other in ((smaller, larger), (larger, smaller)):
                worst = max(worst, excess(one, other, threshold, scale, float(noise.epsilon)))
    assert worst <= float(noise.delta) * (1 + 1e-9)
    assert worst >= float(noise.delta) * math.exp(-1 / scale) * 0.9, "and no threshold is wasted"


@pytest.mark.parametrize("noise", SMALL, ids=ids)
def test_the_sum_sees_a_threshold_that_is_lower_by_one_and_noise_that_is_too_small(
    noise: TableNoise,
) -> None:
    """The power of the proof: the least faults of a maker break it."""
    threshold, scale, epsilon = noise.threshold, float(noise.scale), float(noise.epsilon)
    assert threshold is not None
    own, nobody = [1] * noise.counts, [0] * noise.counts
    if threshold > 2:
        joint = 1 - (1 - passes(1, threshold - 1, scale)) ** noise.counts
        assert excess(own, nobody, threshold - 1, scale, epsilon) == pytest.approx(joint)
        assert noise.counts * passes(1, threshold - 1, scale) > float(noise.delta) * (1 - 1e-9)
    many = [threshold + 40] * noise.counts
    more = [n + 1 for n in many]
    assert excess(more, many, threshold, scale, epsilon) < 1e-9
    assert excess(more, many, threshold, scale * 0.9, epsilon) > 1e-3


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_counts_of_strata_are_kept_by_epsilon_alone(epsilon: float) -> None:
    noise = TableNoise(CASES, Fraction(epsilon), Fraction(0), 1)
    assert noise.threshold is None
    for count in (0, 1, 7):
        for one, other in ((count, count + 1), (count + 1, count)):
            found = excess([one], [other], None, float(noise.scale), epsilon)
            assert found < 1e-12
            assert excess([one], [other], None, float(noise.scale) * 0.95, epsilon) > 1e-4


def test_the_whole_budget_is_spent_once() -> None:
    assert sum(SHARES.values()) == 1
    for epsilon in (Fraction(1, 3), Fraction(10)):
        for noise in SMALL:
            assert noise.scale * noise.epsilon == noise.counts
        asked = NoisyParameters(epsilon=epsilon, attributes=("drugname", "pt"))
        plan = asked.plan()
        assert [each.table for each in plan] == [CASES, ITEMS, PAIRS]
        assert sum(each.epsilon for each in plan) == epsilon
        assert sum(each.delta for each in plan) == asked.delta
        assert [each.counts for each in plan] == [1, 2 * asked.case_items, asked.case_pairs]


@pytest.mark.parametrize("seed", range(12))
def test_a_case_changes_only_its_own_few_counts_by_one(sql: Sql, seed: int) -> None:
    """The counts before noise, of two data sets that differ in one case."""
    rng = random.Random(seed)
    held: dict[str, set[tuple[str, str]]] = {
        str(case): {
            (attribute, f"{attribute[0]}{rng.randrange(6)}")
            for attribute in ("drug", "reaction")
            for _ in range(rng.randrange(7))
        }
        for case in range(25)
    }
    most_items, most_pairs = 1 + seed % 3, 1 + seed % 4
    whole = _counted(sql, held, most_items, most_pairs)
    assert whole == counts(held, KINDS, most_items, most_pairs)
    for gone in held:
        rest = {case: values for case, values in held.items() if case != gone}
        less = _counted(sql, rest, most_items, most_pairs)
        for table, most in ((0, 2 * most_items), (1, most_pairs)):
            changed = Counter(whole[table])
            changed.subtract(less[table])
            found = [n for n in changed.values() if n]
            assert set(found) <= {1}
            assert len(found) <= most


def _counted(
    sql: Sql, held: Held, most_items: int, most_pairs: int
) -> tuple[Counter[Hashable], Counter[Hashable]]:
    rows = [(n, case, a, t) for n, (case, found) in enumerate(held.items()) for a, t in found]
    columns = "unit INTEGER, name VARCHAR, attribute VARCHAR, term VARCHAR"
    listed = sql.table("held_item", columns, rows)
    kinds = sql.table("kind", "attribute VARCHAR, other VARCHAR", KINDS)
    kept = sql.rows(f"SELECT * FROM srsql.bounded_items({listed}, {most_items})")
    items = sql.table("item", columns, kept)
    pairs = sql.rows(f"SELECT * FROM srsql.bounded_pairs({items}, {kinds}, {most_pairs})")
    return (
        Counter((attribute, term) for *_, attribute, term in kept),
        Counter(row[1:] for row in pairs),
    )


N = 150_000
SURE = math.log(2 / 1e-9)
"""Nats: a share that is as far off by chance is seen once in 10^9 tests (Hoeffding 1963)."""


def nats(share: float, expected: float) -> float:
    found = 0.0
    for part, due in ((share, expected), (1 - share, 1 - expected)):
        found += part * math.log(part / due) if part > 0 else 0.0
    return N * found


@pytest.mark.slow
def test_drawn_counts_pass_the_threshold_as_often_as_the_proof_says(sql: Sql) -> None:
    """``N`` counts of 1, by the secure sampler. Power: a threshold lower by one would be found."""
    noise = TableNoise(PAIRS, Fraction(2), Fraction(1, 20), 2)
    assert noise.threshold == 5
    cells = sql.table("cell", "cell BIGINT, units BIGINT", [])
    sql.con.execute(f"INSERT INTO cell SELECT range, 1 FROM range({N})")
    ((found, least),) = sql.rows(
        f"SELECT count(*), min(cases) FROM srsql.noisy_counts({cells}, {noise.scale.numerator}, "
        f"{noise.scale.denominator}, {noise.threshold}, NULL)"
    )
    expected = passes(1, noise.threshold, float(noise.scale))
    assert least == noise.threshold
    assert nats(found / N, expected) < SURE
    assert nats(passes(1, noise.threshold - 1, float(noise.scale)), expected) > 50 * SURE


@pytest.mark.slow
def test_drawn_noise_is_as_large_as_the_proof_says() -> None:
    """Power: noise that is 3 % smaller would be found."""
    scale = Fraction(40, 9)
    drawn = laplace_noise(np.full(N, scale.numerator), np.full(N, scale.denominator), None)
    within = float((abs(drawn) <= 4).mean())

    def share(of: float) -> float:
        return math.fsum(chance(z, of) for z in range(-4, 5))

    assert nats(within, share(float(scale))) < SURE
    assert nats(share(float(scale) * 0.97), share(float(scale))) > SURE


@pytest.mark.slow
def test_the_library_states_a_delta_that_its_own_threshold_breaks() -> None:
    """Why thresholds are worked out here: OpenDP 0.16 takes the threshold itself for published and
    counts its chance as not. Should a later version be right, this test says so."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = (
        dp.map_domain(dp.atom_domain(T="i64"), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
    )
    measurement = dp.m.make_laplace_threshold(*space, scale=1.0, threshold=4)
    _, stated = measurement.map((1, 1, 1))
    share = len(measurement(dict.fromkeys(range(N), 1))) / N
    assert stated == pytest.approx(passes(1, 5, 1.0))
    assert nats(share, passes(1, 4, 1.0)) < SURE, "what is drawn"
    assert nats(share, stated) > 50 * SURE
