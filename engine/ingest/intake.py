"""The periods of sources, taken in one after the other, or while a caller works."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import Self

from srsql.engine.errors import IngestError
from srsql.engine.ingest import relations
from srsql.engine.ingest.account import IngestedPeriod
from srsql.engine.ingest.cumulative import DumpIngestion
from srsql.engine.ingest.period import IngestOptions, PeriodIngestion, explained
from srsql.engine.ingest.sources import PeriodSource, find_sources
from srsql.engine.lake.lake import lies_in_lake, need_place
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


def ingest(
    warehouse: Warehouse,
    sources: Sequence[str | Path],
    dataset: Dataset,
    options: IngestOptions | None = None,
    *,
    origin: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[IngestedPeriod]:
    """Bring the periods at ``sources`` into the raw tables, one transaction a period.

    Args:
        warehouse: where the raw tables are.
        sources: zips, directories, single files, or directories full of zips; none where the
            dataset is read from tables.
        dataset: how the files look, or which tables to read.
        options: how they are ingested.
        origin: where the dataset schema comes from, for the catalog; its name by default.
        progress: called with one short line a file: how many are taken in, of how many.

    Returns:
        What became of each period, in the order of the sources.

    Raises:
        IngestError: a source cannot be ingested; its period is as it was before.
        WarehouseError: the rows lie elsewhere than in the lake that is asked for.
        DatasetError: the dataset schema contradicts itself or the registered one.
    """
    options = options or IngestOptions()
    if not 0 <= options.max_reject_rate <= 1:
        raise IngestError(f"--max-reject-rate {options.max_reject_rate} is not between 0 and 1")
    if not 0 <= options.max_unread <= 1:
        raise IngestError(f"--max-unread {options.max_unread} is not between 0 and 1")
    need_place(warehouse, dataset, options.lake)
    done: list[IngestedPeriod] = []
    say = progress or (lambda _: None)
    openings = _sources(warehouse, sources, dataset, options)
    for opening in openings:

        def tell(text: str) -> None:
            many = f"{len(done)} of {len(openings)} periods; " if len(openings) > 1 else ""
            say(many + text)

        with ExitStack() as stack:
            with explained("the source"):
                source = stack.enter_context(opening)
            with explained(source.name):
                kind = DumpIngestion if options.cumulative else PeriodIngestion
                run = kind(warehouse, dataset, source, options, tell)
                done.append(run.ingest(origin or dataset.name))
    return done


class Intake:
    """The periods of some sources, in the order of their labels, each taken in while the caller
    works on those before it.

    That of the next one is committed when the caller asks for it (:meth:`need`), so that he sees
    what he would see if he had it taken in then; it ends with the block, and what was not asked for
    was never begun. Where no second connection can write beside (of the caller's own database, of
    a lake), each is taken in when it is asked for.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        sources: Sequence[PeriodSource],
        dataset: Dataset,
        origin: str,
        last: str,
    ) -> None:
        self.done: list[IngestedPeriod] = []
        """What became of each, in their order."""
        self._warehouse, self._dataset, self._origin = warehouse, dataset, origin
        self._last = last
        self._todo = sorted(sources, key=lambda source: source.quarter)
        self._stack = ExitStack()
        self._beside: Warehouse | None = None
        self._ahead: Future[IngestedPeriod] | None = None
        self._asked, self._dropped = threading.Event(), False

    def __enter__(self) -> Self:
        """The intake itself; nothing is taken in yet."""
        alone = self._warehouse.path is None or lies_in_lake(self._warehouse, self._dataset)
        if self._todo and not alone:
            self._beside = self._stack.enter_context(self._warehouse.another())
            self._pool = self._stack.enter_context(ThreadPoolExecutor(1))
        return self

    def __exit__(self, *_: object) -> None:
        """Give up what was begun and not asked for."""
        if self._ahead is not None and self._beside is not None:
            self._dropped = True
            self._asked.set()
            while not self._ahead.done():  # between two statements there is nothing to interrupt
                self._beside.con.interrupt()
                wait([self._ahead], timeout=0.1)
        self._stack.close()

    @property
    def periods(self) -> list[str]:
        """Labels of the periods that are still to be asked for."""
        return [source.quarter for source in self._todo]

    def need(self, last: str, beyond: int = 0) -> None:
        """Have every period up to ``last`` in the warehouse, and so many after it; begin the next.

        Raises:
            IngestError: one of them cannot be ingested; those before it are there.
        """
        due = sum(source.quarter <= last for source in self._todo) + beyond
        for source in self._todo[:due]:
            self.done.append(self._taken(source))
            self._todo.remove(source)
            self._warehouse.shorten_log()  # DuckDB does not where two connections write
        wanted = self._todo and (beyond or self._todo[0].quarter <= self._last)
        if wanted and self._beside is not None and self._ahead is None:
            self._asked.clear()
            self._ahead = self._pool.submit(self._take_ahead, self._beside, self._todo[0])

    def _taken(self, source: PeriodSource) -> IngestedPeriod:
        done = None
        if self._ahead is not None:
            self._asked.set()
            with suppress(Exception):  # it comes again where this is its turn
                done = self._ahead.result()
            self._ahead = None
        return done or self._take(self._warehouse, source)

    def _take_ahead(self, beside: Warehouse, source: PeriodSource) -> IngestedPeriod:
        beside.before_commit = self._wait
        with beside.guarded():
            return self._take(beside, source)

    def _take(self, warehouse: Warehouse, source: PeriodSource) -> IngestedPeriod:
        with explained(source.name):
            run = PeriodIngestion(warehouse, self._dataset, source, IngestOptions(), self._heed)
            return run.ingest(self._origin)

    def _wait(self) -> None:
        self._asked.wait()
        self._heed()

    def _heed(self, _: str = "") -> None:
        if self._dropped:
            raise CancelledError


