"""The registration of somebody else's release, so that its series can be audited and attacked.

A dataset whose files were never ingested needs one table and no files. Save this as
``huang.toml``, with ``sex.csv`` (``node,parent`` / ``*,`` / ``M,*`` / ``F,*``) beside it::

    name = "huang"
    report_table = "reports"
    report_id = "case_id"
    case_id = "case_id"

    [source]
    reader = "csv"

    [tables.reports]
    files = []
    columns = ["case_id", "age", "sex", "adr"]

    [[qid]]
    name = "age"
    kind = "numeric"
    column = "age"
    unit = "years"
    domain = [0, 120]

    [[qid]]
    name = "sex"
    kind = "categorical"
    column = "sex"
    hierarchy = "sex.csv"

    [[sensitive]]
    table = "reports"
    column = "adr"

and the table ``released.csv`` (``quarter`` and ``group_id`` may be left out)::

    quarter,case_id,sex,age_low,age_high,adr,group_id
    2011Q1,1,M,46,50,c;b,1
    2011Q1,2,F,21,25,c;a,2

Then ``srsql import-release released.csv --quarter 2011Q1 --dataset huang.toml``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from srsql.engine.audit.imports.column_roles import attribute_names
from srsql.engine.audit.imports.foreign_table import (
    ORIGINAL,
    RELEASED,
    ForeignFile,
    ForeignTable,
    read_table,
    refuse_fault,
)
from srsql.engine.catalog.datasets import register_dataset
from srsql.engine.catalog.releases import keep_key
from srsql.engine.catalog.series import IMPORTED, Series, misplaced, open_series
from srsql.engine.errors import ImportReleaseError
from srsql.engine.grouping.reports import load_attributes
from srsql.engine.grouping.symptoms import cutoff
from srsql.engine.ingest import explained, in_file_order
from srsql.engine.ingest.raw_tables import CODE, fill_codes
from srsql.engine.ingest.records import drop_temporary, workspace
from srsql.engine.store.scratch import digest
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid
from srsql.schemas.outside import json_of
from srsql.version import __version__

MULTIPLIER = Fraction(1)
"""Standard deviations above the mean that make an ss case (Huang 2021)."""
_TEMPORARIES = (
    *(f"srsql_{kind}_{part}" for kind in (RELEASED, ORIGINAL) for part in ("row", "box")),
    *(f"srsql_{RELEASED}_{part}" for part in ("value", "place", "term")),
    *("srsql_attribute", "srsql_node", "srsql_range", CODE),
)


@dataclass(frozen=True)
class ImportedRelease:
    """What was registered."""

    release_id: int
    dataset: str
    series: str
    quarter: str
    cases: int
    new_cases: int
    ss_cases: int
    groups: int
    rows: int
    """Rows of the released table."""
    originals: bool
    """Whether the raw quasi-identifiers are known."""
    quasi_identifiers: dict[str, str]
    """What an attacker may know, and how its column was read."""
    sensitive: list[str]
    """What an attacker may infer; none: an audit counts candidates alone."""
    suppressed: int
    """Rows declared suppressed, which are not among them."""
    unread: list[str]
    """Columns of the released table that stand for nothing of the dataset."""
    was_there: bool = False
    """Whether it had been registered just so before, and nothing was done."""


@dataclass(frozen=True)
class ImportRequest:
    """The files of one import, and how they are read."""

    path: Path
    quarter: str
    originals: Path | None = None
    """The raw records behind the released ones."""
    series: str = "main"
    group_column: str | None = None
    separator: str = ";"
    """What stands between the values of one field."""
    supersede: bool = False
    """Whether an import of the same quarter may be superseded."""
    max_unpacked: str | None = None
    """What the texts of a Parquet file may take, such as ``20GB``."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Name -> column of the files, where they are called otherwise than in the dataset."""
    suppressed: str | None = None
    """What every quasi-identifier of a suppressed row shows; such a row is not registered."""
    if_needed: bool = False
    """Whether the same import is enough if it is there already."""

    @property
    def reading(self) -> dict[str, Any]:
        """How the files are read, as the manifest keeps it."""
        return {
            "group_column": self.group_column,
            "separator": self.separator,
            "columns": dict(self.columns),
            "suppressed": self.suppressed,
        }


