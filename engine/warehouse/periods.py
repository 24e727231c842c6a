"""The order of periods: that of their labels as text, which SQL and every series go by."""

from __future__ import annotations

import re

from sqlglot import exp

from srsql.engine.warehouse.layout import raw_table
from srsql.engine.warehouse.statements import column
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

_NUMBER = re.compile(r"([0-9]+)")


def misplaced(warehouse: Warehouse, dataset: str, label: str) -> str | None:
    """Why ``label`` cannot stand beside the periods that the warehouse has of the dataset.

    As text ``10`` comes before ``9``: its release would count as the earlier one, and whoever is in
    it as old in the other.
    """
    for (other,) in warehouse.rows(
        "SELECT i.quarter FROM srsql.ingestion AS i WHERE i.dataset = $dataset "
        "UNION SELECT r.quarter FROM srsql.release AS r WHERE r.dataset = $dataset "
        "ORDER BY ALL",
        {"dataset": dataset},
    ):
        if other != label and (_numbered(label) < _numbered(other)) != (label < other):
            return (
                f"period {label!r} beside {other!r}: periods are in the order of their text, so "
                "numbers in them need as many digits each, such as 09 and 10"
            )
    return None


def _numbered(label: str) -> list[tuple[int, str]]:
    """Text and numbers in turn."""
    parts = _NUMBER.split(label)
    return [(int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts)]


def next_quarter(warehouse: Warehouse, dataset: Dataset, quarter: str) -> str | None:
    """The earliest later quarter in the warehouse."""
    found = warehouse.value(
        "SELECT min(i.quarter) FROM srsql.ingestion AS i "
        "WHERE i.dataset = ? AND i.quarter > ? AND NOT i.replaced",
        [dataset.name, quarter],
    )
    return None if found is None else str(found)


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
