"""From the raw tables of one quarter to super-records: the dataset-dependent part, composed.

With external knowledge E (drug -> disease), where it is given, a case may also have a value that it
does not show.

Everything after it reads the temporary tables named here and knows no column of any dataset.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from sqlglot import exp

from srsql.engine.errors import DatasetError
from srsql.engine.grouping.persons import merge_persons, no_persons
from srsql.engine.warehouse.catalog import normalized_texts, trimmed
from srsql.engine.warehouse.layout import derived, raw_table
from srsql.engine.warehouse.releases import Release
from srsql.engine.warehouse.statements import column, create, query, table, temporary, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Qid
from srsql.schemas.hierarchy import Hierarchy
from srsql.udfs.grouping_problem import weight_scale as scale_of_weights

Records = Literal["case", "report"]
"""What is grouped: super-records, or every report as if it were a case of its own."""


def load_cases(
    release: Release,
    knowledge: Knowledge | None,
    parts: int = 1,
    records: Records = "case",
    persons: Fraction | None = None,
) -> int:
    """Build the temporary tables of ``grouping/steps/cases.sql`` for the quarter of a release.

    Cases on a DELETED list are in ``srsql_deleted``, and in no other table.

    Args:
        release: registered in the catalog, within a transaction.
        knowledge: external knowledge E, or none.
        parts: the denominator of alpha: sums of weights stay within 62 bits when each is counted in
            so many parts, too.
        records: a record is a case with all its reports, or each report (see ``gather_pieces``).
        persons: a record is a person with all their cases (see ``part_persons``): the match
            probability from which on two cases are one person; None: every case is one.

    Returns:
        The weight scale: what a certain value weighs.

    Source:
        Lin 2016, "combined record" and Definition 1; SPEC section 2.
    """
    warehouse, dataset, quarter = release.warehouse, release.visible_dataset, release.quarter
    warehouse.run(deleted_reports(dataset), [quarter, dataset.name])
    warehouse.run(numbered_reports(dataset, records), [quarter])
    load_attributes(warehouse, dataset)
    warehouse.run(report_boxes(dataset), [quarter] * len(dataset.qid))
    statement, values = report_values(dataset, with_drugs=knowledge is not None)
    warehouse.run(statement, [quarter] * values)
    weight_scale = 1
    if knowledge:
        _store_knowledge(release, knowledge)
        cases = warehouse.value(query("grouping/cases", "case_count"))
        weight_scale = scale_of_weights(cases * parts)
    if persons is None:
        no_persons(release)
    else:
        merge_persons(release, persons)
    _work_out(release, weight_scale, records)
    return weight_scale


def part_persons(release: Release, weight_scale: int) -> None:
    """Make records of cases again, after persons were grouped and their regions made.

    From here on a group's records are its cases, as every measure and audit takes them. Thresholds
    hold of persons; where they would not hold of cases, only the first case of a person stays.
    """
    warehouse = release.warehouse
    warehouse.run_step("grouping/cases_of_persons", {"release_id": release.release_id})
    _work_out(release, weight_scale, "case")
    warehouse.run_step("grouping/spare_duplicates", {"weight_scale": weight_scale})


def gather_pieces(release: Release, weight_scale: int) -> None:
    """Make one record of the reports of a case that are in one group, after reports were grouped.

    From here on a group's records are its distinct cases, as every measure and audit takes them.
    """
    release.warehouse.run_step("grouping/pieces")
    _work_out(release, weight_scale, "report")


def _work_out(release: Release, weight_scale: int, records: Records) -> None:
    """What the records have, as ``srsql_case_report`` numbers them."""
    release.warehouse.run_step(
        "grouping/cases", {"release_id": release.release_id, "weight_scale": weight_scale}
    )
    if records == "report":
        release.warehouse.run_step("grouping/report_terms")


def numbered_reports(dataset: Dataset, records: Records) -> str:
    """Fill ``srsql_case_report``: reports with the numbers of their cases, or with their own.

    Both are in the order of ids, numeric where ids are numbers (SPEC section 7).
    """
    case_id, report_id = column(dataset.case_id, "t"), column(dataset.report_id, "t")
    order: list[exp.Expr] = []
    for name in [case_id] if records == "case" else [case_id, report_id]:
        numeric = exp.TryCast(this=name.copy(), to=exp.DataType.build("HUGEINT", dialect="duckdb"))
        order += [exp.Ordered(this=numeric, nulls_first=False), exp.Ordered(this=name.copy())]
    place = exp.Window(
        this=exp.Anonymous(this="dense_rank" if records == "case" else "row_number"),
        order=exp.Order(expressions=order),
    )
    number = exp.paren(exp.Sub(this=place, expression=exp.Literal.number(1)))
    reports = (
        exp.select(
            exp.cast(number, "INTEGER").as_("case_no"),
            report_id.as_("report_id"),
            case_id.as_("case_id"),
        )
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .join(
            temporary("srsql_deleted", alias="d"),
            on=exp.cast(case_id.copy(), "VARCHAR").eq(column("case_id", "d")),
            join_type="anti",
        )
        .where(column("quarter", "t").eq(exp.Placeholder()))
    )
    return create(exp.to_table("srsql_case_report"), reports, temp=True)


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


def report_boxes(dataset: Dataset) -> str:
    """Fill ``srsql_report_box``: the value of each QID of each report as an interval."""
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
        parts.append(box.where(column("quarter", "t").eq(exp.Placeholder())))
    return create(exp.to_table("srsql_report_box"), union_all(parts), temp=True)


def report_values(dataset: Dataset, *, with_drugs: bool) -> tuple[str, int]:
    """Fill ``srsql_report_value``: sensitive values, and the drugs that knowledge tells of.

    Returns:
        The statement, and how often it takes the quarter.
    """
    attributes = [(attribute, True) for attribute in dataset.sensitive]
    if with_drugs:
        attributes += [(attribute, False) for attribute in dataset.quasi_sensitive]
    parts: list[exp.Query] = [
        exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            exp.Literal.string(attribute.column).as_("attribute"),
            column(derived(attribute.column), "t").as_("term"),
            trimmed(column(attribute.column, "t")).as_("spelling"),
            exp.convert(attribute.column in dataset.table(attribute.table).publish).as_("shown"),
            exp.convert(sensitive).as_("sensitive"),
        )
        .from_(raw_table(dataset, attribute.table, alias="t"))
        .where(column("quarter", "t").eq(exp.Placeholder()))
        .where(column(derived(attribute.column), "t").is_(exp.null()).not_())
        for attribute, sensitive in attributes
    ]
    if not parts:  # the same shape without rows
        texts = [exp.cast(exp.null(), "VARCHAR").as_(n) for n in ("attribute", "term", "spelling")]
        parts = [
            exp.select(
                exp.column("report_id", table="r"),
                *texts,
                exp.false().as_("shown"),
                exp.false().as_("sensitive"),
            )
            .from_(temporary("srsql_case_report", alias="r"))
            .where(exp.false())
        ]
    return create(exp.to_table("srsql_report_value"), union_all(parts), temp=True), len(attributes)


def _store_knowledge(release: Release, knowledge: Knowledge) -> None:
    drugs, diseases = zip(*knowledge.pairs, strict=True) if knowledge.pairs else ((), ())
    release.warehouse.run(
        query("grouping/cases", "store_knowledge"),
        {
            "release_id": release.release_id,
            "drugs": normalized_texts(release.warehouse, drugs),
            "diseases": normalized_texts(release.warehouse, diseases),
        },
    )


@dataclass(frozen=True)
class Knowledge:
    """Pairs (drug, disease), distinct; they are normalized where they are used."""

    source: str
    pairs: tuple[tuple[str, str], ...]


def load_knowledge(path: Path) -> Knowledge:
    """Read a CSV with the columns ``drug`` and ``disease``, one pair a row.

    Raises:
        DatasetError: the file cannot be read, lacks a column, or has a row with an empty field.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if not {"drug", "disease"} <= set(reader.fieldnames or ()):
                raise DatasetError(f"{path}: the header must name the columns drug and disease")
            pairs = set()
            for row in reader:
                pair = (row["drug"] or "").strip(), (row["disease"] or "").strip()
                if not all(pair):
                    raise DatasetError(f"{path}: line {reader.line_num} has an empty field")
                pairs.add(pair)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(f"{path}: cannot be read: {error}") from None
    return Knowledge(source=path.name, pairs=tuple(sorted(pairs)))
