"""Published counts against the law of their noise: what a check sees of a maker that is wrong."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from srsql.engine.checks.evidence import NoiseAsked
from srsql.engine.checks.noise import refused
from srsql.engine.checks.noisy_tables import law, plan_faults
from srsql.engine.terms.noisy_tables import NoisyParameters, _columns
from srsql.udfs.mechanisms import laplace_noise

TRUE = np.array([1] * 20_000 + list(range(2, 60)) * 20)
"""Most keys have one case, as names of drugs and pairs do."""
SCALE, THRESHOLD = Fraction(4), 30
ASKED = NoiseAsked(Fraction(3), Fraction(1, 1000), 2, 4, ("drug", "pt"), (("drug", "pt"),))


def published(scale: Fraction, threshold: int, add: int = 0) -> np.ma.MaskedArray[Any, Any]:
    size = len(TRUE)
    noise = laplace_noise(np.full(size, scale.numerator), np.full(size, scale.denominator), 7)
    cases = TRUE + noise + add
    return np.ma.masked_array(cases, mask=cases < threshold)


def wrong(shown: np.ma.MaskedArray[Any, Any]) -> int:
    return refused(law(TRUE, shown, float(SCALE), THRESHOLD))


def test_counts_that_follow_the_law_pass() -> None:
    assert wrong(published(SCALE, THRESHOLD)) == 0


@pytest.mark.parametrize(
    ("scale", "threshold", "add"),
    [
        (Fraction(2), THRESHOLD, 0), (Fraction(1), THRESHOLD, 0), (Fraction(12), THRESHOLD, 0),
        (Fraction(1, 100), THRESHOLD, 0), (SCALE, THRESHOLD - 8, 0), (SCALE, THRESHOLD, 4),
    ],
)  # fmt: skip
def test_counts_that_do_not_are_seen(scale: Fraction, threshold: int, add: int) -> None:
    assert wrong(published(scale, threshold, add)) > 0


def plan() -> list[tuple[Any, ...]]:
    asked = NoisyParameters(
        epsilon=ASKED.epsilon, delta=ASKED.delta, case_items=2, case_pairs=4,
        attributes=ASKED.attributes,
    )  # fmt: skip
    return [*zip(*_columns(asked.plan()).values(), strict=True)]


def test_the_noise_that_is_made_keeps_what_is_asked() -> None:
    assert list(plan_faults(plan(), ASKED)) == []


@pytest.mark.parametrize(
    ("table", "column", "value", "text"),
    [
        (1, 1, "3/2", "another epsilon"), (1, 2, "1/500", "another delta"),
        (1, 3, 2, "adds otherwise"), (1, 4, "1/2", "noise is too small"),
        (1, 5, 5, "threshold is too low"), (2, 5, None, "threshold is too low"),
        (0, 5, 3, "strata are all told"), (1, 6, 0.1, "expected error"), (2, 7, 0, "the margin"),
        (2, 7, 99, "the margin"),
    ],
)  # fmt: skip
def test_noise_that_does_not_is_named(table: int, column: int, value: object, text: str) -> None:
    rows = plan()
    rows[table] = (*rows[table][:column], value, *rows[table][column + 1 :])
    assert any(text in fault for fault in plan_faults(rows, ASKED))
