"""Examples in every help, each of which can be typed; and completion in shells."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from support.command import srsql

from srsql.cli import cli
from srsql.engine.console.forms import EXAMPLES

pytestmark = pytest.mark.slow


def contexts() -> Iterator[tuple[str, click.Context]]:
    """Words of each command, and a context for its help.

    Commands keep the help option of the first context that asks: it has the settings of `cli`.
    """
    group = click.Context(cli, info_name="srsql", **cli.context_settings)
    yield "", group
    for name, command in cli.commands.items():
        own = click.Context(command, info_name=name, parent=group)
        yield name, own
        for part, inner in getattr(command, "commands", {}).items():
            yield f"{name} {part}", click.Context(inner, info_name=part, parent=own)


def test_every_help_has_examples_and_no_example_is_of_another_command() -> None:
    found = dict(contexts())
    assert found.keys() == EXAMPLES.keys()
    for words, context in found.items():
        text = context.command.get_help(context)
        assert "\nExamples:\n" in text, words
        for line in EXAMPLES[words]:
            assert f"  {line}\n" in f"{text}\n"
            assert line.startswith(f"srsql {words}".rstrip())


@pytest.mark.parametrize("line", sorted({line for lines in EXAMPLES.values() for line in lines}))
def test_every_example_can_be_parsed(line: str) -> None:
    _, *words = shlex.split(line)
    command: click.Command = cli
    context = click.Context(cli, info_name="srsql", **cli.context_settings)
    while isinstance(command, click.Group):
        name, command, words = command.resolve_command(context, words)  # type: ignore[assignment]
        context = click.Context(command, info_name=name, parent=context)
    command.parse_args(context, words)
    assert len(line) <= 96


def test_advice_needs_no_option_but_the_quarter(tmp_path: Path) -> None:
    """What is not given is the engine's default: --theta None was refused before."""
    answer = srsql("advise", "--quarter", "2011Q4", "--db", tmp_path / "none.duckdb")
    assert (answer.code, answer.out) == (2, "")
    assert "no warehouse at" in answer.err


@pytest.mark.thorough
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_of_a_shell_is_a_script(shell: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "srsql.cli"]
        if not (installed := Path(sys.executable).with_name("srsql")).exists()
        else [str(installed)],
        env=os.environ | {"_SRSQL_COMPLETE": f"{shell}_source"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "_SRSQL_COMPLETE" in done.stdout
    assert "complete" in done.stdout


def test_completion_knows_commands_and_choices() -> None:
    from click.shell_completion import ShellComplete

    complete = ShellComplete(cli, {}, "srsql", "_SRSQL_COMPLETE")
    assert "release" in {item.value for item in complete.get_completions([], "rel")}
    forms = {item.value for item in complete.get_completions(["status", "--format"], "")}
    assert forms == {"table", "csv", "json", "records"}
