"""Series and releases: made, changed, exposed, corrected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srsql.engine import errors
from srsql.engine.api.arguments import reads
from srsql.engine.api.context import CallableCalls
from srsql.engine.api.options import Name, Waivers, Word
from srsql.engine.parameters import MAIN, MAX_LINKABLE

if TYPE_CHECKING:
    from srsql.engine.catalog.releases import Stale
    from srsql.engine.release.exposure import Consent
    from srsql.engine.release.request import Range, Released
    from srsql.engine.release.series_commands import SeriesInfo
    from srsql.engine.steward.correct import Correction
    from srsql.engine.store.frames import Rows
    from srsql.engine.workers.carriers import Carrier

Progress = Callable[[str], None] | None


def consent(given: Waivers) -> Consent:
    """What is said yes to when rows leave the house."""
    from srsql.engine.release.exposure import Consent

    limit = MAX_LINKABLE if given.max_linkable is None else Fraction(given.max_linkable)
    return Consent(limit, given.allow_linkable, given.weaker, given.change)


class SeriesCalls(CallableCalls):
    """``engine.series``: what a series is made with.

    >>> info = engine.series.create("narrow", k=4, theta="1/2")
    >>> [each.series for each in engine.series.show()]
    ['main', 'narrow']
    """

    NAME, CALL = "series", "show"

    @reads(errors.ReleaseError, called="series")
    def show(self, name: Word = None, *, dataset: Name = None) -> Rows[SeriesInfo]:
        """What each series, or one, was made with; see ``srsql series show``."""
        from srsql.engine.release.series_commands import SeriesInfo, every_series, find_info
        from srsql.engine.store.frames import Rows

        with self.warehouse.guarded():
            if name is None:
                return Rows(every_series(self.warehouse), SeriesInfo)
            schema = self._context.dataset(dataset)
            return Rows([find_info(self.warehouse, schema, name)], SeriesInfo)

    @reads(errors.ReleaseError, called="create_series")
    def create(
        self, name: str, *, if_needed: bool = False, dataset: Name = None, **options: Any
    ) -> SeriesInfo:
        """Make a series and choose its parameters and ids; see ``srsql series create``."""
        from srsql.engine.release.series_commands import create_series

        with self.warehouse.guarded():
            schema = self._context.dataset(dataset)
            return create_series(self.warehouse, schema, name, options, if_needed=if_needed)

    @reads(errors.ReleaseError, called="set_series")
    def set(
        self,
        name: str,
        *,
        unset: Sequence[str] = (),
        weaker: bool = False,
        dataset: Name = None,
        **options: Any,
    ) -> SeriesInfo:
        """Change the parameters of a series from now on; see ``srsql series set``."""
        from srsql.engine.release.series_commands import set_series

        with self.warehouse.guarded():
            schema = self._context.dataset(dataset)
            return set_series(self.warehouse, schema, name, options, unset, weaker=weaker)


class ReleaseCalls(CallableCalls):
    """``engine.release``: quarters are anonymized into views.

    >>> released = engine.release.make("2011Q4", k=3, theta="1", seed=1)
    >>> released.status
    'released'
    >>> engine.release.stale()
    []
    """

    NAME, CALL = "release", "make"

    @reads(errors.ReleaseError, called="release")
    def make(
        self,
        quarter: str,
        *,
        dataset: Name = None,
        carrier: Carrier | None = None,
        progress: Progress = None,
        **options: Any,
    ) -> Released:
        """Anonymize one quarter into views; options are those of ``srsql release --help``.
        ``carrier``: who carries its ``parts``, such as ``SparkCarrier(session)``."""
        from srsql.engine.release.memory import series_request
        from srsql.engine.release.release import release
        from srsql.engine.release.stages.carrying import carried

        with self.warehouse.guarded():
            schema = self._context.dataset_of(quarter, dataset)
            request = series_request(self.warehouse, schema, quarter, options)
            with carried(self.warehouse, schema, request, carrier) as asked:
                return release(self.warehouse, schema, asked, progress)

    @reads(errors.ReleaseError, called="release_range")
    def make_range(
        self,
        quarters: str,
        *,
        sources: Sequence[str | Path] = (),
        dataset: Name = None,
        carrier: Carrier | None = None,
        progress: Progress = None,
        **options: Any,
    ) -> Range:
        """Release the quarters ``A:B`` that are not out yet; options as for :meth:`make`. What
        ``sources`` have of them is taken in, each while the one before is released."""
        from srsql.engine.ingest import intake
        from srsql.engine.release.memory import series_request
        from srsql.engine.release.release_range import release_range
        from srsql.engine.release.request import range_ends
        from srsql.engine.release.stages.carrying import carried

        with self.warehouse.guarded():
            ends, name = range_ends(quarters), dataset or self._context.usual
            schema = self._context.dataset_of(ends[0], dataset)
            request = series_request(self.warehouse, schema, quarters, options)
            with (
                carried(self.warehouse, schema, request, carrier) as asked,
                intake(self.warehouse, sources, schema, name, ends) as taking,
            ):
                return release_range(self.warehouse, schema, asked, progress, taking)

    @reads(errors.ReleaseError)
    def confirm(
        self,
        quarter: str,
        waivers: Waivers = Waivers(),
        *,
        date: Word = None,
        if_needed: bool = False,
        dataset: Name = None,
        series: str = MAIN,
        **fields: Any,
    ) -> Released:
        """Expose a draft; see ``srsql release --confirm``."""
        from srsql.engine.steward.draft import confirm

        yes = consent(waivers)
        with self.warehouse.guarded():
            visible = self._context.visible(series, quarter, dataset)
            return confirm(self.warehouse, visible, quarter, series, yes, date, if_needed=if_needed)

    @reads(errors.ReleaseError)
    def correct(
        self,
        quarter: str,
        *,
        keep_remainder: bool = False,
        dry_run: bool = False,
        if_needed: bool = False,
        date: Word = None,
        dataset: Name = None,
        series: str = MAIN,
        progress: Progress = None,
    ) -> Correction:
        """Take the groups of cases that have left out of a released quarter; see ``srsql
        correct``."""
        from srsql.engine.steward.correct import CorrectionRequest, correct

        with self.warehouse.guarded():
            visible = self._context.visible(series, quarter, dataset)
            request = CorrectionRequest(keep_remainder, dry_run, if_needed, date)
            return correct(self.warehouse, visible, quarter, series, request, progress)

    @reads(errors.WarehouseError)
    def stale(
        self, *, quarter: Word = None, dataset: Name = None, series: Word = None
    ) -> list[Stale]:
        """The releases that are out, and drafts, with cases that have left since, and why."""
        from srsql.engine.catalog.releases import staleness

        with self.warehouse.guarded():
            name = None if dataset is None else self._context.dataset(dataset).name
            return staleness(self.warehouse, name, series, quarter)
