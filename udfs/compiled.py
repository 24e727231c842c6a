"""``njit`` as kernels use it: compiled code is kept for the next run, where that is possible.

It is kept in a folder of the user (``XDG_CACHE_HOME``, or what the system has in its place), never
beside the source: that is often not ours to write. An account without such a folder compiles anew
in every process. Who sets ``NUMBA_CACHE_DIR`` decides where. What is kept is run, so that neither
folder is used if others could put anything into it: then kernels are compiled in memory, too, and
one line says why.

What a kernel calls is compiled into it, and numba takes compiled code for current while the file of
the kernel itself is what it was. So the folder is named by all sources: a version of srsql in which
any of them is another one never runs what an earlier one compiled. Where the sources lie does not
matter: another environment with the same ones compiles nothing.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import caching, event
from numba.core.registry import CPUDispatcher

from srsql.udfs.caches import COMPILING, UNSAFE, cache_folder, safe_folder
from srsql.udfs.within import KernelDispatcher

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Kernel], Kernel]:
    """``numba.njit`` with these options, cached where there is a folder for it.

    Kernels let other threads run: the one that ends the process after a signal, too. No C code
    calls them, so that nothing is compiled for it.

    The folder is set while the function is decorated, since numba reads it then, and other users of
    numba in this process have their own.
    """
    options = {"nogil": True, "no_cfunc_wrapper": True, "_nrt": True, **options}
    cached = {**options, "cache": True}

    def compiled(asked: dict[str, Any], function: Kernel) -> Kernel:
        made: Any = numba.njit(**asked)(function)
        if isinstance(made, CPUDispatcher):  # else nothing is compiled
            made.__class__ = KernelDispatcher
        found: Kernel = made
        return found

    def decorate(function: Kernel) -> Kernel:
        settings: Any = numba.config
        folder = kept_in()
        if folder is None:
            return compiled(options, function)
        ours = {"CACHE_DIR": str(folder), "CACHE_LOCATOR_CLASSES": _LOCATOR}
        theirs = {name: getattr(settings, name, "") for name in ours}
        vars(settings).update(ours)
        try:
            return compiled(cached, function)
        finally:
            vars(settings).update(theirs)

    return decorate


def leaf() -> Callable[[Kernel], Kernel]:
    """``njit`` for a kernel that makes no arrays, and neither returns nor is returned any.

    Compiled code counts the references to each array that it gets hold of, and a named tuple of
    arrays is a reference to each of them: in the inner loops of a search that takes longer than
    the search. Arrays that somebody else holds all the while need no counting.
    """
    return njit(_nrt=False)


_SOURCES = Path(__file__).parent
_Locator: Any = getattr(caching, "UserProvidedCacheLocator", object)
"""Numba before 0.62 takes no other one than its own, which goes by where a source lies."""


class SourceLocator(_Locator):  # type: ignore[misc]
    """Numba's own for a folder that is given, where sources are told by their place in ``udfs``."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """The folder of a source below that of all kernels."""
        folder = Path(py_file).resolve().parent
        if folder.is_relative_to(_SOURCES.resolve()):
            return "-".join(("udfs", *folder.relative_to(_SOURCES.resolve()).parts))
        told: str = super().get_suitable_cache_subpath(py_file)
        return told


_LOCATOR = f"{__name__}.{SourceLocator.__name__}"


def kept_in() -> Path | None:
    """The folder of the kernels that these sources are compiled to; None: none is kept."""
    named = numba.config.CACHE_DIR  # type: ignore[attr-defined]
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


def _say_why() -> None:
    """Say once why nothing is kept, where that is because others could have planted it."""
    if UNSAFE and not _said and kept_in() is None:
        _said.append(True)
        why = next(iter(UNSAFE.values()))
        logging.getLogger("srsql").warning(
            "srsql: kernels are compiled anew in each process, since the folder that they are kept "
            "in is not this account's alone (%s): set XDG_CACHE_HOME to one that is",
            why.encode("ascii", "backslashreplace").decode(),
        )


_said: list[bool] = []


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


class _Told(event.Listener):
    """Tells of kernels of ours that are compiled, which takes seconds each."""

    def on_start(self, event: Any) -> None:
        """One is not in the cache."""
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith(__package__):
            _say_why()
            for tell in COMPILING:
                tell(function.__name__)

    def on_end(self, event: Any) -> None:
        """It is compiled: the next one is told when it begins."""


event.register("numba:compile", _Told())  # type: ignore[no-untyped-call]