@contextmanager
def intake(
    warehouse: Warehouse,
    paths: Sequence[str | Path],
    dataset: Dataset,
    origin: str | Path | None,
    ends: tuple[str, str],
) -> Iterator[Intake]:
    """The intake of the periods at ``paths`` from one to another.

    Args:
        warehouse: where the raw tables are.
        paths: as of ``ingest``; none: nothing is taken in.
        dataset: how the files look.
        origin: where the dataset schema comes from; its name by default.
        ends: the first period that is needed, and the last; of those after it the next is there
            for whoever needs it.

    Raises:
        IngestError: a source cannot be read, or none is of these periods.
    """
    found = _sources_within(warehouse, paths, dataset, ends) if paths else []
    with Intake(warehouse, found, dataset, str(origin or dataset.name), ends[1]) as taking:
        yield taking


def _sources_within(
    warehouse: Warehouse, paths: Sequence[str | Path], dataset: Dataset, ends: tuple[str, str]
) -> list[PeriodSource]:
    """The sources of the periods from one to another, and of the next one after these."""
    first, last = ends
    if dataset.source.reader == "table":
        raise IngestError(f"dataset {dataset.name!r} is read from tables: name no file")
    need_place(warehouse, dataset, None)
    with explained("the source"):
        found = find_sources(paths, dataset, None)
    held = sorted(source.quarter for source in found)
    after = [label for label in held if label > last][:1]
    within = [source for source in found if first <= source.quarter <= max([last, *after])]
    if not any(source.quarter <= last for source in within):
        raise IngestError(
            f"no source of a period from {first} to {last}: what was given is of {', '.join(held)}"
        )
    return within


def _sources(
    warehouse: Warehouse, sources: Sequence[str | Path], dataset: Dataset, options: IngestOptions
) -> list[AbstractContextManager[PeriodSource]]:
    """What to load, period by period; tables are copied only while their period is loaded."""
    with explained("the source"):
        if dataset.source.reader != "table":
            if not sources:
                raise IngestError(f"dataset {dataset.name!r} is read from files: name them")
            named = not (options.cumulative and dataset.source.row_period)
            found = find_sources(
                sources, dataset, options.period, options.max_unpacked, named=named
            )
            return [nullcontext(source) for source in found]
        if sources:
            raise IngestError(
                f"dataset {dataset.name!r} is read from tables, not from {sources[0]}: name no file"
            )
        labels = relations.find_periods(warehouse, dataset, options.period)
        return [relations.period_source(warehouse, dataset, label) for label in labels]
