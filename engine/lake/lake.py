"""The lake: raw rows lie as Parquet files in a folder, and the file of the warehouse has the rest.

Every raw table of a dataset in the lake is a view under the same name over exactly the files that
the catalog lists, partitioned by period and by bucket of the case (``srsql.case_bucket``). Whatever
changes those rows goes through :func:`changing`. Files are never changed: they are written in a
private folder of the lake, get names that no file had before, and count from the COMMIT that lists
them; what is listed no more is removed after it. A crash in between leaves files that nobody lists,
which the next command that writes removes.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import duckdb
from sqlglot import exp

from srsql.engine.catalog.datasets import registered_dataset
from srsql.engine.catalog.layout import raw_table
from srsql.engine.errors import WarehouseError, one_line, printable
from srsql.engine.lake.lake_rows import (
    BUCKET,
    REPORT_BUCKET,
    ROWS,
    bucketed_rows,
    file_columns,
    incoming_table,
    reader,
    report_buckets,
    view_rows,
)
from srsql.engine.store.lake_files import (
    TOPIC,
    Lake,
    LakeFile,
    clear_leftovers,
    find_lake,
    read_marker,
    write_marker,
)
from srsql.engine.store.scratch import digest, private_folder, sync
from srsql.engine.store.statements import (
    column,
    create,
    literal,
    query,
    table,
    temporary,
    union_all,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Table

CASES_PER_BUCKET = 1 << 16
BUCKETS = (4, 256)
"""At least and at most: a case that is erased makes one file of each table and period be written
anew, and a period has that many files of each table."""
_WRONG = "=?*[\\"
"""What a path cannot have: DuckDB reads ``NAME=VALUE`` as a column, and the others as patterns."""


@dataclass(frozen=True)
class LakeInfo:
    """What lies in the lake of a warehouse."""

    folder: str
    files: int
    bytes_on_disk: int
    buckets: dict[str, int]
    """By dataset."""
    changes: int


def buckets_for(cases: int) -> int:
    """Into how many buckets the periods of a lake are cut, by the cases of the first one: a power
    of two, with about ``CASES_PER_BUCKET`` cases each."""
    wanted = max(1, -(-cases // CASES_PER_BUCKET))
    return min(max(BUCKETS[0], 1 << (wanted - 1).bit_length()), BUCKETS[1])


def lake_info(warehouse: Warehouse) -> LakeInfo | None:
    """What lies in the lake; None: there is none."""
    lake = warehouse.lake
    if lake is None:
        return None
    return LakeInfo(
        str(lake.folder),
        len(lake.files),
        sum(each.bytes for each in lake.files),
        dict(warehouse.rows(query(TOPIC, "datasets"))),
        lake.changes,
    )


def lies_in_lake(warehouse: Warehouse, dataset: Dataset) -> bool:
    """Whether the rows of a dataset lie in the lake."""
    return warehouse.lake is not None and bool(
        warehouse.rows(query(TOPIC, "buckets"), {"dataset": dataset.name})
    )


def need_place(warehouse: Warehouse, dataset: Dataset, folder: Path | None) -> bool:
    """Whether the rows of a dataset lie in the lake, or are to: in ``folder``, if one is given.

    Raises:
        WarehouseError: they lie elsewhere, or the folder cannot be a lake.
    """
    own = {"dataset": dataset.name}
    lake = warehouse.lake if warehouse.lake and warehouse.lake.changes else None
    if lake is not None and warehouse.rows(query(TOPIC, "buckets"), own):
        if folder is not None and not _same(folder, lake.folder):
            raise WarehouseError(
                f"{dataset.name} lies in the lake {printable(str(lake.folder))} since it was first "
                "ingested: leave --lake out, or use a warehouse of its own (--db)"
            )
        return True
    if folder is None:
        return False
    if warehouse.value(query(TOPIC, "is_in_file"), own):
        raise WarehouseError(
            f"{dataset.name} is kept in the file of the warehouse since it was first ingested: "
            "leave --lake out, or use a warehouse of its own (--db)"
        )
    if lake is not None and not _same(folder, lake.folder):
        raise WarehouseError(
            f"the lake of this warehouse is {printable(str(lake.folder))}: give --lake that folder"
        )
    if lake is None:
        _need_fit(warehouse, folder)
    return True


def _same(one: Path, other: Path) -> bool:
    with suppress(OSError):
        return one.samefile(other)
    return Path(os.path.abspath(one)) == other


def _need_fit(warehouse: Warehouse, folder: Path) -> None:
    """Refuse a folder that cannot become a lake, before anything is written."""
    path = printable(str(folder))
    held = warehouse.value(query(TOPIC, "database_file"), {"database": warehouse.database})
    if held is None:
        raise WarehouseError("a warehouse in memory has no lake: give --db a file")
    full = os.path.abspath(folder)
    wrong = next((mark for mark in _WRONG if mark in full), None)
    if wrong is not None or not full.isprintable():
        raise WarehouseError(
            f"{path} cannot be a lake (its path has {printable(wrong or 'what cannot be shown')}): "
            "give --lake another folder"
        )
    if not Path(full).parent.is_dir():
        raise WarehouseError(f"there is no folder {printable(str(Path(full).parent))}: make it")
    found = read_marker(folder)
    ours = warehouse.lake.name if warehouse.lake else None  # of a first change that was killed
    if found is not None and found[0] != ours:
        raise WarehouseError(f"{path} is the lake of another warehouse: give --lake a new folder")
    if found is None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WarehouseError(f"{path} is not an empty folder: give --lake a new one")


@contextmanager
def changing(
    warehouse: Warehouse, dataset: Dataset, folder: Path | None = None
) -> Iterator[Change | None]:
    """What changes the rows of a dataset in the lake, around the transaction that does so.

    When this ends, whatever the transaction did not list, or lists no more, is removed.

    Args:
        warehouse: to write to, without a transaction.
        dataset: whose rows.
        folder: of a lake that is to be made, where the dataset is first ingested.

    Yields:
        The change; None: the rows of the dataset are kept in the file.

    Raises:
        WarehouseError: see ``need_place``; another copy of the warehouse has changed the lake; or
            the change is made, and what it left cannot be removed.
    """
    if not need_place(warehouse, dataset, folder):
        yield None
        return
    if warehouse.lake is not None and warehouse.lake.changes:
        warehouse.lake.need_there()
        warehouse.lake.need_newest()
    change = secrets.token_hex(8)
    try:
        lake = _begin(warehouse, folder, change)
        with private_folder(lake.folder / "rows", "unfinished") as staging:
            yield Change(warehouse, dataset, change, lake.folder, staging)
    except BaseException:
        with suppress(OSError, duckdb.Error):  # else the next command that writes does it
            _end(warehouse)
        raise
    try:
        _end(warehouse)
    except OSError as error:
        why = error.strerror or one_line(error)
        raise WarehouseError(
            f"the lake was changed, but {printable(str(error.filename))}, which it lists no more, "
            f"could not be removed ({why}): remove it"
        ) from None


def _begin(warehouse: Warehouse, folder: Path | None, change: str) -> Lake:
    """Note in the catalog that a change begins, and have the folder there with its marker."""
    with warehouse.transaction():
        if warehouse.lake is None or warehouse.lake.changes == 0:
            assert folder is not None
            warehouse.run(query(TOPIC, "forget"))
            made = {"lake": secrets.token_hex(8), "folder": os.path.abspath(folder)}
            found = read_marker(folder)
            if found is not None:  # of a first change that was killed
                made["lake"] = found[0]
            warehouse.run(query(TOPIC, "make"), made)
        warehouse.run(query(TOPIC, "begin"), {"change": change})
    warehouse.read_lake()
    lake = warehouse.lake
    assert lake is not None
    if lake.changes == 0:
        try:
            lake.folder.mkdir(mode=0o700, exist_ok=True)
            lake.folder.chmod(0o700)
            write_marker(lake.folder, lake.name, 0)
            sync(lake.folder.parent)
        except OSError as error:
            raise WarehouseError(
                f"{printable(str(lake.folder))} cannot be made: {error.strerror or one_line(error)}"
            ) from error
    return lake


def _end(warehouse: Warehouse) -> None:
    clear_leftovers(warehouse.con)
    warehouse.read_lake()


@dataclass
class Change:
    """One change of the lake, within the transaction that lists what it wrote."""

    warehouse: Warehouse
    dataset: Dataset
    name: str
    """Its files carry it."""
    folder: Path
    staging: Path
    counted: bool = False

    def take_out(self, quarter: str) -> None:
        """List the rows of a period no more.

        Raises:
            DamagedError: a file of it has other bytes than were written, so that nobody can tell
                how the rows that take its place differ.
        """
        need_periods(self.warehouse, self.dataset, quarter)
        self._leave([each for each in self._files() if each.quarter == quarter])

    def put(self, quarter: str) -> None:
        """Write the rows of ``incoming_table`` to files, list them, and let the views read them.

        Args:
            quarter: the period that they are of.
        """
        buckets = self._buckets()
        self.warehouse.run(report_buckets(self.dataset, buckets))
        for declared in self.dataset.tables:
            self.warehouse.run(bucketed_rows(self.dataset, declared, buckets))
            found = exp.select(column(BUCKET, "t")).distinct().from_(temporary(ROWS, alias="t"))
            found = found.order_by(column(BUCKET, "t"))
            for (bucket,) in self.warehouse.rows(found.sql(dialect="duckdb")):
                rows = exp.select(*file_columns(self.dataset, declared))
                rows = rows.from_(temporary(ROWS, alias="t"))
                rows = rows.where(column(BUCKET, "t").eq(exp.convert(bucket)))
                self._write(rows, declared.name, quarter, bucket)
            incoming = incoming_table(self.dataset, declared.name).name
            self.warehouse.drop_temporary_tables([ROWS, incoming])
        self.warehouse.drop_temporary_tables([REPORT_BUCKET])
        self._settle()

    def erase(self, declared: Table, gone: exp.Expr) -> int:
        """Write the files anew that have rows to erase, without these; how many rows there were.

        Args:
            declared: the table.
            gone: true of the rows ``t`` that are to be erased.
        """
        files = [each for each in self._files() if each.table == declared.name]
        if not files:
            return 0
        lake = self.warehouse.lake
        assert lake is not None
        lake.need_unchanged(files)  # a damaged file could hide a row, and get a digest anew
        counting = exp.select(column("filename", "t"), exp.Count(this=exp.Star()))
        counting = counting.from_(self._reader(files)).where(gone.copy())
        found = dict(
            self.warehouse.rows(counting.group_by(column("filename", "t")).sql(dialect="duckdb"))
        )
        touched = [each for each in files if str(self.folder / each.file) in found]
        for each in touched:
            if found[str(self.folder / each.file)] == each.records:
                continue
            rows = exp.select(*file_columns(self.dataset, declared)).from_(self._reader([each]))
            rows = rows.where(exp.func("coalesce", gone.copy(), exp.false()).not_())
            rows = rows.order_by(column("file_row_number", "t"))
            self._write(rows, each.table, each.quarter, each.bucket)
        self._leave(touched)
        if touched:
            self._settle(declared)
        return sum(found.values())

    def _files(self) -> list[LakeFile]:
        """What is listed of the dataset, as this transaction has it."""
        lake = find_lake(self.warehouse.con)
        assert lake is not None
        return [each for each in lake.files if each.dataset == self.dataset.name]

    def _buckets(self) -> int:
        own = {"dataset": self.dataset.name}
        known = self.warehouse.value(query(TOPIC, "buckets"), own)
        if known is None:
            cases = exp.Count(this=exp.Distinct(expressions=[column(self.dataset.case_id, "t")]))
            rows = incoming_table(self.dataset, self.dataset.report_table, alias="t")
            counted = self.warehouse.value(exp.select(cases).from_(rows).sql(dialect="duckdb"))
            known = buckets_for(int(counted))
            self.warehouse.run(query(TOPIC, "add_dataset"), {**own, "buckets": known})
        return int(known)

    def _write(self, rows: exp.Select, name: str, quarter: str, bucket: int) -> None:
        """A file of these rows, listed."""
        staged = self.staging / f"{bucket}.parquet"
        target = literal(str(staged))
        text = rows.sql(dialect="duckdb")
        records = int(
            self.warehouse.value(f"COPY ({text}) TO {target} (FORMAT parquet, COMPRESSION zstd)")
        )
        staged.chmod(0o600)
        sync(staged)
        label = quote(quarter, safe="").replace("_", "%5F")  # one label stands for NULL otherwise
        place = self.folder / self.dataset.name / name / f"quarter={label}"
        for each in (*reversed(place.relative_to(self.folder).parents), place):
            with suppress(FileExistsError):
                (self.folder / each).mkdir(mode=0o700)
                sync((self.folder / each).parent)
        path = place / f"{bucket}-{self.name}.parquet"
        listed = {
            "dataset": self.dataset.name,
            "table": name,
            "quarter": quarter,
            "bucket": bucket,
            "file": str(path.relative_to(self.folder)),
            "records": records,
            "bytes": staged.stat().st_size,
            "sha256": digest(staged),
        }
        os.rename(staged, path)
        sync(place)
        self.warehouse.run(query(TOPIC, "add_file"), listed)

    def _leave(self, files: list[LakeFile]) -> None:
        asked = {"change": self.name, "files": [each.file for each in files]}
        if files:
            self.warehouse.run(query(TOPIC, "leave_files"), asked)
            self.warehouse.run(query(TOPIC, "drop_files"), {"files": asked["files"]})

    def _settle(self, declared: Table | None = None) -> None:
        """Let the views read what is listed now, and count the change."""
        tables = [declared] if declared else self.dataset.tables
        _make_views(self.warehouse, self.folder, self.dataset, tables, self._files())
        if not self.counted:
            self.warehouse.run(query(TOPIC, "count_change"))
        self.counted = True

    def _reader(self, files: list[LakeFile]) -> exp.Table:
        return reader([str(self.folder / each.file) for each in files])


def need_periods(warehouse: Warehouse, dataset: Dataset, *quarters: str | None) -> None:
    """Refuse periods of which a file of the lake has other bytes than were written.

    Raises:
        DamagedError: the text names a file, and says what to do.
    """
    if warehouse.lake is not None:
        files = (each for each in warehouse.lake.files if each.dataset == dataset.name)
        warehouse.lake.need_unchanged(each for each in files if each.quarter in quarters)


def take_in(warehouse: Warehouse, dataset: Dataset, quarter: str) -> bool:
    """Have the rows of a period in the file, where they can be changed. For a private copy only.

    The lake is left as it is; the copy does not list the period's files any more.

    Args:
        warehouse: a private copy.
        dataset: whose rows.
        quarter: the period.

    Returns:
        Whether they lay in a lake; see ``taken_in``.
    """
    if not warehouse.rows(query(TOPIC, "buckets"), {"dataset": dataset.name}):
        return False
    lake = find_lake(warehouse.con)
    assert lake is not None
    own = [each for each in lake.files if each.dataset == dataset.name]
    left = [each for each in own if each.quarter != quarter]
    gone = [each.file for each in own if each.quarter == quarter]
    for declared in dataset.tables:
        kept = taken_in(dataset, declared.name, quarter=quarter)
        rows = exp.select("*").from_(raw_table(dataset, declared.name, alias="t"))
        rows = rows.where(column("quarter", "t").eq(exp.Literal.string(quarter)))
        warehouse.run(create(kept, rows))
        before = warehouse.rows(
            query(TOPIC, "taken_in"),
            {"schema": f"raw_{dataset.name}", "prefix": f"{declared.name} of "},
        )
        parts: list[exp.Query] = [exp.select("*").from_(table(kept.db, each)) for (each,) in before]
        view = view_rows(lake.folder, dataset, declared, left)
        raw = raw_table(dataset, declared.name)
        warehouse.run(create(raw, union_all([view, *parts]), kind="VIEW"))
    warehouse.run(query(TOPIC, "drop_files"), {"files": gone})
    return True


def taken_in(dataset: Dataset, name: str, alias: str | None = None, *, quarter: str) -> exp.Table:
    """The table that ``take_in`` makes of a raw table for a period."""
    return table(f"raw_{dataset.name}", f"{name} of {quarter}", alias=alias)


def point_views(warehouse: Warehouse, folder: Path) -> None:
    """Say in the catalog that the lake is in another folder, within a transaction.

    Args:
        warehouse: whose lake has every file there that is listed.
        folder: where it is.
    """
    lake = find_lake(warehouse.con)
    assert lake is not None
    place = Path(os.path.abspath(folder))
    warehouse.run(query(TOPIC, "move"), {"folder": str(place)})
    for name, _ in warehouse.rows(query(TOPIC, "datasets")):
        dataset = registered_dataset(warehouse, name)
        _make_views(warehouse, place, dataset, dataset.tables, lake.files)


def _make_views(
    warehouse: Warehouse,
    folder: Path,
    dataset: Dataset,
    tables: Iterable[Table],
    files: Sequence[LakeFile],
) -> None:
    """Let raw tables be views over what is listed of them in a folder."""
    for declared in tables:
        rows = view_rows(folder, dataset, declared, files)
        warehouse.run(create(raw_table(dataset, declared.name), rows, kind="VIEW"))
