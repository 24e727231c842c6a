"""Registration of the kernels with DuckDB: the one file of `udfs` that knows it."""

from __future__ import annotations

import duckdb


def register_udfs(con: duckdb.DuckDBPyConnection) -> None:
    """Register every UDF under the prefix ``srsql_``; registering twice is harmless."""
