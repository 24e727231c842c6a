"""Which settings are on the frontier, which one is recommended, and the reasons in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from srsql.engine.errors import AdviseError
from srsql.engine.extras.study.results import finite
from srsql.engine.extras.study.settings import Setting
from srsql.engine.models import MODELS
from srsql.engine.parameters.takes import Amount, RefusedError

Share = str | float | Fraction | None
USUAL_RISK = Fraction(1, 5)
"""Bound on the risk where no bound is given: what is typically used (Loukides 2014, section 6.2:
k = 5, so that nobody is picked with a chance above 0.2)."""
DIGITS = 4
"""Losses are shown with so many, and those that look equal are equal to the recommendation."""
NEAR_SHARE, NEAR = 0.25, 10**-DIGITS
"""On a sample, a loss a quarter above the frontier's, and what is not shown, is close to it."""
INFEASIBLE_SHOWN = 5
"""Values with more cases than their threshold allows that are named."""


@dataclass(frozen=True)
class Bounds:
    """What a release must keep; None: unbounded."""

    risk: Fraction | None
    loss: Fraction | None
    confidence: Fraction | None = None
    """In any sensitive value whose threshold is below 1."""

    @property
    def aim(self) -> Literal["risk", "loss"]:
        """What is as small as possible within the bounds: the loss, unless it alone is bounded."""
        return "risk" if self.risk is None and self.loss is not None else "loss"


def make_bounds(max_risk: Share, max_loss: Share, max_confidence: Share = None) -> Bounds:
    """Bounds from shares such as 0.1 or 1/11; the usual risk where neither it nor loss is bounded.

    Args:
        max_risk: largest chance of picking a patient's record; None: unbounded, as the others.
        max_loss: largest loss of quasi-identifiers, withheld cases included.
        max_confidence: largest confidence in a sensitive value with a threshold below 1.

    Raises:
        AdviseError: not a share above 0 and at most 1.
    """
    options = {
        f"--max-{name}": text
        for name, text in (("risk", max_risk), ("loss", max_loss), ("confidence", max_confidence))
    }
    shares = [
        None if text is None else _parse_bound(text, option) for option, text in options.items()
    ]
    if shares[0] is None and shares[1] is None:
        shares[0] = USUAL_RISK
    return Bounds(*shares)


def _parse_bound(given: str | float | Fraction, option: str) -> Fraction:
    try:
        return Amount(1, noun="share").read(given, option)
    except RefusedError as why:
        raise AdviseError(str(why)) from None


def frontier(points: Sequence[tuple[float, float]]) -> set[int]:
    """Places of the points (risk, loss) that no other beats: as small in both, smaller in one."""
    places: set[int] = set()
    least = float("inf")
    best: tuple[float, float] | None = None
    for place in sorted(range(len(points)), key=lambda n: points[n]):
        if points[place][1] < least:
            best, least = points[place], points[place][1]
        if points[place] == best:
            places.add(place)
    return places


