"""The statements that questions become, as stored texts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.snapshots import check_snapshot

from srsql.engine.catalog.levels import read_levels
from srsql.engine.query.count_bounds import compose_count_bounds
from srsql.engine.query.question import read_question
from srsql.engine.query.vocabulary import Views
from srsql.schemas import load_dataset

FAERS = load_dataset("faers")
QUARTER = Views({"2011Q4": "release_2011q4"}, None, None)
SERIES = Views({"2011Q3": "release_2011q3", "2011Q4": "release_2011q4"}, "released", "main")
ON_LEVELS = replace(QUARTER, levels=read_levels(FAERS, ["pt=1", "drug.drugname=2"]))


@pytest.mark.parametrize(
    ("name", "views", "text", "withheld"),
    [
        ("no_condition", QUARTER, "SELECT COUNT(DISTINCT caseid) FROM demo", None),
        (
            "age_and_sex_of_a_series",
            SERIES,
            "SELECT COUNT(DISTINCT caseid) FROM demo WHERE age >= 18 AND NOT sex = 'M'",
            "withheld_cases",
        ),
        (
            "reports_by_drug_with_subquery",
            SERIES,
            "SELECT drugname, COUNT(DISTINCT d.primaryid) FROM demo AS d "
            "JOIN drug AS g ON d.primaryid = g.primaryid WHERE d.wt < 50 AND EXISTS "
            "(SELECT 1 FROM reac AS r WHERE r.primaryid = d.primaryid AND r.pt = 'Rash') "
            "GROUP BY drugname ORDER BY 2 DESC",
            None,
        ),
        (
            "rows_by_band_and_sex",
            QUARTER,
            "SELECT CASE WHEN age < 18 THEN 'below' ELSE 'above' END AS band, sex, COUNT(*) "
            "FROM demo GROUP BY band, sex",
            None,
        ),
        (
            "cases_by_names_on_levels",
            ON_LEVELS,
            "SELECT pt, COUNT(DISTINCT caseid) FROM reac WHERE upper(pt) <> 'FEVER' AND EXISTS "
            "(SELECT 1 FROM drug WHERE drug.caseid = reac.caseid AND drugname IN ('Heart', 'x')) "
            "GROUP BY pt",
            None,
        ),
    ],
)
def test_a_question_becomes_the_statement_that_is_stored(
    name: str, views: Views, text: str, withheld: str | None
) -> None:
    question = read_question(FAERS, views, text)
    check_snapshot(f"query/{name}", compose_count_bounds(FAERS, views, question, withheld))
