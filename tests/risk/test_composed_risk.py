"""The statements that measures compose for the dataset's columns, as stored texts."""

from __future__ import annotations

import pytest
from sqlglot import exp
from support.snapshots import check_snapshot

from srsql.engine.catalog.releases import ReleasedTerms
from srsql.engine.risk.group_queries import GroupQuestion, released_rows
from srsql.engine.risk.group_questions import original_rows
from srsql.engine.risk.joined_series import target_boxes
from srsql.engine.risk.linkability import case_rows, item_rows
from srsql.engine.risk.term_counts import report_values
from srsql.schemas import load_dataset

FAERS = load_dataset("faers").with_categories()
QIDS = {qid.name: qid for qid in FAERS.qid}
QUESTION = GroupQuestion(("pt", "rash"), {"sex": "M"}, amount="wt")
TERMS = ReleasedTerms(("pt", "drugname"), 2, 3, False, "chunks")
STATEMENTS: dict[str, exp.Query] = {
    "released_rows": released_rows(FAERS, "release_2011q4", QUESTION),
    "original_rows": original_rows(FAERS, "pt", [QIDS["age"], QIDS["wt"]], (QIDS["sex"], "M")),
    "report_values": report_values(FAERS, 7, TERMS),
    "linked_cases": case_rows(load_dataset("faers"), 2, "release_7_demo", {1}),
    "linked_items": item_rows(FAERS, 1, "release_7_drug", ("drug", "drugname")),
    "joined_targets": target_boxes(FAERS, 7),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_originals_and_rows_are_read_by_the_statements_that_are_stored(name: str) -> None:
    text = STATEMENTS[name].sql(dialect="duckdb")
    check_snapshot(f"risk/{name}", text)
