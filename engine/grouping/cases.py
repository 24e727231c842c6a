"""From the raw tables of one quarter to super-records: the dataset-dependent part, composed.

With external knowledge E (drug -> disease), where it is given, a case may also have a value that it
does not show.

Everything after it reads the temporary tables named here and knows no column of any dataset.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal

from sqlglot import exp

from srsql.engine.errors import DatasetError
from srsql.engine.warehouse.catalog import normalized, trimmed
from srsql.engine.warehouse.layout import derived, raw_table
from srsql.engine.warehouse.statements import column, create, table, temporary, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Qid, Sensitive
from srsql.udfs.grouping.knowledge import weight_unit

Records = Literal["case", "report"]
"""What is grouped: super-records, or every report as if it were a case of its own."""


def load_cases(
    warehouse: Warehouse,
    dataset: Dataset,
    quarter: str,
    release_id: int,
    knowledge: Knowledge | None,
    parts: int = 1,
    records: Records = "case",
) -> None:
    """Build the temporary tables of ``grouping/steps/cases.sql`` for one quarter.

    Sums of weights stay within 62 bits when each is counted in ``parts`` (the denominator of
    alpha), too. Cases on a DELETED list are in ``srsql_deleted``, and in no other table.
    ``records``: a record is a case with all its reports, or each report (see ``gather_pieces``).
    """
    warehouse.run(_reports(dataset), [quarter])
    warehouse.run(_deleted(), [dataset.name])
    warehouse.run(
        "DELETE FROM temp.main.srsql_report AS r "
        "WHERE r.case_id::VARCHAR IN (SELECT d.case_id FROM temp.main.srsql_deleted AS d)"
    )
    cases = warehouse.value("SELECT count(DISTINCT r.case_id) FROM temp.main.srsql_report AS r")
    load_attributes(warehouse, dataset)
    warehouse.run(_boxes(dataset), [quarter] * len(dataset.qid))
    warehouse.run(
        _values(dataset, dataset.sensitive, "srsql_report_term", "term"),
        [quarter] * len(dataset.sensitive),
    )
    drugs = dataset.quasi_sensitive if knowledge else ()
    warehouse.run(_values(dataset, drugs, "srsql_report_drug", "drug"), [quarter] * len(drugs))
    _knowledge(warehouse, knowledge)
    unit = weight_unit(cases * parts) if knowledge else 1
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_run (unit BIGINT, release_id INTEGER, cover VARCHAR,"
        " carry VARCHAR, md VARCHAR, alpha_num BIGINT, alpha_den BIGINT, bound VARCHAR)"
    )
    warehouse.run(
        "INSERT INTO temp.main.srsql_run VALUES (?, ?, 'none', 'all', NULL, NULL, NULL, NULL)",
        [unit, release_id],
    )
    warehouse.run_step("grouping/super_records" if records == "case" else "grouping/reports")
    warehouse.run_step("grouping/cases")
    if records == "report":
        warehouse.run_step("grouping/report_terms")


def gather_pieces(warehouse: Warehouse) -> None:
    """Make one record of the reports of a case that are in one group, after reports were grouped.

    From here on a group's records are its distinct cases, as every measure and audit takes them.
    """
    for step in (
        "grouping/pieces",
        "grouping/cases",
        "grouping/report_terms",
    ):
        warehouse.run_step(step)
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_bounded AS SELECT b.* FROM temp.main.srsql_box AS b"
    )


def _reports(dataset: Dataset) -> str:
    query = (
        exp.select(
            column(dataset.report_id).as_("report_id"), column(dataset.case_id).as_("case_id")
        )
        .from_(raw_table(dataset, dataset.report_table))
        .where(column("quarter").eq(exp.Placeholder()))
    )
    return create(exp.to_table("srsql_report"), query, temp=True)


def _deleted() -> str:
    """Reports of cases withdrawn by any list ingested so far (SPEC: releases made afterwards)."""
    query = (
        exp.select(
            "r.report_id::VARCHAR AS report_id", "r.case_id::VARCHAR AS case_id", dialect="duckdb"
        )
        .from_(temporary("srsql_report", alias="r"))
        .where(
            exp.cast(column("case_id", "r"), "VARCHAR").isin(
                query=exp.select(column("case_id", "d"))
                .from_(table("srsql", "deleted_case", alias="d"))
                .where(column("dataset", "d").eq(exp.Placeholder()))
            )
        )
    )
    return create(exp.to_table("srsql_deleted"), query, temp=True)


def load_attributes(warehouse: Warehouse, dataset: Dataset) -> None:
    """Fill ``srsql_attribute`` and ``srsql_node``: the quasi-identifiers and their hierarchies.

    ``srsql_range`` has the nodes that stand for ranges of a number, with their ends in granules.
    """
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_range "
        "(position INTEGER, pre BIGINT, last BIGINT, low BIGINT, high BIGINT)"
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_attribute (position INTEGER, name VARCHAR,"
        " kind VARCHAR, span BIGINT, parent BIGINT[], last BIGINT[], height BIGINT[])"
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_node "
        "(position INTEGER, node VARCHAR, pre BIGINT, last BIGINT)"
    )
    for position, qid in enumerate(dataset.qid):
        tree = dataset.hierarchies.get(qid.name) if qid.kind == "categorical" else None
        lists: list[list[int]] = [[], [], []]
        if tree:
            lists = [list(tree.parent), list(tree.last), list(tree.height)]
            warehouse.run(
                "INSERT INTO temp.main.srsql_node SELECT ?, unnest(?), unnest(?), unnest(?)",
                [position, list(tree.labels), list(range(len(tree.labels))), list(tree.last)],
            )
        if tree and qid.ranged:
            ends = [[int(end // qid.granularity) for end in pair if end is not None]
                    for pair in tree.ranges]  # fmt: skip
            warehouse.run(
                "INSERT INTO temp.main.srsql_range "
                "SELECT ?, unnest(?), unnest(?), unnest(?), unnest(?)",
                [
                    position, list(range(len(ends))), list(tree.last),
                    [low for low, _ in ends], [high for _, high in ends],
                ],
            )  # fmt: skip
        span = 0 if tree else _span(warehouse, qid)
        warehouse.run(
            "INSERT INTO temp.main.srsql_attribute VALUES (?, ?, ?, ?, ?, ?, ?)",
            [position, qid.name, qid.kind, span, *lists],
        )


def _span(warehouse: Warehouse, qid: Qid) -> int:
    """max(N) - min(N) of the declared domain in granules; 0 stands for "observed" until then."""
    if not isinstance(qid.domain, tuple):
        return 0
    return int(
        Decimal(qid.domain[1]) // qid.granularity - Decimal(qid.domain[0]) // qid.granularity
    )


def _boxes(dataset: Dataset) -> str:
    parts: list[exp.Query] = []
    for position, qid in enumerate(dataset.qid):
        value = column(derived(qid.name), "t")
        low, high = value, value.copy()
        query = exp.select(
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
            query = query.join(
                temporary("srsql_range" if qid.ranged else "srsql_node", alias="n"),
                on=exp.and_(column("position", "n").eq(position), *found),
                join_type="left",
            )
        query = query.select(
            exp.cast(low, "BIGINT").as_("low"), exp.cast(high, "BIGINT").as_("high")
        )
        parts.append(query.where(column("quarter", "t").eq(exp.Placeholder())))
    return create(exp.to_table("srsql_report_box"), union_all(parts), temp=True)


def _values(dataset: Dataset, attributes: tuple[Sensitive, ...], target: str, name: str) -> str:
    parts: list[exp.Query] = [
        exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            exp.Literal.string(attribute.column).as_("attribute"),
            column(derived(attribute.column), "t").as_(name),
            trimmed(column(attribute.column, "t")).as_("spelling"),
            exp.convert(attribute.column in dataset.table(attribute.table).publish).as_("shown"),
        )
        .from_(raw_table(dataset, attribute.table, alias="t"))
        .where(column("quarter", "t").eq(exp.Placeholder()))
        .where(column(derived(attribute.column), "t").is_(exp.null()).not_())
        for attribute in attributes
    ]
    if not parts:  # the same shape without rows
        parts = [
            exp.select(
                exp.column("report_id", table="r"),
                exp.cast(exp.null(), "VARCHAR").as_("attribute"),
                exp.cast(exp.null(), "VARCHAR").as_(name),
                exp.cast(exp.null(), "VARCHAR").as_("spelling"),
                exp.false().as_("shown"),
            )
            .from_(temporary("srsql_report", alias="r"))
            .where(exp.false())
        ]
    return create(exp.to_table(target), union_all(parts), temp=True)


def _knowledge(warehouse: Warehouse, knowledge: Knowledge | None) -> None:
    warehouse.run("CREATE OR REPLACE TEMP TABLE srsql_knowledge (drug VARCHAR, disease VARCHAR)")
    if knowledge:
        drug, disease = (
            normalized(column(name, "e")).sql(dialect="duckdb") for name in ("drug", "disease")
        )
        warehouse.run(
            f"INSERT INTO temp.main.srsql_knowledge SELECT DISTINCT {drug}, {disease} "
            "FROM (SELECT unnest(?::VARCHAR[]) AS drug, unnest(?::VARCHAR[]) AS disease) AS e",
            [[pair[0] for pair in knowledge.pairs], [pair[1] for pair in knowledge.pairs]],
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
