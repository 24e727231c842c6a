"""What was found of the file of a warehouse, as long as nobody writes it.

It is kept in the user's cache, by the file's path, device, inode, size, and times of change and of
its inode, with those of its log (docs/decisions/0051).
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from srsql.engine.store.database_file import log_of
from srsql.engine.store.scratch import put_beside
from srsql.schemas.outside import json_of, read_text
from srsql.udfs.caches import cache_folder

_FILE, _FILES, _FINDINGS = "unchanged.json", 100, 200
"""Where it is kept, of how many files, and how much of each."""
State = tuple[tuple[int, ...] | None, ...]
"""Of a database and its log: which files they are, how large, and when they were changed."""


def state(path: Path) -> State:
    """What tells whether another one, or another process, has written a file since."""

    def told(each: Path) -> tuple[int, ...] | None:
        try:
            found = os.stat(each)
        except OSError:
            return None
        if each != path and not found.st_size:  # an empty log says nothing
            return None
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    return told(path), told(log_of(path))


def found_of(path: Path, name: str) -> Any:
    """What a process of this account found of a file that nobody wrote since; None: nothing.

    Args:
        path: without links.
        name: of what was found.
    """
    return _findings(_kept(), path, state(path)).get(name)


def keep(path: Path, name: str, value: Any, at: State) -> None:
    """Keep what was found of a file.

    Not of one that was written within two seconds: a clock may not tell two writes apart.

    Args:
        path: without links.
        name: of what was found.
        value: what JSON can hold.
        at: of the file when it was found.
    """
    folder = cache_folder("definitions")
    fresh = time.time_ns() - 2 * 10**9
    if folder is None or any(each is not None and max(each[-2:]) > fresh for each in at):
        return
    kept = _kept()
    findings = [*_findings(kept, path, at).items(), (name, value)][-_FINDINGS:]
    kept.pop(str(path), None)
    files = [*kept.items(), (str(path), {"state": at, "found": dict(findings)})][-_FILES:]
    with suppress(OSError), put_beside(folder / _FILE) as beside:
        beside.write_text(json.dumps(dict(files)), encoding="utf-8")


def _findings(kept: dict[str, Any], path: Path, at: State) -> dict[str, Any]:
    """Of a file that is as it was."""
    with suppress(TypeError, KeyError, ValueError):
        told = kept[str(path)]
        if told["state"] == [each and list(each) for each in at]:
            return dict(told["found"])
    return {}


def _kept() -> dict[str, Any]:
    folder = cache_folder("definitions")
    if folder is not None:
        with suppress(OSError, ValueError, TypeError):
            return dict(json_of(read_text(folder / _FILE, encoding="utf-8")))
    return {}
