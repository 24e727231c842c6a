"""The warehouse: one DuckDB file of ours, or a connection of the caller's.

Opening never changes user tables: the catalog lives in the schema ``srsql``, UDFs carry the
prefix ``srsql_``. Every change runs inside :meth:`Warehouse.transaction`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from srsql.engine.errors import OutdatedError, WarehouseError, one_line
from srsql.engine.warehouse.guard import guarded
from srsql.engine.warehouse.statements import dotted, literal, parsed, query, source, step_file
from srsql.version import __version__

LAYOUT = 6
CATALOG_FILES = ("catalog.sql", "pseudonyms.sql", "verdicts.sql")
ALIAS = "srsql_warehouse"
_OURS = "SELECT 1 FROM system.main.duckdb_databases() AS d WHERE d.database_name = ?"
_NAMES = tuple(
    f"SELECT o.schema_name, o.{name} FROM system.main.{catalog}() AS o "
    "WHERE o.database_name = ? AND o.schema_name IN ('srsql', 'srsql_data') "
    f"ORDER BY o.{name} <> 'warehouse', o.schema_name, o.{name} LIMIT 1"
    for catalog, name in (
        ("duckdb_tables", "table_name"),
        ("duckdb_views", "view_name"),
        ("duckdb_functions", "function_name"),
    )
)
"""What the schemas of our names hold; functions last, since DuckDB lists all of its own first."""


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
        self._callers_path: str | None = None
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
            self.database = _database(self.con)
            _install(self.con, catalog=not read_only, untouched=self._owned)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """While this lasts, nothing that the caller made or set changes what a statement means.

        Raises:
            WarehouseError: the caller has a transaction open (an error would abort it, and nothing
                of his could then be given back as it was), or has attached a database under the
                name of a schema here.
        """
        _need_idle(self.con)
        _need_plain_names(self.con, self.database)
        with guarded(self.con, self.database) as callers_path:
            self._callers_path = callers_path
            try:
                yield
            finally:
                self._callers_path = None

    @contextmanager
    def as_caller(self) -> Iterator[None]:
        """Within :meth:`guarded`: the caller's own search path, which views of his may need."""
        if self._callers_path is None:
            yield
            return
        guards = self.value("SELECT system.main.current_setting('search_path')")
        self.run("SET search_path = ?", [self._callers_path])
        try:
            yield
        finally:
            self.run("SET search_path = ?", [guards])

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

    def run(
        self, query: str | duckdb.Statement, parameters: Sequence[Any] | dict[str, Any] = ()
    ) -> None:
        """Execute one statement for its effect."""
        self.con.execute(query, parameters or None)

    def run_step(
        self, step: str, parameters: Mapping[str, Any] | None = None, **tables: str
    ) -> dict[str, str]:
        """Execute the statements of ``sql_macros/LAYER/steps/STEP.sql``, which its header explains.

        Args:
            step: ``LAYER/STEP``.
            parameters: values of the ``$names`` in the statements.
            tables: for a table that the step reads or writes as ``temp.main.srsql_NAME``, the
                temporary table that stands in its place.

        Returns:
            The temporary tables that the step writes, by the names of its header.
        """
        found = step_file(step)
        for statement in found.statements(tuple(sorted(tables.items()))):
            named = {name: (parameters or {})[name] for name in statement.named_parameters}
            self.run(statement, named)
        return {name: tables.get(name, f"srsql_{name}") for name in found.writes}

    def temporary_tables(self) -> set[str]:
        """The temporary tables of ours that there are."""
        found = self.rows(
            "SELECT t.table_name FROM duckdb_tables() AS t "
            "WHERE t.temporary AND starts_with(t.table_name, 'srsql_')"
        )
        return {name for (name,) in found}

    def drop_temporary_tables(self, names: Iterable[str]) -> None:
        """Give their memory back."""
        for name in names:
            self.run(f"DROP TABLE {dotted('temp', 'main', name)}")

    def rows(
        self, query: str, parameters: Sequence[Any] | dict[str, Any] = ()
    ) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self.con.execute(query, parameters or None).fetchall()

    def value(self, query: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> Any:
        """First column of the first row of a query; None if there is no row."""
        rows = self.rows(query, parameters)
        return rows[0][0] if rows else None

    def columns(self, *name: str) -> list[str]:
        """Names of the columns of a table or view, in their order.

        Not by ``duckdb_columns()``, which goes through every table of the warehouse.
        """
        cursor = self.con.execute(f"SELECT t.* FROM {dotted(*name)} AS t LIMIT 0")
        names = [str(entry[0]) for entry in cursor.description or ()]
        cursor.fetchall()
        return names


def _need_idle(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse to work inside a transaction of the caller's, which an error would abort."""
    first, second = (con.execute("SELECT system.main.txid_current()").fetchall() for _ in range(2))
    if first == second:
        raise WarehouseError(
            "the connection has an open transaction: commit it or roll it back first"
        )


def _need_plain_names(con: duckdb.DuckDBPyConnection, database: str) -> None:
    """Refuse an attached database called like a schema of ours: neither could be named."""
    statement = query("warehouse/warehouse", "schema_conflicts")
    taken = con.execute(statement, {"database": database}).fetchall()
    if taken:
        raise WarehouseError(
            f"a database is attached as {taken[0][0]!r}, which makes the schema of that name "
            "ambiguous: attach it under another name"
        )


def install(con: duckdb.DuckDBPyConnection, *, catalog: bool = True) -> None:
    """Put the UDFs and macros (and the catalog) into ``con`` without touching its tables.

    They go to the current database: the schemas ``srsql`` and ``srsql_data``.

    Raises:
        WarehouseError: one of these schemas is somebody else's, a transaction is open, or nothing
            can be written there.
    """
    _install(con, catalog=catalog, untouched=False)


def _install(con: duckdb.DuckDBPyConnection, *, catalog: bool, untouched: bool) -> None:
    from srsql.sql_macros import MACRO_FILES
    from srsql.udfs.register import register_udfs

    _need_idle(con)
    if con.execute(_OURS, ["srsql"]).fetchall():
        raise WarehouseError(
            "a database is attached as 'srsql', which makes the schema of that name ambiguous: "
            "attach it under another name, or give the engine the path of the file"
        )
    database = _database(con)
    files = [("srsql.schemas", file) for file in CATALOG_FILES]
    files += [("srsql.sql_macros", file) for file in MACRO_FILES]
    definitions = "\n".join(source(*file) for file in files)
    fingerprint = hashlib.sha256(definitions.encode()).hexdigest()
    found = _installed(con, database)
    with guarded(con, untouched=untouched):
        register_udfs(con, untouched=untouched)
        if found == (LAYOUT, fingerprint):
            return
        if not catalog:
            if found is None:
                return
            raise OutdatedError(
                "the warehouse was last written by another version of srsql: open it once for "
                "writing, for example with 'srsql status'"
            )
        con.execute("BEGIN TRANSACTION")
        try:
            con.execute(f"CREATE SCHEMA IF NOT EXISTS {dotted(database, 'srsql')}")
            con.execute("SET search_path = ?", [f"{dotted(database, 'srsql')},system.main"])
            for file in files:
                for definition in parsed(*file):
                    con.execute(definition)
            con.execute("DELETE FROM srsql.warehouse")
            con.execute(
                "INSERT INTO srsql.warehouse VALUES (?, ?, ?)", [LAYOUT, __version__, fingerprint]
            )
            con.execute("COMMIT")
        except BaseException as error:
            con.execute("ROLLBACK")
            if isinstance(error, duckdb.InvalidInputException):  # a file opened for reading
                raise WarehouseError(
                    f"srsql cannot be installed in {database}: {one_line(error)}"
                ) from None
            raise


def _installed(con: duckdb.DuckDBPyConnection, database: str) -> tuple[int, str] | None:
    """Layout and definitions of the catalog in ``database``; None where there is none.

    Every name is written in full: what is called ``srsql`` may be the caller's.

    Raises:
        WarehouseError: the warehouse was made by an incompatible version, or a schema with a name
            of ours is somebody else's.
    """
    held = next(
        (found[0] for names in _NAMES if (found := con.execute(names, [database]).fetchall())), None
    )
    if held is None:
        return None
    try:
        layout, fingerprint = con.execute(
            f"SELECT w.layout, w.definitions FROM {dotted(database, 'srsql', 'warehouse')} AS w"
        ).fetchall()[0]
    except (duckdb.CatalogException, duckdb.BinderException, IndexError):
        raise WarehouseError(
            f"the schema {held[0]} of {database} is somebody else's (it has {held[1]}): "
            "rename it, or give the engine a database of its own (ATTACH and USE)"
        ) from None
    if layout != LAYOUT:
        way_out = "run 'srsql migrate'" if layout < LAYOUT else "use the srsql version that made it"
        raise WarehouseError(
            f"the warehouse has layout {layout}, this srsql needs {LAYOUT}: {way_out}"
        )
    return layout, fingerprint


def _database(con: duckdb.DuckDBPyConnection) -> str:
    return str(con.execute("SELECT system.main.current_database()").fetchall()[0][0])


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
