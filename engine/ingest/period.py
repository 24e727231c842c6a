"""The ingestion of one period: all its files, in one transaction.

The life of one: find (``sources``, ``relations``), refuse or replace, read (``records``), judge
(``rejects``), load (``raw_tables``, ``units``), count (``account``), commit.
"""

from __future__ import annotations

import dataclasses
import errno
import lzma
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import (
    closing,
    contextmanager,
)
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import duckdb

from srsql.engine.catalog.datasets import register_dataset, with_raw_key
from srsql.engine.catalog.layout import raw_table
from srsql.engine.catalog.readers import show_reports
from srsql.engine.catalog.series import misplaced
from srsql.engine.errors import IngestError, one_line
from srsql.engine.ingest import account, known_cases, rejects
from srsql.engine.ingest.account import IngestedFile, IngestedPeriod, Status
from srsql.engine.ingest.cells import spreads
from srsql.engine.ingest.completeness import RequiredTable, count_required, need_complete
from srsql.engine.ingest.completeness import warnings as warnings_of
from srsql.engine.ingest.derive import make_derived
from srsql.engine.ingest.encodings import OddLines, header_advice, need_fitting
from srsql.engine.ingest.headers import column_places
from srsql.engine.ingest.raw_tables import (
    CODE,
    REJECTED,
    Place,
    create_raw_tables,
    delete_period,
    fill_codes,
    load_statement,
)
from srsql.engine.ingest.records import (
    CONTROLS,
    RECORD,
    ExtractedFile,
    RecordTable,
    drop_records,
    drop_temporary,
    extract_binary,
    extract_text,
    line_parameters,
    read_records,
    report_ids,
    workspace,
)
from srsql.engine.ingest.rejects import FileKey
from srsql.engine.ingest.relations import PERIOD_TEXT
from srsql.engine.ingest.row_periods import (
    REPORT_LABEL,
    count_unknown,
    keep_period,
    need_known,
    reject_unknown,
)
from srsql.engine.ingest.sources import PeriodSource, RelationRows
from srsql.engine.ingest.understood import ColumnCount, FileColumns
from srsql.engine.lake.lake import Change, changing
from srsql.engine.lake.lake_rows import incoming_table
from srsql.engine.store.statements import SPACES, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Table
from srsql.version import __version__


