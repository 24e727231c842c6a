"""The registry of papers: their claims and figures."""

from __future__ import annotations

from srsql.engine.compare import huang, lin, wu
from srsql.engine.compare.claims import Claim
from srsql.engine.compare.figure import Spec

CLAIMS: tuple[Claim, ...] = (*lin.CLAIMS, *huang.CLAIMS, *wu.CLAIMS)
FIGURES: tuple[Spec, ...] = (*lin.FIGURES, *huang.FIGURES, *wu.FIGURES)
OWN: tuple[Spec, ...] = tuple(
    Spec("This comparison", "all models", name, (), measure, scope)
    for name, measure, scope in (
        ("NIL*, mean loss per case and quasi-identifier", "nil_star", "release"),
        ("DR, share of groups in danger", "dr", "without E"),
        ("RR, chance to pick the right record", "rr", "release"),
        ("share of cases withheld", "withheld", "cases"),
    )
)
"""What every model is compared by, whatever the papers show."""
