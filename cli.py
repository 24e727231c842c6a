"""The command line: parse, call the engine, print."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import duckdb
from click.core import ParameterSource
from rich.console import Console
from rich.table import Table

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.publish.publish import CASE_IDS, FORMATS, STORAGE_VERSION
from srsql.engine.artifact.verify.verify import verify as verify_artifacts
from srsql.engine.audit.audit import SCOPES
from srsql.engine.audit.plan import parse_share
from srsql.engine.console import audit as show_audit
from srsql.engine.console import measures as show_measures
from srsql.engine.console import printable
from srsql.engine.console import release as show_release
from srsql.engine.console import study as show_study
from srsql.engine.errors import OutdatedError, SrsqlError, WarehouseError, one_line
from srsql.engine.models import MODELS
from srsql.engine.release.options import DEFAULTS
from srsql.engine.release.ranges import Range, is_range
from srsql.engine.study.advise import question
from srsql.engine.study.compare.grid import Grid, Rules
from srsql.engine.terms.options import DISASSOCIATE
from srsql.engine.warehouse.config import read_defaults
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


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="srsql")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def cli(context: click.Context) -> None:
    """Anonymize spontaneous adverse-event reports in DuckDB: ingest, release, measure."""
    context.default_map = read_defaults(
        {
            name: {p.name for p in command.params if isinstance(p, click.Option) and p.name}
            for name, command in cli.commands.items()
        }
    )
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _db(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--db",
        type=click.Path(path_type=Path),
        envvar="SRSQL_DB",
        default=Path("srsql.duckdb"),
        show_default=True,
        help="Warehouse file (environment: SRSQL_DB).",
    )(command)


def _json(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def _dataset(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--dataset", help="Dataset: faers, vaers, or your own TOML file.")(command)


def _quarter(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--quarter", "--period", "quarter", required=True, help="Period label, such as 2011Q4."
    )(command)


def _series(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--series", default=DEFAULTS.series, show_default=True, help="Series of releases."
    )(command)


def _emit(value: Any) -> None:
    click.echo(json.dumps(value, default=str, ensure_ascii=False))


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A spinner with the current step on a terminal; silent in a pipe."""
    if not err.is_terminal:
        yield lambda _: None
        return
    with err.status("working") as spinner:
        yield lambda text: spinner.update(text)


@contextmanager
def _engine(db: Path, *, read_only: bool = False, dataset: str | None = None) -> Iterator[Engine]:
    """The engine on the warehouse file, which must exist unless it is written by ingestion."""
    try:
        engine = Engine(db, read_only=read_only, dataset=dataset)
    except OutdatedError:
        Engine(db).close()  # brings its macros up to date
        engine = Engine(db, read_only=read_only, dataset=dataset)
    with engine:
        yield engine


def _existing(db: Path) -> Path:
    if not db.exists():
        raise WarehouseError(f"no warehouse at {db}: run 'srsql ingest' first or give --db")
    return db


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@_dataset
@click.option(
    "--period",
    "--quarter",
    "period",
    help="Period label, where file names do not tell; of tables, the one to load.  [default: all]",
)
@click.option("--replace", is_flag=True, help="Take the place of a quarter that is loaded already.")
@click.option(
    "--max-reject-rate",
    type=click.FloatRange(0, 1),
    default=0.01,
    show_default=True,
    help="Stop when a larger share of the records is malformed.",
)
@_db
@_json
def ingest(
    paths: tuple[Path, ...],
    dataset: str | None,
    period: str | None,
    replace: bool,
    max_reject_rate: float,
    db: Path,
    as_json: bool,
) -> None:
    """Load FAERS/AERS or VAERS archives, CSV or Parquet, or tables of the warehouse."""
    with _progress() as progress, _engine(db if paths else _existing(db)) as engine:
        loaded = engine.ingest(
            paths,
            dataset=dataset,
            period=period,
            replace=replace,
            max_reject_rate=max_reject_rate,
            progress=progress,
        )
    if as_json:
        _emit([dataclasses.asdict(item) for item in loaded])
        return
    for item in loaded:
        if item.files and item.status != "unchanged":
            table = _table(f"{item.quarter} {item.status}", show_release.INGESTED_COLUMNS)
            for row in show_release.ingested_rows(item):
                table.add_row(*row)
            out.print(table)
        for line in show_release.ingested_lines(item):
            out.print(line)


