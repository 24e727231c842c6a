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

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import caching, event
from numba.core.registry import CPUDispatcher

from srsql.udfs.caches import _SOURCES, COMPILING, UNSAFE, kept_in
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
