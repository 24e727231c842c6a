"""One attacker against a series, from Huang's definitions alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from oracles.audit import follows

Interval = tuple[int, int]
Region = tuple[Interval | None, ...]
"""One interval a quasi-identifier; None where it is missing, which covers everything."""


@dataclass(frozen=True)
class Published:
    """One release, superseded or not, in the order in which the attacker got them."""

    quarter: str
    region: Mapping[int, Region]
    """Case -> its region."""
    terms: Mapping[int, frozenset[str]]


@dataclass(frozen=True)
class Outcome:
    candidates: frozenset[int]
    excluded: Mapping[str, frozenset[int]]
    not_evaluated: tuple[str, ...]
    remaining: frozenset[int]
    confidence: Mapping[str, Fraction]
    persistence: Mapping[str, frozenset[int]]


def covers(region: Region, known: Mapping[int, Interval]) -> bool:
    ends = {position: region[position] for position in known}
    return all(
        end is None or (end[0] <= known[position][0] and known[position][1] <= end[1])
        for position, end in ends.items()
    )


def play(
    series: Sequence[Published],
    at: int,
    known: Mapping[int, Interval],
    *,
    new: bool,
    stopped: bool,
    left: bool = False,
    stayed: bool = False,
    gone: bool = False,
) -> Outcome:
    """The attack on ``series[at]``, which is ordered by quarter and, within it, by time."""
    target = series[at]
    quarters = sorted({release.quarter for release in series})
    place = quarters.index(target.quarter)
    after = quarters[place + 1] if place + 1 < len(quarters) else None
    before = quarters[place - 1] if place else None
    neighbours = {
        "next": after if after and follows(target.quarter, after) else None,
        "previous": before if before and follows(before, target.quarter) else None,
    }

    def present(quarter: str | None) -> set[int]:
        return {case for r in series if r.quarter == quarter for case in r.region}

    candidates = {case for case, region in target.region.items() if covers(region, known)}
    excluded = {
        name: {
            case
            for case in candidates
            for release in releases
            if case in release.region and not covers(release.region[case], known)
        }
        for name, releases in (("B", series[:at]), ("F", series[at + 1 :]))
    }
    if new:
        excluded["L"] = {
            c
            for c in candidates
            if any(c in r.region for r in series if r.quarter < target.quarter)
        }
    if stopped:
        excluded["MD"] = candidates & present(neighbours["next"])
    if stayed:
        following = neighbours["next"]
        excluded["P"] = candidates - present(following) if following else set()
    if left:
        excluded["E"] = {
            c
            for c in candidates
            if any(c in r.region for r in series[at + 1 :] if r.quarter == target.quarter)
        }
    out = {r.quarter: n for n, r in enumerate(series)}  # the last version of each quarter
    replaced = at not in out.values()
    telling = [series[n] for quarter, n in out.items() if replaced or quarter > target.quarter]
    if gone:
        excluded["G"] = {c for c in candidates for r in telling if c in r.region}
    remaining = candidates.difference(*excluded.values())
    held: dict[str, int] = {}
    for case in remaining:
        for term in target.terms[case]:
            held[term] = held.get(term, 0) + 1
    told_of = {
        "next": stopped or stayed or gone, "previous": new or stayed or (gone and left)
    }  # fmt: skip
    not_told = {
        "MD": stopped and neighbours["next"] is None,
        "P": stayed and neighbours["next"] is None,
        "G": gone and not telling,
    }
    return Outcome(
        frozenset(candidates),
        {name: frozenset(cases) for name, cases in excluded.items()},
        tuple(name for name, lacks in not_told.items() if lacks),
        frozenset(remaining),
        {term: Fraction(n, len(remaining)) for term, n in held.items()},
        {
            quarter: frozenset(remaining & present(quarter))
            for side, quarter in neighbours.items()
            if quarter is not None and not told_of[side]
        },
    )
