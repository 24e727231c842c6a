"""The command line: parse, call the engine, print.

Options come from what the engine declares: those of a release from models, terms and requests,
those of other commands from the calls of :class:`Engine`, with the same help and the same checks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from srsql.engine.console import (
    artifacts,
    chosen,
    compiling_shown,
    csv_of,
    csv_option,
    existing,
    folder_option,
    given,
    json_option,
    options_in,
    options_of,
    progress_shown,
    show,
    typed,
    warehouse,
)
from srsql.engine.console import (
    session as sessions,
)
from srsql.engine.console.config import config_command
from srsql.engine.console.field_signals import SignalsCommand
from srsql.engine.console.first_dataset import init_command
from srsql.engine.console.later import given_by
from srsql.engine.console.process import limits_given, need_text
from srsql.engine.errors import INFEASIBLE, REFUSED, UNSAFE, OutdatedError
from srsql.engine.interruption import signals_taken
from srsql.version import __version__

if TYPE_CHECKING:
    from srsql.engine.api.engine import Engine


@contextmanager
def _engine(db: Path, *, read_only: bool = True, confined: bool = False) -> Iterator[Engine]:
    """The engine on the warehouse file, its macros brought up to date if need be.

    What may write it leaves a row in its run table; of what is ``confined`` DuckDB opens no other
    file.
    """
    from srsql.engine.api.engine import Engine
    from srsql.engine.store.database_file import need_usable

    session, context = sessions.current_session(), click.get_current_context()
    need_usable(db)
    waiting: Any = {"wait": session.wait, "progress": session.waiting, **limits_given()}
    try:
        engine = Engine(db, read_only=read_only, **waiting)
    except OutdatedError:
        Engine(db, **waiting).close()
        engine = Engine(db, read_only=read_only, **waiting)
    asked = {n: v for n, v in chosen(context.params).items() if n not in ("db", "as_json")}
    recorded = nullcontext() if read_only else engine.recorded(session.command, asked)
    with compiling_shown(), engine, recorded:
        if confined:
            engine.warehouse.confine()
        yield engine


@contextmanager
def _asked(folders: tuple[Path, ...], db: Path, options: dict[str, Any]) -> Iterator[Any]:
    """What a question goes to: the artifacts, if any are given, or the warehouse."""
    if not folders:
        with _engine(existing(db), confined=True) as engine:
            yield engine
        return
    from srsql.engine.api.analyst import open_artifact

    source = click.get_current_context().get_parameter_source
    if source("db") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--artifact takes the place of --db: leave one of them out")
    if source("series") is not ParameterSource.COMMANDLINE:
        options.pop("series", None)
    with open_artifact(*folders, dataset=options.pop("dataset", None), **limits_given()) as found:
        yield found


@click.group(
    cls=sessions.Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=sessions.ENDINGS,
)
@click.version_option(__version__, prog_name="srsql")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@sessions.common_options
@click.pass_context
def cli(context: click.Context) -> None:
    """Anonymize spontaneous adverse-event reports in DuckDB: ingest, release, measure."""
    from srsql.engine.console import config as show_config

    need_text(sys.argv)
    context.default_map = show_config.defaults_of(cli)
    sessions.current_session().defaults = show_config.defaults_file()
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options_of("ingest")
@warehouse
def ingest(paths: tuple[Path, ...], db: Path, as_json: bool, **options: Any) -> None:
    """Load FAERS/AERS or VAERS archives, CSV or Parquet, or tables of the warehouse."""
    from srsql.engine.console import release as show_release

    file = db if paths else existing(db)
    with progress_shown() as progress, _engine(file, read_only=False) as engine:
        loaded = engine.ingest(paths, progress=progress, **given(options))
    show(loaded, as_json, show_release.ingested_parts(loaded))


@cli.command()
@options_of("release.make")
@options_in("release.request", "release_parameters")
@click.option("--confirm", is_flag=True, help="Expose the draft of this quarter.")
@click.option(
    "--ingest",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Archive, directory or file of quarters of a range, each taken in while the one before is "
    "released; may be repeated.",
)
@warehouse
def release(
    quarter: str,
    dataset: str | None,
    confirm: bool,
    db: Path,
    as_json: bool,
    sources: tuple[Path, ...],
    **options: Any,
) -> None:
    """Anonymize one quarter, or a range FIRST:LAST, into views.

    What is not given is as the series was made, in a new series the default.
    """
    from srsql.engine.console import release as show_release
    from srsql.engine.release.request import is_range

    if confirm and options["draft"]:
        raise click.UsageError("--draft and --confirm exclude each other")
    if "token=" in (options["spark"] or ""):
        raise click.UsageError(show_release.TOKEN)
    if sources and not is_range(quarter):
        raise click.UsageError(
            "--ingest goes with a range FIRST:LAST; of one quarter: srsql ingest"
        )
    file = db if sources else existing(db)
    with progress_shown() as progress, _engine(file, read_only=False) as engine:
        if confirm:
            asked = {name: options[name] for name in show_release.CONFIRMED}
            made: Any = engine.release.confirm(quarter, dataset=dataset, **given(asked))
        elif is_range(quarter):
            made = engine.release.make_range(
                quarter, sources=sources, dataset=dataset, progress=progress, **chosen(options)
            )
        else:
            made = engine.release.make(
                quarter, dataset=dataset, progress=progress, **chosen(options)
            )
    show_release.warn_of_ids(made)
    show_release.warn_of_columns(made)
    show(made, as_json, show_release.made_parts(made, options["audience"]))


@cli.group()
def series() -> None:
    """What a series is made with: its parameters, and the ids that it has."""


@series.command()
@click.argument("name")
@options_of("series.create")
@options_in("release.series_commands", "new_series_options")
@warehouse
def create(name: str, db: Path, as_json: bool, **options: Any) -> None:
    """Make a series; its releases take these parameters for whatever they are not given."""
    from srsql.engine.console import release as show_release

    with _engine(existing(db), read_only=False) as engine:
        made = engine.series.create(name, **chosen(options))
    show(made, as_json, show_release.series_parts([made]))


@series.command("show")
@click.argument("name", required=False)
@options_of("series.show")
@warehouse
def show_series(name: str | None, db: Path, as_json: bool, **options: Any) -> None:
    """The parameters of a series, or of all, its quarters, and gaps between them."""
    from srsql.engine.console import release as show_release

    with _engine(existing(db), confined=True) as engine:
        found = engine.series.show(name, **options)
    show(found, as_json, show_release.series_parts(found))


@series.command("set")
@click.argument("name")
@options_of("series.set")
@options_in("release.series_commands", "series_options")
@warehouse
def set_series(name: str, db: Path, as_json: bool, **options: Any) -> None:
    """Change parameters of a series, for its releases from now on."""
    from srsql.engine.console import release as show_release

    with _engine(existing(db), read_only=False) as engine:
        made = engine.series.set(name, **typed(options))
    show(made, as_json, show_release.series_parts([made]))


@cli.command()
@options_of("release.correct")
@warehouse
def correct(quarter: str, db: Path, as_json: bool, **options: Any) -> None:
    """Take withdrawn cases out of a released quarter, each with its whole group."""
    from srsql.engine.console import release as show_release

    with progress_shown() as progress, _engine(existing(db), read_only=False) as engine:
        made = engine.release.correct(quarter, progress=progress, **options)
    show(made, as_json, show_release.corrected_lines(made))


@cli.command()
@options_of("steward.duplicates")
@warehouse
def duplicates(db: Path, as_json: bool, **options: Any) -> None:
    """Search for cases that may be one person (record linkage by splink); the pairs are kept."""
    from srsql.engine.console import release as show_release

    with progress_shown() as progress, _engine(existing(db), read_only=False) as engine:
        found = engine.steward.duplicates(progress=progress, **given(options))
    show(found, as_json, show_release.duplicates_parts(found))


@cli.command()
@click.argument("ids", nargs=-1, required=True)
@options_of("steward.lookup")
@warehouse
def lookup(ids: tuple[str, ...], db: Path, as_json: bool, **options: Any) -> None:
    """The case behind a pseudonym, or with --case the pseudonyms of a case: for the steward."""
    from srsql.engine.console import release as show_release

    with _engine(existing(db), confined=True) as engine:
        found = engine.steward.lookup(ids, **options)
    show(found, as_json, show_release.looked_up_parts(found))


@cli.command()
@options_of("steward.explain")
@warehouse
def explain(quarter: str, db: Path, as_json: bool, **options: Any) -> None:
    """Why a case has its region and group, or is withheld: for the steward alone."""
    from srsql.engine.console import audit as show_audit

    with _engine(existing(db), confined=True) as engine:
        found = engine.steward.explain(quarter, **options)
    show(found, as_json, show_audit.explained_parts(found))


@cli.command("forget")
@click.argument("cases", nargs=-1)
@click.option("--file", type=click.Path(path_type=Path), help="File with one case id a line.")
@options_of("steward.forget", "reason", "dry_run", "dataset")
@click.option("--receipt", type=click.Path(path_type=Path), help="File (JSON) for the receipt.")
@click.option("--rebuild", is_flag=True, help="Only write the file anew, after corrections.")
@warehouse
def forget_cases(
    cases: tuple[str, ...],
    file: Path | None,
    reason: str | None,
    receipt: Path | None,
    rebuild: bool,
    db: Path,
    as_json: bool,
    **options: Any,
) -> None:
    """Erase patients from the warehouse and say what was erased, what stays and what is stale."""
    from srsql.engine.console import upkeep as show_upkeep

    show_upkeep.need_forget(cases, file, reason, receipt, options["dry_run"], rebuild=rebuild)
    kept = show_upkeep.kept_receipt(receipt)
    with _engine(existing(db), read_only=False) as engine, kept as keep:
        if rebuild:
            engine.steward.rebuild()
            return show({"path": str(db), "rebuilt": True}, as_json, [f"{db} was written anew"])
        ids = [*cases, *(show_upkeep.listed_ids(file) if file else [])]
        made = engine.steward.forget(ids, reason=reason, **given(options))
        keep(made)
    show(made, as_json, show_upkeep.receipt_parts(made))


@cli.command()
@options_of("steward.backup")
@warehouse
def backup(to: Path, if_needed: bool, db: Path, as_json: bool) -> None:
    """Copy the warehouse to a new file, consistent and checked."""
    from srsql.engine.console import upkeep as show_upkeep

    with _engine(existing(db)) as engine:
        made = engine.steward.backup(to, if_needed=if_needed)
    show(made, as_json, [show_upkeep.backup_line(made)])


@cli.command(name="restore")
@click.option(
    "--from", "source", type=click.Path(path_type=Path), required=True, help="Backup to restore."
)
@click.option(
    "--without-forgotten",
    is_flag=True,
    help="No warehouse is left that tells who was forgotten since.",
)
@warehouse
def restore_warehouse(source: Path, without_forgotten: bool, db: Path, as_json: bool) -> None:
    """Put a backup in the place of the warehouse; whoever was forgotten since stays forgotten."""
    from srsql.engine.console import upkeep as show_upkeep
    from srsql.engine.steward.public_file import refresh_files
    from srsql.engine.steward.restore import restore
    from srsql.engine.store.database_file import Limits

    made = restore(
        db,
        source,
        without_forgotten=without_forgotten,
        wait=sessions.session_wait(),
        limits=Limits(**limits_given()),
    )
    refresh_files(db, Limits(**limits_given()), sessions.session_wait())
    show(made, as_json, show_upkeep.restored_parts(made))


@cli.command()
@options_of("steward.split")
@warehouse
def split(db: Path, as_json: bool, **options: Any) -> None:
    """Keep what is out of a series in a public file of its own, for those who must not read the
    warehouse.

    The file is made anew after each release, correction, erasure and restore. Without --to: the
    public files that there are.
    """
    from srsql.engine.console import upkeep as show_upkeep

    with _engine(existing(db), read_only=False) as engine:
        found = engine.steward.split(**options)
    show(found, as_json, show_upkeep.public_parts(found))


@cli.command()
@options_of("audit.metrics")
@artifacts
@warehouse
def metrics(
    quarter: str, folders: tuple[Path, ...], db: Path, as_json: bool, **options: Any
) -> None:
    """Risk and loss of a released quarter."""
    from srsql.engine.console import measures as show_measures
    from srsql.engine.console import upkeep as show_upkeep

    series = options["series"]
    stale = []
    with _asked(folders, db, options) as engine:
        rows = (engine if folders else engine.audit).metrics(quarter, **given(options))
        series = engine.series if folders else series
        if not folders:
            stale = engine.release.stale(quarter=quarter, series=series, dataset=options["dataset"])
    show_upkeep.warn_of_stale(stale)
    show(rows, as_json, show_measures.metrics_parts(rows, f"{quarter}, series {series}"))


@cli.command()
@options_of("artifact.report")
@given_by("console.release", "report_option")
@warehouse
def report(
    quarter: str | None, file: Path | None, public: bool, db: Path, as_json: bool, **options: Any
) -> None:
    """One self-contained HTML file on a quarter or on the series: risk, loss, signals."""
    from srsql.engine.console import release as show_release
    from srsql.engine.report.report import file_name, write_report

    with progress_shown(), _engine(existing(db), confined=True) as engine:
        made = engine.artifact.report(quarter, public=public, **options)
    file = file or Path(file_name(made))
    written = write_report(made, file)
    document = show_release.report_document(made, file, written)
    show(document, as_json, [show_release.report_line(made, file, written)])


@cli.command()
@options_of("status")
@warehouse
def status(db: Path, as_json: bool, **options: Any) -> None:
    """Quarters, releases, privacy budget and size of the warehouse, and its last run."""
    from srsql.engine.console import measures as show_measures

    with _engine(existing(db), confined=True) as engine:
        found = engine.status(**options)
    show(found, as_json, show_measures.status_parts(found))


@cli.command(name="migrate")
@warehouse
def migrate_warehouse(db: Path, as_json: bool) -> None:
    """Bring a warehouse of an earlier version to the layout of this one; the old file stays."""
    from srsql.engine.console import upkeep as show_upkeep
    from srsql.engine.steward.migrate import migrate
    from srsql.engine.steward.public_file import refresh_files
    from srsql.engine.store.database_file import Limits

    made = migrate(existing(db), Limits(**limits_given()), wait=sessions.session_wait())
    refresh_files(db, Limits(**limits_given()), sessions.session_wait())
    show(made, as_json, [show_upkeep.migrated_line(made)])


@cli.command(name="lake")
@click.option("--check", is_flag=True, help="Hold every byte against the digests of the catalog.")
@click.option(
    "--moved-to", type=click.Path(path_type=Path), help="Folder that the lake was moved to."
)
@warehouse
def lake_of_warehouse(check: bool, moved_to: Path | None, db: Path, as_json: bool) -> None:
    """What lies in the lake of the warehouse, whether it is whole, or where it is now."""
    from srsql.engine.console import upkeep as show_upkeep
    from srsql.engine.lake.lake_upkeep import look_at_lake
    from srsql.engine.store.database_file import Limits

    with progress_shown():
        found = look_at_lake(
            existing(db),
            check=check,
            moved_to=moved_to,
            limits=Limits(**limits_given()),
            wait=sessions.session_wait(),
        )
    show(found, as_json, show_upkeep.lake_parts(found, check=check, moved=moved_to is not None))


@cli.command()
@options_of("artifact.publish")
@warehouse
def publish(quarter: str, to: Path, db: Path, as_json: bool, **options: Any) -> None:
    """Write the artifact that leaves the house: released rows, manifest, hashes."""
    from srsql.engine.console import release as show_release

    with progress_shown() as progress, _engine(existing(db)) as engine:
        made = engine.artifact.publish(quarter, to, progress=progress, **options)
    show(made, as_json, show_release.published_parts(made))


@cli.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@click.option("--public-key", type=click.Path(path_type=Path), help="Key that signed them (PEM).")
@given_by("console.foreign_counts", "counts_options")
@given_by("console.release", "page_options")
@json_option
def verify(
    folders: tuple[Path, ...], public_key: Path | None, as_json: bool, **options: Any
) -> None:
    """Check artifacts from their folders alone: exit 0 passed, 1 unsafe, 2 no artifact.

    Several folders are the artifacts of one series, oldest first; they are checked together, too.
    """
    from srsql.engine.console import foreign_counts as show_counts
    from srsql.engine.console import release as show_release
    from srsql.engine.extras.verifier_page import write_verifier_page

    page, parquet_reader = options.pop("page"), options.pop("parquet_reader")
    if page is not None:
        if folders or public_key is not None or any(options.values()):
            raise click.UsageError("--page writes a page and checks nothing: give it alone")
        written = write_verifier_page(page, parquet_reader)
        show({"file": str(written)}, as_json, [show_release.page_line(written)])
        return
    if parquet_reader is not None:
        raise click.UsageError("--parquet-reader belongs to --page FILE: give both")
    with progress_shown():
        found = show_counts.verified(folders, public_key, **options)
    show(show_release.verified_document(found), as_json, show_release.verified_parts(found))
    if not found.passed:
        click.get_current_context().exit(UNSAFE)


@cli.command("import-release")
@click.argument("file", type=click.Path(path_type=Path))
@given_by("console.audit", "map_option")
@options_of("audit.import_release")
@warehouse
def import_release(file: Path, quarter: str, db: Path, as_json: bool, **options: Any) -> None:
    """Register somebody else's released table (CSV or Parquet), to audit or attack it."""
    from srsql.engine.console import audit as show_audit

    with progress_shown(), _engine(db, read_only=False) as engine:
        imported = engine.audit.import_release(file, quarter, **options)
    show(imported, as_json, show_audit.imported_lines(imported))


