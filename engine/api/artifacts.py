"""What leaves the house: artifacts and reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srsql.engine import errors
from srsql.engine.api.arguments import reads
from srsql.engine.api.audits import audit_options
from srsql.engine.api.context import Calls
from srsql.engine.api.options import Bounds, Name, Number, Publication, Waivers, Word
from srsql.engine.api.releases import consent
from srsql.engine.parameters import MAIN

if TYPE_CHECKING:
    from srsql.engine.artifact.publish import Published
    from srsql.engine.report.report import Report

STATED = (
    "publisher",
    "contact",
    "license",
    "cite_as",
    "landing_page",
    "access",
    "access_body",
    "thesaurus",
)
"""Options that say something of the artifact, for catalogues and papers."""


class ArtifactCalls(Calls):
    """``engine.artifact``: folders and pages for others.

    >>> engine.artifact.publish("2011Q4", "out", format="csv", allow_linkable=True).quarter
    '2011Q4'
    """

    @reads(errors.PublishError, without=("weaker", "change"))
    def publish(
        self,
        quarter: str,
        to: str | Path,
        publication: Publication = Publication(),
        waivers: Waivers = Waivers(),
        *,
        dataset: Name = None,
        series: str = MAIN,
        progress: Callable[[str], None] | None = None,
        **fields: Any,
    ) -> Published:
        """Write the artifact of a released quarter, or of ``A:B``; see ``srsql publish``."""
        from srsql.engine.artifact.publish import PublishRequest, publish
        from srsql.engine.artifact.publish.manifest import read_stated

        keys = (publication.key_file, publication.sign)
        key, sign = (Path(file) if file else None for file in keys)
        stated = {name: getattr(publication, name) for name in STATED}
        stated["legislation"] = tuple(publication.legislation or ())
        with self.warehouse.guarded():
            schema = self._context.visible(series, quarter.partition(":")[0].strip(), dataset)
            request = PublishRequest(
                quarter,
                Path(to),
                series,
                publication.format,
                publication.case_ids,
                key,
                publication.storage_version,
                consent(waivers),
                sign,
                publication.stale,
                publication.if_needed,
                publication.csv_safe,
                tuple(publication.not_ids or ()),
                read_stated(schema, stated),
            )
            return publish(self.warehouse, schema, request, progress)

    @reads(errors.ReportError)
    def report(
        self,
        quarter: Word = None,
        *,
        public: bool = False,
        form: bool = False,
        k: int | None = None,
        theta: Number = None,
        figures: Name = None,
        dataset: Name = None,
        series: str = MAIN,
    ) -> Report:
        """One HTML page on a quarter, or on the whole series; see ``srsql report``."""
        from srsql.engine.report.report import (  # brings matplotlib
            make_folder,
            report,
            reviewed,
            write_figures,
        )
        from srsql.engine.shapes import need_cases

        given = (k, theta) != (None, None)
        bounds = audit_options(quarter, Bounds(k=k, theta=theta)) if given else None
        if figures is not None:
            make_folder(Path(figures))
        with self.warehouse.guarded():
            schema = self._context.visible(series, quarter, dataset)
            need_cases(self.warehouse, schema, series, errors.ReportError)
            where = (self.warehouse, schema, series, quarter)
            if form:
                return reviewed(*where, public=public)
            made = report(*where, public=public, bounds=bounds)
        return write_figures(made, Path(figures)) if figures is not None else made
