"""The registration of a foreign table of counts, so that it can be audited beside other tables.

It is kept as it was told, cell by cell (``srsql.foreign_count``). It has no cases, so no attack on
rows is played; ``audit`` holds it to the rules of count tables (SPEC section 19), and subtracts it
from every other table of its period.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from srsql.engine.audit.imports.count_file import ForeignCounts, read_counts
from srsql.engine.catalog.datasets import register_dataset
from srsql.engine.catalog.releases import keep_key
from srsql.engine.catalog.series import IMPORTED, IMPORTED_COUNTS, misplaced, open_series
from srsql.engine.errors import ImportReleaseError
from srsql.engine.store.scratch import digest
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.outside import json_of
from srsql.version import __version__

TOPIC = "audit/imports"
BATCH = 50_000


@dataclass(frozen=True)
class CountsRequest:
    """The file of one import, and what its columns are."""

    path: Path
    quarter: str
    items: tuple[str, ...]
    """Columns of items."""
    sensitive: tuple[str, ...] = ()
    """Those of them that a threshold is of."""
    series: str = "main"
    supersede: bool = False
    if_needed: bool = False


@dataclass(frozen=True)
class ImportedCounts:
    """What was registered."""

    release_id: int
    dataset: str
    series: str
    quarter: str
    items: tuple[str, ...]
    sensitive: tuple[str, ...]
    strata: tuple[str, ...]
    cells: int
    was_there: bool = False
    """Whether it had been registered just so before, and nothing was done."""


def import_counts(
    warehouse: Warehouse, dataset: Dataset, request: CountsRequest, origin: str
) -> ImportedCounts:
    """Register one table of counts, in one transaction.

    Args:
        warehouse: where it is registered.
        dataset: says what a drug and a reaction are; registered if the warehouse does not know it.
        request: the file and its columns.
        origin: where the dataset schema comes from, for the catalog.

    Raises:
        ImportReleaseError: the file is no such table, or the period is there already.
        ReleaseError: the series holds something else than foreign counts.
    """
    quarter = request.quarter.strip()
    if not quarter:
        raise ImportReleaseError("the period is blank: give a label such as 2011Q4")
    if strange := sorted(set(request.sensitive) - set(request.items)):
        raise ImportReleaseError(
            f"--sensitive {strange[0]}: it is none of --counts {','.join(request.items)}"
        )
    if not request.path.is_file():
        raise ImportReleaseError(f"{request.path}: no such file")
    counts = read_counts(request.path, request.items, ImportReleaseError)
    told: dict[str, Any] = {
        "model": IMPORTED,
        "quarter": quarter,
        "software_version": __version__,
        "source": {"name": request.path.name, "sha256": digest(request.path)},
        "counts": {
            "items": list(request.items),
            "sensitive": list(request.sensitive),
            "strata": list(counts.strata),
        },
    }
    with warehouse.transaction():
        register_dataset(warehouse, dataset, origin)
        if wrong := misplaced(warehouse, dataset.name, quarter):
            raise ImportReleaseError(wrong)
        series = open_series(warehouse, dataset, request.series, IMPORTED_COUNTS)
        key = {"dataset": series.dataset, "series": series.name, "quarter": quarter}
        for release_id, stored in warehouse.rows(query(TOPIC, "standing_import"), key):
            if request.if_needed and json_of(stored) == told:
                return _imported(release_id, key, request, counts, was_there=True)
            if not request.supersede:
                raise ImportReleaseError(
                    f"{quarter} is already imported into series {series.name!r}"
                    f"{', from another file or read otherwise' if request.if_needed else ''}: give "
                    "another --series, or --supersede (the earlier table stays known to attackers)"
                )
            warehouse.run(query(TOPIC, "supersede"), key)
        release_id = int(warehouse.value(query(TOPIC, "next_release_id")))
        warehouse.run(
            query(TOPIC, "register"), {**key, "release_id": release_id, "model": IMPORTED}
        )
        keep_key(warehouse, release_id, dataset.term_key)
        _keep(warehouse, release_id, counts)
        warehouse.run(
            query(TOPIC, "keep_manifest"),
            {"release_id": release_id, "manifest": json.dumps(told, ensure_ascii=False)},
        )
    return _imported(release_id, key, request, counts)


def _imported(
    release_id: int,
    key: dict[str, str],
    request: CountsRequest,
    counts: ForeignCounts,
    *,
    was_there: bool = False,
) -> ImportedCounts:
    return ImportedCounts(
        release_id, key["dataset"], key["series"], key["quarter"], request.items,
        request.sensitive, tuple(counts.strata), len(counts.told), was_there,
    )  # fmt: skip


def _keep(warehouse: Warehouse, release_id: int, counts: ForeignCounts) -> None:
    """Store the cells as they were told."""
    cells = list(counts.told.items())
    for start in range(0, len(cells), BATCH):
        part = cells[start : start + BATCH]
        warehouse.run(
            query(TOPIC, "keep_counts"),
            {
                "release_id": release_id,
                "items": [list(key) for (key, _), _ in part],
                "strata": [list(stratum) for (_, stratum), _ in part],
                "cases": [cases for _, cases in part],
            },
        )


def kept_counts(warehouse: Warehouse, release_id: int) -> tuple[ForeignCounts, tuple[str, ...]]:
    """The cells of an imported table, and its columns that a threshold is of.

    Args:
        warehouse: may be read-only.
        release_id: of the import.
    """
    own = {"release_id": release_id}
    told = json_of(str(warehouse.value(query(TOPIC, "manifest"), own)))["counts"]
    rows: Sequence[tuple[list[str | None], list[str | None], int]] = warehouse.rows(
        query(TOPIC, "counts_told"), own
    )
    cells = {(tuple(items), tuple(strata or ())): cases for items, strata, cases in rows}
    counts = ForeignCounts(tuple(told["items"]), tuple(told["strata"]), cells)
    return counts, tuple(told["sensitive"])
