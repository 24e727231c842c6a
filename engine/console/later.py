"""Options that the engine declares, known without the engine: ``options.json`` has them.

A process runs one of some thirty commands, or none where a help is asked for; to import what
declares the options takes longer than to answer. ``docs/build_options.py`` writes the file from the
declarations, and a test fails while it is stale.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
PACKAGE = "srsql.engine"
KEPT = "options.json"


class FileOption(click.Option):
    """An option that ``srsql.toml`` may set; every other one stands on the command line alone."""


class WholeNumber(click.types.IntParamType):
    """A whole number; of a file of defaults nothing that would have to be rounded."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        if isinstance(value, bool) or not isinstance(value, str | int):
            self.fail(f"{value!r} is not a whole number", param, ctx)
        return super().convert(value, param, ctx)  # type: ignore[arg-type]


class Listed(click.ParamType[Any]):
    """Values with commas between them."""

    name = "list"

    def __init__(self, of: click.ParamType[Any]) -> None:
        self.of = of

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        """Each of them as its own type has it; what is empty is left out."""
        if isinstance(value, (tuple, list)):
            return tuple(value)
        parts = [part.strip() for part in str(value).split(",")]
        return tuple(self.of.convert(part, param, ctx) for part in parts if part)


class SomeNames(click.ParamType[Any]):
    """Names with commas between them; a file of defaults may list them."""

    name = "text"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | tuple[Any, ...]:
        """The text or the list, which the engine reads."""
        return tuple(value) if isinstance(value, tuple | list) else str(value)


TYPES: dict[str, Callable[..., click.ParamType[Any]]] = {
    "choice": click.Choice,
    "integers": click.IntRange,
    "list": lambda of: Listed(_type_of(of)),
    "names": SomeNames,
    "path": lambda: click.Path(path_type=Path),
    "real": click.FloatRange,
    "text": lambda: click.STRING,
    "whole": WholeNumber,
}
"""What the file calls a type -> what makes it of what stands behind the name."""


def _type_of(told: list[Any]) -> click.ParamType[Any]:
    return TYPES[told[0]](*told[1:])


@cache
def kept(part: str) -> dict[str, Any]:
    """What the file has of ``options``, by who declares them; of ``models``, by model, or of
    ``ways`` to ask for signals, by call, the names of what they take."""
    text = resources.files(__package__).joinpath(KEPT).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)[part]
    return found


def _kept_option(told: dict[str, Any]) -> click.Option:
    """An option as the file has it."""
    about = dict(told)
    kind = FileOption if about.pop("file", False) else click.Option
    if "type" in about:
        about["type"] = _type_of(about["type"])
    return kind(about.pop("names"), **about)


class _Awaited:
    """Stands where options will be."""

    def __init__(self, key: str, make: Callable[[], Decorator]) -> None:
        self.key, self.make = key, make

    def options(self) -> list[click.Parameter]:
        """The options, in the order in which they are shown."""
        told = kept("options").get(self.key)
        return self.declared() if told is None else [_kept_option(each) for each in told]

    def declared(self) -> list[click.Parameter]:
        """The same, from their declarations."""

        def bare() -> None:
            """Takes them."""

        found: list[click.Parameter] = getattr(self.make()(bare), "__click_params__", [])
        each = [one.declared() if isinstance(one, _Awaited) else [one] for one in found[::-1]]
        return [option for options in each for option in options]


def _made(options: list[click.Parameter]) -> list[click.Parameter]:
    """The options, those that were waited for among them."""
    each = [one.options() if isinstance(one, _Awaited) else [one] for one in options]
    return [option for options in each for option in options]


class LateCommand(click.Command):
    """A command whose options are made when they are looked at."""

    _declared: list[click.Parameter]
    _made: list[click.Parameter] | None = None

    @property
    def params(self) -> list[click.Parameter]:
        """All options and arguments."""
        if self._made is None:
            self._made = self.completed(_made(self._declared))
        return self._made

    @params.setter
    def params(self, params: list[click.Parameter]) -> None:
        if params is not self._made:  # where some were added to what was read
            self._declared, self._made = params, None

    def completed(self, params: list[click.Parameter]) -> list[click.Parameter]:
        """The options that the command declares, and those that every one has."""
        return params


def later(key: str, make: Callable[[], Decorator]) -> Decorator:
    """The options that a decorator gives, which are made when they are looked at.

    Args:
        key: what the file of options calls them; what it does not have is made.
        make: imports what it needs, and returns the decorator.
    """

    def of(command: Command) -> Command:
        known = command.__dict__.setdefault("__click_params__", [])
        known.append(_Awaited(key, make))
        return command

    return of


def found_in(module: str, name: str) -> Any:
    """What a module of the engine has by that name; the module is imported for it."""
    return getattr(import_module(f"{PACKAGE}.{module}"), name)


def given_by(module: str, name: str) -> Decorator:
    """The options of a decorator of a module of the engine."""
    return later(f"{module}.{name}", lambda: found_in(module, name))


_GROUPS = {
    "": ("api.engine", "Engine"),
    "artifact": ("api.artifacts", "ArtifactCalls"),
    "audit": ("api.audits", "AuditCalls"),
    "query": ("api.questions", "QueryCalls"),
    "release": ("api.releases", "ReleaseCalls"),
    "series": ("api.releases", "SeriesCalls"),
    "signals": ("api.signals", "SignalCalls"),
    "steward": ("api.steward", "StewardCalls"),
    "study": ("extras.study.study", "Study"),
}


def call_of_engine(name: str) -> Callable[..., Any]:
    """The call that a command stands for, such as ``artifact.publish`` of the engine."""
    group, _, call = name.rpartition(".")
    found: Callable[..., Any] = getattr(found_in(*_GROUPS[group]), call)
    return found
