"""Which page a report is, and the files that it goes to."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Literal

from srsql.engine.audit.plan import AuditOptions
from srsql.engine.catalog.public_database import rows_of
from srsql.engine.catalog.releases import released_id, without_releases
from srsql.engine.catalog.series import PER_QUARTER, find_series
from srsql.engine.errors import ReportError
from srsql.engine.report.imported_quarter import imported_quarter
from srsql.engine.report.internal_quarter import Subject, internal_quarter, read_subject
from srsql.engine.report.internal_series import internal_series
from srsql.engine.report.page import Figure, Page
from srsql.engine.report.public_edition import (
    public_database,
    public_quarter,
    public_series,
)
from srsql.engine.shapes import series_shape
from srsql.engine.store import doors
from srsql.engine.store.scratch import put_beside
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

Edition = Literal["internal", "public", "imported", "form"]


@dataclass(frozen=True)
class Report:
    """One page."""

    html: str
    edition: Edition
    dataset: str
    series: str
    quarter: str | None
    """None: the whole series."""
    figures: tuple[Figure, ...] = ()
    """Those of the page."""
    files: tuple[str, ...] = ()
    """Where they were written, as SVG and PNG; empty where none were asked for."""
    markdown: str = ""
    """The same as text, of a form."""


def warm_up() -> None:
    """Import what a report takes only when it draws: a process that calls nothing else of it leaves
    all modules compiled to the one that writes the first report of an installation."""
    import_module("matplotlib.backends.backend_svg")


def report(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    quarter: str | None = None,
    *,
    public: bool = False,
    ids: str | None = None,
    bounds: AuditOptions | None = None,
) -> Report:
    """One self-contained HTML page; nothing but temporary tables is written.

    Args:
        warehouse: may be read-only.
        dataset: whose releases.
        series: the sequence of releases.
        quarter: one release, for the internal edition also a draft; None: the series as a whole.
        public: from released views and public manifests alone.
        ids: which ids the release is published under, where others than its series has.
        bounds: k and thresholds that an imported series is judged by, which tells none of its own.

    Raises:
        ReportError: nothing is released, or what is asked of the series is not for one like it.
        AuditError: of the bounds some are given and some are not.
        ReleaseError: the quarter is not released in the series.
    """
    found = find_series(warehouse, dataset, series)
    shape = series_shape(warehouse, dataset, series)
    edition: Edition = "public" if public else shape.whose("internal", "imported")
    if public:
        shape.need_public(series, ReportError)
    if bounds is not None:
        shape.need_untold(series, ReportError)
    if quarter is not None:
        subject = read_subject(
            warehouse, dataset, series, released_id(warehouse, dataset, quarter, series)
        )
        ours, theirs = partial(internal_quarter), partial(imported_quarter, bounds=bounds)
        whole = shape.whose(ours, theirs)
        page = _public_quarter(subject, ids) if public else whole(subject)
        return Report(page.html, edition, dataset.name, series, quarter, page.figures)
    schemas = _schemas(warehouse, dataset, series)
    if found is None or not schemas:
        raise ReportError(without_releases(warehouse, dataset.name, series))
    if public and found.ids == PER_QUARTER:
        raise ReportError(
            f"series {series!r} has other ids in every quarter, so a public edition cannot tell "
            "new cases from old ones: give --quarter"
        )
    if not public:
        page = internal_series(warehouse, dataset, series, bounds)
    else:
        views = {dataset.report_table}
        with (
            warehouse.beside_another(),
            public_database(
                warehouse.con, rows_of(warehouse), dataset, series, schemas, views
            ) as released,
        ):
            page = public_series(released)
    return Report(page.html, edition, dataset.name, series, None, page.figures)


def reviewed(
    warehouse: Warehouse, dataset: Dataset, series: str, quarter: str | None, *, public: bool
) -> Report:
    """The form that a reviewer signs, of one release or draft of our own.

    Raises:
        ReportError: it is asked of something else.
        ReleaseError: the quarter is not released in the series.
    """
    shape = series_shape(warehouse, dataset, series)
    if public or quarter is None or shape.whose("ours", "theirs") == "theirs":
        raise ReportError(
            "--form is the anonymization report of one release of this warehouse, made with the "
            "originals: give --quarter, without --public, of a series that is not imported"
        )
    release_id = released_id(warehouse, dataset, quarter, series)
    form = doors.opened("review_form")(read_subject(warehouse, dataset, series, release_id))
    html = form.page.html
    return Report(html, "form", dataset.name, series, quarter, markdown=form.markdown)


def _public_quarter(subject: Subject, ids: str | None) -> Page:
    release = subject.release
    quarter, dataset = release.quarter, release.visible_dataset
    if subject.status != "released":
        raise ReportError(
            f"{quarter} is a draft in series {release.series!r}, which has no public edition: "
            f"'srsql release --quarter {quarter} --confirm' exposes it"
        )
    views = {table.name for table in dataset.row_tables}
    schemas, warehouse = {quarter: release.schema}, release.warehouse
    with (
        warehouse.beside_another(),
        public_database(
            warehouse.con, rows_of(warehouse), dataset, release.series, schemas, views, ids
        ) as released,
    ):
        return public_quarter(released, quarter)


def _schemas(warehouse: Warehouse, dataset: Dataset, series: str) -> dict[str, str]:
    """Quarter -> schema of its views, of the releases that are out, oldest first."""
    names = {"dataset": dataset.name, "series": series}
    return dict(warehouse.rows(query("report/release", "released_quarters"), names))


def file_name(report: Report) -> str:
    """Such as ``srsql-report-2022Q4.html``, ``srsql-report-partners-2022Q4-public.html``."""
    parts = ["srsql-report"]
    parts += [report.series] if report.series != "main" or report.quarter is None else []
    parts += [report.quarter] if report.quarter is not None else []
    parts += [report.edition] if report.edition in ("public", "form") else []
    return re.sub(r"[^\w.-]+", "_", "-".join(parts)) + ".html"


def write_report(report: Report, file: Path) -> int:
    """Write the page beside ``file`` and put it in its place; a form as text if it ends in .md.

    An internal edition tells of originals, so that only the owner of its file can read it.

    Returns:
        The number of its bytes.

    Raises:
        ReportError: the file cannot be written; what was there before still is.
    """
    if file.is_dir():
        raise ReportError(f"{file} is a directory: give --out a file")
    as_text = report.markdown and file.suffix == ".md"
    content = (report.markdown if as_text else report.html).encode("utf-8")
    _put(content, file, report, "--out")
    return len(content)


def make_folder(folder: Path) -> None:
    """Make the folder of the figures, if it is absent.

    Raises:
        ReportError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise ReportError(f"{folder} cannot be made ({why}): give another --figures") from None


def write_figures(report: Report, folder: Path) -> Report:
    """Write every figure of the page as SVG and as PNG; figures of before are replaced.

    Args:
        report: whose figures, and no others.
        folder: where they go.

    Returns:
        The report with the names of the files: that of its page with the name of the figure.

    Raises:
        ReportError: a file cannot be written.
    """
    stem, files = file_name(report).removesuffix(".html"), []
    for figure in report.figures:
        for form, content in (("svg", figure.image.svg_file()), ("png", figure.image.png_file())):
            file = folder / f"{stem}-{figure.key}.{form}"
            _put(content, file, report, "--figures")
            files.append(str(file))
    return replace(report, files=tuple(files))


def _put(content: bytes, file: Path, of: Report, option: str) -> None:
    try:  # an edition that is not public may tell of originals
        with put_beside(file, private=of.edition != "public") as beside:
            beside.write_bytes(content)
    except OSError as error:
        why = error.strerror or str(error)
        raise ReportError(f"{file} cannot be written ({why}): give another {option}") from None
