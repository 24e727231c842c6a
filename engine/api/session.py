"""What every call on a warehouse starts from: the connection, and which dataset is meant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self, overload

import duckdb
import pandas as pd

from srsql.engine.errors import DatasetError, SrsqlError
from srsql.engine.release.options import DEFAULTS
from srsql.engine.release.series import Status, status
from srsql.engine.warehouse.catalog import dataset_names, registered_dataset
from srsql.engine.warehouse.frames import Kind, shaped
from srsql.engine.warehouse.releases import as_told, need_cases
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, SchemaError, load_dataset

TERMS_ALONE = (
    "series {series!r} releases terms alone, and these attacks are on regions, of which it has "
    "none: 'srsql verify' of the published artifact checks its chunks"
)


class Session:
    """One warehouse and the datasets in it."""

    def __init__(
        self,
        target: str | Path | duckdb.DuckDBPyConnection,
        *,
        dataset: str | Path | None = None,
        read_only: bool = False,
        threads: int | None = None,
        memory_limit: str | None = None,
    ) -> None:
        self.warehouse = Warehouse(
            target, read_only=read_only, threads=threads, memory_limit=memory_limit
        )
        self._dataset = dataset

    def __enter__(self) -> Self:
        """The engine itself; the warehouse closes when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the warehouse if it is ours."""
        self.close()

    def close(self) -> None:
        """Close the warehouse if it is ours."""
        self.warehouse.close()

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection, for SQL of your own."""
        return self.warehouse.con

    def dataset(self, name: str | Path | None = None) -> Dataset:
        """The schema of that name or file; by default the only dataset of the warehouse.

        Raises:
            DatasetError: there is no such dataset, or its file is wrong.
        """
        chosen = name if name is not None else self._dataset
        known = dataset_names(self.warehouse)
        if chosen is None:
            if len(known) > 1:
                raise DatasetError(
                    f"the warehouse holds {', '.join(known)}: say which one with --dataset"
                )
            chosen = known[0] if known else DEFAULTS.dataset
        if str(chosen) in known:
            return registered_dataset(self.warehouse, str(chosen))
        try:
            return load_dataset(chosen)
        except SchemaError as error:
            raise DatasetError(str(error)) from None

    def status(self) -> Status:
        """What the warehouse holds; see ``srsql status``."""
        with self.warehouse.guarded():
            return status(self.warehouse)

    def sql(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query of your own."""
        return self.warehouse.rows(query, parameters)

    @overload
    def frame(self, query: str, parameters: Sequence[Any] = ()) -> pd.DataFrame: ...
    @overload
    def frame(self, query: str, parameters: Sequence[Any] = (), *, kind: Kind) -> Any: ...
    def frame(self, query: str, parameters: Sequence[Any] = (), *, kind: Kind = "pandas") -> Any:
        """The result of a query of your own as a pandas, Arrow or Polars table.

        Types are the query's, whatever its rows: integers with NULL stay integers, decimals exact.
        """
        result = self.con.sql(query, params=list(parameters) or None)
        return shaped(result.to_arrow_table(), kind)

    def _told(self, series: str, quarter: str | None, dataset: str | Path | None) -> Dataset:
        """The dataset with the tables of which the series has rows."""
        schema = self._dataset_of(quarter, dataset) if quarter else self.dataset(dataset)
        return as_told(self.warehouse, schema, series)

    def _with_regions(
        self,
        series: str,
        quarter: str | None,
        dataset: str | Path | None,
        error: type[SrsqlError],
    ) -> Dataset:
        """The same; refused, as ``error``, where the series has no regions to attack."""
        schema = self._told(series, quarter, dataset)
        need_cases(self.warehouse, schema.name, series, error)
        if not schema.rows:
            raise error(TERMS_ALONE.format(series=series))
        return schema

    def _dataset_of(self, quarter: str, dataset: str | Path | None) -> Dataset:
        """The dataset asked for, or the only one that has the quarter."""
        if dataset is None and self._dataset is None:
            holders = [
                row[0]
                for row in self.warehouse.rows(
                    "SELECT DISTINCT i.dataset FROM srsql.ingestion AS i "
                    "WHERE i.quarter = ? AND NOT i.replaced",
                    [quarter],
                )
            ]
            holders = holders or [
                row[0]
                for row in self.warehouse.rows(
                    "SELECT DISTINCT r.dataset FROM srsql.release AS r WHERE r.quarter = ?",
                    [quarter],
                )
            ]
            if len(holders) == 1:
                return self.dataset(holders[0])
        return self.dataset(dataset)