@cli.command()
@click.option(
    "--qid", "qids", multiple=True, help="What the attacker knows, such as age=37; may be repeated."
)
@options_of("audit.attack")
@warehouse
def attack(quarter: str, qids: tuple[str, ...], db: Path, as_json: bool, **options: Any) -> None:
    """Play one attacker: candidates, exclusion sets, what is inferred."""
    from srsql.engine.console import audit as show_audit

    known = show_audit.known_values(qids)
    with _engine(existing(db), confined=True) as engine:
        played = engine.audit.attack(quarter, known, **options)
    show(played, as_json, show_audit.attack_lines(played))


@cli.command()
@options_of("audit.run")
@warehouse
def audit(db: Path, as_json: bool, **options: Any) -> None:
    """Attack every case of a series, or of all: exit 0 safe, 1 unsafe, 2 could not run."""
    from srsql.engine.console import audit as show_audit
    from srsql.engine.console import upkeep as show_upkeep

    with progress_shown() as progress, _engine(existing(db), confined=True) as engine:
        found = engine.audit.run(evidence=show_audit.EVIDENCE, progress=progress, **given(options))
        asked = {name: options[name] for name in ("quarter", "dataset", "series")}
        stale = engine.release.stale(**asked if not options["all_series"] else {})
    show_upkeep.warn_of_stale(stale)
    show(found, as_json, show_audit.parts_of(found, kept=options["kept"]))
    if not found.safe:
        click.get_current_context().exit(UNSAFE)


