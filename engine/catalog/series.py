"""A series: the sequence of releases made for one audience, the order of its periods, its views.

Periods are in the order of their labels as text, which SQL and every series go by.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from srsql.engine.catalog.layout import key_columns, raw_table, store_of
from srsql.engine.errors import ReleaseError
from srsql.engine.parameters import MAIN
from srsql.engine.store.statements import (
    STORE,
    column,
    create,
    dotted,
    query,
    table,
    union_all,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.dataset import TERM_KEY

TOPIC = "warehouse/series"

IMPORTED, IMPORTED_COUNTS = "imported", "imported counts"
FOREIGN = frozenset({IMPORTED, IMPORTED_COUNTS})
"""Families of series that hold foreign releases: rows, or tables of counts."""
"""Model and family of somebody else's releases, which have no views."""


Ids = Literal["pseudonym", "per-quarter", "original"]
USUAL_IDS: Ids = "pseudonym"
"""Which ids a series gets where nothing is asked."""
PER_QUARTER: Literal["per-quarter"] = "per-quarter"
PSEUDONYM, ORIGINAL = "pseudonym", "original"
OLD_PSEUDONYM = f"{PSEUDONYM}-60"
IDS = {
    PSEUDONYM: "Case and report ids are pseudonyms of this series: they look random, are in no "
    "order of time, and are the same in all its quarters.",
    PER_QUARTER: "Case and report ids are pseudonyms of this quarter: a case has others in every "
    "quarter, so that no id joins its rows over quarters, and cases can be neither followed nor "
    "counted over quarters.",
    ORIGINAL: "Case and report ids are the source's own. As a rule they follow the order of "
    "receipt: whoever knows some of them tells when the others were received, within days.",
    OLD_PSEUDONYM: "Case and report ids are pseudonyms of this series, the same in all its "
    "quarters, made by an earlier version: up to 60 bits, which R and JavaScript round, so read "
    "them as text.",
}
"""What the ids of a series are, for whoever has its releases."""


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_NUMBER = re.compile(r"([0-9]+)")
_DIGIT = re.compile(r"[0-9]")
_LIKE_A_PERIOD = re.compile(
    r"\d{4}([- ]?([Qq]\d|[Ww]\d{1,3})|-\d{1,2}(-\d{1,2})?|\d{4})|(?=.*[^0-9])\d{4}"
)
"""Digits of any script: what is written with others than 0 to 9 is on no calendar either."""


@dataclass(frozen=True)
class Series:
    """One series of one dataset."""

    dataset: str
    name: str
    family: str
    cumulative_schema: str
    key: bytes | None
    """What its pseudonyms are made with; None: ids are published as they are."""
    ids: str
    """A key of ``IDS``, fixed when the series is made."""

    @property
    def id_scope(self) -> Literal["series", "quarter"] | None:
        """Where an id has one stored pseudonym; None: ids are original, or of an old key."""
        if self.ids == PER_QUARTER:
            return "quarter"
        return "series" if self.ids == PSEUDONYM else None

    def plain_schema(self, quarter: str, *, draft: bool = False) -> str:
        """Schema of the views of one release."""
        parts = [
            "draft" if draft else "release",
            *([] if self.name == MAIN else [self.name]),
            quarter,
        ]
        return "_".join(parts).lower()


def schema_of(warehouse: Warehouse, series: Series, quarter: str, *, draft: bool = False) -> str:
    """Schema of the views of one release; ends in the dataset where another one has the name.

    Raises:
        ReleaseError: that is taken as well.
    """
    own = warehouse.value(
        query(TOPIC, "schema_of"),
        {"dataset": series.dataset, "series": series.name, "quarter": quarter, "draft": draft},
    )
    return own or _free_schema(warehouse, series.plain_schema(quarter, draft=draft), series.dataset)


def _free_schema(warehouse: Warehouse, plain: str, suffix: str) -> str:
    """``plain``, or it with ``suffix``: whichever no schema of the warehouse is called."""
    taken = {row[0].lower() for row in warehouse.rows(query(TOPIC, "schemas"))}
    for name in (plain, f"{plain}_{suffix}".lower()):
        if name not in taken:
            return name
    raise ReleaseError(
        f"the warehouse already has a schema {plain}: rename it, or give another --series"
    )


