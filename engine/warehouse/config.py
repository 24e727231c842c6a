"""Defaults from ``srsql.toml`` in the working directory."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from srsql.engine.errors import SrsqlError
from srsql.engine.parameters import unknown_option

CONFIG = "srsql.toml"


class ConfigError(SrsqlError):
    """`srsql.toml` is wrong; the text names the key."""


def read_defaults(options: dict[str, set[str]]) -> dict[str, Any]:
    """Defaults per command: top-level keys for every command, ``[release]`` for one.

    Args:
        options: the names of each command's options.

    Raises:
        ConfigError: the file cannot be read, or names something there is not.
    """
    path = Path(CONFIG)
    if not path.is_file():
        return {}
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{CONFIG} cannot be read: {error}") from None
    shared = {key: value for key, value in raw.items() if not isinstance(value, dict)}
    for key in shared:
        if not any(key in names for names in options.values()):
            every = sorted(set().union(*options.values()))
            raise ConfigError(unknown_option(f"{CONFIG}: srsql", key, every))
    merged: dict[str, Any] = {}
    for name, names in options.items():
        own = raw.get(name, {})
        for key in own:
            if key not in names:
                raise ConfigError(unknown_option(f"{CONFIG}: [{name}]", key, sorted(names)))
        merged[name] = {k: v for k, v in shared.items() if k in names} | own
    for key, value in raw.items():
        if isinstance(value, dict) and key not in options:
            raise ConfigError(f"{CONFIG}: there is no command {key!r}")
    return merged