@cli.command(cls=SignalsCommand)
@options_of("signals.find")
@given_by("console.field_signals", "ways")
@csv_option
@artifacts
@warehouse
def signals(
    csv_file: Path | None, folders: tuple[Path, ...], db: Path, as_json: bool, **options: Any
) -> None:
    """Disproportionality (PRR, ROR, IC, chi2), the originals against what is released.

    With --trend a pair by period, in each of which every case counts that the period reports, and
    of all periods up to each, where a case counts once, in its latest state by then; with
    --with-drug the interaction of two drugs; with --likelihood a drug over all reactions; with
    --export files for other tools.
    """
    from srsql.engine.console import field_signals as show_field
    from srsql.engine.console import measures as show_measures

    way = show_field.way_of(options)
    show_field.need_part(way)
    with _asked(folders, db, options) as found:
        find = found.signals if folders else found.signals.find
        calls = found if folders else found.signals
        answer = way.ask(calls, options) if way else find(**options)
    if way:
        parts, rows = way.parts(answer), way.rows(answer)
    else:
        parts, rows = show_measures.signals_parts(answer), show_measures.signal_table(answer)
    show(answer, as_json, parts, csv_of(csv_file, rows))


@cli.command()
@click.argument("sql")
@options_of("query.ask")
@click.option("--show-sql", is_flag=True, help="Print the rewritten statement, too.")
@csv_option
@artifacts
@warehouse
def query(
    sql: str,
    show_sql: bool,
    csv_file: Path | None,
    folders: tuple[Path, ...],
    db: Path,
    as_json: bool,
    **options: Any,
) -> None:
    """Answer a question over the original tables from the released views, with bounds."""
    from srsql.engine.console import measures as show_measures

    with _asked(folders, db, options) as found:
        ask = found.query if folders else found.query.ask
        answer = ask(sql, **options)
    parts = show_measures.answer_parts(answer, show_sql=show_sql)
    show(answer, as_json, parts, csv_of(csv_file, [answer.columns, *answer.rows]))


