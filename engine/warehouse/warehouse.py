"""The warehouse: one DuckDB file of ours, or a connection of the caller's.

Opening never changes user tables: the catalog lives in the schema ``srsql``, UDFs carry the
prefix ``srsql_``. Every change runs inside :meth:`Warehouse.transaction`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from srsql.engine.errors import Fault, OutdatedError, WarehouseError, one_line, storage_fault
from srsql.engine.warehouse import database_file
from srsql.engine.warehouse.database_file import ALIAS, NOW, Limits, Wait, attach
from srsql.engine.warehouse.guard import (
    Definitions,
    definitions_in,
    guarded,
    need_own_views,
    same_definitions,
)
from srsql.engine.warehouse.lake_files import Lake, clear_leftovers, find_lake
from srsql.engine.warehouse.scratch import (
    PrivateFolder,
    private_folder,
    put_beside,
    scratch_beside,
)
from srsql.engine.warehouse.statements import (
    dotted,
    literal,
    parsed,
    query,
    quoted,
    source,
    step_file,
)
from srsql.schemas.outside import json_of, read_text
from srsql.udfs import cache_folder
from srsql.udfs.register import register_udfs
from srsql.version import __version__

LAYOUT = 12
CATALOG_FILES = (
    "waiting.sql",
    "catalog.sql",
    "pseudonyms.sql",
    "verdicts.sql",
    "lake.sql",
    "ingested.sql",
)
_TEMPLATE = "template_of_srsql"
"""Under which name the file is attached from which a new warehouse has its catalog."""
TAKEN_OVER = 600.0
"""Seconds for whoever has a file that was let go for a while."""
_OURS = "SELECT 1 FROM system.main.duckdb_databases() AS d WHERE d.database_name = ?"
_BATCH = 5_000
"""Rows that ``batches`` hands on at a time."""
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

KEPT_FOR_BLOCKS = "25%"
"""Of DuckDB's memory, where nobody limits it: what blocks take it keeps for other blocks, since
memory that is new costs the system more time than a block is worked on."""
_known: dict[Path, database_file.State] = {}
"""Files that this process has looked at, or has written last, as they were then."""
LONG_LOG = 128 << 20
"""Bytes of a log that take some seconds to read when the file is opened after a kill."""


class Warehouse:
    """A connection with the catalog, the macros and the UDFs installed.

    Args:
        target: path of a DuckDB file (made if absent unless ``read_only``), or an open
            connection, which is used and never closed.
        read_only: open the file for reading; nothing is installed in it.
        threads: DuckDB worker threads; None leaves the default.
        memory_limit: what the process may take, e.g. ``"8GB"``; None leaves DuckDB's default.
        wait: how long for another process to let the file go.
        whole: refuse a warehouse of which the lake is elsewhere, or a file of it is missing.
    """

    def __init__(
        self,
        target: str | Path | duckdb.DuckDBPyConnection,
        *,
        read_only: bool = False,
        threads: int | None = None,
        memory_limit: str | None = None,
        wait: Wait = NOW,
        whole: bool = True,
    ) -> None:
        self.path: Path | None = None
        self.lake: Lake | None = None
        self.limits = Limits(threads, memory_limit)
        self._callers_path: str | None = None
        self.read_only = read_only
        self._wait = wait
        self._owned = not isinstance(target, duckdb.DuckDBPyConnection)
        self._folder: PrivateFolder | None = None
        self._fresh = self._shares = self._looked_at = False
        self.before_commit: Callable[[], object] | None = None
        settings = self.limits.settings()
        if isinstance(target, duckdb.DuckDBPyConnection):
            self.con = target
            if target.execute(_OURS, [ALIAS]).fetchall():  # a cursor of a connection we opened
                target.execute(f"USE {ALIAS}")
        elif str(target) == ":memory:":
            self.con = database_file.connection()
            self.con.execute("SET temp_directory = ''")  # else rows spill to where we happen to be
            self.con.execute(f"ATTACH ':memory:' AS {ALIAS}")
            self.con.execute(f"USE {ALIAS}")
        else:
            self.path = Path(target)
            self._open(self.path)
        try:
            if self.path is not None and not read_only:
                database_file.private_log(self.path)
            if self._owned and self.limits.bytes is None:
                settings["block_allocator_memory"] = KEPT_FOR_BLOCKS
            for name, value in settings.items():
                self.con.execute(f"SET {name} = ?", [value])
            self.database = _database(self.con)
            real = self._real
            known = self.path is not None and _known.get(real) == database_file.state(real)
            with self._told("damaged", "no_room"):
                _install(self.con, catalog=not read_only, untouched=self._owned, known=known)
            self._open_lake(whole)
            if whole and not known:
                self._need_own_views()
            self._looked_at = whole
            if read_only and whole and self.path is not None:
                _known[self._real] = database_file.state(self._real)
        except BaseException:
            self.close(failed=True)
            raise

    def _open(self, path: Path) -> None:
        """Attach the file, which is made if need be, with a private folder beside it."""
        if path.is_dir():
            raise WarehouseError(f"{path} is a directory: give --db a file")
        if self.read_only and not path.exists():
            raise WarehouseError(f"no warehouse at {path}: run 'srsql ingest' first or give --db")
        database_file.need_usable(path)
        self._folder = scratch_beside(path)
        try:
            if not self.read_only:
                self._fresh = database_file.make(path)
            self.con = database_file.attached(path, read_only=self.read_only, wait=self._wait)
        except BaseException:  # what was made stays: nobody holds it, so others may have it by now
            if self._folder is not None:
                self._folder.remove()
            raise
        spill = str(self.scratch / "spill") if self.scratch else ""
        self.con.execute("SET temp_directory = ?", [spill])

    @property
    def _real(self) -> Path:
        return Path(os.path.realpath(self.path or ""))

    def _need_own_views(self) -> None:
        """Refuse a file whose views over rows read what is no table of ours, and no file of its
        lake."""
        files: list[str] = []
        if self.lake is not None:
            real = os.path.realpath(self.lake.folder)
            paths = [str(self.lake.folder / each.file) for each in self.lake.files]
            files = [path for path in paths if os.path.realpath(path).startswith(f"{real}/")]
        with self._told("damaged"):
            need_own_views(self.con, self.database, files)

    def confine(self) -> None:
        """From now on DuckDB opens no other file than this one, what it spills, and the lake: for
        questions, whose statements read views of the file. Nothing turns that off again."""
        if self.path is None or not self._owned:
            return
        folders = (self.scratch, self.lake.folder if self.lake else None)
        self.run("SET allowed_directories = ?", [[str(each) for each in folders if each]])
        self.run("SET allowed_paths = ?", [[str(self.path), f"{self.path}.wal"]])
        self.run("SET enable_external_access = false")

    def _open_lake(self, whole: bool) -> None:
        """Look the lake up, if there is one, and remove what a killed change left there."""
        with suppress(duckdb.CatalogException):  # no warehouse yet, and it is only read
            self.read_lake()
        if self.lake is None or not whole:
            return
        self.lake.need_whole()
        if not self.read_only:
            with suppress(OSError):  # the next change tries again
                clear_leftovers(self.con)
            self.read_lake()

    def read_lake(self) -> None:
        """Read anew what the catalog says of the lake."""
        self.lake = find_lake(self.con)

    @property
    def scratch(self) -> Path | None:
        """The private folder of a warehouse that is ours, gone when it closes; None: nothing can
        be written."""
        return self._folder.path if self._folder is not None else None

    @contextmanager
    def beside_another(self) -> Iterator[None]:
        """While this lasts, another database of ours works in this process, and takes this one's
        limit of memory for its own: of a limit for the process each has half."""
        share = self.limits.settings().get("memory_limit")
        if share is None or self._shares:
            yield
            return
        self.run("SET memory_limit = ?", [f"{int(share[:-1]) // 2}B"])
        self._shares = True
        try:
            yield
        finally:
            self._shares = False
            with suppress(duckdb.Error):
                self.con.execute("SET memory_limit = ?", [share])

    @contextmanager
    def _told(self, *faults: Fault) -> Iterator[None]:
        """Damage of a file that is ours is told as damage, wherever it is met; ``faults``: these
        are."""
        try:
            yield
        except duckdb.Error as error:
            damaged = self.lake.fault_behind(error) if self.lake is not None else None
            if damaged is not None:
                raise damaged from None
            ours = self.path is not None and database_file.may_concern(self.path, error)
            if self.path is not None and ours and storage_fault(error) in (faults or ("damaged",)):
                raise database_file.told(self.path, error) from None
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

    @contextmanager
    def let_go(self) -> Iterator[None]:
        """While this lasts other processes may write the file: for long work on a copy of it.

        Only a file of ours that is open for reading is let go, and nothing is asked of it until it
        is attached again, which waits for whoever writes it then.
        """
        if self.path is None or not self.read_only:
            yield
            return
        guards = self.value("SELECT system.main.current_setting('search_path')")
        self.run("USE memory")
        self.run(f"DETACH {ALIAS}")
        try:
            yield
        finally:
            wait = Wait(max(self._wait.seconds, TAKEN_OVER), self._wait.told)
            attach(self.con, self.path, read_only=True, wait=wait)
            self.run("SET search_path = ?", [guards])
            self.read_lake()

    def shorten_log(self) -> None:
        """Have the log of a file of ours written into it, if it is long and nobody else writes."""
        log = None if self.path is None else self.path.with_name(f"{self.path.name}.wal")
        if log is not None and log.exists() and log.stat().st_size > LONG_LOG:
            self.run(f"CHECKPOINT {ALIAS}")

    @contextmanager
    def another(self) -> Iterator[Warehouse]:
        """A second connection to a file of ours, for one other thread: what either changes the
        other sees once it is committed. It lasts as long as the block."""
        con = self.con.cursor()
        try:
            other = Warehouse(con)
            other.path, other._folder, other.lake = self.path, self._folder, self.lake
            yield other
        finally:
            con.close()

    def close(self, *, failed: bool = False) -> None:
        """Close the connection if it is ours; if it failed and the file that was made for it holds
        nothing of anybody's, the file goes."""
        if not self._owned:
            return
        if self.path is not None and not self.read_only:
            if failed and self._fresh and self._holds_nothing():  # while nobody else can open it
                self.path.unlink(missing_ok=True)
                self.path.with_name(f"{self.path.name}.wal").unlink(missing_ok=True)
            else:
                database_file.drop_empty_log(self.path)
        self.con.close()
        if self.path is not None and self._looked_at and not self.read_only:
            _known[self._real] = database_file.state(self._real)
        if self._folder is not None:
            self._folder.remove()

    def _holds_nothing(self) -> bool:
        """Whether there is nothing but the catalog, and nothing in it but the record of runs."""
        here = {"database": ALIAS}
        try:
            others = query("warehouse/warehouse", "things_of_others")
            if self.con.execute(others, here).fetchall():
                return False
            names = self.con.execute(query("warehouse/warehouse", "catalog_tables"), here)
            return not any(
                self.con.execute(f"SELECT 1 FROM {dotted(ALIAS, 'srsql', name)} LIMIT 1").fetchall()
                for (name,) in names.fetchall()
                if name not in ("run", "warehouse")
            )
        except duckdb.Error:
            return False

    def __enter__(self) -> Warehouse:
        """The warehouse itself; it closes when the block ends."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the connection if it is ours."""
        self.close(failed=kind is not None)

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
            with self._told():
                yield
            if self.before_commit is not None:
                self.before_commit()
        except BaseException:
            roll_back(self.con)
            raise
        try:
            if self.path is not None and not self.read_only:
                database_file.private_log(self.path)
            _commit(self.con)
        except WarehouseError:
            roll_back(self.con)
            raise
        except duckdb.Error as error:
            roll_back(self.con)
            if self.path is not None and storage_fault(error):
                raise database_file.told(self.path, error) from None
            raise WarehouseError(f"the warehouse refused the change: {one_line(error)}") from None
        self._fresh = False

    def run(
        self, query: str | duckdb.Statement, parameters: Sequence[Any] | dict[str, Any] = ()
    ) -> None:
        """Execute one statement for its effect."""
        with self._told():
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
        """The temporary tables and views of ours that there are."""
        return set(self._temporary())

    def drop_temporary_tables(self, names: Iterable[str]) -> None:
        """Give their memory back."""
        kinds = self._temporary()
        for name in names:
            self.run(f"DROP {kinds.get(name, 'TABLE')} {dotted('temp', 'main', name)}")

    def _temporary(self) -> dict[str, str]:
        return dict(self.rows(query("warehouse/warehouse", "temporary")))

    def rows(
        self, query: str, parameters: Sequence[Any] | dict[str, Any] = ()
    ) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self._told():
            return self.con.execute(query, parameters or None).fetchall()

    def batches(self, query: str) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query, some thousands at a time; no other statement is run meanwhile."""
        with self._told():
            result = self.con.execute(query)
            while rows := result.fetchmany(_BATCH):
                yield rows

    def arrow_batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """The same as Arrow has them, which take a tenth of the room."""
        with self._told():
            yield from self.con.sql(query).to_arrow_reader(_BATCH)

    def value(self, query: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> Any:
        """First column of the first row of a query; None if there is no row."""
        rows = self.rows(query, parameters)
        return rows[0][0] if rows else None

    def columns(self, *name: str) -> list[str]:
        """Names of the columns of a table or view, in their order.

        Not by ``duckdb_columns()``, which goes through every table of the warehouse.
        """
        with self._told():
            cursor = self.con.execute(f"SELECT t.* FROM {dotted(*name)} AS t LIMIT 0")
            names = [str(entry[0]) for entry in cursor.description or ()]
            cursor.fetchall()
        return names


def _commit(con: duckdb.DuckDBPyConnection) -> None:
    database_file.commit(con)


def roll_back(con: duckdb.DuckDBPyConnection) -> None:
    """Roll back, unless what failed has done so: then DuckDB has no transaction any more."""
    with suppress(duckdb.Error):
        con.execute("ROLLBACK")


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


def _install(
    con: duckdb.DuckDBPyConnection, *, catalog: bool, untouched: bool, known: bool = False
) -> None:
    _need_idle(con)
    if con.execute(_OURS, ["srsql"]).fetchall():
        raise WarehouseError(
            "a database is attached as 'srsql', which makes the schema of that name ambiguous: "
            "attach it under another name, or give the engine the path of the file"
        )
    database = _database(con)
    fingerprint = definitions()
    found = _installed(con, database)
    with guarded(con, untouched=untouched):
        register_udfs(con, untouched=untouched)
        strange: Definitions = {}
        if found == (LAYOUT, fingerprint):  # which the file says of itself
            if known or (database == ALIAS and not untouched):  # a cursor of a connection of ours
                return
            strange = definitions_in(con, database)
            if _has_due_definitions(con, strange, fingerprint):
                return
        if not catalog:
            if found is None:
                return
            raise OutdatedError(
                "the warehouse was last written by another version of srsql: open it once for "
                "writing, for example with 'srsql status'"
            )
        if found is None and untouched and _copy_catalog(con, database, fingerprint):
            return
        _define(con, database, fingerprint, strange)


def _define(
    con: duckdb.DuckDBPyConnection,
    database: str,
    fingerprint: str,
    strange: Iterable[str] = (),
) -> None:
    """Make the catalog and the macros, or those that there are anew.

    Args:
        con: where.
        database: the attached database.
        fingerprint: what it is to say of them.
        strange: names of definitions that are not all ours, which go.
    """
    con.execute("BEGIN TRANSACTION")
    try:
        for each in strange:
            schema, name, kind, *_ = json_of(each)
            kinds = {"macro": "MACRO", "table_macro": "MACRO TABLE", "view": "VIEW", "type": "TYPE"}
            con.execute(f"DROP {kinds[kind]} IF EXISTS {dotted(database, schema, name)}")
        con.execute(f"CREATE SCHEMA IF NOT EXISTS {dotted(database, 'srsql')}")
        con.execute("SET search_path = ?", [f"{dotted(database, 'srsql')},system.main"])
        for file in _definition_files():
            for definition in parsed(*file):
                con.execute(definition)
        con.execute("DELETE FROM srsql.warehouse")
        con.execute(
            "INSERT INTO srsql.warehouse VALUES (?, ?, ?)", [LAYOUT, __version__, fingerprint]
        )
        database_file.commit(con)
    except BaseException as error:
        roll_back(con)
        if isinstance(error, duckdb.InvalidInputException):  # a file opened for reading
            raise WarehouseError(
                f"srsql cannot be installed in {database}: {one_line(error)}"
            ) from None
        raise


def _copy_catalog(con: duckdb.DuckDBPyConnection, database: str, fingerprint: str) -> bool:
    """Copy catalog and macros from the template that the user's cache has, which takes a sixth of
    the time; False: nothing was copied, and the template goes, since the next one is as it should
    be."""
    template = _template(fingerprint)
    if template is None:
        return False
    with suppress(duckdb.Error, WarehouseError):
        con.execute(f"ATTACH {literal(str(template))} AS {_TEMPLATE} (READ_ONLY)")
        try:
            if _installed(con, _TEMPLATE) == (LAYOUT, fingerprint):
                con.execute(f"COPY FROM DATABASE {_TEMPLATE} TO {quoted(database)}")
                return True
        finally:
            con.execute(f"DETACH {_TEMPLATE}")
    with suppress(OSError):
        template.unlink()
    return False


def _template(fingerprint: str) -> Path | None:
    """The file with nothing but the catalog and the macros, made if need be; None: there is no
    folder for it."""
    folder = cache_folder("catalogs")
    if folder is None:
        return None
    names = (__version__, f"layout-{LAYOUT}", fingerprint[:16], f"duckdb-{duckdb.__version__}")
    template = folder / f"{'-'.join(names)}.duckdb"
    if template.exists():
        return template
    try:
        with private_folder(template) as place, database_file.connection() as con:
            made = place / template.name
            database_file.attach(con, made, read_only=False)
            register_udfs(con, untouched=True)
            _define(con, ALIAS, fingerprint)
            con.close()
            os.replace(made, template)
    except (duckdb.Error, OSError, WarehouseError):
        return None
    return template


def _has_due_definitions(
    con: duckdb.DuckDBPyConnection, found: Definitions, fingerprint: str
) -> bool:
    """Whether a file has the definitions that this version makes. Texts that were once compared by
    their syntax trees, which takes a while, are known again by a digest in the user's cache."""
    digest = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
    known = _kept_definitions(fingerprint, f"-{digest}.same")
    if known is not None and known.is_file():
        return True
    if not same_definitions(con, found, _due_definitions(fingerprint)):
        return False
    if known is not None:
        with suppress(OSError), put_beside(known) as beside:
            beside.touch()
    return True


