"""What a call takes follows from its signature, and what it does not take it refuses in a line."""

from __future__ import annotations

import functools
import inspect
import typing
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import Any, Literal, ParamSpec, TypeVar

from srsql.engine.errors import SrsqlError
from srsql.engine.parameters.declared import Parameter, unknown_option
from srsql.engine.parameters.takes import (
    File,
    Flag,
    Instance,
    OneOf,
    RefusedError,
    Takes,
    Text,
    Whole,
)

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True)
class Argument:
    """What there is to say of an argument beside its type and its default."""

    help: str | Callable[[], str] = ""
    """The text, or a call for one that another module has."""
    usual: str = ""
    """The default in words, where no value says it."""
    takes: Takes | None = None
    """Which values; None: what its type says."""
    keyword: str = ""
    """Its name as an option, where it is another one."""
    aliases: tuple[str, ...] = ()
    in_file: bool = False
    """See :class:`Parameter`."""


Arguments = Mapping[str, Argument]
"""By name of the argument, or ``call.argument`` where one call differs."""


_TAKEN = "__srsql_taken__"
"""Attribute of a strict call: what it takes, where types do not say it."""


def strict(
    error: type[SrsqlError], arguments: Arguments | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Have a call refuse, in one line, keywords it does not have and values of another kind.

    Args:
        error: the kind of error that is raised.
        arguments: what is taken, where types do not say it.
    """

    def of(call: Callable[P, R]) -> Callable[P, R]:
        readers: dict[str, Parameter] = {}
        called = call.__qualname__.split(".")[0] if call.__name__ == "__init__" else call.__name__

        @functools.wraps(call)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            signature = inspect.signature(call)
            known = {name: told for name, told in signature.parameters.items() if name != "self"}
            open_ended = any(told.kind is told.VAR_KEYWORD for told in known.values())
            for name in () if open_ended else kwargs:
                if name not in known:
                    raise error(unknown_option(called, name, known))
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as why:
                raise error(f"{called}: {why}") from None
            if not readers:
                readers.update(arguments_of(call, arguments, told=False))
            for name, value in bound.arguments.items():
                told = readers.get(name)
                if told is None or (value is None and known[name].default is None):
                    continue
                try:
                    bound.arguments[name] = told.takes.read(value, told.option)
                except RefusedError as why:
                    raise error(str(why)) from None
            return call(*bound.args, **bound.kwargs)

        setattr(checked, _TAKEN, arguments)
        return checked

    return of


def strict_class(error: type[SrsqlError]) -> Callable[[type[T]], type[T]]:
    """The same for the making of a dataclass."""

    def of(made: type[T]) -> type[T]:
        made.__init__ = strict(error)(made.__init__)  # type: ignore[method-assign]
        return made

    return of


def arguments_of(
    call: Callable[..., Any], arguments: Arguments | None = None, *, told: bool = True
) -> dict[str, Parameter]:
    """The arguments of a call that can be read, by name, in the order of its signature.

    Args:
        call: made by :func:`strict`, or any other.
        arguments: what is taken, where types do not say it; None: as :func:`strict` was told.
        told: with their help texts, for which other modules may be imported.
    """
    if arguments is None:
        arguments = getattr(call, _TAKEN, None)
    inner = inspect.unwrap(call)
    known = {
        name: each
        for name, each in inspect.signature(inner).parameters.items()
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) and name != "self"
    }
    found: dict[str, Parameter] = {}
    for name, each in known.items():
        about = _about(arguments or {}, inner.__name__, name)
        takes = about.takes or _taken(_parts(_hint(inner, each.annotation)))
        if takes is not None:
            help_text = (
                (about.help if isinstance(about.help, str) else about.help()) if told else ""
            )
            found[name] = Parameter(
                takes=takes,
                help=help_text,
                usual=about.usual,
                keyword=about.keyword or name,
                aliases=about.aliases,
                in_file=about.in_file,
                default=None if each.default is each.empty else each.default,
                required=each.default is each.empty,
            )
    return found


def _hint(call: Callable[..., Any], annotation: Any) -> Any:
    """The type that an annotation names; modules of one that is declared in words stay unread."""
    text = SimpleNamespace(__annotations__={"it": annotation})
    return typing.get_type_hints(text, call.__globals__)["it"]


def _about(arguments: Arguments, call: str, name: str) -> Argument:
    return arguments.get(f"{call}.{name}") or arguments.get(name) or Argument()


def _parts(hint: Any) -> list[Any]:
    """The types of a union without None."""
    if typing.get_origin(hint) in (typing.Union, UnionType):
        return [part for each in typing.get_args(hint) for part in _parts(each)]
    return [] if hint is type(None) else [hint]


def _taken(parts: Sequence[Any]) -> Takes | None:
    """What plain types say of the values that are taken; None: nothing that could be checked."""
    kinds: Mapping[Any, Takes] = {bool: Flag(), int: Whole(), str: Text(), Path: File()}
    if parts and all(part in kinds for part in parts):
        return File() if Path in parts else kinds[parts[0]]
    if len(parts) != 1:
        return None
    origin = typing.get_origin(parts[0])
    if origin is Literal:
        return OneOf(typing.get_args(parts[0]))
    if origin is abc.Callable:
        return Instance((abc.Callable,), "a function of one text")
    if parts[0] is float:
        return Instance((float, int), "a number such as 0.5")
    if isinstance(parts[0], type):
        return Instance((parts[0],), f"an object of the class {parts[0].__name__}")
    return None
