"""Folders for what a command works with: its owner's alone, and gone when it ends, however it ends.

Each is made beside what it is for, with mode 0700, and is locked as long as its process lives. One
that nobody holds was left by a process that was killed: the next one that works there removes it.
What a command makes elsewhere (beside an artifact or a backup) is noted in the folder beside the
warehouse, so that whoever opens the warehouse next finds that as well. And every process notes what
it makes anywhere in a file of the account's cache, which it locks: the next command of the account
removes what dead processes left, such as half an answer of ``--out``, wherever it is.

Where several names change as one (a warehouse, its lake, and what was there before), the folder has
a journal: :func:`renames`. Whoever removes the folder undoes first what was not finished.
"""

from __future__ import annotations

import atexit
import errno
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

from srsql.engine.interruption import JOURNAL, LEFT
from srsql.schemas.outside import open_plain, read_text
from srsql.udfs.caches import cache_folder

Kind = Literal["scratch", "copying", "unfinished"]
"""Beside a warehouse; a copy of one; an artifact."""
_NAME = re.compile(r"\.(.+)\.(?:(\d+)-)?[0-9a-z_]+\.(scratch|copying|unfinished)", re.DOTALL)
_TEMPORARY = re.compile(r"\.(.+)\.(\d+)-[0-9a-f]{8}", re.DOTALL)
"""What ``put_beside`` writes to."""
_NOTES = "elsewhere"
Identity = tuple[int, int]
"""Device and number of a file or a folder, whatever its name is."""
_OLD = re.compile(r"ingest-(\d+)-\w+")
"""Raw text that version 0.2 left in ``FILE.tmp``."""
_beside_warehouses: set[str] = set()
"""The folders of the warehouses that this process has open."""
_register: dict[int, tuple[Path, int]] = {}
"""By the number of the process, which a fork changes: its file of notes in the cache."""


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
    clear_after_dead_processes()
    prefix, found = f".{target.name}.", list[Path]()
    with suppress(OSError), os.scandir(target.absolute().parent) as entries:
        found = [Path(e.path) for e in entries if e.name.startswith(prefix)]
    for path in found:
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
        _note(path)
        path.mkdir(mode=0o700)
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        if _held(path, handle):
            return path, handle
        os.close(handle)


def _held(path: Path, handle: int) -> bool:
    """Hold what this process has just made; false: somebody took it for a leftover before."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # who has it is about to remove it
        return False
    except OSError:
        pass  # a file system without locks: the number of the process counts
    with suppress(OSError):
        return path.stat().st_ino == os.fstat(handle).st_ino
    return False


def _remove(path: Path, handle: int, process: int) -> None:
    if os.getpid() != process:  # a fork of the process that holds it
        return
    _undo(path)
    shutil.rmtree(path, ignore_errors=True)
    os.close(handle)
    LEFT.discard(str(path))
    _beside_warehouses.discard(str(path))


def _clear(path: Path) -> None:
    """Remove a folder or a file with a name of ours that nobody holds, and what a folder says was
    made elsewhere; nothing of another account."""
    folder = _NAME.fullmatch(path.name)
    named = folder or _TEMPORARY.fullmatch(path.name)
    if named is None:
        return
    try:
        handle = os.open(path, _HOLD | os.O_DIRECTORY if folder else _HOLD)
    except OSError:  # gone, something else, or not to be entered
        return
    try:
        found = os.fstat(handle)
        if found.st_uid != os.geteuid() or not _free(handle, named[2]):
            return
        if folder:
            for other in _noted(path / _NOTES):
                _clear(other)
            _undo(path)
            shutil.rmtree(path, ignore_errors=True)
        elif stat.S_ISREG(found.st_mode):
            with suppress(OSError):
                path.unlink()
    finally:
        os.close(handle)


_HOLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def _free(handle: int, process: str | None) -> bool:
    """Whether nobody holds what is opened; ``process``: whose it was, by its name."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return process is not None and not _alive(int(process))
    return True