def _kept_definitions(fingerprint: str, suffix: str) -> Path | None:
    """A file of the user's cache about the definitions of this version; None: there is no folder
    for it."""
    folder = cache_folder("definitions")
    names = (__version__, fingerprint[:16], f"duckdb-{duckdb.__version__}")
    return folder / f"{'-'.join(names)}{suffix}" if folder is not None else None


@cache
def _due_definitions(fingerprint: str) -> Definitions:
    """The definitions that this version makes, as DuckDB writes them; kept in the user's cache."""
    kept = _kept_definitions(fingerprint, ".json")
    if kept is not None:
        with suppress(OSError, ValueError):
            return dict(json_of(read_text(kept, encoding="utf-8")))
    with database_file.connection() as con:
        template = _template(fingerprint)
        database = _TEMPLATE
        if template is not None:
            con.execute(f"ATTACH {literal(str(template))} AS {_TEMPLATE} (READ_ONLY)")
        if template is None or _installed(con, _TEMPLATE) != (LAYOUT, fingerprint):
            database = ALIAS
            con.execute(f"ATTACH ':memory:' AS {ALIAS}")
            con.execute(f"USE {ALIAS}")
            register_udfs(con, untouched=True)
            _define(con, ALIAS, fingerprint)
        found = definitions_in(con, database)
    if kept is not None:
        with suppress(OSError), put_beside(kept) as beside:
            beside.write_text(json.dumps(found), encoding="utf-8")
    return found


def definitions() -> str:
    """A digest of the statements that make the catalog and the macros."""
    text = "\n".join(source(*file) for file in _definition_files())
    return hashlib.sha256(text.encode()).hexdigest()


def _definition_files() -> list[tuple[str, str]]:
    from srsql.sql_macros import MACRO_FILES

    files = [("srsql.schemas", file) for file in CATALOG_FILES]
    return files + [("srsql.sql_macros", file) for file in MACRO_FILES]


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
