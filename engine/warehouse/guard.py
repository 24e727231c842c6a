"""What a caller made or set on his connection does not change what a statement of ours means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import duckdb

from srsql.engine.errors import WarehouseError
from srsql.engine.warehouse.statements import dotted, query

SETTINGS = {
    "arrow_large_buffer_size": "false",
    "arrow_lossless_conversion": "false",
    "arrow_output_list_view": "false",
    "arrow_output_version": "1.0",
    "Calendar": "gregorian",
    "default_collation": "",
    "default_null_order": "NULLS_LAST",
    "default_order": "ASCENDING",
    "dialect_compatibility_mode": "NONE",
    "disable_timestamptz_casts": "false",
    "enable_view_dependencies": "false",
    "error_on_division_by_zero": "true",
    "ieee_floating_point_ops": "true",
    "integer_division": "false",
    "legacy_disable_null_type": "false",
    "preserve_identifier_case": "preserve_case",
    "preserve_insertion_order": "true",
    "python_enable_replacements": "false",
    "regex_match_operator_semantics": "partial",
    "scalar_subquery_error_on_multiple_rows": "true",
    "table_function_identifier_conversion": "DEFAULT",
    "TimeZone": "Etc/UTC",
}
"""Settings that change what a query returns, and the values that the engine's own are written for
(DuckDB's defaults; UTC)."""


@contextmanager
def guarded(
    con: duckdb.DuckDBPyConnection, database: str | None = None, *, untouched: bool = False
) -> Iterator[str]:
    """While this lasts, names, functions and settings are those that the engine expects.

    DuckDB looks a function up along the search path, where a macro in the schema ``main`` precedes
    the built-ins; here the built-ins come first. What runs before that is named in full.

    Args:
        con: the connection; as it was when this ends.
        database: the attached database that holds the catalog; the current one by default.
        untouched: nobody had the connection before, so that it has no temporary macro; DuckDB
            lists all of its functions to find one.

    Yields:
        The caller's search path.

    Raises:
        WarehouseError: a temporary macro precedes a built-in all the same (they always do), the
            database is gone, or the configuration is locked with another value of a setting.
    """
    hidden = [] if untouched else _hidden(con)
    if hidden:
        raise WarehouseError(
            f"the temporary macro {hidden[0]!r} hides a built-in function: drop it"
        )
    before, current = con.execute(
        "SELECT system.main.current_setting('search_path'), system.main.current_database()"
    ).fetchall()[0]
    path = _path(con, database or current)
    con.execute("SET search_path = ?", [path])
    changed: dict[str, str] = {}
    try:
        _settle(con, changed)
        yield before
    except BaseException:
        with suppress(duckdb.ConnectionException):  # it was closed since; what went wrong counts
            _give_back(con, changed, before)
        raise
    _give_back(con, changed, before)


def _give_back(con: duckdb.DuckDBPyConnection, changed: Mapping[str, str], path: str) -> None:
    for name, value in changed.items():
        con.execute(f"SET {name} = ?", [value])
    con.execute("SET search_path = ?", [path])


def _hidden(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Built-in functions that a temporary macro precedes."""
    found = con.execute(query("warehouse/warehouse", "hidden_functions")).fetchall()
    return [row[0] for row in found]


def _path(con: duckdb.DuckDBPyConnection, database: str) -> str:
    """The catalog's schema and the built-ins; the built-ins alone before there is a catalog."""
    statement = query("warehouse/warehouse", "schema_of_ours")
    found = con.execute(statement, {"database": database}).fetchall()
    if not found:
        raise WarehouseError(
            f"the database {database!r}, on which the engine was opened, is not attached any more"
        )
    return f"{dotted(database, 'srsql')},system.main" if found[0][1] else "system.main"


def _settle(con: duckdb.DuckDBPyConnection, changed: dict[str, str]) -> None:
    """Give every setting the value that the engine expects; ``changed`` takes what it was."""
    found = con.execute("SELECT s.name, s.value FROM system.main.duckdb_settings() AS s").fetchall()
    for name, value in found:
        wanted = SETTINGS.get(name)
        if wanted is None or value == wanted:
            continue
        try:
            con.execute(f"SET {name} = ?", [wanted])
        except duckdb.Error:
            raise WarehouseError(
                f"the setting {name} is {value!r} and locked; the engine needs {wanted!r}: set it "
                "before SET lock_configuration"
            ) from None
        changed[name] = value
