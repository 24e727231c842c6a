"""What a caller made or set on his connection, or a file of a stranger holds, does not change what
a statement of ours means.

A file that others had, such as a backup from elsewhere, can hold macros and views under our names
with other texts. That it says which version wrote it proves nothing. So the texts themselves are
compared with what this version makes, and the views over rows read nothing but tables of the
file, and the files that its lake lists.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import duckdb

from srsql.engine.errors import DamagedError, WarehouseError, printable
from srsql.engine.store.statements import dotted, query
from srsql.schemas.outside import json_of

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

Definitions = dict[str, list[str]]
"""Name, kind and parameters of each macro, view and type of the catalog -> its texts."""
_OURS = re.compile(r"srsql|srsql_data|raw_.+|draft_.+|release_.+|released.*")
"""Schemas whose tables views over rows read."""
_NAME = r'(?:"(?:[^"]|"")+"|\w+)'
_VIEW = re.compile(rf"CREATE VIEW {_NAME}\.{_NAME}(?: ?\([^()]*\))? AS (.*?);?\s*", re.DOTALL)
_SOURCES = {"BASE_TABLE", "SUBQUERY", "JOIN", "EMPTY", "EXPRESSION_LIST"}
_QUERIES = {"SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE"}
MOST_TREE = 10_000
"""Levels of a syntax tree."""
STRANGE = "a stranger may have prepared the file: restore a backup that only you had"


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
    watched = _watched(con)
    values = con.execute(f"SELECT {', '.join(map(_value_of, watched))}").fetchall()[0]
    for name, value in zip(watched, values, strict=True):
        wanted = SETTINGS[name]
        if value == wanted:
            continue
        try:
            con.execute(f"SET {name} = ?", [wanted])
        except duckdb.Error:
            raise WarehouseError(
                f"the setting {name} is {value!r} and locked; the engine needs {wanted!r}: set it "
                "before SET lock_configuration"
            ) from None
        changed[name] = value


def _value_of(setting: str) -> str:
    return f"CAST(system.main.current_setting('{setting}') AS VARCHAR)"


def _watched(con: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Those of ``SETTINGS`` that this DuckDB has: ``duckdb_settings()`` leaves some of them out.

    They are asked for in a transaction of our own, since an unknown one ends it.
    """
    if not _WATCHED:
        with con.cursor() as own:
            try:
                own.execute(f"SELECT {', '.join(map(_value_of, SETTINGS))}")
                _WATCHED.extend(SETTINGS)
            except duckdb.CatalogException:
                _WATCHED.extend(name for name in SETTINGS if _is_setting(own, name))
    return tuple(_WATCHED)


def _is_setting(con: duckdb.DuckDBPyConnection, name: str) -> bool:
    try:
        con.execute(f"SELECT {_value_of(name)}")
    except duckdb.CatalogException:
        return False
    return True


_WATCHED: list[str] = []
"""Once somebody has asked for them."""


def definitions_in(con: duckdb.DuckDBPyConnection, database: str) -> Definitions:
    """The macros, views and types of the catalog of a database, as DuckDB writes them."""
    statement = query("warehouse/warehouse", "definitions")
    found: Definitions = {}
    for name, text in con.execute(statement, {"database": database}).fetchall():
        found.setdefault(name, []).append(str(text))
    return found


def same_definitions(con: duckdb.DuckDBPyConnection, found: Definitions, due: Definitions) -> bool:
    """Whether these are the definitions that this version makes.

    DuckDB does not keep the order of some parts, so that texts that differ are compared by their
    syntax trees.
    """
    if found.keys() != due.keys():
        return False
    for name, texts in found.items():
        if texts != due[name]:
            trees = [_tree(con, text) for text in texts]
            if None in trees or trees != [_tree(con, text) for text in due[name]]:
                return False
    return True


def need_own_views(
    con: duckdb.DuckDBPyConnection, database: str, files: Collection[str] = ()
) -> None:
    """Refuse a file in which a view over rows reads anything but tables of ours.

    Args:
        con: a connection without a transaction.
        database: the attached file.
        files: paths of the files of its lake, which views of raw rows read.

    Raises:
        DamagedError: the text names the view.
    """
    statement = query("warehouse/warehouse", "views_of_rows")
    for schema, name, text in con.execute(statement, {"database": database}).fetchall():
        allowed = set(files) if schema.startswith("raw_") else set()
        match = _VIEW.fullmatch(text)
        tree = _tree(con, match[1]) if match else None
        if tree is None or not _reads_ours(tree, database, allowed, _ctes(tree)):
            raise DamagedError(
                f"the view {printable(f'{schema}.{name}')} reads something else than the tables of "
                f"its warehouse: {STRANGE}"
            )


