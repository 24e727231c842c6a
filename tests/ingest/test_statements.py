"""The statements that ingestion composes for FAERS and VAERS, as text."""

from __future__ import annotations

import pytest
from support.snapshots import check_snapshot

from srsql.engine.ingest.account import orphans_statement
from srsql.engine.ingest.headers import column_places
from srsql.engine.ingest.raw_tables import code_table, load_statement
from srsql.engine.ingest.records import RECORD, SPLIT_LINE, RecordTable
from srsql.engine.ingest.rejects import (
    id_statements,
    judge_statement,
    repeats_statement,
    value_statements,
)
from srsql.engine.ingest.relations import Relation, period_rows
from srsql.schemas import load_dataset

HEADERS = {
    ("faers", "demo"): "primaryid caseid i_f_code age age_cod sex wt wt_cod",
    ("faers", "indi"): "primaryid caseid indi_drug_seq indi_pt",
    ("vaers", "demo"): "vaers_id recvdate state age_yrs sex",
    ("vaers", "symptoms"): "vaers_id symptom1 symptom2 symptom3 symptom4 symptom5",
}


def check(name: str, sql: str) -> None:
    """Under the name of the layer."""
    check_snapshot(f"ingest/{name}", sql)


@pytest.mark.parametrize(("dataset_name", "table"), HEADERS)
def test_the_statements_of_a_table(dataset_name: str, table: str) -> None:
    dataset = load_dataset(dataset_name)
    declared = dataset.table(table)
    names = tuple(HEADERS[dataset_name, table].split())
    records = RecordTable(RECORD, names, len(names), 10)
    places = column_places("file.txt", dataset, declared, records)
    own = f"{dataset_name}_{table}"
    check(f"{own}_judge", judge_statement(dataset, declared, places, records))
    check(f"{own}_load", load_statement(dataset, declared, places, "2022Q4", RECORD))
    stored = value_statements(dataset, declared)
    stored += id_statements(dataset, declared, places, RECORD)
    for number, statement in enumerate(stored, 1):
        check(f"{own}_values_{number}", statement)
    if table == dataset.report_table:
        check(f"{own}_repeats", repeats_statement(dataset, declared, places, RECORD))
    else:
        check(f"{own}_orphans", orphans_statement(dataset, declared))


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("records", [RECORD, SPLIT_LINE])
def test_only_lines_that_are_all_loaded_are_not_sorted(records: str, every: bool) -> None:
    dataset = load_dataset("faers")
    for table, joins in (("demo", True), ("indi", False)):
        names = tuple(HEADERS["faers", table].split())
        places = {name: place for place, name in enumerate(names, 1)}
        statement = load_statement(
            dataset, dataset.table(table), places, "2022Q4", records, every=every
        )
        comes_in_order = every and records == SPLIT_LINE and not joins
        assert ("ORDER BY" not in statement) == comes_in_order


def test_the_table_of_codes() -> None:
    check("codes", code_table())


@pytest.mark.parametrize("some", [True, False], ids=["of_a_period", "all"])
def test_the_rows_of_a_table_of_the_connection(some: bool) -> None:
    place = ("clinic", "main", "Adverse Events")
    (declared,) = (t for t in load_dataset("faers").tables if t.name == "demo")
    relation = Relation(declared, "clinic.visits", place, ("id", "Age"), "id", "day", dated=True)
    name = "relation_rows_of_a_period" if some else "relation_rows"
    check(name, period_rows(relation, some=some).sql(dialect="duckdb"))
