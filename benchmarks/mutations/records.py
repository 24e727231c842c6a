"""A mutation as it is declared, and how it is applied: in memory, to one run, and taken back."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch

from srsql.engine.store import definitions as opening
from srsql.engine.store import statements
from srsql.udfs import register

MACROS = "srsql.sql_macros"
_CACHES = (
    statements.source,
    statements.queries,
    statements.step_file,
    statements._parsed_step,
    statements.parsed,
    statements.statements,
)
"""What keeps the text of SQL files, or what was parsed of it."""


@dataclass(frozen=True)
class Text:
    """Other text in one SQL file, as it is loaded; the old text has to be there exactly once."""

    file: str
    """Below ``sql_macros``."""
    old: str
    new: str


@dataclass(frozen=True)
class Attribute:
    """Another value of a Python attribute, made from the one that is there."""

    place: str
    """``module:attribute``, or ``module:Class.attribute``; modules without ``srsql.``."""
    make: Callable[[Any], Any]


@dataclass(frozen=True)
class Kernel:
    """Another wrapper of a UDF, made from the one that is registered."""

    name: str
    make: Callable[[Any], Any]


@dataclass(frozen=True)
class Mutation:
    """One thing that a maker does otherwise than it says."""

    name: str
    family: str
    does: str
    """In words, after "the maker"."""
    world: str
    """Where it bites: a name of ``worlds.WORLDS``."""
    ways: tuple[Text | Attribute | Kernel, ...]


class NotApplicableError(Exception):
    """What a mutation is to change is not where its record says."""


@contextmanager
def applied(mutation: Mutation | None) -> Iterator[None]:
    """While this lasts the mutation is there; None: nothing is.

    Raises:
        NotApplicableError: a text was not found exactly once, or there is no such attribute.
    """
    ways = mutation.ways if mutation else ()
    with ExitStack() as stack:
        texts = [way for way in ways if isinstance(way, Text)]
        if texts:
            stack.enter_context(_texts(texts))
        for way in ways:
            if isinstance(way, Attribute):
                module, _, name = way.place.partition(":")
                *owners, last = name.split(".")
                target: Any = importlib.import_module(f"srsql.{module}")
                for owner in owners:
                    target = getattr(target, owner)
                if not hasattr(target, last):
                    raise NotApplicableError(f"there is no {way.place}")
                stack.enter_context(patch.object(target, last, way.make(getattr(target, last))))
            elif isinstance(way, Kernel):
                function, *types = register._UDFS[way.name]
                changed = {way.name: (way.make(function), *types)}
                stack.enter_context(patch.dict(register._UDFS, changed))
        yield


@contextmanager
def _texts(texts: list[Text]) -> Iterator[None]:
    read = statements.source

    @cache
    def source(package: str, file: str) -> str:
        text = read(package, file)
        for each in texts:
            if (package, file) == (MACROS, each.file):
                text = replaced(text, each)
        return text

    for each in texts:
        replaced(read(MACROS, each.file), each)  # whether or not anything loads it
    _forget()
    try:
        with patch.object(statements, "source", source), patch.object(opening, "source", source):
            yield
    finally:
        _forget()


def replaced(text: str, change: Text) -> str:
    """The text with the change.

    Raises:
        NotApplicableError: the old text is not there exactly once.
    """
    if (times := text.count(change.old)) != 1:
        raise NotApplicableError(f"{change.file} has {change.old!r} {times} times, not once")
    return text.replace(change.old, change.new)


def _forget() -> None:
    for each in _CACHES:
        each.cache_clear()
