"""The views of a release are made, and both its manifests."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from srsql.engine.catalog.releases import NOT_IDS
from srsql.engine.catalog.series import create_views, gaps
from srsql.engine.models.base import promise_by
from srsql.engine.release.features.as_printed import AS_PRINTED
from srsql.engine.release.features.count_tables import table_facts
from srsql.engine.release.features.late import late_facts
from srsql.engine.release.features.noisy_tables import noisy_facts
from srsql.engine.release.features.optional_columns import optional_facts
from srsql.engine.release.features.own_thresholds import own_facts
from srsql.engine.release.features.qid_sets import set_facts
from srsql.engine.release.manifest import (
    RELEASE_DATE,
    Parameters,
    private_manifest,
    public_incomplete,
    released_rows,
    shown_k,
    store_private_manifest,
    store_public_manifest,
    suppression_facts,
)
from srsql.engine.release.memory import draft_memory
from srsql.engine.release.request import Released, Request
from srsql.engine.release.series import supersede_release
from srsql.engine.release.stages.stage import Made, Stage, Tables
from srsql.engine.release.terms import terms_inferred
from srsql.engine.risk.singling_out import columns_beside, public_shares
from srsql.engine.risk.units import measure_units
from srsql.engine.shapes.strata import NOISY_CUTS
from srsql.engine.store.statements import query
from srsql.engine.terms.disassociate import not_held


def publish(request: Request, made: Made) -> Tables:
    """Create the views and both manifests."""
    current, warehouse = made.current, made.current.warehouse
    told = _place_in_series(request, made) | made.limited
    if request.noisy:
        told["publishable"] = request.noisy.publishable
        told[NOISY_CUTS] = [cut.told for cut in request.noisy.cuts]
    if not current.dataset.qid_set:  # by which cases alone are counted
        made.units = measure_units(warehouse, current.release_id)
        told |= made.units.private()
    parameters = _parameters(request, made)
    facts = _facts(request, made, parameters)
    stores = {item.name: item.store for item in made.built}
    stores["manifest"] = store_public_manifest(
        current, request.model, facts, made.built, one_row=request.one_row
    )
    if not request.draft:
        supersede_release(current)
    create_views(warehouse, current.schema, stores)
    manifest = private_manifest(
        current,
        parameters,
        facts | {"k_effective": made.grouping.k} | told | made.pool[1],
        made.ingestion_id,
        [asdict(value) for value in made.infeasible],
        not_held(warehouse, made.terms) if made.terms else [],
    )
    store_private_manifest(current, manifest)
    made.released = Released(
        current.release_id,
        current.quarter,
        current.series,
        current.schema,
        "draft" if request.draft else "released",
        manifest,
        released_rows(warehouse, stores),
    )
    return {}


def _parameters(request: Request, made: Made) -> Parameters:
    return Parameters(
        model=request.model,
        theta=request.theta,
        missing=request.missing,
        on_infeasible=request.on_infeasible,
        seed=request.seed,
        knowledge=request.knowledge.source if request.knowledge else None,
        symptoms=request.symptoms.text,
        terms=made.terms,
        ids=made.series.ids if made.current.visible_dataset.rows else None,
    )


def _facts(request: Request, made: Made, parameters: Parameters) -> dict[str, str | int]:
    """What both manifests tell."""
    current, model = made.current, request.model
    public_k = made.grouping.k if model.claims else shown_k(current)
    facts = parameters.public(current.dataset, current.quarter, public_k)
    facts |= {**columns_beside(current.visible_dataset), **public_shares(made.exposed)}
    facts |= {**optional_facts(request.columns), **set_facts(current)}
    facts |= own_facts(request.own_theta)
    facts |= {AS_PRINTED: request.as_printed} if request.as_printed else {}
    facts |= made.units.public(perturbs=model.claimed_bounds.drawn)
    facts |= request.unit.told(promise_by(request.unit.name, model.guarantee))
    facts[RELEASE_DATE] = request.date
    facts |= {**made.pool[0], **late_facts(current, model.k)}
    facts |= public_incomplete(current.warehouse, made.ingestion_id, model)
    facts |= suppression_facts(current, model.guarantee, asked=request.suppresses)
    if request.tables:
        facts |= table_facts(model, request.tables, current.dataset)
    if request.noisy:
        facts |= noisy_facts(model, request.noisy, current.dataset)
    if request.takes_rows_apart and made.terms:
        facts["terms_inferred"] = terms_inferred(current, made.terms)
    return facts


def _place_in_series(request: Request, made: Made) -> dict[str, Any]:
    """What the private manifest tells of the place in the series: a gap before the quarter, what it
    is made with otherwise than the series, and what a draft will have the series remember."""
    told: dict[str, Any] = {}
    series, quarter, warehouse = made.series, made.current.quarter, made.current.warehouse
    names = {"dataset": series.dataset, "series": series.name, "quarter": quarter}
    before = warehouse.value(query("release/series", "quarter_before"), names)
    if before is not None and (found := gaps(warehouse, (before, quarter))):
        told["gap"] = found[0]
    if request.remembered and request.remembered.changes:
        told["changes"] = list(request.remembered.changes)
    if request.remembered:
        told["parameters"] = [asdict(each) for each in request.remembered.parameters]
    if request.not_ids:
        told[NOT_IDS] = list(request.not_ids)
    if request.remembered and request.draft:
        told["remembered"] = draft_memory(warehouse, series, request.remembered)
    return told


VIEWS = Stage(
    "views",
    "Views show the released tables; the public manifest tells what the public may know, the "
    "private one everything that decided the release.",
    publish,
    reads="basket_case cluster node pub_clusters pub_item_chunk pub_record_chunk region",
)
