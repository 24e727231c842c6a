"""The mechanisms draw from the distributions they claim, and lose no more privacy than they claim.

Secure draws cannot be seeded, so each bound is one that chance passes once in a million runs.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles import dp
from oracles.trees import Tree, trees
from scipy import stats

from srsql.schemas.hierarchy import Hierarchy, build_hierarchy
from srsql.udfs.mechanisms import (
    Calibration,
    Uniform,
    choice_of,
    conservative_scale,
    exponential_choice,
    exponential_weights,
    laplace_noise,
)
from srsql.udfs.mechanisms import HierarchyPaths as Paths

RARE = 1e-6
AGES = Tree(
    {
        "Any": "", "Young": "Any", "Old": "Any", "Infant": "Young", "Child": "Young",
        "Small": "Child", "Pupil": "Child", "Adult": "Old", "Aged": "Old",
    }
)  # fmt: skip
SOURCES = pytest.mark.parametrize("seed", [None, 7], ids=["secure", "seeded"])


def numbered(tree: Tree) -> Hierarchy:
    return build_hierarchy(tree.rows())


def noise(scale: Fraction, count: int, seed: int | None) -> NDArray[np.int64]:
    return laplace_noise(np.full(count, scale.numerator), np.full(count, scale.denominator), seed)


def distance(draws: NDArray[np.int64], scale: float) -> float:
    """Kolmogorov-Smirnov: the largest gap between the draws' and the exact distribution."""
    ends = np.arange(draws.min() - 1, draws.max() + 1)
    seen = np.searchsorted(np.sort(draws), ends, side="right") / len(draws)
    return float(np.abs(seen - [dp.laplace_cdf(int(z), scale) for z in ends]).max())


def bound(count: int) -> float:
    """What the gap exceeds with probability RARE (Dvoretzky, Kiefer, Wolfowitz; Massart)."""
    return math.sqrt(math.log(2 / RARE) / (2 * count))


@SOURCES
@pytest.mark.parametrize("scale", [Fraction(5, 2), Fraction(1, 3), Fraction(120)])
def test_laplace_noise_has_the_discrete_laplace_distribution(
    scale: Fraction, seed: int | None
) -> None:
    count = 20_000 if seed is None else 100_000
    draws = noise(scale, count, seed)
    assert distance(draws, float(scale)) < bound(count)


def test_the_test_of_the_distribution_tells_a_scale_that_is_a_fifth_off() -> None:
    draws = noise(Fraction(10), 100_000, 7)
    assert distance(draws, 12.0) > bound(100_000)


def test_each_draw_has_the_scale_of_its_own_row() -> None:
    scales = np.tile([1, 40, 300], 9_000)
    draws = laplace_noise(scales, np.ones_like(scales), None)
    for scale in (1, 40, 300):
        own = draws[scales == scale]
        assert distance(own, scale) < bound(len(own))


def test_a_scale_is_rounded_so_that_no_draw_has_too_little_noise() -> None:
    for num, den in ((1, 3), (400, 7), (10**15 + 1, 3), (5, 1)):
        assert Fraction(conservative_scale(num, den)) >= Fraction(num, den)


@pytest.mark.parametrize(("num", "den"), [(0, 1), (1, 0), (-3, 1)])
def test_no_noise_is_refused(num: int, den: int) -> None:
    with pytest.raises(ValueError, match="above 0"):
        laplace_noise(np.array([num]), np.array([den]), None)


