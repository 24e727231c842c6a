"""The warehouse: one DuckDB file of ours, or a connection of the caller's.

Opening never changes user tables: the catalog lives in the schema ``srsql``, UDFs carry the
prefix ``srsql_``. Every change runs inside :meth:`Warehouse.transaction`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import duckdb

from srsql.engine.errors import Fault, WarehouseError, one_line, storage_fault
from srsql.engine.store import database_file, unchanged
from srsql.engine.store.database_file import ALIAS, NOW, Limits, Wait, attach
from srsql.engine.store.definitions import (
    ATTACHED,
    current_database,
    definitions,
    install_in,
    is_public_file,
    need_idle,
    register,
    roll_back,
)
from srsql.engine.store.guard import (
    guarded,
    need_own_views,
)
from srsql.engine.store.lake_files import Lake, clear_leftovers, find_lake
from srsql.engine.store.scratch import (
    PrivateFolder,
    scratch_beside,
)
from srsql.engine.store.statements import (
    dotted,
    query,
    step_file,
)

if TYPE_CHECKING:
    import pyarrow as pa

TAKEN_OVER = 600.0
"""Seconds for whoever has a file that was let go for a while."""
_BATCH = 5_000
"""Rows that ``batches`` hands on at a time."""

KEPT_FOR_BLOCKS = "25%"
"""Of DuckDB's memory, where nobody limits it: what blocks take it keeps for other blocks, since
memory that is new costs the system more time than a block is worked on."""
_known: dict[Path, unchanged.State] = {}
"""Files that this process has looked at, or has written last, as they were then."""
_OURS = "definitions"
"""Where it is kept that a file holds the definitions of this version."""
_READ_ONLY = "attached in read-only mode"
"""What DuckDB says of a change of a database that is attached for reading."""
LONG_LOG = 128 << 20
"""Bytes of a log that take some seconds to read when the file is opened after a kill."""


class Follower(Protocol):
    """What is to follow every change of a warehouse, in files of its own."""

    def begin(self) -> None:
        """Called before a change; may refuse it, while nothing is changed."""

    def committed(self) -> None:
        """Called after it."""


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
        self._fresh = self._shares = self._looked_at = self.is_public = False
        self._handed_out = not self._owned
        self._functions_due = self._owned and read_only and str(target) != ":memory:"
        self.before_commit: Callable[[], object] | None = None
        self.follower: Follower | None = None
        settings = self.limits.settings()
        if isinstance(target, duckdb.DuckDBPyConnection):
            self._con = target
            if target.execute(ATTACHED, [ALIAS]).fetchall():  # a cursor of a connection we opened
                target.execute(f"USE {ALIAS}")
        elif str(target) == ":memory:":
            self._con = database_file.connection()
            self._con.execute("SET temp_directory = ''")  # else rows spill to where we happen to be
            self._con.execute(f"ATTACH ':memory:' AS {ALIAS}")
            self._con.execute(f"USE {ALIAS}")
        else:
            self.path = Path(target)
            self._open(self.path)
        try:
            if self.path is not None and not read_only:
                database_file.private_log(self.path)
            if self._owned and self.limits.bytes is None:
                settings["block_allocator_memory"] = KEPT_FOR_BLOCKS
            for name, value in settings.items():
                self._con.execute(f"SET {name} = ?", [value])
            self.database = current_database(self._con)
            real = self._real
            known = self.path is not None and _known.get(real) == unchanged.state(real)
            kept = read_only and whole and self.path is not None and not known
            known = known or (kept and unchanged.found_of(real, _OURS) == definitions())
            with self._told("damaged", "no_room"):
                install_in(
                    self._con,
                    catalog=not read_only,
                    untouched=self._owned,
                    known=known,
                    functions=not self._functions_due,
                )
            self.is_public = read_only and is_public_file(self._con, self.database)
            self._open_lake(whole)
            if whole and (not known or (kept and self.lake is not None)):
                self._need_own_views()
            self._looked_at = whole
            if read_only and whole and self.path is not None:
                _known[real] = unchanged.state(real)
                if not known:
                    self.keep(_OURS, definitions())
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
            self._con = database_file.attached(path, read_only=self.read_only, wait=self._wait)
        except BaseException:  # what was made stays: nobody holds it, so others may have it by now
            if self._folder is not None:
                self._folder.remove()
            raise
        spill = str(self.scratch / "spill") if self.scratch else ""
        self._con.execute("SET temp_directory = ?", [spill])

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection, with our functions.

        A file of ours that is opened for reading gets them with the first statement that names one,
        or for whoever takes the connection: most questions need none, and they take as long as
        the rest of opening it.
        """
        if self._functions_due:
            register(self._con, untouched=True)
            self._functions_due = False
        return self._con

    @property
    def _real(self) -> Path:
        return Path(os.path.realpath(self.path or ""))

    def kept(self, name: str) -> Any:
        """What ``keep`` kept of the file, which nobody wrote since; None: nothing."""
        return unchanged.found_of(self._real, name) if self._keeps else None

    def keep(self, name: str, value: Any) -> None:
        """Keep for other processes of this account what was found of the file, until it is written.

        Only of a file that is opened for reading, so that nobody writes it meanwhile, and that
        holds all that a question reads.

        Args:
            name: of what was found.
            value: what JSON can hold.
        """
        if self._keeps:
            unchanged.keep(self._real, name, value, unchanged.state(self._real))

    @property
    def _keeps(self) -> bool:
        return bool(self.path and self.read_only and self.lake is None and not self.is_public)

    def _need_own_views(self) -> None:
        """Refuse a file whose views over rows read what is no table of ours, and no file of its
        lake."""
        files: list[str] = []
        if self.lake is not None:
            real = os.path.realpath(self.lake.folder)
            paths = [str(self.lake.folder / each.file) for each in self.lake.files]
            files = [path for path in paths if os.path.realpath(path).startswith(f"{real}/")]
        with (
            self._told("damaged"),  # texts of views are read with settings of ours
            guarded(self._con, self.database, untouched=self._owned),
        ):
            need_own_views(self._con, self.database, files)

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
                clear_leftovers(self._con)
            self.read_lake()

    def read_lake(self) -> None:
        """Read anew what the catalog says of the lake."""
        self.lake = find_lake(self._con)

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
                self._con.execute("SET memory_limit = ?", [share])

    @contextmanager
    def _told(self, *faults: Fault) -> Iterator[None]:
        """Damage of a file that is ours is told as damage, wherever it is met; ``faults``: these
        are."""
        try:
            yield
        except duckdb.Error as error:
            if isinstance(error, duckdb.InvalidInputException) and _READ_ONLY in str(error):
                raise WarehouseError(
                    "the warehouse is open for reading alone: attach or open it without READ_ONLY "
                    "to change it"
                ) from None
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
        need_idle(self._con)
        _need_plain_names(self._con, self.database)
        untouched = not self._handed_out
        with guarded(self._con, self.database, untouched=untouched) as callers_path:
            self._callers_path = callers_path
            try:
                yield
            finally:
                self._callers_path = None

    def handed_out(self, query: str | None = None) -> duckdb.DuckDBPyConnection:
        """The connection, for statements of a caller, who may make temporary macros with it.

        Args:
            query: all that he runs; queries alone make none. None: he keeps the connection.
        """
        if not self._handed_out:
            self._handed_out = query is None or not _only_queries(query)
        return self.con

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
            attach(self._con, self.path, read_only=True, wait=wait)
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
        self._con.close()
        if self.path is not None and self._looked_at and not self.read_only:
            _known[self._real] = unchanged.state(self._real)
        if self._folder is not None:
            self._folder.remove()

    def _holds_nothing(self) -> bool:
        """Whether there is nothing but the catalog, and nothing in it but the record of runs."""
        here = {"database": ALIAS}
        try:
            others = query("warehouse/warehouse", "things_of_others")
            if self._con.execute(others, here).fetchall():
                return False
            names = self._con.execute(query("warehouse/warehouse", "catalog_tables"), here)
            return not any(
                self._con.execute(
                    f"SELECT 1 FROM {dotted(ALIAS, 'srsql', name)} LIMIT 1"
                ).fetchall()
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
        need_idle(self._con)
        if self.follower is not None:
            self.follower.begin()
        self._con.execute("BEGIN TRANSACTION")
        try:
            with self._told():
                yield
            if self.before_commit is not None:
                self.before_commit()
        except BaseException:
            roll_back(self._con)
            raise
        try:
            if self.path is not None and not self.read_only:
                database_file.private_log(self.path)
            _commit(self._con)
        except WarehouseError:
            roll_back(self._con)
            raise
        except duckdb.Error as error:
            roll_back(self._con)
            if self.path is not None and storage_fault(error):
                raise database_file.told(self.path, error) from None
            raise WarehouseError(f"the warehouse refused the change: {one_line(error)}") from None
        self._fresh = False
        if self.follower is not None:
            self.follower.committed()

    def _executed(
        self, query: str | duckdb.Statement, parameters: Sequence[Any] | dict[str, Any] = ()
    ) -> duckdb.DuckDBPyConnection:
        """The connection with the result of a statement; see ``con`` for functions that are due."""
        try:
            return self._con.execute(query, parameters or None)
        except duckdb.CatalogException as error:  # before anything ran
            if not self._functions_due or "srsql_" not in str(error):
                raise
        return self.con.execute(query, parameters or None)

    def run(
        self, query: str | duckdb.Statement, parameters: Sequence[Any] | dict[str, Any] = ()
    ) -> None:
        """Execute one statement for its effect."""
        with self._told():
            self._executed(query, parameters)

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

    @contextmanager
    def given(
        self, name: str, columns: Mapping[str, Sequence[int] | Sequence[str | None]]
    ) -> Iterator[None]:
        """Let statements read lists of equal length as ``temp.main.NAME``, while the block runs.

        ``unnest`` of a list that is a parameter takes fifteen times as long.
        """
        import pyarrow as pa

        listed = [_column(values) for values in columns.values()]
        self._con.register(name, pa.Table.from_arrays(listed, list(columns)))
        try:
            yield
        finally:
            self._con.unregister(name)

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
            return self._executed(query, parameters).fetchall()

    def records(self, query: str) -> list[dict[str, Any]]:
        """All rows of a query, by the names of its columns."""
        with self._told():
            cursor = self._executed(query)
            names = [str(entry[0]) for entry in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def batches(self, query: str) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query, some thousands at a time; no other statement is run meanwhile."""
        with self._told():
            result = self._executed(query)
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
            cursor = self._con.execute(f"SELECT t.* FROM {dotted(*name)} AS t LIMIT 0")
            names = [str(entry[0]) for entry in cursor.description or ()]
            cursor.fetchall()
        return names


def _only_queries(text: str) -> bool:
    """Whether a text has no statement but queries."""
    try:
        found = duckdb.extract_statements(text)
    except duckdb.Error:  # which whoever runs it is told
        return False
    return all(each.type == duckdb.StatementType.SELECT for each in found)


def _commit(con: duckdb.DuckDBPyConnection) -> None:
    database_file.commit(con)


def _need_plain_names(con: duckdb.DuckDBPyConnection, database: str) -> None:
    """Refuse an attached database called like a schema of ours: neither could be named."""
    statement = query("warehouse/warehouse", "schema_conflicts")
    taken = con.execute(statement, {"database": database}).fetchall()
    if taken:
        raise WarehouseError(
            f"a database is attached as {taken[0][0]!r}, which makes the schema of that name "
            "ambiguous: attach it under another name"
        )


def _column(values: Sequence[int] | Sequence[str | None]) -> pa.Array:
    """Whole numbers, or texts, as a column; ``pyarrow.array`` would load pandas for it."""
    import numpy as np
    import pyarrow as pa

    from srsql.udfs.columns import column_of

    if isinstance(next(iter(values), None), int):
        return column_of(np.array(values), pa.int64())
    known = np.array([text is not None for text in values], dtype=np.bool_)
    if not known.any():
        return pa.nulls(len(values), pa.large_string())
    texts = [str(text) if text is not None else "" for text in values]
    data = "".join(texts).encode()
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    if len(data) != sizes.sum():  # some sign takes several bytes
        sizes = np.fromiter((len(text.encode()) for text in texts), np.int64, len(texts))
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(sizes, out=ends[1:])
    buffers = [*map(pa.py_buffer, (np.packbits(known, bitorder="little"), ends, data))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)
