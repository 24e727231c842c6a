"""The statements that draw a sample, composed for a dataset."""

from __future__ import annotations

from support.snapshots import check_snapshot

from srsql.engine.extras.study.sample import outside_sample, sampled_reports
from srsql.schemas import load_dataset


def test_cases_are_drawn_by_a_hash_of_seed_and_id() -> None:
    statement = sampled_reports(load_dataset("faers"), 20, 7)
    check_snapshot("study/sampled_reports", statement.sql(dialect="duckdb"))


def test_rows_of_other_cases_are_deleted_in_one_quarter() -> None:
    statement = outside_sample(load_dataset("faers"), "reac")
    check_snapshot("study/outside_sample", statement.sql(dialect="duckdb"))