def test_uniform_integers_have_no_bias_by_the_remainder() -> None:
    top = 3 * 2**60  # 2**64 is no multiple of it: the first third would be likelier
    for seed in (None, 7):
        drawn = Uniform(seed).below(np.full(60_000, top))
        assert drawn.min() >= 0
        assert drawn.max() < top
        thirds = np.bincount(drawn // 2**60, minlength=3)
        assert stats.chisquare(thirds).pvalue > RARE


@SOURCES
@pytest.mark.parametrize("calibration", ["paper", "sound"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(2), Fraction(10)])
def test_choices_have_the_frequencies_of_the_exponential_mechanism(
    calibration: Calibration, epsilon: Fraction, seed: int | None
) -> None:
    tree = numbered(AGES)
    held = ["Infant", "Pupil", "Child"] if calibration == "paper" else ["Pupil"]
    expected = (
        dp.paper_chances(AGES, held, epsilon)
        if calibration == "paper"
        else dp.sound_chances(AGES, "Pupil", epsilon)
    )
    count = 40_000
    drawn = exponential_choice(
        np.zeros(count, np.int64), [sorted(tree.number[v] for v in held)],
        np.array(tree.parent), epsilon, calibration, seed,
    )  # fmt: skip
    seen = Counter(tree.labels[node] for node in drawn)
    assert set(seen) <= set(expected)
    labels = sorted(expected, key=lambda v: -expected[v])
    often = [v for v in labels if expected[v] * count >= 5]
    observed = [*(seen[v] for v in often), sum(seen[v] for v in labels if v not in often)]
    awaited = [expected[v] * count for v in often]
    awaited.append(count - sum(awaited))
    if awaited[-1] < 5:
        assert observed[-1] < 60
        observed, awaited = observed[:-1], [a * sum(observed[:-1]) / sum(awaited[:-1])
                                            for a in awaited[:-1]]  # fmt: skip
    assert stats.chisquare(observed, awaited).pvalue > RARE


@pytest.mark.slow
@given(trees(), st.data())
def test_the_weights_are_those_of_the_definition(tree: Tree, data: st.DataObject) -> None:
    hierarchy = numbered(tree)
    paths = Paths(np.array(hierarchy.parent))
    dom = data.draw(st.sets(st.sampled_from(sorted(tree.above)), min_size=1))
    epsilon = data.draw(st.fractions(Fraction(1, 100), 10, max_denominator=100))
    for calibration, values, expected in (
        ("paper", dom, dp.paper_chances(tree, dom, epsilon)),
        ("sound", {min(dom)}, dp.sound_chances(tree, min(dom), epsilon)),
    ):
        choice = choice_of(paths, sorted(hierarchy.number[v] for v in values), calibration)
        assert {hierarchy.labels[node] for node in choice.candidates} == set(expected)
        found = exponential_weights(choice, epsilon)
        total = sum(map(int, found))
        assert total < 2**62
        for node, weight in zip(choice.candidates, found, strict=True):
            assert int(weight) / total == pytest.approx(expected[hierarchy.labels[node]], rel=1e-6)


@given(trees(), st.fractions(Fraction(1, 1000), 50, max_denominator=1000))
def test_sound_choices_lose_at_most_epsilon_between_any_two_originals(
    tree: Tree, epsilon: Fraction
) -> None:
    """Shown from the integer weights that are drawn from, so rounding is in it."""
    hierarchy = numbered(tree)
    paths = Paths(np.array(hierarchy.parent))
    chances = []
    for value in range(len(hierarchy.labels)):
        found = [int(w) for w in exponential_weights(choice_of(paths, [value], "sound"), epsilon)]
        chances.append([Fraction(w, sum(found)) for w in found])
    limit = float(epsilon) * (1 + 1e-12)
    for outcome in zip(*chances, strict=True):
        assert math.log(max(outcome) / min(outcome)) <= limit


def test_sound_laplace_noise_loses_at_most_epsilon_between_any_two_originals() -> None:
    """From the formula: P(z - u) / P(z - v) <= exp(|u - v| / scale); also at the ends, clamped."""
    low, high, epsilon = 0, 40, Fraction(3, 4)
    scale = conservative_scale(high * epsilon.denominator, epsilon.numerator)
    for u in range(low, high + 1):
        for v in (low, 7, high):
            for z in range(low, high + 1):
                p, q = (clamped(z, value, low, high, scale) for value in (u, v))
                assert math.log(p / q) <= float(epsilon) + 1e-12


def clamped(z: int, value: int, low: int, high: int, scale: float) -> float:
    """P(clamp(value + Z) = z)."""
    at_most = dp.laplace_cdf(z - value, scale)
    below = dp.laplace_cdf(z - 1 - value, scale)
    if z == low:
        return at_most
    return 1 - below if z == high else at_most - below


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_the_measured_loss_of_a_record_stays_below_epsilon(epsilon: Fraction) -> None:
    """Draws for two originals of one record, grouping fixed: likelihood ratios of what comes out.

    Wilson intervals at RARE keep chance out of it; outcomes too seldom to judge are pooled.
    """
    count, domain = 15_000, 40
    share = epsilon / 2
    tree = numbered(AGES)
    seen = []
    for number, node in ((0, "Infant"), (domain, "Aged")):
        scale = domain / share
        drawn = np.clip(number + noise(scale, count, None), 0, domain)
        nodes = exponential_choice(
            np.zeros(count, np.int64), [[tree.number[node]]], np.array(tree.parent), share,
            "sound", None,
        )  # fmt: skip
        seen.append(Counter(zip((drawn * 3 // (domain + 1)).tolist(), nodes.tolist(), strict=True)))
    judged = [o for o in seen[0] | seen[1] if seen[0][o] + seen[1][o] >= 100]
    assert judged
    z = stats.norm.isf(RARE / (4 * len(judged)))
    for outcome in judged:
        a, b = (wilson(counter[outcome], count, z) for counter in seen)
        assert math.log(max(a[0], 1e-12) / b[1]) <= float(epsilon)
        assert math.log(max(b[0], 1e-12) / a[1]) <= float(epsilon)


def wilson(hits: int, count: int, z: float) -> tuple[float, float]:
    share = hits / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(
        share * (1 - share) / count + z * z / (4 * count * count)
    )  # fmt: skip
    return middle - half, middle + half


def test_the_paper_calibration_loses_more_than_epsilon() -> None:
    """Why docs call it no differential privacy: what a group holds decides what can come out."""
    chances = [dp.paper_chances(AGES, dom, Fraction(1)) for dom in (["Infant"], ["Aged"])]
    assert set(chances[0]).isdisjoint(chances[1])


def test_seeded_draws_repeat_and_secure_ones_do_not() -> None:
    scale, parent = Fraction(50), np.array(numbered(AGES).parent)
    which = np.zeros(2_000, np.int64)

    def both(seed: int | None) -> list[tuple[int, ...]]:
        return [
            tuple(noise(scale, 2_000, seed).tolist()),
            tuple(exponential_choice(which, [[3]], parent, Fraction(1), "sound", seed).tolist()),
        ]

    assert both(7) == both(7)
    for first, second in ((both(7), both(8)), (both(None), both(None))):
        assert all(one != other for one, other in zip(first, second, strict=True))


def test_neighbouring_secure_draws_tell_nothing_of_each_other() -> None:
    signs = [z > 0 for z in noise(Fraction(50), 20_000, None).tolist() if z]
    table = np.zeros((2, 2))
    for one, following in pairwise(signs):
        table[int(one), int(following)] += 1
    assert stats.chi2_contingency(table).pvalue > RARE


def test_secure_noise_does_not_follow_the_seed_of_any_generator() -> None:
    import random

    drawn = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)
        drawn.append(noise(Fraction(50), 500, None).tolist())
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("doms", [[[]], [[1, 2]]])
def test_a_sound_choice_is_for_one_value(doms: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="exactly one"):
        exponential_choice(
            np.zeros(1, np.int64), doms, np.array([-1, 0, 0]), Fraction(1), "sound", None
        )


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1), Fraction(51), Fraction(1, 10**14)])
def test_an_epsilon_that_cannot_be_kept_is_refused(epsilon: Fraction) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        exponential_choice(
            np.zeros(1, np.int64), [[1]], np.array([-1, 0, 0]), epsilon, "sound", None
        )