def _noted(notes: Path) -> list[Path]:
    """What a file of notes tells of; only such as has a name of ours."""
    lines: list[str] = []
    with suppress(OSError, ValueError):
        lines = read_text(notes, encoding="ascii").splitlines()
    found = []
    for line in lines:
        with suppress(ValueError, TypeError):  # the last one may be cut off
            found.append(Path(json.loads(line)))
    return [
        each
        for each in found
        if (_NAME.fullmatch(each.name) or _TEMPORARY.fullmatch(each.name)) and not each.is_symlink()
    ]


def _note(path: Path) -> None:
    """Say in the cache of the account what this process is about to make."""
    own = _register.get(os.getpid())
    with suppress(OSError):
        if own is None:
            folder = cache_folder("running")
            if folder is None:
                return
            own = _registered(folder)
            _register[os.getpid()] = own
        os.write(own[1], (json.dumps(str(path.absolute())) + "\n").encode("ascii"))


def _registered(folder: Path) -> tuple[Path, int]:
    """A new file of notes, and the handle that holds it as long as the process lives."""
    while True:
        file = folder / f"{os.getpid()}-{secrets.token_hex(4)}"
        handle = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o600)
        if _held(file, handle):
            atexit.register(_forget_notes, file, os.getpid())
            return file, handle
        os.close(handle)


def _forget_notes(file: Path, process: int) -> None:
    """At the end of a process that left nothing its notes go."""
    if os.getpid() == process and not any(os.path.lexists(each) for each in _noted(file)):
        file.unlink(missing_ok=True)


def clear_after_dead_processes() -> None:
    """Remove what processes of this account that are dead have left anywhere, and undo what they
    did not finish."""
    folder = cache_folder("running")
    found: list[Path] = []
    with suppress(OSError):
        found = [] if folder is None else sorted(folder.iterdir())
    for file in found:
        with suppress(OSError):
            handle = os.open(file, _HOLD)
            try:
                own = os.fstat(handle).st_uid == os.geteuid()
                if own and _free(handle, file.name.partition("-")[0]):
                    for each in _noted(file):
                        _clear(each)
                    if not any(os.path.lexists(each) for each in _noted(file)):
                        file.unlink()
            finally:
                os.close(handle)


