"""In which form an answer is printed: the options for it, examples, tables and records.

A table that is wider than the terminal is shown as records: a block for each row, with a line for
each of its values. Into a pipe or a file nothing is shortened, folded or coloured.
"""

from __future__ import annotations

import io
import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from srsql.engine.console import sections
from srsql.engine.console.later import FileOption, LateCommand
from srsql.engine.errors import SrsqlError, printable
from srsql.engine.store.scratch import put_beside

if TYPE_CHECKING:
    import pyarrow as pa

FORMS = ("table", "csv", "json", "records")
WITH_ROWS = {
    "metrics",
    "signals",
    "query",
    "audit",
    "status",
    "attack",
    "advise",
    "compare",
    "show",
    "lookup",
    "explain",
    "drugs",
    "spellings",
}
"""Commands whose answer has rows, and so a CSV form."""
WITH_LEGEND = {"signals", "query", "audit", "advise", "metrics"}
"""Commands whose answer has a legend."""
ALL, WHOLE = "--all", "--whole"
"""What shows every line; the second where the first is of what is asked, as of `signals`."""
_ASKED, _TYPED = "srsql.form", "srsql.json"
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": (
        "srsql demo",
        "srsql ingest faers/",
        "srsql release --quarter 2011Q4",
    ),
    "demo": ("srsql demo", "srsql demo my-first-run"),
    "doctor": ("srsql doctor", "srsql doctor --folder /data/faers"),
    "synth": (
        "srsql synth --out faers --from 2011Q1 --to 2011Q4 --cases 3000 --seed 1",
        "srsql synth --out faers --like 2011Q4 --scale 0.1",
    ),
    "init": (
        "srsql init reports.csv reactions.csv --to clinic.toml",
        "srsql init extract.zip",
        "srsql init hospital.duckdb --to hospital.toml",
    ),
    "ingest": (
        "srsql ingest faers_ascii_2011q4.zip",
        "srsql ingest quarters/ --max-reject-rate 0.02",
        "srsql ingest reports.csv --dataset clinic.toml --period 2024",
        "srsql ingest quarters/ --lake /shared/faers-lake",
    ),
    "release": (
        "srsql release --quarter 2011Q4",
        "srsql release --quarter 2011Q1:2011Q4 --model ppms++ --k 10 --theta 0.4",
        "srsql release --quarter 2011Q4 --model ppms-stay --series stay",
        "srsql release --quarter 2011Q4 --terms disassociate --term-attributes all --series rows",
        "srsql release --quarter 2011Q4 --model disassociation --partners neighbours --series old",
        "srsql release --quarter 2011Q4 --parts auto --spark 'local[2]'",
        "srsql release --quarter 2011Q4 --draft",
        "srsql release --quarter 2011Q4 --confirm",
    ),
    "series": ("srsql series show", "srsql series create partners --k 10"),
    "series create": (
        "srsql series create partners --k 10 --theta 0.4",
        "srsql series create research --ids per-quarter",
    ),
    "series show": (
        "srsql series show",
        "srsql series show partners --format records",
    ),
    "series set": (
        "srsql series set partners --k 15",
        "srsql series set partners --unset knowledge",
    ),
    "correct": (
        "srsql correct --quarter 2011Q4 --dry-run",
        "srsql correct --quarter 2011Q4 --series partners",
    ),
    "duplicates": (
        "srsql duplicates",
        "srsql duplicates --dataset clinic.toml --event-date onset --country land",
    ),
    "lookup": (
        "srsql lookup 4503599627370497",
        "srsql lookup --case 8123456 --quarter 2011Q4",
    ),
    "explain": (
        "srsql explain --case 8123456 --quarter 2011Q4",
        "srsql explain --case 4503599627370497 --quarter 2011Q4 --series partners --json",
    ),
    "forget": (
        "srsql forget 8123456 --reason 'request of 3 May' --dry-run",
        "srsql forget --file ids.txt --reason 'withdrawn consent' --receipt receipt.json",
    ),
    "backup": ("srsql backup --to safe/srsql-2011Q4.duckdb",),
    "split": (
        "srsql split --to public/faers.duckdb",
        "srsql split",
        "srsql split --stop --series partners",
    ),
    "restore": ("srsql restore --from safe/srsql-2011Q4.duckdb",),
    "lake": (
        "srsql lake",
        "srsql lake --check",
        "srsql lake --moved-to /new/faers-lake",
    ),
    "migrate": ("srsql migrate", "srsql migrate --db old.duckdb"),
    "status": ("srsql status", "srsql status --format records"),
    "config": ("srsql config", "srsql config check"),
    "metrics": (
        "srsql metrics --quarter 2011Q4",
        "srsql metrics --quarter 2011Q4 --format csv --out metrics.csv",
        "srsql metrics --quarter 2011Q4 --artifact out/2011Q4",
    ),
    "report": (
        "srsql report --quarter 2011Q4",
        "srsql report --quarter 2011Q4 --public --out report.html",
        "srsql report --quarter 2011Q4 --form --out form.md",
    ),
    "publish": (
        "srsql publish --quarter 2011Q4 --to out/2011Q4",
        "srsql publish --quarter 2011Q4 --to out/2011Q4 --license CC0-1.0 --contact us@example.org",
        "srsql publish --quarter 2011Q1:2011Q4 --to out/2011 --format duckdb",
    ),
    "verify": (
        "srsql verify out/2011Q4",
        "srsql verify out/2011Q3 out/2011Q4 --public-key key.pem",
        "srsql verify --page verifier.html",
        "srsql verify --counts counts.csv --k 5 --theta reaction=0.4",
    ),
    "macros": ("srsql macros", "srsql macros --public --out audit.sql"),
    "import-release": (
        "srsql import-release released.csv --quarter 2011Q4 --dataset other.toml",
        "srsql import-release released.csv --quarter 2011Q4 --originals raw.csv --series other",
    ),
    "attack": (
        "srsql attack --quarter 2011Q4 --qid age=37 --qid sex=M",
        "srsql attack --quarter 2011Q4 --qid age=37 --new --format records",
    ),
    "audit": (
        "srsql audit",
        "srsql audit --quarter 2011Q4 --attacks b,f,l --k 10",
        "srsql audit --all-series",
    ),
    "signals": (
        "srsql signals --drug WARFARIN --reaction HAEMORRHAGE --min-age 65",
        "srsql signals --rules rules.csv --format csv --out signals.csv",
        "srsql signals --all --released-only",
        "srsql signals --drug WARFARIN --reaction HAEMORRHAGE --strata sex,age --age-bands 18,65",
        "srsql signals --all --preset usual --without-drug ASPIRIN",
        "srsql signals --all --sex F --series rows --quarter 2011Q4",
        "srsql signals --all --level pt=HLT:MedAscii",
        "srsql signals --drug WARFARIN --reaction HAEMORRHAGE --trend --figure trend.svg",
        "srsql signals --drug WARFARIN --with-drug ASPIRIN --reaction HAEMORRHAGE",
        "srsql signals --drug WARFARIN --likelihood --seed 7 --format csv --out reactions.csv",
        "srsql signals --all --export pvda --to pvda",
        "srsql signals trend --drug WARFARIN --reaction HAEMORRHAGE --quarter 2011Q4",
        "srsql signals export pvda --all --to pvda",
    ),
    "query": (
        'srsql query "SELECT count(DISTINCT caseid) FROM demo WHERE age > 64"',
        'srsql query "SELECT sex, count(*) FROM demo GROUP BY sex" --format csv',
        'srsql query "SELECT count(DISTINCT caseid) FROM drug '
        "WHERE drugname = 'X'\" --series rows",
    ),
    "spellings": (
        "srsql spellings --column pt",
        "srsql spellings --quarter 2011Q4 --released-only --format csv --out spellings.csv",
    ),
    "drugs": (
        "srsql drugs --level drugname=ingredient:drugs.csv --unmatched",
        "srsql drugs --level pt=HLT:MedAscii --format csv --out terms.csv",
    ),
    "dictionary": (
        "srsql dictionary MedAscii",
        "srsql dictionary names.csv atc.csv --to drugs.csv",
    ),
    "compare": (
        "srsql compare --quarters 2011Q1:2011Q4 --models ms,ppms,ppms++ --k 5,10",
        "srsql compare --quarters 2011Q4 --models ppms++,k-anonymity --theta 0.2,0.4",
    ),
    "advise": (
        "srsql advise --quarter 2011Q4",
        "srsql advise --quarter 2011Q4 --max-risk 0.1 --max-loss 0.3",
        "srsql advise --quarter 2011Q4 --terms --max-singled-out 0.01",
    ),
}
"""By the words of the command after ``srsql``; of ``srsql`` itself under the empty text."""