@cli.command()
@_quarter
@_dataset
@click.option("--model", type=click.Choice(list(MODELS)), default=DEFAULTS.model, show_default=True)
@click.option(
    "--alpha",
    help="ppms-alpha: largest share of cases with many symptoms  [0.5]; alpha-k: largest share of "
    "reports that hold a value.  [0.4]",
)
@click.option(
    "--l",
    type=int,
    help="l-diversity: distinct values of each sensitive attribute  [5]; with --sensitive-terms: "
    "records of a cluster.  [1]",
)
@click.option(
    "--terms",
    type=click.Choice([DISASSOCIATE]),
    help="Release terms apart from ids, in clusters within the groups.",
)
@click.option("--m", type=int, help="Disassociation, cba: terms of a record that are known.  [2]")
@click.option("--term-attributes", help="Disassociation, cba: such as indi_pt,pt.  [the first one]")
@click.option(
    "--policy",
    help="Disassociation, cba: terms to keep together; a CSV file (constraint, term), "
    "level:N:FILE, sim:N:FILE or sup:PERCENT.",
)
@click.option(
    "--sensitive-terms",
    type=click.Path(path_type=Path),
    help="Disassociation: terms to tell of clusters only, one a line.",
)
@click.option(
    "--repeated-terms", is_flag=True, help="Disassociation, cba: a term told n times is n terms."
)
@click.option(
    "--assume-md",
    type=click.Choice(["none", "all"]),
    help="ppms-alpha: all counts every case as stopping where the next quarter is not loaded; the "
    "MD-attack is then open.  [none]",
)
@click.option(
    "--epsilon",
    help="Models with noise: privacy budget of a case, a number or fraction.  [1]",
)
@click.option(
    "--calibration",
    type=click.Choice(["paper", "sound"]),
    help="Models with noise: sound is local differential privacy given the grouping; paper is as "
    "Wu 2022 prints it, which is none.  [sound]",
)
@click.option(
    "--noise",
    type=click.Choice(["secure", "seeded"]),
    help="Models with noise: seeded repeats with --seed, and is not for publication.  [secure]",
)
@click.option(
    "--epsilon-limit", help="Models with noise: most that a case may spend over the series."
)
@click.option(
    "--suppress-below",
    type=int,
    help="ipa: classes of at most so many records are suppressed, give or take noise.  [2]",
)
@click.option(
    "--informative",
    help="ipa, full-domain, dp-histogram: the column whose values are released as they are.  "
    "[the first sensitive one]",
)
@click.option(
    "--dimensions",
    help="ipa, full-domain, dp-histogram: quasi-identifiers to generalize, such as age,sex.  [all]",
)
@click.option(
    "--ss-rule",
    default=DEFAULTS.ss_rule,
    show_default=True,
    help="Substantially many symptoms: mean+sd, mean+2sd, or counts such as pt>=10,indi_pt>=5.",
)
@click.option(
    "--k",
    type=int,
    default=DEFAULTS.k,
    show_default=True,
    help="Cases per group, at least; of k-anonymity and alpha-k, reports.",
)
@click.option(
    "--theta",
    default=DEFAULTS.theta,
    show_default=True,
    help="Threshold per value: a number or fraction, frequency, or levels:FILE.",
)
@click.option(
    "--missing",
    type=click.Choice(["keep", "drop"]),
    default="keep",
    show_default=True,
    help="Group cases with missing QIDs by pattern, or leave them out.",
)
@click.option(
    "--leftovers",
    type=click.Choice(["withhold", "merge", "error"]),
    default="withhold",
    show_default=True,
    help="What becomes of a case that fits no group.",
)
@click.option(
    "--on-infeasible",
    type=click.Choice(["error", "withhold"]),
    default="error",
    show_default=True,
    help="What becomes of values more frequent than their threshold.",
)
@click.option(
    "--knowledge",
    type=click.Path(path_type=Path),
    help="External knowledge: CSV with the columns drug, disease.",
)
@click.option("--seed", type=int, help="Seed of the first record; random if not given.")
@_series
@click.option("--draft", is_flag=True, help="Make it, but do not expose it yet.")
@click.option("--confirm", is_flag=True, help="Expose the draft of this quarter.")
@click.option("--supersede", is_flag=True, help="Replace a released quarter; it stays on record.")
@_db
@_json
def release(
    quarter: str,
    dataset: str | None,
    series: str,
    confirm: bool,
    db: Path,
    as_json: bool,
    **options: Any,
) -> None:
    """Anonymize one quarter, or a range FIRST:LAST, into views."""
    if confirm and options["draft"]:
        raise click.UsageError("--draft and --confirm exclude each other")
    with _progress() as progress, _engine(_existing(db)) as engine:
        if is_range(quarter) and not confirm:
            made = engine.release_range(
                quarter, dataset=dataset, series=series, progress=progress, **options
            )
            _print_range(made, as_json)
            return
        if confirm:
            released = engine.confirm(quarter, dataset=dataset, series=series)
        else:
            released = engine.release(
                quarter, dataset=dataset, series=series, progress=progress, **options
            )
    if as_json:
        _emit(dataclasses.asdict(released))
        return
    for line in show_release.release_lines(released):
        out.print(line)
    table = _table("rows", ["view", "rows"])
    for name, count in released.rows.items():
        table.add_row(f"{released.schema}.{name}", f"{count:,}")
    out.print(table)
    for line in show_release.closing_lines(released):
        out.print(line)


