"""The life of one ingestion: find, refuse or replace, stage, judge, load, count, commit."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from dataclasses import replace as changed
from pathlib import Path
from typing import Literal

import duckdb

from srsql.engine.errors import IngestError, one_line
from srsql.engine.ingest import account, relations, tables
from srsql.engine.ingest.account import Ingested, IngestedFile
from srsql.engine.ingest.extract import extract_binary, extract_text, workspace
from srsql.engine.ingest.records import Layout, stage, take_staged
from srsql.engine.ingest.sources import Member, PeriodSource, StagedRows, find_sources
from srsql.engine.ingest.typed import fill_codes
from srsql.engine.ingest.withdrawn import load_withdrawn
from srsql.engine.warehouse.catalog import register_dataset
from srsql.engine.warehouse.periods import misplaced
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas.model import Dataset
from srsql.version import __version__


def ingest(
    warehouse: Warehouse,
    sources: Sequence[str | Path],
    dataset: Dataset,
    *,
    period: str | None = None,
    replace: bool = False,
    max_reject_rate: float = 0.01,
    origin: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Ingested]:
    """Bring the periods at ``sources`` into the raw tables, one transaction a period.

    Args:
        warehouse: where to.
        sources: zips, directories, single files, or directories full of zips; none where the
            dataset is read from tables.
        dataset: how the files look, or which tables to read.
        period: the period's label where file names do not tell it; of tables, the one to load
            (default: every period that they have).
        replace: put a different source in the place of one that is loaded.
        max_reject_rate: largest share of records that may be rejected, 0 to 1.
        origin: where the dataset schema comes from, for the catalog; its name by default.
        progress: called with one short line a file.

    Raises:
        IngestError: a source cannot be ingested; its period is as it was before.
        DatasetError: the dataset schema contradicts itself or the registered one.
    """
    if not 0 <= max_reject_rate <= 1:
        raise IngestError(f"--max-reject-rate {max_reject_rate} is not between 0 and 1")
    done = []
    for one in _sources(warehouse, sources, dataset, period):
        with ExitStack() as opened:
            with explained("the source"):
                source = opened.enter_context(one)
            with explained(source.name):
                say = progress or (lambda _: None)
                run = _Run(warehouse, dataset, source, max_reject_rate, say)
                done.append(run.period(replace, origin or dataset.name))
    return done


def _sources(
    warehouse: Warehouse, sources: Sequence[str | Path], dataset: Dataset, period: str | None
) -> list[AbstractContextManager[PeriodSource]]:
    """What to load, period by period; tables are copied only while their period is loaded."""
    with explained("the source"):
        if dataset.source.reader != "table":
            if not sources:
                raise IngestError(f"dataset {dataset.name!r} is read from files: name them")
            return [nullcontext(source) for source in find_sources(sources, dataset, period)]
        if sources:
            raise IngestError(
                f"dataset {dataset.name!r} is read from tables, not from {sources[0]}: name no file"
            )
        labels = relations.periods(warehouse, dataset, period)
        return [relations.staged(warehouse, dataset, label) for label in labels]


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn what storage and archives raise into one line."""
    try:
        yield
    except duckdb.Error as error:
        raise IngestError(
            f"{name} could not be loaded: {one_line(error)}; nothing was changed"
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise IngestError(f"{name} is damaged or cut off: download it again") from None
    except OSError as error:
        raise IngestError(
            f"{name}: {error.strerror or one_line(error)}; nothing was changed"
        ) from None
    except RuntimeError as error:  # encrypted, or packed by a method Python cannot unpack
        raise IngestError(f"{name} cannot be unpacked: {one_line(error)}") from None


@contextmanager
def in_file_order(warehouse: Warehouse) -> Iterator[None]:
    """Line numbers need insertion order, which the owner of a connection may have turned off."""
    setting = "preserve_insertion_order"
    kept = warehouse.value(f"SELECT current_setting('{setting}')")
    if kept:
        yield
        return
    warehouse.run(f"SET {setting} = true")
    try:
        yield
    finally:
        warehouse.run(f"SET {setting} = false")


@dataclass
class _Run:
    """One period of one source."""

    warehouse: Warehouse
    dataset: Dataset
    source: PeriodSource
    max_reject_rate: float
    progress: Callable[[str], None]
    ingestion: int = 0

    def period(self, replace: bool, origin: str) -> Ingested:
        """The whole life of it, on one screen."""
        loaded = self._loaded()
        if loaded is not None:
            self.ingestion, sha256, name = loaded
            if sha256 == self.source.sha256:
                return self._result("unchanged")
            if not replace:
                raise IngestError(
                    f"{self.source.quarter} of {self.dataset.name} is loaded from another file "
                    f"({name}): give --replace to put {self.source.name} in its place"
                )
        with (
            workspace(self.warehouse) as folder,
            in_file_order(self.warehouse),
            self.warehouse.transaction(),
        ):
            register_dataset(self.warehouse, self.dataset, origin)
            wrong = misplaced(self.warehouse, self.dataset.name, self.source.quarter)
            if wrong:
                raise IngestError(wrong)
            tables.create_raw_tables(self.warehouse, self.dataset)
            if loaded is not None:
                self._take_out(self.ingestion)
            self._open_ingestion()
            fill_codes(self.warehouse, self.dataset)
            files = [self._file(member, folder) for member in self.source.members]
            account.check_rates(self.warehouse, self.ingestion, files, self.max_reject_rate)
            files = [self._with_orphans(file) for file in files]
            account.record(self.warehouse, self.ingestion, files)
            self.warehouse.run("DROP TABLE temp.main.srsql_code")
        return self._result("loaded" if loaded is None else "replaced")

    def _result(self, status: Literal["loaded", "unchanged", "replaced"]) -> Ingested:
        return account.recorded(self.warehouse, self.ingestion, self.source.quarter, status)

    def _loaded(self) -> tuple[int, str, str] | None:
        rows = self.warehouse.rows(
            "SELECT ingestion_id, sha256, source FROM srsql.ingestion "
            "WHERE dataset = ? AND quarter = ? AND NOT replaced",
            [self.dataset.name, self.source.quarter],
        )
        return rows[0] if rows else None

    def _take_out(self, ingestion: int) -> None:
        tables.delete_period(self.warehouse, self.dataset, self.source.quarter)
        self.warehouse.run(
            "UPDATE srsql.ingestion SET replaced = true WHERE ingestion_id = ?", [ingestion]
        )
        # withdrawals outlive the file that told of them: srsql.deleted_case stays

    def _open_ingestion(self) -> None:
        self.ingestion = self.warehouse.value("SELECT nextval('srsql.ingestion_ids')")
        self.warehouse.run(
            "INSERT INTO srsql.ingestion VALUES (?, ?, ?, ?, ?, ?, false)",
            [
                self.ingestion,
                self.dataset.name,
                self.source.quarter,
                self.source.name,
                self.source.sha256,
                __version__,
            ],
        )

    def _file(self, member: Member | StagedRows, folder: Path) -> IngestedFile:
        key = (self.ingestion, self.source.quarter, member.name)
        if isinstance(member, StagedRows):
            sha256, repaired = member.sha256, 0
            records, loaded = self._table(member.table, take_staged(self.warehouse, member), key)
        else:
            parquet = self.dataset.source.reader == "parquet" and member.table is not None
            target = folder / ("file.parquet" if parquet else "file.txt")
            extracted = (extract_binary if parquet else extract_text)(member, target)
            sha256, repaired = extracted.sha256, extracted.repaired
            if member.table is None:
                records, loaded = load_withdrawn(self.warehouse, self.dataset, extracted, key)
            else:
                layout = stage(self.warehouse, member.name, extracted, self.dataset)
                records, loaded = self._table(member.table, layout, key)
            target.unlink()
        counts = account.reasons(self.warehouse, self.ingestion, member.name)
        file = IngestedFile(
            table=member.table or "deleted",
            file=member.name,
            records=records,
            loaded=loaded,
            rejected=sum(n for (kind, _), n in counts.items() if kind == "row"),
            values_rejected=sum(n for (kind, _), n in counts.items() if kind == "value"),
            repaired=repaired,
            sha256=sha256,
        )
        self.progress(
            f"{self.source.quarter} {member.name}: {file.records:,} records, "
            f"{file.loaded:,} loaded, {file.rejected:,} rejected"
        )
        return account.balanced(file)

    def _table(self, name: str, layout: Layout, key: tuple[int, str, str]) -> tuple[int, int]:
        """Load one table's records; how many there are, and how many were loaded."""
        warehouse, dataset, declared = self.warehouse, self.dataset, self.dataset.table(name)
        place = tables.positions(key[2], dataset, declared, layout)
        tables.judge(warehouse, dataset, declared, place, layout)
        tables.load(warehouse, dataset, declared, place, self.source.quarter)
        tables.keep_rejects(warehouse, dataset, declared, place, key)
        loaded = account.loaded_records(warehouse, dataset, name, self.source.quarter)
        warehouse.run("DROP TABLE temp.main.srsql_judged")
        return layout.records, loaded

    def _with_orphans(self, file: IngestedFile) -> IngestedFile:
        if file.table in ("deleted", self.dataset.report_table):
            return file
        declared = self.dataset.table(file.table)
        count = account.orphans(self.warehouse, self.dataset, declared, self.source.quarter)
        return changed(file, orphans=count)
