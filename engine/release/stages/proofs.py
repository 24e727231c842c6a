"""What was released is linked, proved, audited and measured, and its series shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace

from srsql.engine.catalog.releases import perturbed
from srsql.engine.checks import Asked, Evidence
from srsql.engine.checks.evidence import CutAsked, NoiseAsked
from srsql.engine.checks.registry import judged, prove, require_bounds
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.release.exposure import Consent, look_at, need_consent
from srsql.engine.release.manifest import store_metrics
from srsql.engine.release.memory import remember
from srsql.engine.release.request import Released, Request
from srsql.engine.release.series import refresh_series_views
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on
from srsql.engine.risk.linkage import measure_linkage, shipped_medical
from srsql.engine.risk.metrics import measure, store_measures
from srsql.engine.risk.singling_out import KERNELS, SOME_CASES, measure_singling_out
from srsql.engine.risk.units import UnitsOfGroups
from srsql.engine.terms.count_tables import kinds
from srsql.engine.terms.noisy_tables import NoisyParameters
from srsql.schemas import Dataset
from srsql.udfs.kernels import load_kernels


def check(request: Request, made: Made) -> Tables:
    """Run the checks, from what was released alone; the first that fails ends the release."""
    made.evidence = _evidence(request, made)
    made.checks = prove(made.evidence, "checks")
    return {}


def audit(request: Request, made: Made) -> Tables:
    """Attack what of the series this release can change."""
    made.shares = prove(made.evidence, "audit")
    return {}


def _evidence(request: Request, made: Made) -> Evidence:
    """What the checks of the release are given."""
    terms, model = made.terms, request.model
    return Evidence(
        made.current,
        built=made.built,
        covers=model.history.covers == "later",
        by_report=model.claimed_bounds.unit == "report",
        terms=terms.released(model.term_format) if terms else None,
        exposed=not request.draft,
        not_ids=request.not_ids or (),
        asked=_asked(request, made.current.dataset),
    )


def _asked(request: Request, dataset: Dataset) -> Asked:
    """What the release was asked to keep, as its checks take it."""
    model, theta, known = request.model, request.theta, request.knowledge
    return Asked(
        k=model.k,
        kind=theta.kind,
        theta=theta.default,
        listed=tuple(theta.values.items()),
        spelled=bool(theta.called),
        alpha=getattr(model, "alpha", None),
        epsilon=getattr(model, "epsilon", None),
        calibration=getattr(model, "calibration", None),
        noise=getattr(model, "noise", None),
        suppresses=request.suppresses,
        table_k=request.tables.k if request.tables else None,
        noisy=_noise_asked(request.noisy, dataset) if request.noisy else None,
        knowledge=frozenset(known.pairs if known else ()),
    )


def _noise_asked(noisy: NoisyParameters, dataset: Dataset) -> NoiseAsked:
    return NoiseAsked(
        noisy.epsilon,
        noisy.delta,
        noisy.case_items,
        noisy.case_pairs,
        noisy.attributes,
        tuple(kinds(dataset, noisy.attributes)),
        tuple(CutAsked(c.qid, c.words, c.value, c.low, c.below) for c in noisy.cuts),
    )


CHECKS = Stage(
    "checks",
    "Every claim is proved of what was released alone; a failure rolls everything back.",
    check,
    reads="basket basket_case basket_term case_report chunk_term cluster deleted "
    "dimension_node generalized_record grouped identity original_term part "
    "pub_record_chunk withheld",
)
AUDIT = Stage(
    "audit", "Whatever of the series the release can change is attacked with it in.", audit
)


def single_out(request: Request, made: Made) -> Tables:
    """Measure it on some cases."""
    current = made.current
    load_kernels([KERNELS] if current.visible_dataset.rows else [])
    made.exposed = measure_singling_out(
        current.warehouse, current.visible_dataset, current.release_id, SOME_CASES
    )
    return handed_on(SINGLED_OUT.writes)


SINGLED_OUT = Stage(
    "singling out",
    "What items of a case single its rows out is measured.",
    single_out,
    writes="original_term",
)


def link(request: Request, made: Made) -> Tables:
    """Look at other series and versions; a draft is told of them and refused nothing."""
    current = made.current
    found = look_at(current.warehouse, current.dataset, current.release_id)
    if not request.draft:
        consent = Consent(request.max_linkable, request.allow_linkable, request.weaker)
        need_consent(f"{current.quarter} in series {current.series!r}", found, consent)
    changes = list(request.remembered.changes) if request.remembered else []
    made.released = replace(made.released, links=found.links, weaker=found.weaker, changes=changes)
    return {}


LINKS = Stage(
    "links",
    "Rows that link to other releases of the quarter are counted, and what is promised less than "
    "before is told; too much of either needs a yes.",
    link,
)


def measure_all(request: Request, made: Made) -> Tables:
    """Keep checks and metrics as uniform rows."""
    current = made.current
    store_measures(current.warehouse, current.release_id, "check", made.checks)
    keep_metrics(made.evidence, made.shares, made.exposed, made.released, made.units)
    return {}


def keep_metrics(
    evidence: Evidence, shares: Sequence[Measure], exposed: list[MeasureRow], released: Released,
    units: UnitsOfGroups,
) -> None:  # fmt: skip
    """Keep the metrics, of which k and theta are judged once more, from the catalog."""
    current = evidence.release
    warehouse, release_id = current.warehouse, current.release_id
    rows = judged(evidence.facts, measure(warehouse, release_id, units=units))
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
