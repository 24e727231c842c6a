"""A range of quarters is released, one after the other, and audited in full at the end."""

from __future__ import annotations

from dataclasses import replace

from srsql.engine.catalog.releases import find_ingestion, not_ingested
from srsql.engine.catalog.series import gaps
from srsql.engine.checks.series import check_whole_series
from srsql.engine.errors import ReleaseError
from srsql.engine.ingest import Intake
from srsql.engine.release.features.feature import OfRange
from srsql.engine.release.features.table import refuse
from srsql.engine.release.memory import need_as_asked, standing_release
from srsql.engine.release.release import release
from srsql.engine.release.request import (
    Clock,
    Progress,
    Range,
    RangeAudit,
    Request,
    range_ends,
)
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

AUDIT_IN_FULL = "audit of the series in full"


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
    refuse(OfRange(request))
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
    for quarter in sorted(out.intersection(quarters)):
        one = replace(request, quarter=quarter)
        need_as_asked(warehouse, dataset, one)
        if request.if_needed:
            standing_release(warehouse, dataset, one, find_ingestion(warehouse, dataset, quarter))
    releases = []
    todo = [quarter for quarter in quarters if quarter not in out]
    beyond = int(request.model.stopping().cases == "next")
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
