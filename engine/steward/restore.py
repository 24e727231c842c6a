"""A backup takes the place of a warehouse, and whoever was forgotten since then stays forgotten.

A backup that was made before a case was forgotten holds it. The tokens of the warehouse that is
replaced, and their keys, are carried over; cases of the backup that they recognize are forgotten
in it before it takes the place.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from srsql.engine.catalog.datasets import dataset_names, hmac_pads, registered_dataset
from srsql.engine.errors import DONE, BusyError, DamagedError, ForgetError, WarehouseError
from srsql.engine.lake.lake_upkeep import copied_beside, point
from srsql.engine.steward.backup import copied, need_free, rebuild
from srsql.engine.steward.copies import CATALOG, held_cases
from srsql.engine.steward.forget import TOPIC, forget
from srsql.engine.steward.public_file import carry_files
from srsql.engine.store.database_file import (
    ALIAS,
    NO_LIMITS,
    NOW,
    Limits,
    Wait,
    attached,
    need_usable,
)
from srsql.engine.store.definitions import LAYOUT, is_public_file
from srsql.engine.store.lake_files import MOVED, Lake, find_lake, read_marker
from srsql.engine.store.runs import complete_run, start_run
from srsql.engine.store.scratch import Renames, remove_leftovers, renames, sync
from srsql.engine.store.statements import query, with_rows
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

UNCHANGED = "nothing was restored"
CARRIED_FROM = 4
"""The first layout that knows forgotten cases."""


@dataclass(frozen=True)
class Restored:
    """What became of a warehouse."""

    path: str
    backup: str
    tables: int
    rows: int
    kept: str | None
    """The file as it was; None: there was none."""
    forgotten: dict[str, int]
    """Cases of the backup that had been forgotten since and were forgotten anew, by dataset."""
    carried: bool
    """There was a warehouse whose forgotten cases could be looked at."""
    lake: str | None = None
    """The folder with the lake of the backup."""
    kept_lake: str | None = None
    """The folder that was there, as it was; None: there was none."""


@dataclass(frozen=True)
class _Token:
    dataset: str
    key: bytes
    token: str
    reason: str
    day: Any


def restore(
    path: Path,
    source: Path,
    *,
    without_forgotten: bool = False,
    wait: Wait = NOW,
    limits: Limits = NO_LIMITS,
) -> Restored:
    """Put a backup in the place of a warehouse; the file that was there stays beside it.

    Args:
        path: of the warehouse.
        source: the backup.
        without_forgotten: restore although there is no warehouse that tells who was forgotten
            since the backup was made.
        wait: how long for whoever uses one of the two.
        limits: what the process may take.

    Raises:
        ForgetError: that cannot be told, or not be carried over.
        WarehouseError: the backup is no warehouse of this layout, or somebody uses one of the two;
            both are as they were.
    """
    for each in (path, source):
        remove_leftovers(each)  # and what a restore that was killed did not finish
    kept = path.with_name(f"{path.name}.before-restore")
    if not source.is_file():
        raise WarehouseError(f"no backup at {source}: give --from the file to restore")
    if path.exists() and path.samefile(source):
        raise WarehouseError(f"{source} is the warehouse itself: give --from its backup")
    need_usable(path)
    need_free(kept, path)
    with ExitStack() as stack:
        con = attached(source, read_only=True, limits=limits, wait=wait)
        stack.callback(con.close)
        _need_layout(con, source)
        _need_private(con, source)
        tokens, place = None, path.with_name(f"{path.name}.lake")
        public: list[tuple[str, ...]] | None = None
        if path.exists():  # open until the end, so that nobody writes to it
            _take_in_log(path, limits, wait)
            tokens, stood = _tokens(path, stack, limits, wait, without_forgotten=without_forgotten)
            public = _public_files(path, limits, wait)
            place = stood or place
        elif not without_forgotten:
            raise ForgetError(
                f"there is no warehouse at {path}, so nobody can tell who was forgotten since "
                f"{source} was made: give --without-forgotten, then forget them again"
            )
        lake = _whole_lake(con, source)
        kept_lake = place.with_name(f"{place.name}.before-restore")
        if lake is not None and kept_lake.exists():
            raise WarehouseError(f"{kept_lake} is there already: move it away")
        made, counts = stack.enter_context(copied(con, ALIAS, path, UNCHANGED))
        copy = stack.enter_context(copied_beside(lake, place)) if lake is not None else None
        if copy is not None:
            point(made, copy, limits)
        with Warehouse(made, **asdict(limits)) as restored:
            with restored.guarded():
                forgotten = _carry(restored, tokens or [])
                carry_files(restored, public)
            told = {"from": str(source), "without_forgotten": without_forgotten}
            complete_run(restored, start_run(restored, "restore", told), DONE)
            if forgotten:
                rebuild(restored)
        with renames(made, path) as names:
            if copy is not None:
                if place.exists():
                    names.move(place, kept_lake)
                names.put(copy, place)
                sync(place.absolute().parent)
                point(made, place, limits)
            _swap(names, made, path, kept)
    return Restored(
        str(path),
        str(source),
        len(counts),
        sum(counts.values()),
        str(kept) if kept.exists() else None,
        forgotten,
        tokens is not None,
        str(place) if lake is not None else None,
        str(kept_lake) if lake is not None and kept_lake.exists() else None,
    )


def _swap(names: Renames, made: Path, path: Path, kept: Path) -> None:
    """Put a checked copy in the place of a warehouse, in one step; what was there is kept."""
    if path.exists():
        made.chmod(path.stat().st_mode & 0o777)
        names.keep(path, kept)
        wal = path.with_name(f"{path.name}.wal")
        if wal.exists():
            names.move(wal, kept.with_name(f"{kept.name}.wal"))
    names.finish()


def _whole_lake(con: duckdb.DuckDBPyConnection, source: Path) -> Lake | None:
    """The lake of a backup, with every file, where it is now; None: it has none.

    Raises:
        DamagedError: it is elsewhere, or a file of it is missing.
    """
    lake = find_lake(con)
    if lake is None or not lake.changes:
        return None
    beside = source.absolute().with_name(f"{source.name}.lake")  # the two were moved together
    marker = read_marker(beside)
    if marker is not None and marker[0] == lake.name:
        lake = replace(lake, folder=beside)
    try:
        lake.need_whole()
    except DamagedError as error:
        told = str(error).replace(MOVED, f"{MOVED} --db {source}")
        raise DamagedError(f"of the backup {source}: {told}; {UNCHANGED}") from None
    return lake


def _take_in_log(path: Path, limits: Limits, wait: Wait) -> None:
    """Bring what a log holds of a warehouse, after a kill, into its file: the file alone is kept
    in one step. Of one that cannot be read the log is kept as it is."""
    wal = path.with_name(f"{path.name}.wal")
    if wal.exists():
        with suppress(DamagedError), attached(path, limits=limits, wait=wait) as con:
            con.execute("CHECKPOINT")


def _layout(con: duckdb.DuckDBPyConnection) -> int | None:
    """The layout of a warehouse; None: it is none."""
    try:
        ((layout,),) = con.execute(query("warehouse/migrate", "layout")).fetchall()
    except (duckdb.CatalogException, duckdb.BinderException, ValueError):
        return None
    return int(layout)


def _need_layout(con: duckdb.DuckDBPyConnection, source: Path) -> None:
    layout = _layout(con)
    if layout is None:
        raise WarehouseError(f"{source} is no warehouse of srsql")
    if layout != LAYOUT:
        way_out = (
            f"run 'srsql migrate --db {source}' first"
            if layout < LAYOUT
            else "use the srsql version that made it"
        )
        raise WarehouseError(f"{source} has layout {layout}, this srsql needs {LAYOUT}: {way_out}")


def _tokens(
    path: Path, stack: ExitStack, limits: Limits, wait: Wait, *, without_forgotten: bool
) -> tuple[list[_Token] | None, Path | None]:
    """The forgotten cases of the warehouse (None: they cannot be read, and need not be), and the
    folder of its lake, if it has one.

    Raises:
        ForgetError: they cannot be read.
    """
    try:
        con = attached(path, read_only=True, limits=limits, wait=wait)
        stack.callback(con.close)
        layout = _layout(con)
        if layout is not None and layout < CARRIED_FROM:
            return [], None
        rows = con.execute(query(TOPIC, "carried")).fetchall()
        lake = find_lake(con) if layout == LAYOUT else None
    except BusyError:
        raise
    except (WarehouseError, duckdb.Error):
        if without_forgotten:
            return None, None
        raise ForgetError(
            f"{path} cannot be read, so nobody can tell who was forgotten since the backup was "
            "made: give --without-forgotten, then forget them again"
        ) from None
    tokens = [_Token(row[0], bytes(row[1]), *row[2:]) for row in rows]
    return tokens, lake.folder if lake is not None else None


def _need_private(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    if is_public_file(con, ALIAS):
        raise WarehouseError(
            f"{path} is the public file of a warehouse, which 'srsql split' makes anew: name the "
            "warehouse, or a backup of it"
        )


def _public_files(path: Path, limits: Limits, wait: Wait) -> list[tuple[str, ...]] | None:
    """The public files of the warehouse that is replaced; None: they cannot be read.

    Raises:
        WarehouseError: what is to be replaced is a public file, which others can read.
    """
    try:
        con = attached(path, read_only=True, limits=limits, wait=wait)
    except WarehouseError:
        return None
    with con:
        _need_private(con, path)
        try:
            return con.execute(query("warehouse/public_file", "files")).fetchall()
        except duckdb.Error:
            return None


def _carry(restored: Warehouse, tokens: Iterable[_Token]) -> dict[str, int]:
    """Bring tokens into a restored warehouse, and forget the cases of it that they recognize."""
    found: dict[str, int] = {}
    of: dict[str, list[_Token]] = {}
    for token in tokens:
        of.setdefault(token.dataset, []).append(token)
    for name, own in of.items():
        key = own[0].key
        restored.run(query(TOPIC, "make_key"), {"dataset": name, "key": key})
        if bytes(restored.value(query(TOPIC, "key"), {"dataset": name})) != key:
            raise ForgetError(
                f"the backup has forgotten cases of {name} under another key than the warehouse, "
                "so those of one cannot be told in the other: restore it under another --db with "
                "--without-forgotten, then forget them again"
            )
        if name in dataset_names(restored):
            dataset = registered_dataset(restored, name)
            for reason, cases in _recognized(restored, dataset, own).items():
                forget(restored, dataset, cases, reason)
                found[name] = found.get(name, 0) + len(cases)
        for token in own:
            told = {"token": token.token, "reason": token.reason, "day": token.day}
            restored.run(query(TOPIC, "carry_token"), {"dataset": name, **told})
    return found


def _recognized(
    restored: Warehouse, dataset: Dataset, tokens: list[_Token]
) -> dict[str, list[str]]:
    """The ids of cases that are forgotten by the tokens, by reason."""
    raw = f"raw_{dataset.name}"
    places = [(raw, name) for (name,) in restored.rows(query(TOPIC, "raw_tables"), {"schema": raw})]
    held = held_cases(dataset, {*places, *CATALOG})
    assert held is not None  # of the catalog
    statement = with_rows(query(TOPIC, "recognize"), held=held)
    asked = {**hmac_pads(tokens[0].key), "tokens": [each.token for each in tokens]}
    reasons = {each.token: each.reason for each in tokens}
    found: dict[str, list[str]] = {}
    for case, token in restored.rows(statement.sql(dialect="duckdb"), asked):
        found.setdefault(reasons[token], []).append(case)
    return found