def open_series(
    warehouse: Warehouse,
    dataset: Dataset,
    name: str,
    family: str,
    ids: Ids | None = None,
    draft_of: str = "",
) -> Series:
    """The series of that name, made at its first release.

    Args:
        warehouse: within a transaction.
        dataset: of the series.
        name: of the series.
        family: of the model.
        ids: which ids it has; None: those that it has already, ``USUAL_IDS`` if it is new.
        draft_of: the quarter whose draft is made anew: a series that holds nothing else was never
            exposed, and may be made anew with other ids.

    Raises:
        ReleaseError: bad name, or the series holds releases of another model family, or has other
            ids.
    """
    check_name(name)
    found = find_series(warehouse, dataset, name)
    if found:
        if found.family != family:
            raise ReleaseError(
                f"series {name!r} holds {found.family} releases and cannot take a {family} model: "
                "give another --series"
            )
        known = PSEUDONYM if found.ids == OLD_PSEUDONYM else found.ids
        if ids is None or ids == known:
            return found
        created = stored_parameters(warehouse, found.dataset, found.name)
        if created or warehouse.value(
            query(TOPIC, "others"), {**_names(found), "draft_of": draft_of}
        ):
            raise ReleaseError(
                f"series {name!r} has {known} ids since it was made, and --ids {ids} would change "
                "them: leave --ids out, or give another --series"
            )
        for statement in ("forget_ids", "forget"):
            warehouse.run(query(TOPIC, statement), _names(found))
    return make_series(warehouse, dataset, name, family, ids)


def _names(series: Series) -> dict[str, str]:
    return {"dataset": series.dataset, "series": series.name}


def make_series(
    warehouse: Warehouse, dataset: Dataset, name: str, family: str, ids: Ids | None = None
) -> Series:
    """A new series with a key of its own, where its ids are pseudonyms; see ``open_series``."""
    kind = ORIGINAL if family in FOREIGN else ids or USUAL_IDS
    key = None if kind == ORIGINAL else secrets.token_bytes(64)
    plain = "released" if name == MAIN else f"released_{name}".lower()
    cumulative = "" if family in FOREIGN else _free_schema(warehouse, plain, dataset.name)
    warehouse.run(
        query(TOPIC, "make"),
        {
            "dataset": dataset.name,
            "series": name,
            "family": family,
            "schema": cumulative,
            "key": key,
            "ids": kind,
        },
    )
    return Series(dataset.name, name, family, cumulative, key, kind)


def check_name(name: str) -> None:
    """Refuse a name of which no schema could be called.

    Raises:
        ReleaseError: it has other characters than letters, digits, _ and -.
    """
    if not _NAME.fullmatch(name):
        raise ReleaseError(f"--series {name!r}: use letters, digits, _ and - only")


def find_series(warehouse: Warehouse, dataset: Dataset, name: str) -> Series | None:
    """The series of that name, if it has been released to."""
    rows = warehouse.rows(query(TOPIC, "find"), {"dataset": dataset.name, "series": name})
    return Series(*rows[0]) if rows else None


def misplaced(warehouse: Warehouse, dataset: str, label: str) -> str | None:
    """Why ``label`` cannot stand beside the periods that the warehouse has of the dataset.

    Periods of two kinds, or two spellings, have no order and no next one in common: whoever is in
    one would count as old in the other, or not, as the text of the labels has it. As text ``10``
    comes before ``9``, too. Labels without a calendar (``NonDomestic``) may stand beside others.
    """
    kind = warehouse.value(query(TOPIC, "kind"), {"label": label})
    if kind is None and _LIKE_A_PERIOD.fullmatch(label):
        return (
            f"period {label!r} is on no calendar: give a quarter such as 2026Q1, an ISO week such "
            "as 2026W07 (52 or 53 a year), a month such as 2026-02, or a day such as 2026-02-13"
        )
    for other, its in warehouse.rows(query(TOPIC, "periods"), {"dataset": dataset}):
        if other == label:
            continue
        if kind and its and (kind, _spelling(label)) != (its, _spelling(other)):
            is_a = f"of one kind, and these are a {kind} and a {its}"
            why = is_a if kind != its else "written alike"
            return (
                f"period {label!r} beside {other!r}: all periods of a dataset are {why}: give "
                "--period in the kind and spelling of the others, or load it into another "
                "warehouse (--db)"
            )
        if (_numbered(label) < _numbered(other)) != (label < other):
            return (
                f"period {label!r} beside {other!r}: periods are in the order of their text, so "
                "numbers in them need as many digits each, such as 09 and 10"
            )
    return None


def _spelling(label: str) -> str:
    """How a label is written, whatever its numbers are."""
    return _DIGIT.sub("0", label)


def _numbered(label: str) -> list[tuple[int, str]]:
    """Text and numbers in turn."""
    parts = _NUMBER.split(label)
    return [(int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts)]


