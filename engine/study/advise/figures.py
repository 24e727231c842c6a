"""What was measured of one setting: risk, loss and what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from srsql.engine.models import MODELS
from srsql.engine.study.compare.grid import Cell

Row = dict[str, Any]
DELETED = "cases: deleted"
"""Withdrawn by their reporter: no release may have them, so they are nobody's loss."""


@dataclass(frozen=True)
class Infeasible:
    """A value more frequent than its threshold, for which cases were withheld."""

    value: str
    cases: int
    total: int
    frequency: float
    theta: float


@dataclass(frozen=True)
class Setting:
    """A model with its parameters, and what its release of the quarter (or a sample) measures.

    ``risk``: of a model that releases regions ``worst``, the greatest chance with which an attacker
    of the audit picks a target's record: 1 / the fewest candidates that remain of any target's
    group after the exclusion sets (Huang 2021, Definitions 1 to 4), 1 where none remain. A release
    with another seed may leave fewer than the one that was measured, down to the k_effective that
    is promised: unless the seed is kept, the risk counts on no more than that. Of a
    model with noise, whose values are draws that exclude nobody, it is RR (Wu 2022, section V.A): a
    mean over the cases of one draw, which bounds nothing for any one of them.

    ``loss``: w + (1 - w) NIL*, in [0, 1], w the share of the cases that is withheld: the mean over
    cases and quasi-identifiers, where a withheld case loses each of them.
    """

    label: str
    model: str
    k: int
    theta: str | None
    epsilon: str | None
    measured_on: Literal["sample", "quarter"]
    error: str | None = None
    """Why there is no release with these options."""
    risk: float | None = None
    risk_is: Literal["worst", "mean"] = "worst"
    loss: float | None = None
    fewest: int | None = None
    """Candidates that remain of the worst target, as they were measured."""
    counted: int | None = None
    """Of them, those that the risk counts on."""
    attacks: str = ""
    """By which they were narrowed down."""
    rr: float | None = None
    """Mean chance of picking a case's record (Wu 2022)."""
    confidence: float | None = None
    """Greatest, in any value with a threshold below 1, about any target within its group (of a
    model with noise: its internal group)."""
    confidence_held: int | None = None
    """What it is the quotient of, so that bounds are compared exactly:"""
    confidence_of: int | None = None
    """candidates that hold the value, and all that remain (with external knowledge: weights)."""
    confidence_in: str | None = None
    dsr: float | None = None
    """Share of groups in which a value exceeds its threshold after exclusions; 0 is promised."""
    nil_star: float | None = None
    cases: int = 0
    """In the quarter or sample, withheld ones included, deleted ones not."""
    withheld: int = 0
    withheld_why: dict[str, int] = field(default_factory=dict)
    infeasible: tuple[Infeasible, ...] = ()
    groups: int = 0
    smallest: int | None = None
    """Cases of the smallest group."""
    k_effective: int = 0
    """Cases that groups were grown to; above k where a threshold needs it."""
    seconds: float | None = None
    frontier: bool = False
    """No other setting judged by the same risk, and measured on as much, beats it in both."""
    keeps: bool = False
    """Every bound."""

    @property
    def point(self) -> tuple[float, float]:
        """Risk and loss of a setting that has them; without a release they mean nothing."""
        return self.risk or 0.0, self.loss or 0.0

    @property
    def withheld_share(self) -> float:
        """w; 0 of nobody."""
        return self.withheld / self.cases if self.cases else 0.0


def setting(
    cell: Cell,
    on: Literal["sample", "quarter"],
    rows: Sequence[Row],
    error: str | None,
    *,
    seeded: bool,
) -> Setting:
    """The figures of a cell from the rows of its worker.

    Args:
        cell: what was released.
        on: what of.
        rows: that were measured.
        error: why there are none.
        seeded: the release will be made with the same seed.
    """
    options = dict(cell.options)
    noisy = MODELS[cell.model].perturbs_values
    base: dict[str, Any] = {
        "label": cell.label.removesuffix(f" seed={options['seed']}"),  # one for all of them
        "model": cell.model,
        "k": options["k"],
        "theta": options.get("theta"),
        "epsilon": options.get("epsilon"),
        "measured_on": on,
        "risk_is": "mean" if noisy else "worst",
    }
    error = error or next((row["error"] for row in rows if row.get("error")), None)
    if error:
        return Setting(**base, error=error)
    found = {(row["measure"], row.get("scope")): row for row in rows}
    whole = {row["measure"]: row for row in rows}
    gone = found["withheld", "cases"]
    deleted = (
        int(found[("withheld", DELETED)]["violating"]) if ("withheld", DELETED) in found else 0
    )
    withheld, cases = int(gone["violating"]) - deleted, int(gone["total"]) - deleted
    nil_star, rr = whole["nil_star"]["ratio"], whole["rr"]["ratio"] if "rr" in whole else None
    share = withheld / cases
    fewest, confidence = whole["fewest"], whole["confidence"]
    remaining = None if noisy else int(fewest["ratio"])
    promised = int(whole["k_effective"]["ratio"])
    counted = None if remaining is None else remaining if seeded else min(remaining, promised)
    return Setting(
        **base,
        risk=rr if counted is None else 1 / max(counted, 1),
        loss=share + (1 - share) * nil_star,
        fewest=remaining,
        counted=counted,
        attacks="" if noisy else fewest["scope"],
        rr=rr,
        confidence=confidence["violating"] / confidence["total"] if confidence["total"] else None,
        confidence_held=confidence["violating"],
        confidence_of=confidence["total"],
        confidence_in=confidence.get("scope"),
        dsr=next((r["ratio"] for (name, scope), r in found.items()
                  if name == "dsr" and str(scope).startswith("group")), None),
        nil_star=nil_star,
        cases=cases,
        withheld=withheld,
        withheld_why={
            str(scope).removeprefix("cases: "): int(row["violating"])
            for (name, scope), row in found.items()
            if name == "withheld" and str(scope).startswith("cases: ") and scope != DELETED
        },
        infeasible=tuple(
            Infeasible(r["scope"], int(r["violating"]), int(r["total"]), r["ratio"], r["threshold"])
            for r in rows
            if r["measure"] == "infeasible"
        ),
        groups=int(whole["groups"]["ratio"]),
        smallest=int(found["group_size", "min"]["ratio"]),
        k_effective=promised,
        seconds=whole["release"].get("seconds"),
    )  # fmt: skip
