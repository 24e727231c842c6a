"""Releasing a range of quarters, one after the other; a second run goes on where one stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from srsql.engine.errors import ReleaseError
from srsql.engine.release.release import release
from srsql.engine.release.request import Released, Request
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Range:
    """What became of a range of quarters."""

    first: str
    last: str
    released: list[Released]
    """In order; each is committed on its own."""
    already: list[str]
    """Quarters that were out before, left as they are."""


def is_range(quarter: str) -> bool:
    """Whether ``quarter`` is written ``A:B``."""
    return ":" in quarter


def range_ends(text: str) -> tuple[str, str]:
    """The first and last quarter of ``A:B``.

    Raises:
        ReleaseError: it is not one range, or runs backwards.
    """
    first, _, last = (part.strip() for part in text.partition(":"))
    if not first or not last or ":" in last:
        raise ReleaseError(f"--quarter {text!r}: give a range as FIRST:LAST, such as 2011Q1:2011Q4")
    if first > last:
        raise ReleaseError(f"--quarter {text!r}: {first} comes after {last}")
    return first, last


def release_range(
    warehouse: Warehouse, dataset: Dataset, request: Request, progress: Progress | None = None
) -> Range:
    """Release every ingested quarter of ``request.quarter`` (``A:B``) that is not out yet.

    A quarter of which nothing can be released becomes an empty release.

    Raises:
        ReleaseError: a quarter was refused; those before it are out.
    """
    first, last = range_ends(request.quarter)
    if request.draft or request.supersede:
        raise ReleaseError("--draft and --supersede take one quarter, not a range")
    quarters = [
        row[0]
        for row in warehouse.rows(
            "SELECT i.quarter FROM srsql.ingestion AS i WHERE i.dataset = ? AND NOT i.replaced "
            "AND i.quarter BETWEEN ? AND ? ORDER BY i.quarter",
            [dataset.name, first, last],
        )
    ]
    for end in (first, last):
        if end not in quarters:
            raise ReleaseError(
                f"{end} of dataset {dataset.name} is not in the warehouse: ingest it first"
            )
    out = {
        row[0]
        for row in warehouse.rows(
            "SELECT r.quarter FROM srsql.release AS r "
            "WHERE r.dataset = ? AND r.series = ? AND r.status = 'released'",
            [dataset.name, request.series],
        )
    }
    made = []
    for quarter in quarters:
        if quarter in out:
            continue
        one = replace(request, quarter=quarter, may_be_empty=True)
        made.append(release(warehouse, dataset, one, _prefixed(progress, quarter)))
    return Range(first, last, made, [q for q in quarters if q in out])


def _prefixed(progress: Progress | None, quarter: str) -> Progress | None:
    if progress is None:
        return None
    return lambda step: progress(f"{quarter}: {step}")
