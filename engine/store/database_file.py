"""The file of a warehouse: who may read it, what may be its name, how it is opened, or why not.

DuckDB makes files with the rights that the process gives to every file. So a new warehouse is made
in a private folder and gets its name when it has its rights, and its log is there before DuckDB
writes to it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

from srsql.engine.errors import (
    BusyError,
    DamagedError,
    WarehouseError,
    one_line,
    printable,
    storage_fault,
)
from srsql.engine.store.scratch import name_new, private_file, private_folder
from srsql.engine.store.statements import literal
from srsql.schemas.outside import need_plain

ALIAS = "srsql_warehouse"
OWN: Mapping[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "preserve_insertion_order": True,
    "python_enable_replacements": False,
}
"""What every connection of ours is made with: no statement loads code, or takes Python's names."""
RESERVE = 400 * 2**20
"""Bytes of a memory limit that DuckDB does not get: Python, its libraries, Arrow, and kernels, a
third of it while they are compiled."""
RESERVED_SHARE = Fraction(2, 7)
"""The least share that DuckDB does not get: what its allocator takes beyond what it counts grows
with what it holds (docs/decisions.md, D308, D406 and D417)."""
LEAST_SHARE = 212 * 2**20
"""Bytes that DuckDB gets at least."""
LEAST_MEMORY = 512 * 2**20
"""Bytes that a process can work with at all."""
PAUSES = (0.05, 1.0)
"""Seconds between two attempts, at first and at most."""
_HELD = re.compile(
    r"Could not set lock on file|Conflicting lock is held|[Uu]nique file handle conflict"
)
_NAMED = re.compile(r"file [\"']([^\"']+)[\"']")
_PID = re.compile(r"\(PID (\d+)\)")
_WORD = re.compile(r"[a-z]+(-[a-z]+)*")
_SIZE = re.compile(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([KMGT])(i?)B\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Limits:
    """What a process may take of the machine; None: what DuckDB takes by itself."""

    threads: int | None = None
    memory_limit: str | None = None
    """Of the whole process, such as ``2GB``."""

    def settings(self) -> dict[str, Any]:
        """The settings of DuckDB that follow.

        Raises:
            WarehouseError: a limit is no number, or too low to work with.
        """
        found: dict[str, Any] = {}
        if self.threads is not None:
            if self.threads < 1:
                raise WarehouseError(f"--threads {self.threads}: give at least 1")
            found["threads"] = self.threads
        if self.bytes is not None:
            share = self.bytes - max(RESERVE, int(self.bytes * RESERVED_SHARE))
            found["memory_limit"] = f"{max(share, LEAST_SHARE)}B"
        return found

    @property
    def bytes(self) -> int | None:
        """The memory limit.

        Raises:
            WarehouseError: it is no size, or too low to work with.
        """
        if self.memory_limit is None:
            return None
        size = _SIZE.fullmatch(self.memory_limit)
        if size is None:
            raise WarehouseError(f"--memory-limit {self.memory_limit!r}: give a size such as 2GB")
        unit = (1024 if size[3] else 1000) ** ("KMGT".index(size[2].upper()) + 1)
        found = int(float(size[1]) * unit)
        if found < LEAST_MEMORY:
            least = f"{LEAST_MEMORY >> 20}MiB"
            raise WarehouseError(f"--memory-limit {self.memory_limit}: give at least {least}")
        return found


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Wait:
    """How long a file is waited for that another process has, and who is told."""

    seconds: float = 0
    told: Callable[[str], None] | None = None
    """Told once which process has it."""


NOW = Wait()


def connection(limits: Limits = NO_LIMITS, **settings: Any) -> duckdb.DuckDBPyConnection:
    """A database of ours in memory, which loads no extension."""
    con = duckdb.connect(config={**OWN, **limits.settings(), **settings})
    show_no_progress_bar(con)
    return con


def show_no_progress_bar(con: duckdb.DuckDBPyConnection) -> None:
    """Turn the bar of DuckDB off where it is on.

    Nowhere else: in a notebook DuckDB refuses the setting, whatever its value, without ipywidgets.
    """
    if con.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
        con.execute("SET enable_progress_bar = false")


def attached(
    path: Path, *, read_only: bool = False, limits: Limits = NO_LIMITS, wait: Wait = NOW
) -> duckdb.DuckDBPyConnection:
    """A connection with the file attached as a warehouse's is, and nothing installed in it.

    Raises:
        WarehouseError: its name cannot be used, or see ``attach``.
    """
    need_usable(path)
    con = connection(limits)
    try:
        attach(con, path, read_only=read_only, wait=wait)
    except BaseException:
        con.close()
        raise
    return con


def attach(
    con: duckdb.DuckDBPyConnection, path: Path, *, read_only: bool, wait: Wait = NOW
) -> None:
    """Attach a file to a connection of ours and make it the current database; else close it.

    Under a name of its own: a catalog called like a schema makes both ambiguous.

    DuckDB lets one process write a file or several read it (fcntl locks), and refuses at once.

    Args:
        con: a connection that nobody else has.
        path: of the file; made if it is absent, unless it is read only.
        read_only: open it for reading.
        wait: for how long, where another process has it.

    Raises:
        BusyError: another process has it, and still had it at the end.
        DamagedError: it is damaged, or no database, or there is no room for it.
        WarehouseError: it cannot be opened for another reason.
    """
    began, pause, named = time.monotonic(), PAUSES[0], False
    while True:
        try:
            how = " (READ_ONLY)" if read_only else ""
            if not read_only:
                make(path)
            before = _identity(path)
            con.execute(f"ATTACH {literal(str(path))} AS {ALIAS}{how}")
            if _identity(path) == before:
                con.execute(f"USE {ALIAS}")
                return
            con.execute(f"DETACH {ALIAS}")  # another file took its place meanwhile
        except duckdb.Error as error:
            left = wait.seconds - (time.monotonic() - began)
            if not _HELD.search(str(error)) or left <= 0:
                con.close()
                raise told(path, error, wait) from None
            if wait.told and not named:
                who = _who(_holder(error))
                wait.told(
                    f"{path} is in use by another process{who}: waiting for it, {wait.seconds:g} s "
                    "at most"
                )
            named = True
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, PAUSES[1])


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands there; None: none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def commit(con: duckdb.DuckDBPyConnection) -> None:
    """Commit the transaction of a connection."""
    con.execute("COMMIT")


