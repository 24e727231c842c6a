"""The warehouse: one DuckDB file of ours, or a connection of the caller's.

Opening never changes user tables: the catalog lives in the schema ``srsql``, UDFs carry the
prefix ``srsql_``. Every change runs inside :meth:`Warehouse.transaction`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import duckdb

from srsql.engine.errors import OutdatedError, WarehouseError, one_line
from srsql.engine.statements import literal, quoted, statements
from srsql.version import __version__

LAYOUT = 1
ALIAS = "srsql_warehouse"
_OURS = "SELECT 1 FROM duckdb_databases() WHERE database_name = ?"


class Warehouse:
    """A connection with the catalog, the macros and the UDFs installed.

    Args:
        target: path of a DuckDB file (made if absent unless ``read_only``), or an open
            connection, which is used and never closed.
        read_only: open the file for reading; nothing is installed in it.
        threads: DuckDB worker threads; None leaves the default.
        memory_limit: DuckDB's memory limit, e.g. ``"8GB"``; None leaves the default.
    """

    def __init__(
        self,
        target: str | Path | duckdb.DuckDBPyConnection,
        *,
        read_only: bool = False,
        threads: int | None = None,
        memory_limit: str | None = None,
    ) -> None:
        self.path: Path | None = None
        self.read_only = read_only
        self._owned = not isinstance(target, duckdb.DuckDBPyConnection)
        if isinstance(target, duckdb.DuckDBPyConnection):
            self.con = target
            if target.execute(_OURS, [ALIAS]).fetchall():  # a cursor of a connection we opened
                target.execute(f"USE {ALIAS}")
        else:
            self.path = Path(target)
            self.con = _open(self.path, read_only)
        try:
            if threads is not None:
                self.con.execute("SET threads = ?", [threads])
            if memory_limit is not None:
                self.con.execute("SET memory_limit = ?", [memory_limit])
            install(self.con, catalog=not read_only)
        except BaseException:
            self.close()
            raise

    def guarded(self) -> AbstractContextManager[None]:
        """While this lasts, no macro of the user's takes the place of a built-in function."""
        return guarded(self.con)

    def close(self) -> None:
        """Close the connection if it is ours."""
        if self._owned:
            self.con.close()

    def __enter__(self) -> Warehouse:
        """The warehouse itself; it closes when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection if it is ours."""
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """BEGIN, then COMMIT; any exception rolls everything back and goes on up.

        Raises:
            WarehouseError: the caller's connection is in a transaction of its own, or the change
                cannot be committed.
        """
        _need_idle(self.con)
        self.con.execute("BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            self.con.execute("ROLLBACK")
            raise
        try:
            self.con.execute("COMMIT")
        except duckdb.Error as error:
            raise WarehouseError(f"the warehouse refused the change: {one_line(error)}") from None

    def run(self, query: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> None:
        """Execute one statement for its effect."""
        self.con.execute(query, parameters or None)

    def run_step(self, file: str) -> None:
        """Execute the statements of one ``step_*.sql`` file of ``sql_macros``."""
        for statement in statements("srsql.sql_macros", file):
            self.run(statement)

    def rows(
        self, query: str, parameters: Sequence[Any] | dict[str, Any] = ()
    ) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self.con.execute(query, parameters or None).fetchall()

    def value(self, query: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> Any:
        """First column of the first row of a query; None if there is no row."""
        rows = self.rows(query, parameters)
        return rows[0][0] if rows else None


def _need_idle(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse to work inside a transaction of the caller's, which an error would abort."""
    first, second = (con.execute("SELECT txid_current()").fetchall() for _ in range(2))
    if first == second:
        raise WarehouseError(
            "the connection has an open transaction: commit it or roll it back first"
        )


@contextmanager
def guarded(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """While this lasts, no macro of the user's takes the place of a built-in function.

    DuckDB looks a function up along the search path, where a macro in the schema ``main`` precedes
    the built-ins; here the built-ins come first.

    Raises:
        WarehouseError: a temporary macro does it all the same (they always come first).
    """
    hidden = con.execute(
        "SELECT f.function_name FROM duckdb_functions() AS f WHERE f.database_name = 'temp' "
        "INTERSECT SELECT f.function_name FROM duckdb_functions() AS f WHERE f.internal"
    ).fetchall()
    if hidden:
        raise WarehouseError(
            f"the temporary macro {hidden[0][0]!r} hides a built-in function: drop it"
        )
    before, database = con.execute(
        "SELECT current_setting('search_path'), current_database()"
    ).fetchall()[0]
    con.execute("SET search_path = ?", [f"{quoted(database)}.srsql,system.main"])
    try:
        yield
    finally:
        con.execute("SET search_path = ?", [before])


def install(con: duckdb.DuckDBPyConnection, *, catalog: bool = True) -> None:
    """Put the UDFs and macros (and the catalog) into ``con`` without touching its tables."""
    from srsql.sql_macros import MACRO_FILES
    from srsql.udfs.register import register_udfs

    if con.execute("SELECT 1 FROM duckdb_databases() WHERE database_name = 'srsql'").fetchall():
        raise WarehouseError(
            "a database is attached as 'srsql', which makes the schema of that name ambiguous: "
            "attach it under another name, or give the engine the path of the file"
        )
    register_udfs(con)
    definitions = [
        *statements("srsql.schemas", "catalog.sql"),
        *(s for file in MACRO_FILES for s in statements("srsql.sql_macros", file)),
    ]
    fingerprint = hashlib.sha256("\n".join(definitions).encode()).hexdigest()
    found = _installed(con)
    if found == (LAYOUT, fingerprint):
        return
    if not catalog:
        if found is None:
            return
        raise OutdatedError(
            "the warehouse was last written by another version of srsql: open it once for writing, "
            "for example with 'srsql status'"
        )
    _need_idle(con)
    con.execute("CREATE SCHEMA IF NOT EXISTS srsql")
    with guarded(con):
        con.execute("BEGIN TRANSACTION")
        try:
            for definition in definitions:
                con.execute(definition)
            con.execute("DELETE FROM srsql.warehouse")
            con.execute(
                "INSERT INTO srsql.warehouse VALUES (?, ?, ?)", [LAYOUT, __version__, fingerprint]
            )
            con.execute("COMMIT")
        except BaseException:
            con.execute("ROLLBACK")
            raise


def _installed(con: duckdb.DuckDBPyConnection) -> tuple[int, str] | None:
    """Layout and definitions of the catalog in ``con``; None where there is none.

    Raises:
        WarehouseError: the warehouse was made by an incompatible version.
    """
    known = con.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'srsql' "
        "AND table_name = 'warehouse' AND database_name = current_database()"
    ).fetchall()
    if not known[0][0]:
        return None
    layout, fingerprint = con.execute(
        "SELECT w.layout, w.definitions FROM srsql.warehouse AS w"
    ).fetchall()[0]
    if layout != LAYOUT:
        raise WarehouseError(
            f"the warehouse has layout {layout}, this srsql needs {LAYOUT}: "
            "use the srsql version that made it"
        )
    return layout, fingerprint


def _open(path: Path, read_only: bool) -> duckdb.DuckDBPyConnection:
    if path.is_dir():
        raise WarehouseError(f"{path} is a directory: give --db a file")
    if read_only and not path.exists():
        raise WarehouseError(f"no warehouse at {path}: run 'srsql ingest' first or give --db")
    con = duckdb.connect()
    try:
        # under a name of its own: a catalog called like a schema makes both ambiguous
        con.execute(f"ATTACH {literal(str(path))} AS {ALIAS}{' (READ_ONLY)' if read_only else ''}")
        con.execute(f"USE {ALIAS}")
    except duckdb.Error as error:
        con.close()
        text = one_line(error)
        if "lock" in text.lower():
            raise WarehouseError(
                f"{path} is in use by another process: wait until it ends, or stop it"
            ) from None
        raise WarehouseError(f"{path} cannot be opened: {text}") from None
    con.execute("SET python_enable_replacements = false")
    con.execute("SET preserve_insertion_order = true")
    con.execute("SET enable_progress_bar = false")
    con.execute("SET temp_directory = ?", [str(path.with_name(path.name + ".tmp"))])
    return con
