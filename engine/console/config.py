"""`srsql.toml`: defaults of options, read from the working directory; and where each comes from."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from srsql.engine.console import Parts, Table, show
from srsql.engine.console.session import OneCommand, each_command
from srsql.engine.errors import ConfigError, SrsqlError, printable
from srsql.engine.parameters import unknown_option
from srsql.engine.release.request import read_value, release_options

CONFIG = "srsql.toml"
BUILT_IN = "built in"
CHECK = "check"
COLUMNS = ["command", "option", "default", "from"]
_IN_HELP = re.compile(r"\[default: ([^]]*)\]")
Keys = dict[str, str]
"""What a file may call an option of a command -> the name of its parameter."""


@dataclass(frozen=True)
class Default:
    """The default of one option of one command."""

    command: str
    option: str
    value: Any
    source: str
    """``built in``, ``srsql.toml``, or the variable of the environment."""


def defaults_of(commands: Mapping[str, click.Command]) -> dict[str, dict[str, Any]]:
    """The defaults that the file of the working directory sets, by command.

    Raises:
        ConfigError: one is of another kind than its option takes; the text names it.
    """
    params = {
        name: [param for _, one in _parts(name, command) for param in one.params]
        for name, command in commands.items()
    }
    defaults = read_defaults({name: _keys(listed) for name, listed in params.items()})
    for name, values in defaults.items():
        known = {param.name: param for param in params[name]}
        for key, value in values.items():
            kind, several = known[key].type, getattr(known[key], "multiple", False)
            if several and isinstance(value, list):  # each of its own, as click reads them
                continue
            path = isinstance(kind, click.Path) and not isinstance(value, str)
            text = kind is click.STRING and isinstance(value, list | dict)
            if path or text:
                what = "a path" if path else "text"
                raise ConfigError(f"{CONFIG}: {name}: {key} = {value!r}: give {what}")
        command = commands[name]
        if isinstance(command, click.Group):  # each of its commands has those of the group
            defaults[name] = dict.fromkeys(command.commands, values)
    return defaults


def _parts(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        yield from each_command(command, f"{name} ")
    else:
        yield name, command


def _keys(params: list[click.Parameter]) -> Keys:
    """Every option by its long names, and by the name that it has in the code."""
    options = [param for param in params if isinstance(param, click.Option) and param.name]
    found = {str(option.name): str(option.name) for option in options}
    for option in options:
        for name in option.opts:
            found[name.lstrip("-").replace("-", "_")] = str(option.name)
    return found


def read_defaults(options: Mapping[str, Keys]) -> dict[str, dict[str, Any]]:
    """Defaults per command: top-level keys for every command, ``[release]`` for one.

    Args:
        options: what each command's options may be called.

    Raises:
        ConfigError: the file cannot be read, or names something there is not.
    """
    path = Path(CONFIG)
    if not path.is_file():
        return {}
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{CONFIG} cannot be read: {error}") from None
    raw = {key if key in options else key.replace("-", "_"): read[key] for key in read}
    shared = {key: value for key, value in raw.items() if not isinstance(value, dict)}
    for key in shared:
        if not any(key in names for names in options.values()):
            every = sorted(set().union(*options.values()))
            raise ConfigError(unknown_option(f"{CONFIG}: srsql", key, every))
    merged: dict[str, dict[str, Any]] = {}
    for name, names in options.items():
        own = raw.get(name, {})
        own = own if isinstance(own, dict) else {}  # an option of that name, of other commands
        own = {key.replace("-", "_"): value for key, value in own.items()}
        for key in own:
            if key not in names:
                raise ConfigError(unknown_option(f"{CONFIG}: [{name}]", key, sorted(names)))
        values = {k: v for k, v in shared.items() if k in names} | own
        merged[name] = {names[key]: value for key, value in values.items()}
    for key, value in raw.items():
        if isinstance(value, dict) and key not in options:
            near = difflib.get_close_matches(key, options, n=1)
            hint = f"did you mean [{near[0]}]?" if near else f"give some of {', '.join(options)}"
            raise ConfigError(f"{CONFIG}: there is no command {key!r}: {hint}")
    return merged


def listed_defaults(
    group: click.Group, chosen: Mapping[str, Any], only: str | None
) -> list[Default]:
    """The default of every option that has one, as it holds here and now.

    Args:
        group: all commands.
        chosen: what the file sets, by command (see ``defaults_of``).
        only: the first word of the commands that are listed; None: all.
    """
    found: list[Default] = []
    for name, command in each_command(group):
        first, *rest = name.split()
        values = chosen.get(first, {})
        values = values.get(rest[0], {}) if rest else values
        for param in command.params:
            if isinstance(param, click.Option) and only in (None, first):
                found += _default(name, param, values)
    return found


def _default(command: str, param: click.Option, values: Mapping[str, Any]) -> Iterator[Default]:
    variable = str(param.envvar or "")
    value: Any = None if param.required else param.default
    source = BUILT_IN
    if variable and os.environ.get(variable):
        value, source = os.environ[variable], f"environment ({variable})"
    elif param.name in values:
        value, source = values[str(param.name)], CONFIG
    elif type(value).__name__ == "Sentinel" or callable(value) or value in (None, ()):
        in_words = "; ".join(_IN_HELP.findall(param.help or "")) or None
        value = False if param.is_flag else in_words
    if value is not None:
        shown = str(value) if isinstance(value, Path) else value
        yield Default(command, param.opts[0], shown, source)


def check_defaults(group: click.Group, chosen: Mapping[str, Any]) -> int:
    """Read every value of the file as its option does; how many defaults it sets.

    Raises:
        ConfigError: one is not taken; the text names it.
    """
    known, count = release_options(), 0
    outer = click.Context(group, **group.context_settings)
    for name, command in each_command(group):
        first, *rest = name.split()
        values = chosen.get(first, {})
        values = values.get(rest[0], {}) if rest else values
        context = click.Context(command, info_name=name, parent=outer)
        for param in command.params:
            if param.name not in values:
                continue
            count += 1
            try:
                value = param.type_cast_value(context, values[param.name])
                if first in ("release", "series") and param.name in known and value is not None:
                    read_value(known[param.name].first, value)
            except (click.ClickException, SrsqlError) as why:
                text = why.format_message() if isinstance(why, click.ClickException) else str(why)
                raise ConfigError(
                    f"{CONFIG}: {name}: {param.name} = {values[param.name]!r}: {text}"
                ) from None
    return count


@click.command("config", cls=OneCommand)
@click.argument("what", required=False, metavar="[COMMAND|check]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def config_command(context: click.Context, what: str | None, as_json: bool) -> None:
    """Each default of each option and where it comes from; or check srsql.toml."""
    group = context.find_root().command
    assert isinstance(group, click.Group)
    chosen = defaults_of(group.commands)
    if what == CHECK:
        count = check_defaults(group, chosen)
        told = {"file": str(Path(CONFIG).absolute()), "defaults": count}
        show(told, as_json, [check_line(count)])
        return
    if what is not None and what not in group.commands:
        raise ConfigError(unknown_option("srsql config", what, [CHECK, *group.commands]))
    found = listed_defaults(group, chosen, what)
    show(found, as_json, config_parts(found))


def config_parts(found: list[Default]) -> Parts:
    """Every default, and where it comes from."""
    here = Path(CONFIG).absolute()
    yield f"{here}" if here.is_file() else f"there is no {here}"
    rows = [[one.command, one.option, printable(_shown(one.value)), one.source] for one in found]
    yield Table("defaults", COLUMNS, rows)


def check_line(count: int) -> str:
    """What a file without faults is told."""
    here = Path(CONFIG).absolute()
    if not here.is_file():
        return f"there is no {here}: every default is built in or of the environment"
    return f"{here} is fine: it sets {count:,} defaults ('srsql config' shows them)"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
