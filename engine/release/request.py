"""What is asked of a release, in which options, what became of it, and how long each stage took."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args

from srsql.engine.catalog.series import USUAL_IDS, Ids, Remembered
from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.cases import Knowledge, Unit, load_knowledge
from srsql.engine.grouping.feasibility import OnInfeasible, Suppression
from srsql.engine.grouping.persons import Persons
from srsql.engine.grouping.symptoms import USUAL_RULE, SymptomsRule, parse_symptoms_rule
from srsql.engine.grouping.thresholds import ThetaPolicy, may_exceed, parse_theta
from srsql.engine.ingest.account import IngestedPeriod
from srsql.engine.measures import MeasureRow
from srsql.engine.models import DEFAULT_MODEL, MODELS, make_model
from srsql.engine.models.base import SUPPRESS, GroupingModel
from srsql.engine.parameters import (
    MAIN,
    MAX_LINKABLE,
    Audience,
    Parameter,
    declared,
    parameter,
    read_fields,
    unknown_option,
)
from srsql.engine.parameters.takes import (
    Amount,
    Day,
    Flag,
    Names,
    OneOf,
    Parsed,
    RefusedError,
    Takes,
    Text,
    Whole,
)
from srsql.engine.release.features.as_printed import PAPERS
from srsql.engine.release.features.feature import Asked
from srsql.engine.release.features.table import refuse
from srsql.engine.shapes import asked_shape
from srsql.engine.shapes.regions import Shape
from srsql.engine.terms.count_tables import TABLES, TableParameters, make_tables
from srsql.engine.terms.noisy_tables import NOISY_TABLES, NoisyParameters, make_noisy
from srsql.engine.terms.parameters import DISASSOCIATE, DisassociationParameters, make_terms
from srsql.engine.workers.carriers import ADDRESSES, Carrier
from srsql.schemas.dataset import TERM_KEY

Progress = Callable[[str], None]
MOST_WORKERS = 64
MOST_DELAY = 3660
"""Ten years of days."""
FREQUENCY = "frequency"
_THETA = "a number or fraction, frequency, or levels:FILE"
_SS_RULE = "mean+sd, mean+2sd, or counts such as pt>=10,indi_pt>=5"
MODEL = Parameter(
    keyword="model", takes=OneOf(tuple(MODELS)), default=DEFAULT_MODEL, help="Privacy model"
)
TERMS = Parameter(
    keyword="terms",
    takes=OneOf((DISASSOCIATE, TABLES, NOISY_TABLES)),
    help="Publish terms apart from ids: in clusters, or as tables of counts, exact or with noise",
    weaker="different",
)
ORDER = (
    "k", "l", "alpha", "assume_md", "epsilon", "calibration", "noise", "epsilon_limit",
    "epsilon_scope", "m", "policy", "term_attributes", "sensitive_terms", "repeated_terms",
    "suppress_below", "informative", "dimensions",
)  # fmt: skip
"""The order in which help, grids and tables have parameters; those of further models follow."""


@dataclass(frozen=True)
class Request:
    """What is asked of one release."""

    quarter: str
    model: GroupingModel
    theta: ThetaPolicy = parameter(
        parse_theta(FREQUENCY),
        takes=Parsed(
            ThetaPolicy,
            parse_theta,
            _THETA,
            numbers=True,
            content=lambda policy: policy.listed,
        ),
        help=f"Threshold of each sensitive value: {_THETA}",
        weaker="higher",
        weaker_than=may_exceed,
        compared=(FREQUENCY,),
        advised=(FREQUENCY, "0.4", "0.2"),
    )
    own_theta: str | None = parameter(
        None,
        takes=Text(),
        help=(
            "Column of the reports with a threshold of a patient's own, such as 0.2, for every "
            "value of theirs, in this and later periods; empty: none"
        ),
        weaker="different",
        usual="none",
    )
    missing: Literal["keep", "drop"] = parameter(
        "keep",
        takes=OneOf(("keep", "drop")),
        help="Group cases with missing quasi-identifiers by pattern, or leave them out",
    )
    on_infeasible: OnInfeasible = parameter(
        "error",
        takes=OneOf(("error", "withhold", "suppress")),
        help=(
            "Values more frequent than their threshold: refuse the quarter, withhold cases, "
            "or suppress the values of some cases"
        ),
        weaker=SUPPRESS,
    )
    count: Literal["cases", "persons"] = parameter(
        "cases",
        takes=OneOf(("cases", "persons")),
        help=(
            "Unit of k and the thresholds: cases, or persons, after a search for suspected "
            "duplicates (srsql duplicates); for ms, ppms, ppms-ear and ppms++"
        ),
        weaker="cases",
    )
    match: Fraction = parameter(
        Fraction(9, 10),
        takes=Amount(1, noun="probability"),
        help="Match probability at which two cases count as one person",
        weaker="higher",
        only_with=("count", "persons"),
    )
    knowledge: Knowledge | None = parameter(
        None,
        takes=Parsed(
            Knowledge,
            lambda path: load_knowledge(Path(path)),
            "the path of a CSV file",
            show_with=lambda known: known.source,
            content=lambda known: sorted(known.pairs),
        ),
        help="External knowledge: CSV with the columns drug, disease",
        weaker="different",
    )
    symptoms: SymptomsRule = parameter(
        USUAL_RULE,
        takes=Parsed(
            SymptomsRule,
            parse_symptoms_rule,
            _SS_RULE,
            listed=True,
            show_with=lambda rule: rule.text,
        ),
        keyword="ss_rule",
        help=f"Substantially many symptoms: {_SS_RULE}",
        weaker="different",
    )
    columns: tuple[str, ...] | None = parameter(
        None,
        takes=Names(),
        help=(
            "Optional columns to publish as reported, such as drug.route: no bound of a "
            "model covers them; 'srsql metrics' measures how many cases they single out"
        ),
        weaker="higher",
        weaker_than=lambda now, was: not set(now or ()) <= set(was or ()),
        usual="none",
    )
    term_key: int = parameter(
        TERM_KEY,
        takes=Whole(0, TERM_KEY),
        help=(
            "Version of the key that joins the spellings of a term: 1, or 0 as in earlier "
            "releases of srsql (visible text in upper case)"
        ),
        weaker="lower",
    )
    max_delay: int | None = parameter(
        None,
        takes=Whole(1, MOST_DELAY),
        help=(
            "Periods that a case without a group may wait for the next release; then it is withheld"
        ),
        usual="no case waits",
    )
    terms: DisassociationParameters | None = None
    """Which terms are told apart from records, and how."""
    tables: TableParameters | None = None
    """How counts tell the items of cases in the place of rows; None: they do not."""
    noisy: NoisyParameters | None = None
    """How counts with noise tell them; None: they do not."""
    seed: int = parameter(
        factory=lambda: secrets.randbits(63),
        takes=Whole(),
        help="Seed of the grouping, and of seeded noise",
        of_run=True,
        usual="drawn at random",
    )
    series: str = parameter(MAIN, takes=Text(), help="Series of releases", of_run=True)
    ids: Ids | None = parameter(
        None,
        takes=OneOf(get_args(Ids)),
        help="Case and report ids of a new series, fixed for ever",
        of_run=True,
        usual=f"{USUAL_IDS}, or those that the series has",
    )
    audience: Audience | None = parameter(
        None,
        takes=OneOf(get_args(Audience)),
        help=(
            "Readers of the release: chooses k, the protection of rows and the attackers, "
            "where these options are omitted"
        ),
        of_run=True,
        usual="none",
    )
    as_printed: str | None = parameter(
        None,
        takes=OneOf(tuple(PAPERS)),
        help=(
            "Paper whose algorithm is run as it is printed: chooses every option that the paper "
            "does; where that protects less than is promised here, it is an experiment, and not "
            "for publication"
        ),
        of_run=True,
        usual="none",
    )
    date: str = parameter(
        factory=lambda: today(),  # it stands below
        takes=Day(),
        help="Day of the release in its manifests, as YYYY-MM-DD",
        of_run=True,
        usual="today",
    )
    draft: bool = parameter(
        False, takes=Flag(), help="Make the release without exposing it", of_run=True
    )
    supersede: bool = parameter(
        False,
        takes=Flag(),
        help=(
            "Replace a released quarter, or release an earlier one; the replaced one stays "
            "on record. Only for ms and similar models: an attacker intersects new groups "
            "with old ones"
        ),
        of_run=True,
    )
    change: bool = parameter(
        False,
        takes=Flag(),
        help="Change the parameters of the series from this release on",
        of_run=True,
    )
    weaker: bool = parameter(
        False,
        takes=Flag(),
        help="Allow less protection than the series has, or the replaced version",
        of_run=True,
    )
    max_linkable: Fraction = parameter(
        MAX_LINKABLE,
        takes=Amount(1, noun="share"),
        help="Largest share of rows that may link to another series or version of the quarter",
        of_run=True,
    )
    allow_linkable: bool = parameter(
        False, takes=Flag(), help="Expose the release although more rows link", of_run=True
    )
    not_ids: tuple[str, ...] | None = parameter(
        None,
        takes=Names(),
        help=(
            "Numbers in published texts that only look like ids, such as 4938201,5012345; "
            "any other number that is an id refuses the release"
        ),
        of_run=True,
        usual="none",
    )
    if_needed: bool = parameter(
        False,
        takes=Flag(),
        help=(
            "Do nothing if exactly this release exists already, with the same parameters "
            "and data (exit 0); refuse any difference"
        ),
        of_run=True,
        in_file=True,
    )
    workers: int = parameter(
        1,
        takes=Whole(1, MOST_WORKERS),
        help=(
            "Worker processes for parts (--parts), clusters of terms, and buckets of a "
            "lake; the release is the same"
        ),
        of_run=True,
        in_file=True,
    )
    spark: str | None = parameter(
        None,
        takes=Text(),
        help=f"Spark instead of --workers; the release is the same: {ADDRESSES}",
        of_run=True,
    )
    carrier: Carrier | None = None
    """Who carries the parts instead; None: this process or its workers."""
    may_be_empty: bool = False
    """A quarter of which nothing can be released becomes an empty release."""
    given: frozenset[str] = frozenset()
    """Keywords that somebody gave; the others are as the series has them."""
    remembered: Remembered | None = None
    """What the series remembers of it, and how that differs; None: it is asked of no series."""

    def __post_init__(self) -> None:
        """Read what was given as text, and refuse what does not go together."""
        read_fields(self, ReleaseError)
        refuse(Asked(self))

    @property
    def makes_clusters(self) -> bool:
        """Whether terms are told in clusters, which may be carried whatever the parts."""
        return self.terms is not None and self.model.term_format == "chunks"

    @property
    def shape(self) -> Shape:
        """How the rows of the release tell the truth."""
        return asked_shape(
            self.model.shape,
            taken_apart=self.takes_rows_apart,
            counted=self.tables is not None,
            noisy=self.noisy is not None,
        )

    @property
    def one_row(self) -> bool:
        """Whether a case has one row, whatever its reports are."""
        return self.takes_rows_apart or self.counts_items

    @property
    def counts_items(self) -> bool:
        """Whether counts tell the items of cases, and no row does."""
        return self.tables is not None or self.noisy is not None

    @property
    def takes_rows_apart(self) -> bool:
        """Whether rows of cases show their region and cluster alone."""
        return self.terms is not None and self.terms.whole_rows

    @property
    def carries_buckets(self) -> bool:
        """Whether buckets of a lake may be carried: a case lies in one, while two reports and two
        cases of whoever else is counted may not."""
        return self.unit.name == "case"

    @property
    def unit(self) -> Unit:
        """Of whom k, theta and new or old are."""
        if self.count == "persons":
            return Persons(match=self.match)
        return Unit(self.model.claimed_bounds.unit)

    @property
    def choices(self) -> dict[str, str]:
        """What becomes of values and cases that break their bounds, by option."""
        return {"--on-infeasible": self.on_infeasible, "--leftovers": self.model.leftovers}

    @property
    def suppresses(self) -> bool:
        """Whether values are to be suppressed."""
        return SUPPRESS in self.choices.values()

    def suppression(self, draw: str, weight_scale: int) -> Suppression | None:
        """Which values are suppressed; None: none.

        Args:
            draw: text from which every random choice is derived.
            weight_scale: what a certain value weighs.
        """
        asked = [choice == SUPPRESS for choice in self.choices.values()]
        return Suppression(draw, weight_scale, *asked) if any(asked) else None


@dataclass(frozen=True)
class Released:
    """What became of it."""

    release_id: int
    quarter: str
    series: str
    schema: str
    status: str
    manifest: dict[str, Any]
    """The private manifest."""
    rows: dict[str, int]
    """Rows of each released table."""
    seconds: dict[str, float] = field(default_factory=dict)
    links: list[MeasureRow] = field(default_factory=list)
    """How many rows link to each other release of the quarter, superseded ones included."""
    weaker: list[str] = field(default_factory=list)
    """What it promises less than the version that it replaces."""
    changes: list[str] = field(default_factory=list)
    """What it is made with otherwise than the series was."""


@dataclass(frozen=True)
class RangeAudit:
    """The full audit of a series after a range of quarters; each was audited by what it changes."""

    releases: int
    """All that are or were out in the series."""
    in_danger: int
    """Groups in danger, over releases and scopes."""
    safe: bool
    seconds: float


@dataclass(frozen=True)
class Range:
    """What became of a range of quarters."""

    first: str
    last: str
    released: list[Released]
    """In order; each is committed on its own."""
    already: list[str]
    """Quarters that were out before, left as they are."""
    missing: list[str] = field(default_factory=list)
    """Where quarters of the range are not in the warehouse, in words."""
    audit: RangeAudit | None = None
    """None: nothing was released, or the model withstands no attack."""
    ingested: list[IngestedPeriod] = field(default_factory=list)
    """What became of the sources that were given along."""


def today() -> str:
    """Today in UTC, or the day of ``SOURCE_DATE_EPOCH``, by which builds are made reproducible.

    Raises:
        ReleaseError: that is no number of seconds.
    """
    told = os.environ.get("SOURCE_DATE_EPOCH", "").strip()
    try:
        moment = float(int(told)) if told else time.time()
        return datetime.fromtimestamp(moment, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        raise ReleaseError(
            f"SOURCE_DATE_EPOCH={told!r}: give whole seconds since 1970, or unset it"
        ) from None


def is_range(quarter: str) -> bool:
    """Whether ``quarter`` is written ``A:B``."""
    return ":" in quarter


def range_ends(text: str) -> tuple[str, str]:
    """The first and last quarter of ``A:B``.

    Raises:
        ReleaseError: it is not one range, or runs backwards.
    """
    first, _, last = (part.strip() for part in text.partition(":"))
    if not first or not last or ":" in last:
        raise ReleaseError(f"--quarter {text!r}: give a range as FIRST:LAST, such as 2011Q1:2011Q4")
    if first > last:
        raise ReleaseError(f"--quarter {text!r}: {first} comes after {last}")
    return first, last


class Clock:
    """Names the stage a release is in, and how long each took."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time one stage."""
        if self._progress:
            self._progress(name)
        start = time.perf_counter()
        yield
        self.seconds[name.partition(" (")[0]] = round(time.perf_counter() - start, 3)


