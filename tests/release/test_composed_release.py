"""The statements that a release composes from the columns of FAERS, as text."""

from __future__ import annotations

import pytest
from sqlglot import exp
from support.snapshots import check_snapshot

from srsql.engine.catalog.layout import raw_table
from srsql.engine.grouping.perturbation import published_values
from srsql.engine.release.ids import assigned_query, identity_query
from srsql.engine.release.series import grouped_reports
from srsql.engine.release.views import public_regions, serials, table_queries
from srsql.engine.store.statements import temporary
from srsql.schemas import load_dataset

KEY = bytes(range(64))


@pytest.mark.parametrize("keyed", [False, True], ids=["main", "keyed"])
def test_the_ids_that_reports_are_published_under(keyed: bool) -> None:
    reports = grouped_reports(by_case=False)
    query = identity_query(load_dataset("faers"), KEY if keyed else None, reports)
    name = "identity_with_key" if keyed else "identity"
    check_snapshot(f"release/{name}", query.sql(dialect="duckdb"))


def test_the_pseudonyms_that_reports_are_published_under() -> None:
    query = assigned_query(load_dataset("faers"))
    check_snapshot("release/identity_pseudonym", query.sql(dialect="duckdb"))


def test_what_rows_show_of_their_groups() -> None:
    dataset = load_dataset("faers")
    regions = public_regions(dataset, temporary("srsql_region", alias="r"))
    check_snapshot("release/public_region", regions.sql(dialect="duckdb"))


def test_what_rows_show_of_drawn_values() -> None:
    dataset = load_dataset("faers").with_categories()
    regions = public_regions(dataset, published_values())
    check_snapshot("release/public_region_of_draws", regions.sql(dialect="duckdb"))


@pytest.mark.parametrize("name", ["demo", "reac", "drug"])
def test_the_rows_of_a_released_table(name: str) -> None:
    query = table_queries(load_dataset("faers"), "2022Q4", keyed=True)[name]
    check_snapshot(f"release/rows_{name}", query.sql(dialect="duckdb"))


def test_serial_numbers_are_counted_anew_within_a_report() -> None:
    dataset = load_dataset("faers")
    query = serials(dataset, lambda child: exp.select().from_(raw_table(dataset, child, alias="t")))
    check_snapshot("release/serial", query.sql(dialect="duckdb"))
