"""The statements that grouping composes from the columns of FAERS and VAERS, as text."""

from __future__ import annotations

import pytest
from support.snapshots import check_snapshot

from srsql.engine.catalog.series import next_cases_query
from srsql.engine.grouping.reports import (
    deleted_reports,
    numbered_reports,
    report_boxes,
    report_texts,
    report_values,
)
from srsql.schemas import load_dataset


def check(name: str, sql: str) -> None:
    """Under the name of the layer."""
    check_snapshot(f"grouping/{name}", sql)


@pytest.mark.parametrize("name", ["faers", "vaers"])
def test_what_is_read_of_the_reports_of_a_quarter(name: str) -> None:
    dataset = load_dataset(name)
    check(f"{name}_case_report", numbered_reports(dataset, "case"))
    check(f"{name}_deleted", deleted_reports(dataset))
    check(f"{name}_report_box", report_boxes(dataset, "2023Q1"))
    statement, quarters = report_values(dataset, with_drugs=False)
    check(f"{name}_report_value", statement)
    assert quarters == len(dataset.sensitive)
    statement, quarters = report_texts(dataset, with_drugs=False)
    check(f"{name}_text", statement)
    assert quarters == len(dataset.sensitive)


def test_reports_are_numbered_where_each_is_a_record() -> None:
    check("faers_record_report", numbered_reports(load_dataset("faers"), "report"))


def test_drugs_are_read_where_there_is_external_knowledge() -> None:
    dataset = load_dataset("faers")
    statement, quarters = report_values(dataset, with_drugs=True)
    check("faers_report_value_with_drugs", statement)
    assert quarters == len(dataset.sensitive) + len(dataset.quasi_sensitive)


def test_a_number_with_groups_is_the_leaf_that_it_lies_in() -> None:
    dataset = load_dataset("faers").with_categories()
    check("faers_report_box_of_groups", report_boxes(dataset, "2023Q1"))


def test_who_is_in_the_next_quarter() -> None:
    query = next_cases_query(load_dataset("faers"), "2023Q1")
    check("faers_next_case", query.sql(dialect="duckdb"))
