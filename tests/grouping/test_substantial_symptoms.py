from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from srsql.engine.grouping.symptoms import cutoff

COUNTS = st.lists(st.integers(0, 12), min_size=1, max_size=30)
MULTIPLIERS = st.fractions(-3, 3, max_denominator=6)


def at_least(c: int, counts: list[int], multiplier: Fraction) -> bool:
    """c >= mean + multiplier * sd, by the squares of both sides."""
    n = len(counts)
    mean = Fraction(sum(counts), n)
    variance = sum((Fraction(x) - mean) ** 2 for x in counts) / n
    left, right = c - mean, multiplier * multiplier * variance
    if multiplier >= 0:
        return left >= 0 and left * left >= right
    return left >= 0 or left * left <= right


@given(COUNTS, MULTIPLIERS)
@example([1, 3], Fraction(1))
@example([0, 0, 0, 1], Fraction(0))
def test_the_cutoff_is_the_least_integer_at_or_above_mean_plus_sd(
    counts: list[int], multiplier: Fraction
) -> None:
    found = cutoff(len(counts), sum(counts), sum(x * x for x in counts), multiplier)
    if len(set(counts)) == 1:
        assert found is None
    else:
        assert found is not None
        assert at_least(found, counts, multiplier)
        assert not at_least(found - 1, counts, multiplier)


def test_a_standard_deviation_that_is_whole_is_met_exactly() -> None:
    assert cutoff(2, 4, 10, Fraction(1)) == 3  # of 1 and 3: mean 2, sd 1


def test_counts_beyond_binary_floats_are_still_exact() -> None:
    n = 10**9
    assert cutoff(n, n, 2 * n, Fraction(1)) == 2
    assert cutoff(n, n, 2 * n + 1, Fraction(1)) == 3


def test_no_case_stands_out_where_there_is_none() -> None:
    assert cutoff(0, 0, 0, Fraction(1)) is None
