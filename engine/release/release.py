"""The life of a release: load, merge cases, group, generalize, check, commit."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, replace

import duckdb

from srsql.engine.checks import Evidence
from srsql.engine.checks.registry import judged, prove, require_bounds
from srsql.engine.errors import ReleaseError, one_line
from srsql.engine.grouping.cases import load_cases
from srsql.engine.grouping.feasibility import (
    InfeasibleValue,
    drop_incomplete,
    k_effective,
    need_groups,
)
from srsql.engine.grouping.history import HistoryRule, cover_history, make_feasible
from srsql.engine.grouping.perturbation import keep_limit
from srsql.engine.grouping.thresholds import apply_theta
from srsql.engine.lattice.rows import build_rows
from srsql.engine.models.base import GroupingModel
from srsql.engine.release.manifest import (
    Parameters,
    keep_metrics,
    private_manifest,
    released_rows,
    shown_k,
    store_public_manifest,
)
from srsql.engine.release.request import Clock, Progress, Released, Request
from srsql.engine.release.series import (
    check_turn,
    make_identity,
    refresh_series_views,
    register,
    remove_draft,
    set_release,
    supersede_release,
)
from srsql.engine.release.terms import family_of, need_terms, release_terms, tell
from srsql.engine.release.views import build_tables, create_views
from srsql.engine.risk.linkage import measure_linkage, shipped_medical
from srsql.engine.risk.metrics import measure, store_measures
from srsql.engine.terms.baskets import build_term_tables
from srsql.engine.terms.disassociate import not_held
from srsql.engine.terms.generalize import MAKING
from srsql.engine.warehouse.layout import SHAPES, Built
from srsql.engine.warehouse.releases import Release, find_ingestion, perturbed
from srsql.engine.warehouse.series import Series, open_series, schema_of
from srsql.engine.warehouse.statements import dotted
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def release(
    warehouse: Warehouse, dataset: Dataset, request: Request, progress: Progress | None = None
) -> Released:
    """Anonymize one quarter into the views of its own schema, in one transaction.

    Raises:
        ReleaseError: refused, infeasible or rolled back; the warehouse is as it was.
    """
    clock = Clock(progress)
    dataset = request.model.prepare_dataset(dataset)
    if request.terms:
        request = replace(request, terms=request.terms.of(dataset))
    told = tell(dataset, request.model, request.terms)
    ingestion_id = find_ingestion(warehouse, dataset, request.quarter)
    before = _temporaries(warehouse)
    try:
        with warehouse.transaction():
            family = family_of(request.model.series_family, request.terms)
            series = open_series(warehouse, dataset, request.series, family)
            check_turn(warehouse, series, request.quarter, supersede=request.supersede)
            remove_draft(warehouse, series, request.quarter)
            release_id = register(warehouse, dataset, request, series, ingestion_id)
            with clock.stage("cases"):
                load_cases(
                    warehouse,
                    told,
                    request.quarter,
                    release_id,
                    request.knowledge,
                    request.model.symptoms_limit.denominator if request.model.symptoms_limit else 1,
                    request.model.record_unit,
                )
            with clock.stage("history"):
                cover_history(
                    warehouse,
                    dataset,
                    request.quarter,
                    _history_rule(request.model),
                    request.symptoms,
                )
                drop_incomplete(warehouse, dataset, request.missing)
            with clock.stage("thresholds"):
                apply_theta(warehouse, request.theta)
                request.model.bound(warehouse, dataset)
                infeasible = make_feasible(
                    warehouse, _history_rule(request.model), request.on_infeasible
                )
                k = k_effective(warehouse, request.model.k)
            with clock.stage("kernels (compiled on first use)"):
                request.model.prepare()
                if request.terms:
                    MAKING[request.model.term_format].prepare()
            with clock.stage("grouping"):
                request.model.group(warehouse, k, _draw(request, dataset))
                if request.terms:
                    need_terms(warehouse, dataset, request, request.terms)
                need_groups(
                    warehouse,
                    request.quarter,
                    k,
                    request.model.leftovers,
                    may_be_empty=request.may_be_empty,
                )
            with clock.stage("regions"):
                request.model.generalize(warehouse, dataset, _draw(request, dataset))
                make_identity(warehouse, dataset, series)
            if request.terms:
                with clock.stage("terms"):
                    release_terms(warehouse, dataset, request, request.terms, release_id)
            with clock.stage("catalog"):
                set_release(warehouse, request.model, release_id, k)
                warehouse.run_step("release/catalog")
                if request.model.budget_limit is not None:
                    keep_limit(
                        warehouse, dataset.name, series.name, release_id, request.model.budget_limit
                    )
            with clock.stage("views"):
                built = build_tables(
                    warehouse,
                    told,
                    request.quarter,
                    release_id,
                    regions="srsql_shown" if request.model.perturbs_values else "srsql_region",
                    keyed=bool(series.key),
                )
                if request.terms:
                    built += build_term_tables(
                        warehouse,
                        dataset,
                        release_id,
                        grouped=request.model.releases_case_rows,
                        shape=SHAPES[request.model.term_format],
                    )
                if request.model.releases_synthetic_rows:
                    built += build_rows(warehouse, dataset, release_id)
                released = _publish(
                    warehouse,
                    dataset,
                    request,
                    series,
                    release_id,
                    ingestion_id,
                    k,
                    built,
                    infeasible,
                )
            with clock.stage("checks"):
                made = Release(
                    warehouse,
                    dataset,
                    told,
                    release_id,
                    series.name,
                    request.quarter,
                    released.schema,
                    request.model.k,
                )
                evidence = _evidence(made, request, built)
                checks = prove(evidence, "checks")
            with clock.stage("audit"):
                shares = prove(evidence, "audit")
            with clock.stage("metrics"):
                store_measures(warehouse, release_id, "check", checks)
                found = judged(evidence.facts, measure(warehouse, release_id))
                require_bounds(evidence.facts, found)  # k and theta once more, from the catalog
                if perturbed(warehouse, release_id):
                    found += measure_linkage(
                        warehouse, dataset, release_id, shipped_medical(dataset)
                    )
                metrics = [astuple(row) for row in found] + shares
                store_measures(warehouse, release_id, "metric", metrics)
                keep_metrics(warehouse, release_id, released.manifest, metrics)
            if not request.draft:
                refresh_series_views(warehouse, told, series)
            _drop_temporaries(warehouse, before)
    except duckdb.Error as error:
        raise ReleaseError(
            f"{request.quarter} was not released, the warehouse is as it was: " + one_line(error)
        ) from error
    released.seconds.update(clock.seconds)
    return released


def _evidence(release: Release, request: Request, built: list[Built]) -> Evidence:
    """What the checks of the release are given."""
    terms, model = request.terms, request.model
    return Evidence(
        release,
        built=built,
        covers=model.covers_earlier_regions == "later",
        by_report=model.record_unit == "report",
        terms=terms.released(model.term_format) if terms else None,
    )


def _history_rule(model: GroupingModel) -> HistoryRule:
    return HistoryRule(
        model.name,
        model.k,
        model.covers_earlier_regions,
        model.carriers,
        model.stopping_cases,
        model.symptoms_limit,
    )


def _draw(request: Request, dataset: Dataset) -> str:
    return f"{request.seed}/{dataset.name}/{request.quarter}"


def _publish(
    warehouse: Warehouse,
    dataset: Dataset,
    request: Request,
    series: Series,
    release_id: int,
    ingestion_id: int,
    k: int,
    built: list[Built],
    infeasible: list[InfeasibleValue],
) -> Released:
    """Create the views and both manifests."""
    parameters = Parameters(
        model=request.model,
        theta=request.theta,
        missing=request.missing,
        on_infeasible=request.on_infeasible,
        seed=request.seed,
        knowledge=request.knowledge.source if request.knowledge else None,
        symptoms=request.symptoms.text,
        terms=request.terms,
    )
    model = request.model
    grown = k if model.claims else shown_k(warehouse, release_id, model.k)
    facts = parameters.public(dataset, request.quarter, grown)
    stores = {item.name: item.store for item in built}
    stores["manifest"] = store_public_manifest(
        warehouse,
        facts,
        release_id,
        built,
        released=model.case_count_is_public,
        withheld=model.case_count_is_public and not model.perturbs_values,
        thresholds="theta" in model.guaranteed_bounds,
    )
    schema = schema_of(warehouse, series, request.quarter, draft=request.draft)
    if not request.draft:
        supersede_release(warehouse, series, request.quarter, but=release_id)
    create_views(warehouse, schema, stores)
    manifest = private_manifest(
        warehouse,
        parameters,
        facts | {"k_effective": k},
        release_id,
        ingestion_id,
        [asdict(v) for v in infeasible],
        not_held(warehouse, request.terms) if request.terms else [],
    )
    warehouse.run(
        "UPDATE srsql.release SET private_manifest = ? WHERE release_id = ?",
        [json.dumps(manifest), release_id],
    )
    return Released(
        release_id,
        request.quarter,
        series.name,
        schema,
        "draft" if request.draft else "released",
        manifest,
        released_rows(warehouse, stores),
    )


def _drop_temporaries(warehouse: Warehouse, kept: set[str]) -> None:
    """Give the memory back; ``kept`` are the temporary tables that were there before."""
    for name in _temporaries(warehouse) - kept:
        warehouse.run(f"DROP TABLE {dotted('temp', 'main', name)}")


def _temporaries(warehouse: Warehouse) -> set[str]:
    return {
        row[0]
        for row in warehouse.rows(
            "SELECT t.table_name FROM duckdb_tables() AS t "
            "WHERE t.temporary AND starts_with(t.table_name, 'srsql_')"
        )
    }