def _print_range(made: Range, as_json: bool) -> None:
    if as_json:
        _emit(dataclasses.asdict(made))
        return
    table = _table(f"{made.first} to {made.last}", show_release.RANGE_COLUMNS)
    for row in show_release.range_rows(made):
        table.add_row(*row)
    out.print(table)
    for line in show_release.range_lines(made):
        out.print(line)


@cli.command()
@_quarter
@click.option(
    "--medical",
    type=click.Path(path_type=Path),
    help="CSV of what diseases say of a patient (disease, sex, age_low, age_high ...), for "
    "rr_medical and ar_medical.  [default: the table that ships]",
)
@_dataset
@_series
@_db
@_json
def metrics(
    quarter: str,
    medical: Path | None,
    dataset: str | None,
    series: str,
    db: Path,
    as_json: bool,
) -> None:
    """Risk and loss of a released quarter."""
    with _engine(_existing(db), read_only=True) as engine:
        rows = engine.metrics(quarter, medical=medical, dataset=dataset, series=series)
    if as_json:
        _emit([dataclasses.asdict(row) for row in rows])
        return
    table = _table(
        f"{quarter}, series {series}",
        ["measure", "scope", "violating", "total", "ratio", "threshold", "passed"],
    )
    for row in rows:
        numbers = [row.violating, row.total, row.ratio, row.threshold]
        passed = "" if row.passed is None else "yes" if row.passed else "NO"
        table.add_row(
            row.measure, row.scope, *["" if n is None else f"{n:,.6g}" for n in numbers], passed
        )
    out.print(table)


@cli.command()
@click.option("--quarter", "--period", help="This period.  [default: the whole series]")
@click.option("--public", is_flag=True, help="From released data only, for publication.")
@click.option(
    "--out",
    "file",
    type=click.Path(path_type=Path),
    help="HTML file to write.  [default: srsql-report-....html here]",
)
@_series
@_dataset
@_db
@_json
def report(
    quarter: str | None,
    public: bool,
    file: Path | None,
    series: str,
    dataset: str | None,
    db: Path,
    as_json: bool,
) -> None:
    """One self-contained HTML file on a quarter or on the series: risk, loss, signals."""
    from srsql.engine.report import file_name, write_report

    with _progress(), _engine(_existing(db), read_only=True) as engine:
        made = engine.report(quarter, public=public, dataset=dataset, series=series)
    file = file or Path(file_name(made))
    written = write_report(made, file)
    if as_json:
        _emit(
            {
                "file": str(file),
                "bytes": written,
                "edition": made.edition,
                "dataset": made.dataset,
                "series": made.series,
                "quarter": made.quarter,
            }
        )
        return
    note = "" if public else "; made with the originals, not for publication (--public is)"
    out.print(f"{file}: {made.edition} edition, {written:,} bytes{note}")


