"""One run of the command: what its common options ask, its log, and how it ends.

``--quiet``, ``--verbose`` and ``--log`` stand before or after the name of a command, ``--wait`` and
``--json`` after it. A log has lines of JSON, appended, and no values or ids of reports: of an error
whose text can have some, it has what the class says (``text_for_log``).
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from srsql.engine.console import forms
from srsql.engine.console.later import FileOption
from srsql.engine.console.sections import typed_word
from srsql.engine.errors import (
    DAMAGED,
    EXIT_CODES,
    INTERRUPTED,
    BusyError,
    ConfigError,
    SrsqlError,
    exit_code_of,
    json_text,
    of_duckdb,
    one_line,
    printable,
    storage_fault,
    text_for_log,
)
from srsql.engine.interruption import Interruption, interrupted
from srsql.engine.store.scratch import clear_after_dead_processes, private_file
from srsql.version import __version__

if TYPE_CHECKING:
    from srsql.engine.store.database_file import Wait

Command = Callable[..., Any]
UNIMPORTANT = frozenset({"start", "defaults", "step", "end"})
"""Events of a log that need no attention."""
QUIET_HELP = "No progress and no notes; errors stay."
VERBOSE_HELP = "Every step on a line of its own, with the seconds since the beginning."
LOG_HELP = "Append what happens to this file: lines of JSON, without values of reports."
CUT_OFF = "interrupted; what was not finished was rolled back"
ENDINGS = "\n".join(["\b", "Exit codes:", *(f"  {n}  {text}" for n, text in EXIT_CODES.items())])
"""For ``--help``; the first character has click keep the lines."""


@dataclass
class Session:
    """One run of the command."""

    words: Sequence[str] = ()
    """What was typed after ``srsql``."""
    quiet: bool = False
    """No progress and no notes."""
    verbose: bool = False
    """Every step on a line of its own, with the seconds since the beginning."""
    wait: float = 0
    """Seconds for another process that has the warehouse."""
    command: str = ""
    """Its name, such as ``series set``; empty before it is known."""
    log: Path | None = None
    unlogged: bool = False
    """The log could not be written."""
    as_json: bool = False
    """The command prints documents, by ``--json`` or the file of defaults."""
    defaults: Path | None = None
    """The file with defaults of options, if there is one."""
    typed: set[str] = field(default_factory=set)
    """The common options that stand on the command line."""
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return round(time.monotonic() - self.began, 3)

    def tell(self, event: str, message: str, **more: Any) -> None:
        """Put an event into the log, if there is one.

        Raises:
            ConfigError: it cannot be written, and nothing was begun yet.
        """
        if self.log is None:
            return
        level = "error" if event == "error" else "info" if event in UNIMPORTANT else "warning"
        told = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "level": level,
            "command": self.command,
            "event": event,
            "seconds": self.seconds,
            "message": printable(message),
            "pid": os.getpid(),
            **more,
        }
        line = json.dumps(told, ensure_ascii=False) + "\n"
        try:
            private_file(self.log)
            with self.log.open("a", encoding="utf-8") as file:
                file.write(line)  # one write: lines of several processes do not mix
        except OSError as error:
            why = f"--log {self.log} cannot be written ({error.strerror}): give another file"
            self.log, self.unlogged = None, True
            if event == "start":
                raise ConfigError(why) from None
            click.echo(f"srsql: {why}", err=True)  # the work goes on

    def step(self, text: str) -> None:
        """A step of long work begins."""
        self.tell("step", text)
        if self.verbose:
            click.echo(f"{self.seconds:8.1f} s  {printable(text)}", err=True)

    def note(self, text: str, event: str = "note") -> None:
        """Something to know beside the answer."""
        self.tell(event, text)
        if not self.quiet:
            click.echo(printable(text), err=True)

    def waiting(self, text: str) -> None:
        """Who has the warehouse that is waited for."""
        self.note(f"srsql: {printable(text)}", "waiting")

    def ended(self, code: int) -> None:
        """The command came to its end."""
        self.tell("end", f"exit {code}", exit_code=code)
        if self.verbose:
            click.echo(f"{self.seconds:8.1f} s  exit {code}", err=True)

    def failed(self, error: BaseException) -> int:
        """Say in one line on stderr what went wrong, with ``--json`` in a document as well.

        Returns:
            The exit code.
        """
        line, code = explain_error(error)
        asked = self.as_json or "--json" in self.words  # which could not be parsed
        if asked and not isinstance(error, BrokenPipeError):
            told: dict[str, Any] = {"kind": kind_of(error), "message": line, "exit_code": code}
            if isinstance(error, BusyError):
                told["pid"] = error.pid
            click.echo(json_text({"error": told}))
        click.echo(f"srsql: {line}", err=True)
        if self.log is None and not self.unlogged:  # of what could not be parsed
            typed = typed_word(self.words, "--log")
            self.log = Path(typed) if typed is not None else None
        context = getattr(error, "ctx", None)  # of what could not be parsed
        if not self.command and isinstance(context, click.Context):
            self.command = " ".join(context.command_path.split()[1:])
        self.tell("error", text_for_log(error), kind=kind_of(error), exit_code=code)
        return code


def run(group: click.Group, words: Sequence[str]) -> int:
    """Run the command that these words are; every error becomes one line on stderr.

    Returns:
        The exit code.
    """
    session = Session(words)
    try:
        code = group.main(list(words), "srsql", standalone_mode=False, obj=session)
        code = code if isinstance(code, int) else 0
        session.ended(code)
    except (Exception, KeyboardInterrupt, Interruption) as error:
        if "--debug" in words and isinstance(error, Exception):
            for line in traceback.format_exc().rstrip("\n").split("\n"):
                click.echo(printable(line), err=True)
        code = session.failed(error)
    return code


def current_session() -> Session:
    """The session of the command that runs; outside of one, a session that asks nothing."""
    context = click.get_current_context(silent=True)
    return context.find_root().ensure_object(Session) if context else Session()


def session_wait() -> Wait:
    """How long the session waits for a warehouse."""
    session = current_session()
    from srsql.engine.store.database_file import Wait

    return Wait(session.wait, session.waiting)


def kind_of(error: BaseException) -> str:
    """What kind of error it is, in a word that does not change."""
    if exit_code_of(error) == DAMAGED:
        return storage_fault(error) or "damaged"
    if isinstance(error, SrsqlError):
        return error.kind
    if isinstance(error, KeyboardInterrupt | Interruption | click.Abort):
        return "interrupted"
    if isinstance(error, click.ClickException):
        return "usage"
    return "system" if isinstance(error, OSError) or of_duckdb(error) else "unexpected"


def explain_error(error: BaseException) -> tuple[str, int]:
    """One line for an error, and the exit code."""
    if ended := interrupted():  # whatever became of it on its way here
        return ended
    code = exit_code_of(error)
    if isinstance(error, SrsqlError):
        return printable(" ".join(str(error).split())), code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return CUT_OFF, INTERRUPTED
    if isinstance(error, click.ClickException):
        return f"{printable(' '.join(error.format_message().split()))} (see --help)", 2
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return "the reader of the output went away", 141
    text, fault = printable(one_line(error)), storage_fault(error)
    if fault == "damaged":
        return f"{text}: a file is damaged, restore a backup ('srsql restore --from FILE')", code
    if fault == "no_room":
        text = f"no room, {text or 'no memory is left'}"
    if fault or isinstance(error, OSError) or of_duckdb(error):
        return f"{text} (nothing of the unfinished step was kept)", code
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)", code


class OneCommand(forms.Command):
    """A command with the common options, which tells its session that it begins."""

    def completed(self, params: list[click.Parameter]) -> list[click.Parameter]:
        """With the common ones."""
        return [*super().completed(params), *_common()]

    def invoke(self, ctx: click.Context) -> Any:
        """Run it."""
        session = current_session()
        session.command = " ".join(ctx.command_path.split()[1:])
        session.as_json = bool(ctx.params.get("as_json"))
        clear_after_dead_processes()
        session.tell("start", f"srsql {__version__}")
        if session.defaults is not None:
            text = f"srsql: defaults are read from {session.defaults}"
            session.tell("defaults", text)
            if "quiet" not in session.typed and not forms.json_typed(ctx):
                click.echo(printable(text), err=True)
        return super().invoke(ctx)


class Commands(forms.Group):
    """A group of such commands, and of such groups."""

    command_class = OneCommand
    group_class = type


def _common() -> list[click.Parameter]:
    """What the session keeps, so that no command has to hand it on."""
    about: Any = {"expose_value": False, "callback": _keep}
    path = click.Path(path_type=Path, dir_okay=False)
    return [
        FileOption(["--quiet"], is_flag=True, help=QUIET_HELP, **about),
        FileOption(["--verbose"], is_flag=True, help=VERBOSE_HELP, **about),
        click.Option(["--log"], type=path, help=LOG_HELP, **about),
    ]


def common_options(command: Command) -> Command:
    """``--quiet``, ``--verbose`` and ``--log`` before the name of a command."""
    params = [*getattr(command, "__click_params__", []), *reversed(_common())]
    setattr(command, "__click_params__", params)  # noqa: B010 (as the decorators of click do)
    return command


def waits(command: Command) -> Command:
    """``--wait``, of commands that open a warehouse."""
    return click.option(
        "--wait",
        cls=FileOption,
        type=click.FloatRange(0),
        metavar="SECONDS",
        expose_value=False,
        callback=_keep,
        help="Wait so long for another process that has the warehouse.  [default: 0]",
    )(command)


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Have the session know an option; what is typed wins over a file of defaults."""
    if value is None or value is False:
        return
    name, session = str(option.name), current_session()
    typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    other = {"quiet": "verbose", "verbose": "quiet"}.get(name, name)
    if typed and other != name and other in session.typed:
        raise click.UsageError("--quiet and --verbose exclude each other")
    if not typed and session.typed & {name, other}:
        return
    if typed:
        session.typed.add(name)
    setattr(session, name, value)
    if other != name:
        setattr(session, other, False)


def each_command(group: click.Group, before: str = "") -> Iterable[tuple[str, click.Command]]:
    """Every command with its whole name, such as ``series set``."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from each_command(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command
