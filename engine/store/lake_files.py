"""The files of a lake: what the catalog lists of a folder, and whether it is there, unchanged.

A lake is a folder with a marker, which names it and counts its changes, and with the Parquet files
that the catalog lists. What else lies there is somebody else's: nothing here reads or removes it,
but for folders that are empty after a change that was killed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from srsql.engine.errors import DamagedError, WarehouseError, printable
from srsql.engine.store import database_file
from srsql.engine.store.scratch import digest, put_beside, sync
from srsql.engine.store.statements import query
from srsql.schemas.outside import json_of, read_text

MARKER = "srsql-lake.json"
TOPIC = "warehouse/lake"
MOST_MARKER = 1 << 12
"""Bytes of a marker."""
MOVED = "srsql lake --moved-to DIR"
RESTORE = "restore a backup ('srsql restore --from BACKUP')"
_OF_PARQUET = re.compile(
    r"parquet|magic bytes|No files found|Could not read|zstd|decompress|thrift|TProtocol", re.I
)
"""What DuckDB says where a file is missing, cut off, or not what it was."""
_unchanged: set[tuple[str, int, int, int, str]] = set()
"""Files whose bytes this process has held against their digest, as they were then."""


@dataclass(frozen=True)
class LakeFile:
    """One file of a lake, as the catalog lists it."""

    dataset: str
    table: str
    quarter: str
    bucket: int
    file: str
    """Its path within the folder."""
    records: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Lake:
    """The lake of a warehouse, as its catalog has it."""

    name: str
    folder: Path
    changes: int
    """How often it was changed; 0: nothing lies there yet."""
    files: tuple[LakeFile, ...]

    def need_there(self) -> None:
        """Refuse a lake that is not where the catalog says.

        Raises:
            DamagedError: the text says what to do.
        """
        found = read_marker(self.folder) if self.changes else (self.name, 0)
        if found is None or found[0] != self.name:
            raise DamagedError(
                f"the lake of this warehouse is not at {printable(str(self.folder))}: if it was "
                f"moved, say where it is with '{MOVED}', else {RESTORE}"
            )

    def need_whole(self) -> None:
        """Refuse a lake that is elsewhere, or of which a file is missing or has another size.

        Raises:
            DamagedError: the text names a file, and says what to do.
        """
        self.need_there()
        wrong = [each for each in self.files if _size(self.folder / each.file) != each.bytes]
        if wrong:
            self._refuse(wrong)

    def need_unchanged(self, files: Iterable[LakeFile]) -> None:
        """Refuse files that have other bytes than were written; each is read once per process.

        Raises:
            DamagedError: the text names a file, and says what to do.
        """
        wrong = [each for each in files if not is_unchanged(self.folder, each)]
        if wrong:
            self._refuse(wrong)

    def need_newest(self) -> None:
        """Refuse to change a lake that another copy of the warehouse has changed since.

        Raises:
            WarehouseError: the text says so.
        """
        found = read_marker(self.folder)
        if found is not None and found[1] > self.changes:
            raise WarehouseError(
                f"the lake {printable(str(self.folder))} was changed by another copy of this "
                f"warehouse: use that one, or {RESTORE}"
            )

    def fault_behind(self, error: duckdb.Error) -> DamagedError | None:
        """What is wrong with the lake, where DuckDB says that it could not read a file of it."""
        if not self.files or not _OF_PARQUET.search(str(error)):
            return None
        try:
            self.need_whole()
            self.need_unchanged(self.files)
        except DamagedError as found:
            return found
        return None

    def _refuse(self, wrong: list[LakeFile]) -> None:
        path = self.folder / wrong[0].file
        what = "has other bytes than were written" if path.exists() else "is missing"
        more = f" (and {len(wrong) - 1:,} files more)" if len(wrong) > 1 else ""
        marker = read_marker(self.folder)
        newer = marker is not None and marker[1] > self.changes
        since = ", which another copy of this warehouse has changed since," if newer else ""
        raise DamagedError(
            f"{printable(str(path))} of the lake{since} {what}{more}: put it back, or {RESTORE}"
        )


def find_lake(con: duckdb.DuckDBPyConnection) -> Lake | None:
    """The lake of a warehouse; None: it has none.

    Args:
        con: a connection whose search path finds the catalog.
    """
    rows = con.execute(query(TOPIC, "find")).fetchall()
    if not rows:
        return None
    name, folder, changes = rows[0]
    files = con.execute(query(TOPIC, "files")).fetchall()
    return Lake(name, Path(folder), changes, tuple(LakeFile(*row) for row in files))


def read_marker(folder: Path) -> tuple[str, int] | None:
    """Name and changes of the lake in a folder; None: there is none that can be read."""
    try:
        told = json_of(read_text(folder / MARKER, MOST_MARKER, encoding="utf-8"))
        return str(told["lake"]), int(told["changes"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_marker(folder: Path, name: str, changes: int) -> None:
    """Say in a folder which lake it is, and how often it was changed.

    Raises:
        OSError: it cannot be written.
    """
    with put_beside(folder / MARKER) as beside:
        beside.write_text(json.dumps({"lake": name, "changes": changes}) + "\n", encoding="utf-8")
        sync(beside)
    sync(folder)


def is_unchanged(folder: Path, file: LakeFile) -> bool:
    """Whether a file has the bytes that were written."""
    path = folder / file.file
    try:
        found = os.stat(path)
        seen = (str(path), found.st_ino, found.st_size, found.st_mtime_ns, file.sha256)
        if seen in _unchanged:
            return True
        if found.st_size != file.bytes or digest(path) != file.sha256:
            return False
    except OSError:
        return False
    _unchanged.add(seen)
    return True


def clear_leftovers(con: duckdb.DuckDBPyConnection) -> None:
    """Remove what earlier changes left: files that are listed no more, or were never listed.

    A file that the catalog lists stays whatever is asked, and so does one that carries the name
    of no change of ours. Where the lake is elsewhere nothing is removed and nothing is forgotten.

    Args:
        con: a connection without a transaction, whose search path finds the catalog.

    Raises:
        OSError: something cannot be removed.
    """
    left = con.execute(query(TOPIC, "leftovers")).fetchall()
    lake = find_lake(con) if left else None
    if lake is None or (lake.changes and read_marker(lake.folder) is None):
        return
    listed = {each.file for each in lake.files}
    for file in sorted({file for _, file in left if file is not None} - listed):
        _remove(lake.folder, lake.folder / file)
    begun = [change for change, file in left if file is None]
    if begun:
        named = re.compile(rf"[0-9]+-(?:{'|'.join(map(re.escape, begun))})\.parquet")
        for path in lake.folder.glob("*/*/quarter=*/*.parquet"):
            if named.fullmatch(path.name) and str(path.relative_to(lake.folder)) not in listed:
                _remove(lake.folder, path)
        _remove_empty(lake.folder)
    marker = read_marker(lake.folder)
    if marker is not None and marker[0] == lake.name and marker[1] < lake.changes:
        write_marker(lake.folder, lake.name, lake.changes)
    con.execute("BEGIN TRANSACTION")
    try:
        con.execute(query(TOPIC, "cleared"))
        con.execute(query(TOPIC, "forget"))
        database_file.commit(con)
    except duckdb.Error:
        with suppress(duckdb.Error):
            con.execute("ROLLBACK")
        raise
    if lake.changes == 0 and marker is not None and marker[0] == lake.name:
        (lake.folder / MARKER).unlink(missing_ok=True)  # its first change came to nothing
        with suppress(OSError):
            lake.folder.rmdir()


def _remove(folder: Path, path: Path) -> None:
    """Remove a file, and the folders above it that are empty then."""
    path.unlink(missing_ok=True)
    for above in path.relative_to(folder).parents:
        try:
            (folder / above).rmdir()
        except OSError:
            return


def _remove_empty(folder: Path) -> None:
    """Remove the folders of periods, tables and datasets that a change made and put no file in."""
    for level in ("*/*/quarter=*", "*/*", "*"):
        for path in folder.glob(level):
            if not path.relative_to(folder).parts[0].startswith("."):  # files under way
                with suppress(OSError):
                    path.rmdir()


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