@dataclass(frozen=True)
class Applied:
    """A declaration, and the models that it is one of; none: it is of every request."""

    parameter: Parameter
    models: tuple[str, ...] = ()

    @property
    def common(self) -> bool:
        """Whether it applies whatever the model."""
        return not self.parameter.of and len(self.models) in (0, len(MODELS))

    @property
    def scope(self) -> str:
        """What it applies to, in words."""
        return "" if self.common else self.parameter.of or ", ".join(self.models)


@dataclass(frozen=True)
class Option:
    """A keyword of a release, with every declaration of it."""

    keyword: str
    declarations: tuple[Applied, ...]

    @property
    def first(self) -> Parameter:
        """The declaration that comes first; all of one keyword are read alike."""
        return self.declarations[0].parameter

    @property
    def takes(self) -> Takes:
        """What is taken; bounds and defaults may differ between models."""
        return self.first.takes

    @property
    def common(self) -> bool:
        """Whether it has one meaning and one default, whatever the model."""
        return len(self.declarations) == 1 and self.declarations[0].common

    @property
    def parameter(self) -> Parameter:
        """One declaration for the command line; where models differ, they have the defaults."""
        if self.common:
            return self.first
        return replace(self.first, default=None, usual="", help=self.help)

    @property
    def compared(self) -> tuple[Any, ...] | None:
        """What a comparison tries where nothing is asked; None: it does not vary the option."""
        tried = (each.parameter.compared for each in self.declarations)
        return next((values for values in tried if values is not None), None)

    @property
    def help(self) -> str:
        """What it is; where models differ, of each, with its default."""
        if self.common:
            return self.meaning
        return "; ".join(
            text + (f"  [default: {shown}]" if (shown := each.parameter.shown_default) else "")
            for text, each in zip(self._meanings, self.declarations, strict=True)
        )

    @property
    def meaning(self) -> str:
        """What it is, without its defaults."""
        return f"{'; '.join(self._meanings)}."

    @property
    def _meanings(self) -> list[str]:
        texts = [
            f"{each.scope}: {each.parameter.help}" if each.scope else each.parameter.help
            for each in self.declarations
        ]
        if self.first.of:  # words, and not the name of a model
            texts[0] = texts[0][0].upper() + texts[0][1:]
        return texts


