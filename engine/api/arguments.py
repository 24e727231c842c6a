"""What goes into a call of the engine, said once for Python and the command line.

The options of a release are declared with models, terms and requests (see
:mod:`srsql.engine.release.request`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
    option_objects,
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

if TYPE_CHECKING:
    from srsql.engine.errors import SrsqlError


P = ParamSpec("P")
R = TypeVar("R")
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


def _carriers() -> tuple[type, ...]:
    from srsql.engine.workers.carriers import Carrier

    return (Carrier,)


ARGUMENTS: Mapping[str, Argument] = {
    "target": Argument(takes=Instance((str, Path, duckdb.DuckDBPyConnection), _TARGET)),
    "dataset": Argument(
        "Dataset: faers, vaers, omop, or your own TOML file", takes=Instance((str, Path), _DATASET)
    ),
    "name": Argument(takes=Instance((str, Path), _DATASET)),
    "series": Argument(_of_release("series")),
    "quarter": Argument("Period label, such as 2011Q4", aliases=_PERIOD),
    "wait": Argument(takes=Real(0, 10**8)),
    "runs": Argument("Show every command that wrote to the warehouse, and its result"),
    "command": Argument(takes=Text()),
    "recorded.parameters": Argument(takes=Instance((Mapping,), "values by their names")),
    "if_needed": Argument(_of_release("if_needed"), in_file=True),
    "jobs": Argument("Workers", "as cores and memory allow", Whole(1), in_file=True),
    "parameters": Argument(takes=Instance((Sequence, Mapping), "a list of values")),
    # ingest
    "sources": Argument(takes=Files()),
    "period": Argument(
        "Period label, if file names have none; for tables, the period to load",
        "all",
        aliases=("--quarter",),
    ),
    "replace": Argument("Replace a quarter that is loaded already"),
    "cumulative": Argument(
        "The source publishes all reports every time: load new ones, keep late and "
        "changed ones, withdraw those that are gone"
    ),
    "max_vanished": Argument(
        "Cumulative source: stop if a larger share of the known reports is missing",
        takes=Real(0, 1),
    ),
    "max_reject_rate": Argument(
        "Stop if a larger share of the records is malformed", takes=Real(0, 1)
    ),
    "max_unread": Argument(
        "Stop if a larger share of the values of a quasi-identifier or sensitive "
        "attribute is not understood",
        takes=Real(0, 1),
    ),
    "allow_incomplete": Argument(
        "Load a period although reports lack rows in required tables, such as a sample; "
        "status, manifests and reports say so"
    ),
    "ingest.if_needed": Argument(
        "Do nothing if the same files are loaded already, under the same schema (exit "
        "0); refuse any difference without --replace",
        in_file=True,
    ),
    "max_unpacked": Argument(
        "Most that the files of a zip may take unpacked, or the texts of a Parquet file, such as "
        "20GB",
        "100 times the zip, and 64MB to 8GB",
    ),
    "lake": Argument(
        "Folder for the raw rows as Parquet files, made if absent; set when the dataset "
        "is first ingested",
        "the file, or where they lie",
        Instance((str, Path), "the path of a folder"),
    ),
    # release, confirm, correct, publish, export
    "max_linkable": Argument(_of_release("max_linkable"), f"{MAX_LINKABLE}", _SHARE),
    "allow_linkable": Argument(_of_release("allow_linkable")),
    "not_ids": Argument(_of_release("not_ids"), "none", Names()),
    "date": Argument(_of_release("date"), "today", Day()),
    "carrier": Argument(takes=Instance(_carriers, "a carrier, such as SparkCarrier(session)")),
    # correct
    "keep_remainder": Argument(
        "Keep the rest of a group within k, theta and alpha; comparing versions then shows who left"
    ),
    "correct.dry_run": Argument("Show the cases that would leave; change nothing"),
    "correct.if_needed": Argument(
        "Do nothing if no case has left, for every model (exit 0)",
        in_file=True,
    ),
    "change": Argument(_of_release("change")),
    "weaker": Argument(_of_release("weaker")),
    # series
    "series.name": _SERIES,
    "create_series.name": _SERIES,
    "set_series.name": _SERIES,
    "create_series.if_needed": Argument(
        "Do nothing if the series exists already, with the same parameters and ids "
        "(exit 0); refuse any difference",
        in_file=True,
    ),
    "unset": Argument("Parameters to reset to their defaults, such as knowledge", takes=Names()),
    # duplicates
    "event_date": Argument("Column of the report table with the day of the event"),
    "country": Argument("Column of the report table with the country of the event"),
    "duplicates.seed": Argument("Seed of the sample of pairs", takes=Whole()),
    # lookup
    "ids": Argument(takes=Several(Text(), as_read=True)),
    "case": Argument("IDS are case ids of the source; show their pseudonyms"),
    "lookup.quarter": Argument("Only releases of this period", aliases=_PERIOD),
    # explain
    "explain.case": Argument("Case id of the source, or a pseudonym of it in the series"),
    # forget, backup
    "cases": Argument(takes=Several(Text(), as_read=True)),
    "reason": Argument("Reason in a few words, without names of people; it is stored"),
    "forget.dry_run": Argument("Show the rows that would be erased; change nothing"),
    "backup.to": Argument("File to make, readable by its owner alone"),
    "backup.if_needed": Argument(
        "Do nothing if the file is a copy of the warehouse as it is now (exit 0); "
        "refuse any difference",
        in_file=True,
    ),
    # split
    "split.to": Argument("File to keep what is out of the series in, from now on"),
    "split.stop": Argument("Keep no public file of the series any more; the file stays as it is"),
    # report, publish
    "stale": Argument("Publish the release although cases have left it since"),
    "report.quarter": Argument("This period", "the whole series", aliases=_PERIOD),
    "public": Argument("From released data only, for publication"),
    "report.form": Argument(
        "Fill the form that a reviewer signs (EMA, Health Canada, NIST), as HTML or Markdown"
    ),
    "report.k": Argument("Candidates that must remain, for an imported series", takes=Whole(1)),
    "report.theta": Argument("Thresholds for an imported series, as for release", takes=_NUMBER),
    "figures": Argument("Folder for every figure of the page, as SVG and PNG"),
    "publish.if_needed": Argument(
        "Do nothing if --to holds exactly this artifact already (exit 0); refuse any difference",
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
    "publisher": Argument("Publisher named in the catalogue documents", in_file=True),
    "contact": Argument("E-mail address or page for questions", in_file=True),
    "license": Argument(
        "Licence: an identifier of SPDX such as CC-BY-4.0, or a page", in_file=True
    ),
    "cite_as": Argument("Citation of the artifact for papers", in_file=True),
    "landing_page": Argument("Page that describes the artifact", in_file=True),
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
    "originals": Argument("File of the original records: case id and quasi-identifiers"),
    "group_column": Argument("Column with the group of each row", "group_id, if there"),
    "columns": Argument(takes=Instance((Mapping,), "names with columns, such as {'age': 'Alter'}")),
    "separator": Argument("Separator between the values of a field"),
    "suppressed": Argument("Mark of a suppressed row, such as *, in all its quasi-identifiers"),
    "supersede": Argument("Import the quarter again; attackers keep the earlier import"),
    "counts": Argument(
        "The file is a table of counts (see verify --counts): its columns of items, such as "
        "drug,reaction",
        takes=Names(),
    ),
    "sensitive": Argument(
        "--counts: columns of items that audit --theta is a threshold of, such as reaction",
        takes=Names(),
    ),
    "import_release.if_needed": Argument(
        "Do nothing if the same files are imported already, read in the same way (exit "
        "0); refuse any difference",
        in_file=True,
    ),
    # metrics
    "bound": Argument("Also tell what NIL no grouping could go below"),
    "coalition": Argument(
        "Also tell what so many cases of a group or cluster, who pool what they know of "
        "themselves, conclude of the others",
        takes=Whole(1, 50),
    ),
    "metrics.public": Argument("Measure from released data only"),
    "medical": Argument(
        "CSV with the age and sex that a disease implies (disease, sex, age_low, "
        "age_high ...), for rr_medical and ar_medical",
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
    "new": Argument("The attacker knows that the target is in no earlier release"),
    "stopped": Argument("The attacker knows that the target is not in the next quarter"),
    "stayed": Argument(
        "The attacker knows that the target is in the next quarter, too (persistence)"
    ),
    "left": Argument(
        "The attacker knows that the target was in the version before, and has left since"
    ),
    "gone": Argument(
        "The attacker knows that the target has left for good: no later release has it"
    ),
    "audit.quarter": Argument("Report this period only", aliases=_PERIOD),
    "all_series": Argument("Join all series of each quarter, as an attacker with all of them does"),
    "kept": Argument("Show the stored verdicts of the releases, without U; audit nothing"),
    "attacks": Argument(f"Some of {','.join(ATTACKS)}", "what each release defends", takes=Names()),
    "scopes": Argument("Candidates that count: group, match", keyword="scope", takes=Names()),
    "k": Argument("Cases that must remain", "the release's", Whole(1)),
    "theta": Argument("As for release", "the release's", _NUMBER),
    "alpha": Argument(
        "A share such as 0.5 or 1/3", "the release's", Amount(limited=False, noun="share")
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
        "Counting rules: suspects (every suspect drug), primary (only the first suspect "
        "role), usual (suspects, --without-indications and --missing exclude)",
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
    "without_indications": Argument("Leave out reactions that are also an indication of the case"),
    "released_only": Argument("Read released views only: for analysts", in_file=True),
    "figure": Argument("SVG file of the trend: cases, and PRR with its interval"),
    "with_drug": Argument(
        "Second drug: measure whether both together are reported with the reaction more "
        "often than each explains (Omega, Noren 2008)"
    ),
    "draws": Argument("Tables that --likelihood draws", takes=Whole(99, 1_000_000), in_file=True),
    "likelihood.seed": Argument(
        "Seed of the tables that --likelihood draws", takes=Whole(0, 2**63 - 1)
    ),
    "form": Argument(
        "Write released data for pvda, openEBGM (--all) or TreeScan (--drug)", keyword="export"
    ),
    "export.to": Argument("Folder of the exported files; empty or absent"),
    "tree": Argument(
        "Hierarchy of reactions (CSV with node, parent) for TreeScan", "all under one root"
    ),
    "signals.missing": Argument(
        "A case without the value that a condition needs: counted by its share of the "
        "domain, or left out as other tools do",
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
    "unmatched": Argument("Only values that are missing from the dictionary"),
    "allow_unknown": Argument("Count unknown names as 0 instead of refusing them"),
    # compare, advise
    "quarters": Argument("FIRST:LAST, or one", aliases=("--periods",)),
    "out": Argument("Folder for measurements, tables and page"),
    "audience": Argument(_of_release("audience"), "none", OneOf(get_args(Audience))),
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


def reads(
    error: type[SrsqlError], called: str = "", without: Sequence[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Have a call of the engine read its arguments; what it does not take it refuses, and a period
    is the one that is meant, however it is written.

    Args:
        error: the kind of error that is raised.
        called: the name of the command, where it is not that of the call.
        without: fields of its options that the call does not have.
    """

    def of(call: Callable[P, R]) -> Callable[P, R]:
        signature, command = inspect.signature(call), called or call.__name__
        named = [name for name in PERIODS if name in signature.parameters]
        inner = [
            (each, name)
            for each, default in option_objects(call).items()
            for name in PERIODS
            if hasattr(default, name)
        ]

        def meant(self: Any, dataset: Any, name: str, given: Any) -> Any:
            from srsql.engine.catalog.periods import named_period

            if not isinstance(given, str):
                return given
            known = self._periods_of(dataset)
            found = named_period(given, known, fresh=command in MAKES_PERIODS)
            if ":" in found and found not in known and command not in TAKES_RANGES:
                told = signature.parameters.get(name)
                optional = told is None or told.default is None
                raise error(_one_period(command, found, optional=optional))
            return found

        @functools.wraps(call)
        def with_periods(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature.bind(*args, **kwargs)
            owner, dataset = bound.arguments["self"], bound.arguments.get("dataset")
            for name in named:
                if name in bound.arguments:
                    bound.arguments[name] = meant(owner, dataset, name, bound.arguments[name])
            for each, name in inner:
                options = bound.arguments[each]
                period = meant(owner, dataset, name, getattr(options, name))
                bound.arguments[each] = replace(options, **{name: period})
            return call(*bound.args, **bound.kwargs)

        periods = with_periods if named or inner else call
        return strict(error, ARGUMENTS, called=called, without=without)(periods)

    return of


def _one_period(call: str, told: str, *, optional: bool) -> str:
    """One line on a range where one period is meant."""
    first = told.partition(":")[0]
    every = ", or leave it out for all of them" if optional else ""
    return f"--quarter {told}: {call} takes one period, such as --quarter {first}{every}"
