"""The life of a release: load, merge cases, group, generalize, check, commit; and of a range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, astuple, replace
from typing import Any

import duckdb

from srsql.engine.catalog.layout import SHAPES, Built
from srsql.engine.catalog.releases import (
    NOT_IDS,
    Release,
    find_ingestion,
    not_ingested,
    perturbed,
)
from srsql.engine.catalog.series import Series, create_views, gaps, next_quarter, open_series
from srsql.engine.catalog.waiting import carried_from, has_waited, taking_in
from srsql.engine.checks import Asked, Evidence, term_chunks
from srsql.engine.checks.registry import judged, prove, require_bounds
from srsql.engine.checks.series import check_whole_series
from srsql.engine.errors import ReleaseError, one_line
from srsql.engine.grouping import suppression
from srsql.engine.grouping.cases import load_cases, part_persons
from srsql.engine.grouping.feasibility import (
    InfeasibleValue,
    drop_incomplete,
    k_effective,
    need_groups,
)
from srsql.engine.grouping.history import HistoryRule, cover_history, make_feasible
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.grouping.perturbation import check_limit
from srsql.engine.grouping.suppression import (
    find_losable,
    keep_suppressed,
    suppress_withheld,
)
from srsql.engine.grouping.thresholds import apply_theta, check_called
from srsql.engine.ingest import Intake
from srsql.engine.lake.lake import lies_in_lake, need_periods
from srsql.engine.lattice.rows import build_rows
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.models.base import COUNTS_PERSONS
from srsql.engine.release.exposure import Consent, look_at, need_consent
from srsql.engine.release.ids import make_identity
from srsql.engine.release.manifest import (
    RELEASE_DATE,
    Figures,
    Parameters,
    private_manifest,
    public_incomplete,
    released_rows,
    shown_k,
    store_metrics,
    store_private_manifest,
    store_public_manifest,
    suppression_facts,
)
from srsql.engine.release.memory import (
    draft_memory,
    need_consent_to_change,
    remember,
    standing_release,
)
from srsql.engine.release.optional_columns import need_shown, optional_facts, with_optional
from srsql.engine.release.qid_sets import need_sets_kept, set_facts
from srsql.engine.release.request import (
    Clock,
    Progress,
    Range,
    RangeAudit,
    Released,
    Request,
    range_ends,
)
from srsql.engine.release.series import (
    check_turn,
    check_version,
    grouped_reports,
    refresh_series_views,
    register,
    remove_draft,
    set_figures,
    supersede_release,
)
from srsql.engine.release.terms import (
    family_of,
    need_pseudonyms,
    need_terms,
    release_terms,
    release_thresholds,
    terms_inferred,
    usual_ids,
    visible_part,
)
from srsql.engine.release.views import build_tables
from srsql.engine.release.waiting import need_pool, wait
from srsql.engine.risk import singling_out
from srsql.engine.risk.linkage import measure_linkage, shipped_medical
from srsql.engine.risk.metrics import measure, store_measures
from srsql.engine.risk.persons import (
    counted_persons,
    measure_persons,
    public_persons,
    told_persons,
    unsearched_periods,
)
from srsql.engine.risk.singling_out import (
    SOME_CASES,
    columns_beside,
    measure_singling_out,
    public_shares,
)
from srsql.engine.store import doors
from srsql.engine.store.optional import need
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.baskets import build_term_tables
from srsql.engine.terms.disassociate import not_held
from srsql.engine.terms.generalize import MAKING
from srsql.engine.workers.carriers import Carrier, local_carrier
from srsql.schemas import Dataset
from srsql.udfs.kernels import loading_kernels

AUDIT_IN_FULL = "audit of the series in full"


def release(
    warehouse: Warehouse, dataset: Dataset, request: Request, progress: Progress | None = None
) -> Released:
    """Anonymize one quarter into the views of its own schema, in one transaction.

    Args:
        warehouse: with the quarter ingested.
        dataset: of the quarter.
        request: what is asked for.
        progress: told the name of each stage when it begins.

    Raises:
        ReleaseError: refused, infeasible or rolled back; the warehouse is as it was.
    """
    clock = Clock(progress)
    model = request.model
    for package, wanted in model.packages.items():
        need(package, wanted, ReleaseError)
    ingestion_id = find_ingestion(warehouse, dataset, request.quarter)
    there = (
        standing_release(warehouse, dataset, request, ingestion_id) if request.if_needed else None
    )
    if there is not None:
        return there
    after = next_quarter(warehouse, dataset, request.quarter)
    earlier = carried_from(warehouse, dataset, request.series, request.quarter)
    need_periods(warehouse, dataset, request.quarter, after, *earlier)
    dataset = model.prepare_dataset(dataset.keyed(request.term_key))
    if request.terms:
        request = replace(request, terms=request.terms.of(dataset, model.k))
    need_sets_kept(dataset, request)
    shown = with_optional(warehouse, dataset, request)
    visible_dataset = visible_part(shown, model, request.terms)
    need_shown(visible_dataset, request)
    before = warehouse.temporary_tables()
    try:
        with warehouse.transaction():
            family = family_of(model.series_family, request.terms)
            series = open_series(
                warehouse, dataset, request.series, family, usual_ids(request), request.quarter
            )
            need_pseudonyms(request, series)
            waits = has_waited(warehouse, dataset.name, series.name)
            need_pool(request, series, visible_dataset, waits=waits)
            check_turn(warehouse, series, request.quarter, supersede=request.supersede)
            check_version(warehouse, series, request)
            _need_consent_to_change(request)
            remove_draft(warehouse, series, request.quarter)
            current = register(warehouse, dataset, visible_dataset, request, series, ingestion_id)
            current = taking_in(current)
            dataset, visible_dataset = current.dataset, current.visible_dataset
            with loading_kernels(_kernels(request, visible_dataset)) as loaded:
                grouping, infeasible = _prepare(current, request, clock, loaded)
            with clock.stage("grouping"):
                with _carrier(grouping, request) as carrier:
                    model.group(replace(grouping, carrier=carrier))
                if grouping.suppression:
                    suppress_withheld(grouping, grouping.suppression, model.symptoms_limit)
                if request.terms:
                    need_terms(current, request, request.terms)
                need_groups(
                    warehouse,
                    request.quarter,
                    grouping.k,
                    model.leftovers,
                    may_be_empty=request.may_be_empty or request.max_delay is not None,
                )
            with clock.stage("regions"):
                model.generalize(current, grouping.draw)
                if request.counts_persons:
                    part_persons(current, grouping.weight_scale, model.carriers)
                reports = grouped_reports(by_case=model.perturbs_values)
                make_identity(current, series, reports, one_row=request.takes_rows_apart)
            limited: dict[str, int] = {}
            if request.terms:
                with clock.stage("terms"), _clusters_carrier(warehouse, request) as carried_by:
                    limited, told_apart = release_terms(current, request, request.terms, carried_by)
                request = replace(request, terms=told_apart)
            with clock.stage("catalog"):
                set_figures(current, model, grouping.k, grouping.weight_scale)
                warehouse.run_step("release/catalog", {"release_id": current.release_id})
                pool = wait(current, request)
                if request.takes_rows_apart:
                    release_thresholds(current)
                if model.budget_limit is not None:
                    check_limit(current, model.budget_limit, model.budget_scope)
            with clock.stage("tables"):
                tables = _build(current, request, keyed=bool(series.key))
            with clock.stage("singling out"):
                exposed = measure_singling_out(
                    warehouse, visible_dataset, current.release_id, SOME_CASES
                )
            with clock.stage("views"):
                by_set = bool(dataset.qid_set)  # by which persons are not counted
                persons = [] if by_set else measure_persons(warehouse, current.release_id)
                unsearched = [] if by_set else unsearched_periods(warehouse, current.release_id)
                told = (
                    _told(current, request, series)
                    | limited
                    | told_persons(persons, unsearched)
                    | pool[1]
                )
                figures = Figures(
                    grouping.k, infeasible, exposed, series.ids, told, pool[0], persons
                )
                released = _publish(current, request, ingestion_id, figures, tables)
            with clock.stage("links"):
                released = _expose(current, request, released)
            with clock.stage("checks"):
                evidence = _evidence(current, request, tables)
                checks = prove(evidence, "checks")
            with clock.stage("audit"):
                shares = prove(evidence, "audit")
            with clock.stage("metrics"):
                store_measures(warehouse, current.release_id, "check", checks)
                keep_metrics(evidence, shares, exposed, released, persons)
            if not request.draft:
                appended = not request.supersede
                refresh_series_views(warehouse, visible_dataset, series, appended=appended)
                if request.remembered:
                    remember(warehouse, series, request.remembered)
            warehouse.drop_temporary_tables(warehouse.temporary_tables() - before)
    except duckdb.Error as error:
        raise ReleaseError(
            f"{request.quarter} was not released, the warehouse is as it was: " + one_line(error)
        ) from error
    released.seconds.update(clock.seconds)
    return released


def _need_consent_to_change(request: Request) -> None:
    """Refuse parameters that the series has not; a draft is told of them and refused nothing."""
    if request.remembered and not request.draft:
        need_consent_to_change(
            request.series, request.remembered, change=request.change, weaker=request.weaker
        )


def _told(current: Release, request: Request, series: Series) -> dict[str, Any]:
    """What the private manifest tells of the place in the series: a gap before the quarter, what it
    is made with otherwise than the series, and what a draft will have the series remember."""
    told: dict[str, Any] = {}
    names = {"dataset": series.dataset, "series": series.name, "quarter": current.quarter}
    before = current.warehouse.value(query("release/series", "quarter_before"), names)
    if before is not None and (found := gaps(current.warehouse, (before, current.quarter))):
        told["gap"] = found[0]
    if request.remembered and request.remembered.changes:
        told["changes"] = list(request.remembered.changes)
    if request.remembered:
        told["parameters"] = [asdict(each) for each in request.remembered.parameters]
    if request.not_ids:
        told[NOT_IDS] = list(request.not_ids)
    if request.remembered and request.draft:
        told["remembered"] = draft_memory(current.warehouse, series, request.remembered)
    return told


def _expose(current: Release, request: Request, released: Released) -> Released:
    """Look at the other releases of the quarter; a draft is told of them and refused nothing."""
    found = look_at(current.warehouse, current.dataset, current.release_id)
    if not request.draft:
        consent = Consent(request.max_linkable, request.allow_linkable, request.weaker)
        need_consent(f"{current.quarter} in series {current.series!r}", found, consent)
    changes = list(request.remembered.changes) if request.remembered else []
    return replace(released, links=found.links, weaker=found.weaker, changes=changes)


def release_range(
    warehouse: Warehouse,
    dataset: Dataset,
    request: Request,
    progress: Progress | None,
    intake: Intake,
) -> Range:
    """Release every quarter of ``request.quarter`` (``A:B``) that is ingested, or taken in for it,
    and not out yet.

    They are released one after the other, each in a transaction of its own, so that a second run
    goes on where one stopped. A quarter of which nothing can be released becomes an empty release.
    Each is audited by what it changes, and the series in full at the end.

    Args:
        warehouse: with the quarters ingested.
        dataset: of the quarters.
        request: what is asked for; ``if_needed``: those that are out have to be out just so.
        progress: told how many quarters are done, of how many, the quarter and the stage.
        intake: of quarters that are not ingested: each while the one before is released.

    Raises:
        ReleaseError: a quarter was refused; those before it are out.
        IngestError: one could not be ingested; those before it are out.
    """
    first, last = range_ends(request.quarter)
    if request.draft or request.supersede:
        raise ReleaseError("--draft and --supersede take one quarter, not a range")
    ingested = warehouse.rows(
        query("release/series", "ingested_quarters"),
        {"dataset": dataset.name, "first": first, "last": last},
    )
    awaited = [label for label in intake.periods if label <= last]
    quarters = sorted({label for (label,) in ingested}.union(awaited))
    for end in (first, last):
        if end not in quarters:
            raise ReleaseError(not_ingested(warehouse, dataset.name, end))
    out = {
        row[0]
        for row in warehouse.rows(
            query("release/series", "releases"),
            {"dataset": dataset.name, "series": request.series},
        )
    }
    for quarter in out.intersection(quarters) if request.if_needed else ():
        made_of = find_ingestion(warehouse, dataset, quarter)
        standing_release(warehouse, dataset, replace(request, quarter=quarter), made_of)
    releases = []
    todo = [quarter for quarter in quarters if quarter not in out]
    beyond = int(request.model.stopping_cases == "next")
    for number, quarter in enumerate(todo):
        intake.need(quarter, beyond)
        one = replace(request, quarter=quarter, may_be_empty=True)
        said = f"{number} of {len(todo)} quarters; {quarter}"
        releases.append(release(warehouse, dataset, one, _prefixed(progress, said)))
    intake.need(last)
    already = [q for q in quarters if q in out]
    audited = None
    if releases and request.model.defended_attacks:
        audited = _audit_in_full(warehouse, dataset, request, progress)
    return Range(first, last, releases, already, gaps(warehouse, quarters), audited, intake.done)


def _audit_in_full(
    warehouse: Warehouse,
    dataset: Dataset,
    request: Request,
    progress: Progress | None,
) -> RangeAudit:
    """Once the quarters of a range are out: the audit of all of the series, not by what is new."""
    clock = Clock(progress)
    model = request.model
    with clock.stage(AUDIT_IN_FULL):
        found = check_whole_series(
            warehouse,
            model.prepare_dataset(dataset),
            request.series,
            model.defended_attacks,
        )
    return RangeAudit(
        len({row.release_id for row in found.releases}),
        sum(row.dig + row.dsg + row.ssg for row in found.releases),
        found.safe,
        clock.seconds[AUDIT_IN_FULL],
    )


def _prefixed(progress: Progress | None, said: str) -> Progress | None:
    if progress is None:
        return None
    return lambda step: progress(f"{said}: {step}")


def _kernels(request: Request, visible_dataset: Dataset) -> list[str]:
    """The kernels that a release calls."""
    return [
        *request.model.kernels,
        *([suppression.KERNELS] if request.suppresses else []),
        *([singling_out.KERNELS] if visible_dataset.rows else []),
        *([MAKING[request.model.term_format].kernels] if request.terms else []),
        *([term_chunks.KERNELS] if request.makes_clusters else []),
    ]


def _prepare(
    current: Release, request: Request, clock: Clock, loaded: Callable[[], None]
) -> tuple[Grouping, list[InfeasibleValue]]:
    """From raw tables to what can be grouped; and the values that had to give way.

    ``loaded`` waits for the kernels, of which cases and their history need none.
    """
    warehouse, model, model_dataset = current.warehouse, request.model, current.dataset
    rule = HistoryRule(
        model.name,
        model.k,
        model.covers_earlier_regions,
        model.carriers,
        model.stopping_cases,
        model.stopping_carries,
        model.symptoms_limit,
    )
    draw = f"{request.seed}/{current.dataset.name}/{current.quarter}"
    with clock.stage("cases"):
        parts = model.symptoms_limit.denominator if model.symptoms_limit else 1
        records, persons = model.record_unit, request.match if request.counts_persons else None
        with _buckets_carrier(current, request) as carrier:
            weight_scale = load_cases(current, request.knowledge, parts, records, carrier, persons)
    with clock.stage("history"):
        cover_history(current, rule, request.symptoms)
        drop_incomplete(warehouse, current.dataset, request.missing)
        keep_suppressed(current, weight_scale)
        suppressed = request.suppression(draw, weight_scale)
        if suppressed:
            find_losable(current, suppressed)
    with clock.stage("kernels (compiled on first use)"):
        loaded()
    with clock.stage("thresholds"):
        apply_theta(warehouse, request.theta, model_dataset.term_key)
        check_called(warehouse, request.theta, model_dataset.term_key)
        bounds = model.bound(current, weight_scale)
        choice = request.on_infeasible
        infeasible = make_feasible(warehouse, rule, bounds, choice, suppressed)
        k = k_effective(warehouse, bounds, model.k)
    return Grouping(current, bounds, weight_scale, k, draw, suppressed), infeasible


def _carrier(grouping: Grouping, request: Request) -> AbstractContextManager[Carrier]:
    """Who carries parts; as long as nothing is cut, nobody is asked."""
    if request.model.parts == "1":
        return nullcontext(grouping.carrier)
    if request.carrier is not None:
        return nullcontext(request.carrier)
    return local_carrier(grouping.warehouse, request.workers)


def _buckets_carrier(current: Release, request: Request) -> AbstractContextManager[Carrier | None]:
    """Who carries the buckets of a lake, where somebody else is asked at all and records are cases,
    which lie in one bucket each."""
    warehouse = current.warehouse
    if not request.carries_buckets or not lies_in_lake(warehouse, current.dataset):
        return nullcontext(None)
    if current.dataset.intake:  # reports of waiting cases lie in buckets of other periods
        return nullcontext(None)
    if request.carrier is not None or request.workers == 1:
        return nullcontext(request.carrier)
    return local_carrier(warehouse, request.workers)


def _clusters_carrier(
    warehouse: Warehouse, request: Request
) -> AbstractContextManager[Carrier | None]:
    """Who carries clusters of terms, where somebody else is asked at all."""
    if request.carrier is not None or request.workers == 1 or not request.makes_clusters:
        return nullcontext(request.carrier)
    return local_carrier(warehouse, request.workers)


@contextmanager
def carried(
    warehouse: Warehouse, dataset: Dataset, request: Request, carrier: Carrier | None
) -> Iterator[Request]:
    """The request with who carries its parts: the carrier, or Spark at its address meanwhile.

    Raises:
        ReleaseError: both are asked for, or nothing is carried.
        WarehouseError: Spark cannot be asked.
    """
    request.need_something_to_carry(
        carrier, in_lake=lies_in_lake(warehouse, dataset), by_set=bool(dataset.qid_set)
    )
    if request.spark is None:
        yield request if carrier is None else replace(request, carrier=carrier)
        return
    if carrier is not None:
        raise ReleaseError("--spark takes the place of a carrier: leave one of them out")
    with doors.opened("spark")(request.spark, warehouse.scratch) as spark:
        yield replace(request, carrier=spark)


def _build(current: Release, request: Request, *, keyed: bool) -> list[Built]:
    """The released tables: rows of cases, terms apart from them, rows of the model's making."""
    model = request.model
    tables = build_tables(current, perturbed=model.perturbs_values, keyed=keyed)
    if request.terms:
        tables += build_term_tables(
            current.warehouse,
            current.dataset,
            current.release_id,
            grouped=model.releases_case_rows and not request.takes_rows_apart,
            shape=SHAPES[model.term_format],
        )
    if model.releases_synthetic_rows:
        tables += build_rows(current.warehouse, current.dataset, current.release_id)
    return tables