def release_options() -> dict[str, Option]:
    """Every option of a release by keyword: those of every model first, then by ``ORDER``."""
    declarations = {"model": [Applied(MODEL)]}
    for declaration, models in _of_models():
        declarations.setdefault(declaration.keyword, []).append(Applied(declaration, models))
    declarations["terms"] = [Applied(TERMS)]
    for of in (Request, DisassociationParameters, TableParameters, NoisyParameters):
        for keyword, declaration in declared(of).items():
            declarations.setdefault(keyword, []).append(Applied(declaration))
    options = [Option(keyword, tuple(applied)) for keyword, applied in declarations.items()]
    places = {keyword: place for place, keyword in enumerate(ORDER)}
    options.sort(key=lambda o: -1 if o.common else places.get(o.keyword, len(places)))
    return {option.keyword: option for option in options}


def release_parameters() -> dict[str, Parameter]:
    """The declarations of these options."""
    return {name: option.parameter for name, option in release_options().items()}


def ids_parameter() -> dict[str, Parameter]:
    """The declaration of the option that says which ids are published."""
    return {"ids": release_options()["ids"].parameter}


def _of_models() -> list[tuple[Parameter, tuple[str, ...]]]:
    """Each declaration of the models, with the names of those that have it."""
    declarations: list[tuple[Parameter, list[str]]] = []
    for name, model in MODELS.items():
        for declaration in declared(model).values():
            names = next((names for known, names in declarations if known == declaration), None)
            if names is None:
                declarations.append((declaration, [name]))
            else:
                names.append(name)
    return [(declaration, tuple(names)) for declaration, names in declarations]