@cli.command()
@_db
@_json
def status(db: Path, as_json: bool) -> None:
    """Quarters, releases, privacy budget and size of the warehouse."""
    with _engine(_existing(db), read_only=True) as engine:
        found = engine.status()
    if as_json:
        _emit(dataclasses.asdict(found))
        return
    out.print(f"{found.path}: {found.bytes_on_disk / 2**20:,.1f} MiB")
    tables = [("quarters", found.quarters), ("releases", found.releases)]
    tables += [("budget", found.budget)] if found.budget else []
    for title, rows in tables:
        if not rows:
            out.print(f"no {title} yet")
            continue
        table = _table(title, list(rows[0]))
        for row in rows:
            table.add_row(*[f"{v:,}" if isinstance(v, int) else str(v or "") for v in row.values()])
        out.print(table)


@cli.command()
@_quarter
@click.option(
    "--to", required=True, type=click.Path(path_type=Path), help="Folder to make; empty or absent."
)
@click.option("--format", type=click.Choice(FORMATS), default="parquet", show_default=True)
@click.option(
    "--case-ids",
    type=click.Choice(CASE_IDS),
    default="as-released",
    show_default=True,
    help="Keyed pseudonyms instead, the same for a case in every quarter.",
)
@click.option(
    "--key-file",
    type=click.Path(path_type=Path),
    help="Key of the pseudonyms; made if absent, never published.",
)
@click.option(
    "--storage-version",
    help=f"Oldest DuckDB that can read the DuckDB file, or latest.  [{STORAGE_VERSION}]",
)
@_series
@_dataset
@_db
@_json
def publish(quarter: str, to: Path, db: Path, as_json: bool, **options: Any) -> None:
    """Write the artifact that leaves the house: released rows, manifest, hashes."""
    with _progress() as progress, _engine(_existing(db), read_only=True) as engine:
        made = engine.publish(quarter, to, progress=progress, **options)
    if as_json:
        _emit(dataclasses.asdict(made))
        return
    table = _table(f"{made.path}", show_release.FILE_COLUMNS)
    for row in show_release.published_rows(made):
        table.add_row(*row)
    out.print(table)
    for line in show_release.published_lines(made):
        out.print(line)


@cli.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@_json
def verify(folders: tuple[Path, ...], as_json: bool) -> None:
    """Check artifacts from their folders alone: exit 0 passed, 1 failed, 2 no artifact.

    Several folders are the artifacts of one series, oldest first; they are checked together, too.
    """
    with _progress():
        found = verify_artifacts(folders)
    if as_json:
        _emit(show_release.verified_document(found))
    else:
        table = _table("verification", show_release.CHECK_COLUMNS)
        for row in show_release.check_rows(found):
            table.add_row(*row)
        out.print(table)
        for line in show_release.verified_lines(found):
            out.print(line)
    if not found.passed:
        click.get_current_context().exit(1)


@cli.command("import-release")
@click.argument("file", type=click.Path(path_type=Path))
@_quarter
@_dataset
@click.option(
    "--originals",
    type=click.Path(path_type=Path),
    help="The raw records behind it: case id and quasi-identifiers.",
)
@_series
@click.option("--group-column", help="Column that tells the groups.  [default: group_id, if there]")
@click.option(
    "--separator", default=";", show_default=True, help="Stands between the values of a field."
)
@click.option("--supersede", is_flag=True, help="Import the quarter anew; the old one stays known.")
@_db
@_json
def import_release(
    file: Path, quarter: str, dataset: str | None, db: Path, as_json: bool, **options: Any
) -> None:
    """Register somebody else's released table (CSV or Parquet), to audit or attack it."""
    with _progress(), _engine(db) as engine:
        imported = engine.import_release(file, quarter, dataset=dataset, **options)
    if as_json:
        _emit(dataclasses.asdict(imported))
        return
    for line in show_audit.imported_lines(imported):
        out.print(line)


