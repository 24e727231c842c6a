"""Kernels that run as plain Python beside the compiled ones, from the same source.

What compiles for a minute takes a few seconds on a small input when it is only interpreted. So each
module of kernels has a twin: a namespace with the same names, in which every kernel, of this module
or another, is the function that it was made from. Such a function is the same code object; only
the names that it finds are others.

Compiled integers wrap around, and so do those of numpy, which warns of it: not here, where it is
meant.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from time import process_time
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from srsql.udfs.exact_search import as_int64

_NAMES: dict[str, dict[str, Any]] = {}
"""By module, what its twin calls what."""
_TWINS: dict[FunctionType, Any] = {}
"""By the function that it is made from."""


def interpreted(name: str) -> Any:
    """The twin of a module of kernels: its functions make the same, and nothing is compiled.

    Args:
        name: of the module.
    """
    with _ONE_AT_A_TIME:
        return SimpleNamespace(**_names_of(import_module(name)))


@contextmanager
def limited_to(seconds: float) -> Iterator[None]:
    """Let what is interpreted within end after so many seconds, whoever calls it.

    Searches raise ``TookLongError`` then. Seconds are those of this process: on a busy machine
    compiling takes longer, too.
    """
    _UNTIL[0] = process_time() + seconds
    try:
        yield
    finally:
        _UNTIL[0] = float("inf")


class TookLongError(Exception):
    """What is interpreted takes longer than it may."""


def _names_of(module: ModuleType) -> dict[str, Any]:
    """What the functions of a twin find by which name."""
    found = _NAMES.get(module.__name__)
    if found is None:
        found = _NAMES[module.__name__] = dict(vars(module))  # known first: names go in circles
        found |= {name: _twin(value) for name, value in vars(module).items()}
    return found


def _twin(value: Any) -> Any:
    """What stands for a value of a module: of functions of ours one that calls no kernel."""
    function = value.py_func if isinstance(value, Dispatcher) else value
    if not isinstance(function, FunctionType) or not _is_ours(function):
        return value
    names = _names_of(sys.modules[function.__module__])
    if function not in _TWINS:
        _TWINS[function] = _made(function, names)
    return _TWINS[function]


def _is_ours(function: FunctionType) -> bool:
    """Whether it stands in a module of kernels as it is, decorated by nobody else."""
    module = sys.modules.get(function.__module__)
    return f"{function.__module__}.".startswith(f"{__package__}.") and function.__globals__ is vars(
        module
    )


def _made(function: FunctionType, names: dict[str, Any]) -> Any:
    if function is _AS_INT64:
        return _counted
    made = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return _WRAPPING(made) if "uint64" in function.__code__.co_names else made


def _counted(value: Any) -> int:
    """``as_int64``, which every search calls again and again: time is looked at there."""
    _CALLS[0] += 1
    if _CALLS[0] % _LOOKED_AT == 0 and process_time() > _UNTIL[0]:
        raise TookLongError
    return int(value)


_UNTIL, _CALLS = [float("inf")], [0]
_LOOKED_AT = 1024
"""Calls after which time is looked at: about a millisecond."""
_WRAPPING = np.errstate(over="ignore")
_AS_INT64 = getattr(as_int64, "py_func", as_int64)
_ONE_AT_A_TIME = RLock()
