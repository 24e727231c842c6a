"""Options of the command line, made from what the engine declares."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from srsql.engine.parameters import Parameter
from srsql.engine.parameters.calls import arguments_of
from srsql.engine.parameters.takes import File, Flag, Names, OneOf, Real, Several, Takes, Whole
from srsql.engine.warehouse.config import CONFIG, ConfigError

Command = Callable[..., Any]


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


def type_of(takes: Takes) -> click.ParamType[Any]:
    """How the command line reads what a parameter takes; bounds are the engine's."""
    if isinstance(takes, Several):
        return Listed(type_of(takes.of))
    if isinstance(takes, OneOf):
        return click.Choice(takes.choices)
    if isinstance(takes, Real):
        return click.FloatRange(takes.low, takes.high)
    if isinstance(takes, File):
        return click.Path(path_type=Path)
    if isinstance(takes, Names):
        return SomeNames()
    return WholeNumber() if isinstance(takes, Whole) else click.STRING


def option(name: str, told: Parameter) -> Callable[[Command], Command]:
    """The option that a declaration makes; ``name``: of the command's argument."""
    if isinstance(told.takes, Flag):
        return click.option(told.option, name, is_flag=True, help=_sentence(told.help))
    shown = "" if told.usual or told.required else told.shown_default
    default: dict[str, Any] = {"default": shown} if shown else {}  # None would count as given
    return click.option(
        told.option,
        *told.aliases,
        name,
        type=type_of(told.takes),
        **default,
        required=told.required,
        show_default=bool(shown),
        help=_sentence(told.help) + (f"  [default: {told.usual}]" if told.usual else ""),
    )


def _sentence(text: str) -> str:
    return f"{text}." if text and not text.endswith((".", "]")) else text


def options(declared: Mapping[str, Parameter]) -> Callable[[Command], Command]:
    """Options in the order of their declarations."""

    def of(command: Command) -> Command:
        for name, told in reversed(list(declared.items())):
            command = option(name, told)(command)
        return command

    return of


def options_of(call: Callable[..., Any], *names: str) -> Callable[[Command], Command]:
    """The options of a call of the engine: those that have a help text, or the named ones."""
    told = arguments_of(call)
    return options({n: each for n, each in told.items() if each.help and n in (names or told)})


def warehouse(command: Command) -> Command:
    """Which warehouse, and how to print."""
    with_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    with_db = click.option(
        "--db",
        type=click.Path(path_type=Path),
        envvar="SRSQL_DB",
        default=Path("srsql.duckdb"),
        show_default=True,
        help="Warehouse file (environment: SRSQL_DB).",
    )
    return with_db(with_json(command))


def folder_option(call: Callable[..., Any], name: str) -> Callable[[Command], Command]:
    """Where a study keeps what it measured."""
    told = arguments_of(call)["out"]
    return options({"folder": dataclasses.replace(told, default=Path(name), required=False)})


def check_defaults(
    commands: Mapping[str, click.Command], defaults: Mapping[str, Mapping[str, Any]]
) -> None:
    """Refuse defaults of another kind than their options take.

    Raises:
        ConfigError: one is; the text names it.
    """
    for name, values in defaults.items():
        types = {param.name: param.type for param in commands[name].params}
        for key, value in values.items():
            path = isinstance(types[key], click.Path) and not isinstance(value, str)
            text = types[key] is click.STRING and isinstance(value, list | dict)
            if path or text:
                what = "a path" if path else "text"
                raise ConfigError(f"{CONFIG}: {name}: {key} = {value!r}: give {what}")


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given; for the others the engine has defaults."""
    return {name: value for name, value in options.items() if value is not None}
