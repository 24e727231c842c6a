"""The terminal: options made from what the engine declares, and what is shown, made safe to show.

The modules of this folder put the answers of the commands into words and tables.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from srsql.engine.console import forms
from srsql.engine.console.forms import Terminal
from srsql.engine.console.later import (
    FileOption,
    Listed,
    SomeNames,
    WholeNumber,
    call_of_engine,
    found_in,
    later,
)
from srsql.engine.console.process import limits, told_of_compiling
from srsql.engine.console.progress import shown_on
from srsql.engine.console.session import current_session, waits
from srsql.engine.errors import ConfigError, WarehouseError, json_text, printable
from srsql.engine.measures import CELL
from srsql.engine.parameters import Parameter, arguments_of
from srsql.engine.parameters.takes import File, Flag, Names, OneOf, Real, Several, Takes, Whole
from srsql.udfs.caches import COMPILING

logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where it keeps its fonts is its own
Command = Callable[..., Any]


@dataclass(frozen=True)
class Table:
    """A table with a title."""

    title: str
    columns: Sequence[str]
    rows: Iterable[Sequence[str]]


def _names(value: Sequence[Any]) -> str:
    return "; ".join(map(str, value)) or "-"


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return printable(shown)


FORMS: Mapping[str, Callable[[Any], str]] = {
    "text": str,
    "count": "{:,}".format,
    "number": "{:,.6g}".format,
    "names": _names,
    "setting": _setting,
    "verdict": lambda passed: "yes" if passed else "NO",
}
"""How the values of a column are written; None is an empty cell."""


def result_table(title: str, of: type, rows: Iterable[Any]) -> Table:
    """Results of one class as a table of those fields that their class declares as columns.

    Args:
        title: of the table.
        of: the class of the results.
        rows: the results.
    """
    shown = [(each.name, *each.metadata[CELL]) for each in fields(of) if CELL in each.metadata]
    cells = (
        [
            "" if getattr(row, name) is None else FORMS[form](getattr(row, name))
            for name, _, form in shown
        ]
        for row in rows
    )
    return Table(title, [label for _, label, _ in shown], cells)


LONG_CHOICES = 60
"""Letters of a list of choices from which on the help has it in words."""


@dataclass(frozen=True)
class Legend:
    """How to read an answer, which ``--explain`` asks for; printed whole, behind it."""

    lines: Sequence[str]
    asked: bool = False
    """It was asked for by an option of its own."""


SCREEN = 24
"""Lines of an answer, unless ``--all`` or a file is asked for."""
ROWS_AT_ONCE = 1_000
"""Of a CSV, so that a long one is never in memory as a whole."""
Part = str | Table | Legend
Parts = Iterator[Part]
"""An answer, part by part: the verdict or the result first, then what is not protected."""


out = Terminal(highlight=False, markup=False, emoji=False, soft_wrap=True)
err = Terminal(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


@contextmanager
def progress_shown() -> Iterator[Callable[[str], None]]:
    """What long work tells its steps, shown on stderr with elapsed and remaining time.

    The session has every step for its log, and shows it with ``--verbose``.
    """
    session = current_session()
    if session.quiet or session.verbose:
        with told_of_compiling(session.step):
            yield session.step
        return
    with shown_on(err) as show:

        def show_step(text: str) -> None:
            session.step(text)
            show(text)

        with told_of_compiling(show_step):
            yield show_step


@contextmanager
def compiling_shown() -> Iterator[None]:
    """One line on a terminal when kernels are compiled, where no progress shows it."""
    if COMPILING or current_session().quiet or not err.is_terminal:
        yield
        return
    shown: list[str] = []

    def show_once(text: str) -> None:
        if not shown:
            shown.append(text)
            err.print(f"{text} ... (kernels are kept for the next command)")

    with told_of_compiling(show_once):
        yield


def show(found: Any, as_json: bool, parts: Iterable[Part], rows: CsvTable | None = None) -> None:
    """Print an answer as one JSON document, or as lines and tables.

    Args:
        found: the answer.
        as_json: whether it is printed as a document.
        parts: its lines and tables.
        rows: its rows for a CSV file, which is written beside; on stdout it takes their place.

    Raises:
        ConfigError: stdout is to hold two documents.
        OutputError: the file cannot be written, or the answer has no such form.
    """
    asked = forms.asked()
    if rows is None and asked.form == "csv":
        rows = CsvTable(asked.file, forms.csv_rows(found))
    if rows is not None:
        if rows.file is None and as_json:
            raise ConfigError("--csv - and --json exclude each other: both print on stdout")
        rows.write()
        if rows.file is None or asked.form == "csv":
            return
    if as_json:
        asked.put(chain(_document(found), ["\n"]))
    elif asked.file is None:
        _print(out, parts, None if asked.every else SCREEN)
    else:
        text = io.StringIO()
        _print(forms.text_console(text), parts, None)
        asked.put([text.getvalue()])


def _print(console: Console, parts: Iterable[Part], most: int | None) -> None:
    """Print an answer, of a long one a screen, and how to see the rest.

    Args:
        console: where to.
        parts: of the answer.
        most: lines that it may take; None: any number.
    """
    kept = list(parts)
    lines = list(_lines(console, kept))
    shown = lines if most is None else lines[: _fitting(console, lines, most)]
    for line in shown:
        console.print(line)
    if len(shown) < len(lines):
        console.print(f"... {len(lines) - len(shown):,} more lines: {forms.all_option()}")
    for part in kept:
        if isinstance(part, Legend) and (part.asked or forms.asked().legend):
            for line in part.lines:
                console.print(line)


def _fitting(console: Console, lines: Sequence[str | Text], most: int) -> int:
    """How many lines fit a screen; where not all do, beside one that tells of the others."""
    width = console.width if console.is_terminal else None
    heights = [
        1 if width is None else max(1, -(-cell_len(printable(str(line))) // width))
        for line in lines
    ]
    if sum(heights) <= most:
        return len(lines)
    taken = list(accumulate(heights))
    return max(1, sum(height < most for height in taken))


def _lines(console: Console, parts: Iterable[Part]) -> Iterator[str | Text]:
    for part in parts:
        if isinstance(part, Table):
            yield from forms.table_lines(console, part.title, part.columns, part.rows)
        elif isinstance(part, str):
            yield part


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
            OutputError: it cannot be written.
        """
        forms.Asked(file=self.file).put(self._pieces())

    def _pieces(self) -> Iterator[str]:
        """The text, some rows at a time."""
        from srsql.engine.store.frames import csv_safe

        safe = forms.asked().csv_safe
        rows = (map(csv_safe, row) for row in self.rows) if safe else iter(self.rows)
        while some := list(islice(rows, ROWS_AT_ONCE)):
            text = io.StringIO(newline="")
            csv.writer(text, lineterminator="\n").writerows(some)
            yield text.getvalue()


