"""What a question is answered with: its views, its statement, and the notes beside the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import duckdb
from sqlglot import exp

from srsql.engine.catalog.datasets import registered_dataset, text_key
from srsql.engine.catalog.levels import (
    Level,
    add_names,
    make_names,
    told_of_levels,
    value_with_several,
)
from srsql.engine.catalog.releases import (
    counting_together,
    key_of,
    not_released,
    released_id,
    shows_keys,
    told_of_units,
    without_releases,
)
from srsql.engine.catalog.series import FOREIGN, PER_QUARTER
from srsql.engine.catalog.waiting import has_waited
from srsql.engine.errors import QueryError, one_line
from srsql.engine.models import made_shape
from srsql.engine.query.aggregates import Counted
from srsql.engine.query.chosen_groups import Group
from srsql.engine.query.cluster_bounds import (
    ClusterQuestion,
    compose_cluster_bounds,
    item_records,
    read_terms,
    unknown_items,
)
from srsql.engine.query.count_bounds import compose_count_bounds
from srsql.engine.query.group_bounds import Finder
from srsql.engine.query.question import Question, read_question
from srsql.engine.query.suppression import Hidden, hidden_by
from srsql.engine.query.vocabulary import Views
from srsql.engine.shapes import Telling, shape_of
from srsql.engine.signals.rules import did_you_mean
from srsql.engine.store.frames import Framed, Lines
from srsql.engine.store.statements import column, table, union_all
from srsql.engine.store.statements import query as named_query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

_VIEWS = "query/views"
BOUNDS = ("lower", "expected", "upper", "known")
CERTAIN = "certain"


@dataclass(frozen=True)
class Asking:
    """How a question is answered."""

    include_withheld: bool = False
    """The upper bounds are raised by what the public manifests say was withheld."""
    allow_unknown: bool = False
    """Names of drugs and terms that no released row has are no mistake."""
    levels: Sequence[Level] = ()
    """Of columns that are asked by the names that their values have on a level."""


USUAL = Asking()
_OPEN_GROUPS = (
    "certain: groups that HAVING and LIMIT leave whatever counts between the bounds are true; "
    "possible: those that they leave for some of them"
)
_WITHHELD = {"cases": "withheld_cases", "reports": "withheld_reports", "rows": "withheld_reports"}


@dataclass(frozen=True)
class Answer(Framed):
    """The answer to one question."""

    _tables: ClassVar[tuple[str, ...]] = ("rows",)
    _column_types: ClassVar[Mapping[str, Any]] = {
        "lower": int, "expected": float, "upper": int, "known": int,
    }  # fmt: skip

    dataset: str
    series: str
    quarters: tuple[str, ...]
    counted: Counted
    """What the numbers count."""
    aggregates: tuple[str, ...]
    """What the question asks of each group, as it calls it."""
    columns: tuple[str, ...]
    """What the question groups by, then lower, expected, upper, known, of several aggregates with
    the name of each in front (``cases_lower``); then ``certain``, where HAVING or LIMIT leave open
    which groups there are."""
    rows: tuple[tuple[Any, ...], ...]
    """Counts: two integers around a float, then an integer. Shares, means and quantiles: three
    floats, then an integer; None where there is no bound.

    ``known`` counts those whose released region answers every comparison of the question with TRUE
    or FALSE, and that meet the question: known <= lower <= upper. A missing value, or one that was
    given up, answers none; a region that straddles a limit does not either. Over the originals, in
    which nothing straddles, it is what tools count that leave missing values out. Lower counts
    those beside them that meet the question however its comparisons turn out, as a woman does
    under ``age >= 65 OR sex = 'F'`` whose age is missing; where all conditions must hold the two
    are equal (SPEC section 14).
    """
    withheld: int | None
    """What the upper bounds were raised by; None: withheld ones are not counted."""
    sql: str
    """The rewritten statement, over released views alone, without LIMIT where that is undecided; of
    shares, means and several aggregates the statements that tell what their bounds follow from.
    Where values are asked by their names on a level, over ``temp.main.srsql_level_name``
    (attribute, value, name) besides, which is there while the question is asked."""
    notes: tuple[str, ...]
    """How the numbers are to be read, one sentence each."""

    def __post_init__(self) -> None:
        """Have the rows know their columns."""
        object.__setattr__(self, "rows", Lines.of(self.rows, self.columns))

    @property
    def has_certain(self) -> bool:
        """Whether the last column says which groups are surely there."""
        return self.columns[-1] == CERTAIN

    @property
    def group_columns(self) -> tuple[str, ...]:
        """What the question groups by."""
        return self.columns[: -len(BOUNDS) * len(self.aggregates) - self.has_certain]


def query(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    text: str,
    *,
    quarter: str | None = None,
    asking: Asking = USUAL,
) -> Answer:
    """Answer a question; nothing is changed.

    Args:
        warehouse: may be read-only.
        dataset: the original schema.
        series: whose releases.
        text: one SELECT with a COUNT or another aggregate over the tables and columns that the
            dataset publishes, and its quasi-identifiers.
        quarter: only this one; default: all released quarters.
        asking: what is added, allowed, and counted on which levels.

    Returns:
        The rows of the question with their bounds, and notes on how to read them.

    Raises:
        QueryError: the question cannot be answered soundly, or nothing is released; or it names a
            drug or term that no release of the series has.
    """
    for given in (text, series, quarter or ""):
        _need_text(given)
    views = replace(find_views(warehouse, dataset, series, quarter), levels=tuple(asking.levels))
    shape = shape_of(dataset)
    for each, schema in views.schemas.items():
        _need_cover(warehouse, each, schema)
    try:
        reader = _Reader(warehouse, dataset, series, views, text, asking.include_withheld)
        if len(views.schemas) > 1:
            shape.need_one_quarter(series, QueryError)
        asked = shape.tell(reader)
        question, views = asked.question, asked.views
        if asking.include_withheld:
            _need_one_count(question)
        unknown = tuple(asked.unknown(asking.allow_unknown))
        found = asked.finder(warehouse, dataset).find()
        withheld = None if asked.withheld is None else _withheld(warehouse, views, asked.withheld)
    except RecursionError:
        raise QueryError("the question is nested too deeply, or too long") from None
    except duckdb.Error as error:
        raise QueryError(f"the question could not be answered: {one_line(error)}") from None
    waits = len(views.schemas) > 1 and has_waited(warehouse, dataset.name, series)
    notes = (*_notes(dataset, views, question, withheld, hides=asked.hides, waits=waits),)
    asks = question.used
    together = counting_together(warehouse, views.schemas) if asks else ()
    several = [f"{each}_" for each in asked.labels] if len(asked.labels) > 1 else [""]
    open_groups = not all(group.is_certain for group in found.groups)
    if open_groups:
        notes = (*notes, _OPEN_GROUPS)
    return Answer(
        dataset=dataset.name,
        series=series,
        quarters=tuple(views.schemas),
        counted=question.counted,
        aggregates=asked.labels,
        columns=(
            *(label for label, _ in question.groups),
            *(f"{label}{end}" for label in several for end in BOUNDS),
            *([CERTAIN] if open_groups else []),
        ),
        rows=tuple(_row(group, len(asked.labels), told=open_groups) for group in found.groups),
        withheld=withheld,
        sql=";\n\n".join(found.texts),
        notes=(*unknown, *found.notes, *notes, *told_of_units(together), *asked.remarks),
    )


@dataclass(frozen=True)
class _Asked:
    """A question that was read, with what it takes to answer it."""

    question: Question
    views: Views
    composed: Callable[[Question], str]
    """The statement of one count, or of the same one without its limits."""
    unknown: Callable[[bool], Iterator[str]]
    """What is to be said of names that nothing released has; given whether they are allowed."""
    withheld: str | None
    """The column of public manifests by which the upper bounds are raised."""
    hides: bool
    """Whether rows do not show all that cases have."""
    remarks: Iterable[str]
    hidden: Callable[[Question], Hidden | None] = lambda _: None
    """What suppressed values hide from a question."""
    tells_why: bool = True
    """Why bounds are wide is told."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What the aggregates of the answer are called."""
        return tuple(each.label for each in self.question.measures[: self.question.shown])

    def finder(self, warehouse: Warehouse, dataset: Dataset) -> Finder:
        """What answers it."""
        return Finder(
            warehouse,
            dataset,
            self.views,
            self.question,
            self.composed,
            self.hidden,
            self.tells_why,
        )


