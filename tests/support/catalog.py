"""Releases written straight into the catalog, for macros that read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Region = tuple[tuple[int | None, int | None], ...]


def publish(
    sql: Any,
    release_id: int,
    quarter: str,
    groups: Mapping[int, tuple[Region, Iterable[str]]],
    *,
    status: str = "released",
    series: str = "main",
) -> None:
    """Group -> its region and its cases; a case is numbered by its place in the release."""
    sql.insert("srsql.release", [(release_id, "d", series, quarter, "ms", status, 2, 2, 4,
                                  "", None, "{}")])  # fmt: skip
    members = [(group, case) for group, (_, cases) in groups.items() for case in cases]
    sql.insert(
        "srsql.member",
        [
            (release_id, number, case, group, 1, True)
            for number, (group, case) in enumerate(members)
        ],
    )
    sql.insert(
        "srsql.region",
        [
            (release_id, group, position, *ends)
            for group, (region, _) in groups.items()
            for position, ends in enumerate(region)
        ],
    )
