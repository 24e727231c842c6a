"""The internal edition of a quarter: what the steward reads before publishing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from srsql.engine.audit.audit import AuditRow, audit
from srsql.engine.checks.series import measure_series
from srsql.engine.measures import MeasureRow
from srsql.engine.models import MODELS
from srsql.engine.report import plots, plots_shape
from srsql.engine.report.blocks import attacks, group_figures, measure_table, width_figure
from srsql.engine.report.figures import (
    Shapes,
    catalog_shapes,
    losses,
    missingness,
    threshold_classes,
    withheld,
)
from srsql.engine.report.page import Fact, Figure, Table, Value, render
from srsql.engine.report.signal_figures import compared_blocks, comparisons
from srsql.engine.report.walk import walk, walk_blocks
from srsql.engine.report.words import REASONS, undefended
from srsql.engine.risk.linkage import measure_linkage, shipped_medical
from srsql.engine.risk.metrics import measure
from srsql.engine.warehouse.releases import is_parted
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

_DANGER = ("dir", "dsr", "ssgr", "dr")
_HIDDEN = frozenset(
    {"cases", "reports", "withheld", "values_given_up", "infeasible", "metrics", "files", "source",
     "guarantee", "made_after"}
)  # fmt: skip
"""Keys of the private manifest that have a place of their own on the page."""
_LISTED = 50
"""Infeasible values in the table."""


@dataclass(frozen=True)
class Subject:
    """One release as the catalog has it."""

    release_id: int
    quarter: str
    status: str
    k: int
    schema: str
    manifest: dict[str, Any]


def subject(warehouse: Warehouse, release_id: int) -> Subject:
    """Read its row."""
    quarter, status, k, schema, manifest = warehouse.rows(
        "SELECT r.quarter, r.status, r.k, r.schema_name, r.private_manifest "
        "FROM srsql.release AS r WHERE r.release_id = ?",
        [release_id],
    )[0]
    return Subject(release_id, quarter, status, k, schema, json.loads(manifest))


def internal_quarter(warehouse: Warehouse, dataset: Dataset, series: str, of: Subject) -> str:
    """The page of one release, draft or not."""
    rows = [
        *measure(warehouse, of.release_id),
        *measure_linkage(warehouse, dataset, of.release_id, shipped_medical(dataset)),
        *measure_series(warehouse, dataset, series, of.release_id, of.quarter),
    ]
    checks = [
        MeasureRow(of.release_id, *row)
        for row in warehouse.rows(
            "SELECT q.measure, q.scope, q.violating, q.total, q.ratio, q.threshold, q.passed "
            "FROM srsql.measure AS q WHERE q.release_id = ? AND q.stage = 'check' "
            "ORDER BY q.measure, q.scope",
            [of.release_id],
        )
    ]
    shapes = catalog_shapes(warehouse, dataset, of.release_id)
    exposed = of.status == "released"
    compared = (
        comparisons(warehouse, dataset, series, of.quarter)
        if exposed and dataset.signals is not None and shapes.groups
        else []
    )
    audited = audit(
        warehouse,
        dataset,
        series,
        quarter=of.quarter,
        scopes=("group",),
        draft=None if exposed else of.release_id,
        evidence=1,
    )
    judged = next(row for row in audited.releases if row.release_id == of.release_id)
    worst = [group for group in audited.evidence if group.release_id == of.release_id]
    playable = exposed and not is_parted(warehouse, of.release_id)
    found = walk(warehouse, dataset, series, worst[0], play=playable) if worst else None
    return render(
        "internal_quarter.html.j2",
        dataset=dataset,
        series=series,
        quarter=of.quarter,
        k=of.k,
        draft=not exposed,
        facts=_facts(of, shapes, rows + checks),
        guarantee=of.manifest["guarantee"],
        undefended=undefended(attacks(of.manifest)),
        parameters=_parameters(of),
        files=_files(of.manifest),
        changed=_changed(warehouse, of),
        risk=_risk(rows, judged),
        measures=measure_table("measures", "Every metric and every check", rows + checks),
        shapes=shapes,
        groups=group_figures(shapes, of.k, "group"),
        thetas=_thetas(warehouse, of.release_id, shapes),
        infeasible=_infeasible(of.manifest),
        loss=_loss(warehouse, dataset, of, rows),
        widths=None if _perturbed(of) else width_figure(shapes),
        missing=_missing(warehouse, dataset, of.release_id),
        gone=_withheld(warehouse, of.release_id),
        has_signals=dataset.signals is not None,
        signals=compared,
        signal_blocks=compared_blocks(compared),
        walk=found,
        walk_blocks=walk_blocks(found, of.k) if found else [],
    )


def _facts(of: Subject, shapes: Shapes, rows: list[MeasureRow]) -> list[Fact]:
    cases, reports = of.manifest["cases"], of.manifest["reports"]
    name, lost = _lost(rows)
    broken = sum(row.passed is False for row in rows)
    return [
        Fact("cases", "cases released", cases["released"]),
        Fact("new", "new, old", cases["new"], f"{cases['new']:,} / {cases['old']:,}"),
        Fact("reports", "reports released", reports["released"]),
        Fact("groups", "groups", shapes.groups),
        Fact("withheld", "cases withheld", cases["withheld"]),
        Fact("nil", name, lost.ratio),
        Fact("broken", "bounds broken", broken),
    ]


def _parameters(of: Subject) -> Table:
    rows: list[tuple[Value, ...]] = [("release", of.release_id), ("views", of.schema)]
    for key, value in of.manifest.items():
        if key not in _HIDDEN:
            told = value if isinstance(value, (str, int)) or value is None else json.dumps(value)
            rows.append((key.replace("_", " "), told if key != "seed" else str(told)))
    after = of.manifest.get("made_after", [])
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


def _changed(warehouse: Warehouse, of: Subject) -> bool:
    """Whether the raw rows behind the release were replaced since."""
    return bool(
        warehouse.value(
            "SELECT i.replaced FROM srsql.release AS r INNER JOIN srsql.ingestion AS i "
            "ON r.ingestion_id = i.ingestion_id WHERE r.release_id = ?",
            [of.release_id],
        )
    )


def _risk(rows: list[MeasureRow], judged: AuditRow) -> Figure | None:
    """Bars of every share of groups, and of persistence, which only informs."""
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
    bars.append(
        ("P (group), not defended", float(judged.persistence or 0), float(judged.groups), None)
    )
    return Figure(
        "risk",
        plots.risk(bars),
        "Share of groups in danger, attacked with the whole series. In brackets the candidates: "
        "those of the target's group, or all cases whose region matches what the attacker knows; "
        "for DR, with or without external knowledge. Hatched: measured, not promised by the model.",
    )


def _thetas(warehouse: Warehouse, release_id: int, shapes: Shapes) -> Table:
    seen = {theta: (terms, highest) for theta, terms, highest in shapes.highest}
    rows = []
    for theta, (terms, least, most) in threshold_classes(warehouse, release_id).items():
        released, highest = seen.get(theta, (0, None))
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
        + (f", the first {_LISTED})" if len(listed) > _LISTED else ")"),
        tuple(name.replace("_", " ") for name in names),
        [
            tuple(v if isinstance(v := item[name], (str, int, float)) else str(v) for name in names)
            for item in listed[:_LISTED]
        ],
    )


def _lost(rows: list[MeasureRow]) -> tuple[str, MeasureRow]:
    """The measure of information loss: NIL; of perturbed values, which have no width, NIL*."""
    by_name = {row.measure: row for row in rows}
    name = "nil" if "nil" in by_name else "nil_star"
    return {"nil": "NIL", "nil_star": "NIL*"}[name], by_name[name]


def _perturbed(of: Subject) -> bool:
    """Whether what is published was drawn, so that regions are not what was lost."""
    model = MODELS.get(of.manifest["model"])
    return model is not None and model.perturbs_values


def _loss(warehouse: Warehouse, dataset: Dataset, of: Subject, rows: list[MeasureRow]) -> Table:
    listed = [] if _perturbed(of) else losses(warehouse, dataset, of.release_id)
    found: list[tuple[Value, ...]] = [
        (name, cases, loss, loss / cases if cases else None) for name, cases, loss in listed
    ]
    name, lost = _lost(rows)
    found.append((f"all ({name})", lost.total, lost.violating, lost.ratio))
    return Table(
        "loss",
        "Information loss per quasi-identifier: 0 nothing lost, 1 all",
        ("quasi-identifier", "values", "sum of losses", "mean loss"),
        found,
    )


def _missing(
    warehouse: Warehouse, dataset: Dataset, release_id: int
) -> tuple[Figure | None, Table]:
    rows = missingness(warehouse, dataset, release_id)
    figure = None
    if any(row.released for row in rows):
        figure = Figure(
            "missing",
            plots_shape.missing(rows),
            "Released cases per quasi-identifier: released as a region, known but given up (its "
            "set of cases was too small), missing in the originals.",
        )
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


def _withheld(warehouse: Warehouse, release_id: int) -> tuple[Figure | None, Table | None]:
    rows = withheld(warehouse, release_id)
    if not rows:
        return None, None
    return (
        Figure("reasons", plots.reasons([row[:2] for row in rows]), "Cases withheld, by reason."),
        Table(
            "withheld",
            "What was withheld and why",
            ("reason", "meaning", "cases", "reports"),
            [(name, REASONS.get(name, ""), cases, reports) for name, cases, reports in rows],
        ),
    )