def import_release(
    warehouse: Warehouse, dataset: Dataset, request: ImportRequest, origin: str
) -> ImportedRelease:
    """Register one quarter of somebody else's series, in one transaction.

    Args:
        warehouse: where it is registered.
        dataset: the roles of the columns; registered if the warehouse does not know it.
        request: the files and how to read them.
        origin: where the dataset schema comes from, for the catalog.

    Returns:
        What was registered, in numbers.

    Raises:
        ImportReleaseError: a row cannot be taken as it stands, or the quarter is there already, or
            the dataset protects several sets of quasi-identifiers.
        IngestError: a file cannot be read.
        ReleaseError: the series holds releases of our own models.
    """
    if dataset.qid_set:
        raise ImportReleaseError(
            f"dataset {dataset.name} declares several sets of quasi-identifiers, and nobody tells "
            "by which of them a release was made: give a dataset without [[qid_set]]"
        )
    request = _checked(request)
    with (
        explained(request.path.name),
        workspace(warehouse) as folder,
        in_file_order(warehouse),
        warehouse.transaction(),
    ):
        register_dataset(warehouse, dataset, origin)
        wrong = misplaced(warehouse, dataset.name, request.quarter)
        if wrong:
            raise ImportReleaseError(wrong)
        series = open_series(warehouse, dataset, request.series, IMPORTED)
        there = _there(warehouse, dataset, series, request)
        if there is not None:
            return there
        load_attributes(warehouse, dataset)
        fill_codes(warehouse, dataset)
        released = _read_released(warehouse, dataset, request, folder)
        release_id = _register(warehouse, series, request)
        keep_key(warehouse, release_id, dataset.term_key)
        store_ss_rules(warehouse, dataset, release_id)
        warehouse.run_step("audit/import_catalog", {"release_id": release_id})
        original = _read_originals(warehouse, dataset, request, folder)
        if original is not None:
            warehouse.run_step("audit/import_originals", {"release_id": release_id})
        imported = _counts(warehouse, dataset, series, request, release_id, released, original)
        _store_manifest(warehouse, imported, released, original, request.reading)
        drop_temporary(warehouse, *_TEMPORARIES)
    return imported


def _checked(request: ImportRequest) -> ImportRequest:
    """The request with a trimmed period, if its files are there and its texts are not empty."""
    request = replace(request, quarter=request.quarter.strip())
    if not request.quarter:
        raise ImportReleaseError("the period is blank: give a label such as 2011Q4")
    if not request.separator:
        raise ImportReleaseError("--separator is empty: give what stands between two values")
    if request.suppressed is not None and not request.suppressed.strip():
        raise ImportReleaseError("--suppressed is blank: give what such a row shows, as in '*'")
    for path in (request.path, *([request.originals] if request.originals else [])):
        if not path.is_file():
            raise ImportReleaseError(f"{path}: no such file")
    return request


def _there(
    warehouse: Warehouse, dataset: Dataset, series: Series, request: ImportRequest
) -> ImportedRelease | None:
    """The same import, if it is there and that is enough; None: it is to be registered, and an
    earlier one is superseded. Quarters come in any order.

    Raises:
        ImportReleaseError: another one is there.
    """
    key = {"dataset": series.dataset, "series": series.name, "quarter": request.quarter}
    for release_id, stored in warehouse.rows(query("audit/imports", "standing_import"), key):
        manifest = json_of(stored)
        if request.if_needed and _is_same(manifest, request):
            released, *original = (
                ForeignTable(
                    file["file"],
                    file["sha256"],
                    file["rows"],
                    manifest["reports"]["suppressed"],
                    tuple(manifest["unread"]),
                )
                for file in manifest["files"]
            )
            found = _counts(
                warehouse,
                dataset,
                series,
                request,
                release_id,
                released,
                next(iter(original), None),
            )
            return replace(found, was_there=True)
        if not request.supersede:
            raise ImportReleaseError(
                f"{request.quarter} is already imported into series {series.name!r}"
                f"{', from other files or read otherwise' if request.if_needed else ''}: give "
                "another --series, or --supersede (the earlier import stays known to attackers)"
            )
        warehouse.run(query("audit/imports", "supersede"), key)
    return None


def _is_same(manifest: dict[str, Any], request: ImportRequest) -> bool:
    """Whether an import was made of the same files, read in the same way."""
    files = [("released", request.path)]
    if request.originals is not None:
        files.append(("originals", request.originals))
    return manifest.get("reading") == request.reading and [
        (file["kind"], file["sha256"]) for file in manifest["files"]
    ] == [(kind, digest(path)) for kind, path in files]


def _read_released(
    warehouse: Warehouse, dataset: Dataset, request: ImportRequest, folder: Path
) -> ForeignTable:
    """The released rows as cases, groups and terms."""
    file = ForeignFile(
        request.path,
        RELEASED,
        request.quarter,
        request.group_column,
        request.separator,
        request.max_unpacked,
        request.columns,
        request.suppressed,
    )
    released = read_table(warehouse, dataset, file, folder)
    warehouse.run_step("audit/import_rows")
    refuse_fault(warehouse, released.file, query("audit/imports", "first_contradiction"))
    return released


