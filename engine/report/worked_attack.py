"""The attack on the worst group of a release, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from srsql.engine.audit.attack import Attack, Besides, Inference, attack
from srsql.engine.audit.evidence import GroupEvidence
from srsql.engine.catalog.releases import Release
from srsql.engine.report.glossary import exclusion_meaning
from srsql.engine.report.page import Figure, Table
from srsql.engine.report.quarter_figures import steps

REGIONS = 20
"""Regions of candidates in the table."""
VALUES = 10
"""Inferred values in the table."""


@dataclass(frozen=True)
class WorkedAttack:
    """The worst target of the worst group, and what one who knows it finds out."""

    worst: GroupEvidence
    known: str
    """What the attacker knows of the target, in words."""
    steps: list[tuple[str, int]]
    """Candidates within the group, each exclusion set, who remains."""
    played: Attack | None
    """The same attacker among all that match; None for a draft, which is not out."""
    excluded: list[tuple[str, str, int]]
    """Of ``played``: exclusion set, its meaning, its cases."""


def work_attack(release: Release, worst: GroupEvidence, *, play: bool) -> WorkedAttack:
    """The attack on the group that an audit found the worst, step by step.

    Args:
        release: the attacker joins those of its series; nothing but temporary tables is written.
        worst: the group and its target of whom the fewest candidates remain.
        play: also attack among all cases that match, which needs a release that is out and in
            which no case has several regions.

    Returns:
        What the attacker knows, excludes and infers.
    """
    played = _play(release, worst) if play else None
    knows = [f"{name} {_text(value)}" for name, value in worst.qid.items()]
    knows += ["in no earlier release"] if worst.new else []
    knows += ["not in the next quarter"] if worst.stopped else []
    sets = [("B", worst.b), ("F", worst.f)]
    sets += [("L", worst.l)] if worst.new else []
    sets += [("MD", worst.md)] if worst.stopped else []
    return WorkedAttack(
        worst,
        "; ".join(knows),
        [
            ("candidates C", worst.candidates),
            *((f"excluded by {name}", size) for name, size in sets),
            ("remain", worst.remaining),
        ],
        played,
        [(e.name, exclusion_meaning(e.name), e.cases) for e in played.exclusions if e.evaluated]
        if played
        else [],
    )


def _play(release: Release, worst: GroupEvidence) -> Attack:
    """Among all that match; values on which the target's reports differ are not used."""
    known = {}
    for name, value in worst.qid.items():
        if isinstance(value, dict):
            if value["low"] == value["high"]:
                known[name] = str(value["low"])
        elif value is not None:
            known[name] = value
    told: dict[Besides, bool] = {"new": worst.new, "stopped": worst.stopped}
    return attack(
        release.warehouse,
        release.visible_dataset,
        worst.quarter,
        known,
        {name for name, is_known in told.items() if is_known},
        series=release.series,
    )


def _text(value: Any, nothing: str = "missing") -> str:
    if value is None:
        return nothing
    if isinstance(value, dict):
        low, high = value["low"], value["high"]
        return f"{low}" if low == high else f"{low} to {high}"
    return str(value)


def attack_blocks(worked: WorkedAttack, k: int | None) -> list[Figure | Table]:
    """The figure and the tables of the attack; without ``k`` no bound is drawn."""
    blocks: list[Figure | Table] = [
        Figure(
            "steps",
            steps(worked.steps, k),
            "The attack on the worst group, within the group. Sets may overlap"
            + ("." if k is None else "; dashed: k."),
        )
    ]
    if worked.played is not None:
        blocks += [_candidates(worked.played), _inferences(worked.played)]
    return blocks


def _candidates(played: Attack) -> Table:
    """Candidates and who remains, by region, the most first."""
    remaining = set(played.remaining)
    regions: dict[str, list[int]] = {}
    for candidate in played.candidates:
        region = ", ".join(f"{name} {_text(v, 'any')}" for name, v in candidate.region.items())
        counts = regions.setdefault(region, [0, 0])
        counts[0] += 1
        counts[1] += candidate.case_id in remaining
    listed = sorted(regions.items(), key=lambda item: (-item[1][1], item[0]))
    some = f" (the first {REGIONS} of {len(listed):,})" if len(listed) > REGIONS else ""
    return Table(
        "candidates",
        f"All cases whose region covers what is known, by region{some}",
        ("region", "candidates", "remain"),
        [(region, *counts) for region, counts in listed[:REGIONS]],
    )


def _inferences(played: Attack) -> Table:
    """The values nearest to their thresholds."""
    return Table(
        "inferences",
        f"What is inferred of the {len(played.remaining):,} who remain: the values nearest to "
        "their thresholds, those that nothing bounds (θ = 1) last",
        ("value", "held by", "confidence", "θ", "within θ"),
        [
            (i.term, i.holders, i.confidence, None if i.theta is None else str(Fraction(i.theta)),
             None if i.exceeds is None else not i.exceeds)
            for i in sorted(played.inferences, key=_nearness)[:VALUES]
        ],
    )  # fmt: skip


def _nearness(inference: Inference) -> tuple[bool, float, str]:
    """Order of values: those with a bound first, the nearest to it first."""
    theta = Fraction(inference.theta or 1)
    return theta >= 1, -inference.confidence / float(theta or 1), inference.term
