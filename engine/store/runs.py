"""The run table: which commands wrote the warehouse, when, and how they ended.

A row is made when a command begins, in a transaction of its own, so that one that is killed leaves
it without an end. It holds no ids of cases: commands that are given some keep their flags alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from srsql.engine.errors import DONE, exit_code_of
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas.outside import json_of
from srsql.version import __version__

TOPIC = "warehouse/runs"
ALL = 2**31 - 1
FLAGS_ALONE = frozenset({"forget", "lookup", "explain", "attack", "query"})
"""Commands that are given ids, values or reasons, which are about patients."""


@dataclass(frozen=True)
class RunRecord:
    """One command that opened the warehouse to write it."""

    run_id: int
    command: str
    parameters: dict[str, Any]
    """What was asked, by keyword; see ``FLAGS_ALONE``."""
    started: str
    """ISO 8601, UTC."""
    ended: str | None
    """None: it was killed, or still runs."""
    exit_code: int | None
    seconds: float | None
    software: str
    host: str
    pid: int


def start_run(warehouse: Warehouse, command: str, parameters: Mapping[str, Any]) -> int:
    """Make the row of a command that begins; its number.

    Args:
        warehouse: open for writing, without a transaction.
        command: its name, such as ``series set``.
        parameters: what was asked, by keyword.
    """
    flags = command.partition(" ")[0] in FLAGS_ALONE
    kept = {
        name: value if isinstance(value, bool | int | float) else _text(value)
        for name, value in parameters.items()
        if value is not None and (isinstance(value, bool) or not flags)
    }
    told = {
        "command": command,
        "parameters": json.dumps(kept, ensure_ascii=False),
        "started": _now(),
        "software": __version__,
        "host": socket.gethostname(),
        "pid": os.getpid(),
    }
    with warehouse.guarded():
        return int(warehouse.value(query(TOPIC, "start"), told))


def complete_run(warehouse: Warehouse, run_id: int, exit_code: int) -> None:
    """Say in its row how a command ended."""
    told = {"run_id": run_id, "ended": _now(), "exit_code": exit_code}
    with warehouse.guarded():
        warehouse.run(query(TOPIC, "complete"), told)


@contextmanager
def recorded(warehouse: Warehouse, command: str, parameters: Mapping[str, Any]) -> Iterator[int]:
    """A command that begins and, whatever comes, ends with this block; its number.

    What cannot be written at the end hides no error: the row then has no end.
    """
    run_id = start_run(warehouse, command, parameters)
    try:
        yield run_id
    except BaseException as error:
        with contextlib.suppress(Exception):
            complete_run(warehouse, run_id, exit_code_of(error))
        raise
    complete_run(warehouse, run_id, DONE)


def runs(warehouse: Warehouse, most: int = ALL) -> list[RunRecord]:
    """The last runs, the latest first."""
    found = []
    for row in warehouse.rows(query(TOPIC, "runs"), {"most": most}):
        run_id, command, parameters, started, ended, exit_code, *where = row
        seconds = None if ended is None else round((ended - started).total_seconds(), 3)
        begun, done = (t and f"{t.isoformat(timespec='seconds')}Z" for t in (started, ended))
        asked = json_of(parameters)
        found.append(RunRecord(run_id, command, asked, begun, done, exit_code, seconds, *where))
    return found


def _now() -> str:
    return datetime.now(UTC).replace(tzinfo=None).isoformat()


def _text(value: Any) -> str:
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(str(each) for each in value)
    return str(value)