def may_concern(path: Path, error: Exception) -> bool:
    """Whether what DuckDB says of a file may be of this one: it names none, or this or its log."""
    named = _NAMED.search(str(error))
    real = os.path.realpath(path)
    return named is None or os.path.realpath(named[1]) in (real, f"{real}.wal")


def make(path: Path, storage_version: str | None = None) -> bool:
    """Make the file of a new warehouse with the rights of its owner alone; whether it was made.

    Args:
        path: of the file.
        storage_version: the oldest DuckDB that can read it; None: this one.

    Raises:
        WarehouseError: it cannot be written.
    """
    if path.exists():
        return False
    parent = path.absolute().parent
    if not parent.is_dir():
        raise WarehouseError(f"there is no folder {parent}: make it first")
    try:
        with private_folder(path) as folder, connection() as con:
            beside = folder / path.name
            how = f" (STORAGE_VERSION {literal(storage_version)})" if storage_version else ""
            con.execute(f"ATTACH {literal(str(beside))} AS {ALIAS}{how}")
            con.close()
            beside.chmod(0o600)
            name_new(beside, path)  # never over a file that is there
    except FileExistsError:
        return False
    except (duckdb.Error, OSError) as error:
        raise told(path, error) from None
    return True


def private_log(path: Path) -> None:
    """Have the log of a database there, with the rights of its file, before DuckDB makes it.

    Raises:
        WarehouseError: it cannot be written.
    """
    log = log_of(path)
    try:
        if not private_file(log, like=path):  # DuckDB may have made it anew since
            with suppress(PermissionError):
                log.chmod(path.stat().st_mode & 0o666)
    except OSError as error:
        raise told(path, error) from None


