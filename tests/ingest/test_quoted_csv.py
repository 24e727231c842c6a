"""Quoted CSV (VAERS) and custom datasets: nothing is dropped silently."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from support.archives import vaers

from srsql.engine.errors import DatasetError, IngestError
from srsql.engine.ingest import IngestedPeriod, IngestOptions, ingest
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, SchemaError, parse_dataset

Take = Callable[..., IngestedPeriod]
HEADER = "VAERS_ID,STATE,AGE_YRS,SEX,SYMPTOM_TEXT\r\n"
CUSTOM = """
name = "clinic"
report_table = "visit"
report_id = "visit_id"
case_id = "patient"
id_type = "text"
[source]
reader = "READER"
delimiter = ";"
[tables.visit]
files = ["visits*"]
columns = ["visit_id", "patient", "bmi", "ward", "disease"]
[[qid]]
name = "bmi"
kind = "numeric"
column = "bmi"
domain = "observed"
limits = [5, 100]
granularity = 0.5
missing = ["n/a"]
[[qid]]
name = "ward"
kind = "categorical"
column = "ward"
hierarchy = "wards.csv"
[[sensitive]]
table = "visit"
column = "disease"
"""


def custom(tmp_path: Path, reader: str) -> Dataset:
    wards = "node,parent\nAny,\nSouth,Any\nS 1,South\nS 2,South\nNorth,Any\n"
    (tmp_path / "wards.csv").write_text(wards)
    return parse_dataset(CUSTOM.replace("READER", reader), tmp_path)


def test_narratives_hold_line_ends_doubled_quotes_and_cp1252(
    take: Take, warehouse: Warehouse
) -> None:
    data = HEADER.encode() + (
        b'1,CT,42.5,F,"He said ""no"",\r\nthen \x93left\x94"\r\n2,XB,,U,plain 5" tall\r\n'
        b'3,ZZ,130,M,"a""b""c"\r\n4,any,1,F,"","x"\r\n5,,0.9,M,""'
    )
    result = take(vaers(data), dataset="vaers")
    report = result.files[0]
    assert (report.records, report.loaded, report.rejected, report.repaired) == (5, 4, 1, 0)
    assert report.encoding == "cp1252"
    assert report.cleaned == {"symptom_text": 1}
    assert warehouse.rows(
        "SELECT vaers_id, srsql_line, symptom_text, srsql_age, srsql_state FROM raw_vaers.demo"
    ) == [
        (1, 2, 'He said "no", then “left”', 42, "CT"),
        (2, 4, 'plain 5" tall', None, "Foreign"),
        (3, 5, 'a"b"c', None, None),
        (5, 7, None, 0, None),
    ]
    assert report.reasons == {
        "too many fields (a separator inside a value)": 1,
        "age_yrs: outside 0 to 120 years": 1,
        "state: unknown code": 1,
    }


@pytest.mark.slow
def test_unpivoted_columns_become_rows_and_records_are_counted_once(
    take: Take, warehouse: Warehouse
) -> None:
    files = vaers(HEADER + "1,CT,1,F,x\n2,CT,1,F,x\n")
    files["2004VAERSSYMPTOMS.csv"] = (
        "VAERS_ID,SYMPTOM1,SYMPTOMVERSION1,SYMPTOM2\n1,Pain,9.1,Rash\n2, ,9.1,\n1,Cough,9.1,\n"
    )
    result = take(files, dataset="vaers")
    symptoms = next(f for f in result.files if f.table == "symptoms")
    assert (symptoms.records, symptoms.loaded, symptoms.orphans) == (3, 3, 0)
    assert warehouse.rows(
        "SELECT srsql_line, vaers_id, symptom, srsql_symptom FROM raw_vaers.symptoms"
    ) == [(2, 1, "Pain", "pain"), (2, 1, "Rash", "rash"), (4, 1, "Cough", "cough")]


def test_a_quote_that_is_never_closed_costs_its_own_line_and_no_other(take: Take) -> None:
    others = "".join(f"{n},CT,1,F,x\n" for n in range(3, 50))
    result = take(vaers(HEADER + '1,CT,1,F,x\n2,CT,1,F,"x\n' + others), dataset="vaers")
    assert (result.files[0].records, result.files[0].loaded) == (49, 48)
    assert result.files[0].reasons == {"a quote is opened and never closed": 1}


@pytest.mark.slow
def test_the_period_is_the_year_in_which_a_report_came(take: Take, warehouse: Warehouse) -> None:
    dated = "VAERS_ID,RECVDATE,STATE,AGE_YRS,CAGE_YR,SEX\n"
    rows = "1,01/05/2004,CT,,41,F\n2,12/31/2003,CT,42,,F\n3,02/28/2004,QM,43,41,M\n"
    result = take(vaers(dated + rows), dataset="vaers")
    report = result.files[0]
    assert (result.quarter, report.loaded, report.other_periods) == ("2004", 2, 1)
    assert report.fallbacks == {"age_yrs": 1}
    assert report.reasons == {}
    found = "SELECT vaers_id, srsql_age, srsql_state FROM raw_vaers.demo ORDER BY ALL"
    assert warehouse.rows(found) == [(1, 41, "CT"), (3, 43, None)]


@pytest.mark.slow
def test_foreign_reports_are_a_dataset_of_their_own(take: Take) -> None:
    foreign = vaers(HEADER + "1,CT,1,F,x\n", "NonDomestic")
    with pytest.raises(
        IngestError, match="looks like VAERS_NONDOMESTIC: give --dataset vaers_nond"
    ):
        take(foreign, dataset="vaers")
    taken = take(foreign, dataset="vaers_nondomestic", cumulative=True)
    assert taken.compared is not None
    assert taken.compared.periods == ("2021",)


def test_bytes_that_the_encoding_of_vaers_has_not_are_refused(take: Take) -> None:
    garbled = HEADER.encode() + b"1,CT,1,F,\x81\x8d\n" * 3
    with pytest.raises(IngestError, match=r"3 of 4 lines \(75.0%\) are not cp1252"):
        take(vaers(garbled), dataset="vaers", max_reject_rate=0.01)


@pytest.mark.parametrize("reader", ["csv", "parquet"])
def test_a_custom_dataset_comes_as_csv_or_parquet(
    warehouse: Warehouse, tmp_path: Path, reader: str
) -> None:
    dataset = custom(tmp_path, reader)
    rows = (
        "SELECT * FROM (VALUES ('v1', ' p1 ', '20.24', 's 1', 'Flu'), "
        "('v2', 'p1', '20.25', 'South', 'a;b'), "
        "(NULL, 'p2', '20', NULL, NULL), ('v3', 'p3', 'N/A', 'Any', ''), "
        "('v4', 'p4', '100.24', 'x', ' flu ')) AS t(\"Visit_ID\", patient, bmi, ward, disease)"
    )
    source = tmp_path / f"anything.{reader}"
    options = "format parquet" if reader == "parquet" else "format csv, header, delimiter ';'"
    duckdb.execute(f"COPY ({rows}) TO '{source}' ({options})")
    (result,) = ingest(
        warehouse,
        [source],
        dataset,
        IngestOptions(period=" 2020 ", max_reject_rate=0.5, max_unread=0.3),
        origin="clinic.toml",
    )
    (report,) = result.files
    assert (report.records, report.loaded, report.values_rejected) == (5, 4, 1)
    assert warehouse.rows(
        "SELECT quarter, srsql_line, visit_id, patient, srsql_bmi, srsql_ward, srsql_disease "
        "FROM raw_clinic.visit"
    ) == [
        ("2020", 2, "v1", "p1", 40, "S 1", "flu"),
        ("2020", 3, "v2", "p1", 41, "South", "a;b"),
        ("2020", 5, "v3", "p3", None, None, None),
        ("2020", 6, "v4", "p4", 200, None, "flu"),
    ]
    with pytest.raises(IngestError, match="--period"):
        ingest(warehouse, [source], dataset)


def test_a_file_that_is_not_parquet_is_one_line_of_error(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    source = tmp_path / "visits.parquet"
    source.write_bytes(b"PAR1 nonsense")
    with pytest.raises(IngestError, match=r"visits\.parquet could not be loaded") as caught:
        ingest(warehouse, [source], custom(tmp_path, "parquet"), IngestOptions(period="1"))
    assert "\n" not in str(caught.value)


def test_a_delimiter_that_is_no_single_character_is_refused(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    text = CUSTOM.replace("READER", "csv").replace('delimiter = ";"', 'delimiter = "||"')
    custom(tmp_path, "csv")
    source = tmp_path / "visits.csv"
    source.write_text("visit_id||patient\n")
    with pytest.raises(DatasetError, match="delimiter"):
        ingest(warehouse, [source], parse_dataset(text, tmp_path), IngestOptions(period="1"))


def test_a_column_called_quarter_needs_another_name(tmp_path: Path) -> None:
    custom(tmp_path, "csv")
    text = CUSTOM.replace("READER", "csv").replace(
        '"ward", "disease"', '"ward", "disease", "quarter"'
    )
    with pytest.raises(SchemaError, match="quarter"):
        parse_dataset(text, tmp_path)
