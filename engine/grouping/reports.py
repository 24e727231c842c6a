"""The reports of one quarter, as grouping takes them: statements composed for a dataset.

They read raw tables, and what they write knows no column of any dataset.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

from sqlglot import exp

from srsql.engine.catalog.datasets import raw_term, trimmed
from srsql.engine.catalog.layout import derived, raw_table
from srsql.engine.store.statements import column, create, table, temporary, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid, Sensitive
from srsql.schemas.hierarchy import Hierarchy

Records = Literal["case", "report"]
"""What is grouped: super-records, or every report as if it were a case of its own."""


def numbered_reports(dataset: Dataset, records: Records) -> str:
    """Fill ``srsql_case_report``: reports with the numbers of their cases, or with their own.

    Both are in the order of ids, numeric where ids are numbers (SPEC section 7).
    """
    case_id, report_id = column(dataset.case_id, "t"), column(dataset.report_id, "t")
    reports = (
        _numbered(dataset, case_id, report_id, records)
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .join(
            temporary("srsql_deleted", alias="d"),
            on=exp.cast(case_id.copy(), "VARCHAR").eq(column("case_id", "d")),
            join_type="anti",
        )
        .where(column("quarter", "t").eq(exp.Placeholder()))
    )
    return create(exp.to_table("srsql_case_report"), reports, temp=True)


def numbered_anew(dataset: Dataset) -> str:
    """Fill ``srsql_case_report`` with the reports of all buckets, whose cases have numbers within
    their bucket in ``srsql_bucket_report``, by the same order."""
    reports = _numbered(dataset, column("case_id", "t"), column("report_id", "t"), "case")
    reports = reports.from_(temporary("srsql_bucket_report", alias="t"))
    return create(exp.to_table("srsql_case_report"), reports, temp=True)


def _numbered(
    dataset: Dataset, case_id: exp.Column, report_id: exp.Column, records: Records
) -> exp.Select:
    order: list[exp.Expr] = []
    for name in [case_id] if records == "case" or case_id == report_id else [case_id, report_id]:
        if dataset.id_type == "text":
            number = exp.DataType.build("HUGEINT", dialect="duckdb")
            numeric = exp.TryCast(this=name.copy(), to=number)
            order.append(exp.Ordered(this=numeric, nulls_first=False))
        order.append(exp.Ordered(this=name.copy()))
    place = exp.Window(
        this=exp.Anonymous(this="dense_rank" if records == "case" else "row_number"),
        order=exp.Order(expressions=order),
    )
    counted = exp.paren(exp.Sub(this=place, expression=exp.Literal.number(1)))
    return exp.select(
        exp.cast(counted, "INTEGER").as_("case_no"),
        report_id.as_("report_id"),
        case_id.as_("case_id"),
    )


def deleted_reports(dataset: Dataset) -> str:
    """Reports of cases withdrawn by any list ingested so far (SPEC: releases made afterwards)."""
    case_id = exp.cast(column(dataset.case_id, "t"), "VARCHAR")
    withdrawn = (
        exp.select(
            exp.cast(column(dataset.report_id, "t"), "VARCHAR").as_("report_id"),
            case_id.as_("case_id"),
        )
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .where(column("quarter", "t").eq(exp.Placeholder()))
        .where(
            case_id.copy().isin(
                query=exp.select(column("case_id", "d"))
                .from_(table("srsql", "deleted_case", alias="d"))
                .where(column("dataset", "d").eq(exp.Placeholder()))
            )
        )
    )
    return create(exp.to_table("srsql_deleted"), withdrawn, temp=True)


def load_attributes(warehouse: Warehouse, dataset: Dataset) -> None:
    """Fill ``srsql_attribute`` and ``srsql_node``: the quasi-identifiers and their hierarchies.

    A node that stands for a range of a number has its ends in granules.
    """
    trees: list[Hierarchy | None] = []
    nodes: dict[str, list[Any]] = {
        name: [] for name in ("node_positions", "labels", "pres", "node_lasts", "lows", "highs")
    }
    for position, qid in enumerate(dataset.qid):
        tree = dataset.hierarchies.get(qid.name) if qid.kind == "categorical" else None
        trees.append(tree)
        if tree is None:
            continue
        ends: list[list[int | None]] = [[None, None] for _ in tree.labels]
        if qid.ranged:
            ends = [
                [int(end // qid.granularity) for end in pair if end is not None]
                for pair in tree.ranges
            ]
        nodes["node_positions"] += [position] * len(tree.labels)
        nodes["labels"] += tree.labels
        nodes["pres"] += range(len(tree.labels))
        nodes["node_lasts"] += tree.last
        nodes["lows"] += [low for low, _ in ends]
        nodes["highs"] += [high for _, high in ends]
    spans = [0 if tree else _span(qid) for tree, qid in zip(trees, dataset.qid, strict=True)]
    warehouse.run_step(
        "grouping/attributes",
        {
            "positions": list(range(len(dataset.qid))),
            "names": [qid.name for qid in dataset.qid],
            "kinds": [qid.kind for qid in dataset.qid],
            "spans": spans,
            "parents": [list(tree.parent) if tree else [] for tree in trees],
            "lasts": [list(tree.last) if tree else [] for tree in trees],
            "heights": [list(tree.height) if tree else [] for tree in trees],
            **nodes,
        },
    )


def _span(qid: Qid) -> int:
    """max(N) - min(N) of the declared domain in granules; 0 stands for "observed" until then."""
    if not isinstance(qid.domain, tuple):
        return 0
    return int(
        Decimal(qid.domain[1]) // qid.granularity - Decimal(qid.domain[0]) // qid.granularity
    )


def report_boxes(dataset: Dataset, quarter: str) -> str:
    """``srsql_report_box``: the value of each QID of each report as an interval.

    A view: what makes cases reads it twice, for those of one report and of several, which takes
    less than to write a table, and a table keeps its memory, even dropped, until the transaction
    of the release ends.
    """
    parts: list[exp.Query] = []
    for position, qid in enumerate(dataset.qid):
        value = column(derived(qid.name), "t")
        low, high = value, value.copy()
        box = exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            exp.Literal.number(position).as_("position"),
        ).from_(raw_table(dataset, dataset.report_table, alias="t"))
        if qid.kind == "categorical":
            low, high = column("pre", "n"), column("last", "n")
            found: list[exp.Expr] = [column("node", "n").eq(value)]
            if qid.ranged:  # the leaf that the number lies in
                found = [
                    low.eq(high),
                    exp.GTE(this=value, expression=column("low", "n")),
                    exp.LTE(this=value.copy(), expression=column("high", "n")),
                ]
            box = box.join(
                temporary("srsql_node", alias="n"),
                on=exp.and_(column("position", "n").eq(position), *found),
                join_type="left",
            )
        box = box.select(exp.cast(low, "BIGINT").as_("low"), exp.cast(high, "BIGINT").as_("high"))
        parts.append(box.where(column("quarter", "t").eq(exp.Literal.string(quarter))))
    return create(exp.to_table("srsql_report_box"), union_all(parts), kind="VIEW", temp=True)


def number_words(
    warehouse: Warehouse, dataset: Dataset, quarter: str, release_id: int, *, with_drugs: bool
) -> None:
    """Fill ``srsql_word``: the texts that a quarter has, by number."""
    statement, values = report_texts(dataset, with_drugs=with_drugs)
    warehouse.run(statement, [quarter] * values)
    warehouse.run_step("grouping/words", {"release_id": release_id})


def report_texts(dataset: Dataset, *, with_drugs: bool) -> tuple[str, int]:
    """Fill ``srsql_text``: the texts of a quarter in each attribute that have a key, with it.

    Returns:
        The statement, and how often it takes the quarter.
    """
    attributes = _attributes(dataset, with_drugs=with_drugs)
    texts = union_all([_texts(dataset, *each) for each in attributes] or [_no_texts()])
    return create(exp.to_table("srsql_text"), texts, temp=True), len(attributes)


def report_values(dataset: Dataset, *, with_drugs: bool) -> tuple[str, int]:
    """Fill ``srsql_report_value``: sensitive values, and the drugs that knowledge tells of, by the
    numbers of ``srsql_word``.

    Returns:
        The statement, and how often it takes the quarter.
    """
    attributes = _attributes(dataset, with_drugs=with_drugs)
    rows = _values(dataset, attributes, exp.Placeholder())
    return create(exp.to_table("srsql_report_value"), rows, temp=True), len(attributes)


def viewed_values(dataset: Dataset, quarter: str, *, with_drugs: bool) -> str:
    """``srsql_report_value`` as a view, for the few of its rows that are asked for, if any."""
    attributes = _attributes(dataset, with_drugs=with_drugs)
    rows = _values(dataset, attributes, exp.Literal.string(quarter))
    return create(exp.to_table("srsql_report_value"), rows, kind="VIEW", temp=True)


def has_one_value(dataset: Dataset, *, with_drugs: bool) -> bool:
    """Whether ``report_values`` has one value of a report at most: of the one attribute there is,
    which is in the report's own row."""
    attributes = _attributes(dataset, with_drugs=with_drugs)
    return [attribute.table for attribute, _ in attributes] == [dataset.report_table]