def judge(settings: Sequence[Setting], bounds: Bounds) -> list[Setting]:
    """The same settings, marked as keeping the bounds and as being on the frontier.

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


def format_share(value: float | None) -> str:
    """A risk or loss as it is shown."""
    return "" if value is None else f"{value:.{DIGITS}f}"


def describe_risk(one: Setting) -> str:
    """The risk of a setting, and which one it is."""
    if one.risk_is == "mean":
        return f"mean risk {format_share(one.risk)}"
    return f"worst risk {format_share(one.risk)} (1 of {max(one.counted or 1, 1)})"


def describe_bounds(bounds: Bounds) -> str:
    """Such as ``risk <= 0.2 and loss <= 0.05``."""
    named = ((n, getattr(bounds, n)) for n in ("risk", "loss", "confidence"))
    return " and ".join(f"{n} <= {_bound(value)}" for n, value in named if value is not None)


def _bound(value: Fraction) -> str:
    text = f"{float(value):.{DIGITS}g}"
    return text if Fraction(text) == value else str(value)


def reason_for(keeping: Sequence[Setting], every: Sequence[Setting], bounds: Bounds) -> str:
    """Why the first of ``keeping`` is recommended, what came next, and what the bounds cost.

    Args:
        keeping: the settings that keep the bounds, best first.
        every: all that were measured on the quarter.
        bounds: those that they keep.
    """
    best = keeping[0]
    figures = [f"loss {format_share(best.loss)}", describe_risk(best)]
    least, (figure, other) = bounds.aim, figures if bounds.aim == "loss" else figures[::-1]
    sentences = [
        f"{best.label} has the least {least} of the {len(keeping)} settings that keep "
        f"{describe_bounds(bounds)}: {figure}, {other}."
        if len(keeping) > 1
        else f"{best.label} is the only setting that keeps {describe_bounds(bounds)}: {figure}, "
        f"{other}."
    ]
    if best.risk_is == "mean":
        sentences.append("Its risk is a mean over the cases of one draw: it bounds nobody's own.")
    if len(keeping) > 1:
        second = next((s for s in keeping[1:] if not _same(s, best)), keeping[1])
        sentences.append(f"Runner-up: {second.label}, {_why(second, best, bounds)}.")
    if bounds.aim == "loss":
        sentences += _tempting(best, every, bounds)
    return " ".join(sentences)


def _same(one: Setting, other: Setting) -> bool:
    """Whether both measure the same, as it is shown: such as two k below what theta needs."""
    return (one.risk_is, *map(format_share, one.point)) == (
        other.risk_is,
        *map(format_share, other.point),
    )


def _why(second: Setting, best: Setting, bounds: Bounds) -> str:
    if second.risk_is != best.risk_is:
        return (
            f"whose {describe_risk(second)} bounds nobody's own (loss {format_share(second.loss)})"
        )
    pairs = [("loss", second.loss, best.loss), ("risk", second.risk, best.risk)]
    for name, its, bests in pairs if bounds.aim == "loss" else reversed(pairs):
        if format_share(its) != format_share(bests):
            also = f", at {describe_risk(second)}" if name == "loss" else ""
            return f"whose {name} is {format_share(its)}{also}"
    if second.k != best.k:
        return f"which measures the same but promises groups of {second.k} only"
    return f"which measures the same, with confidence {format_share(second.confidence)} in a value"


def _tempting(best: Setting, every: Sequence[Setting], bounds: Bounds) -> Iterator[str]:
    """The setting that would lose least, were it not for a bound."""
    better = [
        s for s in every
        if not s.error and not s.keeps and s.risk_is == best.risk_is
        and s.point[1] < best.point[1]
    ]  # fmt: skip
    if better:
        first = min(better, key=lambda s: (s.point[1], -s.k))
        broken = ", ".join(f"{n} {format_share(v)}" for n, (v, _) in missed(first, bounds).items())
        yield f"{first.label} would lose {format_share(first.loss)}, but breaks a bound: {broken}."


def reason_none(near: Setting | None, bounds: Bounds, *, joined: bool) -> str:
    """Which setting comes nearest to bounds that none keeps, and by how much it misses them.

    Args:
        near: that setting; None: there is none.
        bounds: those that it misses.
        joined: the attacker has earlier releases of the series.
    """
    if near is None:
        return ""
    broken = ", ".join(
        f"{name} {format_share(value)} is {format_share(value - bound)} above {format_share(bound)}"
        for name, (value, bound) in missed(near, bounds).items()
    )
    reason = (
        f"No setting keeps {describe_bounds(bounds)}. Nearest: {near.label}: {broken} "
        f"({describe_risk(near)}, loss {format_share(near.loss)})."
    )
    if joined and near.risk_is == "worst" and MODELS[near.model].history.covers == "none":
        reason += (
            f" {near.model} does not withstand those who join releases: start another --series "
            "with a periodical model, such as ppms++."
        )
    return reason


def describe_withheld(one: Setting) -> list[str]:
    """What a release with this setting would withhold, and why."""
    text = f"withholds {one.withheld:,} of {one.cases:,} cases ({one.withheld_share:.2%})"
    if one.withheld_why:
        text += ": " + ", ".join(f"{why} {n:,}" for why, n in one.withheld_why.items())
    lines = [text]
    shown = one.infeasible[:INFEASIBLE_SHOWN]
    lines += [
        f"more frequent than its threshold: {v.value} in {v.cases:,} cases to {v.total:,} "
        f"({v.frequency:.1%}) > theta {v.theta:g}"
        for v in shown
    ]
    if len(one.infeasible) > len(shown):
        lines.append(f"and {len(one.infeasible) - len(shown)} more such values")
    return lines
