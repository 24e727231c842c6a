"""`Engine`: everything the command line does, for Python.

A keyword that a call does not have, or a value of another kind, is an error of one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import duckdb

from srsql.engine import api, errors
from srsql.engine.catalog.series import MAIN
from srsql.engine.parameters import DRAWS, SCOPES, Access, Form, Format, Missing, Preset
from srsql.engine.store.frames import Kind
from srsql.engine.workers.carriers import Carrier

if TYPE_CHECKING:
    from pandas import DataFrame

    from srsql.engine.artifact.publish import Published
    from srsql.engine.audit.attack import Attack, Besides
    from srsql.engine.audit.audit import Audit
    from srsql.engine.audit.imports.import_release import ImportedRelease
    from srsql.engine.catalog.releases import Stale
    from srsql.engine.grouping.persons import Duplicates
    from srsql.engine.ingest import IngestedPeriod
    from srsql.engine.measures import MeasureRow
    from srsql.engine.query.answer import Answer
    from srsql.engine.query.coverage import Coverage, Spellings
    from srsql.engine.release.ids import LookedUp
    from srsql.engine.release.request import Range, Released
    from srsql.engine.release.series import Status
    from srsql.engine.release.series_commands import SeriesInfo
    from srsql.engine.report.report import Report
    from srsql.engine.risk.group_questions import GroupAnswer
    from srsql.engine.risk.joined_series import SeriesAudit
    from srsql.engine.risk.term_counts import CombinationShare, TermCount
    from srsql.engine.signals.counted import Exported
    from srsql.engine.signals.interactions import Interaction
    from srsql.engine.signals.likelihood import LikelihoodTest
    from srsql.engine.signals.results import Signals
    from srsql.engine.signals.rules import Counting, Rule
    from srsql.engine.signals.trends import Trend
    from srsql.engine.steward.backup import Backup
    from srsql.engine.steward.correct import Correction
    from srsql.engine.steward.explain import Explained
    from srsql.engine.steward.forget import Receipt
    from srsql.engine.store.frames import Rows
    from srsql.schemas import Dataset

Progress = Callable[[str], None] | None
Name = str | Path | None
Word = str | None
Number = str | float | Fraction | None


class Engine:
    """The engine on one warehouse.

    Args:
        target: path of a DuckDB file, or an open connection (used, never closed).
        dataset: dataset for every call that names none; default: the only one ingested, else
            ``faers``.
        read_only: open the file for reading only.
        threads: DuckDB worker threads.
        memory_limit: what the process may take, such as ``"8GB"``, of which DuckDB gets a part.
        wait: seconds to wait for another process that has the file open; it is refused at once
            (``BusyError``) unless some are given.
        progress: told once which process is waited for.
    """

    @api.reads(errors.WarehouseError)
    def __init__(
        self, target: str | Path | duckdb.DuckDBPyConnection, *, dataset: Name = None,
        read_only: bool = False, threads: int | None = None, memory_limit: Word = None,
        wait: float = 0, progress: Progress = None,
    ) -> None:  # fmt: skip
        from srsql.engine.store.database_file import Wait
        from srsql.engine.store.warehouse import Warehouse

        self.warehouse = Warehouse(target, read_only=read_only, threads=threads,
                memory_limit=memory_limit, wait=Wait(wait, progress))  # fmt: skip
        self._dataset = dataset
        try:
            self.dataset()
        except errors.DatasetError:
            if dataset is not None:  # without one, whoever needs it says so
                self.warehouse.close(failed=True)
                raise

    def __enter__(self) -> Self:
        """The engine itself; the warehouse closes when the block ends."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the warehouse if it is ours."""
        self.warehouse.close(failed=kind is not None)

    @api.reads(errors.WarehouseError)
    def close(self) -> None:
        """Close the warehouse if it is ours."""
        self.warehouse.close()

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection, for SQL of your own."""
        return self.warehouse.con

    @api.reads(errors.DatasetError)
    def dataset(self, name: Name = None) -> Dataset:
        """The schema of that name or file; by default the only dataset of the warehouse."""
        return api.dataset_named(self.warehouse, name or self._dataset)

    @api.reads(errors.WarehouseError)
    def status(self, *, runs: bool = False) -> Status:
        """What the warehouse holds; see ``srsql status``. ``runs``: all of them, not the last."""
        from srsql.engine.release.series import status

        with self.warehouse.guarded():
            return status(self.warehouse, every_run=runs)

    @api.reads(errors.WarehouseError)
    def recorded(
        self, command: str, parameters: Mapping[str, Any] | None = None
    ) -> AbstractContextManager[int]:
        """A ``with`` block as a row of the run table: begun, ended, exit code; see ``status``.

        Commands of the shell do so themselves. ``parameters`` are kept as they are given: leave
        ids of cases out.
        """
        from srsql.engine.store.runs import recorded

        return recorded(self.warehouse, command, parameters or {})

    @api.reads(errors.QueryError)
    def sql(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query of your own."""

        return self.warehouse.rows(query, parameters)

    @overload
    def frame(self, query: str, parameters: Sequence[Any] = ()) -> DataFrame: ...
    @overload
    def frame(self, query: str, parameters: Sequence[Any] = (), *, kind: Kind) -> Any: ...
    @api.reads(errors.FrameError)
    def frame(self, query: str, parameters: Sequence[Any] = (), *, kind: Kind = "pandas") -> Any:
        """The result of a query of your own as a pandas, Arrow or Polars table.

        Types are the query's, whatever its rows: integers with NULL stay integers, decimals exact.
        """
        from srsql.engine.store.frames import shaped

        return shaped(self.con.sql(query, params=list(parameters) or None).to_arrow_table(), kind)

    @api.reads(errors.IngestError)
    def ingest(
        self, sources: Sequence[str | Path] = (), *, dataset: Name = None, period: Word = None,
        replace: bool = False, max_reject_rate: float = 0.01, max_unread: float = 0.05,
        allow_incomplete: bool = False, if_needed: bool = False, max_unpacked: Word = None,
        lake: Name = None, progress: Progress = None,
    ) -> Rows[IngestedPeriod]:  # fmt: skip
        """Load files, or tables of the connection, of one or more periods; see ``srsql ingest``."""
        from srsql.engine.ingest import IngestedPeriod, IngestOptions, ingest
        from srsql.engine.store.frames import Rows

        chosen = dataset or self._dataset or api.FAERS
        schema, files = api.dataset_at(chosen), [Path(source) for source in sources]
        with self.warehouse.guarded():
            options = IngestOptions(period, replace, max_reject_rate, if_needed, max_unpacked,
                max_unread, allow_incomplete, None if lake is None else Path(lake))  # fmt: skip
            return Rows(ingest(self.warehouse, files, schema, options, origin=str(chosen),
                               progress=progress), IngestedPeriod)  # fmt: skip

    @api.reads(errors.ReleaseError)
    def release(
        self, quarter: str, *, dataset: Name = None, carrier: Carrier | None = None,
        progress: Progress = None, **options: Any,
    ) -> Released:  # fmt: skip
        """Anonymize one quarter into views; options are those of ``srsql release --help``.
        ``carrier``: who carries its ``parts``, such as ``SparkCarrier(session)``."""
        from srsql.engine.release.memory import series_request
        from srsql.engine.release.release import release
        from srsql.engine.release.stages.carrying import carried

        with self.warehouse.guarded():
            schema = self._of(quarter, dataset)
            request = series_request(self.warehouse, schema, quarter, options)
            with carried(self.warehouse, schema, request, carrier) as asked:
                return release(self.warehouse, schema, asked, progress)

    @api.reads(errors.ReleaseError)
    def release_range(
        self, quarters: str, *, sources: Sequence[str | Path] = (), dataset: Name = None,
        carrier: Carrier | None = None, progress: Progress = None, **options: Any,
    ) -> Range:  # fmt: skip
        """Release the quarters ``A:B`` that are not out yet; options as for :meth:`release`. What
        ``sources`` have of them is taken in, each while the one before is released."""
        from srsql.engine.ingest import intake
        from srsql.engine.release.memory import series_request
        from srsql.engine.release.release_range import release_range
        from srsql.engine.release.request import range_ends
        from srsql.engine.release.stages.carrying import carried

        with self.warehouse.guarded():
            ends, name = range_ends(quarters), dataset or self._dataset
            schema = self._of(ends[0], dataset)
            request = series_request(self.warehouse, schema, quarters, options)
            with (carried(self.warehouse, schema, request, carrier) as asked,
                  intake(self.warehouse, sources, schema, name, ends) as taking):  # fmt: skip
                return release_range(self.warehouse, schema, asked, progress, taking)

    @api.reads(errors.ReleaseError)
    def series(self, name: Word = None, *, dataset: Name = None) -> Rows[SeriesInfo]:
        """What each series, or one, was made with; see ``srsql series show``."""
        from srsql.engine.release.series_commands import SeriesInfo, every_series, find_info
        from srsql.engine.store.frames import Rows

        with self.warehouse.guarded():
            if name is None:
                return Rows(every_series(self.warehouse), SeriesInfo)
            return Rows([find_info(self.warehouse, self.dataset(dataset), name)], SeriesInfo)

    @api.reads(errors.ReleaseError)
    def create_series(
        self, name: str, *, if_needed: bool = False, dataset: Name = None, **options: Any
    ) -> SeriesInfo:
        """Make a series and choose its parameters and ids; see ``srsql series create``."""
        from srsql.engine.release.series_commands import create_series

        with self.warehouse.guarded():
            schema = self.dataset(dataset)
            return create_series(self.warehouse, schema, name, options, if_needed=if_needed)

    @api.reads(errors.ReleaseError)
    def set_series(
        self, name: str, *, unset: Sequence[str] = (), weaker: bool = False, dataset: Name = None,
        **options: Any,
    ) -> SeriesInfo:  # fmt: skip
        """Change the parameters of a series from now on; see ``srsql series set``."""
        from srsql.engine.release.series_commands import set_series

        with self.warehouse.guarded():
            schema = self.dataset(dataset)
            return set_series(self.warehouse, schema, name, options, unset, weaker=weaker)

    @api.reads(errors.ReleaseError)
    def confirm(
        self, quarter: str, *, max_linkable: Number = None, allow_linkable: bool = False,
        weaker: bool = False, change: bool = False, date: Word = None, if_needed: bool = False,
        dataset: Name = None, series: str = MAIN,
    ) -> Released:  # fmt: skip
        """Expose a draft; see ``srsql release --confirm``."""
        from srsql.engine.steward.draft import confirm

        yes = api.consent(max_linkable, allow_linkable, weaker=weaker, change=change)
        with self.warehouse.guarded():
            visible = self._visible(series, quarter, dataset)
            return confirm(self.warehouse, visible, quarter, series, yes, date, if_needed=if_needed)

    @api.reads(errors.ReleaseError)
    def correct(
        self, quarter: str, *, keep_remainder: bool = False, dry_run: bool = False,
        if_needed: bool = False, date: Word = None, dataset: Name = None, series: str = MAIN,
        progress: Progress = None,
    ) -> Correction:  # fmt: skip
        """Take the groups of cases that have left out of a released quarter; see ``srsql
        correct``."""
        from srsql.engine.steward.correct import CorrectionRequest, correct

        with self.warehouse.guarded():
            visible = self._visible(series, quarter, dataset)
            request = CorrectionRequest(keep_remainder, dry_run, if_needed, date)
            return correct(self.warehouse, visible, quarter, series, request, progress)

    @api.reads(errors.DuplicatesError)
    def duplicates(
        self, *, event_date: Word = None, country: Word = None, seed: int = 1,
        dataset: Name = None, progress: Progress = None,
    ) -> Duplicates:  # fmt: skip
        """Suspected duplicates among all cases, by record linkage; see ``srsql duplicates``."""
        from srsql.engine.store import doors

        columns = {"event_date": event_date, "country": country}
        given = {role: name for role, name in columns.items() if name is not None}
        with self.warehouse.guarded():
            schema, find = self._of(None, dataset), doors.opened("persons")
            found: Duplicates = find(self.warehouse, schema, given, seed, progress)
            return found

    @api.reads(errors.LookUpError)
    def lookup(
        self, ids: Sequence[str], *, case: bool = False, quarter: Word = None, series: str = MAIN,
        dataset: Name = None,
    ) -> LookedUp:  # fmt: skip
        """The cases behind the pseudonyms of a series, or back: for the steward alone."""
        from srsql.engine.release.ids import look_up

        with self.warehouse.guarded():
            return look_up(self.warehouse, self._of(quarter, dataset), series, ids, by_case=case,
                           quarter=quarter)  # fmt: skip

    @api.reads(errors.LookUpError)
    def explain(
        self, quarter: str, case: str, *, series: str = MAIN, dataset: Name = None
    ) -> Explained:
        """Why a case has its region and group, or why it is withheld: for the steward alone."""
        from srsql.engine.steward.explain import explain

        with self.warehouse.guarded():
            return explain(self.warehouse, self._of(quarter, dataset), series, quarter, case)

    @api.reads(errors.ForgetError)
    def forget(
        self, cases: Sequence[str], *, reason: Word = None, dry_run: bool = False,
        dataset: Name = None,
    ) -> Receipt:  # fmt: skip
        """Erase what the warehouse has of cases; see ``srsql forget``.

        The file is rebuilt, so that nothing is left in it; one of a connection that is not ours
        cannot be, which the receipt says.
        """
        from srsql.engine.steward.forget import complete, forget

        with self.warehouse.guarded():
            schema = self.dataset(dataset)
            receipt = forget(self.warehouse, schema, cases, reason or "", dry_run=dry_run)
        return complete(self.warehouse, schema, cases, receipt)

    @api.reads(errors.WarehouseError)
    def rebuild(self) -> None:
        """Erase what corrections left of forgotten cases, then write the file anew without what
        was deleted; see ``srsql forget --rebuild``."""
        from srsql.engine.catalog.datasets import dataset_names
        from srsql.engine.steward.backup import rebuild
        from srsql.engine.steward.forget import sweep

        with self.warehouse.guarded():
            for name in dataset_names(self.warehouse):
                sweep(self.warehouse, self.dataset(name))
        rebuild(self.warehouse)

    @api.reads(errors.WarehouseError)
    def backup(self, to: str | Path) -> Backup:
        """A copy of the warehouse in a new file; see ``srsql backup``."""
        from srsql.engine.steward.backup import backup

        with self.warehouse.guarded():
            return backup(self.warehouse, Path(to))

    @api.reads(errors.WarehouseError)
    def stale(
        self, *, quarter: Word = None, dataset: Name = None, series: Word = None
    ) -> list[Stale]:
        """The releases that are out, and drafts, with cases that have left since, and why."""
        from srsql.engine.catalog.releases import staleness

        with self.warehouse.guarded():
            name = None if dataset is None else self.dataset(dataset).name
            return staleness(self.warehouse, name, series, quarter)

    @api.reads(errors.ReportError)
    def report(
        self, quarter: Word = None, *, public: bool = False, k: int | None = None,
        theta: Number = None, figures: Name = None, dataset: Name = None, series: str = MAIN,
    ) -> Report:  # fmt: skip
        """One HTML page on a quarter, or on the whole series; see ``srsql report``."""
        from srsql.engine.report.report import (  # brings matplotlib
            make_folder,
            report,
            write_figures,
        )
        from srsql.engine.shapes import need_cases

        given = (k, theta) != (None, None)
        bounds = api.audit_options(quarter, None, SCOPES, k, theta, None, None) if given else None
        if figures is not None:
            make_folder(Path(figures))
        with self.warehouse.guarded():
            schema = self._visible(series, quarter, dataset)
            need_cases(self.warehouse, schema, series, errors.ReportError)
            made = report(self.warehouse, schema, series, quarter, public=public, bounds=bounds)
        return write_figures(made, Path(figures)) if figures is not None else made

    @api.reads(errors.ImportReleaseError)
    def import_release(
        self, path: str | Path, quarter: str, *, dataset: Name = None, originals: Name = None,
        series: str = MAIN, group_column: Word = None, separator: str = ";",
        supersede: bool = False, max_unpacked: Word = None,
        columns: Mapping[str, str] | None = None,
    ) -> ImportedRelease:  # fmt: skip
        """Register somebody else's released table; see ``srsql import-release``.

        Args:
            columns: name -> column of the file, such as ``{"age": "Alter"}``; without a dataset
                the names make one.
        """
        from srsql.engine.audit.imports.import_release import ImportRequest, import_release
        from srsql.engine.audit.imports.mapped import mapped_dataset

        raw = Path(originals) if originals is not None else None
        asked = ImportRequest(Path(path), quarter, raw, series, group_column, separator, supersede,
                              max_unpacked, columns or {})  # fmt: skip
        given = dataset or self._dataset
        with self.warehouse.guarded():
            if columns and given is None:
                schema = mapped_dataset(self.warehouse, asked.path, columns)
            else:
                schema = self.dataset(dataset)
            named = str(given or ("--map" if columns else schema.name))
            return import_release(self.warehouse, schema, asked, named)

    @api.reads(errors.PublishError)
    def publish(
        self, quarter: str, to: str | Path, *, format: Format = "parquet",
        case_ids: Literal["as-released", "pseudonym"] = "as-released", key_file: Name = None,
        storage_version: Word = None, sign: Name = None, max_linkable: Number = None,
        allow_linkable: bool = False, stale: bool = False, if_needed: bool = False,
        csv_safe: bool = False, not_ids: Sequence[str] | None = None, publisher: Word = None,
        contact: Word = None, license: Word = None, cite_as: Word = None, landing_page: Word = None,
        access: Access | None = None, access_body: Word = None,
        legislation: Sequence[str] | None = None, thesaurus: Sequence[str] | None = None,
        dataset: Name = None, series: str = MAIN, progress: Progress = None,
    ) -> Published:  # fmt: skip
        """Write the artifact of a released quarter, or of ``A:B``; see ``srsql publish``."""
        from srsql.engine.artifact.publish import Publication, publish
        from srsql.engine.artifact.publish.manifest import read_stated

        keys = [Path(file) if file else None for file in (key_file, sign)]
        told = {"publisher": publisher, "contact": contact, "license": license, "cite_as": cite_as,
                "landing_page": landing_page, "access": access, "access_body": access_body,
                "legislation": tuple(legislation or ()), "thesaurus": thesaurus}  # fmt: skip
        yes, known = api.consent(max_linkable, allow_linkable), tuple(not_ids or ())
        with self.warehouse.guarded():
            schema = self._visible(series, quarter.partition(":")[0].strip(), dataset)
            asked = Publication(quarter, Path(to), series, format, case_ids, keys[0],
                                storage_version, yes, keys[1], stale, if_needed, csv_safe, known,
                                read_stated(schema, told))  # fmt: skip
            return publish(self.warehouse, schema, asked, progress)

    @api.reads(errors.SrsqlError)
    def metrics(
        self, quarter: str, *, medical: Name = None, public: bool = False, dataset: Name = None,
        series: str = MAIN,
    ) -> Rows[MeasureRow]:  # fmt: skip
        """Risk and loss of a released quarter; see ``srsql metrics``."""
        from srsql.engine.measures import MeasureRow
        from srsql.engine.shapes import series_dataset
        from srsql.engine.store.frames import Rows

        with self.warehouse.guarded():
            schema, release_id = self._released(quarter, dataset, series)
            if public:
                visible = series_dataset(self.warehouse, schema, series)
                found = api.measured_publicly(self.warehouse, visible, release_id)
            else:
                found = api.all_measures(
                    self.warehouse, schema, series, quarter, release_id, medical
                )
            return Rows(found, MeasureRow)

    @api.reads(errors.SrsqlError)
    def age_groups(
        self, quarter: str, value: Word = None, *, width: int = 5, dataset: Name = None,
        series: str = MAIN,
    ) -> Rows[GroupAnswer]:  # fmt: skip
        """Q1 to Q4 of Lee 2020 of a release of ipa, full-domain or dp-histogram, and the truth.

        Cases of one informative value by age group (None: of the value that most cases hold).
        """
        from srsql.engine.catalog.releases import over_lattice
        from srsql.engine.risk.group_questions import GroupAnswer, group_answers
        from srsql.engine.store.frames import Rows

        with self.warehouse.guarded():
            schema, found = self._released(quarter, dataset, series)
            over = over_lattice(self.warehouse, found)
            rows = group_answers(self.warehouse, schema, found, value, width) if over else []
            return Rows(rows, GroupAnswer)

    @api.reads(errors.SrsqlError)
    def term_combinations(
        self, quarter: str, *, dataset: Name = None, series: str = MAIN
    ) -> Rows[CombinationShare]:
        """How many original cases share a combination of the terms that a release tells apart from
        records or generalizes (Loukides 2014, Fig. 12): for the steward."""
        from srsql.engine.risk.metrics import term_combinations
        from srsql.engine.risk.term_counts import CombinationShare
        from srsql.engine.store.frames import Rows

        with self.warehouse.guarded():
            schema, release_id = self._released(quarter, dataset, series)
            found = term_combinations(self.warehouse, schema, release_id)
            return Rows(found, CombinationShare)

    @api.reads(errors.QueryError)
    def count_terms(
        self, quarter: str, sets: Sequence[Sequence[str]], *, dataset: Name = None,
        series: str = MAIN,
    ) -> Rows[TermCount]:  # fmt: skip
        """How many records hold all terms of each set, by the released tables of terms alone."""
        from srsql.engine.risk.metrics import count_term_sets
        from srsql.engine.risk.term_counts import TermCount
        from srsql.engine.store.frames import Rows

        with self.warehouse.guarded():
            _, release_id = self._released(quarter, dataset, series)
            found = count_term_sets(self.warehouse, release_id, [tuple(s) for s in sets])
            return Rows(found, TermCount)

    @api.reads(errors.AttackError)
    def attack(
        self, quarter: str, qids: Mapping[str, str | int], *, new: bool = False,
        stopped: bool = False, stayed: bool = False, left: bool = False, gone: bool = False,
        dataset: Name = None, series: str = MAIN,
    ) -> Attack:  # fmt: skip
        """Play one attacker against a release; see ``srsql attack``."""
        from srsql.engine.audit.attack import attack

        with self.warehouse.guarded():
            schema = self._visible(series, quarter, dataset)
            api.need_regions(self.warehouse, schema, series, errors.AttackError)
            known = {name: str(value) for name, value in qids.items()}
            told: dict[Besides, bool] = {"new": new, "stopped": stopped, "left": left,
                                         "stayed": stayed, "gone": gone}  # fmt: skip
            besides = {name for name, is_known in told.items() if is_known}
            return attack(self.warehouse, schema, quarter, known, besides, series=series)

    @overload
    def audit(self, *, all_series: Literal[True], **options: Any) -> SeriesAudit: ...
    @overload
    def audit(self, *, all_series: Literal[False] = False, **options: Any) -> Audit: ...
    @api.reads(errors.AuditError)  # type: ignore[misc]
    def audit(
        self, *, quarter: Word = None, attacks: Sequence[str] | None = None,
        scopes: Sequence[str] = SCOPES, k: int | None = None, theta: Number = None,
        alpha: Number = None, evidence: int | None = None, all_series: bool = False,
        kept: bool = False, dataset: Name = None, series: str = MAIN, progress: Progress = None,
    ) -> Audit | SeriesAudit:  # fmt: skip
        """Attack every case of a series, or of all together; see ``srsql audit``."""
        asked = api.audit_options(quarter, attacks, scopes, k, theta, alpha, evidence)
        with self.warehouse.guarded():
            schema = self._of(quarter, dataset)
            return api.audited(self.warehouse, schema, series, asked, all_series=all_series,
                               kept=kept, progress=progress)  # fmt: skip

    @api.reads(errors.SignalError)
    def signals(
        self, *, drug: Word = None, reaction: Word = None, rules: Name = None,
        every_pair: bool = False, min_age: Number = None, max_age: Number = None, sex: Word = None,
        roles: Sequence[str] | None = None, preset: Preset | None = None,
        strata: Sequence[str] | None = None, age_bands: Sequence[str] | None = None,
        without_drug: Word = None, without_reaction: Word = None,
        without_indications: bool = False, quarter: Word = None, released_only: bool = False,
        missing: Missing = "spread", allow_unknown: bool = False,
        level: Sequence[str] | None = None, dataset: Name = None, series: str = MAIN,
    ) -> Signals:  # fmt: skip
        """Signals of one pair, of a file of rules, or of every pair; see ``srsql signals``."""
        from srsql.engine.catalog.levels import names_dropped, read_levels
        from srsql.engine.shapes import need_cases
        from srsql.engine.signals.signals import signals

        who = (min_age, max_age, sex)
        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._visible(series, quarter, dataset)
            need_cases(self.warehouse, schema, series, errors.SignalError)
            pairs = api.signal_pairs(schema, drug, reaction, rules, who, every=every_pair)
            counting = api.signal_counting(
                schema, preset, roles, (strata, age_bands), missing=missing,
                levels=read_levels(schema, level or ()), allow_unknown=allow_unknown,
                without_drug=without_drug, without_reaction=without_reaction,
                without_indications=without_indications,
            )  # fmt: skip
            return signals(self.warehouse, schema, series, pairs, quarter=quarter,
                           released_only=released_only, counting=counting)  # fmt: skip

    @api.reads(errors.SignalError)
    def trend(
        self, drug: str, reaction: str, *, min_age: Number = None, max_age: Number = None,
        sex: Word = None, roles: Sequence[str] | None = None, preset: Preset | None = None,
        without_drug: Word = None, without_reaction: Word = None, without_indications: bool = False,
        quarter: Word = None, released_only: bool = False, missing: Missing = "spread",
        allow_unknown: bool = False, level: Sequence[str] | None = None,
        figure: str | Path | None = None, dataset: Name = None, series: str = MAIN,
    ) -> Trend:  # fmt: skip
        """A pair by period and of all periods up to each; see ``srsql signals --trend``."""
        from srsql.engine.catalog.levels import names_dropped
        from srsql.engine.signals.trends import trend

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema, rule, counting = self._one_pair(
                (series, quarter, dataset), (drug, reaction), (min_age, max_age, sex),
                (preset, roles, level), missing=missing, allow_unknown=allow_unknown,
                without_drug=without_drug, without_reaction=without_reaction,
                without_indications=without_indications,
            )  # fmt: skip
            found = trend(self.warehouse, schema, series, rule, quarter=quarter,
                          released_only=released_only, counting=counting)  # fmt: skip
        if figure is not None:
            from srsql.engine.report.signal_figures import write_trend  # brings matplotlib

            write_trend(found, Path(figure))
        return found

    @api.reads(errors.SignalError)
    def interaction(
        self, drug: str, with_drug: str, reaction: str, *, min_age: Number = None,
        max_age: Number = None, sex: Word = None, roles: Sequence[str] | None = None,
        preset: Preset | None = None, without_drug: Word = None, without_reaction: Word = None,
        without_indications: bool = False, quarter: Word = None, released_only: bool = False,
        missing: Missing = "spread", allow_unknown: bool = False,
        level: Sequence[str] | None = None, dataset: Name = None, series: str = MAIN,
    ) -> Interaction:  # fmt: skip
        """Two drugs together with a reaction; see ``srsql signals --with-drug``."""
        from srsql.engine.catalog.levels import names_dropped
        from srsql.engine.signals.interactions import interaction

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema, rule, counting = self._one_pair(
                (series, quarter, dataset), (drug, reaction), (min_age, max_age, sex),
                (preset, roles, level), missing=missing, allow_unknown=allow_unknown,
                without_drug=without_drug, without_reaction=without_reaction,
                without_indications=without_indications,
            )  # fmt: skip
            asked = (drug, api.named("drug", with_drug), reaction, rule.condition)
            return interaction(self.warehouse, schema, series, asked, quarter=quarter,
                               released_only=released_only, counting=counting)  # fmt: skip

    @api.reads(errors.SignalError)
    def likelihood(
        self, drug: str, *, draws: int = DRAWS, seed: int = 1, min_age: Number = None,
        max_age: Number = None, sex: Word = None, roles: Sequence[str] | None = None,
        preset: Preset | None = None, without_drug: Word = None, without_reaction: Word = None,
        without_indications: bool = False, quarter: Word = None, released_only: bool = False,
        allow_unknown: bool = False, level: Sequence[str] | None = None, dataset: Name = None,
        series: str = MAIN,
    ) -> LikelihoodTest:  # fmt: skip
        """A drug tested over all reactions; see ``srsql signals --likelihood``."""
        from srsql.engine.catalog.levels import names_dropped
        from srsql.engine.signals.likelihood import likelihood

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema, rule, counting = self._one_pair(
                (series, quarter, dataset), (drug, None), (min_age, max_age, sex),
                (preset, roles, level), allow_unknown=allow_unknown,
                without_drug=without_drug, without_reaction=without_reaction,
                without_indications=without_indications,
            )  # fmt: skip
            return likelihood(self.warehouse, schema, series, rule, (draws, seed),
                              asking=(quarter, released_only), counting=counting)  # fmt: skip

    @api.reads(errors.SignalError)
    def export(
        self, form: Form, to: str | Path, *, drug: Word = None, tree: Name = None,
        strata: Sequence[str] | None = None, age_bands: Sequence[str] | None = None,
        max_linkable: Number = None, allow_linkable: bool = False, min_age: Number = None,
        max_age: Number = None, sex: Word = None, roles: Sequence[str] | None = None,
        preset: Preset | None = None, without_drug: Word = None, without_reaction: Word = None,
        without_indications: bool = False, quarter: Word = None, allow_unknown: bool = False,
        level: Sequence[str] | None = None, dataset: Name = None, series: str = MAIN,
    ) -> Exported:  # fmt: skip
        """What is released, for another tool; see ``srsql signals --export``."""
        from srsql.engine.catalog.levels import names_dropped
        from srsql.engine.store import doors

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema, rule, counting = self._one_pair(
                (series, quarter, dataset), (drug, None), (min_age, max_age, sex),
                (preset, roles, level), parted=(strata, age_bands), allow_unknown=allow_unknown,
                without_drug=without_drug, without_reaction=without_reaction,
                without_indications=without_indications,
            )  # fmt: skip
            consent = api.consent(max_linkable, allow_linkable)
            where = (Path(to), None if tree is None else Path(tree))
            writing = doors.opened("exports")(form, *where, consent)
            made: Exported = writing.export(self.warehouse, schema, series, rule,
                                            quarter=quarter, counting=counting)  # fmt: skip
            return made

    @api.reads(errors.QueryError)
    def query(
        self, sql: str, *, quarter: Word = None, include_withheld: bool = False,
        allow_unknown: bool = False, level: Sequence[str] | None = None, dataset: Name = None,
        series: str = MAIN,
    ) -> Answer:  # fmt: skip
        """A question over the original tables, from released views; see ``srsql query``."""
        from srsql.engine.catalog.levels import names_dropped, read_levels
        from srsql.engine.query.answer import Asking, query

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._visible(series, quarter, dataset)
            asking = Asking(include_withheld, allow_unknown, read_levels(schema, level or ()))
            return query(self.warehouse, schema, series, sql, quarter=quarter, asking=asking)

    @api.reads(errors.LevelError)
    def drugs(
        self, level: str, *, unmatched: bool = False, quarter: Word = None,
        released_only: bool = False, dataset: Name = None, series: str = MAIN,
    ) -> Coverage:  # fmt: skip
        """What a dictionary calls the values of a column, by cases; see ``srsql drugs``."""
        from srsql.engine.catalog.levels import names_dropped, read_levels
        from srsql.engine.query.coverage import coverage
        from srsql.engine.shapes import need_cases

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._of(quarter, dataset)
            if released_only:
                schema = self._visible(series, quarter, dataset)
                need_cases(self.warehouse, schema, series, errors.LevelError)
            (asked,) = read_levels(schema, [level])
            return coverage(self.warehouse, schema, asked, series=series if released_only else None,
                            quarter=quarter, unmatched=unmatched)  # fmt: skip

    @api.reads(errors.QueryError)
    def spellings(
        self, *, column: Word = None, quarter: Word = None, released_only: bool = False,
        dataset: Name = None, series: str = MAIN,
    ) -> Spellings:  # fmt: skip
        """The terms that reports spell in several ways, by cases; see ``srsql spellings``."""
        from srsql.engine.catalog.levels import names_dropped
        from srsql.engine.query.coverage import spellings
        from srsql.engine.shapes import need_cases

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._of(quarter, dataset)
            if released_only:
                schema = self._visible(series, quarter, dataset)
                need_cases(self.warehouse, schema, series, errors.QueryError)
            return spellings(self.warehouse, schema, column, quarter=quarter,
                             series=series if released_only else None)  # fmt: skip

    @api.reads(errors.CompareError)
    def compare(
        self, quarters: str, grid: object, out: str | Path, *, dataset: Name = None, **options: Any
    ) -> Any:
        """A grid of models and parameters over quarters, measured; see ``srsql compare``.

        What it takes and returns is told by :class:`srsql.engine.extras.study.study.Study`.
        """
        from srsql.engine.store import doors

        studies = doors.opened("study")(self.warehouse, self._dataset)
        return studies.compare(quarters, grid, out, dataset=dataset, **options)

    @api.reads(errors.AdviseError)
    def advise(self, quarter: str, out: str | Path, *, dataset: Name = None, **options: Any) -> Any:
        """Which model, k, theta and epsilon for the next release; see ``srsql advise``.

        What it takes and returns is told by :class:`srsql.engine.extras.study.study.Study`.
        """
        from srsql.engine.store import doors

        studies = doors.opened("study")(self.warehouse, self._dataset)
        return studies.advise(quarter, out, dataset=dataset, **options)

    def _periods_of(self, dataset: Name = None) -> list[str]:
        """The labels of the periods that there are, of one dataset or of all."""
        with self.warehouse.guarded():
            return api.periods_of(self.warehouse, dataset or self._dataset)

    def _of(self, quarter: str | None, name: Name) -> Dataset:
        return api.dataset_of(self.warehouse, quarter, name or self._dataset)

    def _visible(self, series: str, quarter: str | None, name: Name) -> Dataset:
        from srsql.engine.catalog.waiting import with_waiting
        from srsql.engine.shapes import series_dataset

        shown = series_dataset(self.warehouse, self._of(quarter, name), series)
        return with_waiting(self.warehouse, shown, series)

    def _one_pair(
        self, where: tuple[str, Word, Name], pair: tuple[Word, Word],
        who: tuple[Number, Number, Word],
        how: tuple[Word, Sequence[str] | None, Sequence[str] | None], **given: Any,
    ) -> tuple[Dataset, Rule, Counting]:  # fmt: skip
        from srsql.engine.catalog.levels import read_levels
        from srsql.engine.shapes import need_cases

        series, quarter, name = where
        schema = self._visible(series, quarter, name)
        need_cases(self.warehouse, schema, series, errors.SignalError)
        preset, roles, level = how
        given["levels"] = read_levels(schema, level or ())
        counting = api.signal_counting(schema, preset, roles, **given)
        return schema, api.one_pair(schema, *pair, who), counting

    def _released(self, quarter: str, name: Name, series: str) -> tuple[Dataset, int]:
        from srsql.engine.catalog.releases import key_of, released_id
        from srsql.engine.catalog.waiting import with_waiting

        schema = self._of(quarter, name)
        found = released_id(self.warehouse, schema, quarter, series)
        schema = schema.keyed(key_of(self.warehouse, found))
        return with_waiting(self.warehouse, schema, series, found), found
