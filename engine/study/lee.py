"""Lee 2020: what its figures 6 to 10 are said to show."""

from __future__ import annotations

import re
from collections.abc import Sequence

from srsql.engine.study.claims import (
    SHARED,
    Claim,
    Row,
    Side,
    Verdict,
    along,
    each,
    verdict,
)
from srsql.engine.study.figures import Spec

PAPER = "Lee 2020"
IPA, FULL, HISTOGRAM = "ipa", "full-domain", "dp-histogram"
PARTS = ("ncp", "emd", "rate")
_HEIGHT = re.compile(r"height (\d+)")


def height(row: Row) -> float | None:
    """Of the nodes of the lattice that a row is the mean of."""
    found = _HEIGHT.fullmatch(row.get("scope") or "")
    return float(found[1]) if found else None


def _group(row: Row) -> float | None:
    return float(str(row["scope"]).rpartition(", ")[2])


def _question(row: Row) -> str:
    return str(row["scope"]).rpartition(", ")[0]


def _one(row: Row) -> bool:
    return row.get("epsilon") in (None, 1.0)


def _proportions(rows: Sequence[Row]) -> Verdict:
    """Of EMD and Rate together in IL over the lattice, at the least and the greatest epsilon."""
    by = [name for name in SHARED if name not in ("scope", "epsilon")]
    sums: dict[tuple[object, ...], dict[float, dict[str, float]]] = {}
    for part in PARTS:
        side = Side((IPA,), part, "*", lambda row: height(row) is not None)
        for (*setting, _, epsilon, _), value in side.values(
            rows, (*by, "scope", "epsilon")
        ).items():
            mine = sums.setdefault(tuple(setting), {}).setdefault(
                epsilon, dict.fromkeys(PARTS, 0.0)
            )
            mine[part] += value
    pairs = []
    for line in sums.values():
        share = {
            epsilon: 1 - parts["ncp"] / sum(parts.values())
            for epsilon, parts in line.items()
            if sum(parts.values()) > 0
        }
        if len(share) > 1:
            pairs.append((share[min(share)], share[max(share)]))
    told = "; ".join(f"{x:.3g} at the least epsilon, {y:.3g} at the greatest" for x, y in pairs[:3])
    return verdict([x > y for x, y in pairs], told)


CLAIMS = (
    Claim(
        PAPER, "Fig. 6", "IPA loses less than k-anonymization, at ε = 1",
        "IL below that of full-domain",
        each(Side((IPA,), "il", "chosen", _one), Side((FULL,), "il", "chosen"),
             lambda x, y: x < y),
    ),
    Claim(
        PAPER, "Fig. 6", "k-anonymization loses less than the histogram, at ε = 1",
        "IL of full-domain below that of dp-histogram",
        each(Side((FULL,), "il", "chosen"), Side((HISTOGRAM,), "il", "chosen", _one),
             lambda x, y: x < y),
    ),
    Claim(
        PAPER, "Fig. 7", "The information loss decreases when ε increases",
        "IL of ipa at the greatest ε is below that at the least",
        along(Side((IPA,), "il", "chosen"), "epsilon", lambda x, y: y < x),
    ),
    Claim(
        PAPER, "Fig. 8", "As ε decreases, the loss of the nodes increases",
        "mean IL of the nodes of a height at the least ε is above that at the greatest",
        along(Side((IPA,), "il", "*", lambda row: height(row) is not None), "epsilon",
              lambda x, y: x > y),
    ),
    Claim(
        PAPER, "Fig. 8", "As ε decreases, EMD and Rate take a larger part of the loss",
        "their share of IL over the heights of the lattice at the least ε is above that at the "
        "greatest",
        _proportions,
    ),
    Claim(
        PAPER, "Fig. 9, Tables 9, 10", "Counts by age group (Q1, Q2): nearer than k-anonymization",
        "summed error of ipa at most that of full-domain",
        each(Side((IPA,), "group_count_error", "*"), Side((FULL,), "group_count_error", "*"),
             lambda x, y: x <= y),
    ),
    Claim(
        PAPER, "Fig. 10, Tables 11, 12", "Means by age group (Q3, Q4): nearer than k-anonymization",
        "mean error of ipa at most that of full-domain",
        each(Side((IPA,), "group_mean_error", "*"), Side((FULL,), "group_mean_error", "*"),
             lambda x, y: x <= y),
    ),
)  # fmt: skip
FIGURES = (
    Spec(PAPER, "Fig. 6", "information loss, ε = 1", (IPA, FULL, HISTOGRAM), "il", "chosen",
         where=_one),
    Spec(PAPER, "Fig. 7", "information loss", (IPA, HISTOGRAM), "il", "chosen", at="epsilon",
         axis="ε"),
    Spec(PAPER, "Fig. 8", "NCP, EMD and Rate over the lattice", (IPA,), PARTS, "*", at=height,
         axis="height of the node", below=lambda row: f"epsilon = {row['epsilon']:g}",
         line=lambda row: f"{row['measure']} ({row.get('calibration')})"),
    Spec(PAPER, "Fig. 9", "cases of one value by age group (Q1, Q2)", (IPA, FULL), "group_count",
         "*", at=_group, axis="age", below=_question, original=True),
    Spec(PAPER, "Fig. 10", "mean amount of these cases by age group (Q3, Q4)", (IPA, FULL),
         "group_mean", "*", at=_group, axis="age", below=_question, original=True),
)  # fmt: skip
