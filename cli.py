"""The command line: parse, call the engine, print.

Options come from what the engine declares: those of a release from models, terms and requests,
those of other commands from the calls of :class:`Engine`, with the same help and the same checks.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import duckdb
from click.core import ParameterSource
from rich.console import Console
from rich.table import Table

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.verify import verify as verify_artifacts
from srsql.engine.console import Table as Shown
from srsql.engine.console import audit as show_audit
from srsql.engine.console import measures as show_measures
from srsql.engine.console import printable
from srsql.engine.console import release as show_release
from srsql.engine.console import study as show_study
from srsql.engine.console.options import (
    Listed,
    check_defaults,
    folder_option,
    given,
    options,
    options_of,
    warehouse,
)
from srsql.engine.errors import OutdatedError, SrsqlError, WarehouseError, one_line
from srsql.engine.models import MODELS
from srsql.engine.parameters import declared
from srsql.engine.release.request import is_range, release_options
from srsql.engine.study.grid import Grid, Rules, grid_parameters
from srsql.engine.study.settings import Sweep
from srsql.engine.warehouse.config import read_defaults
from srsql.engine.warehouse.migrate import migrate
from srsql.version import __version__

PIPE_WIDTH = 200
out = Console(
    highlight=False,
    markup=False,
    emoji=False,
    soft_wrap=True,
    width=None if sys.stdout.isatty() else PIPE_WIDTH,
)
err = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A spinner with the current step on a terminal; silent in a pipe."""
    if not err.is_terminal:
        yield lambda _: None
        return
    with err.status("working") as spinner:
        yield lambda text: spinner.update(text)


@contextmanager
def _engine(db: Path, *, read_only: bool = True) -> Iterator[Engine]:
    """The engine on the warehouse file, its macros brought up to date if need be."""
    try:
        engine = Engine(db, read_only=read_only)
    except OutdatedError:
        Engine(db).close()
        engine = Engine(db, read_only=read_only)
    with engine:
        yield engine


def _existing(db: Path) -> Path:
    if not db.exists():
        raise WarehouseError(f"no warehouse at {db}: run 'srsql ingest' first or give --db")
    return db


def _print(found: Any, as_json: bool, parts: Iterable[str | Shown]) -> None:
    """An answer as one JSON document, or as lines and tables."""
    if as_json:
        click.echo(json.dumps(_document(found), default=str, ensure_ascii=False))
        return
    for part in parts:
        if isinstance(part, str):
            out.print(part)
            continue
        table = _table(part.title, part.columns)
        for row in part.rows:
            table.add_row(*row)
        out.print(table)


def _document(found: Any) -> Any:
    if isinstance(found, list):
        return [_document(each) for each in found]
    made = dataclasses.is_dataclass(found) and not isinstance(found, type)
    return dataclasses.asdict(found) if made else found


