"""Folders for what a command works with: its owner's alone, and gone when it ends, however it ends.

Each is made beside what it is for, with mode 0700, and is locked as long as its process lives. One
that nobody holds was left by a process that was killed: the next one that works there removes it.
What a command makes elsewhere (beside an artifact or a backup) is noted in the folder beside the
warehouse, so that whoever opens the warehouse next finds that as well.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from srsql.engine.interruption import LEFT
from srsql.schemas.outside import open_plain, read_text

Kind = Literal["scratch", "copying", "unfinished"]
"""Beside a warehouse; a copy of one; an artifact."""
_NAME = re.compile(r"\.(.+)\.(?:(\d+)-)?[0-9a-z_]+\.(scratch|copying|unfinished)", re.DOTALL)
_NOTES = "elsewhere"
_OLD = re.compile(r"ingest-(\d+)-\w+")
"""Raw text that version 0.2 left in ``FILE.tmp``."""
_beside_warehouses: set[str] = set()
"""The folders of the warehouses that this process has open."""


class PrivateFolder:
    """A folder beside a file or folder, which this process holds until it is removed.

    Args:
        target: beside which it is made.
        kind: what for.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, target: Path, kind: Kind = "scratch") -> None:
        target = target.absolute()
        remove_leftovers(target)
        self.path, handle = _made(target, kind)
        LEFT.add(str(self.path))
        if kind == "scratch":
            _beside_warehouses.add(str(self.path))
        self._remove = weakref.finalize(self, _remove, self.path, handle, os.getpid())

    def remove(self) -> None:
        """Remove it with all that is in it."""
        self._remove()


@contextmanager
def private_folder(target: Path, kind: Kind = "scratch") -> Iterator[Path]:
    """A private folder beside ``target`` for as long as this lasts."""
    folder = PrivateFolder(target, kind)
    try:
        yield folder.path
    finally:
        folder.remove()


def scratch_beside(path: Path) -> PrivateFolder | None:
    """The private folder of a warehouse, beside its file; where nothing can be written there in the
    folder of the system for what is temporary. None: nowhere."""
    with suppress(OSError):
        return PrivateFolder(Path(os.path.realpath(path)))
    with suppress(OSError):
        return PrivateFolder(Path(tempfile.gettempdir()) / path.name)
    return None


def remove_leftovers(target: Path) -> None:
    """Remove what processes that were killed left beside ``target``; no other user's."""
    prefix, found = f".{target.name}.", list[Path]()
    with suppress(OSError), os.scandir(target.absolute().parent) as entries:
        found = [Path(e.path) for e in entries if e.name.startswith(prefix)]
    for path in found:
        if _NAME.fullmatch(path.name):
            _clear(path)
    old = target.with_name(f"{target.name}.tmp")
    with suppress(OSError):
        for path in old.iterdir():
            named = _OLD.fullmatch(path.name)
            if named and not _alive(int(named[1])):
                shutil.rmtree(path, ignore_errors=True)
        old.rmdir()


def _made(target: Path, kind: Kind) -> tuple[Path, int]:
    """A new folder, and the handle that holds it."""
    while True:
        name = f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.{kind}"
        path = target.parent / name
        for other in list(_beside_warehouses) if kind != "scratch" else ():  # before it is there
            with suppress(OSError), open(f"{other}/{_NOTES}", "a", encoding="ascii") as notes:
                notes.write(json.dumps(str(path)) + "\n")
        path.mkdir(mode=0o700)
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        with suppress(OSError):  # a file system without locks: the number of the process counts
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(OSError):
            if path.stat().st_ino == os.fstat(handle).st_ino:
                return path, handle
        os.close(handle)  # somebody took it for a leftover before it was held


def _remove(path: Path, handle: int, process: int) -> None:
    if os.getpid() != process:  # a fork of the process that holds it
        return
    shutil.rmtree(path, ignore_errors=True)
    os.close(handle)
    LEFT.discard(str(path))
    _beside_warehouses.discard(str(path))


def _clear(path: Path) -> None:
    """Remove a folder that nobody holds, and what it says was made elsewhere."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # gone, no folder, or not to be entered
        return
    try:
        if os.fstat(handle).st_uid == os.geteuid() and _free(path, handle):
            for other in _noted(path):
                _clear(other)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(handle)


def _free(path: Path, handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        named = _NAME.fullmatch(path.name)
        return named is not None and named[2] is not None and not _alive(int(named[2]))
    return True


def _noted(path: Path) -> list[Path]:
    """The folders elsewhere that a folder tells of; only such as have a name of ours."""
    lines: list[str] = []
    with suppress(OSError, ValueError):
        lines = read_text(path / _NOTES, encoding="ascii").splitlines()
    found = []
    for line in lines:
        with suppress(ValueError, TypeError):  # the last one may be cut off
            found.append(Path(json.loads(line)))
    return [each for each in found if _NAME.fullmatch(each.name) and not each.is_symlink()]


def _alive(process: int) -> bool:
    if process <= 0:  # which no process has: a signal to it goes to a whole group
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def private_file(path: Path, like: Path | None = None) -> bool:
    """Make an empty file that its owner alone may read, unless one is there; whether it was made.

    Args:
        path: of the file.
        like: whose rights it gets instead, as a log those of its database.
    """
    mode = 0o600 if like is None else stat.S_IMODE(like.stat().st_mode) & 0o666
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return False
    with suppress(OSError):
        os.fchmod(handle, mode)
    os.close(handle)
    return True


@contextmanager
def put_beside(file: Path, *, private: bool = True) -> Iterator[Path]:
    """A path beside ``file``; what was written there at the end takes its place in one step.

    Args:
        file: what stands there is replaced.
        private: its owner alone may read it.

    Raises:
        OSError: it cannot be written; what was there stays.
    """
    beside = file.with_name(f".{file.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        if private:
            private_file(beside)
        yield beside
        os.replace(beside, file)
    finally:
        with suppress(OSError):
            beside.unlink()


def digest(path: Path) -> str:
    """The SHA-256 of a file.

    Raises:
        OSError: it cannot be read.
    """
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Let a file, or the names in a folder, survive a loss of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
