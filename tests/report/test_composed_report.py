"""The statements that reports compose over published rows, as stored texts."""

from __future__ import annotations

import pytest
from sqlglot import exp
from support.snapshots import check_snapshot

from srsql.engine.report.shapes import (
    arrivals,
    at_ends,
    catalog_distributions,
    published_distributions,
    published_rows,
    published_thresholds,
    published_values,
    published_widths,
)
from srsql.schemas import load_dataset

FAERS = load_dataset("faers")
SCHEMA = "release_2011q4"
STATEMENTS: dict[str, exp.Query] = {
    "published_rows": published_rows(FAERS, SCHEMA),
    "published_widths": published_widths(FAERS),
    "published_values": published_values(FAERS, SCHEMA),
    "published_thresholds": published_thresholds(SCHEMA),
    "published_distributions": published_distributions(FAERS, SCHEMA, confidences=False),
    "catalog_distributions": catalog_distributions(),
    "at_ends": at_ends(FAERS, FAERS.qid[1], SCHEMA),
    "arrivals": arrivals(FAERS, {"2011Q3": "release_2011q3", "2011Q4": SCHEMA}),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_published_rows_are_read_by_the_statements_that_are_stored(name: str) -> None:
    check_snapshot(f"report/{name}", STATEMENTS[name].sql(dialect="duckdb"))