@cli.command()
@_quarter
@click.option(
    "--qid", "qids", multiple=True, help="What the attacker knows, such as age=37; may be repeated."
)
@click.option("--new", is_flag=True, help="The target is known to be in no earlier release.")
@click.option("--stopped", is_flag=True, help="The target is known not to be in the next quarter.")
@_dataset
@_series
@_db
@_json
def attack(
    quarter: str,
    qids: tuple[str, ...],
    dataset: str | None,
    db: Path,
    as_json: bool,
    **options: Any,
) -> None:
    """Play one attacker: candidates, exclusion sets, what is inferred."""
    known = dict(text.partition("=")[::2] for text in qids)
    if len(known) < len(qids) or not all("=" in text for text in qids):
        raise click.UsageError("--qid takes NAME=VALUE, such as --qid age=37, each name once")
    with _engine(_existing(db), read_only=True) as engine:
        played = engine.attack(quarter, known, dataset=dataset, **options)
    if as_json:
        _emit(dataclasses.asdict(played))
        return
    for line in show_audit.attack_lines(played):
        out.print(line)


@cli.command()
@click.option("--quarter", "--period", help="Report this period only.")
@click.option("--attacks", help="Some of b,f,l,md,ss.  [default: what each release defends]")
@click.option("--scope", type=click.Choice(SCOPES), help="Whose candidates.  [default: both]")
@click.option("--k", type=click.IntRange(1), help="[default: the release's]")
@click.option("--theta", help="As for release.  [default: the release's]")
@click.option("--alpha", help="A share such as 0.5 or 1/3.  [default: the release's]")
@_series
@_dataset
@_db
@_json
def audit(
    attacks: str | None,
    scope: str | None,
    alpha: str | None,
    db: Path,
    as_json: bool,
    **options: Any,
) -> None:
    """Attack every case of a series: exit 0 safe, 1 unsafe, 2 could not run."""
    with _engine(_existing(db), read_only=True) as engine:
        found = engine.audit(
            attacks=None if attacks is None else [a.strip() for a in attacks.lower().split(",")],
            scopes=SCOPES if scope is None else [scope],
            alpha=None if alpha is None else parse_share(alpha, "--alpha"),
            evidence=show_audit.EVIDENCE,
            **options,
        )
    if as_json:
        _emit(dataclasses.asdict(found))
    else:
        table = _table("audit", show_audit.AUDIT_COLUMNS)
        for row in show_audit.audit_rows(found):
            table.add_row(*row)
        out.print(table)
        for line in show_audit.audit_lines(found):
            out.print(line)
    if not found.safe:
        click.get_current_context().exit(1)


@cli.command()
@click.option("--drug", help="Name of the drug, in any case.")
@click.option("--reaction", help="Name of the reaction, in any case.")
@click.option(
    "--rules",
    type=click.Path(path_type=Path),
    help="CSV with the columns drug, reaction and, if wanted, min_age, max_age, sex.",
)
@click.option("--all", "every_pair", is_flag=True, help="Every pair of at least 3 cases.")
@click.option("--min-age", help="Only cases of this age or above.")
@click.option("--max-age", help="Only cases of this age or below.")
@click.option("--sex", help="Only cases of this sex.")
@click.option("--roles", help="Roles of the drug, such as PS,SS, or all.  [default: suspects]")
@click.option("--quarter", "--period", help="This period only.  [default: all that are released]")
@click.option("--released-only", is_flag=True, help="Read released views only: for analysts.")
@_series
@_dataset
@_db
@_json
def signals(roles: str | None, db: Path, as_json: bool, **options: Any) -> None:
    """Disproportionality (PRR, ROR, IC, chi2), the originals against what is released."""
    chosen = None if roles is None else [r.strip() for r in roles.upper().split(",") if r.strip()]
    with _engine(_existing(db), read_only=True) as engine:
        found = engine.signals(roles=[] if chosen == ["ALL"] else chosen, **options)
    if as_json:
        _emit(dataclasses.asdict(found))
        return
    for title, columns, rows in (
        ("bias", show_measures.QUANTILE_COLUMNS, show_measures.quantile_rows(found)),
        ("signals", show_measures.SIGNAL_COLUMNS, show_measures.signal_rows(found)),
    ):
        if title == "signals" or found.quantiles:
            table = _table(title, columns)
            for row in rows:
                table.add_row(*row)
            out.print(table)
    for line in show_measures.signal_lines(found):
        out.print(line)


