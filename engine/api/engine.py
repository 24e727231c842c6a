"""`Engine`: everything the command line does, for Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

from srsql.engine.api.measuring import Measuring
from srsql.engine.artifact.format import Format
from srsql.engine.artifact.publish.publish import Publication, Published, publish
from srsql.engine.audit.imports.import_release import (
    ImportedRelease,
    ImportRequest,
    import_release,
)
from srsql.engine.errors import DatasetError, ReportError
from srsql.engine.ingest import IngestedPeriod, IngestOptions, ingest
from srsql.engine.release.draft import confirm
from srsql.engine.release.options import DEFAULTS, ReleaseOptions, make_request
from srsql.engine.release.ranges import Range, range_ends, release_range
from srsql.engine.release.release import release
from srsql.engine.release.request import Released
from srsql.engine.warehouse.releases import need_cases
from srsql.schemas import SchemaError, load_dataset

if TYPE_CHECKING:
    from srsql.engine.report import Report

Progress = Callable[[str], None]


class Engine(Measuring):
    """The engine on one warehouse.

    Args:
        target: path of a DuckDB file, or an open connection (used, never closed).
        dataset: dataset for every call that names none; default: the only one ingested, else
            ``faers``.
        read_only: open the file for reading only.
        threads: DuckDB worker threads.
        memory_limit: DuckDB's memory limit, such as ``"8GB"``.
    """

    def ingest(
        self,
        sources: Sequence[str | Path] = (),
        *,
        dataset: str | Path | None = None,
        period: str | None = None,
        replace: bool = False,
        max_reject_rate: float = 0.01,
        progress: Progress | None = None,
    ) -> list[IngestedPeriod]:
        """Load files, or tables of the connection, of one or more periods; see ``srsql ingest``."""
        chosen = dataset if dataset is not None else self._dataset or DEFAULTS.dataset
        try:
            schema = load_dataset(chosen)
        except SchemaError as error:
            raise DatasetError(str(error)) from None
        with self.warehouse.guarded():
            return ingest(
                self.warehouse,
                [Path(source) for source in sources],
                schema,
                IngestOptions(period, replace, max_reject_rate),
                origin=str(chosen),
                progress=progress,
            )

    def release(
        self,
        quarter: str,
        *,
        dataset: str | Path | None = None,
        progress: Progress | None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Released:
        """Anonymize one quarter into views; see ``srsql release`` and ``ReleaseOptions``."""
        request = make_request(quarter, options)
        with self.warehouse.guarded():
            return release(self.warehouse, self._dataset_of(quarter, dataset), request, progress)

    def release_range(
        self,
        quarters: str,
        *,
        dataset: str | Path | None = None,
        progress: Progress | None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Range:
        """Release the quarters ``A:B`` that are not out yet; options as for :meth:`release`."""
        request = make_request(quarters, options)
        with self.warehouse.guarded():
            schema = self._dataset_of(range_ends(quarters)[0], dataset)
            return release_range(self.warehouse, schema, request, progress)

    def confirm(
        self, quarter: str, *, dataset: str | Path | None = None, series: str = DEFAULTS.series
    ) -> Released:
        """Expose a draft; see ``srsql release --confirm``."""
        with self.warehouse.guarded():
            schema = self._told(series, quarter, dataset)
            return confirm(self.warehouse, schema, quarter, series)

    def report(
        self,
        quarter: str | None = None,
        *,
        public: bool = False,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> Report:
        """One HTML page on a quarter, or on the whole series; see ``srsql report``."""
        from srsql.engine.report import report  # brings matplotlib, which nothing else needs

        with self.warehouse.guarded():
            schema = self._told(series, quarter, dataset)
            need_cases(self.warehouse, schema.name, series, ReportError)
            return report(self.warehouse, schema, series, quarter, public=public)

    def import_release(
        self,
        path: str | Path,
        quarter: str,
        *,
        dataset: str | Path | None = None,
        originals: str | Path | None = None,
        series: str = DEFAULTS.series,
        group_column: str | None = None,
        separator: str = ";",
        supersede: bool = False,
    ) -> ImportedRelease:
        """Register somebody else's released table; see ``srsql import-release``."""
        request = ImportRequest(
            Path(path),
            quarter,
            originals=Path(originals) if originals is not None else None,
            series=series,
            group_column=group_column,
            separator=separator,
            supersede=supersede,
        )
        with self.warehouse.guarded():
            schema = self.dataset(dataset)
            return import_release(
                self.warehouse, schema, request, str(dataset or self._dataset or schema.name)
            )

    def publish(
        self,
        quarter: str,
        to: str | Path,
        *,
        format: Format = "parquet",
        case_ids: Literal["as-released", "pseudonym"] = "as-released",
        key_file: str | Path | None = None,
        storage_version: str | None = None,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
        progress: Progress | None = None,
    ) -> Published:
        """Write the artifact of a released quarter; see ``srsql publish``."""
        asked = Publication(
            quarter,
            Path(to),
            series,
            format,
            case_ids,
            Path(key_file) if key_file is not None else None,
            storage_version,
        )
        with self.warehouse.guarded():
            schema = self._told(asked.series, quarter, dataset)
            return publish(self.warehouse, schema, asked, progress)