csv_option = click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path, allow_dash=True),
    help="CSV file to write beside; - prints it instead.",
)
"""Where the rows of an answer go as CSV."""


def csv_of(file: Path | None, rows: Iterable[Sequence[Any]]) -> CsvTable | None:
    """The CSV that was asked for, if one was.

    Raises:
        ConfigError: it is asked for in two places.
    """
    asked = forms.asked()
    if file is not None and (asked.form == "csv" or (asked.file and str(file) == "-")):
        raise ConfigError("--csv writes a CSV file beside: leave it out, or --format csv and --out")
    if asked.form == "csv":
        return CsvTable(asked.file, rows)
    return None if file is None else CsvTable(None if str(file) == "-" else file, rows)


def _document(found: Any) -> Iterator[str]:
    """The answer as one JSON document, piece by piece: all pairs are too many to be one text."""
    if isinstance(found, list):
        yield json_text([_plain(each) for each in found])
        return
    plain = _plain(found)
    if not isinstance(plain, dict) or not any(_are_pairs(each) for each in plain.values()):
        yield json_text(plain)
        return
    for number, (name, value) in enumerate(plain.items()):
        yield f"{', ' if number else '{'}{json_text(name)}: "
        if not _are_pairs(value):
            yield json_text(value)
            continue
        for place, pair in enumerate(value):
            yield f"{', ' if place else '['}{json_text(_plain(pair))}"
        yield "]" if value else "[]"
    yield "}"


