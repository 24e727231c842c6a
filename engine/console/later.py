"""Options whose declarations are read when a command is run or its help is shown, not before.

Of some thirty commands a process runs one; to import what the others need takes longer than to
answer.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
PACKAGE = "srsql.engine"


class _Awaited:
    """Stands where options will be."""

    def __init__(self, make: Callable[[], Decorator]) -> None:
        self.make = make

    def options(self) -> list[click.Parameter]:
        """The options, in the order in which they are shown."""

        def bare() -> None:
            """Takes them."""

        found: list[click.Parameter] = getattr(self.make()(bare), "__click_params__", [])
        return _made(found[::-1])


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


def later(make: Callable[[], Decorator]) -> Decorator:
    """The options that a decorator gives, which is made when they are looked at.

    Args:
        make: imports what it needs, and returns the decorator.
    """

    def of(command: Command) -> Command:
        known = command.__dict__.setdefault("__click_params__", [])
        known.append(_Awaited(make))
        return command

    return of


def found_in(module: str, name: str) -> Any:
    """What a module of the engine has by that name; the module is imported for it."""
    return getattr(import_module(f"{PACKAGE}.{module}"), name)


def given_by(module: str, name: str) -> Decorator:
    """The options of a decorator of a module of the engine."""
    return later(lambda: found_in(module, name))


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