def _attributes(dataset: Dataset, *, with_drugs: bool) -> list[tuple[Sensitive, bool]]:
    """The attributes with whether they are sensitive."""
    attributes = [(attribute, True) for attribute in dataset.sensitive]
    if with_drugs:
        attributes += [(attribute, False) for attribute in dataset.quasi_sensitive]
    return attributes


def _texts(dataset: Dataset, attribute: Sensitive, sensitive: bool) -> exp.Select:
    name = attribute.column
    listed = (
        exp.select(column(name, "t"), column(derived(name), "t"))
        .distinct()
        .from_(raw_table(dataset, attribute.table, alias="t"))
        .where(column("quarter", "t").eq(exp.Placeholder()))
    )
    key = raw_term(dataset, attribute.table, name, "t")
    return (
        exp.select(
            exp.Literal.string(name).as_("attribute"),
            column(name, "t").as_("text"),
            key.as_("term"),
            trimmed(column(name, "t"), many=True).as_("spelling"),
            exp.convert(sensitive).as_("sensitive"),
        )
        .from_(listed.subquery("t"))
        .where(key.copy().is_(exp.null()).not_())
    )


def _no_texts() -> exp.Select:
    names = ("attribute", "text", "term", "spelling")
    texts = [exp.cast(exp.null(), "VARCHAR").as_(name) for name in names]
    return exp.select(*texts, exp.false().as_("sensitive")).where(exp.false())


