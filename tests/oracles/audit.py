"""The audit of a series from the definitions: every target against every candidate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


def covers(region: Box, value: Box) -> bool:
    return all(
        r is None or (v is not None and r[0] <= v[0] and v[1] <= r[1])
        for r, v in zip(region, value, strict=True)
    )


def findings(
    series: list[Release],
    i: int,
    attacks: tuple[str, ...],
    scope: str,
    next_ids: set[str] | None = None,
) -> Iterator[Finding]:
    """One finding for every target of the i-th release of an ordered series."""
    own = series[i]
    quarters = sorted({release.quarter for release in series})
    at = quarters.index(own.quarter)
    earlier, later = series[:i], series[i + 1 :]
    after = (
        set().union(*(r.ids for r in series if r.quarter == quarters[at + 1]))
        if at + 1 < len(quarters)
        else next_ids
    )
    before = set().union(*(r.ids for r in series if r.quarter == quarters[at - 1])) if at else None
    everyone = {case.case_id: case for group in own.groups for case in group.cases}

    def contradicted(case_id: str, value: Box, others: list[Release]) -> bool:
        regions = (release.region_of(case_id) for release in others)
        return any(region is not None and not covers(region, value) for region in regions)

    old = set().union(*(release.ids for release in earlier))
    for number, group in enumerate(own.groups):
        for target in group.cases:
            t, who = target.raw, target.case_id
            candidates = frozenset(
                case.case_id
                for other in own.groups
                for case in other.cases
                if (other is group if scope == "group" else covers(other.region, t))
            )
            excluded = {
                "b": {c for c in candidates if contradicted(c, t, earlier)},
                "f": {c for c in candidates if contradicted(c, t, later)},
                "l": {c for c in candidates if c in old and who not in old},
                "md": {
                    c for c in candidates if after is not None and c in after and who not in after
                },
            }
            gone = set().union(*(excluded[a] for a in attacks if a in excluded))
            remaining = candidates - gone
            totals: dict[str, int] = {}
            for c in remaining:
                for term, weight in everyone[c].terms.items():
                    totals[term] = totals.get(term, 0) + weight
            staying = [
                len(remaining & quarter)
                for quarter in (after, before)
                if quarter is not None and who in quarter
            ]
            ss = sum(everyone[c].ss for c in remaining)
            yield Finding(
                group=number,
                target=target,
                candidates=candidates,
                excluded={a: frozenset(excluded.get(a, ())) for a in attacks},
                remaining=frozenset(remaining),
                dig=len(remaining) < own.k,
                dsg=bool(remaining)
                and any(
                    Fraction(total, own.unit * len(remaining)) > own.thetas[term]
                    for term, total in totals.items()
                ),
                ssg="ss" in attacks
                and bool(remaining)
                and Fraction(ss, len(remaining)) > own.alpha,
                persistent=any(n < own.k for n in staying),
            )
