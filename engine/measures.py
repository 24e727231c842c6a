"""The uniform row that every check and every metric answers with, and the type of a check's entry.

The entries themselves stand in ``engine/checks/registry.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

Subject = TypeVar("Subject")
"""What a check is given: ``engine.checks.Evidence``."""
Stage = Literal["checks", "audit", "metrics"]
Severity = Literal["refuses the release", "is told"]
Clustered = Literal["terms", "groups", "rows"]
"""Terms without rows of cases, terms of each group, or whole rows of several groups, which then
show their region and cluster alone."""

BY_SET = ("group_size", "dr", "reached_by_duplicates", "least_persons")
"""Measures of groups, which are not those of anybody who knows one set of quasi-identifiers; where
a release protects several, the first two are taken of each, and persons are not counted."""
OF_ROWS = (
    "il", "ncp", "emd", "rate", "il (all records)", "emd (all records)", "ncp (eq. 6)",
    "counterfeits", "withheld",
)  # fmt: skip
"""Measures of rows over a lattice; those of regions are of what such a release does not show."""
OF_CLASSES = {("suppressed", "chosen")}
"""Measure and scope of suppressed classes, which are not the values that cases gave up."""


CELL = "cell"
"""Key of the metadata of a field that is a column of a table."""


def cell(label: str, form: str = "text") -> Mapping[str, tuple[str, str]]:
    """Metadata of a field of a result that is a column where a terminal shows such results.

    Args:
        label: the column's title.
        form: how values are written: ``text``, ``count``, ``number``, ``names``, ``setting`` or
            ``verdict`` (see ``FORMS`` of the console).
    """
    return {CELL: (label, form)}


@dataclass(frozen=True)
class MeasureRow:
    """The uniform row of every check and metric (see ``sql_macros/risk/uniform_row.sql``)."""

    release: int
    measure: str = field(metadata=cell("measure"))
    scope: str = field(metadata=cell("scope"))
    violating: float | None = field(metadata=cell("violating", "number"))
    total: float | None = field(metadata=cell("total", "number"))
    ratio: float | None = field(metadata=cell("ratio", "number"))
    threshold: float | None = field(metadata=cell("threshold", "number"))
    passed: bool | None = field(metadata=cell("passed", "verdict"))


Measure = tuple[Any, ...]
"""release, measure, scope, violating, total, ratio, threshold, passed."""


@dataclass(frozen=True)
class ReleaseFacts:
    """What the catalog says of a release and of what its model guarantees."""

    bounds: frozenset[str] = frozenset()
    """What every group keeps: k and theta, or what a comparator claims in their place."""
    case_rows: bool = False
    """Rows of cases are released."""
    synthetic_rows: bool = False
    """Rows over a lattice are released, which are no case's."""
    has_rows: bool = False
    """Some row of either kind is released; there is nothing to look at in an empty release."""
    regions: bool = False
    """Some quasi-identifier is released as the region of its group."""
    draws: bool = False
    """Some quasi-identifier is drawn at random."""
    noisy_counts: bool = False
    """Rows over a lattice are made of counts that have noise."""
    term_key: int = 0
    """The version of the key by which terms are compared."""
    external_knowledge: bool = False
    """The thresholds hold against what drugs tell of diseases, too."""
    covers_earlier_categories: bool = False
    """Generalized categories of an old case cover those of its earlier releases."""
    term_format: str | None = None
    """How terms that are released apart from records are published: chunks or nodes."""
    generalized_terms: bool = False
    """Some term is published as part of a node, not suppressed."""
    sensitive_terms: bool = False
    """Some terms are to be told of clusters alone."""
    clusters: Clustered | None = None
    """What clusters of disassociated terms are made of."""
    unit: str = "case"
    """Of whom k, theta and new or old are: ``case``, or ``person``."""
    suppressed_values: bool = False
    """The release, or another one of its series, suppressed sensitive values of cases."""
    qid_sets: tuple[str, ...] = ()
    """Sets of quasi-identifiers that are protected each by itself; none: all are together."""
    attacks: tuple[str, ...] = ()
    """The attacks on a series that the model withstands."""
    max_delay: int | None = None
    """Periods that a case may wait at most for a group; None: none waits."""
    takes_in: bool = False
    """Cases that waited are among those of the release's period."""
    table_k: int | None = None
    """Units that a count has at least where counts tell items; None: they do not."""
    noisy_tables: bool = False
    """Counts with noise tell items."""
    own_theta: str | None = None
    """The column of reports that has thresholds of patients; None: none is asked for."""
    cumulative: bool = False
    """The dataset has a cumulative source, of which reports may come when their period is out."""


@dataclass(frozen=True)
class Applicability:
    """To which releases a check applies."""

    words: str
    holds: Callable[[ReleaseFacts], bool]


def _claiming(claim: str, words: str) -> Applicability:
    return Applicability(words, lambda facts: facts.case_rows and claim in facts.bounds)