class Renames:
    """Names that change as one, each noted in a journal before it does.

    Args:
        made: the new file, in a private folder, which has the journal.
        target: the name that it gets in the end.
    """

    def __init__(self, made: Path, target: Path) -> None:
        self._made, self._target = made, target
        self._journal = made.parent / JOURNAL

    def move(self, path: Path, to: Path) -> None:
        """Give what is there another name, which nothing has."""
        self._write("moved", path, to, path)
        os.rename(path, to)

    def put(self, new: Path, to: Path) -> None:
        """Give something that was made a name that nothing has."""
        self._write("made", to, to, new)
        os.rename(new, to)

    def keep(self, path: Path, kept: Path) -> None:
        """Give a file that is about to be replaced a second name."""
        self._write("kept", path, kept, path)
        os.link(path, kept)

    def finish(self, *, over: bool = True) -> None:
        """Give the new file its name, from which on everything is done.

        Args:
            over: a file of that name is replaced.

        Raises:
            FileExistsError: there is one, and it is not to be replaced.
        """
        self._write("done", self._target, self._target, self._made)
        if over:
            os.replace(self._made, self._target)
        else:
            name_new(self._made, self._target)
        sync(self._target.absolute().parent)
        self._journal.unlink()

    def _write(self, step: str, path: Path, to: Path, of: Path) -> None:
        line = [step, str(path.absolute()), str(to.absolute()), _identity(of)]
        with self._journal.open("a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        sync(self._journal.parent)


@contextmanager
def renames(made: Path, target: Path) -> Iterator[Renames]:
    """Several names that change as one: until the last of them does, whatever ends this, also a
    kill, has all of them be as they were.

    Args:
        made: the new file, in a private folder of this process.
        target: the name that ``finish`` gives it.
    """
    try:
        yield Renames(made, target)
    except BaseException:
        _undo(made.parent)
        raise


def _undo(folder: Path) -> None:
    """Take back what the journal of a folder tells, unless all of it was done; each step is told by
    what it concerns, so that it can be broken off and begun again."""
    lines: list[tuple[str, Path, Path, Identity]] = []
    with suppress(OSError, ValueError, TypeError):
        for line in read_text(folder / JOURNAL, encoding="ascii").splitlines():
            step, path, to, identity = json.loads(line)  # the last one may be cut off
            lines.append((step, Path(path), Path(to), (identity[0], identity[1])))
    if any(step == "done" and _identity(to) == identity for step, _, to, identity in lines):
        return
    for step, path, to, identity in reversed(lines):
        if _identity(to) != identity:
            continue
        with suppress(OSError):
            if step == "moved" and not os.path.lexists(path):
                os.rename(to, path)
            elif step == "made":
                shutil.rmtree(to)
            elif step == "kept" and _identity(path) == identity:
                to.unlink()
            sync(to.parent)


def _identity(path: Path) -> Identity | None:
    """What has that name; None: nothing."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


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
def put_beside(file: Path, *, private: bool = True, over: bool = True) -> Iterator[Path]:
    """A path beside ``file``; what was written there at the end gets its name in one step.

    Args:
        file: the name.
        private: its owner alone may read it.
        over: what has the name is replaced.

    Raises:
        FileExistsError: something has the name, at the end as well, and is not to be replaced.
        OSError: it cannot be written; what was there stays.
    """
    if not over and os.path.lexists(file):
        raise _exists(file)
    remove_leftovers(file)
    beside, handle = _made_beside(file, 0o600 if private else 0o666)
    LEFT.add(str(beside))
    try:
        yield beside
        if over:
            os.replace(beside, file)
        else:
            sync(beside)  # what is made once cannot be made again
            name_new(beside, file)
    finally:
        os.close(handle)
        with suppress(OSError):
            beside.unlink()
        LEFT.discard(str(beside))


def _made_beside(file: Path, mode: int) -> tuple[Path, int]:
    """A new file beside another, and the handle that holds it: nobody takes it for what a dead
    process left."""
    while True:
        beside = file.with_name(f".{file.name}.{os.getpid()}-{secrets.token_hex(4)}")
        _note(beside)
        handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        if _held(beside, handle):
            return beside, handle
        os.close(handle)


def need_free(target: Path) -> None:
    """Refuse a name that something has, unless it is an empty folder.

    Raises:
        FileExistsError: it names the target.
    """
    target = target.absolute()
    if target.is_symlink() or (target.exists() and not _is_empty(target)):
        raise _exists(target)


@contextmanager
def put_folder(target: Path) -> Iterator[tuple[Path, Path]]:
    """An empty folder, and one for scratch; the first gets the name ``target`` at the end.

    Until that step, one rename, there is nothing at ``target``; after an error or a crash there
    never will be. What a crash leaves beside it, its owner's alone, the next command removes.

    Args:
        target: nothing has the name, or an empty folder, whose rights stay.

    Raises:
        FileExistsError: something else has it, at the end as well.
        OSError: it cannot be made.
    """
    target = target.absolute()
    need_free(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with private_folder(target, "unfinished") as staging:
        folder, scratch = staging / "made", staging / "scratch"
        folder.mkdir()
        scratch.mkdir()
        yield folder, scratch
        for path in (*folder.rglob("*"), folder):
            sync(path)
        with suppress(FileNotFoundError):
            folder.chmod(stat.S_IMODE(target.lstat().st_mode))
        try:
            os.replace(folder, target)  # of an empty folder at most
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise _exists(target) from None
            raise
        sync(target.parent)


def name_new(made: Path, target: Path) -> None:
    """Give a file that was made a name that nothing has.

    Where a file system knows one name for a file, what gets the name meanwhile is not seen.

    Raises:
        FileExistsError: something has it.
        OSError: it cannot have it.
    """
    try:
        os.link(made, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        if os.path.lexists(target):
            raise _exists(target) from None
        os.rename(made, target)


def _exists(target: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


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
