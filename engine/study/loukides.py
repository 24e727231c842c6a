"""Loukides 2014: what its figures 12 to 25 are said to show.

Disassociation is compared by ARE over all queries of a workload, CBA by ARE over those of which it
suppresses no term: the paper asks both the latter, which favours CBA less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from srsql.engine.study.claims import SHARED as ALL_SHARED
from srsql.engine.study.claims import (
    Claim,
    Row,
    Side,
    Verdict,
    all_of,
    along,
    each,
    verdict,
)
from srsql.engine.study.figures import Spec

PAPER = "Loukides 2014"
DIS, CBA = "disassociation", "cba"
INTERVALS = (
    "< -10", "[-10, -5)", "[-5, -2.5)", "[-2.5, 0)", "0", "(0, 2.5)", "[2.5, 5)", "[5, 10)",
    ">= 10",
)  # fmt: skip
"""Of matching relative errors, in percent, as ``srsql.matching_error_intervals`` has them."""
HELD = (*(str(n) for n in range(1, 11)), "> 10")
KINDS = {"level": "hierarchy-based", "sim": "similarity-based", "sup": "frequency-based"}
SHARED = tuple(name for name in ALL_SHARED if name != "scope")
_W1 = re.compile(r"W1, (.+) %")
_W2 = re.compile(r"W2, (\d) of them")
_HELD = re.compile(r"(\d) terms, held by (.+)")


def policy_kind(row: Row) -> str:
    """``level``, ``sim``, ``sup``, or what else the policy is."""
    return str(row.get("policy") or "none").partition(":")[0]


def support(row: Row) -> float | None:
    """Minimum support of a workload of frequent itemsets, in percent."""
    found = _W1.fullmatch(row.get("scope") or "")
    return float(found[1]) if found else None


def asked(row: Row) -> float | None:
    """Terms of each query of a workload of random sets."""
    found = _W2.fullmatch(row.get("scope") or "")
    return float(found[1]) if found else None


def _held(row: Row) -> str | None:
    found = _HELD.fullmatch(row.get("scope") or "")
    return found[2] if found else None


def _combined(row: Row) -> str:
    found = _HELD.fullmatch(row["scope"])
    return f"{found[1]} terms" if found else ""


def _policy(row: Row) -> str:
    return f"policy {row.get('policy')}"


def _is(*names: str) -> Callable[[Row], bool]:
    return lambda row: row.get("policy") in names


def _of_kind(kind: str) -> Callable[[Row], bool]:
    return lambda row: policy_kind(row) == kind


def _fair(row: Row) -> bool:
    return bool(row["measure"] == ("are" if row["model"] == DIS else "are_released"))


def _compared(kind: str) -> Callable[[Row], bool]:
    return lambda row: policy_kind(row) == kind and _fair(row)


def _gap_grows(rows: Sequence[Row]) -> Verdict:
    """ARE(cba) - ARE(dis) at the greatest level of a hierarchy is above that at the least."""
    by = [name for name in ALL_SHARED if name != "policy"]

    def where(row: Row) -> bool:
        return policy_kind(row) == "level" and support(row) is not None

    sides = [
        Side((model,), measure, "*", where).values(rows, (*by, "policy"))
        for model, measure in ((DIS, "are"), (CBA, "are_released"))
    ]
    theirs = {key[:-1]: value for key, value in sides[1].items()}
    gaps: dict[tuple[object, ...], dict[int, float]] = {}
    for (*setting, policy, _), ours in sides[0].items():
        if (*setting, policy) in theirs:
            level = int(str(policy).partition(":")[2])
            gaps.setdefault(tuple(setting), {})[level] = theirs[*setting, policy] - ours
    pairs = [(gap[min(gap)], gap[max(gap)]) for gap in gaps.values() if len(gap) > 1]
    told = "; ".join(f"{x:.4g} at the least level, {y:.4g} at the greatest" for x, y in pairs[:3])
    return verdict([y > x for x, y in pairs], told)


def _comparison(place: str, kind: str) -> Claim:
    def where(row: Row) -> bool:
        return policy_kind(row) == kind and support(row) is not None

    return Claim(
        PAPER, place, f"Dis answers W1 more accurately than CBA, {KINDS[kind]} policies",
        "ARE below that of cba (of the queries without a suppressed term)",
        each(Side((DIS,), "are", "*", where), Side((CBA,), "are_released", "*", where),
             lambda x, y: x < y),
    )  # fmt: skip


def _near(place: str, words: str, share: float, policy: str, m: int | None = None) -> Claim:
    def where(row: Row) -> bool:
        return row.get("policy") == policy and m in (None, row.get("m"))

    return Claim(
        PAPER, place, words, f"the share is at least {share:g}",
        all_of(Side((DIS,), "mre_within_5", "constraint", where), lambda x: x >= share),
    )  # fmt: skip


def _sized(measure: str, scope: str, *models: str, value: str = "ratio") -> Side:
    return Side(models, measure, scope, lambda row: policy_kind(row) == "sup", value)


def _subquadratic(rows: Sequence[Row]) -> Verdict:
    """Seconds per seconds of the smallest sample, against the square of the sizes."""
    by = [name for name in SHARED if name != "cases"]
    lines: dict[tuple[object, ...], dict[int, float]] = {}
    side = Side((DIS,), "stage", "terms", value="seconds")
    for (*setting, cases, _), seconds in side.values(rows, (*by, "cases")).items():
        if cases is not None:
            lines.setdefault(tuple(setting), {})[cases] = seconds
    pairs = [
        (line[max(line)] / line[min(line)], (max(line) / min(line)) ** 2)
        for line in lines.values()
        if len(line) > 1 and line[min(line)] > 0
    ]
    told = "; ".join(f"{x:.3g} times the seconds, {y:.3g} the squares" for x, y in pairs[:3])
    return verdict([x < y for x, y in pairs], told)


CLAIMS = (
    Claim(
        PAPER, "Fig. 12", "More than 17 % of all sets of 2 codes appear in one record",
        "share of the sets of 2 terms that one case holds above 0.17",
        all_of(Side((DIS, CBA), "combinations", "2 terms, held by 1"), lambda x: x > 0.17),
    ),
    Claim(
        PAPER, "Fig. 12", "96 % of the sets of 5 codes appear in one record only",
        "share of the sets of 5 terms that one case holds at least 0.96",
        all_of(Side((DIS, CBA), "combinations", "5 terms, held by 1"), lambda x: x >= 0.96),
    ),
    Claim(
        PAPER, "Fig. 12", "The longer the sets, the more of them single out a record",
        "share of the sets of 5 terms that one case holds above that of 2 terms",
        each(Side((DIS, CBA), "combinations", "5 terms, held by 1"),
             Side((DIS, CBA), "combinations", "2 terms, held by 1"),
             lambda x, y: x > y, (*SHARED, "model")),
    ),
    *(_comparison(f"Fig. 13({at})", kind) for at, kind in zip("abc", KINDS, strict=True)),
    Claim(
        PAPER, "Fig. 13", "The difference increases as policies get less stringent",
        "ARE of cba less that of disassociation at the greatest level of a hierarchy is above that "
        "at the least",
        _gap_grows,
    ),
    Claim(
        PAPER, "Fig. 14", "Dis releases all codes",
        "share of suppressed terms 0",
        all_of(Side((DIS,), "suppressed_terms", "distinct term"), lambda x: x == 0),
    ),
    Claim(
        PAPER, "Fig. 14", "CBA suppresses codes under every policy",
        "share of suppressed terms above 0 under hierarchy-, similarity- and frequency-based ones",
        all_of(Side((CBA,), "suppressed_terms", "distinct term",
                    lambda row: policy_kind(row) in KINDS), lambda x: x > 0),
    ),
    Claim(
        PAPER, "Fig. 14", "CBA suppresses more where privacy is stronger (m)",
        "share of suppressed terms at the greatest m is above that at the least",
        along(Side((CBA,), "suppressed_terms", "distinct term",
                   lambda row: policy_kind(row) in KINDS), "m", lambda x, y: y > x),
    ),
    Claim(
        PAPER, "Fig. 15(a)", "Both lose more on smaller datasets",
        "ARE of W2 at the fewest cases is above that at the most",
        along(_sized("are", "W2, all", DIS, CBA), "cases", lambda x, y: x > y),
    ),
    Claim(
        PAPER, "Fig. 15(a)", "Dis loses less than CBA, whatever the size",
        "ARE of W2 below that of cba (of the queries without a suppressed term)",
        each(_sized("are", "W2, all", DIS), _sized("are_released", "W2, all", CBA),
             lambda x, y: x < y),
    ),
    Claim(
        PAPER, "Fig. 15(b)", "CBA suppresses a smaller share of the codes of larger datasets",
        "share at the most cases is below that at the fewest",
        along(_sized("suppressed_terms", "distinct term", CBA), "cases", lambda x, y: y < x),
    ),
    Claim(
        PAPER, "Fig. 15(c)", "Dis is faster than CBA",
        "seconds for the terms below those of cba",
        each(_sized("stage", "terms", DIS, value="seconds"),
             _sized("stage", "terms", CBA, value="seconds"), lambda x, y: x < y),
    ),
    Claim(
        PAPER, "Fig. 15(c)", "The cost of Dis is sub-quadratic",
        "seconds grow by less than the square of the cases, from the fewest to the most",
        _subquadratic,
    ),
    Claim(
        PAPER, "Fig. 16", "The error increases with the size of the sets",
        "ARE of random sets of 2 to 4 terms (mean over the sizes) above that of single terms",
        each(Side((DIS,), "are", "*", lambda row: (asked(row) or 0) > 1),
             Side((DIS,), "are", "W2, 1 of them"), lambda x, y: x > y, SHARED),
    ),
    Claim(
        PAPER, "Fig. 17", "More frequent sets are answered more accurately",
        "ARE of the sets of 5 % support below that of 0.625 %",
        each(Side((DIS,), "are", "W1, 5 %"), Side((DIS,), "are", "W1, 0.625 %"),
             lambda x, y: x < y, SHARED),
    ),
    Claim(
        PAPER, "Fig. 18", "ARE increases with k",
        "ARE of W1 at the greatest k is above that at the least",
        along(Side((DIS,), "are", "*", lambda row: support(row) is not None), "k",
              lambda x, y: y > x),
    ),
    _near("Fig. 20", "90 % of the constraints of sim 5 have an MRE within 5 %", 0.9, "sim:5"),
    _near("Fig. 21", "The results of sup 0.625 are similar to those of sim 5", 0.9, "sup:0.625"),
    Claim(
        PAPER, "Figs. 22-24", "The MRE of most constraints is within 5 %, for k from 2 to 25",
        "the share is above 0.5",
        all_of(Side((DIS,), "mre_within_5", "constraint",
                    lambda row: policy_kind(row) in KINDS and row.get("m") == 2),
               lambda x: x > 0.5),
    ),
    *(
        Claim(
            PAPER, f"Fig. {22 + n}", f"The lower k, the better are {name} policies supported",
            "share of the constraints within 5 % at the least k at least that at the greatest",
            along(Side((DIS,), "mre_within_5", "constraint", _of_kind(kind)), "k",
                  lambda x, y: x >= y),
        )
        for n, (kind, name) in enumerate(KINDS.items())
    ),
    *(
        _near("Fig. 25", f"With m = 5, {share:.0%} of the constraints of {policy} are within 5 %",
              share, policy, 5)
        for policy, share in (("level:1", 0.89), ("sim:10", 0.93), ("sup:2.5", 1.0))
    ),
)  # fmt: skip

_ARE, _MRE = "average relative error", "% of constraints by MRE in %"
_SIZE = "cases"
FIGURES = (
    Spec(PAPER, "Fig. 12", "share of combinations by the cases that hold them", (DIS, CBA),
         "combinations", "*", at=_held, axis="cases", order=HELD, panel=(), line=_combined),
    *(
        Spec(PAPER, f"Fig. 13({at})", f"{_ARE} of W1, {KINDS[kind]}", (DIS, CBA),
             ("are", "are_released"), "*", at=support, axis="support, %", below=_policy,
             where=_compared(kind),
             line=lambda row: f"{row['model']} (m {row.get('m')})")
        for at, kind in zip("abc", KINDS, strict=True)
    ),
    Spec(PAPER, "Fig. 14", "share of the distinct terms that are suppressed", (CBA,),
         "suppressed_terms", "distinct term", at="policy", axis="policy"),
    Spec(PAPER, "Fig. 15(a)", f"{_ARE} of W2", (DIS, CBA), ("are", "are_released"), "W2, all",
         at="cases", axis=_SIZE, below=_policy, where=_fair,
         line=lambda row: f"{row['model']} (m {row.get('m')})"),
    Spec(PAPER, "Fig. 15(b)", "share of the distinct terms that are suppressed", (CBA,),
         "suppressed_terms", "distinct term", at="cases", axis=_SIZE, below=_policy),
    Spec(PAPER, "Fig. 15(c)", "seconds for the terms", (DIS, CBA), "stage", "terms", at="cases",
         axis=_SIZE, below=_policy, value="seconds"),
    Spec(PAPER, "Fig. 16", f"{_ARE} of W2", (DIS,), "are", "*", at=asked, axis="terms of a query",
         below=policy_kind),
    Spec(PAPER, "Fig. 17", f"{_ARE} of W1", (DIS,), "are", "*", at=support, axis="support, %",
         below=policy_kind),
    Spec(PAPER, "Fig. 18", f"{_ARE} of W1", (DIS,), "are", "*", at="k", axis="k", below=_policy,
         where=lambda row: support(row) is not None,
         line=lambda row: f"{row['scope']} (m {row.get('m')})"),
    *(
        Spec(PAPER, f"Fig. {number}", f"{_MRE}, {policy}", (DIS,), "mre", "*",
             at=lambda row: row.get("scope"), axis="MRE, %", order=INTERVALS,
             where=_is(policy))
        for number, policy in ((19, "level:1"), (20, "sim:5"), (21, "sup:0.625"))
    ),
    *(
        Spec(PAPER, f"Fig. {22 + n}", f"{_MRE}, {name}", (DIS,), "mre", "*",
             at=lambda row: row.get("scope"), axis="MRE, %", order=INTERVALS, panel=("m",),
             below=_policy, where=_of_kind(kind), line=lambda row: f"k = {row['k']}")
        for n, (kind, name) in enumerate(KINDS.items())
    ),
    Spec(PAPER, "Fig. 25", f"{_MRE}, m = 5", (DIS,), "mre", "*",
         at=lambda row: row.get("scope"), axis="MRE, %", order=INTERVALS, panel=("k",),
         where=lambda row: row.get("m") == 5, line=_policy),
)  # fmt: skip