EVERY_RELEASE = Applicability("every release", lambda facts: True)
KEEPS_K = Applicability("what keeps k", lambda facts: "k" in facts.bounds)
KEEPS_THETA = Applicability("what keeps θ", lambda facts: "theta" in facts.bounds)
CASES = Applicability("rows of cases", lambda facts: facts.case_rows)
CASES_WITH_KEYS = Applicability(
    "rows of cases beside whose terms their keys stand",
    lambda facts: facts.case_rows and facts.term_key > 0,
)
ROWS_WITH_K = _claiming("k", "rows of cases of a model that keeps k")
ROWS_WITH_THETA = _claiming("theta", "rows of cases of a model that keeps θ")
ROWS_WITH_REPORTS = _claiming("reports", "rows of a comparator that claims k reports")
ROWS_WITH_ALPHA = _claiming("alpha", "rows of a comparator that claims α")
ROWS_WITH_VALUES = _claiming("values", "rows of a comparator that claims l values")
KNOWLEDGE = Applicability(
    "rows of cases of a model that keeps θ, with external knowledge",
    lambda facts: ROWS_WITH_THETA.holds(facts) and facts.external_knowledge,
)
OTHER_UNITS = Applicability(
    "rows of cases of a release that counts persons",
    lambda facts: facts.case_rows and facts.unit == "person",
)
SUPPRESSED = Applicability(
    "rows of cases in a series that suppresses values",
    lambda facts: facts.case_rows and facts.suppressed_values,
)
OWN_THRESHOLDS = Applicability(
    "rows of cases some of whose patients have a threshold of their own",
    lambda facts: ROWS_WITH_THETA.holds(facts) and facts.own_theta is not None,
)
REGIONS = Applicability(
    "rows of cases with a region, if there are any",
    lambda facts: facts.case_rows and facts.regions and facts.has_rows,
)
IDS = Applicability(
    "rows of cases, if there are any", lambda facts: facts.case_rows and facts.has_rows
)
SPENDING = Applicability(
    "what draws values or counts at random", lambda facts: facts.draws or facts.noisy_counts
)
NOISY_COUNTS = Applicability(
    "rows over a lattice of a model with noise, if there are any",
    lambda facts: facts.noisy_counts and facts.has_rows,
)
UNORDERED = Applicability(
    "rows under no id, if there are any: of clusters, of generalized terms, over a lattice",
    lambda facts: facts.term_format is not None or (facts.synthetic_rows and facts.has_rows),
)
DRAWS = Applicability(
    "rows of cases with values drawn at random, if there are any",
    lambda facts: facts.case_rows and facts.draws and facts.has_rows,
)
BESIDE_DRAWS = Applicability(
    "rows of cases with values drawn at random and regions beside them",
    lambda facts: facts.case_rows and facts.draws and facts.regions,
)
COVERING = Applicability(
    "rows of cases of a model whose categories cover those of earlier releases",
    lambda facts: facts.case_rows and facts.covers_earlier_categories,
)
LATTICE = Applicability(
    "rows over a lattice, if there are any",
    lambda facts: facts.synthetic_rows and facts.has_rows,
)
CHUNKS = Applicability("disassociated terms", lambda facts: facts.term_format == "chunks")
SENSITIVE = Applicability(
    "disassociated terms some of which are named as sensitive",
    lambda facts: facts.term_format == "chunks" and facts.sensitive_terms,
)
WHOLE_ROWS = Applicability(
    "whole rows that are taken apart",
    lambda facts: facts.term_format == "chunks" and facts.clusters == "rows",
)
NODES = Applicability("generalized terms", lambda facts: facts.term_format == "nodes")
SOME_NODES = Applicability(
    "generalized terms, unless all are suppressed",
    lambda facts: facts.term_format == "nodes" and facts.generalized_terms,
)
COUNT_TABLES = Applicability("what tells items as counts", lambda facts: facts.table_k is not None)
REGION_COUNTS = Applicability(
    "what tells items as counts, without rows of cases",
    lambda facts: facts.table_k is not None and not facts.case_rows,
)
NOISY_TABLES = Applicability(
    "rows of cases whose items counts with noise tell", lambda facts: facts.noisy_tables
)
STAYING = Applicability(
    "rows of cases of a model that withstands persistence",
    lambda facts: facts.case_rows and "p" in facts.attacks,
)
HOLDING_BACK = Applicability(
    "rows of cases in a series that holds cases back",
    lambda facts: facts.case_rows and facts.max_delay is not None,
)
LATE = Applicability(
    "rows of cases of a dataset with a cumulative source",
    lambda facts: facts.case_rows and facts.cumulative,
)
TAKING_IN = Applicability(
    "rows of cases, some of which may have waited or come late, of a model that withstands attacks "
    "on a series",
    lambda facts: facts.case_rows and (facts.takes_in or facts.cumulative) and bool(facts.attacks),
)
UNITS_TAKEN_IN = Applicability(
    "the same of a release that counts persons",
    lambda facts: TAKING_IN.holds(facts) and facts.unit == "person",
)
DEFENDED = Applicability(
    "what withstands attacks on a series",
    lambda facts: bool(facts.attacks) and not facts.synthetic_rows,
)
UNDEFENDED = Applicability(
    "what withstands no attack on a series, but for rows over a lattice",
    lambda facts: not facts.attacks and not facts.synthetic_rows,
)


@dataclass(frozen=True)
class Check(Generic[Subject]):
    """One entry of the registry of checks."""

    name: str
    """Of the measure in its uniform rows, unless ``emits`` says otherwise."""
    applies: Applicability
    proves: str
    """In a whole sentence."""
    source: str
    """Paper with definition or section, or section of the specification."""
    run: Callable[[Subject], list[Measure]] | None
    """Its uniform rows; None: they are among those that its stage measures anyway."""
    composed_by: str = ""
    """The function that composes its statement; empty: it is the macro that has its name."""
    stage: Stage = "checks"
    """The stage of a release in which it runs."""
    severity: Severity = "refuses the release"
    """What happens where it fails."""
    of_making: bool = False
    """It needs tables that the release was made with, so it does not run again for a draft."""
    emits: tuple[str, ...] | None = None
    """Measures in its uniform rows, where they are not one of its own name."""

    @property
    def statement(self) -> str:
        """The macro or function that computes it."""
        return self.composed_by or f"srsql.{self.name}"

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures in its uniform rows."""
        return (self.name,) if self.emits is None else self.emits