@cli.command()
@click.argument("sql")
@click.option("--quarter", "--period", help="This period only.  [default: all that are released]")
@click.option("--include-withheld", is_flag=True, help="Add what was withheld to the upper bound.")
@click.option("--show-sql", is_flag=True, help="Print the rewritten statement, too.")
@_series
@_dataset
@_db
@_json
def query(sql: str, show_sql: bool, db: Path, as_json: bool, **options: Any) -> None:
    """Answer a COUNT over the original tables from the released views, with bounds."""
    with _engine(_existing(db), read_only=True) as engine:
        answer = engine.query(sql, **options)
    if as_json:
        _emit(dataclasses.asdict(answer))
        return
    table = _table("answer", show_measures.answer_columns(answer))
    for row in show_measures.answer_rows(answer):
        table.add_row(*row)
    out.print(table)
    for line in show_measures.answer_lines(answer):
        out.print(line)
    if show_sql:
        out.print(f"\n{answer.sql};")


class _List(click.ParamType[Any]):
    """Values with commas between them."""

    name = "list"

    def __init__(self, of: click.ParamType[Any]) -> None:
        self.of = of

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> tuple[Any, ...]:
        """Each of them as its own type has it; what is empty is left out."""
        if isinstance(value, (tuple, list)):
            return tuple(value)
        parts = [part.strip() for part in str(value).split(",")]
        return tuple(self.of.convert(part, param, context) for part in parts if part)