def next_quarter(warehouse: Warehouse, dataset: Dataset, quarter: str) -> str | None:
    """The quarter just after it, if the warehouse has it; where labels have no calendar, the
    earliest later one."""
    found = warehouse.value(
        query(TOPIC, "next_period"), {"dataset": dataset.name, "quarter": quarter}
    )
    return None if found is None else str(found)


def period_numbers(warehouse: Warehouse, labels: Iterable[str]) -> dict[str, int]:
    """Numbers of periods, of which those of two that follow on each other differ by one."""
    return dict(warehouse.rows(query(TOPIC, "numbers"), {"labels": sorted(set(labels))}))


def gaps(warehouse: Warehouse, labels: Iterable[str]) -> list[str]:
    """Where periods are missing between others, each such place in a few words."""
    told = sorted(set(labels))
    rows = warehouse.rows(query(TOPIC, "gaps"), {"labels": told}) if len(told) > 1 else []
    return [
        f"{_span(missing)} missing between {before} and {after}" for before, after, missing in rows
    ]


def _span(labels: list[str]) -> str:
    if len(labels) == 1:
        return f"{labels[0]} is"
    return f"{labels[0]} to {labels[-1]} ({len(labels):,} periods) are"


def without_calendar(warehouse: Warehouse, labels: Iterable[str]) -> list[str]:
    """The periods of which no calendar tells what comes next: there the order of labels counts."""
    rows = warehouse.rows(query(TOPIC, "without_calendar"), {"labels": sorted(set(labels))})
    return [label for (label,) in rows]


@dataclass(frozen=True)
class SeriesParameter:
    """One parameter that a series was made with."""

    keyword: str
    value: str | None
    """As text that the keyword takes; None: an earlier version did not keep it."""
    sha256: str | None = None
    """Of what the file said whose path the text has; None: the text says all, or nobody knows."""


@dataclass(frozen=True)
class Remembered:
    """The parameters of a release that its series remembers, and how they differ from what it has
    (see :mod:`srsql.engine.release.memory`)."""

    parameters: tuple[SeriesParameter, ...]
    changes: tuple[str, ...] = ()
    """Each parameter that differs, with its values before and now."""
    weaker: tuple[str, ...] = ()
    """What is promised less, in a few words."""
    seed: int | None = None
    """Of this release alone; None: none was asked for."""


def stored_parameters(warehouse: Warehouse, dataset: str, name: str) -> list[SeriesParameter]:
    """What the series was made with; nothing of one that was never exposed nor created."""
    rows = warehouse.rows(query(TOPIC, "parameters"), {"dataset": dataset, "series": name})
    return [SeriesParameter(*row) for row in rows]


def store_parameters(
    warehouse: Warehouse, dataset: str, name: str, parameters: Sequence[SeriesParameter]
) -> None:
    """Have the series remember these parameters and no others; within a transaction."""
    names = {"dataset": dataset, "series": name}
    warehouse.run(query(TOPIC, "forget_parameters"), names)
    warehouse.run(
        query(TOPIC, "keep_parameters"),
        {
            **names,
            "keywords": [each.keyword for each in parameters],
            "contents": [each.value for each in parameters],
            "digests": [each.sha256 for each in parameters],
        },
    )


def awaited_cases(
    warehouse: Warehouse, dataset: Dataset, series: str, quarter: str | None = None
) -> exp.Query | None:
    """The cases of the period after the newest release of a series, which is not released there.

    Args:
        warehouse: with the releases.
        dataset: whose series it is.
        series: of the releases.
        quarter: of one that counts as released.

    Returns:
        (case_id VARCHAR), each once; None where the warehouse does not have that period, or where
        the newest release is somebody else's, whose ids are not known to be those of the data.
    """
    asked = {"dataset": dataset.name, "series": series, "quarter": quarter}
    newest = warehouse.value(query(TOPIC, "newest_own"), asked)
    awaited = None if newest is None else next_quarter(warehouse, dataset, newest)
    return None if awaited is None else next_cases_query(dataset, awaited)


def next_cases_query(dataset: Dataset, quarter: str) -> exp.Query:
    """The cases of a quarter that could be released, deleted ones aside: (case_id VARCHAR)."""
    case_id = exp.cast(column(dataset.case_id, "t"), "VARCHAR")
    return (
        exp.select(case_id.as_("case_id"))
        .distinct()
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .where(column("quarter", "t").eq(exp.Literal.string(quarter)))
        .where(
            case_id.copy()
            .isin(
                query=exp.select(column("case_id", "d"))
                .from_(exp.table_("deleted_case", db="srsql", alias="d"))
                .where(column("dataset", "d").eq(exp.Literal.string(dataset.name)))
            )
            .not_()
        )
    )


