"""The page of one quarter of a foreign series: what its released table tells, and its
originals where they were imported.

No manifest comes with such a table, so that k and thresholds are the reader's to give; what the
page cannot tell it says in a line each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from srsql.engine.audit.audit import AuditRow, audit
from srsql.engine.audit.plan import AuditOptions
from srsql.engine.grouping.thresholds import ThetaPolicy
from srsql.engine.report.internal_quarter import (
    Subject,
    loss_table,
    measures_table,
    missing_values,
)
from srsql.engine.report.page import Fact, Figure, Page, Table, render
from srsql.engine.report.quarter_figures import group_figures, risk_figure, width_figure
from srsql.engine.report.shapes import Shapes, catalog_shapes
from srsql.engine.report.worked_attack import attack_blocks, work_attack
from srsql.engine.risk.metrics import measure

UNTOLD = AuditOptions(k=1, theta=ThetaPolicy("uniform", default=Fraction(1)))
"""Bounds that nothing can break: the worst group is found, and nothing is judged."""
_BOUNDS = (
    "whether k and thresholds hold: the table tells neither, and none were given (--k and --theta)"
)
_ORIGINALS = (
    "what was lost against the true values, whether the regions cover them, and which values were "
    "given up: the originals were not imported (import-release --originals)"
)
_NEVER = (
    "what its publisher promises, and by which model: no manifest comes with the table",
    "what was withheld: the table has only what was released",
    "signals, and what stands beside the region other than the sensitive values: other columns "
    "are not imported",
)


def not_told(*, judged: bool, originals: bool) -> list[str]:
    """What a page on an imported release cannot say, a line each with the reason."""
    return [*([] if judged else [_BOUNDS]), *([] if originals else [_ORIGINALS]), *_NEVER]


def verdict_sentence(rows: Sequence[AuditRow], bounds: AuditOptions | None) -> str:
    """The verdict of an audit in a sentence.

    Args:
        rows: the releases in question, at one scope.
        bounds: what they were judged by; None: nothing.
    """
    if bounds is None:
        return f"Nothing is judged: {_BOUNDS}."
    told = f"with k = {bounds.k} and θ = {bounds.theta}"
    groups = sum(row.groups for row in rows)
    attacks = ", ".join(dict.fromkeys(a.upper() for row in rows for a in row.attacks))
    if all(row.safe for row in rows):
        return (
            f"Safe {told}: in none of the {groups:,} groups an attacker ({attacks}) is left with "
            "fewer than k candidates or infers a value beyond its threshold."
        )
    parts = [
        f"in {count:,} fewer than k candidates remain (DIG)"
        if name == "dig"
        else f"in {count:,} a value is inferred beyond its threshold (DSG)"
        for name in ("dig", "dsg")
        if (count := sum(getattr(row, name) for row in rows))
    ]
    return f"Not safe {told}: of {groups:,} groups, {' and '.join(parts)}, under {attacks}."


def imported_quarter(subject: Subject, bounds: AuditOptions | None) -> Page:
    """The page; nothing but temporary tables is written.

    Args:
        subject: the release.
        bounds: k and thresholds; None: nothing is judged.
    """
    release, manifest = subject.release, subject.manifest
    dataset, warehouse = release.visible_dataset, release.warehouse
    shapes = catalog_shapes(release)
    options = replace(bounds or UNTOLD, quarter=release.quarter, scopes=("group",), evidence=1)
    audited = audit(warehouse, dataset, release.series, options)
    verdict = next(row for row in audited.releases if row.release_id == release.release_id)
    worst = [group for group in audited.evidence if group.release_id == release.release_id]
    worked = work_attack(release, worst[0], play=True) if worst else None
    k = bounds.k if bounds else None
    rows = measure(warehouse, release.release_id)
    originals = bool(manifest["originals"])
    return render(
        "imported_quarter.html.j2",
        dataset=dataset,
        series=release.series,
        quarter=release.quarter,
        k=k,
        facts=_facts(manifest, shapes, verdict, judged=bounds is not None),
        verdict=verdict_sentence([verdict], bounds),
        risk=_risk(verdict) if bounds else None,
        measures=measures_table(rows, "Every metric that needs no manifest"),
        groups=[figure for figure in group_figures(shapes, k, "group") if figure.key == "sizes"],
        loss=loss_table(subject, rows),
        widths=width_figure(shapes),
        missing=missing_values(release) if originals else None,
        attack=worked,
        attack_blocks=attack_blocks(worked, k) if worked else [],
        not_told=not_told(judged=bounds is not None, originals=originals),
        files=_files(manifest),
    )


def _facts(
    manifest: dict[str, Any], shapes: Shapes, verdict: AuditRow, *, judged: bool
) -> list[Fact]:
    cases = manifest["cases"]
    facts = [
        Fact("cases", "cases released", cases["released"]),
        Fact("new", "new, old", cases["new"], f"{cases['new']:,} / {cases['old']:,}"),
        Fact("reports", "rows of the table", manifest["reports"]["released"]),
        Fact("groups", "groups", shapes.groups),
        Fact("smallest", "cases in the smallest group", min(shapes.sizes)),
    ]
    if judged:
        facts.append(Fact("dangerous", "groups in danger", verdict.dig + verdict.dsg + verdict.ssg))
    if verdict.outside is not None:
        facts.append(Fact("outside", "cases outside their region", verdict.outside))
    return facts


def _risk(verdict: AuditRow) -> Figure:
    """Shares of groups in danger; persistence only informs."""
    bars: list[tuple[str, float, float, bool | None]] = [
        ("DIR (group)", verdict.dig, verdict.groups, not verdict.dig),
        ("DSR (group)", verdict.dsg, verdict.groups, not verdict.dsg),
        ("P (group), informs", verdict.persistence or 0, verdict.groups, None),
    ]
    return risk_figure(bars)


def _files(manifest: dict[str, Any]) -> Table:
    return Table(
        "files",
        "Files that were imported",
        ("what", "file", "rows", "SHA-256"),
        [(f["kind"], f["file"], f["rows"], f["sha256"]) for f in manifest["files"]],
    )