@cli.command()
@click.option("--quarters", "--periods", "quarters", required=True, help="FIRST:LAST, or one.")
@click.option(
    "--models", type=_List(click.Choice(list(MODELS))), required=True, help="Such as ms,alpha-k."
)
@click.option("--k", type=_List(click.INT), default=str(DEFAULTS.k), show_default=True)
@click.option(
    "--theta",
    type=_List(click.STRING),
    default=DEFAULTS.theta,
    show_default=True,
    help="Thresholds as of srsql release, such as frequency,0.4,levels:FILE.",
)
@click.option("--epsilon", type=_List(click.STRING), default="", help="Budgets.  [1]")
@click.option("--l", type=_List(click.INT), default="", help="l-diversity.  [as k]")
@click.option(
    "--alpha", type=_List(click.STRING), default="", help="Shares.  [the default of each model]"
)
@click.option(
    "--calibration",
    type=_List(click.STRING),
    default="paper",
    show_default=True,
    help="Models with noise: paper, sound or both.",
)
@click.option(
    "--noise",
    type=click.Choice(["secure", "seeded"]),
    default="seeded",
    show_default=True,
    help="Models with noise: seeded repeats with --seed.",
)
@click.option("--m", type=_List(click.INT), default="", help="Models of terms.  [2]")
@click.option(
    "--policy",
    type=_List(click.STRING),
    default="",
    help="Utility policies as of srsql release, such as sup:1.25,sim:10:FILE.",
)
@click.option(
    "--term-attributes",
    type=_List(click.STRING),
    default="",
    help="Columns of terms, those of one release with + between them.",
)
@click.option("--terms", type=click.Choice([DISASSOCIATE]), help="Of models that release rows.")
@click.option("--suppress-below", type=_List(click.INT), default="", help="ipa.  [2]")
@click.option("--informative", type=_List(click.STRING), default="", help="Models of the lattice.")
@click.option(
    "--dimensions",
    type=_List(click.STRING),
    default="",
    help="Models of the lattice: such as age+sex,age+sex+state.",
)
@click.option(
    "--cases",
    type=_List(click.INT),
    default="",
    help="Samples of so many cases of each quarter.  [all]",
)
@click.option(
    "--seed",
    type=_List(click.INT),
    default="0",
    show_default=True,
    help="Claims and figures take the mean over several.",
)
@click.option(
    "--missing", type=click.Choice(["keep", "drop"]), default="keep", show_default=True,
    help="As of srsql release.",
)  # fmt: skip
@click.option(
    "--on-infeasible", type=click.Choice(["error", "withhold"]), default="error",
    show_default=True, help="As of srsql release; error leaves a row with the reason.",
)  # fmt: skip
@click.option(
    "--rules",
    "file",
    type=click.Path(path_type=Path),
    help="Rules whose signals are compared: CSV as of srsql signals.",
)
@click.option("--drug", help="Instead: one pair, of this drug")
@click.option("--reaction", help="and this reaction.")
@click.option("--min-age", help="Of that pair, inclusive.")
@click.option("--max-age", help="Of that pair, inclusive.")
@click.option("--sex", help="Of that pair.")
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("srsql-compare"),
    show_default=True,
    help="Folder for table, page and finished cells.",
)
@click.option("--jobs", type=click.IntRange(1), help="Workers.  [as cores and memory allow]")
@_dataset
@_db
@_json
def compare(
    quarters: str,
    folder: Path,
    jobs: int | None,
    dataset: str | None,
    db: Path,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure a grid of models and parameters; a second run does what is missing."""
    names = ("file", "drug", "reaction", "min_age", "max_age", "sex")
    rules = Rules(**{name: options.pop(name) for name in names})
    grid = Grid(**options | {"noise": (options["noise"],)})
    with _progress() as progress, _engine(_existing(db), read_only=True) as engine:
        made = engine.compare(
            quarters, grid, folder, rules=rules, jobs=jobs, dataset=dataset, progress=progress
        )
    if as_json:
        _emit(dataclasses.asdict(made))
        return
    for line in show_study.compared_lines(made):
        out.print(line)


@cli.command()
@_quarter
@click.option(
    "--max-risk",
    help="Largest chance of picking a patient's record, such as 0.1 or 1/11.  [0.2, unless "
    "--max-loss is given]",
)
@click.option("--max-loss", help="Largest loss of quasi-identifiers, withheld cases included.")
@click.option(
    "--max-confidence", help="Largest confidence in a sensitive value with a threshold below 1."
)
@click.option(
    "--models",
    type=_List(click.STRING),
    default="",
    help="Models to choose from.  [that of the latest release of the series, else "
    f"{','.join(question.FIRST)}]",
)
@click.option(
    "--k", type=_List(click.INT), default=",".join(map(str, question.K)), show_default=True
)
@click.option(
    "--theta",
    type=_List(click.STRING),
    default="",
    help=f"Thresholds as of srsql release.  [{','.join(question.THETA)}; of models with noise the "
    "first]",
)
@click.option(
    "--epsilon",
    type=_List(click.STRING),
    default=",".join(question.EPSILON),
    show_default=True,
    help="Budgets of models with noise.",
)
@click.option(
    "--missing", type=click.Choice(["keep", "drop"]), default="keep", show_default=True,
    help="As of srsql release.",
)  # fmt: skip
@click.option(
    "--on-infeasible", type=click.Choice(["error", "withhold"]), default="withhold",
    show_default=True, help="As of srsql release.",
)  # fmt: skip
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=question.SAMPLE,
    show_default=True,
    help="Cases that all settings are tried on before the best are measured on the whole quarter; "
    "0 for no sample.",
)
@click.option(
    "--seed", type=int, help="Seed of sample and releases; the command it ends with has it, too."
)
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("srsql-advise"),
    show_default=True,
    help="Folder for page, table and measured settings.",
)
@click.option("--jobs", type=click.IntRange(1), help="Workers.  [as cores and memory allow]")
@_series
@_dataset
@_db
@_json
def advise(
    quarter: str,
    max_risk: str | None,
    max_loss: str | None,
    max_confidence: str | None,
    folder: Path,
    jobs: int | None,
    series: str,
    dataset: str | None,
    db: Path,
    as_json: bool,
    **options: Any,
) -> None:
    """Recommend model, k, theta and epsilon for the next release of a series."""
    with _progress() as progress, _engine(_existing(db), read_only=True) as engine:
        made = engine.advise(
            quarter,
            folder,
            max_risk=max_risk,
            max_loss=max_loss,
            max_confidence=max_confidence,
            sweep=question.Sweep(**options),
            jobs=jobs,
            dataset=dataset,
            series=series,
            progress=progress,
        )
    context = click.get_current_context()
    if made.command and context.get_parameter_source("db") is ParameterSource.COMMANDLINE:
        made = dataclasses.replace(made, command=[*made.command, "--db", str(db)])
    unmeasured = _unmeasured(context, made.command or [])
    if unmeasured:
        err.print(
            f"srsql: srsql.toml sets {', '.join(unmeasured)} of release, which advice does not "
            "measure: take it out for the release that is recommended"
        )
    if as_json:
        _emit(dataclasses.asdict(made))
    else:
        if made.sampled:
            _print_settings(
                show_study.sample_title(made), show_study.advice_rows(made, made.sampled)
            )
        _print_settings(show_study.advice_title(made), show_study.advice_rows(made, made.settings))
        for line in show_study.advice_lines(made):
            out.print(line)
    if made.recommended is None:
        context.exit(1)


def _unmeasured(context: click.Context, command: list[str]) -> list[str]:
    """Options of ``release`` by default that change a release, and that the command leaves be."""
    told = context.parent.default_map if context.parent else None
    names = (name.replace("_", "-") for name in (told or {}).get("release", {}) if command)
    beside = ("db", "dataset", "draft", "as-json")
    return sorted(f"--{n}" for n in names if n not in beside and f"--{n}" not in command)


def _print_settings(title: str, rows: Iterator[list[str]]) -> None:
    table = _table(title, show_study.ADVICE_COLUMNS)
    for row in rows:
        table.add_row(*row)
    out.print(table)


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
@_json
def synth(
    folder: Path,
    first: str | None,
    last: str | None,
    like: str | None,
    cases: int | None,
    scale: float | None,
    seed: int,
    as_json: bool,
) -> None:
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
        written = synthesize(
            folder, quarters, cases=cases, scale=scale, seed=seed, progress=progress
        )
    if as_json:
        _emit([str(path) for path in written])
        return
    for path in written:
        out.print(str(path))


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("srsql-demo"))
@_json
def demo(folder: Path, as_json: bool) -> None:
    """First run: a synthetic series in DIR, released and measured."""
    from srsql.engine.api.demo import run_demo

    with _progress() as progress:
        result = run_demo(folder, progress)
    if as_json:
        _emit(dataclasses.asdict(result))
        return
    table = _table("released", ["quarter", "cases", "groups", "withheld", "NIL", "DR"])
    for row in result.releases:
        table.add_row(
            row.quarter,
            f"{row.cases:,}",
            f"{row.groups:,}",
            f"{row.withheld:,}",
            f"{row.nil:.4f}",
            f"{row.dr:.4f}",
        )
    out.print(table)
    out.print(f"\n{result.audit}")
    out.print("\nOpen in a browser:\n")
    for file in result.reports:
        out.print(f"  {file}")
    out.print(f"\nThe warehouse is {result.db}. Ask it something:\n")
    out.print(result.query)
    out.print("\nfor example by pasting this line:\n")
    out.print(result.paste)
    out.print("\nGo on with:\n")
    for line in result.next_steps:
        out.print(f"  {line}")


def _table(title: str, columns: list[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


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
