"""What a check is given, and what its rows mean: it fails, or proves nothing.

``registry`` declares every check and runs those that apply; a check is given the :class:`Evidence`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.layout import ROWS, Built
from srsql.engine.catalog.released_terms import Reader
from srsql.engine.catalog.releases import (
    Release,
    ReleasedTerms,
    claims_of,
    perturbed_positions,
    qid_sets,
    released_terms,
)
from srsql.engine.catalog.series import IMPORTED
from srsql.engine.errors import CheckFailedError
from srsql.engine.measures import Check, Measure, MeasureRow, ReleaseFacts
from srsql.engine.store.statements import (
    column,
    create,
    literal,
    normal_form,
    query,
    table,
)
from srsql.engine.store.warehouse import Warehouse

NOISY_LATTICE = frozenset({"ipa", "dp-histogram"})
"""Models over a lattice whose counts have noise."""
TOPIC = "checks/release"
"""Where the statements of this folder stand that read the catalog."""


@dataclass(frozen=True)
class CutAsked:
    """What one cut of strata asks of a quasi-identifier."""

    qid: str
    words: str
    """What lies within."""
    value: str | None
    low: Decimal | None
    below: Decimal | None


@dataclass(frozen=True)
class NoiseAsked:
    """What counts with noise were asked to keep."""

    epsilon: Fraction
    delta: Fraction
    case_items: int
    case_pairs: int
    attributes: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    cuts: tuple[CutAsked, ...] = ()


@dataclass(frozen=True)
class Asked:
    """What a release was asked to keep, in the words of the request and of nobody who makes it."""

    k: int
    kind: str
    """Of the policy: ``uniform``, ``levels``, ``frequency``; ``unknown``: nobody tells it."""
    theta: Fraction | None = None
    """Of every value that is not listed."""
    listed: tuple[tuple[str, Fraction], ...] = ()
    """Values with thresholds of their own."""
    spelled: bool = False
    """Names on a level of a dictionary are listed, too, of which every spelling counts."""
    alpha: Fraction | None = None
    """Largest share of cases with substantially many symptoms; None: none is bounded, or told."""
    epsilon: Fraction | None = None
    calibration: str | None = None
    noise: str | None = None
    table_k: int | None = None
    noisy: NoiseAsked | None = None
    """Of counts with noise; None: there are none, or nobody tells it."""
    """Units of a count, at least, where counts tell items."""
    suppresses: bool = False
    """Values may be suppressed, so that the catalog has to have whatever rows lack."""
    knowledge: frozenset[tuple[str, str]] | None = None
    """Pairs of drug and disease; None: nobody tells whether there are any."""


class Evidence:
    """A release and what its checks are to know of it.

    Tables that several checks read are made when the first of them asks.
    """

    def __init__(
        self,
        release: Release,
        *,
        built: Sequence[Built] = (),
        covers: bool = False,
        by_report: bool = False,
        terms: ReleasedTerms | None = None,
        exposed: bool = True,
        not_ids: Sequence[str] = (),
        asked: Asked | None = None,
    ) -> None:
        """Take a release within its transaction; ``srsql_identity`` tells whose its rows are.

        Args:
            release: that is checked.
            built: what its tables were filled by.
            covers: categories of old cases cover those of their earlier releases.
            by_report: every report was taken for a case of its own.
            terms: that it released apart from records; None: as the catalog has them.
            exposed: it is or is about to be out, so that the verdicts on its series are kept.
            not_ids: words of texts that are ids as well, and stand for something else there.
            asked: what was asked for; None: what the private manifest tells of that.
        """
        self.release = release
        self.exposed = exposed
        self.not_ids = tuple(not_ids)
        self.asked = asked
        self.built = list(built)
        self.by_report = by_report
        self._covers = covers
        self._terms = terms
        self._tables: set[str] = set()
        self._found: dict[str, list[MeasureRow]] = {}

    @cached_property
    def terms(self) -> ReleasedTerms | None:
        """What is released apart from records."""
        return self._terms or released_terms(self.release.warehouse, self.release.release_id)

    @cached_property
    def claims(self) -> Mapping[str, Fraction]:
        """What a comparator keeps."""
        return claims_of(self.release.warehouse, self.release.release_id)

    @cached_property
    def perturbed(self) -> set[int]:
        """Positions of the quasi-identifiers that are drawn at random."""
        return perturbed_positions(self.release.warehouse, self.release.release_id)

    @cached_property
    def facts(self) -> ReleaseFacts:
        """By which checks apply."""
        release, terms = self.release, self.terms
        facts = catalog_facts(release.warehouse, release.release_id)
        return replace(
            facts,
            has_rows=self._has_rows(facts),
            covers_earlier_categories=self._covers,
            generalized_terms=facts.term_format == "nodes"
            and self._shows("generalized_terms", "node"),
            suppressed_values=facts.suppressed_values or bool(self.asked and self.asked.suppresses),
            sensitive_terms=bool(terms and terms.sensitive),
        )

    def once(self, name: str, fill: Callable[[], object]) -> str:
        """The name of a temporary table, as a literal; it is filled at the first call."""
        if name not in self._tables:
            fill()
            self._tables.add(name)
        return literal(f"temp.main.{name}")

    def found(self, name: str, find: Callable[[], list[MeasureRow]]) -> list[MeasureRow]:
        """Rows that several checks tell of; they are found at the first call."""
        if name not in self._found:
            self._found[name] = find()
        return self._found[name]

    def table(self, name: str, rows: Callable[[], exp.Query]) -> str:
        """The same of a table of the rows of a query."""
        run = self.release.warehouse.run
        return self.once(name, lambda: run(create(exp.to_table(name), rows(), temp=True)))

    def ask(
        self,
        macro: str,
        *arguments: str | int,
        tables: Mapping[str, str] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> list[Measure]:
        """The uniform rows of ``srsql.MACRO``, whose last argument is the release.

        Args:
            macro: of ``sql_macros/checks``.
            arguments: as SQL, without the release.
            tables: queries that it reads by these names.
            parameters: of these queries.
        """
        listed = ", ".join([*map(str, arguments), str(self.release.release_id)])
        return uniform_rows(self.release.warehouse, f"srsql.{macro}({listed})", tables, parameters)

    def _has_rows(self, facts: ReleaseFacts) -> bool:
        if facts.synthetic_rows:
            return self._shows(ROWS)
        return facts.case_rows and self._shows(self.release.visible_dataset.report_table)

    def _shows(self, view: str, name: str | None = None) -> bool:
        """Whether a view has a row, or one with a value in the column ``name``."""
        rows = exp.select("1").from_(table(self.release.schema, view, alias="v")).limit(1)
        if name:
            rows = rows.where(column(name, "v").is_(exp.null()).not_())
        return bool(self.release.warehouse.rows(rows.sql("duckdb")))


def uniform_rows(
    warehouse: Warehouse,
    call: str,
    tables: Mapping[str, str] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> list[Measure]:
    """The uniform rows of one call.

    Args:
        warehouse: with the macros.
        call: of a macro, or a query in parentheses.
        tables: queries that the call reads by these names; each is evaluated once.
        parameters: named ones, of these queries.
    """
    return warehouse.rows(f"{_named(tables)}SELECT c.* FROM {call} AS c", dict(parameters or {}))


def measured(
    reader: Reader, calls: Iterable[str], tables: Mapping[str, str] | None = None
) -> list[MeasureRow]:
    """The uniform rows of calls of checks, those of a call by their scope.

    Args:
        reader: with the macros.
        calls: of macros.
        tables: queries that they read by these names.
    """
    return [
        MeasureRow(*row)
        for call in calls
        for row in reader.rows(f"{_named(tables)}SELECT c.* FROM {call} AS c ORDER BY c.scope")
    ]


def as_measures(found: Iterable[MeasureRow]) -> list[Measure]:
    """Uniform rows as the pipeline and the catalog take them."""
    return [astuple(row) for row in found]


def _named(tables: Mapping[str, str] | None) -> str:
    """WITH and the queries by their names; each is evaluated once."""
    parts = [f"{name} AS MATERIALIZED ({text})" for name, text in (tables or {}).items()]
    return f"WITH {', '.join(parts)} " if parts else ""


def require_proof(check: Check[Evidence], rows: Sequence[Measure]) -> None:
    """Refuse a release that a check fails, or of which it proves nothing.

    Raises:
        CheckFailedError: the text names the measure.
    """
    if check.severity == "is told":
        return
    for _, measure, scope, violating, total, _, _, passed in rows:
        if passed is None:
            raise CheckFailedError(
                f"the release's own {measure} ({scope}) proves nothing: there is no figure to "
                "judge by; nothing was released"
            )
        if not passed:
            raise CheckFailedError(
                f"the release failed its own {measure}: {violating:,.0f} of {total:,.0f} "
                f"({scope}) break the bound; nothing was released"
            )
    if check.stage == "checks" and check.measures and not rows:
        raise CheckFailedError(
            f"the release's own {check.name} proves nothing: it has no figure; nothing was released"
        )


def catalog_facts(warehouse: Warehouse, release_id: int) -> ReleaseFacts:
    """What the catalog alone says of a release; of somebody else's release it knows no bound."""
    found = warehouse.rows(query(TOPIC, "facts"), {"release": release_id})[0]
    (
        model, lattice, drawn, attributes, knowledge, attacks, term_format, with_rows, clusters,
        suppresses, max_delay, takes_in, table_k, noisy_tables, own_theta, cumulative,
        term_key, unit,
    ) = found  # fmt: skip
    bounds = frozenset(claims_of(warehouse, release_id)) or frozenset({"k", "theta"})
    return ReleaseFacts(
        bounds=frozenset() if model == IMPORTED or lattice else bounds,
        case_rows=with_rows and not lattice,
        synthetic_rows=lattice,
        regions=drawn < attributes,
        draws=drawn > 0,
        noisy_counts=lattice and model in NOISY_LATTICE,
        term_key=term_key,
        external_knowledge=knowledge,
        term_format=term_format,
        clusters=clusters,
        suppressed_values=suppresses,
        unit=unit,
        qid_sets=tuple(qid_sets(warehouse, release_id)),
        attacks=tuple(attacks),
        max_delay=max_delay,
        takes_in=takes_in,
        table_k=table_k,
        noisy_tables=noisy_tables,
        own_theta=own_theta,
        cumulative=cumulative,
    )


def checked_key(value: exp.Expr, version: int) -> exp.Expr:
    """The key of a term, empty or NULL where it is blank.

    Args:
        value: its text.
        version: of the key; 0: visible text in upper case, as releases had it before there were
            keys.

    Source:
        SPEC section 2 (term, key).
    """
    if version == 0:
        return normal_form(value)
    return exp.Anonymous(this="srsql_checked_term_key", expressions=[value.copy()])