@dataclass(frozen=True)
class _Reader(Telling[_Asked]):
    """Reads one question; see ``query``."""

    warehouse: Warehouse
    dataset: Dataset
    series: str
    views: Views
    text: str
    include_withheld: bool

    def by_rows(self) -> _Asked:
        """A question over rows as they are published."""
        warehouse, dataset, views = self.warehouse, self.dataset, self.views
        question = read_question(dataset, views, self.text)
        _load_names(warehouse, views, question)
        count = _WITHHELD[question.counted] if self.include_withheld else None
        names = [item.table.name for item, _ in question.joins]
        if self.include_withheld and question.counted == "rows" and names != [dataset.report_table]:
            raise QueryError(
                "how many rows of a join are withheld is not published: count cases, or leave "
                "--include-withheld out"
            )

        def hidden_of(each: Question) -> Hidden | None:
            return hidden_by(warehouse, dataset, views, each, self.text)

        hidden = hidden_of(question)
        return _Asked(
            question,
            views,
            lambda each: compose_count_bounds(dataset, views, each, count, hidden),
            lambda allowed: _unknown_names(warehouse, views, question, allowed=allowed),
            count,
            hides=hidden is not None,
            remarks=(*_of_hidden(hidden), *told_of_levels(warehouse, views.levels)),
            hidden=hidden_of,
        )

    def by_counts(self) -> _Asked:
        """A question over regions: items are told as counts."""
        if not self.dataset.rows:
            raise QueryError(
                "no row of a case is released, but counts: read region_count, case_count, "
                "item_count and pair_count of the release, or ask 'srsql signals'"
            )
        try:
            return self.by_rows()
        except QueryError as error:
            raise QueryError(
                f"{error}; items are told as counts: read its tables of counts in SQL, or ask "
                "'srsql signals'"
            ) from None

    def by_clusters(self) -> _Asked:
        """A question over whole rows that are taken apart."""
        warehouse = self.warehouse
        dataset = registered_dataset(warehouse, self.dataset.name).keyed(self.dataset.term_key)
        quarter = next(iter(self.views.schemas))
        version = key_of(warehouse, released_id(warehouse, dataset, quarter, self.series))
        views = replace(self.views, cumulative=None, term_key=version, tells_items=True)
        terms = read_terms(warehouse, dataset, views, read_question(dataset, views, self.text))
        count = _WITHHELD["cases"] if self.include_withheld else None
        records = item_records(warehouse, views, terms)
        return _Asked(
            replace(terms.asked, blanked=()),
            views,
            lambda each: compose_cluster_bounds(
                dataset, views, replace(terms, asked=each), count, records
            ),
            lambda allowed: unknown_items(warehouse, views, terms, allowed=allowed),
            count,
            hides=True,
            remarks=_of_items(terms),
            tells_why=False,
        )


