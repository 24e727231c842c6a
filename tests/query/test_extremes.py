"""The ends of means, quantiles and shares against all that units may be, tried one by one."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction

import duckdb
import pytest

from srsql.engine.query.extremes import Alike, Hits, share_ends, value_ends
from srsql.engine.query.worlds import FARTHEST_VALUE

QUANTILES = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(7, 10),
             Fraction(19, 20), Fraction(1)]  # fmt: skip


def mean(values: list[int]) -> Fraction:
    return Fraction(sum(values), len(values))


def discrete(values: list[int], quantile: Fraction) -> Fraction:
    """The first value that so many of all do not exceed."""
    listed = sorted(values)
    return Fraction(next(v for n, v in enumerate(listed, 1) if n >= quantile * len(listed)))


def continuous(values: list[int], quantile: Fraction) -> Fraction:
    listed, place = sorted(values), quantile * (len(values) - 1)
    below = listed[int(place)]
    above = listed[min(int(place) + 1, len(listed) - 1)]
    return below + (place - int(place)) * (above - below)


def every_choice(units: list[Alike]) -> Iterator[list[int]]:
    """The values of all who may count, in every way."""
    choices = []
    for unit in units:
        values: list[int | None] = list(range(unit.first, unit.last + 1))
        choices += [values if unit.certain else [*values, None]] * unit.members
    for chosen in itertools.product(*choices):
        if values_ := [value for value in chosen if value is not None]:
            yield values_


def random_units(rng: random.Random) -> list[Alike]:
    units = []
    for _ in range(rng.randint(1, 4)):
        first = rng.randint(-3, 4)
        units.append(Alike(first, first + rng.choice([0, 0, 1, 2]), rng.random() < 0.5, False,
                           False, rng.choice([1, 1, 2]), 0.5))  # fmt: skip
    return units


def test_means_and_quantiles_reach_their_ends_and_never_go_beyond() -> None:
    rng = random.Random(7)
    for _ in range(250):
        units = random_units(rng)
        choices = list(every_choice(units))
        quantile = rng.choice(QUANTILES)
        for asked, interpolated, found in (
            (None, False, [mean(values) for values in choices]),
            (quantile, False, [discrete(values, quantile) for values in choices]),
            (quantile, True, [continuous(values, quantile) for values in choices]),
        ):
            lower, expected, upper = value_ends(units, asked, interpolated=interpolated)
            assert (lower, upper) == (min(found), max(found)), (units, asked, interpolated)
            assert expected is not None
            assert lower <= expected <= upper  # type: ignore[operator]


def test_places_of_quantiles_are_those_of_duckdb() -> None:
    rng = random.Random(8)
    for _ in range(120):
        values = [rng.randint(-5, 9) for _ in range(rng.randint(1, 31))]
        quantile = Fraction(rng.randint(0, 100), 100)
        units = [Alike(value, value, True, False, True, 1, 1.0) for value in values]
        text = f"{float(quantile):.2f}"
        ((cont, disc, average, middle),) = duckdb.execute(
            f"SELECT quantile_cont(v, {text}), quantile_disc(v, {text}), avg(v), median(v) "
            "FROM unnest(?::BIGINT[]) AS t(v)",
            [values],
        ).fetchall()
        for truth, asked, interpolated in (
            (cont, quantile, True),
            (disc, quantile, False),
            (average, None, False),
            (middle, Fraction(1, 2), True),
        ):
            lower, expected, upper = value_ends(units, asked, interpolated=interpolated)
            assert lower == expected == upper
            assert float(lower or 0) == pytest.approx(truth, abs=1e-9)


def test_without_limits_of_the_values_there_is_no_bound_where_one_may_move_it() -> None:
    sure = Alike(5, 7, True, False, True, 3, 3.0)
    nobody_knows = Alike(-FARTHEST_VALUE, FARTHEST_VALUE, False, True, False, 1, 0.0)
    assert value_ends([sure, nobody_knows], None, interpolated=False) == (None, 6, None)
    assert value_ends([sure, nobody_knows], Fraction(1, 2), interpolated=False) == (5, 6, 7)
    assert value_ends([sure, nobody_knows], Fraction(1), interpolated=False) == (5, 6, None)
    assert value_ends([sure, nobody_knows], Fraction(0), interpolated=True) == (None, 6, 7)
    assert value_ends([], None, interpolated=False) == (None, None, None)


STATES = [
    frozenset(s) for n in (1, 2, 3) for s in itertools.combinations(("out", "rest", "hit"), n)
]


def test_shares_reach_their_ends_and_never_go_beyond() -> None:
    rng = random.Random(9)
    for _ in range(400):
        units = [rng.choice(STATES) for _ in range(rng.randint(1, 6))]
        found = [
            Fraction(chosen.count("hit"), len(chosen) - chosen.count("out"))
            for chosen in itertools.product(*units)
            if chosen.count("out") < len(chosen)
        ]
        hits = Hits(
            (sum("out" not in u for u in units), 1.0, sum(u != {"out"} for u in units), 0),
            (units.count(frozenset({"hit"})), 0.5, sum("hit" in u for u in units), 0),
            (units.count(frozenset({"rest"})), sum("rest" in u for u in units)),
        )
        lower, expected, upper = share_ends(hits)
        if not found:
            assert lower is expected is upper is None
            continue
        assert (lower, upper) == (min(found), max(found)), units
        assert expected is not None
        assert min(found) <= expected <= max(found)
