"""The options that the command line knows without the engine are those that the engine declares."""

from __future__ import annotations

import click
from support.scripts import DOCS, load

from srsql.cli import cli
from srsql.engine.console.later import _Awaited
from srsql.engine.console.session import each_command

BUILDER = load(DOCS / "build_options.py")


def test_the_kept_options_are_those_that_the_engine_declares() -> None:
    assert BUILDER.FILE.read_text(encoding="utf-8") == BUILDER.text(), (
        "stale: run python docs/build_options.py"
    )


def test_a_kept_option_is_read_as_the_declared_one() -> None:
    def told(option: click.Parameter) -> object:
        about = option.to_info_dict()
        return (
            type(option),
            about.pop("default"),
            about,
            bool(getattr(option, "show_default", None)),
        )

    parts = [
        part
        for _, command in each_command(cli)
        for part in getattr(command, "_declared", ())
        if isinstance(part, _Awaited)
    ]
    for part in parts:
        assert [*map(told, part.options())] == [*map(told, part.declared())], part.key
