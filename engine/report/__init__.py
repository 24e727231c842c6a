"""Reports: one self-contained HTML file per quarter and one per series (`srsql report`).

Here the page and the file that it goes to are chosen: ``internal_quarter`` and ``internal_series``
for the steward, ``public_edition`` for everybody. They put what ``shapes``, ``signal_figures`` and
``worked_attack`` find into the templates (``page``), drawn by ``quarter_figures`` in the style of
``drawing``, with legends from ``glossary``.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
from sqlglot import exp

from srsql.engine.errors import ReportError
from srsql.engine.report.internal_quarter import internal_quarter, read_subject
from srsql.engine.report.internal_series import internal_series
from srsql.engine.report.public_edition import (
    BATCH,
    RowsOf,
    public_database,
    public_quarter,
    public_series,
)
from srsql.engine.warehouse.releases import released_id
from srsql.engine.warehouse.series import IMPORTED, find_series
from srsql.engine.warehouse.statements import query, table
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

Edition = Literal["internal", "public"]


@dataclass(frozen=True)
class Report:
    """One page."""

    html: str
    edition: Edition
    dataset: str
    series: str
    quarter: str | None
    """None: the whole series."""


def report(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    quarter: str | None = None,
    *,
    public: bool = False,
) -> Report:
    """One self-contained HTML page; nothing but temporary tables is written.

    Args:
        warehouse: may be read-only.
        dataset: whose releases.
        series: the sequence of releases.
        quarter: one release, for the internal edition also a draft; None: the series as a whole.
        public: from released views and public manifests alone.

    Raises:
        ReportError: nothing is released, or the series is somebody else's.
        ReleaseError: the quarter is not released in the series.
    """
    edition: Edition = "public" if public else "internal"
    found = find_series(warehouse, dataset, series)
    if found is not None and found.family == IMPORTED:
        raise ReportError(
            f"series {series!r} is imported, without a manifest or views to report on: "
            "'srsql audit' and 'srsql attack' judge it"
        )
    if public and not dataset.rows:
        raise ReportError(
            f"series {series!r} releases terms alone, and a public edition tells of regions and "
            "signals: 'srsql publish' says of what is released, the internal edition of the rest"
        )
    if quarter is not None:
        html = _quarter(warehouse, dataset, series, quarter, public=public)
        return Report(html, edition, dataset.name, series, quarter)
    schemas = _schemas(warehouse, dataset, series)
    if found is None or not schemas:
        raise ReportError(
            f"series {series!r} of {dataset.name} has no releases: run 'srsql release' first"
        )
    if not public:
        html = internal_series(warehouse, dataset, series)
    else:
        views = {dataset.report_table}
        with public_database(
            warehouse.con, _rows_of(warehouse), dataset, series, schemas, views
        ) as released:
            html = public_series(released)
    return Report(html, edition, dataset.name, series, None)


def _quarter(
    warehouse: Warehouse, dataset: Dataset, series: str, quarter: str, *, public: bool
) -> str:
    release_id = released_id(warehouse, dataset, quarter, series)
    subject = read_subject(warehouse, dataset, series, release_id)
    if not public:
        return internal_quarter(subject)
    if subject.status != "released":
        raise ReportError(
            f"{quarter} is a draft in series {series!r}, which has no public edition: "
            f"'srsql release --quarter {quarter} --confirm' exposes it"
        )
    views = {table.name for table in dataset.row_tables}
    schemas = {quarter: subject.release.schema}
    source = _rows_of(warehouse)
    with public_database(warehouse.con, source, dataset, series, schemas, views) as released:
        return public_quarter(released, quarter)


def _rows_of(warehouse: Warehouse) -> RowsOf:
    """The rows of the released views of a warehouse; nothing else of it is read."""

    def read(schema: str, view: str) -> pa.RecordBatchReader:
        rows = exp.select("v.*").from_(table(schema, view, alias="v")).sql(dialect="duckdb")
        return warehouse.con.sql(rows).to_arrow_reader(BATCH)

    return read


def _schemas(warehouse: Warehouse, dataset: Dataset, series: str) -> dict[str, str]:
    """Quarter -> schema of its views, of the releases that are out, oldest first."""
    names = {"dataset": dataset.name, "series": series}
    return dict(warehouse.rows(query("report/release", "released_quarters"), names))


def file_name(report: Report) -> str:
    """Such as ``srsql-report-2022Q4.html``, ``srsql-report-partners-2022Q4-public.html``."""
    parts = ["srsql-report"]
    parts += [report.series] if report.series != "main" or report.quarter is None else []
    parts += [report.quarter] if report.quarter is not None else []
    parts += ["public"] if report.edition == "public" else []
    return re.sub(r"[^\w.-]+", "_", "-".join(parts)) + ".html"


def write_report(report: Report, file: Path) -> int:
    """Write the page beside ``file`` and put it in its place.

    Returns:
        The number of its bytes.

    Raises:
        ReportError: the file cannot be written; what was there before still is.
    """
    if file.is_dir():
        raise ReportError(f"{file} is a directory: give --out a file")
    content = report.html.encode("utf-8")
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        os.replace(beside, file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        why = error.strerror or str(error)
        raise ReportError(f"{file} cannot be written ({why}): give another --out") from None
    return len(content)
