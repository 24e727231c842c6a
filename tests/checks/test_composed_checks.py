"""What the checks compose from the columns of a dataset, as snapshots."""

from __future__ import annotations

import pytest
from sqlglot import exp
from support.snapshots import check_snapshot

from srsql.engine.checks.lattice import dimension_values, values_of_levels
from srsql.engine.checks.published_regions import (
    case_symptoms,
    case_terms,
    drawn_values_query,
    internal_group_rows,
    region_ends,
    region_rows,
    report_values,
    shown_regions,
)
from srsql.engine.checks.released_rows import inside_query, quarter_reports, released_reports
from srsql.engine.store.statements import table, temporary
from srsql.schemas import load_dataset

FAERS = load_dataset("faers")
CATEGORIES = FAERS.with_categories()
SCHEMA = "release_2011q4"
STATEMENTS: dict[str, exp.Query] = {
    "region_rows": region_rows(FAERS, SCHEMA, reports=True),
    "internal_group_rows": internal_group_rows(FAERS, SCHEMA, 1, ["sex"]),
    "case_terms": case_terms(FAERS, SCHEMA, "term", {"indi_pt": "2011Q4"}),
    "case_drugs": case_terms(FAERS, SCHEMA, "drug", {}, drugs=True),
    "report_values": report_values(FAERS, SCHEMA),
    "shown_regions": shown_regions(CATEGORIES, SCHEMA, "kept_report", by_report=False),
    "shown_regions_of_reports": shown_regions(CATEGORIES, SCHEMA, "kept_report", by_report=True),
    "region_ends": region_ends(CATEGORIES, "seen_region"),
    "case_symptoms": case_symptoms(FAERS, temporary("seen", alias="v")),
    "drawn_values": drawn_values_query(CATEGORIES, SCHEMA, 1),
    "inside": inside_query(FAERS, table(SCHEMA, FAERS.report_table, alias="v"), 1, set()),
    "quarter_reports": quarter_reports(FAERS, "2011Q4", by_report=False),
    "released_reports": released_reports(FAERS, SCHEMA, by_report=True),
    "dimension_values": dimension_values(CATEGORIES, SCHEMA, ["age", "sex"]),
    "values_of_levels": values_of_levels(CATEGORIES, ["age", "sex"], [1, 0]),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_composed_statements_are_those_that_were_reviewed(name: str) -> None:
    check_snapshot(f"checks/{name}", STATEMENTS[name].sql(dialect="duckdb"))
