"""The catalog and the macros of a database: made, or compared with what this version makes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import duckdb

from srsql.engine.errors import OutdatedError, WarehouseError, one_line
from srsql.engine.store import comments, database_file
from srsql.engine.store.comments import COLUMNS, Told, column_comment, told
from srsql.engine.store.composed import macro_text
from srsql.engine.store.database_file import ALIAS
from srsql.engine.store.guard import (
    Definitions,
    definitions_in,
    guarded,
    same_definitions,
)
from srsql.engine.store.scratch import private_folder, put_beside
from srsql.engine.store.statements import (
    dotted,
    literal,
    query,
    quoted,
    source,
)
from srsql.schemas.outside import json_of, read_text
from srsql.udfs.caches import cache_folder
from srsql.version import __version__

LAYOUT = 13
INTERNAL = "srsql_internal"
"""Schema of the macros that public ones are made of."""
READER = "srsql_reader"
"""Schema of the views by which public macros find rows; they are made where rows are."""
CATALOG_FILES = (
    "waiting.sql",
    "catalog.sql",
    "pseudonyms.sql",
    "verdicts.sql",
    "lake.sql",
    "ingested.sql",
    "public_file.sql",
)
_TEMPLATE = "template_of_srsql"
"""Under which name the file is attached from which a new warehouse has its catalog."""
ATTACHED = "SELECT 1 FROM system.main.duckdb_databases() AS d WHERE d.database_name = ?"
"""Whether a database of a name is attached."""
_NAMES = tuple(
    f"SELECT o.schema_name, o.{name} FROM system.main.{catalog}() AS o "
    "WHERE o.database_name = ? AND o.schema_name IN ('srsql', 'srsql_data', 'srsql_internal') "
    f"ORDER BY o.{name} <> 'warehouse', o.schema_name, o.{name} LIMIT 1"
    for catalog, name in (
        ("duckdb_tables", "table_name"),
        ("duckdb_views", "view_name"),
        ("duckdb_functions", "function_name"),
    )
)
"""What the schemas of our names hold; functions last, since DuckDB lists all of its own first."""


def register(con: duckdb.DuckDBPyConnection, *, untouched: bool) -> None:
    """Give a connection our functions; with them come NumPy and Arrow."""
    from srsql.udfs.register import register_udfs

    register_udfs(con, untouched=untouched)


def install(con: duckdb.DuckDBPyConnection, *, catalog: bool = True) -> None:
    """Put the UDFs and macros (and the catalog) into ``con`` without touching its tables.

    They go to the current database: the schemas ``srsql`` and ``srsql_data``.

    Raises:
        WarehouseError: one of these schemas is somebody else's, a transaction is open, or nothing
            can be written there.
    """
    install_in(con, catalog=catalog, untouched=False)


def install_in(
    con: duckdb.DuckDBPyConnection,
    *,
    catalog: bool,
    untouched: bool,
    known: bool = False,
    functions: bool = True,
) -> None:
    """See ``install``. ``untouched``: the connection is new; ``known``: this process wrote the file
    last; ``functions``: the UDFs too, which may come later where nothing is made."""
    need_idle(con)
    if con.execute(ATTACHED, ["srsql"]).fetchall():
        raise WarehouseError(
            "a database is attached as 'srsql', which makes the schema of that name ambiguous: "
            "attach it under another name, or give the engine the path of the file"
        )
    database = current_database(con)
    fingerprint = definitions()
    found = _installed(con, database)
    with guarded(con, untouched=untouched):
        if functions:
            register(con, untouched=untouched)
        if catalog and found is not None and is_public_file(con, database):
            raise WarehouseError(
                "this is the public file of a warehouse, and is written with the warehouse alone: "
                "give the warehouse, or open the file for reading (read_only=True)"
            )
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
        if found is not None and not strange:  # else what only the other version had stays
            strange = definitions_in(con, database)
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
        for schema in ("srsql", INTERNAL, READER):
            con.execute(f"CREATE SCHEMA IF NOT EXISTS {dotted(database, schema)}")
        con.execute("SET search_path = ?", [f"{dotted(database, 'srsql')},system.main"])
        for file in definition_files():
            for definition in _parsed(*file):
                con.execute(definition)
        con.execute(_comments(con, database))
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
            register(con, untouched=True)
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
            register(con, untouched=True)
            _define(con, ALIAS, fingerprint)
        found = definitions_in(con, database)
    if kept is not None:
        with suppress(OSError), put_beside(kept) as beside:
            beside.write_text(json.dumps(found), encoding="utf-8")
    return found


@cache
def definitions() -> str:
    """A digest of the statements that make the catalog and the macros, and of what comments them:
    to read the comments off takes longer than all the rest."""
    made = [macro_text(*file) for file in definition_files()]
    of_comments = [source(comments.__package__, name) for name in ("comments.py", COLUMNS)]
    text = "\n".join([*made, *of_comments])
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _parsed(package: str, file: str) -> tuple[duckdb.Statement, ...]:
    """The statements of one file, for any connection: parsing a macro takes longer than making it,
    so that it is done once for all warehouses that a process opens."""
    return tuple(duckdb.extract_statements(macro_text(package, file)))


@cache
def described() -> tuple[Told, ...]:
    """What is told of each table, view and macro of a warehouse."""
    return tuple(told((file, macro_text(package, file)) for package, file in definition_files()))


def _comments(con: duckdb.DuckDBPyConnection, database: str) -> str:
    """The statements that say what each definition is, and each column of a table or view."""
    columns = con.execute(query("warehouse/warehouse", "columns"), {"database": database})
    return ";\n".join(
        [each.statement for each in described()]
        + [column_comment(*column) for column in columns.fetchall()]
    )


def definition_files() -> list[tuple[str, str]]:
    """Package and name of every file of definitions, in the order of installation."""
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


def is_public_file(con: duckdb.DuckDBPyConnection, database: str) -> bool:
    """Whether a database of ours is the public file of a warehouse, by what it says of itself."""
    origin = dotted(database, "srsql", "public_origin")
    with suppress(duckdb.CatalogException, duckdb.BinderException):  # one of an earlier version
        return bool(con.execute(f"SELECT 1 FROM {origin} LIMIT 1").fetchall())
    return False


def current_database(con: duckdb.DuckDBPyConnection) -> str:
    """The name of the database that is in use."""
    return str(con.execute("SELECT system.main.current_database()").fetchall()[0][0])


def roll_back(con: duckdb.DuckDBPyConnection) -> None:
    """Roll back, unless what failed has done so: then DuckDB has no transaction any more."""
    with suppress(duckdb.Error):
        con.execute("ROLLBACK")


def need_idle(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse to work inside a transaction of the caller's, which an error would abort."""
    first, second = (con.execute("SELECT system.main.txid_current()").fetchall() for _ in range(2))
    if first == second:
        raise WarehouseError(
            "the connection has an open transaction: commit it or roll it back first"
        )
