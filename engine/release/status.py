"""What the warehouse holds: quarters, releases, disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from srsql.engine.grouping.ledger import budgets
from srsql.engine.warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class Status:
    """Rows as dictionaries, ready for a table or JSON."""

    path: str | None
    bytes_on_disk: int
    quarters: list[dict[str, Any]]
    releases: list[dict[str, Any]]
    budget: list[dict[str, Any]]
    """The worst case of each series that spent any; amounts are exact fractions as text."""


def status(warehouse: Warehouse) -> Status:
    """Read the catalog; nothing is changed."""
    size = 0
    if warehouse.path is not None:
        wal = warehouse.path.with_name(warehouse.path.name + ".wal")
        size = sum(file.stat().st_size for file in (warehouse.path, wal) if file.exists())
    return Status(
        path=str(warehouse.path) if warehouse.path else None,
        bytes_on_disk=size,
        quarters=_dicts(
            warehouse,
            "SELECT i.dataset, i.quarter, i.source, sum(f.records)::BIGINT AS records,"
            " sum(f.loaded)::BIGINT AS loaded, sum(f.rejected)::BIGINT AS rejected "
            "FROM srsql.ingestion AS i INNER JOIN srsql.ingested_file AS f USING (ingestion_id) "
            "WHERE NOT i.replaced GROUP BY i.dataset, i.quarter, i.source "
            "ORDER BY i.dataset, i.quarter",
        ),
        releases=_dicts(
            warehouse,
            "SELECT r.dataset, r.series, r.quarter, r.model, r.k, r.status,"
            " r.schema_name AS schema,"
            " (r.private_manifest ->> '$.cases.released')::BIGINT AS released_cases,"
            " (r.private_manifest ->> '$.cases.withheld')::BIGINT AS withheld_cases "
            "FROM srsql.release AS r ORDER BY r.dataset, r.series, r.quarter, r.release_id",
        ),
        budget=[
            {
                "dataset": one.dataset,
                "series": one.series,
                "worst_epsilon": str(one.worst),
                "cases": one.worst_cases,
                "charged_cases": one.cases,
                "calibration": ", ".join(one.calibrations),
                "meaning": one.meaning,
            }
            for one in budgets(warehouse)
        ],
    )


def _dicts(warehouse: Warehouse, query: str) -> list[dict[str, Any]]:
    cursor = warehouse.con.execute(query)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
