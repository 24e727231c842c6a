"""Those who stay: the persistence attack as one that gates, and rules under which it fails.

The attack knows the target's quasi-identifiers in a release and, for one window of two consecutive
periods, whether the target is released in each. What joining releases excludes (B, F, and L for a
target that was never released before) is excluded as well. Backward knowledge joins neither MD nor
forward knowledge: that would be three periods.

The rules, for a release T_i whose next quarter is known, with "new" for a case that no earlier
release has:

1. The region of a group covers the first released region of each of its old cases, and what every
   case has now.
2. In a group those who are in the next quarter and those who are not are either none, or k new ones
   or more among them, and no value is held by more of them than floor(theta max(k, new ones)).
3. All cases of a group that are in the next quarter, its *cohort*, share one group of the next
   release, or none of them is released there; nor is a case of the group that turns up in that
   quarter after all. Of what they hold there, no value is held by more of
   them than floor(theta max(k, those that were new in T_i)). Whoever else is in that group does not
   count: who knows that the target stayed excludes them.

Why they are enough. Let c be new in T_i, in group g. No earlier release has it, and every later one
shows it in a region that covers g's (rule 1), so neither B, F nor L excludes it for a target whose
values g's region covers.

* Window (i, i + 1), at T_i. The candidates of a group that are left are its cohort or the rest of
  it, or all of it where the cohort is not released: by rule 2 none, or k new ones and more.
* Window (i - 1, i), at T_i, of a target that was released in both. If a case is left, the region
  that it had in T_(i-1) covers the target's values (else B excludes it), so that of all who were
  new there in its cohort is covered, too, and by rule 3 all of these stand in the same group: of
  every cohort none is left, or k and more. A target whose values moved out of its own earlier
  region excludes itself.
* Window (i - 1, i), at T_i, of one that was not in T_(i-1): who is new in T_i was not either, so
  rule 2 leaves k.

Values: of every class or cohort of which somebody is left all new ones are, and rules 2 and 3 bound
what all of it hold by a share of these. Shares over several are means of those of each. So it holds
among the cases of the target's group and among all whose region covers its values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import floor

Interval = tuple[int, int]
Box = tuple[Interval, ...]
Point = tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """A group of one release; cases by number."""

    region: Box
    cases: frozenset[int]


@dataclass
class Quarter:
    """Who reported what, and what of it was released."""

    values: dict[int, Point]
    """Case -> its quasi-identifiers, of all cases of the quarter."""
    terms: dict[int, frozenset[str]]
    goes_on: frozenset[int]
    """Cases that the next quarter had when this one was released; one may have been deleted since.
    """
    groups: list[Group] = field(default_factory=list)

    @property
    def released(self) -> frozenset[int]:
        return frozenset().union(*(group.cases for group in self.groups))

    def group_of(self, case: int) -> Group | None:
        return next((group for group in self.groups if case in group.cases), None)


@dataclass(frozen=True)
class Known:
    """What an attack on one target leaves."""

    quarter: int
    target: int
    scope: str
    window: str
    remaining: frozenset[int]
    self_excluded: bool


def covers(region: Box, value: Point) -> bool:
    return all(low <= v <= high for (low, high), v in zip(region, value, strict=True))


def contains(outer: Box, inner: Box) -> bool:
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))


def released_before(series: Sequence[Quarter], i: int) -> frozenset[int]:
    return frozenset().union(*(quarter.released for quarter in series[:i]))


def attacks(series: Sequence[Quarter]) -> Iterator[Known]:
    """Every target of every release, in both scopes, in every window of two released periods."""
    for i, quarter in enumerate(series):
        old = released_before(series, i)
        beside = {"none": None, "next": i + 1, "previous": i - 1}
        for group, scope in product(quarter.groups, ("group", "match")):
            for target in group.cases:
                value = quarter.values[target]
                candidates = {
                    case
                    for other in quarter.groups
                    for case in other.cases
                    if (other is group if scope == "group" else covers(other.region, value))
                }
                excluded = {
                    case
                    for case in candidates
                    for j, at in enumerate(series)
                    if j != i and (where := at.group_of(case)) and not covers(where.region, value)
                }
                excluded |= candidates & old if target not in old else set()
                for window, j in beside.items():
                    left = candidates - excluded
                    if j is not None:
                        if not 0 <= j < len(series):
                            continue
                        there = series[j].released
                        left = left & there if target in there else left - there
                    yield Known(i, target, scope, window, frozenset(left), target not in left)


def too_little_is_left(
    series: Sequence[Quarter], k: int, thetas: Mapping[str, Fraction]
) -> list[tuple[Known, str]]:
    """Attacks that leave fewer than k, or a value with more than its share; none of targets that
    their own values exclude."""
    found = []
    for known in attacks(series):
        if known.self_excluded:
            continue
        if len(known.remaining) < k:
            found.append((known, "k"))
        terms = [series[known.quarter].terms[case] for case in known.remaining]
        for term in set().union(*terms):
            if sum(term in held for held in terms) > thetas[term] * len(terms):
                found.append((known, term))
    return found


def broken_rules(
    series: Sequence[Quarter], k: int, thetas: Mapping[str, Fraction]
) -> list[tuple[int, int]]:
    """(rule, quarter) of every rule that a release breaks."""
    found = []

    def within(cases: frozenset[int], terms: Mapping[int, frozenset[str]], new: int) -> bool:
        held = [terms[case] for case in cases]
        return all(
            sum(term in one for one in held) <= floor(theta * max(k, new))
            for term, theta in thetas.items()
        )

    for i, quarter in enumerate(series):
        old = released_before(series, i)
        for group in quarter.groups:
            first = {
                case: next(g for at in series if (g := at.group_of(case))).region
                for case in group.cases
            }
            if not all(
                contains(group.region, first[case]) and covers(group.region, quarter.values[case])
                for case in group.cases
            ):
                found.append((1, i))
            cohort = group.cases & quarter.goes_on
            for part in (cohort, group.cases - cohort):
                new = len(part - old)
                if part and (new < k or not within(part, quarter.terms, new)):
                    found.append((2, i))
            if i + 1 == len(series):
                continue
            after = series[i + 1]
            if (group.cases - cohort) & after.released:
                found.append((3, i))
            if not cohort:
                continue
            homes = {after.groups.index(g) if (g := after.group_of(c)) else -1 for c in cohort}
            if len(homes) > 1 or (
                homes != {-1} and not within(cohort, after.terms, len(cohort - old))
            ):
                found.append((3, i))
    return found
