"""Huang 2021: what its figures 1 to 4 are said to show."""

from __future__ import annotations

from srsql.engine.study.claims import Claim, Side, all_of, each, near, some_of
from srsql.engine.study.figures import Spec

PAPER = "Huang 2021"
EAR, HA = "ppms-ear", "ppms-alpha"
_RISKS = (
    (
        "Fig. 1",
        "audit_dir",
        "b,f,l,md,ss",
        "dangerous identity groups (DIR), attacks by MD included",
    ),
    (
        "Fig. 2",
        "audit_dsr",
        "b,f,l,md,ss",
        "dangerous sensitivity groups (DSR), attacks by MD included",
    ),
    ("Fig. 3", "audit_ssgr", "b,f,l,md,ss", "groups with too many substantial symptoms (SSGR)"),
)
CLAIMS = (
    *(
        Claim(
            PAPER, place, f"PPMS_Ear leaves {words}",
            "the share is above 0 in at least one release (of a quarter whose next is known)",
            some_of(Side((EAR,), measure, scope), lambda x: x > 0),
        )
        for place, measure, scope, words in _RISKS
    ),
    *(
        Claim(
            PAPER, place, f"HA leaves no {words}",
            "the share is 0 in every release (of a quarter whose next is known)",
            all_of(Side((HA,), measure, scope), lambda x: x == 0),
        )
        for place, measure, scope, words in _RISKS
    ),
    Claim(
        PAPER, "Fig. 4", "The NIL of HA is very close to that of PPMS_Ear",
        "NIL within 10 % of each other, or 0.01",
        each(Side((HA,), "nil"), Side((EAR,), "nil"), lambda x, y: near(x, y, 0.1)),
    ),
)  # fmt: skip
FIGURES = (
    *(
        Spec(PAPER, place, name, (EAR, HA), measure, scope)
        for (place, measure, scope, _), name in zip(_RISKS, ("DIR", "DSR", "SSGR"), strict=True)
    ),
    Spec(PAPER, "Fig. 4", "NIL", (EAR, HA), "nil", "release"),
)
