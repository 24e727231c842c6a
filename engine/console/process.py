"""What a command takes of the machine, and of its caller: limits, arguments that are text, time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from srsql.engine.console.later import FileOption
from srsql.engine.errors import WarehouseError, printable
from srsql.udfs.caches import COMPILING

Command = Callable[..., Any]
LIMITS = "srsql.limits"
"""What was given of ``--threads`` and ``--memory-limit``, in the context of a command."""


def limits_given() -> dict[str, Any]:
    """What the process may take, as a warehouse is told."""
    return dict(click.get_current_context().meta.get(LIMITS, {}))


def _keep_limit(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value is not None:
        context.meta.setdefault(LIMITS, {})[option.name] = value


def limits(command: Command) -> Command:
    """What the process may take; ``limits_given`` has it."""
    threads = click.option(
        "--threads",
        cls=FileOption,
        type=click.IntRange(1),
        expose_value=False,
        callback=_keep_limit,
        help="Threads of DuckDB.  [default: as cores]",
    )
    memory = click.option(
        "--memory-limit",
        cls=FileOption,
        expose_value=False,
        callback=_keep_limit,
        metavar="SIZE",
        help="What the process may take of memory, such as 2GB.",
    )
    return memory(threads(command))


def need_text(arguments: Sequence[str]) -> None:
    """Refuse arguments that are no text, before anything is written: they could not be shown.

    Raises:
        WarehouseError: one has bytes that are not UTF-8.
    """
    for given in arguments:
        try:
            given.encode()
        except UnicodeEncodeError:
            raise WarehouseError(f"{printable(given)} is not UTF-8: give another name") from None


@contextmanager
def told_of_compiling(tell: Callable[[str], None]) -> Iterator[None]:
    """While this lasts, who is told takes a line for each kernel that has to be compiled."""

    done: list[str] = []

    def told(kernel: str) -> None:
        done.append(kernel)
        tell(f"preparing for this machine, once: part {len(done)}")

    COMPILING.append(told)
    try:
        yield
    finally:
        COMPILING.remove(told)