def drop_empty_log(path: Path) -> None:
    """Remove the log to which nothing was written, while nobody else can have the file open."""
    with suppress(OSError):
        log = log_of(path)
        if not log.stat().st_size:
            log.unlink()


def log_of(path: Path) -> Path:
    """Where DuckDB writes what is not in a database yet."""
    real = Path(os.path.realpath(path))
    return real.with_name(f"{real.name}.wal")


def need_usable(path: Path) -> None:
    """Refuse a name that DuckDB reads as another one, before anything is written.

    Raises:
        WarehouseError: the text says what is wrong with it.
    """
    if str(path).startswith(":memory:"):
        raise WarehouseError(f"{path} would keep nothing: give --db the name of a file")
    real = os.path.realpath(path)
    if os.path.exists(real) and not os.path.isdir(real):
        try:
            need_plain(Path(real))  # DuckDB would wait for whoever writes into a pipe
        except OSError as error:
            why = error.strerror or one_line(error)
            raise WarehouseError(f"{printable(str(path))} cannot be opened: {why}") from None
    try:
        real.encode()
    except UnicodeEncodeError:
        why = "it is not UTF-8"
    else:
        # a log is looked for before the first '?', and '\' is taken for '/'
        wrong = next((mark for mark in "?\\" if mark in real), None)
        if wrong is None:
            return
        why = f"it has a {wrong}"
    raise WarehouseError(
        f"{printable(real)} cannot be the path of a database ({why}): give another one"
    )


def told(path: Path, error: Exception, wait: Wait = NOW) -> WarehouseError:
    """What storage says of the file of a warehouse, as what it is."""
    if _HELD.search(str(error)):
        pid = _holder(error)
        waited = f" after {wait.seconds:g} s of waiting" if wait.seconds else ""
        longer = "longer" if waited else "for it"
        return BusyError(
            f"{path} is in use by another process{_who(pid)}{waited}: wait {longer} "
            "(--wait SECONDS), or stop it",
            pid,
        )
    fault = storage_fault(error)
    if fault == "damaged":
        return DamagedError(
            f"{path} is damaged or not a DuckDB file: restore a backup with 'srsql restore "
            f"--from BACKUP --db {path}' ({one_line(error)})"
        )
    if fault == "no_room":
        return DamagedError(
            f"{path}: there is no room left for it: make some and run it again "
            "(nothing of the unfinished step was kept)"
        )
    why = error.strerror if isinstance(error, OSError) else None
    return WarehouseError(f"{path} cannot be opened: {why or one_line(error)}")


def _holder(error: Exception) -> int | None:
    """The process that has the file; None: nobody here can tell, such as of another machine's."""
    found = _PID.search(str(error))
    return int(found[1]) or None if found else None


def _who(pid: int | None) -> str:
    """A process in words, with what it runs where ``/proc`` tells it."""
    if pid is None:
        return ""
    command = _command(pid)
    return f" (pid {pid}{f', {command}' if command else ''})"


def _command(pid: int) -> str:
    """What a process runs, without its arguments: they may name cases (``srsql forget 123``)."""
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
    words = [word for word in text.split("\0") if word]
    names = [Path(word).name for word in words]
    for place, name in enumerate(names[:4]):
        if name in ("srsql", "srsql.cli"):
            verb = next((word for word in words[place + 1 :] if _WORD.fullmatch(word)), "")
            return f"srsql {verb}".strip()
    script = [name for name in names[1:2] if names[0].startswith("python") and name[-3:] == ".py"]
    return printable(" ".join([*names[:1], *script]))[:60]
