"""The life of a release: every stage of ``stages/registry.py`` that applies, in one transaction."""

from __future__ import annotations

from itertools import groupby

import duckdb

from srsql.engine.errors import ReleaseError, one_line
from srsql.engine.release.request import Clock, Progress, Released, Request
from srsql.engine.release.stages.opening import kernels, most_cases, open_dataset, open_release
from srsql.engine.release.stages.registry import STAGES
from srsql.engine.release.stages.stage import Made
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.udfs.kernels import loading_kernels


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
    opened = open_dataset(warehouse, dataset, request)
    if isinstance(opened, Released):
        return opened
    request, before = opened.request, warehouse.temporary_tables()
    try:
        with warehouse.transaction():
            current, series = open_release(warehouse, opened)
            with loading_kernels(
                kernels(request, current.visible_dataset), most_cases(warehouse, opened)
            ) as loaded:
                draw = f"{request.seed}/{dataset.name}/{request.quarter}"
                made = Made(
                    current, series, opened.ingestion_id, loaded, draw, opened.request.terms
                )
                applying = [stage for stage in STAGES if stage.applies(request)]
                for title, stages in groupby(applying, lambda stage: stage.title):
                    with clock.stage(title):
                        for stage in stages:
                            made.tables |= stage.run(request, made)
            warehouse.drop_temporary_tables(warehouse.temporary_tables() - before)
    except duckdb.Error as error:
        raise ReleaseError(
            f"{request.quarter} was not released, the warehouse is as it was: " + one_line(error)
        ) from error
    made.released.seconds.update(clock.seconds)
    return made.released