def _evidence(current: Release, request: Request, tables: list[Built]) -> Evidence:
    """What the checks of the release are given."""
    terms, model = request.terms, request.model
    return Evidence(
        current,
        built=tables,
        covers=model.covers_earlier_regions == "later",
        by_report=model.record_unit == "report",
        terms=terms.released(model.term_format) if terms else None,
        exposed=not request.draft,
        not_ids=request.not_ids or (),
        asked=_asked(request),
    )


def _asked(request: Request) -> Asked:
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
        knowledge=frozenset(known.pairs if known else ()),
    )


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


def _publish(
    current: Release, request: Request, ingestion_id: int, figures: Figures, tables: list[Built]
) -> Released:
    """Create the views and both manifests."""
    warehouse, model = current.warehouse, request.model
    parameters = Parameters(
        model=model,
        theta=request.theta,
        missing=request.missing,
        on_infeasible=request.on_infeasible,
        seed=request.seed,
        knowledge=request.knowledge.source if request.knowledge else None,
        symptoms=request.symptoms.text,
        terms=request.terms,
        ids=figures.ids if current.visible_dataset.rows else None,
    )
    public_k = figures.k if model.claims else shown_k(current)
    facts = parameters.public(current.dataset, current.quarter, public_k)
    facts |= {**columns_beside(current.visible_dataset), **public_shares(figures.exposed)}
    facts |= {**optional_facts(request), **set_facts(current)}
    facts |= public_persons(figures.persons, perturbs=model.perturbs_values)
    if request.counts_persons:
        guarantee = f"{model.guarantee} {COUNTS_PERSONS}"
        facts |= counted_persons(guarantee, float(request.match))
    facts[RELEASE_DATE] = request.date
    facts |= figures.pool
    facts |= public_incomplete(warehouse, ingestion_id, model)
    facts |= suppression_facts(current, model.guarantee, asked=request.suppresses)
    if request.takes_rows_apart and request.terms:
        facts["terms_inferred"] = terms_inferred(current, request.terms)
    stores = {item.name: item.store for item in tables}
    stores["manifest"] = store_public_manifest(
        current, model, facts, tables, one_row=request.takes_rows_apart
    )
    if not request.draft:
        supersede_release(current)
    create_views(warehouse, current.schema, stores)
    manifest = private_manifest(
        current,
        parameters,
        facts | {"k_effective": figures.k} | figures.told,
        ingestion_id,
        [asdict(v) for v in figures.infeasible],
        not_held(warehouse, request.terms) if request.terms else [],
    )
    store_private_manifest(current, manifest)
    return Released(
        current.release_id,
        current.quarter,
        current.series,
        current.schema,
        "draft" if request.draft else "released",
        manifest,
        released_rows(warehouse, stores),
    )