def _register(warehouse: Warehouse, series: Series, request: ImportRequest) -> int:
    """The catalog row of the release; its manifest follows in ``_store_manifest``."""
    release_id = int(warehouse.value(query("audit/imports", "next_release_id")))
    warehouse.run(
        query("audit/imports", "register"),
        {
            "release_id": release_id,
            "dataset": series.dataset,
            "series": series.name,
            "quarter": request.quarter,
            "model": IMPORTED,
        },
    )
    return release_id


def store_ss_rules(warehouse: Warehouse, dataset: Dataset, release_id: int) -> None:
    """The rule for ss cases, per sensitive attribute over the cases of the release."""
    for attribute in attribute_names(dataset):
        n, total, squares = warehouse.rows(
            query("audit/imports", "value_count_moments"), {"attribute": attribute}
        )[0]
        warehouse.run(
            query("audit/imports", "store_ss_rule"),
            {
                "release_id": release_id,
                "attribute": attribute,
                "mean": total / n,
                "sd": math.sqrt(n * squares - total * total) / n,
                "cutoff": cutoff(n, int(total), int(squares), MULTIPLIER),
            },
        )


def _read_originals(
    warehouse: Warehouse, dataset: Dataset, request: ImportRequest, folder: Path
) -> ForeignTable | None:
    """The raw quasi-identifiers of the released cases, if there is a file of them."""
    if request.originals is None:
        return None
    file = ForeignFile(
        request.originals,
        ORIGINAL,
        request.quarter,
        max_unpacked=request.max_unpacked,
        columns=request.columns,
    )
    original = read_table(warehouse, dataset, file, folder)
    refuse_fault(
        warehouse, request.path.name, query("audit/imports", "first_case_without_original")
    )
    return original


def _counts(
    warehouse: Warehouse,
    dataset: Dataset,
    series: Series,
    request: ImportRequest,
    release_id: int,
    released: ForeignTable,
    original: ForeignTable | None,
) -> ImportedRelease:
    """What was registered, counted in the catalog."""
    cases, new, groups, ss = warehouse.rows(
        query("audit/imports", "counts"), {"release_id": release_id}
    )[0]
    return ImportedRelease(
        release_id=release_id,
        dataset=series.dataset,
        series=series.name,
        quarter=request.quarter,
        cases=cases,
        new_cases=new,
        ss_cases=ss,
        groups=groups,
        rows=released.rows,
        originals=original is not None,
        quasi_identifiers={qid.name: _read_as(dataset, qid) for qid in dataset.qid},
        sensitive=attribute_names(dataset),
        suppressed=released.suppressed,
        unread=list(released.unread),
    )


def _read_as(dataset: Dataset, qid: Qid) -> str:
    """How the values of a quasi-identifier were read, in words."""
    if qid.kind == "categorical":
        tree = dataset.hierarchies[qid.name]
        below = "side by side " if max(tree.height) == 1 else ""
        return f"a category, {len(tree.labels) - 1:,} nodes {below}below {tree.labels[0]}"
    if isinstance(qid.domain, tuple):
        return f"a number, {qid.domain[0]} to {qid.domain[1]} {qid.unit}".rstrip()
    return f"a number, in steps of {qid.granularity} {qid.unit}".rstrip()


def _store_manifest(
    warehouse: Warehouse,
    imported: ImportedRelease,
    released: ForeignTable,
    original: ForeignTable | None,
    reading: dict[str, Any],
) -> None:
    """Write the private manifest: the files, how they were read, and what is in them."""
    files: list[dict[str, Any]] = [
        {"kind": kind, "file": file.file, "sha256": file.sha256, "rows": file.rows}
        for kind, file in (("released", released), ("originals", original))
        if file is not None
    ]
    manifest = {
        "model": IMPORTED,
        "quarter": imported.quarter,
        "software_version": __version__,
        "source": {"name": released.file, "sha256": released.sha256},
        "files": files,
        "reading": reading,
        "unread": imported.unread,
        "originals": imported.originals,
        "cases": {
            "released": imported.cases,
            "new": imported.new_cases,
            "old": imported.cases - imported.new_cases,
        },
        "reports": {"released": imported.rows, "suppressed": imported.suppressed},
        "groups": imported.groups,
    }
    warehouse.run(
        query("audit/imports", "store_manifest"),
        {"manifest": json.dumps(manifest), "release_id": imported.release_id},
    )