def _load_names(warehouse: Warehouse, views: Views, question: Question) -> None:
    """Have the names of released values on the levels that are asked.

    Raises:
        QueryError: rows are counted, of which one would become several.
    """
    if not views.levels:
        return
    make_names(warehouse)
    for level in views.levels:
        named = level.attribute
        values = [
            exp.select(column(named.column, "t").as_("value")).from_(
                table(schema, named.table, alias="t")
            )
            for schema in views.every
        ]
        add_names(warehouse, level, union_all([*values]))
        several = value_with_several(warehouse, level)
        if several is not None and question.counted == "rows":
            raise QueryError(
                f"--level: {several!r} has several names on level {level.name}, so that its rows "
                "would count more than once: count cases or reports"
            )


def _of_hidden(hidden: Hidden | None) -> Iterator[str]:
    if hidden is not None:
        lower = "lower and known count as many out, since absent values count; " * (
            hidden.absence_counts
        )
        yield (
            "sensitive values of some cases are suppressed, so rows do not show all that cases "
            f"have: upper counts as many more as the public manifests allow for; {lower}expected "
            "is of the rows alone; what manifests say of it no artifact can show"
        )


def _unknown_names(
    warehouse: Warehouse, views: Views, question: Question, *, allowed: bool
) -> Iterator[str]:
    """What is to be said of each name that no release of the series has.

    Raises:
        QueryError: there is one, and that is not allowed. It names others that are released.
    """
    schemas = views.every or tuple(views.schemas.values())
    for lookup in dict.fromkeys(question.lookups):
        table_name, name = lookup.value.origin or ("", "")
        sources = [views.rows(each, table_name, str(lookup.value.alias)) for each in schemas]
        named = lookup.value.node
        wanted: exp.Expr = exp.Literal.string(lookup.name)
        if lookup.value.key is not None:
            named, wanted = lookup.value.key, text_key(lookup.name, views.term_key)
        same = exp.EQ(this=named, expression=wanted)
        found = union_all([exp.select("1").from_(source).where(same) for source in sources])
        if warehouse.rows(exp.select("1").from_(found.subquery("f")).limit(1).sql("duckdb")):
            continue
        text = f"no released row has {name} {lookup.name!r}"
        if allowed:
            yield f"{text}: it counts as none"
            continue
        spelled = lookup.value.node.copy().as_("name")
        names = union_all([exp.select(spelled).from_(source) for source in sources])
        raise QueryError(f"{text}{did_you_mean(warehouse, names, lookup.name)}")


