"""The check of a release against the whole series: can anybody be singled out by joining it?

The audit reads the catalog, of which ``check_catalog`` has proved that it has what the released
views show. Every release of the series is audited under the attacks its own model withstands;
a group that this release made dangerous, or more dangerous than it was, fails it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

from srsql.engine.audit.audit import Audit, AuditRow, audit
from srsql.engine.audit.evidence import GroupEvidence
from srsql.engine.audit.plan import AuditOptions
from srsql.engine.audit.verdicts import audit_again, audit_new
from srsql.engine.catalog.releases import Release
from srsql.engine.catalog.series import awaited_cases
from srsql.engine.checks import TOPIC, Evidence
from srsql.engine.errors import CheckFailedError
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

USUAL_ALPHA = Fraction(1, 2)
"""The share that SSGR is measured against where the model bounds none."""


def check_series(evidence: Evidence) -> list[Measure]:
    """Audit the series with the release in it; its own figures as uniform rows.

    The verdict on every release of the series is that of an audit of all, at the cost of what this
    release can change (see :mod:`srsql.engine.audit.verdicts`).

    Where its model withstands no attack, nothing is refused, and no other release is looked at.

    Raises:
        CheckFailedError: the release makes a group dangerous; the text names the worst.
    """
    release, attacks = evidence.release, evidence.facts.attacks
    warehouse, dataset, release_id = release.warehouse, release.dataset, release.release_id
    options = AuditOptions(
        draft=release_id,
        next_cases=awaited_cases(warehouse, dataset, release.series, release.quarter)
        if "md" in attacks
        else None,
    )
    if not attacks:
        alone = replace(options, releases=frozenset({release_id}), evidence=0)
        after = audit(warehouse, dataset, release.series, alone)
    else:
        if dataset.qid_set:  # no verdicts are kept by set, of which a new release changes some
            after = audit(warehouse, dataset, release.series, options)
        else:
            options = replace(options, keep=evidence.exposed)
            after = audit_new(warehouse, dataset, release.series, release_id, options)
        worsened = _worsened(release, after)
        if worsened:
            raise CheckFailedError(_explain(worsened, release.quarter))
    return [row for row in shares(after, gating=bool(attacks)) if row[0] == release_id]


def check_whole_series(
    warehouse: Warehouse, dataset: Dataset, series: str, attacks: Collection[str]
) -> Audit:
    """Audit a series in full, once its releases were audited one by one.

    Args:
        warehouse: no transaction is open.
        dataset: as the model of the releases takes it.
        series: of the releases.
        attacks: that their model withstands.

    Raises:
        AuditError: it finds anything else than these audits did.
    """
    cases = awaited_cases(warehouse, dataset, series) if "md" in attacks else None
    return audit_again(warehouse, dataset, series, AuditOptions(next_cases=cases, evidence=0))


def shares(found: Audit, *, gating: bool) -> list[Measure]:
    """DIR, DSR and SSGR of the audited releases in the uniform row."""
    return [row for release in found.releases for row in _shares(release, gating)]


def _shares(row: AuditRow, gating: bool) -> list[Measure]:
    figures = [("dir", row.dig, row.dir), ("dsr", row.dsg, row.dsr)]
    if "ss" in row.attacks:
        figures.append(("ssgr", row.ssg, row.ssgr))
    scope = f"{row.scope}: {','.join(row.attacks)}"
    measures: list[Measure] = []
    for name, count, ratio in figures:
        threshold = {"dir": float(row.k), "ssgr": float(Fraction(row.alpha or 1))}.get(name, 0.0)
        measures.append(
            (
                row.release_id,
                name,
                scope,
                float(count),
                float(row.groups),
                ratio,
                threshold,
                count == 0 if gating else None,
            )
        )
    return measures


def measure_series(
    warehouse: Warehouse, dataset: Dataset, series: str, release_id: int, quarter: str
) -> list[MeasureRow]:
    """DIR, DSR and SSGR of one release as the series stands now, promised or not."""
    found = warehouse.rows(query(TOPIC, "guarantee"), {"release": release_id})
    if not found:
        return []
    draft, promised, alpha_num, alpha_den = found[0]
    attacks = tuple(promised) or ("b", "f", "l")
    measured = audit(
        warehouse,
        dataset,
        series,
        AuditOptions(
            quarter=quarter,
            attacks=attacks if "ss" in attacks else (*attacks, "ss"),
            alpha=Fraction(alpha_num, alpha_den) if alpha_den else USUAL_ALPHA,
            draft=release_id if draft else None,
            evidence=0,
        ),
    )
    gating = {"dir": bool(promised), "dsr": bool(promised), "ssgr": "ss" in promised}
    rows = [MeasureRow(*row) for row in shares(measured, gating=True) if row[0] == release_id]
    return [row if gating[row.measure] else replace(row, passed=None) for row in rows]


def _worsened(release: Release, after: Audit) -> list[GroupEvidence]:
    """Groups in danger that were not, or not as much, before this release."""
    release_id = release.release_id
    touched = frozenset(row.release_id for row in after.releases)
    claiming = {row.release_id for row in after.releases if row.erasure_claimed}
    leaving = [g for g in after.erasure if g.release_id in claiming]
    dangerous = [g for g in after.evidence if g.dig or g.dsg or g.ssg]
    if not (dangerous or leaving):
        return []
    others = [g for g in dangerous if g.release_id != release_id]
    before: dict[tuple[int, str, int], GroupEvidence] = {}
    left_before: dict[tuple[int, str, int], GroupEvidence] = {}
    if others or leaving:
        earlier = audit(
            release.warehouse,
            release.dataset,
            release.series,
            AuditOptions(without=release_id, releases=touched - {release_id}),
        )
        before = {_place(g): g for g in earlier.evidence}
        left_before = {_place(g): g for g in earlier.erasure}
    made = [g for g in dangerous if g.release_id == release_id]
    for groups, known in ((others, before), (leaving, left_before)):
        for group in groups:
            was = known.get(_place(group))
            if was is None or _danger(group) > _danger(was):
                made.append(group)
    return made


def _place(group: GroupEvidence) -> tuple[int, str, int]:
    return group.release_id, group.scope, group.group_id


def _danger(group: GroupEvidence) -> tuple[float, ...]:
    """What can only grow when a group becomes more dangerous."""
    return (
        float(group.dig) + float(group.dsg) + float(group.ssg),
        -float(group.remaining) if group.dig else 0.0,
        (group.confidence or 0.0) if group.dsg else 0.0,
        (group.ss_share or 0.0) if group.ssg else 0.0,
    )


def _explain(groups: list[GroupEvidence], quarter: str) -> str:
    worst = min(groups, key=lambda g: (g.remaining, g.release_id, g.group_id))
    return (
        f"the release of {quarter} failed its own audit: {len(groups):,} group(s) would be in "
        f"danger, the worst one of {worst.quarter} at scope={worst.scope} with {worst.remaining} "
        f"of {worst.candidates} candidates left; nothing was released"
    )