def _values(
    dataset: Dataset, attributes: list[tuple[Sensitive, bool]], quarter: exp.Expr
) -> exp.Query:
    parts: list[exp.Query] = [
        exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            exp.Literal.string(attribute.column).as_("attribute"),
            "w.key_no",
            "w.word_no",
            exp.convert(attribute.column in dataset.table(attribute.table).publish).as_("shown"),
            exp.convert(sensitive).as_("sensitive"),
        )
        .from_(raw_table(dataset, attribute.table, alias="t"))
        .join(
            temporary("srsql_word", alias="w"),
            on=exp.and_(
                column(attribute.column, "t").eq(exp.column("text", table="w")),
                exp.column("attribute", table="w").eq(exp.Literal.string(attribute.column)),
            ),
        )
        .where(column("quarter", "t").eq(quarter.copy()))
        for attribute, sensitive in attributes
    ]
    if not parts:  # the same shape without rows
        numbers = [exp.cast(exp.null(), "INTEGER").as_(n) for n in ("key_no", "word_no")]
        parts = [
            exp.select(
                exp.column("report_id", table="r"),
                exp.cast(exp.null(), "VARCHAR").as_("attribute"),
                *numbers,
                exp.false().as_("shown"),
                exp.false().as_("sensitive"),
            )
            .from_(temporary("srsql_case_report", alias="r"))
            .where(exp.false())
        ]
    return union_all(parts)