@cli.command()
@options_of("query.drugs")
@artifacts
@warehouse
def drugs(level: str, folders: tuple[Path, ...], db: Path, as_json: bool, **options: Any) -> None:
    """What a dictionary calls the names of drugs or terms, and which it lacks, by cases."""
    from srsql.engine.console import measures as show_measures

    with _asked(folders, db, options) as asked:
        found = (asked if folders else asked.query).drugs(level, **options)
    show(found, as_json, show_measures.coverage_parts(found))


@cli.command()
@options_of("query.spellings")
@artifacts
@warehouse
def spellings(folders: tuple[Path, ...], db: Path, as_json: bool, **options: Any) -> None:
    """The terms that reports spell in several ways, with the cases of each spelling."""
    from srsql.engine.console import measures as show_measures

    with _asked(folders, db, options) as asked:
        found = (asked if folders else asked.query).spellings(**options)
    show(found, as_json, show_measures.spellings_parts(found))


@cli.command("dictionary")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--to", type=click.Path(path_type=Path), help="CSV file to make of all of them.")
@json_option
def read_dictionary(paths: tuple[Path, ...], to: Path | None, as_json: bool) -> None:
    """The levels of a dictionary: MedDRA, ATC, OMOP or a CSV; of several, one after the other."""
    from srsql.engine.catalog.levels import dictionary_of
    from srsql.engine.console import measures as show_measures

    found = dictionary_of(paths, to)
    show(found, as_json, show_measures.dictionary_parts(found))


