"""A database of released views and public manifests, and of nothing else.

Whatever its statements say, there is no raw table and no private catalog that they could reach. The
public edition is made in one, and an artifact is asked in one, in memory; the public file of a
warehouse that is split is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from srsql.engine.catalog.datasets import register_dataset
from srsql.engine.catalog.layout import store_of
from srsql.engine.catalog.releases import keep_key, published_key
from srsql.engine.catalog.series import ORIGINAL, PER_QUARTER, create_views, series_views
from srsql.engine.store.database_file import connection
from srsql.engine.store.definitions import install_in
from srsql.engine.store.scratch import private_folder
from srsql.engine.store.statements import STORE, create, query, table
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "warehouse/public_database"
BATCH = 100_000
"""Rows that are copied at a time."""
RowsOf = Callable[[str, str], pa.RecordBatchReader]
"""Takes the schema of a release and the name of a view (``manifest`` is one), gives its rows."""
RELEASED = "released"


@dataclass(frozen=True)
class PublicSeries:
    """The releases of one series, as far as the public knows them."""

    name: str
    schemas: dict[str, str]
    """Quarter -> schema of its views, oldest first."""
    views: frozenset[str]
    """Those of a release, beside the manifest."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Quarter -> its model, where that is told."""
    cumulative: str = RELEASED
    """Schema of all of them together."""
    ids: str = ORIGINAL
    keyed: bool = False
    """Whether the ids are pseudonyms."""
    own_views: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Schema of a release -> its views, where releases have different ones."""


@contextmanager
def public_connection(memory: str, threads: int | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database in memory, with limits, that may spill to disk."""
    with (
        private_folder(Path(gettempdir()) / "srsql-public") as spill,
        connection() as con,
    ):
        con.execute("SET memory_limit = ?", [memory])
        if threads is not None:
            con.execute("SET threads = ?", [threads])
        con.execute("SET temp_directory = ?", [str(spill)])
        install_in(con, catalog=True, untouched=True)  # copied; into any other they are made
        yield con


def limits_of(con: duckdb.DuckDBPyConnection) -> tuple[str, int]:
    """Memory and threads of a connection."""
    ((memory, threads),) = con.execute(query(TOPIC, "limits")).fetchall()
    return memory, threads


def fill(own: Warehouse, rows: RowsOf, dataset: Dataset, series: PublicSeries) -> None:
    """Copy released views into an empty warehouse, as its only releases, with the views of all of
    them together; within ``guarded``. See ``fill_releases``."""
    fill_releases(own, rows, dataset, series)
    known = {source.name for source in dataset.row_tables}
    if known <= series.views:
        releases = [(quarter, number) for number, quarter in enumerate(series.schemas, start=1)]
        series_views(own, dataset, series.cumulative, releases,
                     followed=series.ids != PER_QUARTER)  # fmt: skip


def fill_releases(own: Warehouse, rows: RowsOf, dataset: Dataset, series: PublicSeries) -> None:
    """Copy released views into an empty warehouse, as its only releases; within ``guarded``.

    Args:
        own: nothing else is in it.
        rows: of the views, asked for release by release.
        dataset: for their names.
        series: whose they are.
    """
    with own.transaction():
        register_dataset(own, dataset, RELEASED)
    for number, schema in enumerate(series.schemas.values(), start=1):
        views = series.own_views.get(schema, series.views) | {"manifest"}
        stores = {view: store_of(number, view) for view in sorted(views)}
        for view, store in stores.items():
            _copy(own, rows(schema, view), store)
        create_views(own, schema, stores)
    names: dict[str, Any] = {"dataset": dataset.name, "series": series.name}
    told = {"schema": series.cumulative, "ids": series.ids, "key": b"" if series.keyed else None}
    own.run(query(TOPIC, "add_series"), names | told)
    for number, (quarter, schema) in enumerate(series.schemas.items(), start=1):
        facts = {"number": number, "quarter": quarter, "schema": schema}
        model = {"model": series.models.get(quarter, RELEASED)}
        own.run(query(TOPIC, "add_release"), names | facts | model)
        keep_key(own, number, published_key(own, schema))


def rows_of(warehouse: Warehouse) -> RowsOf:
    """The rows of the released views of a warehouse; nothing else of it is read."""

    def read(schema: str, view: str) -> pa.RecordBatchReader:
        rows = exp.select("v.*").from_(table(schema, view, alias="v")).sql(dialect="duckdb")
        return warehouse.con.sql(rows).to_arrow_reader(BATCH)

    return read


def _copy(target: Warehouse, rows: pa.RecordBatchReader, store: str) -> None:
    target.con.register("srsql_incoming", rows)
    target.run(create(table(STORE, store), exp.select("i.*").from_("srsql_incoming AS i")))
    target.con.unregister("srsql_incoming")
