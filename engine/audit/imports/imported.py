"""Somebody else's released series, registered so that it can be audited and attacked.

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
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from srsql.engine.audit.imports.columns import attribute_names
from srsql.engine.audit.imports.foreign import (
    ORIGINAL,
    RELEASED,
    Foreign,
    read_table,
    refuse_faults,
)
from srsql.engine.errors import ImportReleaseError
from srsql.engine.grouping.cases import load_attributes
from srsql.engine.grouping.symptoms import cutoff
from srsql.engine.ingest.extract import workspace
from srsql.engine.ingest.load import explained, in_file_order
from srsql.engine.ingest.typed import CODE, fill_codes
from srsql.engine.warehouse.catalog import register_dataset
from srsql.engine.warehouse.periods import misplaced
from srsql.engine.warehouse.series import IMPORTED, Series, open_series
from srsql.engine.warehouse.statements import dotted
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.version import __version__

MULTIPLIER = Fraction(1)
"""Standard deviations above the mean that make an ss case (Huang 2021)."""
_TEMPORARIES = (
    *(f"{kind}_{part}" for kind in (RELEASED, ORIGINAL) for part in ("row", "box")),
    *(
        f"{RELEASED}_{part}"
        for part in ("value", "case", "place", "fault", "group", "term", "count")
    ),
    *(f"{ORIGINAL}_{part}" for part in ("known", "hull", "fault")),
    *("srsql_import", "srsql_sensitive", "srsql_attribute", "srsql_node", "srsql_range", CODE),
)


@dataclass(frozen=True)
class Imported:
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


@dataclass(frozen=True)
class ImportRequest:
    """What is asked of one import."""

    path: Path
    quarter: str
    originals: Path | None = None
    series: str = "main"
    group_column: str | None = None
    separator: str = ";"
    supersede: bool = False


def import_release(
    warehouse: Warehouse, dataset: Dataset, request: ImportRequest, origin: str
) -> Imported:
    """Register one quarter of somebody else's series, in one transaction.

    Args:
        warehouse: where to.
        dataset: the roles of the columns; registered if the warehouse does not know it.
        request: the files and how to read them.
        origin: where the dataset schema comes from, for the catalog.

    Raises:
        ImportReleaseError: a row cannot be taken as it stands, or the quarter is there already.
        IngestError: a file cannot be read.
        ReleaseError: the series holds releases of our own models.
    """
    request = replace(request, quarter=request.quarter.strip())
    if not request.quarter:
        raise ImportReleaseError("the period is blank: give a label such as 2011Q4")
    if not request.separator:
        raise ImportReleaseError("--separator is empty: give what stands between two values")
    for path in (request.path, *([request.originals] if request.originals else [])):
        if not path.is_file():
            raise ImportReleaseError(f"{path}: no such file")
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
        _take_turn(warehouse, series, request)
        load_attributes(warehouse, dataset)
        fill_codes(warehouse, dataset)
        foreign = _read(warehouse, dataset, request, folder)
        release_id = _register(warehouse, series, request)
        _substantial(warehouse, dataset, release_id)
        warehouse.run_step("audit/import_catalog")
        original = _originals(warehouse, dataset, request, folder)
        imported = _account(warehouse, series, request, release_id, foreign, original)
        for name in _TEMPORARIES:
            warehouse.run(f"DROP TABLE IF EXISTS {dotted('temp', 'main', name)}")
    return imported


def _take_turn(warehouse: Warehouse, series: Series, request: ImportRequest) -> None:
    """Refuse a quarter that is there, or mark it superseded; quarters come in any order."""
    key = [series.dataset, series.name, request.quarter]
    there = (
        "FROM srsql.release WHERE dataset = ? AND series = ? AND quarter = ? "
        "AND status = 'released'"
    )
    if not warehouse.value(f"SELECT count(*) {there}", key):
        return
    if not request.supersede:
        raise ImportReleaseError(
            f"{request.quarter} is already imported into series {series.name!r}: give another "
            "--series, or --supersede (the earlier import stays known to attackers)"
        )
    warehouse.run(
        "UPDATE srsql.release SET status = 'superseded' "
        "WHERE dataset = ? AND series = ? AND quarter = ? AND status = 'released'",
        key,
    )


def _read(warehouse: Warehouse, dataset: Dataset, request: ImportRequest, folder: Path) -> Foreign:
    """The released rows as cases, groups and terms."""
    foreign = read_table(
        warehouse,
        dataset,
        request.path,
        folder,
        RELEASED,
        quarter=request.quarter,
        group_column=request.group_column,
        separator=request.separator,
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_sensitive AS "
        "SELECT unnest($names::VARCHAR[]) AS attribute",
        {"names": attribute_names(dataset)},
    )
    warehouse.run_step("audit/import_rows")
    refuse_faults(warehouse, foreign.file, f"{RELEASED}_fault")
    return foreign


def _register(warehouse: Warehouse, series: Series, request: ImportRequest) -> int:
    """The catalog row of the release; its manifest follows in ``_account``."""
    release_id = int(warehouse.value("SELECT nextval('srsql.release_ids')"))
    warehouse.run(
        "INSERT INTO srsql.release VALUES (?, ?, ?, ?, ?, 'released', 0, 0, 1, '', NULL, '{}')",
        [release_id, series.dataset, series.name, request.quarter, IMPORTED],
    )
    warehouse.run("CREATE OR REPLACE TEMP TABLE srsql_import (release_id INTEGER)")
    warehouse.run("INSERT INTO temp.main.srsql_import VALUES (?)", [release_id])
    return release_id


def _substantial(warehouse: Warehouse, dataset: Dataset, release_id: int) -> None:
    """The rule for ss cases, per sensitive attribute over the cases of the release."""
    for name in attribute_names(dataset):
        n, total, squares = warehouse.rows(
            "SELECT count(*), sum(c.n)::HUGEINT, sum(c.n * c.n)::HUGEINT "
            f"FROM temp.main.{RELEASED}_count AS c WHERE c.attribute = ?",
            [name],
        )[0]
        sd = math.sqrt(n * squares - total * total) / n
        warehouse.run(
            "INSERT INTO srsql.ss_rule VALUES (?, ?, ?, ?, ?)",
            [release_id, name, total / n, sd, cutoff(n, int(total), int(squares), MULTIPLIER)],
        )


def _originals(
    warehouse: Warehouse, dataset: Dataset, request: ImportRequest, folder: Path
) -> Foreign | None:
    """The raw quasi-identifiers of the released cases, if a file tells them."""
    if request.originals is None:
        return None
    original = read_table(
        warehouse, dataset, request.originals, folder, ORIGINAL, quarter=request.quarter
    )
    warehouse.run_step("audit/import_originals")
    refuse_faults(warehouse, request.path.name, f"{ORIGINAL}_fault")
    return original


def _account(
    warehouse: Warehouse,
    series: Series,
    request: ImportRequest,
    release_id: int,
    foreign: Foreign,
    original: Foreign | None,
) -> Imported:
    """Write the private manifest; what was registered."""
    cases, new, groups, ss = warehouse.rows(
        "SELECT count(*), count(*) FILTER (WHERE m.is_new), count(DISTINCT m.group_id),"
        " count(*) FILTER (WHERE t.is_ss) FROM srsql.member AS m INNER JOIN srsql.case_flag AS t "
        "ON m.release_id = t.release_id AND m.case_no = t.case_no WHERE m.release_id = ?",
        [release_id],
    )[0]
    files: list[dict[str, Any]] = [
        {"kind": kind, "file": file.file, "sha256": file.sha256, "rows": file.rows}
        for kind, file in (("released", foreign), ("originals", original))
        if file is not None
    ]
    manifest = {
        "model": IMPORTED,
        "quarter": request.quarter,
        "software_version": __version__,
        "source": {"name": foreign.file, "sha256": foreign.sha256},
        "files": files,
        "originals": original is not None,
        "cases": {"released": cases, "new": new, "old": cases - new},
        "reports": {"released": foreign.rows},
        "groups": groups,
    }
    warehouse.run(
        "UPDATE srsql.release SET private_manifest = ? WHERE release_id = ?",
        [json.dumps(manifest), release_id],
    )
    return Imported(
        release_id=release_id,
        dataset=series.dataset,
        series=series.name,
        quarter=request.quarter,
        cases=cases,
        new_cases=new,
        ss_cases=ss,
        groups=groups,
        rows=foreign.rows,
        originals=original is not None,
    )
