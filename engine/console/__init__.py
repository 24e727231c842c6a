"""The terminal: options made from what the engine declares, and what is shown, made safe to show.

The modules of this folder put the answers of the commands into words and tables.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import os
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import duckdb
from click.core import ParameterSource
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from srsql.engine.errors import SrsqlError, WarehouseError, json_text, one_line, printable
from srsql.engine.parameters import Parameter, arguments_of, unknown_option
from srsql.engine.parameters.takes import File, Flag, Names, OneOf, Real, Several, Takes, Whole
from srsql.engine.warehouse.frames import csv_safe

Command = Callable[..., Any]
CONFIG = "srsql.toml"


@dataclass(frozen=True)
class Table:
    """A table with a title."""

    title: str
    columns: Sequence[str]
    rows: Iterable[Sequence[str]]


Parts = Iterator[str | Table]
"""An answer, part by part: a line, or a table."""


class Terminal(Console):
    """A console that shows texts of others: each goes through one door before it is written.

    Lines, titles, headings and cells all become what is shown by ``render_str``. A line or a cell
    is one line: a line end in it is written out like whatever else steers a terminal.
    """

    def render_str(self, text: str, **styles: Any) -> Text:
        """The text as it is shown."""
        return super().render_str(printable(text), **styles)


class _HelpFormatter(click.HelpFormatter):
    """Help texts show defaults, which a file of defaults may have set."""

    def getvalue(self) -> str:
        return "\n".join(printable(line) for line in super().getvalue().split("\n"))


class _Context(click.Context):
    formatter_class = _HelpFormatter


class _Command(click.Command):
    context_class = _Context


class Commands(click.Group):
    """Commands whose help texts go through the same door."""

    context_class = _Context
    command_class = _Command
    group_class = type


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""How help is asked for, and how wide it is."""
_CSV_SAFE = "srsql.csv_safe"
PIPE_WIDTH = 200
out = Terminal(
    highlight=False,
    markup=False,
    emoji=False,
    soft_wrap=True,
    width=None if sys.stdout.isatty() else PIPE_WIDTH,
)
err = Terminal(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


@contextmanager
def progress_shown() -> Iterator[Callable[[str], None]]:
    """A spinner with the current step on a terminal; silent in a pipe."""
    if not err.is_terminal:
        yield lambda _: None
        return
    with err.status("working") as spinner:
        yield lambda text: spinner.update(Text(printable(text)))


def show(
    found: Any, as_json: bool, parts: Iterable[str | Table], rows: CsvTable | None = None
) -> None:
    """Print an answer as one JSON document, or as lines and tables.

    Args:
        found: the answer.
        as_json: whether it is printed as a document.
        parts: its lines and tables.
        rows: its rows for a CSV file, which is written beside; on stdout it takes their place.

    Raises:
        ConfigError: the file cannot be written, or stdout is to hold two documents.
    """
    if rows is not None:
        if rows.file is None and as_json:
            raise ConfigError("--csv - and --json exclude each other: both print on stdout")
        rows.write()
        if rows.file is None:
            return
    if as_json:
        click.echo(json_text(_document(found)))
        return
    for part in parts:
        if isinstance(part, str):
            out.print(part)
            continue
        table = rich_table(part.title, part.columns)
        for row in part.rows:
            table.add_row(*row)
        out.print(table)


@dataclass(frozen=True)
class CsvTable:
    """Rows for a CSV file as RFC 4180 has it, in UTF-8; NULL is an empty field."""

    file: Path | None
    """None: stdout."""
    rows: Iterable[Sequence[Any]]
    """The header first."""

    def write(self) -> None:
        """Write the file; what was there is replaced.

        Raises:
            ConfigError: it cannot be written.
        """
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(self.rows)
        if self.file is None:
            click.echo(text.getvalue(), nl=False)
            return
        try:
            self.file.write_text(text.getvalue(), encoding="utf-8", newline="")
        except OSError as error:
            raise ConfigError(f"{self.file} cannot be written ({error.strerror})") from None


def csv_option(command: Command) -> Command:
    """Where the rows of an answer go as CSV, and whether a cell of it may be a formula."""
    safe = click.option(
        "--csv-safe",
        is_flag=True,
        expose_value=False,
        callback=lambda context, _, value: context.meta.update({_CSV_SAFE: value}),
        help="With --csv: put an apostrophe before what a spreadsheet would run as a formula.",
    )
    return click.option(
        "--csv",
        "csv_file",
        type=click.Path(path_type=Path, allow_dash=True),
        help="CSV file to write beside; - prints it instead.",
    )(safe(command))


def csv_of(file: Path | None, rows: Iterable[Sequence[Any]]) -> CsvTable | None:
    """The CSV that was asked for, if one was."""
    context = click.get_current_context()
    safe = context.meta[_CSV_SAFE]
    if file is None:
        if safe and context.get_parameter_source("csv_safe") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--csv-safe is for --csv: give --csv FILE, or leave it out")
        return None
    rows = ([*map(csv_safe, row)] for row in rows) if safe else rows
    return CsvTable(None if str(file) == "-" else file, rows)


def _document(found: Any) -> Any:
    if isinstance(found, list):
        return [_document(each) for each in found]
    made = dataclasses.is_dataclass(found) and not isinstance(found, type)
    return dataclasses.asdict(found) if made else found


def rich_table(title: str, columns: Iterable[str]) -> RichTable:
    """A table without lines, to which rows can be added."""
    table = RichTable(
        title=title, title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def show_traceback(debug: bool) -> None:
    """Where the error that is being handled came from, on stderr; without ``debug`` nothing."""
    for line in traceback.format_exc().rstrip("\n").split("\n") if debug else ():
        click.echo(printable(line), err=True)


def explain_error(error: Exception) -> tuple[str, int]:
    """One line for an error, and the exit code."""
    if isinstance(error, SrsqlError):
        return printable(" ".join(str(error).split())), error.exit_code
    if isinstance(error, click.Abort):
        return "interrupted; what was not finished was rolled back", 130
    if isinstance(error, click.ClickException):
        return f"{printable(' '.join(error.format_message().split()))} (see --help)", 2
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return "the reader of the output went away", 141
    text = one_line(error)
    if isinstance(error, (OSError, duckdb.Error)):
        return f"{text} (nothing of the unfinished step was kept)", 2
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)", 2


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


def artifacts(command: Command) -> Command:
    """Published artifacts instead of a warehouse."""
    return click.option(
        "--artifact",
        "folders",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Folder of a published artifact, instead of a warehouse; may be repeated.",
    )(command)


def folder_option(call: Callable[..., Any], name: str) -> Callable[[Command], Command]:
    """Where a study keeps what it measured."""
    told = arguments_of(call)["out"]
    return options({"folder": dataclasses.replace(told, default=Path(name), required=False)})


def defaults_of(commands: Mapping[str, click.Command]) -> dict[str, dict[str, Any]]:
    """The defaults that the file of the working directory sets, by command.

    Raises:
        ConfigError: one is of another kind than its option takes; the text names it.
    """
    parts = {
        name: command.commands.values() if isinstance(command, click.Group) else [command]
        for name, command in commands.items()
    }
    params = {name: [p for part in listed for p in part.params] for name, listed in parts.items()}
    defaults = read_defaults(
        {
            name: {p.name for p in listed if isinstance(p, click.Option) and p.name}
            for name, listed in params.items()
        }
    )
    for name, values in defaults.items():
        types = {param.name: param.type for param in params[name]}
        for key, value in values.items():
            path = isinstance(types[key], click.Path) and not isinstance(value, str)
            text = types[key] is click.STRING and isinstance(value, list | dict)
            if path or text:
                what = "a path" if path else "text"
                raise ConfigError(f"{CONFIG}: {name}: {key} = {value!r}: give {what}")
        command = commands[name]
        if isinstance(command, click.Group):  # each of its commands has those of the group
            defaults[name] = dict.fromkeys(command.commands, values)
    return defaults


def existing(db: Path) -> Path:
    """The file of a warehouse.

    Raises:
        WarehouseError: it is not there.
    """
    if not db.exists():
        raise WarehouseError(f"no warehouse at {db}: run 'srsql ingest' first or give --db")
    return db


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given; for the others the engine has defaults."""
    return {name: value for name, value in options.items() if value is not None}


def gap_lines(gaps: Iterable[str], without_calendar: Sequence[str]) -> Iterator[str]:
    """Where periods are missing, and where nobody can tell."""
    for gap in gaps:
        yield f"  gap in the series: {gap}"
    if without_calendar:
        yield (
            f"  no calendar for periods such as {printable(without_calendar[0])}: the next one in "
            "order counts as the one that follows"
        )


def chosen(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that somebody chose, on the command line or in the file of defaults; what nobody
    chose is the series' own, or has the engine's default."""
    context = click.get_current_context()
    usual = ParameterSource.DEFAULT
    return {n: v for n, v in options.items() if context.get_parameter_source(n) is not usual}


def typed(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that stand on the command line."""
    context = click.get_current_context()
    sources = {n: context.get_parameter_source(n) for n in options}
    return {n: v for n, v in options.items() if sources[n] is ParameterSource.COMMANDLINE}


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
        own = own if isinstance(own, dict) else {}  # an option of that name, of other commands
        for key in own:
            if key not in names:
                raise ConfigError(unknown_option(f"{CONFIG}: [{name}]", key, sorted(names)))
        merged[name] = {k: v for k, v in shared.items() if k in names} | own
    for key, value in raw.items():
        if isinstance(value, dict) and key not in options:
            raise ConfigError(f"{CONFIG}: there is no command {key!r}")
    return merged