@cli.command()
@options_of("study.compare", "quarters")
@given_by("console.study", "models_option")
@options_in("extras.study.grid", "grid_parameters")
@given_by("console.study", "rule_options")
@folder_option("study.compare", "srsql-compare")
@options_of("study.compare", "jobs", "csv_safe", "dataset")
@warehouse
def compare(
    quarters: str,
    folder: Path,
    db: Path,
    as_json: bool,
    jobs: int | None,
    dataset: str | None,
    csv_safe: bool,
    **options: Any,
) -> None:
    """Measure a grid of models and parameters; a second run does what is missing."""
    from srsql.engine.console import study as show_study
    from srsql.engine.extras.study.grid import Grid

    rules = show_study.rules_of(options)
    with progress_shown() as progress, _engine(existing(db)) as engine:
        made = engine.compare(
            quarters,
            Grid(**given(options)),
            folder,
            rules=rules,
            jobs=jobs,
            csv_safe=csv_safe,
            dataset=dataset,
            progress=progress,
        )
    show(made, as_json, show_study.compared_lines(made))


@cli.command()
@options_of("study.advise", "quarter", "audience", "max_risk", "max_loss", "max_confidence")
@options_in("extras.study.settings", "sweep_parameters")
@folder_option("study.advise", "srsql-advise")
@options_of("study.advise", "jobs", "csv_safe", "series", "dataset")
@warehouse
def advise(quarter: str, folder: Path, db: Path, as_json: bool, **options: Any) -> None:
    """Recommend model, k, theta and epsilon for the next release of a series."""
    from srsql.engine.console import study as show_study
    from srsql.engine.extras.study.settings import Sweep, sweep_parameters

    sweep = Sweep(**given({name: options.pop(name) for name in sweep_parameters()}))
    with progress_shown() as progress, _engine(existing(db)) as engine:
        options |= {"sweep": sweep, "progress": progress}
        made = show_study.advised(db, engine, quarter, folder, **options)
    show(made, as_json, show_study.advice_parts(made, options["audience"]))
    if made.recommended is None or (made.rows and made.rows.recommended is None):
        click.get_current_context().exit(INFEASIBLE)


