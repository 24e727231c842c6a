"""Kernels that run as plain Python beside the compiled ones, from the same source.

What compiles for a minute takes a few seconds on a small input when it is only interpreted. So each
module of kernels has a twin: a namespace with the same names, in which every kernel, of this module
or another, is the function that it was made from. Such a function is the same code object; only
the names that it finds are others.

Compiled integers wrap around, and so do those of numpy, which warns of it: not here, where it is
meant.

Leaf kernels read and write single numbers, which arrays give out as objects of numpy that take
several times as long to count with as Python's own. So they get each array as a ``memoryview`` of
the same numbers: whoever calls a leaf and is none hands it over (``_viewed``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from time import process_time
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from srsql.udfs.exact_search import as_int64, row_of

_NAMES: dict[tuple[str, bool], dict[str, Any]] = {}
"""By module, what its twin calls what; and what leaves call it, which hold views already."""
_TWINS: dict[tuple[FunctionType, bool], Any] = {}
"""By the function that it is made from, and whether a leaf calls it."""
_FORMED: dict[int, tuple[Any, Any]] = {}
"""By its identity a tuple of arrays or of views, which is kept so that no other one gets that, and
the same in the other form."""


def interpreted(name: str) -> Any:
    """The twin of a module of kernels: its functions make the same, and nothing is compiled.

    Args:
        name: of the module.
    """
    with _ONE_AT_A_TIME:
        return SimpleNamespace(**_names_of(import_module(name), within_leaf=False))


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
        _FORMED.clear()


class TookLongError(Exception):
    """What is interpreted takes longer than it may."""


def _names_of(module: ModuleType, *, within_leaf: bool) -> dict[str, Any]:
    """What the functions of a twin find by which name."""
    key = module.__name__, within_leaf
    found = _NAMES.get(key)
    if found is None:
        found = _NAMES[key] = dict(vars(module))  # known first: names go in circles
        found |= {name: _twin(value, within_leaf) for name, value in vars(module).items()}
    return found


def _twin(value: Any, within_leaf: bool) -> Any:
    """What stands for a value of a module: of functions of ours one that calls no kernel."""
    function = value.py_func if isinstance(value, Dispatcher) else value
    if not isinstance(function, FunctionType) or not _is_ours(function):
        return value
    if function is _AS_INT64:
        return int
    key = function, within_leaf
    if key not in _TWINS:
        options = value.targetoptions if isinstance(value, Dispatcher) else {}
        inline = options.get("inline") == "always"  # part of its caller
        inner = within_leaf if inline else options.get("_nrt") is False
        made = _made(
            function, _names_of(sys.modules[function.__module__], within_leaf=inner), inner
        )
        if inner != within_leaf:
            made = _called_with(_viewed if inner else _array_of, made)
        _TWINS.setdefault(key, made)
    return _TWINS[key]


def _is_ours(function: FunctionType) -> bool:
    """Whether it stands in a module of kernels as it is, decorated by nobody else."""
    module = sys.modules.get(function.__module__)
    return f"{function.__module__}.".startswith(f"{__package__}.") and function.__globals__ is vars(
        module
    )


def _made(function: FunctionType, names: dict[str, Any], within_leaf: bool) -> Any:
    if function is _ROW_OF and within_leaf:
        return _viewed_row_of
    made = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return _WRAPPING(made) if "uint64" in function.__code__.co_names else made


def _called_with(form: Callable[[Any], Any], function: Any) -> Any:
    """The function for whoever has arrays in another form.

    Every search calls one again and again: time is looked at there.
    """

    def called(*given: Any) -> Any:
        _CALLS[0] += 1
        if _CALLS[0] % _LOOKED_AT == 0 and process_time() > _UNTIL[0]:
            raise TookLongError
        return function(*map(form, given))

    return called


def _viewed(given: Any) -> Any:
    """The same numbers: of an array a view, of a tuple one of views, of one of numpy's Python's."""
    if isinstance(given, np.ndarray):
        return memoryview(given.data)
    if isinstance(given, np.generic):
        return given.item()
    return _each_part(_viewed, given) if isinstance(given, tuple) else given


def _array_of(given: Any) -> Any:
    """The same numbers: of a view an array, of a tuple one of arrays."""
    if isinstance(given, memoryview):
        return np.asarray(given)
    return _each_part(_array_of, given) if isinstance(given, tuple) else given


def _each_part(form: Callable[[Any], Any], given: Any) -> Any:
    """A tuple whose parts have that form; the same one whenever it is asked for."""
    known = _FORMED.get(id(given))
    if known is None:
        parts = [form(part) for part in given]
        made = type(given)(*parts) if hasattr(given, "_fields") else tuple(parts)
        known = _FORMED[id(given)] = given, made
        _FORMED[id(made)] = made, given
    return known[1]


def _viewed_row_of(values: memoryview, at: int) -> memoryview:
    """``row_of``: a view of several dimensions gives out single numbers alone."""
    return memoryview(np.asarray(values)[at])


_UNTIL, _CALLS = [float("inf")], [0]
_LOOKED_AT = 1024
"""Calls after which time is looked at: tenths of a second."""
_WRAPPING = np.errstate(over="ignore")
_AS_INT64, _ROW_OF = (getattr(each, "py_func", each) for each in (as_int64, row_of))
_ONE_AT_A_TIME = RLock()
