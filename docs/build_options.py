"""Writes engine/console/options.json from the declarations: what the command line has to know
before it imports the engine.

Run ``python docs/build_options.py`` after an option, a help text, a default or a model has changed;
a test fails while the file is stale.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from srsql.cli import cli
from srsql.engine.console.field_signals import PARTS, _taken
from srsql.engine.console.later import KEPT, FileOption, Listed, SomeNames, WholeNumber, _Awaited
from srsql.engine.console.session import each_command
from srsql.engine.models import MODELS
from srsql.engine.parameters import declared
from srsql.engine.release.request import release_options
from srsql.engine.terms.parameters import DISASSOCIATE, DisassociationParameters

FILE = Path(__file__).parents[1] / "engine" / "console" / KEPT


def kept_type(of: click.ParamType[Any]) -> list[Any] | None:
    """What the file calls a type, and what makes it; None: it has no name for it."""
    if isinstance(of, click.Choice):
        return ["choice", list(of.choices)]
    if isinstance(of, click.FloatRange | click.IntRange):
        name = "real" if isinstance(of, click.FloatRange) else "integers"
        return [name, of.min, of.max, of.min_open, of.max_open]
    if isinstance(of, Listed):
        part = kept_type(of.of)
        return None if part is None else ["list", part]
    if isinstance(of, SomeNames | WholeNumber):
        return ["names" if isinstance(of, SomeNames) else "whole"]
    if isinstance(of, click.Path):
        plain = click.Path(path_type=Path).to_info_dict()
        return ["path"] if of.to_info_dict() == plain and of.type is Path else None
    return ["text"] if of is click.STRING else None


def kept_option(option: click.Parameter) -> dict[str, Any] | None:
    """An option as the file has it; None: it does more than the file can say."""
    if type(option) not in (FileOption, click.Option) or option._custom_shell_complete:
        return None
    assert isinstance(option, click.Option)
    of = None if option.is_flag else kept_type(option.type)
    if option.callback or option.envvar or (of is None and not option.is_flag):
        return None
    about: dict[str, Any] = {"names": [*option.opts, str(option.name)]}
    about |= {"file": True} if isinstance(option, FileOption) else {}
    about |= {"is_flag": True} if option.is_flag else {"type": of}
    for name in ("required", "multiple", "show_default", "metavar"):
        about |= {name: getattr(option, name)} if getattr(option, name) else {}
    if isinstance(option.default, str | int | float) and not option.is_flag:
        about["default"] = option.default
    return about | {"help": option.help}


def kept_options() -> dict[str, list[dict[str, Any]]]:
    """By who declares them: the options of each part that the file can say as a whole."""

    parts = [part for _, each in each_command(cli) for part in getattr(each, "_declared", ())]
    found = {}
    for part in parts:
        if isinstance(part, _Awaited):
            options = [kept_option(option) for option in part.declared()]
            if None not in options:
                found[part.key] = [option for option in options if option]
    return dict(sorted(found.items()))


def kept_models() -> dict[str, list[list[str]]]:
    """By model: name, help and default of each of its parameters; of one that tells terms alone,
    those of disassociated terms as well. Under an empty name: every one that only some take."""
    found = {}
    for name, model in MODELS.items():
        known = dict(declared(model))
        if model.shape.tells_terms(asked=False):
            known |= {
                keyword: each
                for keyword, each in declared(DisassociationParameters).items()
                if DISASSOCIATE not in each.of.split()
            }
        found[name] = [
            [each.option.lstrip("-"), each.help, each.shown_default] for each in known.values()
        ]
    found[""] = [
        [option.first.option.lstrip("-")]
        for option in release_options().values()
        if not option.common
    ]
    return found


def kept_ways() -> dict[str, list[str]]:
    """By call of the engine: what a way to ask for signals takes."""
    return {
        call: [told.option.lstrip("-") for told in _taken(call).values()]
        for call, _ in PARTS.values()
    }


def lines(parts: dict[str, list[Any]]) -> Iterator[str]:
    """A line for each option, so that a change shows as what it is."""
    for number, (key, each) in enumerate(parts.items()):
        end = "" if number == len(parts) - 1 else ","
        rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in each)
        yield f" {json.dumps(key)}: [\n{rows}\n ]{end}" if rows else f" {json.dumps(key)}: []{end}"


def text() -> str:
    """The file."""
    parts = {"options": kept_options(), "models": kept_models(), "ways": kept_ways()}
    each = ",\n".join(
        "\n".join([f'"{name}": {{', *lines(part), "}"]) for name, part in parts.items()
    )
    return f"{{\n{each}\n}}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")
