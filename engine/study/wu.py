"""Wu 2022: what its figures 6 to 11 are said to show."""

from __future__ import annotations

from srsql.engine.study.claims import Claim, Side, all_of, along, each, near
from srsql.engine.study.figures import Spec

PAPER = "Wu 2022"
PLUS, NUM, BOTH = "ppms++", "ppms-dp-num", "ppms-dp-all"
DP = (NUM, BOTH)


def _riskier(place: str, measure: str, name: str) -> tuple[Claim, ...]:
    return (
        Claim(
            PAPER, place, f"{name} of PPMS++ is worse than that of both with noise",
            f"{name} of ppms++ is above theirs",
            each(Side((PLUS,), measure), Side(DP, measure), lambda x, y: x > y),
        ),
        Claim(
            PAPER, place, f"{name} of both with noise is below 0.6 %, also with a large ε",
            f"{name} below 0.006",
            all_of(Side(DP, measure), lambda x: x < 0.006),
        ),
        Claim(
            PAPER, place, f"PPMS-DP_all does slightly better on {name} than PPMS-DP_num",
            f"{name} at most that of ppms-dp-num in at least half of the comparisons",
            each(Side((BOTH,), measure), Side((NUM,), measure), lambda x, y: x <= y, need=0.5),
        ),
    )  # fmt: skip


def _informed(place: str, measure: str, name: str) -> tuple[Claim, ...]:
    return (
        Claim(
            PAPER, place, f"Medical knowledge adds nearly nothing to {name} of both with noise",
            "bias within 0.001 of 0",
            all_of(Side(DP, measure), lambda x: abs(x) <= 0.001),
        ),
        Claim(
            PAPER, place, f"Medical knowledge adds to {name} of PPMS++",
            "bias above 0",
            all_of(Side((PLUS,), measure), lambda x: x > 0),
        ),
    )  # fmt: skip


CLAIMS = (
    Claim(
        PAPER, "Fig. 6", "Both with noise lose more than PPMS++",
        "NIL* above that of ppms++",
        each(Side(DP, "nil_star"), Side((PLUS,), "nil_star"), lambda x, y: x > y),
    ),
    Claim(
        PAPER, "Fig. 6", "The loss decreases as ε increases",
        "NIL* at the greatest ε is below that at the least",
        along(Side(DP, "nil_star"), "epsilon", lambda x, y: y < x),
    ),
    Claim(
        PAPER, "Fig. 6", "The loss of both with noise is hardly affected by k",
        "NIL* at the least and the greatest k within 10 % of each other, or 0.01",
        along(Side(DP, "nil_star"), "k", lambda x, y: near(x, y, 0.1)),
    ),
    Claim(
        PAPER, "Fig. 6", "In general PPMS-DP_all loses less than PPMS-DP_num",
        "NIL* below that of ppms-dp-num in at least half of the comparisons",
        each(Side((BOTH,), "nil_star"), Side((NUM,), "nil_star"), lambda x, y: x < y, need=0.5),
    ),
    *_riskier("Fig. 7", "rr", "RR"),
    *_riskier("Fig. 8", "ar_rev", "AR"),
    Claim(
        PAPER, "Fig. 9", "Signals of PPMS-DP_num are mostly those of PPMS++",
        "change of PRR within 5 % of each other, or 0.05, in at least half of the comparisons",
        each(Side((NUM,), "signal_prr_change", "*"), Side((PLUS,), "signal_prr_change", "*"),
             lambda x, y: near(x, y, 0.05, 0.05), need=0.5),
    ),
    Claim(
        PAPER, "Fig. 9", "PPMS-DP_all has less signal bias than both others, nearly always",
        "change of PRR at most that of the others in at least nine tenths of the comparisons",
        each(Side((BOTH,), "signal_prr_change", "*"),
             Side((NUM, PLUS), "signal_prr_change", "*"),
             lambda x, y: abs(x) <= abs(y), need=0.9),
    ),
    *_informed("Fig. 10", "rr_bias", "RR"),
    *_informed("Fig. 11", "ar_bias", "AR"),
)  # fmt: skip
FIGURES = tuple(
    Spec(PAPER, place, name, (PLUS, *DP), measure, scope)
    for place, name, measure, scope in (
        ("Fig. 6", "NIL*", "nil_star", "release"),
        ("Fig. 7", "RR", "rr", "release"),
        ("Fig. 8", "AR", "ar_rev", "release"),
        ("Fig. 9", "PRR, released less original", "signal_prr_change", "*"),
        ("Fig. 10", "RR with medical knowledge less RR", "rr_bias", "release"),
        ("Fig. 11", "AR with medical knowledge less AR", "ar_bias", "release"),
    )
)
