"""The ids that a release shows: original ones, or pseudonyms of its series (SPEC 5).

A pseudonym is a keyed hash of at most ``BITS`` bits. What was assigned is stored in the catalog,
which is the steward's: in a series an id keeps its pseudonym for ever, or for its quarter, and no
two ids have the same. Nobody else can tell what stands behind it; ``look_up`` can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sqlglot import exp

from srsql.engine.catalog.datasets import hmac_pads
from srsql.engine.catalog.layout import IDENTITY, raw_table, same_id
from srsql.engine.catalog.releases import Release, without_releases
from srsql.engine.catalog.series import ORIGINAL, Series, find_series
from srsql.engine.errors import LookUpError, ReleaseError
from srsql.engine.store.frames import Framed
from srsql.engine.store.statements import (
    column,
    create,
    dotted,
    query,
    scalar_macro,
    table,
    temporary,
    with_rows,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "release/ids"
BITS = 53
"""Of a new pseudonym: R and JavaScript, whose numbers are doubles, keep so many."""
ATTEMPTS = 100
"""How often an id whose pseudonym is taken may try another one; 53 bits need two in a lifetime."""
SHOWN = "srsql_shown_report"
NAMED = "srsql_named_id"
_MADE = (SHOWN, NAMED, "srsql_unnamed_id", "srsql_id_attempt")


@dataclass(frozen=True)
class KnownId:
    """An id that a series shows, and what it stands for."""

    asked: str
    kind: Literal["case", "report"]
    pseudonym: int
    case_id: str
    """Of the source; that of the report where a report is shown."""
    report_id: str | None
    """Of the source; None: a case."""
    quarters: tuple[str, ...]
    """Those in which it is or was out; none: a draft alone has it, or its raw rows are gone."""


@dataclass(frozen=True)
class LookedUp(Framed):
    """What ``srsql lookup`` found."""

    _tables: ClassVar[tuple[str, ...]] = ("found",)

    dataset: str
    series: str
    ids: str
    found: tuple[KnownId, ...]
    unknown: tuple[str, ...]
    """What was asked and stands for nothing."""


def pseudonym(dataset: Dataset, key: bytes, name: str, value: exp.Expr) -> exp.Expr:
    """``value`` of the id column ``name`` under a key of 64 bytes, as ``srsql.pseudonym`` makes it.

    A report id that is the case id at the same time gets the case's pseudonym.
    """
    pads = [exp.func("unhex", exp.Literal.string(pad.hex())) for pad in hmac_pads(key).values()]
    kind = exp.Literal.string("case" if name == dataset.case_id else "report")
    return scalar_macro("pseudonym", *pads, kind, exp.cast(value, "VARCHAR"))


def make_identity(
    release: Release, series: Series, reports: exp.Select, *, one_row: bool = False
) -> None:
    """Fill ``srsql_identity``: the released reports with the ids they are published under.

    Where no row is released, none is published: no pseudonym is made, and the ids are the source's.

    Args:
        release: within a transaction.
        series: says which ids it has; its key makes the pseudonyms.
        reports: (report_id, case_id, case_no, group_no) of the release.
        one_row: a case has one row, under the least of the ids of its reports.

    Raises:
        ReleaseError: two ids share a pseudonym.
    """
    warehouse, dataset = release.warehouse, release.dataset
    if not release.visible_dataset.rows:
        identity = identity_query(dataset, None, reports)
        warehouse.run(create(exp.to_table(IDENTITY), identity, temp=True))
        return
    if series.id_scope is None:
        identity = identity_query(dataset, series.key, reports)
    else:
        warehouse.run(create(exp.to_table(SHOWN), reports, temp=True))
        _assign(release, series)
        identity = assigned_query(dataset)
    warehouse.run(create(exp.to_table(IDENTITY), identity, temp=True))
    by_report = {"by_report": not dataset.reports_are_cases}
    counted = warehouse.rows(query(TOPIC, "counts"), by_report)[0]
    kept = {"dataset": series.dataset, "series": series.name, **by_report}
    shared = warehouse.value(query(TOPIC, "shared"), kept) if series.id_scope else 0
    if counted[0::2] != counted[1::2] or shared:
        raise ReleaseError("two ids share a pseudonym: give another --series, which gets a new key")
    if one_row:
        warehouse.run(query(TOPIC, "one_row"))
    for name in _MADE:
        warehouse.run(f"DROP TABLE IF EXISTS {dotted('temp', 'main', name)}")


def _assign(release: Release, series: Series) -> None:
    """Store a pseudonym for every id of ``SHOWN`` that has none yet.

    Raises:
        ReleaseError: some id found none that is free.
    """
    assert series.key is not None
    warehouse, dataset = release.warehouse, release.dataset
    names = {
        "dataset": series.dataset,
        "series": series.name,
        "quarter": release.quarter if series.id_scope == "quarter" else None,
    }
    warehouse.run_step("release/unnamed_ids", {**names, "report_kind": _report_kind(dataset)})
    hashed = {**names, **hmac_pads(series.key), "bits": BITS}
    for attempt in range(ATTEMPTS):
        if not warehouse.value(query(TOPIC, "unnamed")):
            return
        warehouse.run_step("release/name_ids", {**hashed, "attempt": attempt})
    if warehouse.value(query(TOPIC, "unnamed")):
        raise ReleaseError(
            f"series {series.name!r} has no pseudonyms left: give another --series, which gets a "
            "new key"
        )


def _report_kind(dataset: Dataset) -> str:
    return "case" if dataset.reports_are_cases else "report"


def assigned_query(dataset: Dataset) -> exp.Select:
    """Released reports with their ids, and the pseudonyms that are stored for these (``NAMED``)."""
    found = exp.select(*[column(n, "r") for n in ("report_id", "case_id", "case_no", "group_no")])
    found = found.from_(temporary(SHOWN, alias="r"))
    report_kind = _report_kind(dataset)
    kinds = {"report": report_kind} | ({} if report_kind == "case" else {"case": "case"})
    for what, kind in kinds.items():
        stored = (
            exp.select(column("id", "p"), column("pseudonym", "p"))
            .from_(temporary(NAMED, alias="p"))
            .where(column("kind", "p").eq(exp.Literal.string(kind)))
        )
        found = found.select(column("pseudonym", what).as_(f"public_{what}")).join(
            stored.subquery(exp.to_identifier(what, quoted=True)),
            on=same_id(dataset, column(f"{what}_id", "r"), column("id", what)),
        )
    if report_kind == "case":  # one id, which was looked up
        found = found.select(column("pseudonym", "report").as_("public_case"))
    return found


def identity_query(dataset: Dataset, key: bytes | None, reports: exp.Select) -> exp.Select:
    """Released reports with the ids they are published under: of the source, or of an old key.

    Args:
        dataset: names the ids.
        key: of a series that was made before pseudonyms were stored; None: ids are original.
        reports: see ``make_identity``.
    """
    ids = {"report": column("report_id", "r"), "case": column("case_id", "r")}
    public: dict[str, exp.Expr] = dict(ids)
    if key:
        names = {"report": dataset.report_id, "case": dataset.case_id}
        public = {what: pseudonym(dataset, key, names[what], value) for what, value in ids.items()}
    return exp.select(
        ids["report"],
        ids["case"],
        column("case_no", "r"),
        column("group_no", "r"),
        public["report"].copy().as_("public_report"),
        public["case"].copy().as_("public_case"),
    ).from_(reports.subquery("r"))


def look_up(
    warehouse: Warehouse,
    dataset: Dataset,
    series_name: str,
    asked: Sequence[str],
    *,
    by_case: bool = False,
    quarter: str | None = None,
) -> LookedUp:
    """What stands behind the pseudonyms of a series, or which pseudonyms stand for its cases.

    Args:
        warehouse: may be read-only.
        dataset: of the series.
        series_name: of the series.
        asked: pseudonyms of cases or reports; with ``by_case`` case ids of the source.
        by_case: the pseudonyms of these cases and of their reports are asked.
        quarter: only what is or was out in this quarter.

    Raises:
        LookUpError: nothing that is asked is known, there is no such series, or its ids are the
            source's own.
    """
    series = find_series(warehouse, dataset, series_name)
    if series is None:
        raise LookUpError(without_releases(warehouse, dataset.name, series_name))
    if series.key is None or series.ids == ORIGINAL:
        raise LookUpError(
            f"series {series_name!r} shows the ids of the source: there is nothing to look up"
        )
    out = _reports_out(dataset, series)
    statement = with_rows(
        query(TOPIC, "look_up"), report_out=out, pseudonym_of=_pseudonyms(dataset, series)
    )
    texts = [text.strip() for text in asked]
    parameters: dict[str, Any] = {
        "asked": texts,
        "by_case": by_case,
        "quarter": quarter,
        "report_kind": _report_kind(dataset),
    }
    rows = warehouse.rows(statement.sql(dialect="duckdb"), parameters)
    found = tuple(
        KnownId(text, kind, number, case_id, report_id, tuple(quarters))
        for text, kind, number, case_id, report_id, quarters in rows
    )
    if not found:
        what = ("cases", "released") if by_case else ("ids", "shown")
        raise LookUpError(
            f"of the {what[0]} given ({len(texts):,}) none was {what[1]} in series {series.name!r}"
            f"{f' in {quarter}' if quarter else ''}: see --series, --quarter and --case"
        )
    known = {each.asked for each in found}
    unknown = tuple(text for text in dict.fromkeys(texts) if text not in known)
    return LookedUp(dataset.name, series.name, series.ids, found, unknown)


def _reports_out(dataset: Dataset, series: Series) -> exp.Select:
    """(quarter, report_id, case_id) of the raw reports whose case is or was out in the quarter."""
    report_id, case_id = (
        exp.cast(column(name, "t"), "VARCHAR") for name in (dataset.report_id, dataset.case_id)
    )
    return (
        exp.select(column("quarter", "e"), report_id.as_("report_id"), case_id.as_("case_id"))
        .distinct()
        .from_(table("srsql", "exposed_release", alias="e"))
        .join(
            table("srsql", "member", alias="m"),
            on=column("release_id", "m").eq(column("release_id", "e")),
        )
        .join(
            raw_table(dataset, dataset.report_table, alias="t"),
            on=exp.and_(
                column("quarter", "t").eq(column("quarter", "e")),
                same_id(dataset, column(dataset.case_id, "t"), column("case_id", "m")),
            ),
        )
        .where(column("dataset", "e").eq(exp.Literal.string(series.dataset)))
        .where(column("series", "e").eq(exp.Literal.string(series.name)))
    )


def _pseudonyms(dataset: Dataset, series: Series) -> exp.Query:
    """(quarter, kind, id, case_id, pseudonym) of a series: as stored, or made anew by an old key.

    ``report_out`` stands before it in the statement.
    """
    if series.id_scope is not None:
        return (
            exp.select(*[column(n, "p") for n in ("quarter", "kind", "id", "case_id", "pseudonym")])
            .from_(table("srsql", "id_pseudonym", alias="p"))
            .where(column("dataset", "p").eq(exp.Literal.string(series.dataset)))
            .where(column("series", "p").eq(exp.Literal.string(series.name)))
        )
    assert series.key is not None
    parts = []
    for kind, name in (("case", dataset.case_id), (_report_kind(dataset), dataset.report_id)):
        value = column("case_id" if kind == "case" else "report_id", "r")
        parts.append(
            exp.select(
                exp.cast(exp.null(), "VARCHAR").as_("quarter"),
                exp.Literal.string(kind).as_("kind"),
                value.as_("id"),
                column("case_id", "r"),
                pseudonym(dataset, series.key, name, value.copy()).as_("pseudonym"),
            )
            .distinct()
            .from_(table("report_out", alias="r"))
        )
    return exp.union(parts[0], parts[1], distinct=True)