class OutputError(SrsqlError):
    """An answer cannot be written where it was to go, or has no such form."""


@dataclass(frozen=True)
class Asked:
    """The form that was asked for."""

    form: str | None = None
    """One of ``FORMS``; None: tables, or records where a terminal is too narrow."""
    file: Path | None = None
    """Where it goes; None: stdout."""
    every: bool = False
    """All lines are shown, and not a screen of them."""
    legend: bool = False
    """How to read the answer is told, too."""
    csv_safe: bool = False
    """An apostrophe stands before what a spreadsheet would run as a formula."""

    def put(self, pieces: Iterable[str]) -> None:
        """Write a text there, piece by piece; what was in a file is replaced in one step.

        An answer may tell of originals, so that only its owner can read the file.

        Raises:
            OutputError: the file cannot be written.
        """
        if self.file is None:
            for piece in pieces:
                click.echo(piece, nl=False)
            return
        context = click.get_current_context(silent=True)
        warehouse = context.params.get("db") if context else None
        try:
            if warehouse and self.file.exists() and self.file.samefile(warehouse):
                raise OutputError(f"{self.file} is the warehouse itself: give another file")
            with put_beside(self.file) as beside, beside.open("wb") as written:
                for piece in pieces:
                    written.write(piece.encode("utf-8"))
        except OSError as error:
            raise OutputError(f"{self.file} cannot be written ({error.strerror})") from None


