"""Lin 2016: what its figures 3 to 11 are said to show."""

from __future__ import annotations

from fractions import Fraction

from srsql.engine.study.claims import (
    Claim,
    Row,
    Side,
    all_of,
    along,
    each,
    kind,
    near,
    number,
    some_of,
)
from srsql.engine.study.figures import Spec

PAPER = "Lin 2016"
MS, KA, XY, LD, AK = "ms", "k-anonymity", "xy-anonymity", "l-diversity", "alpha-k"
DR = "without E"
ALL = (KA, XY, LD, AK, MS)


def _uniform(row: Row) -> bool:
    return kind(row) == "uniform"


def _same(row: Row) -> bool:
    """alpha is the uniform threshold."""
    theta, alpha = number(row), row.get("alpha")
    return theta is not None and alpha is not None and abs(float(theta) - alpha) < 1e-9


def _as_k(row: Row) -> bool:
    return row.get("l") == row.get("k")


def _alpha(share: Fraction, *kinds: str) -> Side:
    def where(row: Row) -> bool:
        alpha = row.get("alpha")
        return kind(row) in kinds and alpha is not None and abs(alpha - float(share)) < 1e-9

    return Side((AK,), "nil", where=where)


def _of(measure: str, *models: str, kinds: tuple[str, ...] = ("uniform",)) -> Side:
    return Side(
        models,
        measure,
        DR if measure == "dr" else "release",
        lambda row: kind(row) in kinds and (row["model"] != LD or _as_k(row)),
    )


