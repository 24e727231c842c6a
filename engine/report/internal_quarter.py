"""The internal edition of a quarter: what the steward reads before publishing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from srsql.engine.audit.audit import AuditRow, audit
from srsql.engine.audit.evidence import GroupEvidence
from srsql.engine.audit.plan import AuditOptions
from srsql.engine.catalog.releases import Release, as_released, countable_scopes, staleness
from srsql.engine.catalog.series import IDS, awaited_cases
from srsql.engine.checks import catalog_facts
from srsql.engine.checks.registry import judged
from srsql.engine.checks.series import measure_series
from srsql.engine.measures import MeasureRow
from srsql.engine.models import MODELS
from srsql.engine.report.glossary import (
    beside_region,
    measure_meaning,
    reason_meaning,
    singled_out_facts,
    suppressed_facts,
    undefended,
)
from srsql.engine.report.page import Fact, Figure, Page, Table, Value, render
from srsql.engine.report.quarter_figures import (
    before_after_figure,
    group_figures,
    missing_figure,
    reasons_figure,
    risk_figure,
    width_figure,
)
from srsql.engine.report.shapes import Shapes, before_after, catalog_shapes, missingness
from srsql.engine.report.signal_figures import compared_blocks, comparisons
from srsql.engine.report.worked_attack import attack_blocks, work_attack
from srsql.engine.risk.linkability import measure_linkability
from srsql.engine.risk.linkage import measure_linkage, shipped_medical
from srsql.engine.risk.metrics import measure
from srsql.engine.risk.singling_out import SOME_CASES, measure_singling_out
from srsql.engine.shapes.drawn_values import shares_at_ends, worthless_values
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.outside import json_of

_RELEASE = "report/release"
_DANGER = ("dir", "dsr", "ssgr", "dr")
_HIDDEN = frozenset(
    {"cases", "reports", "withheld", "values_given_up", "infeasible", "metrics", "files", "source",
     "guarantee", "made_after", "parameters", "suppressed", "incomplete", "unread_columns"}
)  # fmt: skip
"""Keys of the private manifest that have a place of their own on the page."""
_ROWS_SHOWN = 50
"""Infeasible values in the table."""


@dataclass(frozen=True)
class Subject:
    """One release, draft or not, with its private manifest."""

    release: Release
    status: str
    manifest: dict[str, Any]


def read_subject(warehouse: Warehouse, dataset: Dataset, series: str, release_id: int) -> Subject:
    """The release as the catalog has it.

    Args:
        warehouse: may be read-only.
        dataset: with the tables of which the release has rows.
        series: of the release.
        release_id: of the catalog.
    """
    quarter, status, k, schema, manifest = warehouse.rows(
        query(_RELEASE, "subject"), {"release": release_id}
    )[0]
    taken = as_released(warehouse, dataset, release_id)
    release = Release(warehouse, taken, dataset, release_id, series, quarter, schema, k)
    return Subject(release, status, json_of(manifest))


def internal_quarter(subject: Subject) -> Page:
    """The page of one release; nothing but temporary tables is written.

    Args:
        subject: the release.

    Returns:
        The page.
    """
    release = subject.release
    warehouse, dataset, series = release.warehouse, release.visible_dataset, release.series
    rows = measured(release)
    checks = stored_checks(release)
    shapes = catalog_shapes(release)
    exposed = subject.status == "released"
    compared = comparisons(release) if exposed and dataset.signal_rows and shapes.groups else []
    by_set = bool(dataset.qid_set)  # groups are of who knows all sets: none of them is played
    found = attacked(subject)
    playable = exposed and "match" in countable_scopes(warehouse, release.release_id)
    worked = work_attack(release, found.worst, play=playable) if found.worst else None
    model = MODELS.get(subject.manifest["model"])
    promised = model.claimed_bounds.guaranteed if model else frozenset()
    return render(
        "internal_quarter.html.j2",
        dataset=dataset,
        series=series,
        quarter=release.quarter,
        k=release.k,
        draft=not exposed,
        facts=_facts(subject, shapes, rows + checks),
        **beside_region(release.visible_dataset, subject.manifest),
        guarantee=subject.manifest["guarantee"],
        undefended=undefended(subject.manifest),
        parameters=_parameters(subject),
        files=_files(subject.manifest),
        changed=_raw_rows_replaced(release),
        stale=[each.line for each in staleness(warehouse, release_id=release.release_id)],
        risk=_risk(rows, found.verdict),
        no_risk=_no_risk(shapes),
        checks_sentence=_checks_sentence(rows + checks),
        measures=measures_table(rows + checks),
        ids=IDS.get(subject.manifest.get("ids", "")),
        date=subject.manifest.get("release_date"),
        shapes=shapes,
        groups=group_figures(
            shapes,
            release.k if "k" in promised and not by_set else None,
            "group",
            limit=1 if "theta" in promised and not by_set else None,
        ),
        thetas=_thetas(release, shapes),
        infeasible=_infeasible(subject.manifest),
        loss=loss_table(subject, rows),
        worthless=worthless_values(shares_at_ends(rows)),
        widths=None if _perturbed(subject) else width_figure(shapes),
        before_after=before_after_figure(before_after(release)) if shapes.groups else None,
        missing=missing_values(release),
        withheld=_withheld(release),
        has_signals=dataset.signal_rows,
        signals=compared,
        signal_blocks=compared_blocks(compared),
        attack=worked,
        attack_blocks=attack_blocks(worked, release.k) if worked else [],
    )


@dataclass(frozen=True)
class Attacked:
    """What the audit of its series finds of a release."""

    verdict: AuditRow | None
    """None, like the other: sets of quasi-identifiers are protected each by itself."""
    worst: GroupEvidence | None
    """The group of which the fewest candidates remain."""


def attacked(subject: Subject) -> Attacked:
    """Audit the series for this release, within groups."""
    release, exposed = subject.release, subject.status == "released"
    warehouse, dataset, series = release.warehouse, release.visible_dataset, release.series
    if dataset.qid_set:
        return Attacked(None, None)
    options = AuditOptions(
        quarter=release.quarter,
        scopes=("group",),
        draft=None if exposed else release.release_id,
        evidence=1,
        next_cases=awaited_cases(warehouse, dataset, series, None if exposed else release.quarter),
    )
    audited = audit(warehouse, dataset, series, options)
    of = release.release_id
    return Attacked(
        next((row for row in audited.releases if row.release_id == of), None),
        next((group for group in audited.evidence if group.release_id == of), None),
    )


def measured(release: Release) -> list[MeasureRow]:
    """Every metric of the release, measured now."""
    warehouse, dataset = release.warehouse, release.visible_dataset
    return [
        *judged(
            catalog_facts(warehouse, release.release_id), measure(warehouse, release.release_id)
        ),
        *measure_singling_out(warehouse, dataset, release.release_id, SOME_CASES),
        *measure_linkage(warehouse, dataset, release.release_id, shipped_medical(dataset)),
        *measure_series(warehouse, dataset, release.series, release.release_id, release.quarter),
        *measure_linkability(warehouse, dataset, release.release_id),
    ]


def stored_checks(release: Release) -> list[MeasureRow]:
    """The checks that the release passed when it was made."""
    return [MeasureRow(release.release_id, *row) for row in _rows(release, "checks")]


def _rows(release: Release, name: str) -> list[tuple[Any, ...]]:
    """What the catalog says of the release by a named query."""
    return release.warehouse.rows(query(_RELEASE, name), {"release": release.release_id})


def _facts(subject: Subject, shapes: Shapes, rows: list[MeasureRow]) -> list[Fact]:
    cases, reports = subject.manifest["cases"], subject.manifest["reports"]
    name, loss = _total_loss(rows)
    broken = sum(row.passed is False for row in rows)
    return [
        Fact("cases", "cases released", cases["released"]),
        Fact("new", "new, old", cases["new"], f"{cases['new']:,} / {cases['old']:,}"),
        Fact("reports", "reports released", reports["released"]),
        Fact("groups", "groups", shapes.groups),
        Fact("withheld", "cases withheld", cases["withheld"]),
        Fact("nil", name, loss.ratio),
        Fact("broken", "bounds broken", broken),
        *singled_out_facts(subject.manifest),
        *suppressed_facts(
            subject.manifest,
            next((row.ratio for row in rows if row.measure == "suppressed_confidence"), None),
        ),
    ]


def _parameters(subject: Subject) -> Table:
    rows: list[tuple[Value, ...]] = [("release", subject.release.release_id)]
    rows.append(("views", subject.release.schema))
    for key, value in subject.manifest.items():
        if key not in _HIDDEN:
            plain = value if isinstance(value, (str, int)) or value is None else json.dumps(value)
            rows.append((key.replace("_", " "), plain if key != "seed" else str(plain)))
    for each in subject.manifest.get("incomplete", []):
        lacking = f"{each['without_row']:,} of {each['reports']:,}"
        rows.append((f"reports of the source without a row in {each['table']}", lacking))
    for each in subject.manifest.get("unread_columns", []):
        unread = f"{each['unread']:,} of {each['filled']:,}"
        rows.append((f"values of {each['table']}.{each['column']} not understood", unread))
    after = subject.manifest.get("made_after", [])
    rows.append(("releases known to attackers when it was made", len(after)))
    return Table("parameters", "Parameters of the release", ("parameter", "value"), rows)


def _files(manifest: dict[str, Any]) -> Table:
    source = manifest["source"]
    rows = [
        (f["table"], f["file"], f["records"], f["loaded"], f["rejected"], f["sha256"])
        for f in manifest["files"]
    ]
    return Table(
        "files",
        f"Inputs: {source['name']}, SHA-256 {source['sha256']}",
        ("table", "file", "records", "loaded", "rejected", "SHA-256"),
        rows,
    )


def _raw_rows_replaced(release: Release) -> bool:
    """Whether the raw rows behind the release were replaced since."""
    return any(replaced for (replaced,) in _rows(release, "raw_rows_replaced"))


def measures_table(rows: list[MeasureRow], caption: str = "Every metric and every check") -> Table:
    """Uniform rows as they are, and at the first of each measure its meaning."""
    meanings: list[str] = []
    for row, before in zip(rows, [None, *rows], strict=False):
        repeated = before is not None and before.measure == row.measure
        meanings.append("" if repeated else measure_meaning(row.measure))
    return Table(
        "measures",
        caption,
        ("measure", "scope", "violating", "total", "ratio", "threshold", "holds", "meaning"),
        [
            (r.measure, r.scope, r.violating, r.total, r.ratio, r.threshold, r.passed,
             meaning)
            for r, meaning in zip(rows, meanings, strict=True)
        ],
    )  # fmt: skip


def _risk(rows: list[MeasureRow], verdict: AuditRow | None) -> Figure | None:
    """Every share of groups in danger, and of persistence, which only informs unless it gates.

    ``verdict``: None where sets of quasi-identifiers are protected each by itself.
    """
    bars: list[tuple[str, float, float, bool | None]] = [
        (
            f"{row.measure.upper()} ({row.scope.partition(':')[0]})",
            row.violating or 0,
            row.total or 0,
            row.passed,
        )
        for name in _DANGER
        for row in rows
        if row.measure == name
    ]  # fmt: skip
    if not bars or not bars[0][2]:
        return None
    if verdict is None:
        return risk_figure(bars) if any(bar[1] for bar in bars) else None
    gates = "p" in verdict.attacks
    found = float(verdict.persistence or 0)
    name = "P (group)" if gates else "P (group), not defended"
    bars.append((name, found, float(verdict.groups), found == 0 if gates else None))
    return risk_figure(bars) if any(bar[1] for bar in bars) else None


def _no_risk(shapes: Shapes) -> str:
    """What stands in the place of a figure of zeros."""
    if not shapes.groups:
        return "No case is released, so nobody is at risk."
    return (
        f"None of the {shapes.groups:,} groups is in danger: not under the attacks that are "
        "evaluated (DIR, DSR, SSGR), not by itself (DR), and not under persistence (P)."
    )


def _checks_sentence(rows: list[MeasureRow]) -> str:
    judged_rows = [row for row in rows if row.passed is not None]
    broken = sum(not row.passed for row in judged_rows)
    return f"{len(judged_rows):,} bounds were recomputed from what is released: " + (
        f"{broken:,} are BROKEN." if broken else "all hold."
    )


def _thetas(release: Release, shapes: Shapes) -> Table:
    in_groups = {theta: (terms, highest) for theta, terms, highest in shapes.highest}
    rows = []
    for theta, terms, least, most in _rows(release, "threshold_classes"):
        released, highest = in_groups.get(theta, (0, None))
        rows.append((theta, terms, least, most, released, highest))
    return Table(
        "thetas",
        "Sensitive values by threshold; confidence: the highest of such a value in any group",
        ("θ", "values", "rarest (cases)", "commonest (cases)", "in groups", "confidence"),
        rows,
    )


def _infeasible(manifest: dict[str, Any]) -> Table | None:
    listed = manifest["infeasible"]
    if not listed:
        return None
    names = tuple(listed[0])
    return Table(
        "infeasible",
        f"Values more frequent in the quarter than their threshold ({len(listed):,}"
        + (f", the first {_ROWS_SHOWN})" if len(listed) > _ROWS_SHOWN else ")"),
        tuple(name.replace("_", " ") for name in names),
        [
            tuple(v if isinstance(v := item[name], (str, int, float)) else str(v) for name in names)
            for item in listed[:_ROWS_SHOWN]
        ],
    )


def _total_loss(rows: list[MeasureRow]) -> tuple[str, MeasureRow]:
    """The measure of information loss: NIL; of perturbed values, which have no width, NIL*."""
    by_name = {row.measure: row for row in rows}
    name = "nil" if "nil" in by_name else "nil_star"
    return {"nil": "NIL", "nil_star": "NIL*"}[name], by_name[name]


def _perturbed(subject: Subject) -> bool:
    """Whether what is published was drawn, so that regions are not what was lost."""
    model = MODELS.get(subject.manifest["model"])
    return model is not None and model.claimed_bounds.drawn


def loss_table(subject: Subject, rows: list[MeasureRow]) -> Table:
    """The loss of each quasi-identifier, and of all."""
    qids = subject.release.visible_dataset.qid
    rows_of_qids = [] if _perturbed(subject) else _rows(subject.release, "losses")
    found: list[tuple[Value, ...]] = [
        (qids[position].name, cases, loss, loss / cases if cases else None)
        for position, cases, loss in rows_of_qids
    ]
    name, total = _total_loss(rows)
    found.append((f"all ({name})", total.total, total.violating, total.ratio))
    return Table(
        "loss",
        "Information loss per quasi-identifier: 0 nothing lost, 1 all",
        ("quasi-identifier", "values", "sum of losses", "mean loss"),
        found,
    )


def missing_values(release: Release) -> tuple[Figure | None, Table]:
    """What is missing before and after; the figure is left out where nothing is released."""
    rows = missingness(release)
    figure = missing_figure(rows) if any(row.released for row in rows) else None
    table = Table(
        "missingness",
        "Missing values in the quarter and in what is released",
        ("quasi-identifier", "cases of the quarter", "missing", "share", "cases released",
         "missing before", "given up", "share missing as released"),
        [
            (r.name, r.cases, r.missing, r.missing / r.cases if r.cases else None, r.released,
             r.released_missing, r.given_up,
             (r.released_missing + r.given_up) / r.released if r.released else None)
            for r in rows
        ],
    )  # fmt: skip
    return figure, table


def _withheld(release: Release) -> tuple[Figure | None, Table | None]:
    rows = _rows(release, "withheld")
    if not rows:
        return None, None
    return reasons_figure([(reason, cases) for reason, cases, _ in rows]), Table(
        "withheld",
        "What was withheld and why",
        ("reason", "meaning", "cases", "reports"),
        [(reason, reason_meaning(reason), cases, reports) for reason, cases, reports in rows],
    )
