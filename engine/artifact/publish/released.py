"""The release of a quarter as it can be published: exposed, ours, not superseded."""

from __future__ import annotations

from dataclasses import dataclass

from srsql.engine.errors import PublishError
from srsql.engine.warehouse.series import IMPORTED
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


@dataclass(frozen=True)
class Release:
    """One release and its place in the series."""

    release_id: int
    quarter: str
    schema: str
    """Of its views."""
    keyed: bool
    """Whether the series releases pseudonyms."""
    earlier: tuple[str, ...]
    """Periods of the releases before it, superseded ones included."""


def find_release(warehouse: Warehouse, dataset: Dataset, series: str, quarter: str) -> Release:
    """The release of a quarter that is out.

    Raises:
        PublishError: it is a draft, was never made, or is somebody else's.
    """
    rows = warehouse.rows(
        "SELECT r.release_id, r.quarter, r.status, r.model, r.schema_name,"
        " s.pseudonym_key IS NOT NULL "
        "FROM srsql.release AS r INNER JOIN srsql.series AS s "
        "ON r.dataset = s.dataset AND r.series = s.series "
        "WHERE r.dataset = ? AND r.series = ? ORDER BY r.quarter, r.release_id",
        [dataset.name, series],
    )
    own = [row for row in rows if row[1] == quarter]
    if any(row[3] == IMPORTED for row in own):
        raise PublishError(
            f"{quarter} of series {series!r} is somebody else's release: only your own is published"
        )
    out = next((row for row in own if row[2] == "released"), None)
    if out is None:
        raise PublishError(_why_not(quarter, series, {row[2] for row in own}, rows))
    release_id, _, _, _, schema, keyed = out
    earlier = [
        row[1] for row in rows if row[2] != "draft" and (row[1], row[0]) < (quarter, release_id)
    ]
    return Release(release_id, quarter, schema, keyed, tuple(earlier))


def _why_not(quarter: str, series: str, statuses: set[str], rows: list[tuple[object, ...]]) -> str:
    if "draft" in statuses:
        return (
            f"{quarter} of series {series!r} is a draft: expose it with "
            f"'srsql release --quarter {quarter} --confirm' first"
        )
    known = [str(row[1]) for row in rows if row[2] == "released"]
    have = f"{known[0]} to {known[-1]} ({len(known)})" if known else "none"
    return f"{quarter} is not released in series {series!r} (it has: {have}): release it first"