@dataclass(frozen=True)
class IngestOptions:
    """How sources are ingested."""

    period: str | None = None
    """The period's label where no file name has it; of tables, the one to load (None: every period
    that they have)."""
    replace: bool = False
    """Whether a different source is put in the place of one that is loaded."""
    max_reject_rate: float = 0.01
    """The largest share of records that may be rejected, 0 to 1."""
    if_needed: bool = False
    """What is loaded from the same source has to be declared as the dataset is now."""
    max_unpacked: str | None = None
    """What the files of a zip, or the texts of a Parquet file, may take, such as ``20GB``; None:
    see ``most_unpacked``."""
    max_unread: float = 0.05
    """The largest share of the values of a quasi-identifier or an item column that may not be
    understood, 0 to 1; blank ones do not count."""
    allow_incomplete: bool = False
    """Reports may lack rows in tables in which each report must have one."""
    cumulative: bool = False
    """The source has everything anew, and is compared with what is loaded."""
    max_vanished: float = 0.01
    """The largest share of the known reports of its periods that a cumulative source may lack, 0 to
    1."""
    lake: Path | None = None
    """The folder of the lake in which the raw rows are to lie, where the dataset is first ingested;
    None: where they lie, else in the file."""


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn what storage and archives raise into one line."""
    try:
        yield
    except duckdb.Error as error:
        raise IngestError(
            f"{name} could not be loaded: {one_line(error)}; nothing was changed"
        ) from None
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError):
        raise IngestError(f"{name} is damaged or cut off: download it again") from None
    except OSError as error:
        if error.errno in (None, errno.EINVAL):  # of bzip2, or of a place outside the file
            raise IngestError(f"{name} is damaged or cut off: download it again") from None
        raise IngestError(
            f"{name}: {error.strerror or one_line(error)}; nothing was changed"
        ) from None
    except RuntimeError as error:  # encrypted, or packed by a method Python cannot unpack
        raise IngestError(f"{name} cannot be unpacked: {one_line(error)}") from None


@contextmanager
def in_file_order(warehouse: Warehouse) -> Iterator[None]:
    """Line numbers need insertion order, which the owner of a connection may have turned off."""
    if warehouse.value("SELECT current_setting('preserve_insertion_order')"):
        yield
        return
    warehouse.run("SET preserve_insertion_order = true")
    try:
        yield
    finally:
        warehouse.run("SET preserve_insertion_order = false")


def need_no_dump(warehouse: Warehouse, dataset: Dataset, source: PeriodSource) -> None:
    """Refuse a period of a cumulative source, whose rows no file alone has.

    Raises:
        IngestError: a dump brought something of the period.
    """
    asked = {"dataset": dataset.name, "quarter": source.quarter}
    if warehouse.value(query("ingest/cumulative", "has_dump"), asked):
        raise IngestError(
            f"{source.quarter} of {dataset.name} is loaded from dumps of a cumulative source: "
            f"ingest {source.name} with --cumulative"
        )


class _Loaded(NamedTuple):
    """What became of the records of one file."""

    records: int
    loaded: int
    columns: tuple[ColumnCount, ...] = ()
    """What was understood of its columns."""
    cleaned: Mapping[str, int] = MappingProxyType({})
    """Column -> values that lost control characters or line ends."""
    fallbacks: Mapping[str, int] = MappingProxyType({})
    """Column -> values that were blank and taken from another column."""
    other_periods: int = 0
    unknown_period: int = 0


@dataclass
class PeriodIngestion:
    """The ingestion of one period of one source."""

    warehouse: Warehouse
    dataset: Dataset
    source: PeriodSource
    options: IngestOptions
    progress: Callable[[str], None]
    ingestion: int = 0
    forgotten: known_cases.Pads | None = None
    """What recognizes forgotten cases; None: there are none."""
    place: Place = raw_table
    """Where the rows are loaded into."""

    def ingest(self, origin: str) -> IngestedPeriod:
        """Take in every file of the period, in one transaction, or change nothing."""
        loaded = self._loaded()
        if loaded is not None:
            need_no_dump(self.warehouse, self.dataset, self.source)
            self.ingestion, sha256, name = loaded
            if sha256 == self.source.sha256:
                if self.options.if_needed:  # the same files under another schema are not the same
                    with self.warehouse.transaction():
                        register_dataset(self.warehouse, self.dataset, origin)
                return self._result("unchanged")
            if not self.options.replace:
                raise IngestError(
                    f"{self.source.quarter} of {self.dataset.name} is loaded from another file "
                    f"({name}): ingest with --replace to put {self.source.name} in its place"
                )
        with (
            workspace(self.warehouse) as folder,
            closing(self._files(folder)) as files_in_turn,
            in_file_order(self.warehouse),
            changing(self.warehouse, self.dataset, self.options.lake) as change,
            self.warehouse.transaction(),
        ):
            register_dataset(self.warehouse, self.dataset, origin)
            self.dataset = with_raw_key(self.warehouse, self.dataset)
            wrong = misplaced(self.warehouse, self.dataset.name, self.source.quarter)
            if wrong:
                raise IngestError(wrong)
            self.place = raw_table if change is None else incoming_table
            create_raw_tables(self.warehouse, self.dataset, self.place)
            if loaded is not None:
                self._take_out(self.ingestion, change)
            self._open_ingestion()
            self.forgotten = known_cases.open_forgotten(self.warehouse, self.dataset)
            fill_codes(self.warehouse, self.dataset)
            files = [self._file(n, next(files_in_turn)) for n in range(len(self.source.members))]
            account.check_rates(self.warehouse, self.ingestion, files, self.options.max_reject_rate)
            files = self._with_derived(files)
            required, warnings = self._completeness(files)
            if change is not None:
                change.put(self.source.quarter)
            show_reports(self.warehouse)
            files = [self._with_orphans(file) for file in files]
            account.record(self.warehouse, self.ingestion, files)
            account.record_required(self.warehouse, self.ingestion, required)
            drop_temporary(self.warehouse, CODE, REPORT_LABEL)
            known_cases.close_forgotten(self.warehouse)
            if loaded is not None:
                known_cases.record_replaced(
                    self.warehouse, self.dataset, self.source.quarter, self.ingestion
                )
        return self._result("loaded" if loaded is None else "replaced", warnings)

    def _result(self, status: Status, warnings: Sequence[str] = ()) -> IngestedPeriod:
        return account.read_account(
            self.warehouse, self.ingestion, self.source.quarter, status, warnings
        )

    def _completeness(self, files: Sequence[IngestedFile]) -> tuple[list[RequiredTable], list[str]]:
        """Tables that lack rows of reports, and what is far from figures to compare with."""
        warehouse, dataset, quarter = self.warehouse, self.dataset, self.source.quarter
        required = need_complete(
            self.source.name,
            count_required(warehouse, dataset, quarter, self.place),
            allowed=self.options.allow_incomplete,
        )
        records = {file.table: file.loaded for file in files if file.table != account.WITHDRAWN}
        return required, warnings_of(warehouse, dataset, quarter, records)

    def _loaded(self) -> tuple[int, str, str] | None:
        """Ingestion, digest and name of the source that the period is loaded from."""
        rows = self.warehouse.rows(
            query("ingest/ingestion", "loaded"),
            {"dataset": self.dataset.name, "quarter": self.source.quarter},
        )
        return rows[0] if rows else None

    def _take_out(self, ingestion: int, change: Change | None) -> None:
        known_cases.keep_digests(self.warehouse, self.dataset, self.source.quarter)
        if change is not None:
            change.take_out(self.source.quarter)
        else:
            delete_period(self.warehouse, self.dataset, self.source.quarter)
        self.warehouse.run(query("ingest/ingestion", "replace"), {"ingestion": ingestion})
        # a withdrawal outlives the list that it stood on: srsql.deleted_case stays

    def _open_ingestion(self) -> None:
        self.ingestion = self.warehouse.value("SELECT nextval('srsql.ingestion_ids')")
        self.warehouse.run(
            query("ingest/ingestion", "open"),
            {
                "ingestion": self.ingestion,
                "dataset": self.dataset.name,
                "quarter": self.source.quarter,
                "source": self.source.name,
                "sha256": self.source.sha256,
                "software": __version__,
            },
        )

    def _files(self, folder: Path) -> Generator[ExtractedFile | RelationRows]:
        """The files in turn, ready to be read; the next is unpacked while one is taken in.

        An error comes when the turn of its file has come.
        """
        places = range(len(self.source.members))
        with ThreadPoolExecutor(1) as pool:
            ahead = None
            for place in places:
                ready = self._ready(place, folder) if ahead is None else ahead.result()
                if place + 1 in places:
                    ahead = pool.submit(self._ready, place + 1, folder)
                yield ready

    def _ready(self, place: int, folder: Path) -> ExtractedFile | RelationRows:
        member = self.source.members[place]
        if isinstance(member, RelationRows):
            return member
        if self.dataset.source.reader == "parquet" and member.table is not None:
            return extract_binary(member, folder / f"file{place}.parquet")
        target = folder / f"file{place}.txt"
        return extract_text(member, target, self.dataset.source.encoding)

    def _file(self, place: int, ready: ExtractedFile | RelationRows) -> IngestedFile:
        """Take the file at this place in, and say what became of its records."""
        member = self.source.members[place]
        key = FileKey(self.ingestion, self.source.quarter, member.name)
        text = ready.odd if isinstance(ready, ExtractedFile) and ready.lines else None
        if isinstance(ready, RelationRows):
            sha256, repaired = ready.sha256, 0
            width = len(ready.columns)
            rows = RecordTable(ready.store, ready.columns, width, ready.records, cleaned=True)
            loaded = self._table(ready.table, rows, key)
        else:
            sha256, repaired = ready.sha256, ready.repaired
            if text is not None:
                need_fitting(member.name, text, ready.lines, self.options.max_reject_rate)
            if member.table is None:
                loaded = _Loaded(*self._withdrawn_cases(ready, key))
            else:
                rows = read_records(
                    self.warehouse,
                    member.name,
                    ready,
                    self.dataset.source,
                    self.options.max_unpacked,
                    ids=report_ids(self.dataset, self.dataset.table(member.table)),
                )
                loaded = self._table(member.table, rows, key, text)
            ready.path.unlink()
        counts = rejects.count_rejects(self.warehouse, self.ingestion, member.name)
        file = IngestedFile(
            table=member.table or account.WITHDRAWN,
            file=member.name,
            records=loaded.records,
            loaded=loaded.loaded,
            rejected=sum(n for (kind, _), n in counts.items() if kind == "row"),
            values_rejected=sum(n for (kind, _), n in counts.items() if kind == "value"),
            repaired=repaired,
            cleaned=dict(loaded.cleaned),
            sha256=sha256,
            encoding=text.encoding if text is not None else "",
            odd_lines=len(text.numbers) if text is not None else 0,
            columns=loaded.columns,
            fallbacks=dict(loaded.fallbacks),
            other_periods=loaded.other_periods,
            unknown_period=loaded.unknown_period,
        )
        self.progress(
            f"{place + 1} of {len(self.source.members)} files; {self.source.quarter} "
            f"{member.name}: {file.records:,} records, {file.loaded:,} loaded, "
            f"{file.rejected:,} rejected"
        )
        return account.balanced(file)

    def _table(
        self, name: str, records: RecordTable, key: FileKey, text: OddLines | None = None
    ) -> _Loaded:
        """Load one table's records. ``text``: the lines that do not fit the encoding."""
        warehouse, dataset, declared = self.warehouse, self.dataset, self.dataset.table(name)
        places = column_places(key.file, dataset, declared, records, header_advice(text))
        rows, others, unknown, several = records.table, 0, 0, dataset.source.row_period is not None
        of_file = (warehouse, dataset, declared, places)
        if several:
            records, others = keep_period(*of_file, records, (key.file, self._kept_period()))
        rejects.judge(warehouse, dataset, declared, places, records)
        if several:
            reject_unknown(*of_file, records)
        if name == dataset.report_table:
            warehouse.run(rejects.repeats_statement(dataset, declared, places, rows))
        if self.forgotten is not None:
            known_cases.reject_forgotten(warehouse, dataset, declared, places, self.forgotten, rows)
        if spreads(dataset, declared):
            asked = (key.quarter, rows, self.place)
            warehouse.run(rejects.without_report_statement(dataset, declared, places, *asked))
        self._judged(declared, places)
        if declared.key:
            warehouse.run(query("ingest/rejects", "without_text"))
        if several:
            unknown = count_unknown(*of_file, records)
            need_known(key.file, unknown, records.count + others, self.options.max_reject_rate)
            drop_temporary(warehouse, PERIOD_TEXT)
        every = not warehouse.value(query("ingest/rejects", "any_record"))
        statement = load_statement(
            dataset, declared, places, key.quarter, rows, self.place, every=every
        )
        warehouse.run(statement)
        rejects.store_rejects(warehouse, dataset, declared, places, key, rows, self.place)
        loaded = account.count_loaded(warehouse, dataset, declared, key.quarter, rows, self.place)
        file = FileColumns(warehouse, dataset, declared, key, self.place, rows, text)
        columns = file.counts()
        file.need(columns, self.options.max_unread)
        cleaned = account.count_cleaned(warehouse, declared, places, records)
        taken = account.count_fallbacks(*of_file, records)
        drop_records(warehouse, rows)
        drop_temporary(warehouse, REJECTED)
        return _Loaded(records.count, loaded, tuple(columns), cleaned, taken, others, unknown)

    def _kept_period(self) -> str | None:
        """The period of which a file that holds several is read; None: every one."""
        return self.source.quarter

    def _judged(self, declared: Table, places: Mapping[str, int]) -> None:
        """Called when it is known which records of a file cannot be loaded."""

    def _withdrawn_cases(self, extracted: ExtractedFile, key: FileKey) -> tuple[int, int]:
        """Take in a list of withdrawn cases; how many lines it has, and how many are case ids."""
        self.warehouse.run_step(
            "ingest/withdrawn_cases",
            {
                **line_parameters(extracted),
                "ends": SPACES.removesuffix("]") + '$,;"]',
                "integer": self.dataset.id_type == "integer",
                "controls": CONTROLS,
            },
        )
        if self.forgotten is not None:
            known_cases.reject_forgotten(
                self.warehouse, self.dataset, None, {}, self.forgotten, RECORD
            )
        self.warehouse.run(
            query("ingest/account", "store_withdrawn"),
            {"dataset": self.dataset.name, "ingestion": key.ingestion},
        )
        rejects.store_records(self.warehouse, self.dataset, key)
        loaded = self.warehouse.value(query("ingest/account", "withdrawals"))
        drop_temporary(self.warehouse, RECORD, REJECTED)
        return extracted.lines, int(loaded)

    def _with_derived(self, files: list[IngestedFile]) -> list[IngestedFile]:
        """Make the derived columns; the files, with the values that are of no use for them."""
        if not self.dataset.derived:
            return files
        make_derived(self.warehouse, self.dataset, self.source.quarter, self.place)
        report = next(file for file in files if file.table == self.dataset.report_table)
        key = FileKey(self.ingestion, self.source.quarter, report.file)
        rejects.store_derived(self.warehouse, self.dataset, key, self.place)
        counts = rejects.count_rejects(self.warehouse, self.ingestion, report.file)
        values = sum(n for (kind, _), n in counts.items() if kind == "value")
        declared = self.dataset.table(report.table)
        made = FileColumns(self.warehouse, self.dataset, declared, key, self.place)
        columns = made.derived_counts()
        made.need(columns, self.options.max_unread)
        counted = dataclasses.replace(
            report, values_rejected=values, columns=(*report.columns, *columns)
        )
        return [counted if file is report else file for file in files]

    def _with_orphans(self, file: IngestedFile) -> IngestedFile:
        if file.table in (account.WITHDRAWN, self.dataset.report_table):
            return file
        declared = self.dataset.table(file.table)
        count = account.count_orphans(self.warehouse, self.dataset, declared, self.source.quarter)
        return dataclasses.replace(file, orphans=count)