HIGH, LOW = Fraction(2, 5), Fraction(1, 5)
CLAIMS = (
    Claim(
        PAPER, "Figs. 3, 4 (1)", "k-anonymity and (X, Y)-anonymity have nearly identical NIL",
        "NIL within 10 % of each other, or 0.01",
        each(_of("nil", KA), _of("nil", XY), lambda x, y: near(x, y, 0.1)),
    ),
    Claim(
        PAPER, "Figs. 3, 4 (1)", "k-anonymity and (X, Y)-anonymity lose less than MS-bounding",
        "their NIL is below that of ms",
        each(_of("nil", KA, XY), _of("nil", MS), lambda x, y: x < y),
    ),
    Claim(
        PAPER, "Figs. 3, 4 (2)", "(α, k)-anonymity and MS-bounding with θ = α have similar NIL",
        "NIL within 25 % of each other, or 0.01",
        each(
            Side((AK,), "nil", where=_same), Side((MS,), "nil", where=_uniform),
            lambda x, y: near(x, y, 0.25),
        ),
    ),
    Claim(
        PAPER, "Figs. 3, 4 (2)", "MS-bounding loses much less with θ = 0.4 than with 0.2",
        "NIL at the greatest uniform θ is at most 0.7 of that at the least",
        along(Side((MS,), "nil", where=_uniform), "theta", lambda x, y: y <= 0.7 * x),
    ),
    Claim(
        PAPER, "Figs. 3, 4 (3)", "Multi-sensitive l-diversity loses much more than the others",
        "its NIL (l = k) is above that of every other model",
        each(_of("nil", LD), _of("nil", KA, XY, AK, MS), lambda x, y: x > y),
    ),
    Claim(
        PAPER, "Figs. 3, 4 (4)", "With θ = 0.4 MS-bounding loses 5 to 40 times k-anonymity",
        "ratio of NIL from 5 to 40",
        each(
            Side((MS,), "nil", where=lambda row: number(row) == HIGH), _of("nil", KA, XY),
            lambda x, y: 5 * y <= x <= 40 * y,
        ),
    ),
    Claim(
        PAPER, "Figs. 3, 4 (4)", "The larger k, the larger NIL",
        "NIL at the greatest k is above that at the least",
        along(_of("nil", MS, KA, XY, AK), "k", lambda x, y: y > x),
    ),
    Claim(
        PAPER, "Figs. 5, 6 (1)", "MS-bounding has no dangerous groups",
        "DR is 0",
        all_of(Side((MS,), "dr", DR), lambda x: x == 0),
    ),
    Claim(
        PAPER, "Figs. 5, 6 (1)", "(α, k)-anonymity has some dangerous groups, for duplicates",
        "DR above 0 in at least one release with θ = α",
        some_of(Side((AK,), "dr", DR, _same), lambda x: x > 0),
    ),
    Claim(
        PAPER, "Figs. 5, 6 (1)", "Larger k makes the DR of (α, k)-anonymity larger",
        "DR at the greatest k is above that at the least",
        along(Side((AK,), "dr", DR, _same), "k", lambda x, y: y > x),
    ),
    Claim(
        PAPER, "Figs. 5, 6 (2)", "Multi-sensitive l-diversity does not protect sensitive values",
        "DR (l = k) above 0",
        all_of(_of("dr", LD), lambda x: x > 0),
    ),
    Claim(
        PAPER, "Figs. 5, 6", "Of k-anonymity and (X, Y)-anonymity: the larger k, the lower DR",
        "DR at the greatest k is below that at the least",
        along(_of("dr", KA, XY), "k", lambda x, y: y < x),
    ),
    Claim(
        PAPER, "Fig. 7 (3)", "Level-wise MS-bounding loses little more than (0.4, k)-anonymity",
        "NIL from that of alpha-k, alpha 0.4, to 1.5 times it",
        each(_of("nil", MS, kinds=("levels",)), _alpha(HIGH, "levels"),
             lambda x, y: y <= x <= 1.5 * y),
    ),
    Claim(
        PAPER, "Fig. 7 (2)", "(0.2, k)-anonymity loses much more than level-wise MS-bounding",
        "NIL of alpha-k, alpha 0.2, above that of ms",
        each(_alpha(LOW, "levels"), _of("nil", MS, kinds=("levels",)), lambda x, y: x > y),
    ),
    Claim(
        PAPER, "Fig. 8 (3)", "With levels (0.4, k)-anonymity has dangerous groups",
        "DR above 0 in at least one release",
        some_of(
            Side((AK,), "dr", DR, lambda r: kind(r) == "levels" and r.get("alpha") == 0.4),
            lambda x: x > 0,
        ),
    ),
    Claim(
        PAPER, "Fig. 10 (2)", "By frequency every model has less DR than level-wise",
        "DR under frequency at most that under levels",
        each(
            Side((LD, AK), "dr", DR, lambda r: kind(r) == "frequency"),
            Side((LD, AK), "dr", DR, lambda r: kind(r) == "levels"),
            lambda x, y: x <= y,
            ("quarter", "k", "l", "alpha", "cases", "model"),
        ),
    ),
    Claim(
        PAPER, "Fig. 9 (3)", "By frequency MS-bounding loses less than (0.4, k)-anonymity",
        "NIL at most that of alpha-k, alpha 0.4",
        each(_of("nil", MS, kinds=("frequency",)), _alpha(HIGH, "frequency"),
             lambda x, y: x <= y),
    ),
    Claim(
        PAPER, "Fig. 11 (3)", "The models but l-diversity hardly change PRR",
        "released PRR within 1 of the original",
        all_of(
            Side((MS, AK), "signal_prr_change", "*", lambda r: kind(r) == "frequency"),
            lambda x: abs(x) <= 1,
        ),
    ),
    Claim(
        PAPER, "Fig. 11 (2)", "The models but l-diversity hardly change the number of events",
        "released count within 5 of the original",
        all_of(
            Side((MS, AK), "signal_a_change", "*", lambda r: kind(r) == "frequency"),
            lambda x: abs(x) <= 5,
        ),
    ),
    Claim(
        PAPER, "Fig. 11 (1)", "l-diversity changes the number of events more than MS-bounding",
        "its difference to the original is at least that of ms",
        each(
            Side((LD,), "signal_a_change", "*", lambda r: kind(r) == "frequency"),
            Side((MS,), "signal_a_change", "*", lambda r: kind(r) == "frequency"),
            lambda x, y: abs(x) >= abs(y),
        ),
    ),
)  # fmt: skip

_SETTINGS = (("3, 4", "5, 6", "uniform"), ("7", "8", "levels"), ("9", "10", "frequency"))
FIGURES = (
    *(
        Spec(PAPER, f"{where}{number}", f"{name}, {policy} θ", ALL, measure, scope, policy)
        for nil, dr, policy in _SETTINGS
        for number, name, measure, scope in (
            (nil, "NIL", "nil", "release"),
            (dr, "DR", "dr", DR),
        )
        for where in ("Figs. " if "," in number else "Fig. ",)
    ),
    Spec(PAPER, "Fig. 11", "events, released less original", (LD, AK, MS), "signal_a_change", "*",
         "frequency"),
    Spec(PAPER, "Fig. 11", "PRR, released less original", (LD, AK, MS), "signal_prr_change", "*",
         "frequency"),
)  # fmt: skip