@cli.command()
@click.option(
    "--folder", type=click.Path(path_type=Path), default=Path(), help="Where the warehouse will be."
)
@json_option
def doctor(folder: Path, as_json: bool) -> None:
    """What is installed and compiled, how much memory and disk there is, and what lacks.

    Exit 0 unless something lacks without which nothing runs.
    """
    from srsql.engine.console import doctor as show_doctor

    found = show_doctor.look(folder)
    show(found, as_json, show_doctor.doctor_parts(found))
    if not show_doctor.is_ready(found):
        click.get_current_context().exit(REFUSED)


@cli.command()
@click.option("--public", is_flag=True, help="Print the file with which artifacts are audited.")
@json_option
def macros(public: bool, as_json: bool) -> None:
    """The macros that people call, or the file of SQL for an auditor who has no srsql."""
    from srsql.engine.console import macros as show_macros

    show_macros.answer(public=public, as_json=as_json)


@cli.command()
@given_by("console.study", "synth_options")
@json_option
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
    """Write synthetic quarters, or ISO weeks of them, in the FAERS layout."""
    from srsql.engine.console import study as show_study
    from srsql.engine.extras.synth import quarter_range, synthesize

    show_study.check_synthesis(first, last, like, cases, scale)
    quarters = [like] if like else quarter_range(str(first), str(last))
    scale = 1.0 if cases is None and scale is None else scale
    with progress_shown() as progress:
        files = synthesize(folder, quarters, cases=cases, scale=scale, seed=seed, progress=progress)
    written = [str(path) for path in files]
    show(written, as_json, written)


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("srsql-demo"))
@options_in("release.request", "ids_parameter")
@json_option
@sessions.waits
def demo(folder: Path, ids: Any, as_json: bool) -> None:
    """First run: a synthetic series in DIR, released and measured."""
    from srsql.engine.console import study as show_study

    with progress_shown() as progress:
        made = show_study.first_run(folder, progress, ids, sessions.session_wait())
    show(made, as_json, show_study.demo_parts(made))


cli.add_command(config_command)
cli.add_command(init_command)


@signals_taken()
def main() -> None:
    """What the console script calls: every error is one line on stderr."""
    sys.exit(sessions.run(cli, sys.argv[1:]))


if __name__ == "__main__":
    main()
