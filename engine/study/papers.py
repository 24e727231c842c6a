"""The registry of papers: their claims and figures."""

from __future__ import annotations

from srsql.engine.study import huang, lee, lin, loukides, wu
from srsql.engine.study.claims import Claim
from srsql.engine.study.figures import Spec

PAPERS = (lin, huang, wu, loukides, lee)
CLAIMS: tuple[Claim, ...] = tuple(claim for paper in PAPERS for claim in paper.CLAIMS)
FIGURES: tuple[Spec, ...] = tuple(spec for paper in PAPERS for spec in paper.FIGURES)
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
