"""What `srsql audit` prints: a table, and the worst groups in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from srsql.engine.audit.audit import Audit, AuditRow
from srsql.engine.audit.evidence import GroupEvidence

EVIDENCE = 100
"""Groups with evidence per release and scope; `Engine.audit` gives all."""
SHOWN = 5
"""Of them, groups in words."""
COLUMNS = [
    "quarter",
    "model",
    "scope",
    "attacks",
    "not evaluated",
    "k",
    "alpha",
    "groups",
    "DIR",
    "DSR",
    "SSGR",
    "P",
    "safe",
]
_SETS = (
    ("b", "B", "an earlier release rules them out"),
    ("f", "F", "a later one does"),
    ("l", "L", "seen before, but the target is new"),
    ("md", "MD", "in the next quarter, but the target is not"),
)


def audit_rows(audit: Audit) -> Iterator[list[str]]:
    """The cells of ``COLUMNS`` for each release and scope."""
    for row in audit.releases:
        replaced = "" if row.status == "released" else f" ({row.status})"
        yield [
            row.quarter + replaced,
            row.model,
            row.scope,
            ",".join(row.attacks),
            ",".join(row.not_evaluated),
            str(row.k),
            row.alpha or "",
            f"{row.groups:,}",
            _ratio(row.dig, row.groups),
            _ratio(row.dsg, row.groups),
            _ratio(row.ssg, row.groups) if "ss" in row.attacks else "",
            "" if row.persistence is None else _ratio(row.persistence, row.groups),
            "yes" if row.safe else "NO",
        ]


def audit_lines(audit: Audit) -> Iterator[str]:
    """The verdict, the worst groups, and what else is worth knowing."""
    yield f"series {audit.series} of {audit.dataset}: " + ("safe" if audit.safe else "NOT safe")
    for row in audit.releases:
        groups = [
            group
            for group in audit.evidence
            if (group.release_id, group.scope) == (row.release_id, row.scope)
            and (group.dig or group.dsg or group.ssg)
        ]
        for group in groups[:SHOWN]:
            yield from _group(group)
        if len(groups) > SHOWN:
            yield f"  and other groups of {row.quarter} at scope={row.scope} (--json shows more)"
    yield from _notes(audit.releases)


def _group(group: GroupEvidence) -> Iterator[str]:
    who = "a target" if group.case_id is None else f"case {group.case_id}"
    knows = [f"{name} {_text(value)}" for name, value in group.qid.items()]
    knows += ["new"] if group.new else []
    knows += ["not in the next quarter"] if group.stopped else []
    yield (
        f"{group.quarter}, scope={group.scope}, group {group.group_id}: {who} "
        f"({', '.join(knows)}) has {group.candidates:,} candidates, {group.remaining:,} remain"
        + (", fewer than k" if group.dig else "")
    )
    for field, name, reason in _SETS:
        if size := getattr(group, field):
            yield f"  {name}: {size:,}, {reason}"
    if group.dsg and group.confidence is not None:
        yield (
            f"  {group.term}: confidence {group.confidence:.4g} exceeds theta {group.theta}"
            + _other(group, group.term_case_id)
        )
    if group.ssg and group.ss_share is not None:
        yield f"  substantially many symptoms: share {group.ss_share:.4g} exceeds alpha"


def _other(group: GroupEvidence, case_id: str | None) -> str:
    return "" if case_id in (None, group.case_id) else f" for case {case_id} of the group"


def _notes(rows: list[AuditRow]) -> Iterator[str]:
    """What is counted once per release, whatever the scope."""
    promises: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for row in rows:
        if row.undefended and row.quarter not in promises.get((row.model, row.undefended), []):
            promises.setdefault((row.model, row.undefended), []).append(row.quarter)
    for (model, undefended), quarters in promises.items():
        when = quarters[0] if len(quarters) == 1 else f"{quarters[0]} to {quarters[-1]}"
        yield f"{when}: {model} does not defend against {', '.join(undefended)}, nor against P"
    seen = set()
    for row in rows:
        if row.release_id in seen:
            continue
        seen.add(row.release_id)
        if row.internal is not None:
            yield (
                f"{row.quarter}: {row.model} perturbs {', '.join(row.perturbed)}. A perturbed "
                "value rules nobody out, so attacks take it as any; what B, F and L find by the "
                "rest is reported and gates nothing. Safe: the internal groups keep k and theta"
                + (f": {row.internal:,} do not" if row.internal else "")
            )
        if row.outside:
            yield f"{row.quarter}: the region of {row.outside:,} cases does not cover them"
        if row.qid_bounding:
            yield (
                f"{row.quarter}: {row.qid_bounding:,} old cases have a region that does not cover "
                "all their earlier ones (informative)"
            )
        if row.targets == "cells":
            yield f"{row.quarter}: without originals, judged for every value the regions tell apart"


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole if whole else 0:.4g} ({part:,})"


def _text(value: Any) -> str:
    if value is None:
        return "missing"
    if isinstance(value, dict):
        low, high = value["low"], value["high"]
        return f"{low}" if low == high else f"{low} to {high}"
    return str(value)
