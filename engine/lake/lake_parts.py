"""Work on a lake bucket by bucket: whoever carries a bucket reads its files where they lie.

A part names the files of one bucket of a period, and has of the catalog what concerns its cases; no
row of a raw table goes through whoever asks for the work. So the folder of the lake has to be under
the same path wherever a bucket is carried, and a task holds no more than its bucket.

Source: SPEC section 17.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srsql.engine.catalog.layout import raw_table
from srsql.engine.errors import WarehouseError, printable
from srsql.engine.lake.lake_rows import rows_of
from srsql.engine.store.lake_files import TOPIC
from srsql.engine.store.statements import create, dotted, query, quoted
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.workers.carriers import CARRIED, Carrier
from srsql.schemas import Dataset
from srsql.schemas.outside import open_plain

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class BucketWork:
    """What becomes of every bucket; it can be sent to wherever a bucket is carried."""

    dataset: Dataset
    """As its rows were ingested."""
    folder: Path
    """Of the lake."""
    make: Callable[[Warehouse, Mapping[str, Any]], None]
    """Makes temporary tables of the raw tables, which have the rows of the bucket alone, and of
    what else its part has; it is told that."""
    found: str
    """A query about these tables: what comes back of them."""

    def on(self, own: Warehouse, part: pa.Table) -> pa.Table:
        """What becomes of one bucket, in a database in memory; nothing of it stays there."""
        (told,) = part.to_pylist()
        before = own.temporary_tables()
        try:
            with _raw_tables(own, self.dataset, self.folder, told["files"]):
                self.make(own, told)
                found = own.con.sql(self.found, params={"part": told["part"]})
                return found.to_arrow_table()
        finally:
            own.drop_temporary_tables(own.temporary_tables() - before)

    def weight(self, part: pa.Table) -> int:
        """Bytes of the files of a bucket: about what comes back of it."""
        return sum(file["bytes"] for file in part.column("files")[0].as_py())


def buckets_of(warehouse: Warehouse, dataset: Dataset, quarter: str) -> list[pa.Table]:
    """The buckets of a period as parts, in their order; none: its rows do not lie in a lake."""
    if warehouse.lake is None:
        return []
    asked = {"dataset": dataset.name, "quarter": quarter}
    found = warehouse.con.sql(query(TOPIC, "period_parts"), params=asked).to_arrow_table()
    return [found.take([row]) for row in range(found.num_rows)]  # a slice is sent with the whole


def carry_buckets(
    warehouse: Warehouse,
    carrier: Carrier,
    work: BucketWork,
    parts: Iterable[pa.Table],
    take: Mapping[str, str],
) -> None:
    """Have buckets carried, and take in what becomes of each as it comes.

    Args:
        warehouse: where the catalog is.
        carrier: who carries them.
        work: what is to be done.
        parts: the buckets, at least one.
        take: temporary table -> query about ``srsql_carried``, which has what becomes of a bucket:
            the rows that the table has of all of them.
    """
    made = False
    with closing(_carried(carrier, work, parts)) as coming:  # whatever goes wrong, nobody works on
        for found in coming:
            warehouse.con.register(CARRIED, found)
            try:
                for name, rows in take.items():
                    target = dotted("temp", "main", name)
                    how = "INSERT INTO" if made else "CREATE OR REPLACE TEMP TABLE"
                    warehouse.run(f"{how} {target} {'' if made else 'AS'} {rows}")
            finally:
                warehouse.con.unregister(CARRIED)
            made = True


def _carried(
    carrier: Carrier, work: BucketWork, parts: Iterable[pa.Table]
) -> Generator[pa.Table, None, None]:
    yield from carrier.carry(work, parts)


@contextmanager
def _raw_tables(
    own: Warehouse, dataset: Dataset, folder: Path, files: Iterable[Mapping[str, Any]]
) -> Iterator[None]:
    """While this lasts, the raw tables of a dataset have the rows of these files alone.

    Raises:
        WarehouseError: a file cannot be seen here.
    """
    paths: dict[str, list[str]] = {}
    for file in files:
        path = folder / file["file"]
        paths.setdefault(file["table_name"], []).append(str(path))
        if _size(path) != file["bytes"]:
            raise WarehouseError(
                f"{printable(str(path))} of the lake cannot be read here, or has another size: "
                "whoever carries a bucket needs the lake under that path, and leave to read it"
            )
    schema = raw_table(dataset, dataset.report_table).db
    own.run(f"CREATE SCHEMA {quoted(schema)}")
    try:
        for declared in dataset.tables:
            rows = rows_of(dataset, declared, paths.get(declared.name, []))
            own.run(create(raw_table(dataset, declared.name), rows, kind="VIEW"))
        yield
    finally:
        own.run(f"DROP SCHEMA {quoted(schema)} CASCADE")


def _size(path: Path) -> int | None:
    """Bytes of a file that can be read here; None: it is not there, or others' alone."""
    try:
        with open_plain(path) as file:
            return file.seek(0, os.SEEK_END)
    except OSError:
        return None
