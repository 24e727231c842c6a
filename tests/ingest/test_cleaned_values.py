"""Control characters and line ends within values become blanks, and are counted by column."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from oracles import clinic
from oracles.source_records import cleaned
from support.archives import faers, lines, vaers

from srsql.engine.console.release import ingested_lines
from srsql.engine.errors import IngestError
from srsql.engine.ingest import IngestedPeriod, IngestOptions, ingest
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, load_dataset, parse_dataset

Take = Callable[..., IngestedPeriod]
ROWS = """
name = "clinic"
report_table = "visit"
report_id = "visit_id"
case_id = "patient_id"
id_type = "text"
[source]
reader = "{}"
[tables.visit]
{}
columns = ["visit_id", "patient_id", "ward"]
[tables.finding]
{}
columns = ["visit_id", "finding"]
[[qid]]
name = "ward"
kind = "categorical"
column = "ward"
hierarchy = "hierarchies/sex.csv"
[[sensitive]]
table = "finding"
column = "finding"
"""
SIGNS = 'ab ",\n\r\t\x00\x1b\x9f\u2029é'


def test_they_are_counted_by_column_and_said(take: Take, warehouse: Warehouse) -> None:
    text = (
        "VAERS_ID,STATE,SEX,SYMPTOM_TEXT,LAB_DATA,NOT_DECLARED\n"
        '1,CT,F,"one\r\ntwo",\t,a\x01b\n2,C\x07T,\x1fF,"x\x0b\n\x1cy",plain,\n3,CT,M,plain,,\x02\n'
    )
    result = take(vaers(text), dataset="vaers")
    (report, vax, _) = result.files
    counts = {"symptom_text": 2, "lab_data": 1, "sex": 1, "state": 1}
    assert (report.cleaned, vax.cleaned) == (counts, {})
    assert warehouse.rows(
        "SELECT state, srsql_sex, symptom_text, lab_data FROM raw_vaers.demo ORDER BY srsql_line"
    ) == [("CT", "F", "one two", None), ("C T", "F", "x y", "plain"), ("CT", "M", "plain", None)]
    said = list(ingested_lines(result))
    assert "  2004VAERSDATA.csv: 2 x symptom_text: line ends or control characters made blanks" in (
        said
    )
    assert take(vaers(text), dataset="vaers").files[0].cleaned == counts  # from the catalog


def test_columns_that_become_rows_are_counted_together(take: Take) -> None:
    files = vaers("VAERS_ID\n1\n2\n")
    files["2004VAERSSYMPTOMS.csv"] = (
        "VAERS_ID,SYMPTOM1,SYMPTOM2\n1,Pain\x01,Rash\x02x\n2,\x03Cough,\nx,y\x01,\n"
    )
    symptoms = next(f for f in take(files, dataset="vaers").files if f.table == "symptoms")
    assert (symptoms.cleaned, symptoms.rejected) == ({"symptom": 3}, 1)


def test_an_id_is_what_is_left_of_it_in_lists_of_withdrawn_cases_too(
    take: Take, warehouse: Warehouse
) -> None:
    demo = lines("primaryid$caseid$sex", "1\x01$\x0210$M", "2$2\x010$F")
    result = take(faers(demo=demo) | {"DELETE21Q1.txt": "\x0110\x01\n"})
    report = result.files[0]
    assert warehouse.rows("SELECT primaryid, caseid FROM raw_faers.demo") == [(1, 10)]
    assert (report.cleaned, report.rejected) == ({"primaryid": 1, "caseid": 1}, 1)
    assert warehouse.rows("SELECT case_id FROM srsql.deleted_case") == [("10",)]


def dataset_of(reader: str, folder: Path) -> Dataset:
    """Visits and their findings, in Parquet files or in tables of the connection."""
    place = "files = ['NAME.parquet']" if reader == "parquet" else "relation = 'NAME'"
    places = [place.replace("NAME", name) for name in ("visit", "finding")]
    return parse_dataset(ROWS.format(reader, *places), folder)


@pytest.mark.parametrize("signs", [SIGNS, "ab \"',é"], ids=["of_any_signs", "clean"])
@pytest.mark.parametrize("reader", ["parquet", "table"])
def test_every_row_of_parquet_and_tables_is_loaded_or_rejected(
    tmp_path: Path, reader: str, signs: str
) -> None:
    rng = random.Random(reader)
    texts = ("".join(rng.choices(signs, k=rng.randrange(8))) for _ in range(300))
    values = [text if rng.random() < 0.9 else None for text in texts]
    rows: list[Any] = [(f"V{n:03}", f"P{n}", value) for n, value in enumerate(values)]
    rows.append((None, "P", "lost"))
    with duckdb.connect() as con:
        con.execute("CREATE TABLE visit (visit_id VARCHAR, patient_id VARCHAR, ward VARCHAR)")
        con.executemany("INSERT INTO visit VALUES (?, ?, ?)", rows)
        con.execute("CREATE TABLE finding AS SELECT visit_id, ward AS finding FROM visit")
        folder = tmp_path / "data"
        folder.mkdir()
        for name in ("visit", "finding"):
            con.execute(f"COPY {name} TO '{folder / name}.parquet' (FORMAT parquet)")
        with Warehouse(con) as warehouse:
            (result,) = ingest(
                warehouse,
                [folder] if reader == "parquet" else [],
                dataset_of(reader, tmp_path),
                IngestOptions(period="2020", max_reject_rate=1.0, max_unread=1.0),
            )
            found = warehouse.rows("SELECT visit_id, ward FROM raw_clinic.visit ORDER BY visit_id")
            lost = warehouse.rows("SELECT reason FROM srsql.reject WHERE kind = 'row'")
    clean = [value if value is None else cleaned(value) for value in values]
    changed = sum(one != other for one, other in zip(values, clean, strict=True))
    assert found == [(f"V{n:03}", value or None) for n, value in enumerate(clean)]
    assert lost == [("blank report id",)] * 2
    assert (changed > 50) == (signs is SIGNS)
    for file in result.files:
        column = "ward" if file.table == "visit" else "finding"
        assert file.cleaned == ({column: changed} if changed else {})
        assert (file.records, file.loaded, file.rejected) == (len(rows), len(values), 1)


def test_a_period_that_no_release_could_show_is_refused_before_anything_is_read(
    tmp_path: Path, warehouse: Warehouse
) -> None:
    """Given with files, or told by a column: there another period is taken in as ever."""
    labels = {"2020\n02": "line end", "2020\x9b": "control character", "2020\u202802": "line end",
              "2" * 501: "more than 500"}  # fmt: skip
    data = clinic.write(tmp_path, clinic.visits(), clinic.findings(["ache"]))
    of_files = load_dataset(str(tmp_path / "clinic.toml"))
    places = ("relation = 'visit'\nperiod_column = 'p'", "relation = 'finding'")
    of_tables = parse_dataset(ROWS.format("table", *places), tmp_path)
    warehouse.run("CREATE TABLE main.finding AS SELECT 'V' AS visit_id, 'x' AS finding")
    for label, why in labels.items():
        warehouse.run("CREATE OR REPLACE TABLE main.visit AS SELECT 'V' AS visit_id, 'P' AS "
                      "patient_id, 'M' AS ward, unnest(['2020', $label]) AS p",
                      {"label": label})  # fmt: skip
        refused = f"{why}.*: give a label such as 2011Q4"
        with pytest.raises(IngestError, match=refused):
            ingest(warehouse, [data], of_files, IngestOptions(period=label))
        with pytest.raises(IngestError, match=refused):
            ingest(warehouse, [], of_tables)
    (result,) = ingest(warehouse, [], of_tables, IngestOptions(period="2020"))
    assert [file.loaded for file in result.files] == [1, 1]


def test_a_warehouse_of_an_earlier_version_gets_the_table_of_the_counts(tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    with Warehouse(path) as warehouse:
        warehouse.run("DROP TABLE srsql.cleaned_value")
        warehouse.run("UPDATE srsql.warehouse SET definitions = 'earlier'")
    with Warehouse(path) as warehouse:
        assert warehouse.value("SELECT count(*) FROM srsql.cleaned_value") == 0
