"""Which copies of a warehouse still hold cases that were forgotten in it.

What srsql leaves beside a warehouse (``restore``, ``migrate``, a command that works on a copy) and
every other database that lies in its folder. Of those the tables alone are read, by their names,
with nothing else open: whatever view, macro or file of others such a file names stays unread.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb
from sqlglot import exp

from srsql.engine.catalog.layout import ERASED_BY_CASE, NAMES_CASES
from srsql.engine.errors import SrsqlError
from srsql.engine.store.database_file import ALIAS, Limits, attached
from srsql.engine.store.lake_files import read_marker
from srsql.engine.store.statements import column, query, table, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.outside import open_plain

Place = tuple[str, str]
"""Schema and name of a table."""
OF_RELEASES = tuple(name for name, by in NAMES_CASES.items() if by == "release_id")
"""Tables of the catalog that have case ids of releases."""
OF_DATASETS = (
    *((name, "case_id") for name, by in NAMES_CASES.items() if by == "dataset"),
    *((name, column) for name, columns in ERASED_BY_CASE.items() for column in columns),
)
"""Those that have them of datasets, and the column with the ids."""
CATALOG: frozenset[Place] = frozenset(
    ("srsql", name) for name in ("release", *OF_RELEASES, *(name for name, _ in OF_DATASETS))
)
_KEPT = re.compile(r"\.(layout-\d+|before-restore)")
"""What follows the name of a warehouse, or of its lake, in that of a copy that was kept."""
_AT_WORK = re.compile(r"\.(?:\d+-)?[0-9a-z_]+\.(scratch|copying)")
"""What follows the name of a warehouse in that of a folder of a command that runs."""
_MAGIC = (8, b"DUCK")
"""Where a file of DuckDB says that it is one, and how."""
Columns = frozenset[tuple[str, str, str]]


@dataclass(frozen=True)
class Copy:
    """A file or folder that holds forgotten cases, or may."""

    path: str
    cases: int | None
    """How many of them its tables have; None: that could not be looked at, or not all of it."""
    kept: bool
    """srsql made it as a copy; else it is some other database, in which cases can be forgotten."""


def held_cases(dataset: Dataset, tables: Collection[Place]) -> exp.Query | None:
    """The case ids (``case_id``) that those tables of a warehouse have of a dataset; None: none of
    them has any.

    Args:
        dataset: whose cases.
        tables: those that there are.
    """
    parts: list[exp.Query] = []
    if (f"raw_{dataset.name}", dataset.report_table) in tables:
        case = exp.cast(column(dataset.case_id, "t"), "VARCHAR").as_("case_id")
        raw = table(f"raw_{dataset.name}", dataset.report_table, alias="t")
        parts.append(exp.select(case).distinct().from_(raw))
    for name in OF_RELEASES:
        if not {("srsql", name), ("srsql", "release")} <= set(tables):
            continue
        rows = exp.select(column("case_id", "t"))
        rows = rows.from_(table("srsql", name, alias="t"))
        own = table("srsql", "release", alias="r")
        rows = rows.join(own, on=column("release_id", "r").eq(column("release_id", "t")))
        parts.append(rows.where(column("dataset", "r").eq(exp.Literal.string(dataset.name))))
    for name, case_column in OF_DATASETS:
        if ("srsql", name) not in tables:
            continue
        rows = exp.select(column(case_column, "t"))
        rows = rows.from_(table("srsql", name, alias="t"))
        parts.append(rows.where(column("dataset", "t").eq(exp.Literal.string(dataset.name))))
    return union_all(parts) if parts else None


def copies_with(warehouse: Warehouse, dataset: Dataset, cases: Sequence[str]) -> list[Copy]:
    """The copies that hold cases, or may: those that srsql kept, whatever their tables have (what
    was deleted from a file stays in its blocks), and of other databases those that have one.

    Args:
        warehouse: of a file, beside which is looked; elsewhere nothing is found.
        dataset: whose cases.
        cases: their ids.
    """
    path = warehouse.path
    if path is None:
        return []
    found, own = [], Path(os.path.realpath(path)) if path.is_symlink() else path
    for file, is_kept in _files(own, warehouse.scratch):
        held = _cases_in(file, dataset, cases, warehouse.limits) if file.is_file() else None
        if is_kept or held != 0:
            found.append(Copy(str(file), held, is_kept))
            lake = file.with_name(f"{file.name}.lake")  # as a backup has it
            found += [Copy(str(lake), None, is_kept)] if read_marker(lake) else []
    if warehouse.lake is not None:
        found += [Copy(str(each), None, True) for each in _named(warehouse.lake.folder, _KEPT)]
    return sorted(found, key=lambda copy: copy.path)


def _files(path: Path, scratch: Path | None) -> Iterator[tuple[Path, bool]]:
    """What may be a copy of a warehouse, and whether it was made as one."""
    kept = {*_named(path, _KEPT), path.with_name(f"{path.name}.tmp")}
    for file in kept:
        if os.path.lexists(file):
            yield file, True
    for folder in _named(path, _AT_WORK):
        if scratch is None or folder.name != scratch.name:
            yield folder, True
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            file = Path(entry.path)
            if file not in kept and entry.is_file() and _is_other_database(file, path):
                yield file, False


def _named(path: Path, ending: re.Pattern[str]) -> list[Path]:
    """What lies beside a file or folder and is called like it, with such an ending."""
    own = {path.name, f".{path.name}"}
    found: list[Path] = []
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            at = next((len(name) for name in own if entry.name.startswith(f"{name}.")), None)
            if at is not None and ending.fullmatch(entry.name[at:]):
                found.append(Path(entry.path))
    return found


def _is_other_database(file: Path, path: Path) -> bool:
    at, magic = _MAGIC
    try:
        with open_plain(file) as opened:
            return opened.read(at + len(magic))[at:] == magic and not file.samefile(path)
    except OSError:
        return False


def _cases_in(file: Path, dataset: Dataset, cases: Sequence[str], limits: Limits) -> int | None:
    """How many of the cases the tables of a file have; None: it cannot be read, or its raw rows
    lie elsewhere."""
    try:
        with attached(file, read_only=True, limits=limits) as con:
            con.execute("SET enable_external_access = false")
            rows = con.execute(query("release/forget", "stored_columns"), {"database": ALIAS})
            columns = frozenset((row[0], row[1], row[2]) for row in rows.fetchall())
            held = held_cases(dataset, _with_cases(dataset, columns))
            if held is None:
                return 0
            ids = exp.select(column("case_id", "h")).distinct().from_(held.subquery("h"))
            ids = ids.where(column("case_id", "h").isin(*cases))
            number = len(con.execute(ids.sql(dialect="duckdb")).fetchall())
    except (SrsqlError, duckdb.Error):
        return None
    elsewhere = (f"raw_{dataset.name}", dataset.report_table, "") in columns  # in a lake
    return None if elsewhere and not number else number


def _with_cases(dataset: Dataset, columns: Columns) -> set[Place]:
    """The tables of ``held_cases`` that a file of whatever layout has, with their columns."""
    needed: dict[Place, set[str]] = {("srsql", "release"): {"release_id", "dataset"}}
    needed[f"raw_{dataset.name}", dataset.report_table] = {dataset.case_id}
    for name in OF_RELEASES:
        needed["srsql", name] = {"release_id", "case_id"}
    for name, case_column in OF_DATASETS:
        needed.setdefault(("srsql", name), {"dataset"}).add(case_column)
    return {
        place for place, names in needed.items() if {(*place, each) for each in names} <= columns
    }
