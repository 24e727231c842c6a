"""The statements that an import composes for tables with the columns of FAERS and VAERS, and an
audit for the positions of boxes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.snapshots import check_snapshot

from srsql.engine.audit.imports.column_roles import match_columns
from srsql.engine.audit.imports.foreign_table import (
    ORIGINAL,
    RELEASED,
    ForeignFile,
    Kind,
    TableStatements,
)
from srsql.engine.audit.plan import raw_boxes
from srsql.engine.ingest.records import RECORD, RecordTable
from srsql.schemas import load_dataset

HEADERS: dict[tuple[str, Kind], str] = {
    ("faers", RELEASED): "quarter caseid age_low age_high wt sex indi_pt pt group_id",
    ("faers", ORIGINAL): "caseid age age_cod wt wt_cod sex",
    ("vaers", RELEASED): "vaers_id age_yrs sex state symptom1 symptom2 symptom3",
}


@pytest.mark.parametrize(("dataset_name", "kind"), HEADERS)
def test_the_statements_of_a_foreign_table(dataset_name: str, kind: Kind) -> None:
    dataset = load_dataset(dataset_name)
    names = tuple(HEADERS[dataset_name, kind].split())
    roles = match_columns(dataset, "t.csv", names, original=kind == ORIGINAL, group_column=None)
    file = ForeignFile(Path("t.csv"), kind, "2022Q4")
    statements = TableStatements(dataset, file, RecordTable(RECORD, names, len(names), 10), roles)
    own = f"audit/import_{dataset_name}_{kind}"
    composed = {
        "parsed": statements.parsed(),
        "row": statements.rows(),
        "box": statements.boxes(),
    }
    if kind == RELEASED:
        composed["value"] = statements.values()
    for name, sql in composed.items():
        check_snapshot(f"{own}_{name}", sql)


def test_the_boxes_of_cases_are_made_by_the_statement_that_is_stored() -> None:
    places = [(0, (None, None), True), (1, (0, 2), True), (2, (None, None), False)]
    check_snapshot("audit/raw_boxes", raw_boxes(7, places).sql("duckdb"))