def _of_items(asked: ClusterQuestion) -> Iterator[str]:
    if asked.terms:
        yield (
            "items are told of clusters and of no row: lower and upper hold for every dataset that "
            "fits what is released; expected takes all of them for equally likely, items without a "
            "count at the mean that other counts suggest"
        )
        yield (
            "items are told of cases, over all their reports, by one text for all spellings of a "
            "term, and so are they compared"
        )


def _row(group: Group, shown: int, *, told: bool) -> tuple[Any, ...]:
    """A row of the answer."""
    bounds = (value for each in group.bounds[:shown] for value in each)
    return (*group.key, *bounds, *([CERTAIN if group.is_certain else "possible"] if told else []))


def _need_one_count(question: Question) -> None:
    """Refuse what withheld cases would move otherwise than they move a count."""
    if question.limit is not None or question.offset or question.having is not None:
        raise QueryError(
            "groups of withheld cases alone are not listed: leave LIMIT and OFFSET out, and HAVING"
        )
    if not question.is_count:
        raise QueryError(
            "withheld cases are added to one COUNT alone: leave --include-withheld out, or the "
            "other aggregates"
        )


def find_views(warehouse: Warehouse, dataset: Dataset, series: str, quarter: str | None) -> Views:
    """The views of a series, or of one quarter of it.

    Raises:
        QueryError: there are none.
    """
    names = {"dataset": dataset.name, "series": series}
    found = warehouse.rows(named_query(_VIEWS, "series"), names)
    if found and found[0][0] in FOREIGN:
        raise QueryError(f"series {series!r} is imported and has no views to ask")
    rows = warehouse.rows(named_query(_VIEWS, "released_quarters"), names)
    schemas = {period: schema for period, schema, _ in rows}
    every = tuple(schemas.values())
    if not found or not schemas:
        raise QueryError(without_releases(warehouse, dataset.name, series))
    _, cumulative, has_key, ids = found[0]
    pseudonym_series = series if has_key else None
    if quarter is None and ids == PER_QUARTER and len(schemas) > 1:
        raise QueryError(
            f"series {series!r} has other ids in every quarter, so nobody can be counted over "
            "several: give --quarter"
        )
    if quarter is not None and quarter not in schemas:
        raise QueryError(not_released(warehouse, dataset.name, series, quarter))
    version = dataset.term_key
    return Views(
        schemas if quarter is None else {quarter: schemas[quarter]},
        cumulative if quarter is None else None,
        pseudonym_series,
        every,
        term_key=version,
        shows_keys=version > 0 and shows_keys(warehouse, [release_id for *_, release_id in rows]),
    )


