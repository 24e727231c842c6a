"""What a call takes follows from its signature, and what it does not take it refuses in a line."""

from __future__ import annotations

import functools
import inspect
import sys
import typing
from collections import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import Any, Literal, ParamSpec, TypeVar

from srsql.engine.errors import SrsqlError
from srsql.engine.parameters.declared import Parameter, option_name, unknown_option
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


_TAKEN, _CALLED, _WITHOUT = "__srsql_taken__", "__srsql_called__", "__srsql_without__"
"""Attributes of a strict call: what it takes where types do not say it, its name, and the fields of
its options that it does not have."""


class Options:
    """Options of calls in one object: a frozen dataclass whose fields all have defaults.

    A call that has such a parameter takes the fields as keywords of its own as well; what is given
    so comes before what the object has.
    """


def option_objects(call: Callable[..., Any]) -> dict[str, Any]:
    """The parameters of a call that are options in one object, with what they are by default."""
    parameters = inspect.signature(inspect.unwrap(call)).parameters
    return {n: p.default for n, p in parameters.items() if isinstance(p.default, Options)}


def strict(
    error: type[SrsqlError],
    arguments: Arguments | None = None,
    *,
    called: str = "",
    without: Sequence[str] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Have a call refuse, in one line, keywords it does not have and values of another kind.

    Args:
        error: the kind of error that is raised.
        arguments: what is taken, where types do not say it.
        called: the name of the call in errors and ``arguments``; empty: its own.
        without: fields of its options that it does not have.
    """

    def of(call: Callable[P, R]) -> Callable[P, R]:
        readers: dict[str, Parameter] = {}
        made = call.__name__ == "__init__"
        name_of_call = called or (call.__qualname__.split(".")[0] if made else call.__name__)
        objects = option_objects(call)
        owners = {
            each.name: name
            for name, default in objects.items()
            for each in fields(default)
            if each.name not in without
        }

        def read(name: str, value: Any, default: Any) -> Any:
            told = readers.get(name)
            if told is None or (value is None and default is None):
                return value
            try:
                return told.takes.read(value, told.option)
            except RefusedError as why:
                raise error(str(why)) from None

        def gathered(name: str, given: Any, keywords: Mapping[str, Any]) -> Any:
            """The options of one object and those that are keywords, read."""
            usual = objects[name]
            if not isinstance(given, type(usual)):
                raise error(f"{option_name(name)} {given!r}: give {type(usual).__name__}(...)")
            own = {n: v for n, v in vars(given).items() if v != getattr(usual, n)}
            own |= {n: v for n, v in keywords.items() if owners[n] == name}
            for n in own.keys() - owners.keys():
                raise error(unknown_option(name_of_call, n, owners))
            return replace(usual, **{n: read(n, v, getattr(usual, n)) for n, v in own.items()})

        @functools.wraps(call)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            signature = inspect.signature(call)
            own = {n: p for n, p in signature.parameters.items() if n != "self"}
            known = {n: p for n, p in own.items() if p.kind is not p.VAR_KEYWORD}
            open_ended = not objects and len(known) < len(own)
            named = {n: kwargs[n] for n in kwargs if n in owners}
            plain = {n: v for n, v in kwargs.items() if n not in owners}
            for name in () if open_ended else plain:
                if name not in known:
                    raise error(unknown_option(name_of_call, name, [*known, *owners]))
            try:
                bound = signature.bind(*args, **plain)
            except TypeError as why:
                raise error(f"{name_of_call}: {why}") from None
            if not readers:
                readers.update(arguments_of(checked, arguments, told=False))
            for name, value in bound.arguments.items():
                if name in known and name not in objects:
                    bound.arguments[name] = read(name, value, known[name].default)
            for name, usual in objects.items():
                given = bound.arguments.get(name, usual)
                bound.arguments[name] = gathered(name, given, named)
            return call(*bound.args, **bound.kwargs)

        for attribute, value in ((_TAKEN, arguments), (_CALLED, called), (_WITHOUT, without)):
            setattr(checked, attribute, value)
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
    name_of_call = getattr(call, _CALLED, "") or inner.__name__
    found: dict[str, Parameter] = {}
    for name, annotation, names, default in _declarations(call, inner):
        about = _about(arguments or {}, name_of_call, name)
        takes = about.takes or _taken(_parts(_hint(names, annotation)))
        if takes is not None:
            help_text = (
                (about.help if isinstance(about.help, str) else about.help()) if told else ""
            )
            required = default is inspect.Parameter.empty
            found[name] = Parameter(
                takes=takes,
                help=help_text,
                usual=about.usual,
                keyword=about.keyword or name,
                aliases=about.aliases,
                in_file=about.in_file,
                default=None if required else default,
                required=required,
            )
    return found


def _declarations(
    call: Callable[..., Any], inner: Callable[..., Any]
) -> Iterator[tuple[str, Any, Mapping[str, Any], Any]]:
    """Name, annotation, names that it may use, and default of all that a call takes."""
    without = getattr(call, _WITHOUT, ())
    for name, each in inspect.signature(inner).parameters.items():
        if isinstance(each.default, Options):
            names = vars(sys.modules[type(each.default).__module__])
            for option in fields(each.default):  # type: ignore[arg-type]
                if option.name not in without:
                    yield option.name, option.type, names, option.default
        elif each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) and name != "self":
            yield name, each.annotation, inner.__globals__, each.default


def _hint(names: Mapping[str, Any], annotation: Any) -> Any:
    """The type that an annotation names; modules of one that is declared in words stay unread."""
    text = SimpleNamespace(__annotations__={"it": annotation})
    return typing.get_type_hints(text, dict(names))["it"]


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