def asked() -> Asked:
    """The form that the command which runs was asked for."""
    context = click.get_current_context(silent=True)
    found = context.meta.get(_ASKED) if context is not None else None
    return found if isinstance(found, Asked) else Asked()


class Terminal(Console):
    """A console that shows texts of others: each goes through one door before it is written.

    Lines, titles, headings and cells all become what is shown by ``render_str``. A line or a cell
    is one line: a line end in it is written out like whatever else steers a terminal.
    """

    def render_str(self, text: str, **styles: Any) -> Text:
        """The text as it is shown."""
        return super().render_str(printable(text), **styles)

    def on_broken_pipe(self) -> None:
        """The reader went away: told by the caller of the command, since exit 1 means unsafe."""
        raise BrokenPipeError


class _HelpFormatter(click.HelpFormatter):
    """Help texts show defaults, which a file of defaults may have set."""

    def getvalue(self) -> str:
        return "\n".join(printable(line) for line in super().getvalue().split("\n"))


class _Context(click.Context):
    formatter_class = _HelpFormatter


class Command(LateCommand):
    """A command that takes the form of its answer, and whose help has examples."""

    context_class = _Context

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._help_all = sections.help_all_option()

    def completed(self, params: list[click.Parameter]) -> list[click.Parameter]:
        """With those of the form, where it has an answer."""
        if not any(param.name == "as_json" for param in params):
            return params
        known = {name for param in params for name in param.opts}
        return [
            *params,
            *(made for made in _options(self.name, known) if made.opts[0] not in known),
        ]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its parameters, with the two that show its help."""
        return [*super().get_params(ctx), self._help_all]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write its options in sections."""
        sections.write_options(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; keep the form for whatever prints the answer."""
        ctx.meta[sections.WORDS] = tuple(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as wrong:
            raise sections.no_such_option(ctx, wrong) from None
        if _is_typed(ctx, "as_json") or (
            _is_typed(ctx, "shown_as") and ctx.params["shown_as"] == "json"
        ):
            ctx.meta[_TYPED] = True
        form, file = (ctx.params.pop(name, None) for name in ("shown_as", "shown_in"))
        every, legend = (
            bool(ctx.params.pop(name, False)) for name in ("shown_whole", "shown_legend")
        )
        safe = bool(ctx.params.pop("shown_safe", False))
        if safe and form != "csv" and not ctx.params.get("csv_file"):
            raise click.UsageError("--csv-safe is for CSV: give --format csv, or leave it out")
        safe = safe or bool(ctx.params.get("csv_safe"))
        if form is not None and ctx.params.get("as_json") and form != "json":
            typed = {name: _is_typed(ctx, name) for name in ("as_json", "shown_as")}
            if all(typed.values()):
                raise click.UsageError(f"--json and --format {form} exclude each other")
            ctx.params["as_json"] = typed["as_json"]
        if form == "json":
            ctx.params["as_json"] = True
        if ctx.params.get("as_json"):
            form = "json"
        if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
            raise click.UsageError(f"--out {file}: give a file in a folder that is there")
        ctx.meta[_ASKED] = Asked(form, file, every, legend, safe)
        return rest

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what else there is to say, and the examples."""
        super().format_epilog(ctx, formatter)
        write_examples(ctx, formatter)


class Group(click.Group):
    """Commands of that kind."""

    context_class = _Context
    command_class = Command
    group_class = type

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write its options, and its commands under headings."""
        self.format_commands(ctx, formatter)
        sections.write_options(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write its commands."""
        sections.write_commands(self, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options that stand before the name of a command."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as wrong:
            raise sections.no_such_option(ctx, wrong) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of a word that is none, the one that was meant is told."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as wrong:
            raise sections.no_such_command(ctx, self, wrong.command_name) from None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what else there is to say, and the examples."""
        super().format_epilog(ctx, formatter)
        write_examples(ctx, formatter)


def json_typed(ctx: click.Context) -> bool:
    """Whether a document was asked for on the command line."""
    return bool(ctx.meta.get(_TYPED))


def _is_typed(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def all_option() -> str:
    """What shows all lines of the answer of the command that runs."""
    context = click.get_current_context(silent=True)
    params = context.command.params if context else ()
    return next((p.opts[0] for p in params if p.name == "shown_whole"), ALL)


def _options(command: str | None, known: set[str]) -> list[click.Option]:
    with_rows = command in WITH_ROWS
    forms = [form for form in FORMS if form != "csv" or with_rows]
    safe = FileOption(
        ["--csv-safe", "shown_safe"],
        is_flag=True,
        help="Of CSV: put an apostrophe before what a spreadsheet would run as a formula.",
    )
    return [
        *([safe] if with_rows else []),
        FileOption(
            ["--format", "shown_as"],
            type=click.Choice(forms),
            help="Form of the answer.  [default: table; records where a terminal is too narrow]",
        ),
        FileOption(
            [WHOLE if ALL in known else ALL, "shown_whole"],
            is_flag=True,
            help="Print every line, and not a screen of them.",
        ),
        *(
            [
                FileOption(
                    ["--explain", "shown_legend"],
                    is_flag=True,
                    help="Tell how to read the answer, too.",
                )
            ]
            if command in WITH_LEGEND
            else []
        ),
        click.Option(
            ["--out", "shown_in"],
            type=click.Path(path_type=Path),
            help="File to write the answer to, instead of printing it.",
        ),
    ]


def write_examples(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the examples of the command whose help is shown."""
    if lines := EXAMPLES.get(sections.command_words(ctx)):
        with formatter.section("Examples"):
            for line in lines:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


def csv_rows(found: Any) -> Iterator[Sequence[Any]]:
    """The rows of an answer, the header first; of one with several tables those of the first.

    Raises:
        OutputError: it has none.
    """
    from srsql.engine.store.frames import Framed, as_frame

    if isinstance(found, Framed):
        table = found.arrow()
        others = [name for name in found._tables[1:] if getattr(found, name)]
        if others:
            told = f"srsql: the CSV has {found._tables[0]}; {', '.join(others)}: --format json"
            click.echo(told, err=True)
    elif isinstance(found, list):
        table = as_frame(found, kind="arrow")
    else:
        raise OutputError("the answer has no rows: give --format json")
    return _table_rows(table)


def _table_rows(table: pa.Table) -> Iterator[Sequence[Any]]:
    yield table.column_names
    for batch in table.to_batches():
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield [_plain(value) for value in row]


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, default=str, ensure_ascii=False) if isinstance(value, list) else value


def table_width(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    """Columns of a terminal that a table takes if nothing in it is folded."""
    widths = _widths(columns, rows)
    return sum(widths) + 2 * (len(widths) - 1)


def _widths(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[int]:
    return [max(map(cell_len, cells)) for cells in zip(columns, *rows, strict=True)]


def too_narrow(console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table does not fit a terminal, which is then to show something else."""
    return console.is_terminal and table_width(columns, rows) > console.width


def table_lines(
    console: Console, title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]
) -> Iterator[Text]:
    """The lines of a table in the form that was asked for.

    Args:
        console: where to.
        title: above it.
        columns: the names of its columns.
        rows: their cells; what steers a terminal is written out.
    """
    names = [printable(name) for name in columns]
    cells = [[printable(cell) for cell in row] for row in rows]
    form = asked().form
    if form == "records" or (form is None and too_narrow(console, names, cells)):
        lines = _record_lines(names, cells, console.width if console.is_terminal else None)
    else:
        lines = _table_lines(*_filled(names, cells))
    yield Text(printable(title), "italic")
    yield from lines


def _filled(
    names: Sequence[str], cells: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """A table without the columns that have nothing in any row."""
    kept = [
        place
        for place in range(len(names))
        if not cells or any(row[place].strip() for row in cells)
    ]
    return [names[place] for place in kept], [[row[place] for place in kept] for row in cells]


def _table_lines(names: Sequence[str], cells: Sequence[Sequence[str]]) -> Iterator[Text]:
    widths = _widths(names, cells)
    for number, row in enumerate([names, *cells]):
        padded = (
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        )
        yield Text("  ".join(padded).rstrip(), "" if number else "bold")


def _record_lines(
    names: Sequence[str], cells: Sequence[Sequence[str]], width: int | None
) -> Iterator[Text]:
    """A block of "name: value" for each row; an empty value has no line.

    ``width``: of a terminal, in which what is long goes on below itself; None: nothing is folded.
    """
    room = max((cell_len(name) for name in names), default=0) + 2
    for number, row in enumerate(cells):
        if number:
            yield Text()
        for name, cell in zip(names, row, strict=True):
            if not cell.strip():
                continue
            head = f"{name}:" if name else ""
            head += " " * (room - cell_len(head)) if head else ""
            indent = room if width is not None and width >= 2 * room else 2
            parts = (
                [cell]
                if width is None
                else textwrap.wrap(
                    cell,
                    max(width, indent + 10),
                    initial_indent=" " * cell_len(head),
                    subsequent_indent=" " * indent,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            )
            first = parts[0][cell_len(head) :] if width is not None else parts[0]
            yield Text(head, "bold").append(first, "not bold")
            yield from map(Text, parts[1:])


def text_console(text: io.StringIO) -> Terminal:
    """A console that writes what a pipe would have into a text."""
    return Terminal(
        file=text,
        force_terminal=False,
        no_color=True,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )
