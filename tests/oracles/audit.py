"""The audit of a series from the definitions: every target against every candidate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

Interval = tuple[int, int] | None
"""None: missing, or any value at all."""
Box = tuple[Interval, ...]


@dataclass(frozen=True)
class Case:
    case_id: str
    raw: Box
    terms: Mapping[str, int]
    """Value -> weight, in units of the release."""
    ss: bool = False


@dataclass(frozen=True)
class Group:
    region: Box
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Release:
    quarter: str
    groups: tuple[Group, ...]
    k: int
    thetas: Mapping[str, Fraction]
    alpha: Fraction = Fraction(1, 2)
    unit: int = 1
    status: str = "released"

    @property
    def ids(self) -> set[str]:
        return {case.case_id for group in self.groups for case in group.cases}

    def region_of(self, case_id: str) -> Box | None:
        for group in self.groups:
            if any(case.case_id == case_id for case in group.cases):
                return group.region
        return None


@dataclass(frozen=True)
class Finding:
    """What is found out about one target."""

    group: int
    target: Case
    candidates: frozenset[str]
    excluded: Mapping[str, frozenset[str]]
    """Attack -> whom it rules out."""
    remaining: frozenset[str]
    dig: bool
    dsg: bool
    ssg: bool
    persistent: bool


def follows(earlier: str, later: str) -> bool:
    """Whether a quarter such as 2011Q4 is the one just after another; other labels go by order."""
    if not all(re.fullmatch("[0-9]{4}Q[1-4]", label) for label in (earlier, later)):
        return True
    numbers = [4 * int(label[:4]) + int(label[5:]) for label in (earlier, later)]
    return numbers[1] - numbers[0] == 1


def covers(region: Box, value: Box) -> bool:
    return all(
        r is None or (v is not None and r[0] <= v[0] and v[1] <= r[1])
        for r, v in zip(region, value, strict=True)
    )


@dataclass(frozen=True)
class Kind:
    """What an attacker knows of a target besides its values."""

    old: bool
    in_next_quarter: bool
    in_previous_quarter: bool


class Attacker:
    """One who has an ordered series and attacks its i-th release."""

    def __init__(
        self,
        series: list[Release],
        i: int,
        attacks: tuple[str, ...],
        scope: str,
        next_ids: set[str] | None = None,
        not_in: set[str] | None = None,
    ) -> None:
        """``not_in``: cases that the target is known not to be one of."""
        self.own, self.attacks, self.scope = series[i], attacks, scope
        self.not_in = not_in or set()
        self.earlier, self.later = series[:i], series[i + 1 :]
        quarters = sorted({release.quarter for release in series})
        at = quarters.index(self.own.quarter)

        def present(quarter: int, neighbours: bool) -> set[str]:
            releases = [r for r in series if neighbours and r.quarter == quarters[quarter]]
            return set().union(*(r.ids for r in releases))

        self.after = next_ids
        if at + 1 < len(quarters):
            self.after = present(at + 1, follows(quarters[at], quarters[at + 1]))
        self.before = present(at - 1, follows(quarters[at - 1], quarters[at])) if at else set()
        past = (release for release in self.earlier if release.quarter < self.own.quarter)
        self.old = set().union(*(release.ids for release in past))
        self.cases = {case.case_id: case for group in self.own.groups for case in group.cases}

    def kind(self, case: Case) -> Kind:
        who = case.case_id
        return Kind(who in self.old, who in (self.after or ()), who in self.before)

    def findings(self) -> Iterator[Finding]:
        """One finding for every case."""
        for number, group in enumerate(self.own.groups):
            for target in group.cases:
                if target.case_id not in self.not_in:
                    yield self.finding(number, target, self.kind(target))

    def guesses(self, values: Iterable[Box]) -> Iterator[Finding]:
        """One finding for each of the values in a region and each kind of case in its group."""
        known = list(values)
        for number, group in enumerate(self.own.groups):
            for kind in {self.kind(case) for case in group.cases}:
                for value in known:
                    if covers(group.region, value):
                        yield self.finding(number, Case("", value, {}), kind)

    def finding(self, number: int, target: Case, kind: Kind) -> Finding:
        own, t = self.own, target.raw
        candidates = frozenset(
            case.case_id
            for n, group in enumerate(own.groups)
            for case in group.cases
            if (n == number if self.scope == "group" else covers(group.region, t))
            and case.case_id not in self.not_in
        )
        after = self.after
        excluded = {
            "b": {c for c in candidates if contradicted(c, t, self.earlier)},
            "f": {c for c in candidates if contradicted(c, t, self.later)},
            "l": {c for c in candidates if c in self.old and not kind.old},
            "md": {c for c in candidates if after and c in after and not kind.in_next_quarter},
        }
        gone = set().union(*(excluded[a] for a in self.attacks if a in excluded))
        remaining = candidates - gone
        totals: dict[str, int] = {}
        for c in remaining:
            for term, weight in self.cases[c].terms.items():
                totals[term] = totals.get(term, 0) + weight
        staying = [
            len(remaining & quarter)
            for quarter, known in (
                (after, kind.in_next_quarter),
                (self.before, kind.in_previous_quarter),
            )
            if quarter is not None and known
        ]
        ss = sum(self.cases[c].ss for c in remaining)
        return Finding(
            group=number,
            target=target,
            candidates=candidates,
            excluded={a: frozenset(excluded.get(a, ())) for a in self.attacks},
            remaining=frozenset(remaining),
            dig=len(remaining) < own.k,
            dsg=bool(remaining)
            and any(
                Fraction(total, own.unit * len(remaining)) > own.thetas[term]
                for term, total in totals.items()
            ),
            ssg="ss" in self.attacks
            and bool(remaining)
            and Fraction(ss, len(remaining)) > own.alpha,
            persistent=any(n < own.k for n in staying),
        )


def erasure(
    series: list[Release],
    i: int,
    attacks: tuple[str, ...],
    scope: str,
    next_ids: set[str] | None = None,
) -> Attacker | None:
    """One who knows that the target left with the next version of the quarter; None: none is there.

    The target is in this version and in no later one, so whoever is in a later one is not it.
    """
    own = series[i]
    newer = [release for release in series[i + 1 :] if release.quarter == own.quarter]
    if not newer:
        return None
    stayed = set().union(*(release.ids for release in newer))
    return Attacker(series, i, attacks, scope, next_ids, stayed)


def contradicted(case_id: str, value: Box, others: list[Release]) -> bool:
    """Whether some of the releases has the case with a region that does not cover the value."""
    regions = (release.region_of(case_id) for release in others)
    return any(region is not None and not covers(region, value) for region in regions)


def left_for_good(series: list[Release], i: int) -> dict[int, int] | None:
    """Group of the i-th release -> its cases that are in no release that is out: of a later
    quarter, or, where a later version of the own one is there, of any. None: there is no such
    release."""
    own = series[i]
    out = [
        release for n, release in enumerate(series)
        if not any(later.quarter == release.quarter for later in series[n + 1 :])
    ]  # fmt: skip
    elsewhere = [r for r in out if own not in out or r.quarter > own.quarter]
    if not elsewhere:
        return None
    seen = set().union(*(release.ids for release in elsewhere))
    return {
        number: sum(case.case_id not in seen for case in group.cases)
        for number, group in enumerate(own.groups)
    }