def _need_text(text: str) -> None:
    """Refuse what is no Unicode text, such as an argument of a command that is not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise QueryError("the question, series or quarter is not UTF-8 text") from None


def _need_cover(warehouse: Warehouse, quarter: str, schema: str) -> None:
    """Refuse a release whose regions need not hold the original values."""
    try:
        name = warehouse.value(_of_manifest(schema, "model"))
    except duckdb.Error as error:
        raise QueryError(f"the release of {quarter} cannot be read: {one_line(error)}") from None
    made_shape(str(name)).need_cover(quarter, str(name))


def _withheld(warehouse: Warehouse, views: Views, name: str) -> int:
    return sum(
        int(warehouse.value(_of_manifest(schema, name))) for schema in views.schemas.values()
    )


def _of_manifest(schema: str, name: str) -> str:
    """The statement for one column of the public manifest, which has one row."""
    source = table(schema, "manifest", alias="m")
    return exp.select(exp.func("max", column(name, "m"))).from_(source).sql(dialect="duckdb")


def _notes(
    dataset: Dataset,
    views: Views,
    question: Question,
    withheld: int | None,
    *,
    hides: bool,
    waits: bool,
) -> Iterator[str]:
    used = question.compared
    if len(views.schemas) > 1 and question.counted != "rows":
        yield (
            f"each quarter is asked on its own; {question.counted} count once, if any of their "
            "quarters meets the conditions"
        )
    if used:
        names = ", ".join(dataset.qid[position].name for position in sorted(used))
        yield (
            f"lower: those who meet the conditions whatever values of their regions ({names}) are "
            "true (a missing value meets no comparison); upper: those who do for some of them; "
            "expected: by the share of the region, or of the domain where the value is missing; "
            "known: those whose region decides every comparison, which a missing value does not"
        )
    elif not question.used and not question.tested and not hides:
        yield "no quasi-identifier is asked, so the counts are exact"
    for position in sorted(question.tested):
        yield (
            f"{dataset.qid[position].name} IS NULL is asked of the release, which has no value "
            "where nobody knew it and where it was given up: of the originals IS NULL alone may be "
            "met by fewer than lower and IS NOT NULL by more than upper, by who gave it up at most"
        )
    for position in sorted(question.labelled | {band.position for band in question.bands}):
        yield f"cases whose {dataset.qid[position].name} is missing are in no row"
    if question.by_keys:
        yield (
            "terms are compared and grouped by their keys, one text for all spellings of a term; "
            "LIKE and ranges look at the spellings"
        )
    for label in question.blanked:
        yield f"rows whose {label} is missing or only says that it is not known are in no row"
    if withheld is None:
        yield "of what was released; --include-withheld adds what was withheld to the upper bound"
    else:
        groups = "; groups of withheld ones alone are not listed" if question.groups else ""
        twice = "; those that wait count in each quarter that withholds them" if waits else ""
        yield f"upper includes {withheld:,} withheld {_noun(question)}{groups}{twice}"


def _noun(question: Question) -> str:
    return "cases" if question.counted == "cases" else "reports"