def _table(title: str, columns: Iterable[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="srsql")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def cli(context: click.Context) -> None:
    """Anonymize spontaneous adverse-event reports in DuckDB: ingest, release, measure."""
    defaults = read_defaults(
        {
            name: {p.name for p in command.params if isinstance(p, click.Option) and p.name}
            for name, command in cli.commands.items()
        }
    )
    check_defaults(cli.commands, defaults)
    context.default_map = defaults
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options_of(Engine.ingest)
@warehouse
def ingest(paths: tuple[Path, ...], db: Path, as_json: bool, **options: Any) -> None:
    """Load FAERS/AERS or VAERS archives, CSV or Parquet, or tables of the warehouse."""
    file = db if paths else _existing(db)
    with _progress() as progress, _engine(file, read_only=False) as engine:
        loaded = engine.ingest(paths, progress=progress, **given(options))
    _print(loaded, as_json, show_release.ingested_parts(loaded))


@cli.command()
@options_of(Engine.release)
@options({name: option.parameter for name, option in release_options().items()})
@click.option("--confirm", is_flag=True, help="Expose the draft of this quarter.")
@warehouse
def release(
    quarter: str, dataset: str | None, confirm: bool, db: Path, as_json: bool, **options: Any
) -> None:
    """Anonymize one quarter, or a range FIRST:LAST, into views."""
    if confirm and options["draft"]:
        raise click.UsageError("--draft and --confirm exclude each other")
    made: Any
    with _progress() as progress, _engine(_existing(db), read_only=False) as engine:
        if confirm:
            made = engine.confirm(quarter, dataset=dataset, series=options["series"])
        elif is_range(quarter):
            made = engine.release_range(quarter, dataset=dataset, progress=progress, **options)
        else:
            made = engine.release(quarter, dataset=dataset, progress=progress, **options)
    ranged = is_range(quarter) and not confirm
    parts = show_release.range_parts if ranged else show_release.release_parts
    _print(made, as_json, parts(made))


@cli.command()
@options_of(Engine.metrics)
@warehouse
def metrics(quarter: str, series: str, db: Path, as_json: bool, **options: Any) -> None:
    """Risk and loss of a released quarter."""
    with _engine(_existing(db)) as engine:
        rows = engine.metrics(quarter, series=series, **given(options))
    _print(rows, as_json, show_measures.metrics_parts(rows, f"{quarter}, series {series}"))


@cli.command()
@options_of(Engine.report)
@click.option(
    "--out",
    "file",
    type=click.Path(path_type=Path),
    help="HTML file to write.  [default: srsql-report-....html here]",
)
@warehouse
def report(
    quarter: str | None, file: Path | None, public: bool, db: Path, as_json: bool, **options: Any
) -> None:
    """One self-contained HTML file on a quarter or on the series: risk, loss, signals."""
    from srsql.engine.report import file_name, write_report

    with _progress(), _engine(_existing(db)) as engine:
        made = engine.report(quarter, public=public, **options)
    file = file or Path(file_name(made))
    written = write_report(made, file)
    told = {"file": str(file), "bytes": written, "edition": made.edition}
    told |= {"dataset": made.dataset, "series": made.series, "quarter": made.quarter}
    note = "" if public else "; made with the originals, not for publication (--public is)"
    _print(told, as_json, [f"{file}: {made.edition} edition, {written:,} bytes{note}"])


@cli.command()
@warehouse
def status(db: Path, as_json: bool) -> None:
    """Quarters, releases, privacy budget and size of the warehouse."""
    with _engine(_existing(db)) as engine:
        found = engine.status()
    _print(found, as_json, show_measures.status_parts(found))


@cli.command(name="migrate")
@warehouse
def migrate_warehouse(db: Path, as_json: bool) -> None:
    """Bring a warehouse of an earlier version to the layout of this one; the old file stays."""
    made = migrate(_existing(db))
    _print(made, as_json, [show_release.migrated_line(made)])


@cli.command()
@options_of(Engine.publish)
@warehouse
def publish(quarter: str, to: Path, db: Path, as_json: bool, **options: Any) -> None:
    """Write the artifact that leaves the house: released rows, manifest, hashes."""
    with _progress() as progress, _engine(_existing(db)) as engine:
        made = engine.publish(quarter, to, progress=progress, **options)
    _print(made, as_json, show_release.published_parts(made))


@cli.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def verify(folders: tuple[Path, ...], as_json: bool) -> None:
    """Check artifacts from their folders alone: exit 0 passed, 1 failed, 2 no artifact.

    Several folders are the artifacts of one series, oldest first; they are checked together, too.
    """
    with _progress():
        found = verify_artifacts(folders)
    _print(show_release.verified_document(found), as_json, show_release.verified_parts(found))
    if not found.passed:
        click.get_current_context().exit(1)


@cli.command("import-release")
@click.argument("file", type=click.Path(path_type=Path))
@options_of(Engine.import_release)
@warehouse
def import_release(file: Path, quarter: str, db: Path, as_json: bool, **options: Any) -> None:
    """Register somebody else's released table (CSV or Parquet), to audit or attack it."""
    with _progress(), _engine(db, read_only=False) as engine:
        imported = engine.import_release(file, quarter, **options)
    _print(imported, as_json, show_audit.imported_lines(imported))


@cli.command()
@click.option(
    "--qid", "qids", multiple=True, help="What the attacker knows, such as age=37; may be repeated."
)
@options_of(Engine.attack)
@warehouse
def attack(quarter: str, qids: tuple[str, ...], db: Path, as_json: bool, **options: Any) -> None:
    """Play one attacker: candidates, exclusion sets, what is inferred."""
    known = dict(text.partition("=")[::2] for text in qids)
    if len(known) < len(qids) or not all("=" in text for text in qids):
        raise click.UsageError("--qid takes NAME=VALUE, such as --qid age=37, each name once")
    with _engine(_existing(db)) as engine:
        played = engine.attack(quarter, known, **options)
    _print(played, as_json, show_audit.attack_lines(played))


@cli.command()
@options_of(Engine.audit)
@warehouse
def audit(db: Path, as_json: bool, **options: Any) -> None:
    """Attack every case of a series: exit 0 safe, 1 unsafe, 2 could not run."""
    with _engine(_existing(db)) as engine:
        found = engine.audit(evidence=show_audit.EVIDENCE, **given(options))
    _print(found, as_json, show_audit.audit_parts(found))
    if not found.safe:
        click.get_current_context().exit(1)


@cli.command()
@options_of(Engine.signals)
@warehouse
def signals(db: Path, as_json: bool, **options: Any) -> None:
    """Disproportionality (PRR, ROR, IC, chi2), the originals against what is released."""
    with _engine(_existing(db)) as engine:
        found = engine.signals(**options)
    _print(found, as_json, show_measures.signals_parts(found))


@cli.command()
@click.argument("sql")
@options_of(Engine.query)
@click.option("--show-sql", is_flag=True, help="Print the rewritten statement, too.")
@warehouse
def query(sql: str, show_sql: bool, db: Path, as_json: bool, **options: Any) -> None:
    """Answer a COUNT over the original tables from the released views, with bounds."""
    with _engine(_existing(db)) as engine:
        answer = engine.query(sql, **options)
    _print(answer, as_json, show_measures.answer_parts(answer, show_sql=show_sql))


RULES = ("rules", "drug", "reaction", "min_age", "max_age", "sex")


@cli.command()
@options_of(Engine.compare, "quarters")
@click.option(
    "--models",
    type=Listed(click.Choice(list(MODELS))),
    required=True,
    help="Models to compare, such as ms,alpha-k.",
)
@options(grid_parameters())
@options_of(Engine.signals, *RULES)
@folder_option(Engine.compare, "srsql-compare")
@options_of(Engine.compare, "jobs", "dataset")
@warehouse
def compare(
    quarters: str, folder: Path, db: Path, as_json: bool, jobs: int | None, dataset: str | None,
    **options: Any,
) -> None:  # fmt: skip
    """Measure a grid of models and parameters; a second run does what is missing."""
    asked = {name: options.pop(name) for name in RULES}
    rules = Rules(file=asked.pop("rules"), **asked)
    with _progress() as progress, _engine(_existing(db)) as engine:
        made = engine.compare(
            quarters, Grid(**given(options)), folder, rules=rules, jobs=jobs, dataset=dataset,
            progress=progress,
        )  # fmt: skip
    _print(made, as_json, show_study.compared_lines(made))


@cli.command()
@options_of(Engine.advise, "quarter", "max_risk", "max_loss", "max_confidence")
@options(declared(Sweep))
@folder_option(Engine.advise, "srsql-advise")
@options_of(Engine.advise, "jobs", "series", "dataset")
@warehouse
def advise(quarter: str, folder: Path, db: Path, as_json: bool, **options: Any) -> None:
    """Recommend model, k, theta and epsilon for the next release of a series."""
    sweep = Sweep(**{name: options.pop(name) for name in declared(Sweep)})
    with _progress() as progress, _engine(_existing(db)) as engine:
        made = engine.advise(quarter, folder, sweep=sweep, progress=progress, **options)
    context = click.get_current_context()
    if made.command and context.get_parameter_source("db") is ParameterSource.COMMANDLINE:
        made = dataclasses.replace(made, command=[*made.command, "--db", str(db)])
    unmeasured = _unmeasured(context, made.command or [])
    if unmeasured:
        err.print(
            f"srsql: srsql.toml sets {', '.join(unmeasured)} of release, which advice does not "
            "measure: take it out for the release that is recommended"
        )
    _print(made, as_json, show_study.advice_parts(made))
    if made.recommended is None:
        context.exit(1)


def _unmeasured(context: click.Context, command: list[str]) -> list[str]:
    """Options of ``release`` by default that change a release, and that the command leaves be."""
    told = context.parent.default_map if context.parent else None
    names = (name.replace("_", "-") for name in (told or {}).get("release", {}) if command)
    beside = ("db", "dataset", "draft", "as-json")
    return sorted(f"--{n}" for n in names if n not in beside and f"--{n}" not in command)


@cli.command()
@click.option(
    "--out", "folder", required=True, type=click.Path(path_type=Path), help="Folder to write to."
)
@click.option("--from", "first", help="First quarter, such as 2011Q1.")
@click.option("--to", "last", help="Last quarter.")
@click.option("--like", help="One quarter with the row counts of the real one.")
@click.option("--cases", type=click.IntRange(1), help="New cases per quarter.")
@click.option(
    "--scale", type=click.FloatRange(0, 10, min_open=True), help="Share of the real row counts."
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def synth(
    folder: Path, first: str | None, last: str | None, like: str | None, cases: int | None,
    scale: float | None, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Write synthetic quarters in the FAERS layout."""
    from srsql.engine.synth import quarter_range, synthesize

    if bool(like) == bool(first) or bool(first) != bool(last) or (like and cases):
        raise click.UsageError(
            "give --from and --to with --cases or --scale, or --like with --scale"
        )
    if cases is not None and scale is not None:
        raise click.UsageError("--cases and --scale exclude each other")
    quarters = [like] if like else quarter_range(str(first), str(last))
    if cases is None and scale is None:
        scale = 1.0
    with _progress() as progress:
        files = synthesize(folder, quarters, cases=cases, scale=scale, seed=seed, progress=progress)
    written = [str(path) for path in files]
    _print(written, as_json, written)


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("srsql-demo"))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def demo(folder: Path, as_json: bool) -> None:
    """First run: a synthetic series in DIR, released and measured."""
    from srsql.engine.api.demo import run_demo

    with _progress() as progress:
        made = run_demo(folder, progress)
    _print(made, as_json, show_study.demo_parts(made))


def main() -> None:
    """Entry point of the console script: every error is one line on stderr."""
    debug = "--debug" in sys.argv[1:]
    try:
        code = cli.main(standalone_mode=False)
        code = code if isinstance(code, int) else 0
    except Exception as error:
        if debug:
            raise
        line, code = _explain(error)
        click.echo(f"srsql: {line}", err=True)
    except KeyboardInterrupt:
        click.echo("srsql: interrupted; what was not finished was rolled back", err=True)
        code = 130
    sys.exit(code)


def _explain(error: Exception) -> tuple[str, int]:
    """One line for an error, and the exit code."""
    if isinstance(error, SrsqlError):
        return printable(" ".join(str(error).split())), error.exit_code
    if isinstance(error, click.Abort):
        return "interrupted; what was not finished was rolled back", 130
    if isinstance(error, click.ClickException):
        return f"{' '.join(error.format_message().split())} (see --help)", 2
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return "the reader of the output went away", 141
    text = one_line(error)
    if isinstance(error, (OSError, duckdb.Error)):
        return f"{text} (nothing of the unfinished step was kept)", 2
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)", 2


if __name__ == "__main__":
    main()
