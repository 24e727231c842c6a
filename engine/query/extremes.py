"""The ends of shares, means and quantiles, from what the units of a group may be.

A unit that surely counts has some value between its ends; one that possibly counts has, or is left
out. The least mean takes every value at its lower end and adds of the possible ones, from the
lowest up, those that lie below the mean so far: whatever else is added raises it. The least
quantile does so, too. Between the two values that a quantile is interpolated of, one more may move
it either way, so these are tried one at a time. The greatest is the same with signs turned.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from srsql.engine.query.worlds import FARTHEST_VALUE


@dataclass(frozen=True)
class Alike:
    """Units of a group that are alike, as ``unit_states.ENDS`` says."""

    first: int
    last: int
    """Ends of their values, in granules."""
    certain: bool
    missing: bool
    known: bool
    members: int
    part: float


@dataclass(frozen=True)
class Hits:
    """Units of a group that meet a filter, and the rest of the group, as ``unit_states.HITS``."""

    total: tuple[int, float, int, int]
    hits: tuple[int, float, int, int]
    """Lower, expected, upper, known."""
    rest: tuple[int, int]

    def without(self, hidden: int) -> Hits:
        """Where so many units may be otherwise than rows show."""

        def wider(counts: tuple[int, float, int, int]) -> tuple[int, float, int, int]:
            lower, expected, upper, known = counts
            return max(0, lower - hidden), expected, upper + hidden, max(0, known - hidden)

        rest = max(0, self.rest[0] - hidden), self.rest[1] + hidden
        return Hits(wider(self.total), wider(self.hits), rest)


Ends = tuple[Fraction | None, Fraction | None, Fraction | None]
"""Lower, expected, upper; None: there is no bound, or no value."""


def share_ends(found: Hits) -> Ends:
    """The ends of the share of a group that meets a filter.

    Where the rest may be nobody and those who meet the filter may, the share is 1 if it is any.
    """
    (least, about, most, _), (fewest, others) = found.hits, found.rest
    if not most + others:
        return None, None, None
    lower = Fraction(least, least + others) if least + others else Fraction(1)
    upper = Fraction(most, most + fewest) if most + fewest else Fraction(0)
    expected = Fraction(about) / Fraction(found.total[1]) if found.total[1] else lower
    return lower, min(upper, max(lower, expected)), upper


def value_ends(units: Sequence[Alike], quantile: Fraction | None, *, interpolated: bool) -> Ends:
    """The ends of a mean or quantile, in granules.

    Args:
        units: of one group.
        quantile: from 0 to 1; None: the mean is asked.
        interpolated: between two values, where none stands at the place of the quantile.
    """
    if not units:
        return None, None, None
    sides: list[Fraction | None] = []
    for sign in (1, -1):
        sure = [(unit.first if sign > 0 else -unit.last, unit.members) for unit in units
                if unit.certain]  # fmt: skip
        more = [(unit.first if sign > 0 else -unit.last, unit.members) for unit in units
                if not unit.certain]  # fmt: skip
        if quantile is None:
            least = _least_mean(sure, sorted(more))
        else:
            place = quantile if sign > 0 else 1 - quantile
            # from the other side a place between two values is counted to the other one
            least = _least_quantile(sure, sorted(more), _Place(place, interpolated, sign < 0))
        sides.append(None if least is None else sign * least)
    lower, upper = sides
    expected = _expected(units, quantile)
    if expected is not None and lower is not None:
        expected = max(lower, expected)
    if expected is not None and upper is not None:
        expected = min(upper, expected)
    return lower, expected, upper


Counted = tuple[int, int]
"""A value, and how many have it."""


def _least_mean(sure: Iterable[Counted], more: Iterable[Counted]) -> Fraction | None:
    total, members = 0, 0
    for value, count in sure:
        total, members = total + value * count, members + count
    for value, count in more:
        if value <= -FARTHEST_VALUE:
            return None
        if members and value * members >= total:
            break
        total, members = total + value * count, members + count
    return Fraction(total, members)


@dataclass(frozen=True)
class _Place:
    """Where a quantile stands among sorted values."""

    quantile: Fraction
    interpolated: bool
    mirrored: bool
    """The values are those of a greatest quantile, with signs turned."""

    def of(self, members: int) -> Fraction:
        """The place, from 0, that of the first value."""
        if self.interpolated:
            return (members - 1) * self.quantile
        if self.mirrored:  # the rank from below, seen from above
            return Fraction(members - _rank(members, 1 - self.quantile))
        return Fraction(_rank(members, self.quantile) - 1)


def _rank(members: int, quantile: Fraction) -> int:
    """The rank, from 1, of the first value that so much of all values do not exceed."""
    return max(1, math.ceil(members * quantile))


def _least_quantile(
    sure: Iterable[Counted], more: Iterable[Counted], place: _Place
) -> Fraction | None:
    counts: dict[int, int] = {}
    for value, count in sure:
        counts[value] = counts.get(value, 0) + count
    best: Fraction | float | None = None
    if counts:
        best, _, _ = _quantile(counts, place)
    for value, count in more:
        left = count
        while left:
            added = left
            if counts:
                _, below, above = _quantile(counts, place)
                if value >= above and value > below:
                    return _finite(best)
                added = left if value <= below else 1
            counts[value] = counts.get(value, 0) + added
            left -= added
            found, _, _ = _quantile(counts, place)
            best = found if best is None else min(best, found)
    return _finite(best)


def _quantile(counts: dict[int, int], place: _Place) -> tuple[Fraction | float, int, int]:
    """The quantile, and the values on both sides of its place."""
    at = place.of(sum(counts.values()))
    whole = math.floor(at)
    below, above = _at(counts, [whole, math.ceil(at)])
    part = at - whole
    if not part:
        return _extended(below), below, above
    if below <= -FARTHEST_VALUE or above >= FARTHEST_VALUE:
        return (-math.inf if below <= -FARTHEST_VALUE else math.inf), below, above
    return below + part * (above - below), below, above


def _at(counts: dict[int, int], places: list[int]) -> Iterator[int]:
    """The values at these places, ascending."""
    passed, waiting = 0, list(places)
    for value in sorted(counts):
        passed += counts[value]
        while waiting and waiting[0] < passed:
            waiting.pop(0)
            yield value


def _extended(value: int) -> Fraction | float:
    if abs(value) >= FARTHEST_VALUE:
        return math.copysign(math.inf, value)
    return Fraction(value)


def _finite(value: Fraction | float | None) -> Fraction | None:
    return value if isinstance(value, Fraction) else None


def _expected(units: Sequence[Alike], quantile: Fraction | None) -> Fraction | None:
    """By the middle of each region, of those that have one; else of the domain, if it has ends."""
    chosen = [unit for unit in units if not unit.missing and unit.part > 0] or [
        unit for unit in units if abs(unit.first) < FARTHEST_VALUE > abs(unit.last)
    ]
    weighed = sorted(
        (Fraction(unit.first + unit.last, 2), Fraction(unit.part) or Fraction(unit.members))
        for unit in chosen
    )
    total = sum(weight for _, weight in weighed)
    if not total:
        return None
    if quantile is None:
        return sum((middle * weight for middle, weight in weighed), Fraction(0)) / total
    passed = Fraction(0)
    for middle, weight in weighed:
        passed += weight
        if passed >= quantile * total:
            return middle
    return weighed[-1][0]
