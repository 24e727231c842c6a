"""What two tables of counts of the same cases give away together, by sets of cases.

A place is a set of atoms (sex, age in years), so that one lies in another where its atoms do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, combinations

Atom = tuple[str, int]
Place = tuple[tuple[str, ...] | None, tuple[int, int] | None]
"""Values of sex, and ages from the first to the last; None: all."""
SEXES, AGES = ("f", "m"), range(10)


def atoms(place: Place) -> frozenset[Atom]:
    sexes, ages = place
    span = AGES if ages is None else range(ages[0], ages[1] + 1)
    return frozenset((s, a) for s in sexes or SEXES for a in span if a in AGES)


def small_differences(
    one: Mapping[Place, int], other: Mapping[Place, int], k: int, *, alike: bool = True
) -> Iterator[tuple[Place, tuple[Place, ...], int]]:
    """Each place of a table, disjoint places of the other one within it that differ in one column
    alone (or not alike: any disjoint ones), and the 1 to k - 1 cases of the difference."""
    for whole, parts in ((one, other), (other, one)):
        for place, cases in whole.items():
            inside = [p for p in parts if atoms(p) <= atoms(place)]
            for several in _alike(inside) if alike else _disjoint(inside):
                rest = cases - sum(parts[p] for p in several)
                same = frozenset(chain(*map(atoms, several))) == atoms(place)
                if 0 < (abs(rest) if same and len(several) == 1 else rest) < k:
                    yield place, several, rest


def _alike(places: list[Place]) -> Iterator[tuple[Place, ...]]:
    for place in places:
        yield (place,)
    for column in (0, 1):
        groups: dict[object, list[Place]] = {}
        for place in places:
            if place[column] is not None:
                groups.setdefault(place[1 - column], []).append(place)
        for group in groups.values():
            apart = all(not atoms(a) & atoms(b) for a, b in combinations(group, 2))
            if len(group) > 1 and apart:
                yield tuple(group)


def _disjoint(places: list[Place], chosen: tuple[Place, ...] = ()) -> Iterator[tuple[Place, ...]]:
    for number, place in enumerate(places):
        if not any(atoms(place) & atoms(each) for each in chosen):
            yield (*chosen, place)
            yield from _disjoint(places[number + 1 :], (*chosen, place))
