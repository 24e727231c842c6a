"""The caches of the user, trusted where nobody else can write, and who is told what is made."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

_SOURCES = Path(__file__).parent
COMPILING: list[Callable[[str], None]] = []
"""Who is told the name of each kernel that has to be compiled, since none is kept of it."""


def cache_folder(kind: str) -> Path | None:
    """The user's folder for what is made once, made if need be; None: there can be none.

    It has to be the user's own: what lies in it is run (see ``safe_folder``).

    Args:
        kind: of what is kept, such as ``kernels``.
    """
    try:
        return safe_folder(_user_caches() / "srsql" / kind)
    except RuntimeError:  # no home
        return None


def safe_folder(folder: Path) -> Path | None:
    """A folder that nobody but the user and root can put anything into, made if need be; None: it
    is not so (``UNSAFE`` says why), or cannot be made or written.

    Args:
        folder: the folder itself is its owner's alone to write, whatever links lead to it.
    """
    folder = folder.absolute()
    try:
        for each in [*reversed(folder.parents), folder]:
            if not each.exists():
                each.mkdir(mode=0o700, exist_ok=True)
        why = why_unsafe(folder)
        if why:
            UNSAFE[str(folder)] = why
            return None
        return folder if os.access(folder, os.W_OK | os.X_OK) else None
    except OSError:  # it cannot be made
        return None


def why_unsafe(folder: Path) -> str:
    """Why others could change what lies in a folder, as a clause; empty: they cannot.

    Every folder on the way and every link in it counts: each has to be of this account or of root,
    and no folder may be written by its group or by all, but for one of root's in which names are
    their owners' alone (the sticky bit, as of ``/tmp``).

    Raises:
        OSError: it is not there, or cannot be looked at.
    """
    if not hasattr(os, "geteuid"):
        return ""
    own, steps, links = {0, os.geteuid()}, list(folder.absolute().parts), 0
    place = Path(steps.pop(0))
    why = _why_writable(place, place.lstat(), own, last=not steps)
    while steps and not why:
        step = steps.pop(0)
        if step == "..":
            place = place.parent
            continue
        found = (place / step).lstat()
        if found.st_uid not in own:
            return f"{place / step} is another account's"
        if stat.S_ISLNK(found.st_mode):
            links += 1
            if links > _MOST_LINKS:
                return f"{folder} is a link that leads to itself"
            target = Path(os.readlink(place / step))
            steps = [*(target.parts[1:] if target.is_absolute() else target.parts), *steps]
            place = Path(target.anchor) if target.is_absolute() else place
            continue
        place /= step
        why = _why_writable(place, found, own, last=not steps)
    return why


def _why_writable(path: Path, found: os.stat_result, own: set[int], *, last: bool) -> str:
    if found.st_uid not in own:
        return f"{path} is another account's"
    by_others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    names_kept = found.st_mode & stat.S_ISVTX and found.st_uid == 0 and not last
    return f"others can write {path}" if by_others and not names_kept else ""


_MOST_LINKS = 40
UNSAFE: dict[str, str] = {}
"""Folders of caches that are not used -> why."""


def kept_in() -> Path | None:
    """The folder of the kernels that these sources are compiled to; None: none is kept."""
    numbas = sys.modules.get("numba.core.config")  # numba takes a second to import
    named = getattr(numbas, "CACHE_DIR", os.environ.get("NUMBA_CACHE_DIR", ""))
    folder = safe_folder(Path(named)) if named else cache_folder("kernels")
    return None if folder is None else _trusted(folder / _own_digest())


@cache
def _trusted(folder: Path) -> Path | None:
    """A folder that is safe with all that lies in it; None: others had it once, or can write it."""
    if safe_folder(folder) is None:
        return None
    own = {0, os.geteuid()} if hasattr(os, "geteuid") else None
    try:
        folder.chmod(0o700)  # what numba makes in it has the rights that the process gives
        for place, folders, files in os.walk(folder):
            for name in (*folders, *files):
                try:
                    found = os.lstat(os.path.join(place, name))
                except FileNotFoundError:  # another process has just renamed it
                    continue
                if own is not None and (found.st_uid not in own or stat.S_ISLNK(found.st_mode)):
                    UNSAFE[str(folder)] = f"others have put {place}/{name} there"
                    return None
    except OSError:
        return None
    return folder


@cache
def _own_digest() -> str:
    return digest_of(_SOURCES)


def digest_of(folder: Path) -> str:
    """What all modules in a folder and below are, names and texts, as a short name."""
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        text = file.read_bytes()
        found.update(f"{file.relative_to(folder).as_posix()}\0{len(text)}\0".encode() + text)
    return found.hexdigest()[:16]


def _user_caches() -> Path:
    if named := os.environ.get("XDG_CACHE_HOME", ""):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