def make_request(quarter: str, options: Mapping[str, Any]) -> Request:
    """What is asked of a release, from options as callers give them; None: the default.

    Args:
        quarter: the period, or a range of periods.
        options: by keyword, as ``release_options`` lists them.

    Raises:
        ReleaseError: there is no such option, its value means nothing, or it does not go with the
            model.
    """
    known = release_options()
    for name in options:
        if name not in known:
            raise ReleaseError(unknown_option("release", name, known))
    given = {name: value for name, value in options.items() if value is not None}
    model = read_value(MODEL, given.pop("model", DEFAULT_MODEL))
    kind = read_value(TERMS, given.pop("terms")) if "terms" in given else None
    of_models = {keyword for each in MODELS.values() for keyword in declared(each)}
    terms = make_terms(
        kind, given, terms_only=MODELS[model].shape.tells_terms(asked=False), shared=of_models
    )
    noisy = make_noisy(kind, given)
    with_noise = set(declared(NoisyParameters))
    tables = make_tables(
        kind,
        {n: v for n, v in given.items() if noisy is None or n not in with_noise},
        always=MODELS[model].shape.counts_items,
    )
    of_terms = set(declared(DisassociationParameters)) - (of_models if terms is None else set())
    of_terms |= set(declared(TableParameters)) | (with_noise - (of_models if not noisy else set()))
    of_request = declared(Request)
    return Request(
        quarter=quarter,
        model=make_model(
            model, **{n: v for n, v in given.items() if n not in of_terms | set(of_request)}
        ),
        terms=terms,
        tables=tables,
        noisy=noisy,
        **{of_request[name].field: value for name, value in given.items() if name in of_request},
    )


def read_value(declaration: Parameter, value: Any) -> Any:
    """A value of an option as the declaration takes it; None: it has none.

    Raises:
        ReleaseError: the value means nothing.
    """
    if value is None:
        return None
    try:
        return declaration.takes.read(value, declaration.option)
    except RefusedError as why:
        raise ReleaseError(str(why)) from None