def create_views(warehouse: Warehouse, schema: str, stores: dict[str, str]) -> None:
    """The schema of a release: one view per released table, plain columns only."""
    warehouse.run(f"CREATE SCHEMA {dotted(schema)}")
    for name, store in stores.items():
        columns = warehouse.columns(STORE, store)
        query = exp.select(*[column(c, "t") for c in columns]).from_(table(STORE, store, alias="t"))
        warehouse.run(create(table(schema, name), query, "VIEW"))


def series_views(
    warehouse: Warehouse,
    dataset: Dataset,
    schema: str,
    releases: list[tuple[str, int]],
    without_ids: tuple[str, ...] = (),
    *,
    followed: bool = True,
    appended: bool = False,
) -> None:
    """``released.*``: all released quarters together, and each case's latest.

    No view calls a function, compares or groups, since macros and settings of whoever queries it
    (a macro ``max``, a collation) would take part; the latest quarters are therefore stored.

    Args:
        warehouse: where to create them.
        dataset: for the published tables and ids.
        schema: e.g. ``released``.
        releases: (quarter, id) of every release that is out, oldest first.
        without_ids: released tables without ids, beside those of the dataset.
        followed: a case has the same id in every quarter, so that one can be its latest.
        appended: since they were created last, the newest release came, and nothing left.
    """
    warehouse.run(f"CREATE SCHEMA IF NOT EXISTS {dotted(schema)}")
    asked = {"releases": [release_id for _, release_id in releases]}
    keyed = {release_id for (release_id,) in warehouse.rows(query(TOPIC, "keyed"), asked)}
    newest = dataset.keyed(TERM_KEY if keyed else 0)
    keys = {s.name: [*key_columns(newest, s.name).values()] for s in dataset.row_tables}
    for name in (*(source.name for source in dataset.row_tables), *without_ids):
        parts: list[exp.Query] = []
        for quarter, release_id in releases:  # put together by hand: these are very many
            shown: list[exp.Expr] = [
                exp.Column(this=exp.Star(), table=exp.to_identifier("t", quoted=True))
            ]
            if name != dataset.report_table:
                shown.insert(0, exp.Literal.string(quarter).as_("quarter"))
            if release_id not in keyed:  # it was made before terms had keys
                shown += [exp.cast(exp.null(), "VARCHAR").as_(key) for key in keys.get(name, ())]
            rows = table(STORE, store_of(release_id, name), alias="t")
            parts.append(exp.Select(expressions=shown).from_(rows, copy=False))
        warehouse.run(create(table(schema, name), union_all(parts), "VIEW"))
    if not (dataset.rows and followed):
        return
    if appended and len(releases) > 1 and _has_latest(warehouse, schema):
        _append_latest(warehouse, dataset, schema, releases[-1])
        return
    latest = (
        exp.select(
            column(dataset.case_id, "t"), exp.func("max", column("quarter", "t")).as_("quarter")
        )
        .from_(table(schema, dataset.report_table, alias="t"))
        .group_by(column(dataset.case_id, "t"))
        .order_by(column(dataset.case_id, "t"))
    )
    store = _latest_store(schema)
    warehouse.run(create(table(STORE, store), latest))
    columns = [column(name, "t") for name in (dataset.case_id, "quarter")]
    stored = exp.select(*columns).from_(table(STORE, store, alias="t"))
    warehouse.run(create(table(schema, "case_latest"), stored, "VIEW"))


def _latest_store(schema: str) -> str:
    """The table with the latest quarter of each case of a series."""
    return f"latest_{schema}"


def _has_latest(warehouse: Warehouse, schema: str) -> bool:
    asked = {"store": STORE, "name": _latest_store(schema)}
    return bool(warehouse.value(query(TOPIC, "has_table"), asked))


def _append_latest(
    warehouse: Warehouse, dataset: Dataset, schema: str, newest: tuple[str, int]
) -> None:
    """The cases of the newest release have it as their latest, at the cost of these alone."""
    quarter, release_id = newest
    store = _latest_store(schema)
    own = exp.select(column(dataset.case_id, "t")).distinct()
    own = own.from_(table(STORE, store_of(release_id, dataset.report_table), alias="t"))
    gone = exp.delete(table(STORE, store), where=column(dataset.case_id).isin(query=own.copy()))
    warehouse.run(gone.sql("duckdb"))
    rows = own.select(exp.Literal.string(quarter).as_("quarter")).order_by(
        column(dataset.case_id, "t")
    )
    warehouse.run(exp.insert(rows, table(STORE, store)).sql("duckdb"))
