"""A release in the catalog: what it is of, and what it promises."""

from __future__ import annotations

from srsql.engine.models.base import GroupingModel
from srsql.engine.release.request import Request
from srsql.engine.warehouse.series import Series, schema_of
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def register(
    warehouse: Warehouse, dataset: Dataset, request: Request, series: Series, ingestion_id: int
) -> int:
    """The catalog row of a release, whose figures follow in ``set_release``; its number."""
    release_id = int(warehouse.value("SELECT nextval('srsql.release_ids')"))
    warehouse.run(
        "INSERT INTO srsql.release VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            release_id,
            dataset.name,
            series.name,
            request.quarter,
            request.model.name,
            "draft" if request.draft else "released",
            request.model.k,
            request.model.k,
            1,
            schema_of(warehouse, series, request.quarter, draft=request.draft),
            ingestion_id,
            "{}",
        ],
    )
    return release_id


def set_release(
    warehouse: Warehouse, model: GroupingModel, release_id: int, k_effective: int
) -> None:
    """What its model promises, and the k that groups were grown to."""
    warehouse.run(
        "INSERT INTO srsql.defended_attack SELECT ?, ?, u.alpha_num, u.alpha_den "
        "FROM temp.main.srsql_run AS u",
        [release_id, list(model.attacks)],
    )
    for claim, bound in model.claims.items():
        warehouse.run(
            "INSERT INTO srsql.claim VALUES (?, ?, ?, ?)",
            [release_id, claim, bound.numerator, bound.denominator],
        )
    warehouse.run(
        "UPDATE srsql.release SET k_effective = ?,"
        " weight_scale = (SELECT u.unit FROM temp.main.srsql_run AS u) WHERE release_id = ?",
        [k_effective, release_id],
    )
