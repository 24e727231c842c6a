"""Before the stages: what a release is made of, all that is refused of it, and its number."""

from __future__ import annotations

from dataclasses import dataclass, replace

from srsql.engine.catalog.releases import TOPIC, Release, find_ingestion
from srsql.engine.catalog.series import Series, next_quarter, open_series
from srsql.engine.catalog.waiting import carried_from, has_waited, taking_in
from srsql.engine.checks import term_chunks
from srsql.engine.errors import ReleaseError
from srsql.engine.grouping import suppression
from srsql.engine.lake.lake import need_periods
from srsql.engine.release.features.feature import InSeries, OnDataset, OnShown, WithIds
from srsql.engine.release.features.late import take_late
from srsql.engine.release.features.optional_columns import with_optional
from srsql.engine.release.features.table import refuse
from srsql.engine.release.memory import need_consent_to_change, standing_release
from srsql.engine.release.request import Released, Request
from srsql.engine.release.series import check_turn, check_version, register, remove_draft
from srsql.engine.release.terms import family_of, usual_ids, visible_part
from srsql.engine.risk import singling_out
from srsql.engine.store.doors import need
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.generalize import MAKING
from srsql.schemas import Dataset


@dataclass(frozen=True)
class Opened:
    """What a release is to be made of."""

    request: Request
    """With its terms as the dataset has them."""
    dataset: Dataset
    """As the model takes it."""
    visible_dataset: Dataset
    """With the tables of which the release will have rows."""
    ingestion_id: int


def open_dataset(warehouse: Warehouse, dataset: Dataset, request: Request) -> Opened | Released:
    """Read the dataset as it is asked for; nothing is changed.

    Args:
        warehouse: with the quarter ingested.
        dataset: of the quarter.
        request: what is asked for.

    Returns:
        What is to be released; or the release that there is just so, where that is enough.

    Raises:
        ReleaseError: it does not go with what is asked for.
    """
    model = request.model
    packages = {**model.packages(), **(request.noisy.packages() if request.noisy else {})}
    for package, wanted in packages.items():
        need(package, wanted, ReleaseError)
    ingestion_id = find_ingestion(warehouse, dataset, request.quarter)
    if request.if_needed:
        there = standing_release(warehouse, dataset, request, ingestion_id)
        if there is not None:
            return there
    after = next_quarter(warehouse, dataset, request.quarter)
    earlier = carried_from(warehouse, dataset, request.series, request.quarter)
    need_periods(warehouse, dataset, request.quarter, after, *earlier)
    dataset = model.prepare_dataset(dataset.keyed(request.term_key))
    if request.terms:
        request = replace(request, terms=request.terms.of(dataset, model.k))
    if request.tables:
        tables = request.tables.of(dataset, model.k, request.theta)
        request = replace(request, tables=tables)
    if request.noisy:
        request = replace(request, noisy=request.noisy.of(dataset))
    refuse(OnDataset(request, dataset))
    shown = with_optional(warehouse, dataset, request.columns, request.series, request.quarter)
    visible_dataset = visible_part(shown, request)
    refuse(OnShown(request, visible_dataset))
    return Opened(request, dataset, visible_dataset, ingestion_id)


def open_release(warehouse: Warehouse, opened: Opened) -> tuple[Release, Series]:
    """Take the turn of the quarter in its series; the release has its number from here on.

    Args:
        warehouse: within a transaction.
        opened: what it is made of.

    Raises:
        ReleaseError: it does not go with the series.
    """
    request, dataset = opened.request, opened.dataset
    family = family_of(request, request.terms)
    series = open_series(
        warehouse, dataset, request.series, family, usual_ids(request), request.quarter
    )
    waits = has_waited(warehouse, dataset.name, series.name)
    refuse(WithIds(request, series.name, series.ids))
    refuse(InSeries(request, opened.visible_dataset, series, waits))
    check_turn(warehouse, series, request.quarter, supersede=request.supersede)
    check_version(warehouse, series, request)
    if request.remembered and not request.draft:  # a draft is told of it and refused nothing
        need_consent_to_change(
            request.series, request.remembered, change=request.change, weaker=request.weaker
        )
    remove_draft(warehouse, series, request.quarter)
    current = register(
        warehouse, dataset, opened.visible_dataset, request, series, opened.ingestion_id
    )
    take_late(current, series)
    return taking_in(current), series


def kernels(request: Request, visible_dataset: Dataset) -> list[str]:
    """The kernels that a release calls."""
    return [
        *request.model.kernels,
        *([suppression.KERNELS] if request.suppresses else []),
        *([singling_out.KERNELS] if visible_dataset.rows else []),
        *([MAKING[request.model.term_format].kernels] if request.terms else []),
        *([term_chunks.KERNELS] if request.makes_clusters else []),
    ]


def most_cases(warehouse: Warehouse, opened: Opened) -> int | None:
    """At most how many cases the kernels of a release are called with; None: nobody knows yet.

    Args:
        warehouse: with the quarter ingested.
        opened: what is to be made.
    """
    if opened.request.model.refine == "full" or opened.request.max_delay:
        return None
    found = warehouse.value(
        query(TOPIC, "rows_loaded"),
        {"ingestion_id": opened.ingestion_id, "table_name": opened.dataset.report_table},
    )
    return None if found is None else int(found)
