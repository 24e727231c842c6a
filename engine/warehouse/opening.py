"""A warehouse file is attached: who has it is named, and waited for; damage is told as damage."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from srsql.engine.errors import (
    BusyError,
    DamagedError,
    WarehouseError,
    one_line,
    printable,
    storage_fault,
)
from srsql.engine.warehouse.statements import dotted, literal

PAUSES = (0.05, 1.0)
"""Seconds between two attempts, at first and at most."""
_HELD = re.compile(r"Could not set lock on file|Conflicting lock is held")
_PID = re.compile(r"\(PID (\d+)\)")
_WORD = re.compile(r"[a-z]+(-[a-z]+)*")


@dataclass(frozen=True)
class Wait:
    """How long a file is waited for that another process has, and who is told."""

    seconds: float = 0
    told: Callable[[str], None] | None = None
    """Told once which process has it."""


NOW = Wait()


def attach(
    con: duckdb.DuckDBPyConnection, path: Path, alias: str, *, read_only: bool, wait: Wait = NOW
) -> None:
    """Attach a file to a connection of ours and make it the current database; else close it.

    DuckDB lets one process write a file or several read it (fcntl locks), and refuses at once.

    Args:
        con: a connection that nobody else has.
        path: of the file; made if it is absent, unless it is read only.
        alias: its name there: a catalog called like a schema would make both ambiguous.
        read_only: open it for reading.
        wait: for how long, where another process has it.

    Raises:
        BusyError: another process has it, and still had it at the end.
        DamagedError: it is damaged, or no database.
        WarehouseError: it cannot be opened for another reason.
    """
    began, pause, told = time.monotonic(), PAUSES[0], False
    while True:
        try:
            how = " (READ_ONLY)" if read_only else ""
            con.execute(f"ATTACH {literal(str(path))} AS {dotted(alias)}{how}")
            con.execute(f"USE {dotted(alias)}")
            return
        except duckdb.Error as error:
            left = wait.seconds - (time.monotonic() - began)
            if not _HELD.search(str(error)) or left <= 0:
                con.close()
                raise _explained(path, error, wait) from None
            if wait.told and not told:
                who = _who(_holder(error))
                wait.told(
                    f"{path} is in use by another process{who}: waiting for it, {wait.seconds:g} s "
                    "at most"
                )
            told = True
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, PAUSES[1])


def _explained(path: Path, error: duckdb.Error, wait: Wait) -> WarehouseError:
    """What a file that DuckDB does not open is told of."""
    if _HELD.search(str(error)):
        pid = _holder(error)
        waited = f" after {wait.seconds:g} s of waiting" if wait.seconds else ""
        longer = "longer" if waited else "for it"
        return BusyError(
            f"{path} is in use by another process{_who(pid)}{waited}: wait {longer} "
            "(--wait SECONDS), or stop it",
            pid,
        )
    text, fault = one_line(error), storage_fault(error)
    if fault == "damaged":
        return DamagedError(
            f"{path} cannot be opened, it is damaged or no database ({text}): restore a backup "
            "('srsql restore --from FILE'), or give --db another file"
        )
    if fault == "no_room":
        return WarehouseError(f"{path} cannot be opened, there is no room: {text}")
    return WarehouseError(f"{path} cannot be opened: {text}")


def _holder(error: duckdb.Error) -> int | None:
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
