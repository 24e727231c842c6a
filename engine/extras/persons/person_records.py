"""What is compared of two cases that may be one person: one record of each case, composed.

Its columns: ``case_id``, ``event_date`` (a date), ``country``, ``numeric_N`` and ``category_N``
(the quasi-identifiers), ``drugs`` and ``reactions`` (lists of normalized terms); NULL where
unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from srsql.engine.catalog.datasets import raw_term
from srsql.engine.catalog.layout import derived, raw_table
from srsql.engine.store.statements import column, union_all
from srsql.schemas import Dataset
from srsql.schemas.roles import Sensitive

FORMATS = ("%Y%m%d", "%Y-%m-%d", "%m/%d/%Y")
DAY_LETTERS = 8
"""A date with fewer letters tells no day."""


def names_of_qids(dataset: Dataset) -> tuple[str, ...]:
    """The columns of a record that hold the quasi-identifiers, in their order."""
    return tuple(
        f"{'numeric' if qid.kind == 'numeric' else 'category'}_{position}"
        for position, qid in enumerate(dataset.qid)
    )


def person_records(dataset: Dataset, columns: Mapping[str, str]) -> exp.Query:
    """One record of each case of the warehouse: the latest value known, and all of its terms.

    Args:
        dataset: whose raw tables are read, all periods. Cases on a DELETED list are among them: an
            earlier release may show them, and then nobody of whom they are a duplicate is new.
        columns: role (``event_date``, ``country``) -> column of the report table.
    """
    latest = exp.Tuple(
        expressions=[
            column("quarter", "t"),
            exp.cast(column(dataset.report_id, "t"), "VARCHAR"),
        ]
    )
    case = exp.cast(column(dataset.case_id, "t"), "VARCHAR")
    values: dict[str, exp.Expr] = {
        name: column(derived(qid.name), "t")
        for name, qid in zip(names_of_qids(dataset), dataset.qid, strict=True)
    }
    if "event_date" in columns:
        values["event_date"] = _day(column(columns["event_date"], "t"))
    if "country" in columns:
        values["country"] = exp.func(
            "nullif", exp.func("trim", column(columns["country"], "t")), exp.Literal.string("")
        )
    cases = (
        exp.select(
            case.as_("case_id"),
            *[_latest(value, latest).as_(name) for name, value in values.items()],
        )
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .group_by(case.copy())
    )
    record = exp.select("c.*").from_("cases AS c").order_by("c.case_id")
    record = record.with_("cases", as_=cases)
    for name, attributes in (("drugs", _drugs(dataset)), ("reactions", _reactions(dataset))):
        if not attributes:
            none = exp.cast(exp.null(), "VARCHAR[]")
            record = record.select(none.as_(name))
            continue
        record = record.with_(name, as_=_terms(dataset, attributes))
        record = record.select(column("terms", name).as_(name)).join(
            exp.to_table(name),
            on=column("case_id", "c").eq(column("case_id", name)),
            join_type="left",
        )
    return record


def _latest(value: exp.Expr, latest: exp.Expr) -> exp.Expr:
    """The value of the latest report that knows it; equal ones by the value itself."""
    order = exp.Tuple(expressions=[*latest.copy().expressions, value.copy()])
    known = exp.Where(this=exp.not_(value.copy().is_(exp.null())))
    found = exp.Anonymous(this="arg_max", expressions=[value.copy(), order])
    return exp.Filter(this=found, expression=known)


def _day(value: exp.Expr) -> exp.Expr:
    """A text as a date; NULL where it tells no day."""
    formats = exp.Array(expressions=[exp.Literal.string(text) for text in FORMATS])
    read = exp.Anonymous(this="try_strptime", expressions=[value, formats])
    whole = exp.GTE(
        this=exp.func("length", value.copy()), expression=exp.Literal.number(DAY_LETTERS)
    )
    return exp.Case().when(whole, exp.cast(read, "DATE"))


def _drugs(dataset: Dataset) -> Sequence[Sensitive]:
    return dataset.quasi_sensitive


def _reactions(dataset: Dataset) -> Sequence[Sensitive]:
    """What happened: the reaction that signals count, or else every sensitive attribute."""
    signals = dataset.signals
    told = [
        a
        for a in dataset.sensitive
        if signals is not None and (a.table, a.column) == (signals.reaction_table, signals.reaction)
    ]
    return told or dataset.sensitive


def _terms(dataset: Dataset, attributes: Sequence[Sensitive]) -> exp.Query:
    """The distinct terms of each case, in order."""
    parts: list[exp.Query] = [
        exp.select(
            exp.cast(column(dataset.case_id, "r"), "VARCHAR").as_("case_id"),
            raw_term(dataset, each.table, each.column, "t").as_("term"),
        )
        .from_(raw_table(dataset, each.table, alias="t"))
        .join(
            raw_table(dataset, dataset.report_table, alias="r"),
            on=exp.and_(
                column(dataset.report_id, "t").eq(column(dataset.report_id, "r")),
                column("quarter", "t").eq(column("quarter", "r")),
            ),
        )
        .where(exp.not_(raw_term(dataset, each.table, each.column, "t").is_(exp.null())))
        for each in attributes
    ]
    listed = exp.func("list", exp.Distinct(expressions=[column("term", "h")]))
    held = union_all(parts).subquery("h")
    return (
        exp.select(column("case_id", "h"), exp.func("list_sort", listed).as_("terms"))
        .from_(held)
        .group_by(column("case_id", "h"))
    )
