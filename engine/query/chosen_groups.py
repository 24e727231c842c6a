"""Which groups HAVING, LIMIT and OFFSET leave: surely, possibly or not, by bounds of the counts.

A group is surely left if it is so whatever counts between the bounds are true, and left out if it
is whatever they are. It surely exists if it has a row in every world. Ties are broken by the group
columns, as in the answer itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import total_ordering
from typing import Any

from srsql.engine.query.question import Order, Question

Bounds = tuple[Any, Any, Any, Any]
"""Lower, expected, upper, known."""


@dataclass(frozen=True)
class Group:
    """One group with the bounds of its aggregates."""

    key: tuple[Any, ...]
    bounds: tuple[Bounds, ...]
    """Of each aggregate of the question."""
    is_sure: bool
    """It exists whatever is true."""
    is_null: tuple[bool, ...]
    """Whether an aggregate may have no value."""
    is_certain: bool = True
    """HAVING and LIMIT leave it whatever is true."""


def chosen(question: Question, groups: Sequence[Group], hidden: int) -> list[Group]:
    """The groups that the question may show, in its order, each with whether it surely does.

    Args:
        question: has the order, HAVING and LIMIT.
        groups: all of them.
        hidden: so many units may have a group that no row shows.
    """
    left = [found for group in groups for found in _having(question, group)]
    keys = list(_keys(question))
    left.sort(key=lambda group: [_middle(group, key) for key in keys])
    if question.limit is None and not question.offset:
        return left if question.having else [replace(group, is_certain=True) for group in left]
    ends = {id(group): _ends(question, group, keys) for group in left}
    earliest = sorted(ends[id(group)][0] for group in left)
    latest = sorted(ends[id(group)][1] for group in left if group.is_certain)
    stop = len(groups) if question.limit is None else question.offset + question.limit
    found = []
    for group in left:
        first, last = ends[id(group)]
        before = bisect_left(latest, first)
        maybe = bisect_left(earliest, last) - (first < last)
        if before >= stop or maybe + 1 <= question.offset:
            continue
        is_certain = group.is_certain and maybe < stop and before >= question.offset
        if hidden and is_certain:
            is_certain = _beats(question, group, hidden)
        found.append(replace(group, is_certain=is_certain))
    return found


def _having(question: Question, group: Group) -> Iterator[Group]:
    """The group, if HAVING may leave it."""
    outcomes = {True}
    if question.having is not None:
        limits = {n: _between(question, group, n) for n in question.having.limits}
        outcomes = question.having.outcomes(limits)
    if True in outcomes:
        yield replace(group, is_certain=group.is_sure and outcomes == {True})


def _beats(question: Question, group: Group, hidden: int) -> bool:
    """Whether a group comes before all that no row shows, which may have as many units."""
    order = next(iter(question.order), None)
    if order is None or order.group is not None or not order.descending or question.offset:
        return False
    measure = question.measures[order.measure]
    return measure.is_plain and bool(group.bounds[order.measure][0] > hidden)


def _keys(question: Question) -> Iterator[Order]:
    """The keys of the order, and the group columns that break ties."""
    yield from question.order
    named = {order.group for order in question.order}
    for n in range(len(question.groups)):
        if n not in named:
            yield Order(n, False, False)


def _middle(group: Group, key: Order) -> _Place:
    value = group.bounds[key.measure][1] if key.group is None else group.key[key.group]
    return _Place.of(value, key)


def _between(question: Question, group: Group, number: int) -> tuple[Any, Any]:
    """The ends of an aggregate, where the group exists: then some unit is counted."""
    lower, _, upper, _ = group.bounds[number]
    exists = question.groups and question.measures[number].is_plain
    return (max(1, lower) if exists else lower), upper


def _ends(
    question: Question, group: Group, keys: Sequence[Order]
) -> tuple[list[_Place], list[_Place]]:
    """Where a group stands at the earliest and at the latest."""
    earliest, latest = [], []
    for key in keys:
        if key.group is not None:
            places = [_Place.of(group.key[key.group], key)]
        else:
            lower, upper = _between(question, group, key.measure)
            places = [_Place.of(end, key) for end in (lower, upper) if end is not None]
            if lower is None or upper is None:
                places += [_Place(None, key.descending, end) for end in (-1, 1)]
            if group.is_null[key.measure]:
                places.append(_Place.of(None, key))
        earliest.append(min(places))
        latest.append(max(places))
    return earliest, latest


@total_ordering
@dataclass(frozen=True)
class _Place:
    """Where a value stands in an order that may be descending, and has NULL at one of its ends."""

    value: Any
    descending: bool
    end: int
    """-1, 1: before or after all values, being NULL; 0: a value."""

    @classmethod
    def of(cls, value: Any, key: Order) -> _Place:
        return cls(value, key.descending, (-1 if key.nulls_first else 1) if value is None else 0)

    def __lt__(self, other: _Place) -> bool:
        if self.end or other.end:
            return self.end < other.end
        one, two = (other, self) if self.descending else (self, other)
        return bool(one.value < two.value)
