"""The advice in words: why this setting, which came next, what is withheld."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from srsql.engine.models import MODELS
from srsql.engine.study.advise.choice import DIGITS, missed
from srsql.engine.study.advise.figures import Setting
from srsql.engine.study.advise.question import Bounds

INFEASIBLE_SHOWN = 5


def share(value: float | None) -> str:
    """A risk or loss as it is shown."""
    return "" if value is None else f"{value:.{DIGITS}f}"


def risk(one: Setting) -> str:
    """The risk of a setting, and which one it is."""
    if one.risk_is == "mean":
        return f"mean risk {share(one.risk)}"
    return f"worst risk {share(one.risk)} (1 of {max(one.counted or 1, 1)})"


def bounds_in_words(bounds: Bounds) -> str:
    """Such as ``risk <= 0.2 and loss <= 0.05``."""
    asked = ((n, getattr(bounds, n)) for n in ("risk", "loss", "confidence"))
    return " and ".join(f"{n} <= {_bound(value)}" for n, value in asked if value is not None)


def _bound(value: Fraction) -> str:
    text = f"{float(value):.{DIGITS}g}"
    return text if Fraction(text) == value else str(value)


def reason_for(kept: Sequence[Setting], every: Sequence[Setting], bounds: Bounds) -> str:
    """Why the first of ``kept`` is recommended, what came next, and what the bounds cost.

    Args:
        kept: the settings that keep the bounds, best first.
        every: all that were measured on the quarter.
        bounds: what was asked.
    """
    best = kept[0]
    figures = [f"loss {share(best.loss)}", risk(best)]
    least, (figure, other) = bounds.aim, figures if bounds.aim == "loss" else figures[::-1]
    told = [
        f"{best.label} has the least {least} of the {len(kept)} settings that keep "
        f"{bounds_in_words(bounds)}: {figure}, {other}."
        if len(kept) > 1
        else f"{best.label} is the only setting that keeps {bounds_in_words(bounds)}: {figure}, "
        f"{other}."
    ]
    if best.risk_is == "mean":
        told.append("Its risk is a mean over the cases of one draw: it bounds nobody's own.")
    if len(kept) > 1:
        second = next((s for s in kept[1:] if not _same(s, best)), kept[1])
        told.append(f"Runner-up: {second.label}, {_why(second, best, bounds)}.")
    if bounds.aim == "loss":
        told += _tempting(best, every, bounds)
    return " ".join(told)


def _same(one: Setting, other: Setting) -> bool:
    """Whether both measure the same, as it is shown: such as two k below what theta needs."""
    return (one.risk_is, *map(share, one.point)) == (other.risk_is, *map(share, other.point))


def _why(second: Setting, best: Setting, bounds: Bounds) -> str:
    if second.risk_is != best.risk_is:
        return f"whose {risk(second)} bounds nobody's own (loss {share(second.loss)})"
    pairs = [("loss", second.loss, best.loss), ("risk", second.risk, best.risk)]
    for name, its, bests in pairs if bounds.aim == "loss" else reversed(pairs):
        if share(its) != share(bests):
            also = f", at {risk(second)}" if name == "loss" else ""
            return f"whose {name} is {share(its)}{also}"
    if second.k != best.k:
        return f"which measures the same but promises groups of {second.k} only"
    return f"which measures the same, with confidence {share(second.confidence)} in a value"


def _tempting(best: Setting, every: Sequence[Setting], bounds: Bounds) -> Iterator[str]:
    """The setting that would lose least, were it not for a bound."""
    better = [
        s for s in every
        if not s.error and not s.keeps and s.risk_is == best.risk_is
        and s.point[1] < best.point[1]
    ]  # fmt: skip
    if better:
        first = min(better, key=lambda s: (s.point[1], -s.k))
        broken = ", ".join(f"{n} {share(v)}" for n, (v, _) in missed(first, bounds).items())
        yield f"{first.label} would lose {share(first.loss)}, but breaks a bound: {broken}."


def reason_none(near: Setting | None, bounds: Bounds, *, joined: bool) -> str:
    """Which setting comes nearest to bounds that none keeps, and by how much it misses them.

    ``joined``: the attacker has earlier releases of the series.
    """
    if near is None:
        return ""
    broken = ", ".join(
        f"{name} {share(value)} is {share(value - bound)} above {share(bound)}"
        for name, (value, bound) in missed(near, bounds).items()
    )
    told = (
        f"No setting keeps {bounds_in_words(bounds)}. Nearest: {near.label}: {broken} "
        f"({risk(near)}, loss {share(near.loss)})."
    )
    if joined and near.risk_is == "worst" and MODELS[near.model].covers_earlier_regions == "none":
        told += (
            f" {near.model} does not withstand those who join releases: start another --series "
            "with a periodical model, such as ppms++."
        )
    return told


def withheld(one: Setting) -> list[str]:
    """What a release with this setting would withhold, and why."""
    text = f"withholds {one.withheld:,} of {one.cases:,} cases ({one.withheld_share:.2%})"
    if one.withheld_why:
        text += ": " + ", ".join(f"{why} {n:,}" for why, n in one.withheld_why.items())
    told = [text]
    shown = one.infeasible[:INFEASIBLE_SHOWN]
    told += [
        f"more frequent than its threshold: {v.value} in {v.cases:,} cases to {v.total:,} "
        f"({v.frequency:.1%}) > theta {v.theta:g}"
        for v in shown
    ]
    if len(one.infeasible) > len(shown):
        told.append(f"and {len(one.infeasible) - len(shown)} more such values")
    return told
