"""`Engine`: everything the command line does, for Python.

The calls stand in groups (``engine.release.make``). A keyword that a call does not have, or a value
of another kind, is an error of one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

import duckdb

from srsql.engine import errors
from srsql.engine.api.arguments import reads
from srsql.engine.api.context import FAERS, Context, dataset_at, warn_moved
from srsql.engine.api.options import Ingestion, Name, Word
from srsql.engine.store.frames import Kind

if TYPE_CHECKING:
    from pandas import DataFrame

    from srsql.engine.api.artifacts import ArtifactCalls
    from srsql.engine.api.audits import AuditCalls
    from srsql.engine.api.questions import QueryCalls
    from srsql.engine.api.releases import ReleaseCalls, SeriesCalls
    from srsql.engine.api.signals import SignalCalls
    from srsql.engine.api.steward import StewardCalls
    from srsql.engine.ingest import IngestedPeriod
    from srsql.engine.release.series import Status
    from srsql.engine.store.frames import Rows
    from srsql.schemas import Dataset

Progress = Callable[[str], None] | None
MOVED = {
    "age_groups": "query.age_groups",
    "attack": "audit.attack",
    "backup": "steward.backup",
    "confirm": "release.confirm",
    "correct": "release.correct",
    "count_terms": "query.count_terms",
    "create_series": "series.create",
    "drugs": "query.drugs",
    "duplicates": "steward.duplicates",
    "explain": "steward.explain",
    "export": "signals.export",
    "forget": "steward.forget",
    "import_release": "audit.import_release",
    "interaction": "signals.interaction",
    "likelihood": "signals.likelihood",
    "lookup": "steward.lookup",
    "metrics": "audit.metrics",
    "publish": "artifact.publish",
    "rebuild": "steward.rebuild",
    "release_range": "release.make_range",
    "report": "artifact.report",
    "set_series": "series.set",
    "spellings": "query.spellings",
    "stale": "release.stale",
    "term_combinations": "audit.term_combinations",
    "trend": "signals.trend",
}
"""Calls of version 0.3 -> where they are; the old names go on for this version."""


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

    >>> engine.ingest([source])[0].status
    'loaded'
    >>> engine.sql("SELECT count(*) FROM raw_faers.demo")
    [(60,)]
    """

    @reads(errors.WarehouseError)
    def __init__(
        self,
        target: str | Path | duckdb.DuckDBPyConnection,
        *,
        dataset: Name = None,
        read_only: bool = False,
        threads: int | None = None,
        memory_limit: Word = None,
        wait: float = 0,
        progress: Progress = None,
    ) -> None:
        from srsql.engine.store.database_file import Wait
        from srsql.engine.store.warehouse import Warehouse

        self.warehouse = Warehouse(
            target,
            read_only=read_only,
            threads=threads,
            memory_limit=memory_limit,
            wait=Wait(wait, progress),
        )
        self._context = Context(self.warehouse, dataset)
        if not read_only:
            self._keep_public_files()
        if dataset is None:  # the call that needs one says so
            return
        try:
            self.dataset()
        except errors.DatasetError:
            self.warehouse.close(failed=True)
            raise

    def _keep_public_files(self) -> None:
        """Finish what a command that was killed left to do, and follow every change."""
        from srsql.engine.store.statements import query

        if not self.warehouse.rows(query("warehouse/public_file", "files")):
            return
        from srsql.engine.steward.public_file import follow

        with self.warehouse.guarded():
            follow(self.warehouse)

    def __enter__(self) -> Self:
        """The engine itself; the warehouse closes when the block ends."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the warehouse if it is ours."""
        self.warehouse.close(failed=kind is not None)

    def __getattr__(self, name: str) -> Any:
        """A call by the name that it had in the version before."""
        if name not in MOVED:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        warn_moved(name, MOVED[name])
        group, _, call = MOVED[name].partition(".")
        return getattr(getattr(self, group), call)

    @cached_property
    def series(self) -> SeriesCalls:
        """What a series is made with."""
        from srsql.engine.api.releases import SeriesCalls

        return SeriesCalls(self._context)

    @cached_property
    def release(self) -> ReleaseCalls:
        """Quarters anonymized into views."""
        from srsql.engine.api.releases import ReleaseCalls

        return ReleaseCalls(self._context)

    @cached_property
    def audit(self) -> AuditCalls:
        """What attackers learn of a release, and what it lost."""
        from srsql.engine.api.audits import AuditCalls

        return AuditCalls(self._context)

    @cached_property
    def signals(self) -> SignalCalls:
        """Drugs and reactions that are reported together more often than expected."""
        from srsql.engine.api.signals import SignalCalls

        return SignalCalls(self._context)

    @cached_property
    def query(self) -> QueryCalls:
        """What is asked of released views."""
        from srsql.engine.api.questions import QueryCalls

        return QueryCalls(self._context)

    @cached_property
    def artifact(self) -> ArtifactCalls:
        """Folders and pages for others."""
        self._context.need_originals("artifacts and pages are")
        from srsql.engine.api.artifacts import ArtifactCalls

        return ArtifactCalls(self._context)

    @cached_property
    def steward(self) -> StewardCalls:
        """Single cases, suspected duplicates, copies of the warehouse."""
        self._context.need_originals("what the steward asks is")
        from srsql.engine.api.steward import StewardCalls

        return StewardCalls(self._context)

    @reads(errors.WarehouseError)
    def close(self) -> None:
        """Close the warehouse if it is ours."""
        self.warehouse.close()

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection, for SQL of your own."""
        return self.warehouse.handed_out()

    @reads(errors.DatasetError)
    def dataset(self, name: Name = None) -> Dataset:
        """The schema of that name or file; by default the only dataset of the warehouse."""
        return self._context.dataset(name)

    @reads(errors.WarehouseError)
    def status(self, *, runs: bool = False) -> Status:
        """What the warehouse holds; see ``srsql status``. ``runs``: all of them, not the last."""
        from srsql.engine.release.series import status

        with self.warehouse.guarded():
            return status(self.warehouse, every_run=runs)

    @reads(errors.WarehouseError)
    def recorded(
        self, command: str, parameters: Mapping[str, Any] | None = None
    ) -> AbstractContextManager[int]:
        """A ``with`` block as a row of the run table: begun, ended, exit code; see ``status``.

        Commands of the shell do so themselves. ``parameters`` are kept as they are given: leave
        ids of cases out.
        """
        from srsql.engine.store.runs import recorded

        return recorded(self.warehouse, command, parameters or {})

    @reads(errors.QueryError)
    def sql(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query of your own."""
        self.warehouse.handed_out(query)
        return self.warehouse.rows(query, parameters)

    @overload
    def frame(self, query: str, parameters: Sequence[Any] = ()) -> DataFrame: ...
    @overload
    def frame(self, query: str, parameters: Sequence[Any] = (), *, kind: Kind) -> Any: ...
    @reads(errors.FrameError)
    def frame(self, query: str, parameters: Sequence[Any] = (), *, kind: Kind = "pandas") -> Any:
        """The result of a query of your own as a pandas, Arrow or Polars table.

        Types are the query's, whatever its rows: integers with NULL stay integers, decimals exact.
        """
        from srsql.engine.store.frames import shaped

        con = self.warehouse.handed_out(query)
        return shaped(con.sql(query, params=list(parameters) or None).to_arrow_table(), kind)

    @reads(errors.IngestError)
    def ingest(
        self,
        sources: Sequence[str | Path] = (),
        ingestion: Ingestion = Ingestion(),
        *,
        dataset: Name = None,
        progress: Progress = None,
        **fields: Any,
    ) -> Rows[IngestedPeriod]:
        """Load files, or tables of the connection, of one or more periods; see ``srsql ingest``."""
        from srsql.engine.ingest import IngestedPeriod, IngestOptions, ingest
        from srsql.engine.store.frames import Rows

        chosen = dataset or self._context.usual or FAERS
        schema, files = dataset_at(chosen), [Path(source) for source in sources]
        given = vars(ingestion) | {"lake": None if ingestion.lake is None else Path(ingestion.lake)}
        with self.warehouse.guarded():
            loaded = ingest(
                self.warehouse,
                files,
                schema,
                IngestOptions(**given),
                origin=str(chosen),
                progress=progress,
            )
            return Rows(loaded, IngestedPeriod)

    @reads(errors.CompareError)
    def compare(
        self, quarters: str, grid: object, out: str | Path, *, dataset: Name = None, **options: Any
    ) -> Any:
        """A grid of models and parameters over quarters, measured; see ``srsql compare``.

        What it takes and returns is told by :class:`srsql.engine.extras.study.study.Study`.
        """
        from srsql.engine.store import doors

        self._context.need_originals("studies are")
        studies = doors.opened("study")(self.warehouse, self._context.usual)
        return studies.compare(quarters, grid, out, dataset=dataset, **options)

    @reads(errors.AdviseError)
    def advise(self, quarter: str, out: str | Path, *, dataset: Name = None, **options: Any) -> Any:
        """Which model, k, theta and epsilon for the next release; see ``srsql advise``.

        What it takes and returns is told by :class:`srsql.engine.extras.study.study.Study`.
        """
        from srsql.engine.store import doors

        self._context.need_originals("studies are")
        studies = doors.opened("study")(self.warehouse, self._context.usual)
        return studies.advise(quarter, out, dataset=dataset, **options)

    def _periods_of(self, dataset: Name = None) -> list[str]:
        """The labels of the periods that there are, of one dataset or of all."""
        return self._context.periods_of(dataset)
