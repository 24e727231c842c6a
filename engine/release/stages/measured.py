"""Loss and risk of a release are kept, and its series shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from srsql.engine.catalog.releases import perturbed
from srsql.engine.checks import Evidence
from srsql.engine.checks.registry import judged, require_bounds
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.release.manifest import store_metrics
from srsql.engine.release.memory import remember
from srsql.engine.release.request import Released, Request
from srsql.engine.release.series import refresh_series_views
from srsql.engine.release.stages.stage import Made, Stage, Tables
from srsql.engine.risk.linkage import measure_linkage, shipped_medical
from srsql.engine.risk.metrics import measure, store_measures


def measure_all(request: Request, made: Made) -> Tables:
    """Keep checks and metrics as uniform rows."""
    current = made.current
    store_measures(current.warehouse, current.release_id, "check", made.checks)
    keep_metrics(made.evidence, made.shares, made.exposed, made.released, made.persons)
    return {}


def keep_metrics(
    evidence: Evidence, shares: Sequence[Measure], exposed: list[MeasureRow], released: Released,
    persons: Sequence[MeasureRow],
) -> None:  # fmt: skip
    """Keep the metrics, of which k and theta are judged once more, from the catalog."""
    current = evidence.release
    warehouse, release_id = current.warehouse, current.release_id
    rows = judged(evidence.facts, measure(warehouse, release_id, persons=persons))
    require_bounds(evidence.facts, rows)
    if perturbed(warehouse, release_id):
        rows += measure_linkage(
            warehouse, current.dataset, release_id, shipped_medical(current.dataset)
        )
    metrics = [astuple(row) for row in [*rows, *exposed, *released.links]] + list(shares)
    store_measures(warehouse, release_id, "metric", metrics)
    store_metrics(current, released.manifest, metrics)


def show(request: Request, made: Made) -> Tables:
    """Have the views of the series show it, and the series remember what it is made with."""
    current, series = made.current, made.series
    refresh_series_views(
        current.warehouse, current.visible_dataset, series, appended=not request.supersede
    )
    if request.remembered:
        remember(current.warehouse, series, request.remembered)
    return {}


METRICS = Stage("metrics", "Loss and risk are kept as uniform rows.", measure_all)
SHOWN = Stage(
    "metrics",
    "The views of the series show it, and the series remembers what it is made with.",
    show,
    applies=lambda request: not request.draft,
)