def _tree(con: duckdb.DuckDBPyConnection, text: str) -> Any:
    """The syntax tree of a query or an expression; None: there is none."""
    statement = query("warehouse/warehouse", "syntax")
    for whole in (text.removeprefix("CREATE VIEW "), text, f"SELECT ({text})"):
        match = _VIEW.fullmatch(f"CREATE VIEW {whole}")
        ((written,),) = con.execute(statement, {"text": match[1] if match else whole}).fetchall()
        found = json_of(written, most_depth=MOST_TREE)
        if not found.get("error"):
            return _plain(found)
    return None


def _plain(tree: Any) -> Any:
    """A tree without the places of its parts in the text; what DuckDB does not keep in an order
    (the parts of WITH, and of EXCLUDE, REPLACE and RENAME behind a star) is in one."""
    if isinstance(tree, list):
        return [_plain(each) for each in tree]
    if not isinstance(tree, dict):
        return tree
    found = {n: _plain(v) for n, v in tree.items() if not n.startswith("query_location")}
    parts = found.get("map")
    if isinstance(parts, list) and all(isinstance(p, dict) and "key" in p for p in parts):
        found["map"] = sorted(parts, key=lambda part: str(part["key"]))
    if found.get("class") == "STAR":
        found |= {n: sorted(v, key=repr) for n, v in found.items() if isinstance(v, list)}
    return found


def _ctes(tree: Any) -> set[str]:
    """The names of the parts of every WITH of a tree."""
    if isinstance(tree, list):
        return set().union(*map(_ctes, tree))
    if not isinstance(tree, dict):
        return set()
    parts = tree.get("cte_map", {}).get("map", []) if isinstance(tree.get("cte_map"), dict) else []
    return {str(part["key"]) for part in parts}.union(*map(_ctes, tree.values()))


def _reads_ours(tree: Any, database: str, files: set[str], parts: set[str]) -> bool:
    """Whether a tree reads tables of ours, parts of its own WITH and these files alone."""
    if isinstance(tree, list):
        return all(_reads_ours(each, database, files, parts) for each in tree)
    if not isinstance(tree, dict):
        return True
    kind, schema = str(tree.get("type")), str(tree.get("schema_name", tree.get("schema", "")))
    catalog = str(tree.get("catalog_name", tree.get("catalog", "")))
    if kind == "TABLE_FUNCTION":
        return _is_lake_reader(tree.get("function"), files)
    if "sample" in tree and kind not in _SOURCES | _QUERIES:
        return False
    if kind == "BASE_TABLE":
        in_ours = bool(_OURS.fullmatch(schema)) and catalog in ("", database)
        if not in_ours and not (schema == catalog == "" and tree.get("table_name") in parts):
            return False
    if tree.get("class") == "FUNCTION" and (catalog, schema) not in _FUNCTIONS:
        return False
    return all(_reads_ours(each, database, files, parts) for each in tree.values())


_FUNCTIONS = {("", ""), ("system", "main"), ("", "srsql")}
"""Where the functions of views lie: those that are not qualified are looked up among our macros,
which are compared, and the built-ins."""


def _is_lake_reader(function: Any, files: set[str]) -> bool:
    """Whether a call reads nothing but files of the lake, one by one."""
    if not isinstance(function, dict) or function.get("function_name") != "read_parquet":
        return False
    if (function.get("catalog"), function.get("schema")) != ("system", "main"):
        return False
    listed, *options = [each.get("expression", {}) for each in function.get("arguments", [{}])]
    if listed.get("function_name") != "list_value":
        return False
    paths = [_constant(each.get("expression", {})) for each in listed.get("arguments", [])]
    constant = (_constant(each.get("right", {})) for each in options)
    return bool(paths) and set(paths) <= files and all(each is not None for each in constant)


def _constant(tree: Mapping[str, Any]) -> str | None:
    """The text of a constant; None: it is none."""
    literal = tree.get("literal") if tree.get("class") == "CONSTANT" else None
    return str(literal.get("text")) if isinstance(literal, dict) else None
