"""Which settings are on the frontier, which are worth the whole quarter, which is recommended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from srsql.engine.study.results import finite
from srsql.engine.study.settings import Setting
from srsql.engine.study.sweep import Bounds

DIGITS = 4
"""Losses are shown with so many, and those that look equal are equal to the recommendation."""
NEAR_SHARE, NEAR = 0.25, 10**-DIGITS
"""On a sample, a loss a quarter above the frontier's, and what is not shown, is close to it."""


def frontier(points: Sequence[tuple[float, float]]) -> set[int]:
    """Places of the points (risk, loss) that no other beats: as small in both, smaller in one."""
    kept: set[int] = set()
    least = float("inf")
    best: tuple[float, float] | None = None
    for place in sorted(range(len(points)), key=lambda n: points[n]):
        if points[place][1] < least:
            best, least = points[place], points[place][1]
        if points[place] == best:
            kept.add(place)
    return kept


def judge(settings: Sequence[Setting], bounds: Bounds) -> list[Setting]:
    """The same settings, told which keep the bounds and which are on the frontier.

    There is a frontier for each kind of risk, since a worst case and a mean are not compared, and
    with a bound on the confidence only settings that keep it are on one.
    """
    marked: set[int] = set()
    for kind in ("worst", "mean"):
        places = [
            n
            for n, s in enumerate(settings)
            if s.error is None and s.risk_is == kind and not _excess(s, bounds, only="confidence")
        ]
        found = frontier([settings[n].point for n in places])
        marked |= {places[n] for n in found}
    return [
        replace(s, frontier=n in marked, keeps=s.error is None and not _excess(s, bounds))
        for n, s in enumerate(settings)
    ]


def shortlist(sampled: Sequence[Setting], bounds: Bounds) -> list[int]:
    """Places of the settings that are measured on the whole quarter.

    Those on the frontier of the sample and close to it: no other that is as safe loses less by more
    than ``NEAR``. And those that the sample refused, which the quarter need not.
    """
    chosen = []
    for place, one in enumerate(sampled):
        if one.error is not None:
            chosen.append(place)
            continue
        risk, loss = one.point
        rivals = [
            other.point[1]
            for other in sampled
            if other.error is None
            and other.risk_is == one.risk_is
            and other.point[0] <= risk
            and (bounds.confidence is None or other.frontier)
        ]
        if one.frontier or loss <= min(rivals, default=1.0) * (1 + NEAR_SHARE) + NEAR:
            chosen.append(place)
    return chosen


def recommend(settings: Sequence[Setting], bounds: Bounds) -> list[Setting]:
    """The settings that keep the bounds, the recommended one first.

    Least loss (or, where the loss alone is bounded, least risk) comes first; where that looks
    equal, least risk (loss), then the larger k, then the lower confidence. A setting that is judged
    by its mean risk comes after all whose worst case is known: a mean bounds nobody's risk.
    """
    return sorted((s for s in settings if s.keeps), key=lambda s: _rank(s, bounds))


def nearest(settings: Sequence[Setting], bounds: Bounds) -> Setting:
    """Where none keeps the bounds, the setting that misses them by the least shares, added up."""
    measured = [s for s in settings if s.error is None]
    return min(measured, key=lambda s: (sum(_excess(s, bounds).values()), _rank(s, bounds)))


def missed(one: Setting, bounds: Bounds) -> dict[str, tuple[float, float]]:
    """The bounds that a setting breaks: name -> figure, bound."""
    return {
        name: (_figure(one, name) or 0.0, float(getattr(bounds, name)))
        for name in _excess(one, bounds)
    }


def _figure(one: Setting, name: str) -> float | None:
    """A risk, loss or confidence; a confidence that no threshold bounds may be as large as 1."""
    value: float | None = getattr(one, name)
    return 1.0 if name == "confidence" and value is None and one.error is None else value


def _excess(one: Setting, bounds: Bounds, only: str | None = None) -> dict[str, float]:
    """Of each bound that is broken, by which share of it.

    What is counted is compared exactly (1/3 keeps 1/3, 2/3 keeps 2/3), means as they are stored.
    A setting whose thresholds bound no value that anybody holds keeps no bound on the confidence
    below 1: nothing was measured, which is no evidence.
    """
    found: dict[str, float] = {}
    for name in ("risk", "loss", "confidence"):
        bound = getattr(bounds, name)
        value = _figure(one, name)
        if bound is None or value is None or only not in (None, name):
            continue
        if name == "risk" and one.risk_is == "worst":
            broken = max(one.counted or 1, 1) * bound < 1
        elif name == "confidence" and one.confidence is not None:
            broken = (one.confidence_held or 0) > bound * (one.confidence_of or 0)
        else:
            broken = value > finite(float(bound))
        if broken:
            found[name] = float(value / float(bound)) - 1
    return found


def _rank(one: Setting, bounds: Bounds) -> tuple[object, ...]:
    risk, loss = (round(figure, DIGITS) for figure in one.point)
    first = (risk, loss) if bounds.aim == "risk" else (loss, risk)
    return (one.risk_is == "mean", *first, -one.k, one.confidence or 0.0, one.label)
