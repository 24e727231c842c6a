"""What goes into a call of the engine, said once for Python and the command line, which dataset it
means, and what several layers answer together.

The options of a release are declared with models, terms and requests (see
:mod:`srsql.engine.release.request`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, get_args

import duckdb

from srsql.engine.parameters import (
    ATTACKS,
    MAX_LINKABLE,
    STORAGE_VERSION,
    Argument,
    Audience,
    declared,
    strict,
)
from srsql.engine.parameters.takes import (
    Amount,
    Day,
    Files,
    Instance,
    MadeBy,
    Names,
    OneOf,
    Real,
    Several,
    Text,
    Whole,
)
from srsql.engine.workers.carriers import Carrier

if TYPE_CHECKING:
    from srsql.engine.audit.audit import Audit
    from srsql.engine.audit.plan import AuditOptions
    from srsql.engine.errors import SrsqlError
    from srsql.engine.measures import MeasureRow
    from srsql.engine.release.exposure import Consent
    from srsql.engine.risk.joined_series import SeriesAudit
    from srsql.engine.signals.rules import Condition, Counting, Rule
    from srsql.engine.store.warehouse import Warehouse
    from srsql.schemas import Dataset


P = ParamSpec("P")
R = TypeVar("R")
FAERS = "faers"
"""The dataset of a warehouse that has none, where none is named."""
TERMS_ALONE = (
    "series {series!r} releases terms alone, and these attacks are on regions, of which it has "
    "none: 'srsql verify' of the published artifact checks its chunks"
)
_PERIOD, _NUMBER, _SHARE = ("--period",), Text(), Amount(1, noun="share")
_RELEASED = Argument("This period only", "all that are released", aliases=_PERIOD)
_RELEASED_OR_LOADED = Argument("This period only", "all", aliases=_PERIOD)
_SERIES = Argument(takes=Text())
_TARGET = "the path of a DuckDB file, or an open connection"
_DATASET = "the name of a dataset, or the path of its file"


def _of_release(name: str) -> Callable[[], str]:
    """The help of a parameter of a release, where it is asked for."""

    def told() -> str:
        from srsql.engine.release.request import Request

        return declared(Request)[name].help

    return told


ARGUMENTS: Mapping[str, Argument] = {
    "target": Argument(takes=Instance((str, Path, duckdb.DuckDBPyConnection), _TARGET)),
    "dataset": Argument(
        "Dataset: faers, vaers, omop, or your own TOML file", takes=Instance((str, Path), _DATASET)
    ),
    "name": Argument(takes=Instance((str, Path), _DATASET)),
    "series": Argument(_of_release("series")),
    "quarter": Argument("Period label, such as 2011Q4", aliases=_PERIOD),
    "wait": Argument(takes=Real(0, 10**8)),
    "runs": Argument("Every command that wrote the warehouse, and how it ended"),
    "command": Argument(takes=Text()),
    "recorded.parameters": Argument(takes=Instance((Mapping,), "values by their names")),
    "if_needed": Argument(_of_release("if_needed"), in_file=True),
    "jobs": Argument("Workers", "as cores and memory allow", Whole(1), in_file=True),
    "parameters": Argument(takes=Instance((Sequence, Mapping), "a list of values")),
    # ingest
    "sources": Argument(takes=Files()),
    "period": Argument(
        "Period label, where file names do not tell; of tables, the one to load",
        "all",
        aliases=("--quarter",),
    ),
    "replace": Argument("Take the place of a quarter that is loaded already"),
    "max_reject_rate": Argument(
        "Stop when a larger share of the records is malformed", takes=Real(0, 1)
    ),
    "max_unread": Argument(
        "Stop when a larger share of the values of a quasi-identifier or a sensitive attribute is "
        "not understood",
        takes=Real(0, 1),
    ),
    "allow_incomplete": Argument(
        "Take a period in although reports have no row in a table in which each must have one, "
        "such as a sample; status, manifests and reports say so"
    ),
    "ingest.if_needed": Argument(
        "Nothing is done, and that is no error, where the same files are loaded under the same "
        "schema; what differs is refused, unless --replace is given",
        in_file=True,
    ),
    "max_unpacked": Argument(
        "Most that the files of a zip may take unpacked, or the texts of a Parquet file, such as "
        "20GB",
        "100 times the zip, and 64MB to 8GB",
    ),
    "lake": Argument(
        "Folder in which the raw rows are to lie as Parquet files, made if absent; said when the "
        "dataset is first ingested, and kept",
        "the file, or where they lie",
        Instance((str, Path), "the path of a folder"),
    ),
    # release, confirm, correct, publish, export
    "max_linkable": Argument(_of_release("max_linkable"), f"{MAX_LINKABLE}", _SHARE),
    "allow_linkable": Argument(_of_release("allow_linkable")),
    "not_ids": Argument(_of_release("not_ids"), "none", Names()),
    "date": Argument(_of_release("date"), "today", Day()),
    "carrier": Argument(takes=Instance((Carrier,), "a carrier, such as SparkCarrier(session)")),
    # correct
    "keep_remainder": Argument(
        "Keep the rest of a group that keeps k, theta and alpha; the versions then tell who left"
    ),
    "correct.dry_run": Argument("Say what would leave, and change nothing"),
    "correct.if_needed": Argument(
        "Nothing is done, and that is no error, where nobody has left, whatever the model",
        in_file=True,
    ),
    "change": Argument(_of_release("change")),
    "weaker": Argument(_of_release("weaker")),
    # series
    "series.name": _SERIES,
    "create_series.name": _SERIES,
    "set_series.name": _SERIES,
    "create_series.if_needed": Argument(
        "Nothing is done, and that is no error, where the series is there with the same parameters "
        "and ids; what differs is refused as ever",
        in_file=True,
    ),
    "unset": Argument("Parameters that get their defaults again, such as knowledge", takes=Names()),
    # duplicates
    "event_date": Argument("Column of the report table with the day of the event"),
    "country": Argument("Column of the report table with the country of the event"),
    "duplicates.seed": Argument("Seed of the sample of pairs", takes=Whole()),
    # lookup
    "ids": Argument(takes=Several(Text(), as_read=True)),
    "case": Argument("IDS are case ids of the source, whose pseudonyms are asked"),
    "lookup.quarter": Argument("Only what is or was out in this period", aliases=_PERIOD),
    # explain
    "explain.case": Argument("Case id of the source, or a pseudonym of it in the series"),
    # forget, backup
    "cases": Argument(takes=Several(Text(), as_read=True)),
    "reason": Argument("Why, in a few words that name nobody; it is kept"),
    "forget.dry_run": Argument("Tell what would be erased, and change nothing"),
    "backup.to": Argument("File to make, readable by its owner alone"),
    # report, publish
    "stale": Argument("Publish the release although cases have left it since it was made"),
    "report.quarter": Argument("This period", "the whole series", aliases=_PERIOD),
    "public": Argument("From released data only, for publication"),
    "report.k": Argument("Cases that must remain, of an imported series", takes=Whole(1)),
    "report.theta": Argument("Thresholds of an imported series, as for release", takes=_NUMBER),
    "figures": Argument("Folder for every figure of the page, as SVG and PNG"),
    "publish.if_needed": Argument(
        "Nothing is done, and that is no error, where --to holds the same artifact, file by file; "
        "what differs is refused as ever",
        in_file=True,
    ),
    "publish.quarter": Argument("Period label such as 2011Q4, or FIRST:LAST", aliases=_PERIOD),
    "to": Argument("Folder to make; empty or absent"),
    "format": Argument("Form of the tables", in_file=True),
    "case_ids": Argument("Keyed pseudonyms instead, the same for a case in every quarter"),
    "key_file": Argument("Key of the pseudonyms; made if absent, never published"),
    "storage_version": Argument(
        "Oldest DuckDB that can read the DuckDB file, or latest", STORAGE_VERSION
    ),
    "csv_safe": Argument(
        "Put an apostrophe before what a spreadsheet would run as a formula in CSV files",
        in_file=True,
    ),
    "publisher": Argument("Who publishes, for the documents that catalogues read", in_file=True),
    "contact": Argument("E-mail address or page for questions", in_file=True),
    "license": Argument(
        "Licence: an identifier of SPDX such as CC-BY-4.0, or a page", in_file=True
    ),
    "cite_as": Argument("How papers are to cite the artifact", in_file=True),
    "landing_page": Argument("Page that tells of the artifact", in_file=True),
    "access": Argument("Who gets the artifact", in_file=True),
    "access_body": Argument(
        "Who decides on access (HealthDCAT-AP: health data access body)", in_file=True
    ),
    "legislation": Argument(
        "Pages of the law that asks for it (HealthDCAT-AP)", takes=Names(), in_file=True
    ),
    "thesaurus": Argument(
        "What published columns are coded with, such as reac.pt=MedDRA 25.1",
        takes=Names(),
        in_file=True,
    ),
    "sign": Argument("Ed25519 key (PEM) to sign the hashes with, which --public-key checks"),
    # import_release
    "originals": Argument("The raw records behind it: case id and quasi-identifiers"),
    "group_column": Argument("Column that tells the groups", "group_id, if there"),
    "columns": Argument(takes=Instance((Mapping,), "names with columns, such as {'age': 'Alter'}")),
    "separator": Argument("Stands between the values of a field"),
    "supersede": Argument("Import the quarter anew; the old one stays known"),
    # metrics
    "metrics.public": Argument("What anybody can measure, from released data only"),
    "medical": Argument(
        "CSV of what diseases say of a patient (disease, sex, age_low, age_high ...), for "
        "rr_medical and ar_medical",
        "the table that ships",
    ),
    "width": Argument(takes=Whole(1)),
    # compare, advise
    "grid": Argument(takes=MadeBy("srsql.engine.extras.study.grid", "Grid")),
    "compare.rules": Argument(takes=MadeBy("srsql.engine.extras.study.grid", "Rules")),
    "sweep": Argument(takes=MadeBy("srsql.engine.extras.study.settings", "Sweep")),
    "sets": Argument(takes=Several(Names(), as_read=True)),
    # attack, audit
    "qids": Argument(takes=Instance((Mapping,), "names with values, such as {'age': 37}")),
    "new": Argument("The target is known to be in no earlier release"),
    "stopped": Argument("The target is known not to be in the next quarter"),
    "stayed": Argument("The target is known to be in the next quarter as well (persistence)"),
    "left": Argument("The target is known to be in the version before, and to have left since"),
    "gone": Argument("The target is known to have left for good: no later release has it"),
    "audit.quarter": Argument("Report this period only", aliases=_PERIOD),
    "all_series": Argument("Join all series of each quarter, as one attacker who has them would"),
    "kept": Argument("Show what releases kept of their audits, without U, and audit nothing"),
    "attacks": Argument(f"Some of {','.join(ATTACKS)}", "what each release defends", takes=Names()),
    "scopes": Argument("Whose candidates: group, match", keyword="scope", takes=Names()),
    "k": Argument("Cases that must remain", "the release's", Whole(1)),
    "theta": Argument("As for release", "the release's", _NUMBER),
    "alpha": Argument(
        "A share such as 0.5 or 1/3", "the release's", Amount(bounded=False, noun="share")
    ),
    "evidence": Argument(takes=Whole(0)),
    # signals, query
    "signals.quarter": _RELEASED,
    "drug": Argument("Name of the drug, in any case"),
    "reaction": Argument("Name of the reaction, in any case"),
    "rules": Argument("CSV with the columns drug, reaction and, if wanted, min_age, max_age, sex"),
    "every_pair": Argument("Every pair of at least 3 cases", keyword="all"),
    "min_age": Argument("Only cases of this age or above", takes=_NUMBER),
    "max_age": Argument("Only cases of this age or below", takes=_NUMBER),
    "sex": Argument("Only cases of this sex"),
    "roles": Argument(
        "Roles of the drug, such as PS,SS, or all", "suspects", Names(), in_file=True
    ),
    "preset": Argument(
        "What the field counts: suspects (every suspect drug), primary (the first suspect role "
        "alone), usual (suspects, --without-indications and --missing exclude)",
        in_file=True,
    ),
    "strata": Argument(
        "Also combine measures over strata: some of sex, age, period", takes=Names(), in_file=True
    ),
    "age_bands": Argument(
        "Lower ends of the bands of --strata age but the first, such as 18,45,65",
        "the dataset's groups",
        Names(),
        in_file=True,
    ),
    "without_drug": Argument("Leave out the cases that have this dominant drug"),
    "without_reaction": Argument("Leave out the cases that have this dominant reaction"),
    "without_indications": Argument("Leave out reactions that the case has as an indication, too"),
    "released_only": Argument("Read released views only: for analysts", in_file=True),
    "figure": Argument("SVG file of the trend: cases, and PRR with its interval"),
    "with_drug": Argument(
        "Another drug: are both together reported with the reaction more often than each of them "
        "makes it (Omega, Noren 2008)?"
    ),
    "draws": Argument("Tables that --likelihood draws", takes=Whole(99, 1_000_000), in_file=True),
    "likelihood.seed": Argument("Of the tables that are drawn", takes=Whole(0, 2**63 - 1)),
    "form": Argument(
        "Write what is released for pvda, openEBGM (--all) or TreeScan (--drug)", keyword="export"
    ),
    "export.to": Argument("Folder of the exported files; empty or absent"),
    "tree": Argument(
        "Hierarchy of reactions (CSV with node, parent) for TreeScan", "all under one root"
    ),
    "signals.missing": Argument(
        "A case without a value that a condition asks for: counted by its share of the domain, or "
        "left out as the usual tools do",
        in_file=True,
    ),
    "query.quarter": _RELEASED,
    "include_withheld": Argument("Add what was withheld to the upper bound"),
    "level": Argument(
        "Columns that are counted by their names on a level of a dictionary, such as "
        "drugname=ingredient:drugs.csv or pt=HLT:MedAscii",
        "values as they are reported",
        Names(),
    ),
    "drugs.level": Argument(
        "A column and a level of a dictionary, such as drugname=ingredient:drugs.csv", takes=Text()
    ),
    "drugs.quarter": _RELEASED_OR_LOADED,
    "column": Argument("A column with drugs or terms, such as pt", "all of them"),
    "spellings.quarter": _RELEASED_OR_LOADED,
    "unmatched": Argument("Only the values that the dictionary lacks"),
    "allow_unknown": Argument("Count names that no row has as none, instead of refusing them"),
    # compare, advise
    "quarters": Argument("FIRST:LAST, or one", aliases=("--periods",)),
    "out": Argument("Folder for what is measured, its tables and its page"),
    "audience": Argument(_of_release("audience"), "nobody is named", OneOf(get_args(Audience))),
    "max_risk": Argument(
        "Largest chance of picking a patient's record, such as 0.1 or 1/11",
        "0.2, unless --max-loss is given",
        _SHARE,
    ),
    "max_loss": Argument(
        "Largest loss of quasi-identifiers, withheld cases included", takes=_SHARE
    ),
    "max_confidence": Argument(
        "Largest confidence in a sensitive value with a threshold below 1", takes=_SHARE
    ),
}
"""By name of the argument, or ``call.argument`` where a call differs."""


PERIODS = ("quarter", "quarters", "period")
"""Arguments that name a period, or a range of them, whatever the call."""
TAKES_RANGES = ("release_range", "publish", "compare")
"""Calls that take FIRST:LAST."""
MAKES_PERIODS = ("ingest", "import_release")
"""Calls after which there may be a period that there was not."""


def reads(error: type[SrsqlError]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Have a call of the engine read its arguments; what it does not take it refuses, and a period
    is the one that is meant, however it is written."""

    def of(call: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(call)
        named = [name for name in PERIODS if name in signature.parameters]

        @functools.wraps(call)
        def with_periods(*args: P.args, **kwargs: P.kwargs) -> R:
            from srsql.engine.catalog.periods import named_period

            bound = signature.bind(*args, **kwargs)
            for name in named:
                if isinstance(told := bound.arguments.get(name), str):
                    known = bound.arguments["self"]._periods_of(bound.arguments.get("dataset"))
                    fresh = call.__name__ in MAKES_PERIODS
                    found = named_period(told, known, fresh=fresh)
                    if ":" in found and found not in known and call.__name__ not in TAKES_RANGES:
                        optional = signature.parameters[name].default is None
                        raise error(_one_period(call.__name__, found, optional=optional))
                    bound.arguments[name] = found
            return call(*bound.args, **bound.kwargs)

        return strict(error, ARGUMENTS)(with_periods if named else call)

    return of


def _one_period(call: str, told: str, *, optional: bool) -> str:
    """One line on a range where one period is meant."""
    first = told.partition(":")[0]
    every = ", or leave it out for all of them" if optional else ""
    return f"--quarter {told}: {call} takes one period, such as --quarter {first}{every}"


def periods_of(warehouse: Warehouse, name: str | Path | None) -> list[str]:
    """The labels of all periods that are loaded, or are or were out.

    Args:
        warehouse: that has them.
        name: of a dataset, or its file; None: those of all datasets.
    """
    from srsql.engine.store.statements import query

    found = warehouse.rows(query("warehouse/releases", "periods_known"))
    if name is not None and len({dataset for dataset, _ in found}) > 1:
        asked = dataset_named(warehouse, name).name
        found = [(dataset, label) for dataset, label in found if dataset == asked]
    return [label for _, label in found]


def dataset_named(warehouse: Warehouse, name: str | Path | None) -> Dataset:
    """The dataset of that name or file; None: the only one of the warehouse.

    Raises:
        DatasetError: there is no such dataset, or several; or its file is wrong, or reads or
            protects the data of the warehouse otherwise than they were ingested by.
    """
    from srsql.engine.catalog.datasets import dataset_names, registered_dataset
    from srsql.engine.errors import DatasetError

    known = dataset_names(warehouse)
    if name is None:
        if len(known) > 1:
            raise DatasetError(
                f"the warehouse holds {', '.join(known)}: say which one with --dataset"
            )
        name = known[0] if known else FAERS
    plain = str(name).replace("-", "_")  # no name has a hyphen
    if plain in known:
        return registered_dataset(warehouse, plain)
    found = dataset_at(name)
    if found.name in known and not registered_dataset(warehouse, found.name).reads_as(found):
        raise DatasetError(
            f"{name} declares the dataset {found.name!r} otherwise than its data were ingested by: "
            f"give --dataset {found.name}, or ingest under another name what it declares"
        )
    return found


def dataset_at(name: str | Path) -> Dataset:
    """A dataset that ships, or that of a file.

    Raises:
        DatasetError: there is none, or its file is wrong.
    """
    from srsql.engine.errors import DatasetError
    from srsql.schemas import SchemaError, load_dataset

    try:
        return load_dataset(name)
    except SchemaError as error:
        raise DatasetError(str(error)) from None


def dataset_of(warehouse: Warehouse, quarter: str | None, name: str | Path | None) -> Dataset:
    """The dataset asked for, or the only one that has the quarter.

    Raises:
        DatasetError: see ``dataset_named``.
    """
    if name is not None or quarter is None:
        return dataset_named(warehouse, name)
    loaded = (
        "SELECT DISTINCT i.dataset FROM srsql.ingestion AS i WHERE i.quarter = ? AND NOT i.replaced"
    )
    released = "SELECT DISTINCT r.dataset FROM srsql.release AS r WHERE r.quarter = ?"
    holders = warehouse.rows(loaded, [quarter]) or warehouse.rows(released, [quarter])
    return dataset_named(warehouse, holders[0][0] if len(holders) == 1 else None)


def need_regions(
    warehouse: Warehouse, dataset: Dataset, series: str, error: type[SrsqlError]
) -> None:
    """Refuse attacks on a series that has no regions.

    Raises:
        SrsqlError: of the kind ``error``.
    """
    from srsql.engine.shapes import need_cases

    need_cases(warehouse, dataset, series, error)
    if not dataset.rows:
        raise error(TERMS_ALONE.format(series=series))


def consent(
    max_linkable: str | float | Fraction | None,
    allow_linkable: bool,
    *,
    weaker: bool = False,
    change: bool = False,
) -> Consent:
    """What is said yes to when a release is exposed."""
    from srsql.engine.release.exposure import Consent

    limit = MAX_LINKABLE if max_linkable is None else Fraction(max_linkable)
    return Consent(limit, allow_linkable, weaker, change)


def audit_options(
    quarter: str | None,
    attacks: Sequence[str] | None,
    scopes: Sequence[str],
    k: int | None,
    theta: str | float | Fraction | None,
    alpha: str | float | Fraction | None,
    evidence: int | None,
) -> AuditOptions:
    """What is asked of an audit, as ``srsql audit`` takes it."""
    from srsql.engine.audit.plan import AuditOptions
    from srsql.engine.grouping.thresholds import parse_theta

    return AuditOptions(
        quarter,
        None if attacks is None else tuple(name.lower() for name in attacks),
        tuple(scopes),
        k,
        None if theta is None else parse_theta(str(theta)),
        None if alpha is None else Fraction(alpha),
        evidence=evidence,
    )


def audited(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    asked: AuditOptions,
    *,
    all_series: bool,
    kept: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Audit | SeriesAudit:
    """The audit of a series, or of all series together, or as the releases of a series kept it.

    Raises:
        AuditError: the series has no regions, or something is asked that does not apply.
    """
    from srsql.engine.audit.audit import audit
    from srsql.engine.audit.plan import AuditOptions
    from srsql.engine.audit.verdicts import kept_audit
    from srsql.engine.catalog.series import MAIN, awaited_cases
    from srsql.engine.checks.folded_terms import folded_terms
    from srsql.engine.errors import AuditError
    from srsql.engine.risk.joined_series import audit_all_series
    from srsql.engine.shapes import series_dataset

    if all_series:
        usual = AuditOptions(asked.quarter, k=asked.k, evidence=asked.evidence)
        if asked != usual or series != MAIN or kept:
            raise AuditError(
                "--all-series takes --quarter, --k and --dataset: leave the other options out"
            )
        return audit_all_series(warehouse, dataset, asked.quarter, asked.k)
    visible = series_dataset(warehouse, dataset, series)
    need_regions(warehouse, visible, series, AuditError)
    if kept:
        if asked != AuditOptions(asked.quarter, evidence=asked.evidence):
            raise AuditError(
                "--kept takes --quarter, --series and --dataset, since releases keep what they "
                "found by their own bounds: leave the other options out"
            )
        return kept_audit(warehouse, visible, series, asked.quarter)
    coming = awaited_cases(warehouse, visible, series)
    asked = replace(asked, union=True, leaving=True, next_cases=coming)
    found = audit(warehouse, visible, series, asked, progress)
    return replace(found, folded=folded_terms(warehouse, visible, series, asked.quarter))


def all_measures(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    quarter: str,
    release_id: int,
    medical: str | Path | None,
) -> list[MeasureRow]:
    """Risk and loss of a release, by every measure that applies to it.

    Args:
        warehouse: may be read-only.
        dataset: whose release.
        series: of the release.
        quarter: of the release.
        release_id: its number in the catalog.
        medical: what diseases say of a patient; None: the table that ships.
    """
    from srsql.engine.checks import catalog_facts
    from srsql.engine.checks.registry import judged
    from srsql.engine.checks.series import measure_series
    from srsql.engine.risk.group_questions import answer_errors, group_answers
    from srsql.engine.risk.linkability import measure_linkability
    from srsql.engine.risk.linkage import measure_linkage, read_medical, shipped_medical
    from srsql.engine.risk.metrics import measure, measure_terms
    from srsql.engine.risk.singling_out import measure_singling_out
    from srsql.engine.shapes import series_dataset

    known = read_medical(dataset, Path(medical)) if medical else shipped_medical(dataset)
    facts = catalog_facts(warehouse, release_id)
    metrics = judged(facts, measure(warehouse, release_id))
    if facts.synthetic_rows:  # no row that could be linked
        answers = group_answers(warehouse, dataset, release_id)
        return [*metrics, *answer_errors(release_id, answers)]
    return [
        *metrics,
        *measure_singling_out(warehouse, series_dataset(warehouse, dataset, series), release_id),
        *measure_linkage(warehouse, dataset, release_id, known),
        *measure_series(warehouse, dataset, series, release_id, quarter),
        *measure_linkability(warehouse, dataset, release_id),
        *measure_terms(warehouse, dataset, release_id),
    ]


def measured_publicly(
    warehouse: Warehouse, visible_dataset: Dataset, release_id: int
) -> list[MeasureRow]:
    """What anybody can measure of a release, from its views alone.

    Raises:
        QueryError: it is somebody else's, which has no views.
    """
    from srsql.engine.errors import QueryError
    from srsql.engine.report.shapes import public_measures  # brings matplotlib with its package
    from srsql.engine.store.statements import query

    schema, status = warehouse.rows(query("risk/metrics", "views"), {"release_id": release_id})[0]
    if status == "superseded" or not schema:
        raise QueryError("the release has no views to measure: leave --public out")
    return public_measures(warehouse, visible_dataset, schema, release_id)


def signal_pairs(
    dataset: Dataset,
    drug: str | None,
    reaction: str | None,
    rules: str | Path | None,
    condition: tuple[str | float | Fraction | None, str | float | Fraction | None, str | None],
    *,
    every: bool,
) -> list[Rule] | Condition:
    """The pairs whose signals are asked for: one, those of a file, or under a condition all.

    Args:
        dataset: whose drugs and reactions.
        drug: of one pair.
        reaction: of one pair.
        rules: a file of pairs.
        condition: least age, greatest age, sex.
        every: all pairs.

    Raises:
        SignalError: none of the three is asked for, or several.
    """
    from srsql.engine.errors import SignalError
    from srsql.engine.signals.rules import read_rules

    if sum((drug is not None and reaction is not None, rules is not None, every)) != 1 or (
        drug is None
    ) != (reaction is None):
        raise SignalError("give --drug and --reaction, or --rules, or --all")
    if rules is not None:
        if any(text is not None for text in condition):
            raise SignalError(
                "--rules brings its own conditions: leave --min-age, --max-age, --sex out"
            )
        return read_rules(dataset, Path(rules))
    pair = one_pair(dataset, drug, reaction, condition)
    return pair.condition if every else [pair]


def named(what: str, name: str | None) -> str:
    """The name of a drug or a reaction as rules have it, where None, any of them, is empty.

    Raises:
        SignalError: it is empty itself.
    """
    from srsql.engine.errors import SignalError

    if name == "":
        raise SignalError(f"'' is no name of a {what}: give one")
    return name or ""


def one_pair(
    dataset: Dataset,
    drug: str | None,
    reaction: str | None,
    condition: tuple[str | float | Fraction | None, str | float | Fraction | None, str | None],
) -> Rule:
    """A pair under a condition: least age, greatest age, sex; None: any drug, any reaction.

    Raises:
        SignalError: the condition makes no sense, or a name is empty.
    """
    from srsql.engine.signals.rules import Rule, make_condition

    low, high, sex = (None if each is None else str(each) for each in condition)
    who = make_condition(dataset, low, high, sex)
    return Rule(named("drug", drug), named("reaction", reaction), who)


def signal_counting(
    dataset: Dataset,
    preset: str | None,
    roles: Sequence[str] | None,
    parted: tuple[Sequence[str] | None, Sequence[str] | None] = (None, None),
    **given: Any,
) -> Counting:
    """How cases are counted for signals.

    Args:
        dataset: whose suspect roles.
        preset: one of those of the field; None: as ``given``.
        roles: of the drug; None: the suspects.
        parted: strata, and bands of age; by default all cases are one.
        given: other fields of ``Counting``.

    Raises:
        SignalError: a preset beside roles, or of roles that there are none of; no such strata.
    """
    from srsql.engine.errors import SignalError
    from srsql.engine.signals.rules import Counting
    from srsql.engine.signals.strata import read_strata

    declared = dataset.signals
    if preset is not None and roles is not None:
        raise SignalError("--preset says which roles count: leave --roles out")
    if preset == "primary":
        if declared is None or declared.role is None:
            raise SignalError(f"dataset {dataset.name} has no roles of drugs: leave --preset out")
        roles = declared.suspect[:1]
    if preset == "usual":
        given |= {"missing": "exclude", "without_indications": True}
    strata, bands = read_strata(*parted)
    return Counting(drug_roles(roles), strata=strata, bands=bands, **given)


def drug_roles(roles: Sequence[str] | None) -> Sequence[str] | None:
    """The roles of the drug; none: every role, which a caller may write as ``all``."""
    return () if roles is not None and [role.lower() for role in roles] == ["all"] else roles
