"""`srsql.toml`: defaults of options, read from the working directory; and where each comes from."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from srsql.engine.console import json_option
from srsql.engine.console.session import OneCommand
from srsql.engine.measures import cell

if TYPE_CHECKING:
    from srsql.engine.console import Parts


CONFIG = "srsql.toml"
BUILT_IN = "built in"
CHECK = "check"
_IN_HELP = re.compile(r"\[default: ([^]]*)\]")
MOST_CONFIG = 1 << 20
"""Bytes of a file of defaults."""
Keys = dict[str, click.Option]
"""What a file may call an option of a command -> the option."""


@dataclass(frozen=True)
class Default:
    """The default of one option of one command."""

    command: str = field(metadata=cell("command"))
    option: str = field(metadata=cell("option"))
    value: Any = field(metadata=cell("default", "setting"))
    source: str = field(metadata=cell("from"))
    """``built in``, ``srsql.toml``, or the variable of the environment."""


def defaults_of(group: click.Group) -> dict[str, dict[str, Any]]:
    """The defaults that the file of the working directory sets, as click takes them: by command,
    for a group by each of its commands.

    Raises:
        ConfigError: the file names an option that it may not set, or that there is not, or a value
            is of another kind than its option takes; the text names it.
    """
    if defaults_file() is None:
        return {}
    keys = keys_of(group)
    found: dict[str, dict[str, Any]] = {}
    for name, values in read_defaults(keys).items():
        for command, options in keys[name].items():
            own = {options[key]: value for key, value in values.items() if key in options}
            for option, value in own.items():
                _need_kind(name, option, value)
            named = {str(option.name): value for option, value in own.items()}
            if isinstance(group.commands[name], click.Group):
                found.setdefault(name, {})[command] = named
            else:
                found[name] = named
    return found


def keys_of(group: click.Group) -> dict[str, dict[str, Keys]]:
    """What the options of each command may be called in a file; of a group, of each in it."""
    return {name: dict(_parts(name, command)) for name, command in group.commands.items()}


def _need_kind(command: str, option: click.Option, value: Any) -> None:
    """Refuse a list for a text: click would take what Python calls it."""
    from srsql.engine.errors import ConfigError

    several = option.multiple and isinstance(value, list)  # each of its own, as click reads them
    if not several and option.type is click.STRING and isinstance(value, list | dict):
        raise ConfigError(f"{CONFIG}: {command}: {option.name} = {value!r}: give text")


def _parts(name: str, command: click.Command) -> Iterator[tuple[str, Keys]]:
    """A command, or each one of a group, by its last word, with its options."""
    if isinstance(command, click.Group):
        for last, one in command.commands.items():
            yield last, _keys(one.params)
    else:
        yield name, _keys(command.params)


def _keys(params: list[click.Parameter]) -> Keys:
    """Every option by its long names, and by the name that it has in the code."""
    options = [param for param in params if isinstance(param, click.Option) and param.name]
    found = {str(option.name): option for option in options}
    for option in options:
        for name in option.opts:
            found[name.lstrip("-").replace("-", "_")] = option
    return found


def defaults_file() -> Path | None:
    """The file of defaults in the working directory; None: there is none."""
    path = Path(CONFIG).absolute()
    return path if os.path.lexists(path) else None


def read_defaults(keys: Mapping[str, Mapping[str, Keys]]) -> dict[str, dict[str, Any]]:
    """Defaults per command: top-level keys for every command, ``[release]`` for one.

    Args:
        keys: what the options of each command, or of each one of a group, may be called.

    Raises:
        ConfigError: the file cannot be read, or names something there is not, or may not set.
    """
    from srsql.engine.errors import ConfigError
    from srsql.engine.parameters import nearest
    from srsql.schemas.outside import read_toml

    path = defaults_file()
    if path is None:
        return {}
    try:
        read = read_toml(path, MOST_CONFIG)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{CONFIG} cannot be read: {error}") from None
    raw = {key if key in keys else key.replace("-", "_"): read[key] for key in read}
    every = [options for parts in keys.values() for options in parts.values()]
    shared = {key: value for key, value in raw.items() if not isinstance(value, dict)}
    for key in shared:
        _need_settable(f"{CONFIG}: srsql", key, every)
    merged: dict[str, dict[str, Any]] = {}
    for name, parts in keys.items():
        own = raw.get(name, {})
        own = own if isinstance(own, dict) else {}  # an option of that name, of other commands
        own = {key.replace("-", "_"): value for key, value in own.items()}
        for key in own:
            _need_settable(f"{CONFIG}: [{name}]", key, list(parts.values()))
        merged[name] = shared | own
    for key, value in raw.items():
        if isinstance(value, dict) and key not in keys:
            near = nearest(key, keys)
            hint = f"did you mean [{near}]?" if near else f"give some of {', '.join(keys)}"
            raise ConfigError(f"{CONFIG}: there is no command {key!r}: {hint}")
    return merged


def _need_settable(place: str, key: str, commands: Sequence[Keys]) -> None:
    """Refuse a key that none of these commands has as an option, or that one of them takes from
    the command line alone.

    The file lies where a command happens to run, and may be a stranger's. So it cannot choose what
    is written or read, and cannot weaken what a release promises.

    Raises:
        ConfigError: the text names the key, and says what to do.
    """
    from srsql.engine.errors import ConfigError
    from srsql.engine.parameters import unknown_option

    options = [keys[key] for keys in commands if key in keys]
    settable = {name for keys in commands for name, each in keys.items() if _settable(each)}
    if not options:
        raise ConfigError(unknown_option(place, key, sorted(settable)))
    refused = [option for option in options if not _settable(option)]
    if refused:
        raise ConfigError(
            f"{place}: {key} cannot be set in a file, which could write elsewhere or protect less "
            f"without a word: take it out of {Path(CONFIG).absolute()}, and give "
            f"{max(refused[0].opts, key=len)} on the command line"
        )


def _settable(option: click.Option) -> bool:
    from srsql.engine.console.later import FileOption

    return isinstance(option, FileOption)


def listed_defaults(
    group: click.Group, chosen: Mapping[str, Any], only: str | None
) -> list[Default]:
    """The default of every option that has one, as it holds here and now.

    Args:
        group: all commands.
        chosen: what the file sets, by command (see ``defaults_of``).
        only: the first word of the commands that are listed; None: all.
    """
    from srsql.engine.console.session import each_command

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
    from srsql.engine.console.session import each_command
    from srsql.engine.errors import ConfigError, SrsqlError
    from srsql.engine.release.request import read_value, release_options

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
@json_option
@click.pass_context
def config_command(context: click.Context, what: str | None, as_json: bool) -> None:
    """Each default of each option and where it comes from; or check srsql.toml."""
    from srsql.engine.console import show
    from srsql.engine.errors import ConfigError
    from srsql.engine.parameters import unknown_option

    group = context.find_root().command
    assert isinstance(group, click.Group)
    chosen = defaults_of(group)
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
    from srsql.engine.console import result_table

    here = Path(CONFIG).absolute()
    yield f"{here}" if here.is_file() else f"there is no {here}"
    yield result_table("defaults", Default, found)


def check_line(count: int) -> str:
    """What a file without faults is told."""
    here = Path(CONFIG).absolute()
    if not here.is_file():
        return f"there is no {here}: every default is built in or of the environment"
    return f"{here} is fine: it sets {count:,} defaults ('srsql config' shows them)"