def _are_pairs(value: Any) -> bool:
    """Whether it is all pairs, of a module that is loaded if there are any."""
    module = sys.modules.get("srsql.engine.signals.results")
    return module is not None and isinstance(value, module.Pairs)


def _plain(found: Any) -> Any:
    """A record as a mapping, all pairs as they are."""
    if not dataclasses.is_dataclass(found) or isinstance(found, type):
        return found
    each = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    pairs = {name: value for name, value in each.items() if _are_pairs(value)}
    return dataclasses.asdict(dataclasses.replace(found, **dict.fromkeys(pairs, ()))) | pairs


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
    kind = FileOption if told.in_file else click.Option
    if isinstance(told.takes, Flag):
        help_text = _sentence(told.help)
        return click.option(told.option, name, cls=kind, is_flag=True, help=help_text)
    shown = "" if told.usual or told.required else told.shown_default
    about: dict[str, Any] = {"default": shown} if shown else {}  # None would count as given
    help_text = _sentence(told.help)
    if isinstance(told.takes, OneOf) and len("|".join(told.takes.choices)) > LONG_CHOICES:
        about["metavar"] = told.keyword.upper()
        help_text += f" One of {', '.join(told.takes.choices)}."
    return click.option(
        told.option,
        *told.aliases,
        name,
        cls=kind,
        type=type_of(told.takes),
        **about,
        required=told.required,
        show_default=bool(shown),
        help=help_text + (f"  [default: {told.usual}]" if told.usual else ""),
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


def options_of(call: str, *names: str) -> Callable[[Command], Command]:
    """The options of a call of the engine: those that have a help text, or the named ones."""

    def of_call() -> Callable[[Command], Command]:
        told = arguments_of(call_of_engine(call))
        return options({n: each for n, each in told.items() if each.help and n in (names or told)})

    return later(" ".join((call, *names)), of_call)


def options_in(module: str, name: str) -> Callable[[Command], Command]:
    """The options that a call without arguments of a module of the engine declares."""
    return later(f"{module}.{name}", lambda: options(found_in(module, name)()))


json_option = click.option(
    "--json", "as_json", cls=FileOption, is_flag=True, help="Print one JSON document."
)
"""Whether the answer is one document."""


def warehouse(command: Command) -> Command:
    """Which warehouse, how to print, and what the process may take."""
    with_db = click.option(
        "--db",
        type=click.Path(path_type=Path),
        envvar="SRSQL_DB",
        default=Path("srsql.duckdb"),
        show_default=True,
        help="Warehouse file (environment: SRSQL_DB).",
    )
    return with_db(json_option(waits(limits(command))))


def artifacts(command: Command) -> Command:
    """Published artifacts instead of a warehouse."""
    return click.option(
        "--artifact",
        "folders",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Folder of a published artifact, instead of a warehouse; may be repeated.",
    )(command)


def folder_option(call: str, name: str) -> Callable[[Command], Command]:
    """Where a study keeps what it measured."""

    def of_call() -> Callable[[Command], Command]:
        told = arguments_of(call_of_engine(call))["out"]
        folder = dataclasses.replace(told, default=Path(name), required=False)
        return options({"folder": folder})

    return later(f"{call} in {name}", of_call)


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
    """Where periods are missing, and where labels do not say so."""
    for gap in gaps:
        yield f"  gap in the series: {gap}"
    if without_calendar:
        yield (
            f"  no calendar for periods such as {printable(without_calendar[0])}: the next one in "
            "order counts as the one that follows"
        )


def chosen(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were chosen, on the command line or in the file of defaults; all others are
    the series' own, or have the engine's default."""
    context = click.get_current_context()
    usual = ParameterSource.DEFAULT
    return {n: v for n, v in options.items() if context.get_parameter_source(n) is not usual}


def typed(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that stand on the command line."""
    context = click.get_current_context()
    sources = {n: context.get_parameter_source(n) for n in options}
    return {n: v for n, v in options.items() if sources[n] is ParameterSource.COMMANDLINE}
