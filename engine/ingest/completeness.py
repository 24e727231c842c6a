"""Whether a period is whole: reports without rows that they must have, and figures to compare with.

A report of a table in which each report must have a row is counted if it has none. How many rows a
report has is compared with the period before, how many rows a table has with what the regulator
publishes of the period.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from sqlglot import exp

from srsql.engine.catalog.layout import raw_table
from srsql.engine.errors import IngestError
from srsql.engine.ingest.raw_tables import Place
from srsql.engine.store.statements import column, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Table

TOPIC = "ingest/understood"
MOST_WITHOUT = 0.01
"""The largest share of the reports that may lack a row, unless a larger one is allowed."""
_FAR = 3
"""A figure is far from another one if it is off by more than a part of 1 / 3 of that one."""
_FEWEST = 100
"""Reports of a period whose rows are compared: with fewer, chance decides."""
_SAMPLE = 2
"""A source with less than 1 / 2 of the regulator's reports is a sample of them."""


@dataclass(frozen=True)
class RequiredTable:
    """Reports of a period that have no row in a table in which each must have one."""

    table: str
    reports: int
    without_row: int
    allowed: bool = False
    """Too many lack a row, and the period was taken in all the same."""

    @property
    def text(self) -> str:
        """One clause without an end."""
        return f"{self.without_row:,} of {self.reports:,} reports have no row in {self.table}"

    @property
    def too_many(self) -> bool:
        """Whether more reports lack a row than may without a word."""
        return self.without_row > MOST_WITHOUT * self.reports


def count_required(
    warehouse: Warehouse, dataset: Dataset, quarter: str, place: Place = raw_table
) -> list[RequiredTable]:
    """Count the reports that lack a row, for each table in which each must have one.

    Args:
        warehouse: with all files of the period loaded.
        dataset: declares these tables.
        quarter: the period.
        place: where the rows were loaded into.

    Returns:
        One entry for each such table of which some report lacks a row.
    """
    found = []
    for declared in dataset.tables:
        if declared.every_report:
            statement = without_row_statement(dataset, declared, place)
            ((reports, without),) = warehouse.rows(statement, {"quarter": quarter})
            found.append(RequiredTable(declared.name, int(reports), int(without)))
    return [each for each in found if each.without_row]


def without_row_statement(dataset: Dataset, declared: Table, place: Place = raw_table) -> str:
    """Reports of the period $quarter, and those of them without a row in a child table."""
    period = exp.Parameter(this="quarter")
    child = (
        exp.select(column(dataset.report_id, "child"))
        .from_(place(dataset, declared.name, "child"))
        .where(exp.EQ(this=column("quarter", "child"), expression=period))
        .where(exp.Not(this=exp.Is(this=column(dataset.report_id, "child"), expression=exp.null())))
    )
    lacks = exp.Not(this=column(dataset.report_id, "report").isin(query=child))
    every = exp.Count(this=exp.Star())
    rows = (
        exp.select(every, exp.Filter(this=every.copy(), expression=exp.Where(this=lacks)))
        .from_(place(dataset, dataset.report_table, "report"))
        .where(exp.EQ(this=column("quarter", "report"), expression=period.copy()))
    )
    return rows.sql(dialect="duckdb")


def need_complete(
    source: str, required: Sequence[RequiredTable], *, allowed: bool
) -> list[RequiredTable]:
    """The tables of which reports lack a row, marked where that was allowed.

    Args:
        source: the name of the source, for the message.
        required: see ``count_required``.
        allowed: a larger share of them may lack a row.

    Raises:
        IngestError: too many reports lack a row, and that is not allowed.
    """
    lacking = [each for each in required if each.too_many]
    if lacking and not allowed:
        raise IngestError(
            f"{source}: {'; '.join(each.text for each in lacking)}: is a file cut off, or a "
            "sample? nothing was changed: get it again, or take the period in as it is with "
            "--allow-incomplete"
        )
    return [
        RequiredTable(each.table, each.reports, each.without_row, each.too_many)
        for each in required
    ]


def warnings(
    warehouse: Warehouse, dataset: Dataset, quarter: str, records: Mapping[str, int]
) -> list[str]:
    """What is far from the period before, or from the regulator's figures.

    Args:
        warehouse: with the catalog of the earlier periods.
        dataset: names the report table, and the figures that ship.
        quarter: the period.
        records: the records of each table that were loaded.

    Returns:
        One line each.
    """
    found = _against_the_period_before(warehouse, dataset, quarter, records)
    return found + _against_the_regulator(dataset, quarter, records)


def _against_the_period_before(
    warehouse: Warehouse, dataset: Dataset, quarter: str, records: Mapping[str, int]
) -> list[str]:
    asked = {"dataset": dataset.name, "quarter": quarter}
    rows = warehouse.rows(query(TOPIC, "period_before"), asked)
    before = {table: int(loaded) for _, table, loaded in rows}
    reports = [each.get(dataset.report_table, 0) for each in (records, before)]
    if min(reports) < _FEWEST:
        return []
    label, found = rows[0][0], []
    for declared in dataset.tables:
        name = declared.name
        if name != dataset.report_table and name in records and before.get(name):
            now, then = records[name] / reports[0], before[name] / reports[1]
            if _far(now, then):
                found.append(
                    f"{name} has {now:.2f} rows a report, and had {then:.2f} in {label}: is the "
                    "file complete?"
                )
    return found


def _against_the_regulator(dataset: Dataset, quarter: str, records: Mapping[str, int]) -> list[str]:
    """Totals are compared only where the source has most of the regulator's reports: another one is
    a sample, or synthetic."""
    figures = _published_counts(dataset).get(quarter, {})
    reports = figures.get(dataset.report_table, 0)
    if not reports or _SAMPLE * records.get(dataset.report_table, 0) < reports:
        return []
    return [
        f"{name} has {records[name]:,} rows, and {figure:,} by the regulator's own figures of "
        f"{quarter}: is the file complete?"
        for name, figure in figures.items()
        if name in records and _far(records[name], figure)
    ]


def _far(figure: float, other: float) -> bool:
    return _FAR * abs(figure - other) > other


def _published_counts(dataset: Dataset) -> dict[str, dict[str, int]]:
    """Period -> table -> its rows, as the regulator publishes them; empty where nothing ships."""
    if dataset.source.row_counts is None:
        return {}
    file = resources.files("srsql.schemas") / dataset.source.row_counts
    rows = csv.DictReader(file.read_text("utf-8").splitlines())
    return {row.pop("quarter"): {name: int(count) for name, count in row.items()} for row in rows}
