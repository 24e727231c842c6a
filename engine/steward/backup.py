"""Copies of a warehouse: a backup, and a file without what was deleted from it.

Rows that were deleted stay in the blocks of a file, after a checkpoint as well (remanence; SPEC
section 16). A copy made table by table (``COPY FROM DATABASE``) holds none of them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import duckdb

from srsql.engine.errors import WarehouseError, one_line
from srsql.engine.lake.lake_upkeep import copied_beside, point
from srsql.engine.store import database_file
from srsql.engine.store.database_file import ALIAS, Wait, attach, attached, need_usable
from srsql.engine.store.definitions import roll_back
from srsql.engine.store.scratch import private_folder, remove_leftovers, renames, sync
from srsql.engine.store.statements import dotted, literal, query
from srsql.engine.store.warehouse import TAKEN_OVER, Warehouse

Place = tuple[str, str]
Counts = dict[Place, int]
"""Rows of every stored table and of every released view, by schema and name."""
COPY = "srsql_copy"
REBUILD = "srsql forget --rebuild"
"""What takes the place of a rebuilding that could not be done."""


@dataclass(frozen=True)
class Backup:
    """A copy of a warehouse."""

    path: str
    tables: int
    """Stored tables and released views whose rows were counted in both."""
    rows: int
    bytes_on_disk: int
    lake: str | None = None
    """The folder with a copy of the lake."""
    there: bool = False
    """It was there already, just as asked."""


def row_counts(con: duckdb.DuckDBPyConnection, database: str = ALIAS) -> Counts:
    """Rows of the catalog, the raw and the stored tables, and of the released views.

    Args:
        con: a connection on which ``database`` is the current one.
        database: which is counted.
    """
    names = con.execute(query("warehouse/migrate", "stored"), {"database": database}).fetchall()
    return {
        (schema, name): con.execute(
            f"SELECT system.main.count(*) FROM {dotted(database, schema, name)}"
        ).fetchall()[0][0]
        for schema, name in names
    }


def need_all(
    before: Counts,
    after: Counts,
    otherwise: str,
    renamed: Mapping[Place, Place] | None = None,
    grown: Collection[Place] = (),
) -> None:
    """Refuse a copy in which something is missing, or has other rows.

    Args:
        before: of the original.
        after: of the copy.
        otherwise: what is so if it is refused, for the message.
        renamed: tables with another name in the copy.
        grown: tables that may have more rows there.

    Raises:
        WarehouseError: the text names what differs.
    """
    for place, rows in before.items():
        now = (renamed or {}).get(place, place)
        kept = after.get(now)
        if kept != rows and not (now in grown and kept is not None and kept > rows):
            raise WarehouseError(
                f"{'.'.join(now)} would have {after.get(now, 'no')} rows instead of {rows:,}: "
                f"{otherwise}"
            )


def need_free(kept: Path, path: Path) -> None:
    """Refuse to overwrite an earlier file that is kept; of a swap that was killed it is the file
    itself, under one more name, and goes.

    Raises:
        WarehouseError: the text names it.
    """
    if kept.exists() and path.exists() and kept.samefile(path):
        kept.unlink()
    if kept.exists():
        raise WarehouseError(f"{kept} is there already: move it away, it would be overwritten")


@contextmanager
def copied(
    con: duckdb.DuckDBPyConnection, database: str, target: Path, otherwise: str
) -> Iterator[tuple[Path, Counts]]:
    """A checked copy of an attached database beside ``target``, removed at the end if still there.

    It is made in a folder that its owner alone can enter, and readable by its owner alone.

    Args:
        con: a connection without a transaction.
        database: which is copied.
        target: where the copy is to go to; it is made in the same folder.
        otherwise: what is so if it fails, for messages.

    Yields:
        The copy, not attached any more, and the rows that were counted in it.

    Raises:
        WarehouseError: it cannot be written, or has other rows than the original.
    """
    with private_folder(target, "copying") as folder:
        made = folder / target.name
        try:
            con.execute(f"ATTACH {literal(str(made))} AS {COPY}")
            try:
                con.execute("BEGIN TRANSACTION")
                before = row_counts(con, database)
                con.execute(f"COPY FROM DATABASE {dotted(database)} TO {COPY}")
                database_file.commit(con)
            except BaseException:
                roll_back(con)
                raise
            finally:
                con.execute(f"DETACH {COPY}")
        except duckdb.Error as error:
            raise WarehouseError(f"{target}: {one_line(error)}; {otherwise}") from None
        made.chmod(0o600)
        opened = attached(made, read_only=True)
        try:
            after = row_counts(opened)
        finally:
            opened.close()
        need_all(before, after, otherwise)
        sync(made)
        yield made, after


def backup(warehouse: Warehouse, to: Path, *, if_needed: bool = False) -> Backup:
    """Copy the whole warehouse to a new file; nobody writes to it meanwhile.

    Args:
        warehouse: may be read-only, or on a connection of the caller's, whose database is copied
            with all that is in it.
        to: the new file, readable by its owner alone.
        if_needed: a file that is there already and holds the same is left as it is.

    Raises:
        WarehouseError: there is a file already, or the copy cannot be made.
    """
    need_usable(to)
    if if_needed and to.is_file():
        return _there(warehouse, to)
    remove_leftovers(to)  # and what a backup that was killed did not finish
    lake = warehouse.lake if warehouse.lake and warehouse.lake.changes else None
    beside = to.with_name(f"{to.name}.lake")
    for each in (to, to.with_name(f"{to.name}.wal"), *([beside] if lake else [])):
        if each.exists():
            raise WarehouseError(f"{each} is there already: give --to the name of a new file")
    if not to.absolute().parent.is_dir():
        raise WarehouseError(f"there is no folder {to.absolute().parent}: make it first")
    try:
        with (
            copied(warehouse.con, warehouse.database, to, "no backup was made") as (made, counts),
            copied_beside(lake, beside) if lake else nullcontext() as copy,
            renames(made, to) as names,
        ):
            if copy is not None:
                names.put(copy, beside)
                with warehouse.beside_another():
                    point(made, beside, warehouse.limits)
                sync(made)
                sync(beside.absolute().parent)
            names.finish(over=False)
    except FileExistsError:
        raise WarehouseError(f"{to} is there already: give --to the name of a new file") from None
    except OSError as error:
        raise WarehouseError(f"{to}: {error.strerror or one_line(error)}") from None
    size = to.stat().st_size + (sum(each.bytes for each in lake.files) if lake else 0)
    told = str(beside) if lake else None
    return Backup(str(to), len(counts), sum(counts.values()), size, told)


def _there(warehouse: Warehouse, to: Path) -> Backup:
    """The backup that is there, if it is a copy of the warehouse as it is now, row by row, which
    its owner alone can read.

    Raises:
        WarehouseError: it is none, or the warehouse has a lake.
    """
    otherwise = "give --to the name of a new file"
    if warehouse.lake and warehouse.lake.changes:
        raise WarehouseError(f"{to} is there already, and a lake is copied each time: {otherwise}")
    own = getattr(os, "geteuid", lambda: to.stat().st_uid)()
    if to.stat().st_mode & 0o077 or to.stat().st_uid != own:
        raise WarehouseError(f"{to} is there already, and not this account's alone: {otherwise}")
    con, differs = warehouse.con, "it cannot be read"
    try:
        con.execute(f"ATTACH {literal(str(to))} AS {COPY} (READ_ONLY)")
        try:
            counts = row_counts(con, warehouse.database)
            differs = _difference(con, warehouse.database)
        finally:
            con.execute(f"DETACH {COPY}")
    except duckdb.Error:
        counts = {}
    if differs:
        raise WarehouseError(
            f"{to} is there already, and no copy of the warehouse as it is now ({differs}): "
            f"{otherwise}"
        )
    return Backup(str(to), len(counts), sum(counts.values()), to.stat().st_size, there=True)


_TABLES = """SELECT t.schema_name, t.table_name FROM system.main.duckdb_tables() AS t
WHERE t.database_name = ? AND NOT t.temporary ORDER BY ALL"""
_VIEWS = """SELECT v.schema_name, v.view_name, v.sql FROM system.main.duckdb_views() AS v
WHERE v.database_name = ? AND NOT v.internal ORDER BY ALL"""


def _difference(con: duckdb.DuckDBPyConnection, database: str) -> str:
    """What a copy has otherwise, as a clause; empty: nothing."""
    for what, names in (("tables", _TABLES), ("views", _VIEWS)):
        here, there = (con.execute(names, [each]).fetchall() for each in (database, COPY))
        if here != there:
            return f"it has other {what}"
    for schema, name in con.execute(_TABLES, [database]).fetchall():
        own, copy = (dotted(each, schema, name) for each in (database, COPY))
        for one, other in ((own, copy), (copy, own)):
            if con.execute(f"FROM {one} EXCEPT ALL FROM {other} LIMIT 1").fetchall():
                return f"{schema}.{name} has other rows"
    return ""


def rebuild(warehouse: Warehouse) -> None:
    """Put a copy in the place of the file, so that nothing that was deleted is left in it.

    Until the copy takes the place, in one step, the file is as it was. The connection goes on with
    the new file; its rights are those of the old one.

    Raises:
        WarehouseError: the warehouse is on a connection of the caller's, or the copy cannot be
            made.
    """
    path, con = warehouse.path, warehouse.con
    if path is None or warehouse.read_only:
        raise WarehouseError(
            "the file of a connection that is not ours cannot be rebuilt: close it, then run "
            f"'{REBUILD} --db FILE'"
        )
    con.execute("CHECKPOINT")
    try:
        otherwise = f"the file was not rebuilt: run '{REBUILD}'"
        with copied(con, ALIAS, path, otherwise) as (made, _):
            made.chmod(path.stat().st_mode & 0o777)
            os.replace(made, path)
            sync(path.absolute().parent)
        con.execute("USE memory")
        con.execute(f"DETACH {ALIAS}")
        # whoever waited for the old file may have the new one first
        attach(con, path, read_only=False, wait=Wait(TAKEN_OVER))
    except OSError as error:
        raise WarehouseError(f"{path}: {error.strerror or one_line(error)}; {otherwise}") from None
