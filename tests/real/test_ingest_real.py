"""Real archives load whole: numbers are compared with Python's own reading of the files."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest
from support.real_data import DATA, needs

from srsql.engine.errors import IngestError
from srsql.engine.ingest import IngestedPeriod, IngestOptions, ingest
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import load_dataset

pytestmark = [pytest.mark.thorough, needs("faers", "faers_als", "vaers")]


def take(
    paths: list[Path], dataset: str, *, incomplete: bool = False
) -> tuple[list[IngestedPeriod], Warehouse]:
    warehouse = Warehouse(":memory:")
    options = IngestOptions(allow_incomplete=incomplete)
    return ingest(warehouse, paths, load_dataset(dataset), options), warehouse


def test_the_sample_with_drugs_of_887_reports_is_refused_with_figure_and_option() -> None:
    with Warehouse(":memory:") as warehouse, pytest.raises(IngestError) as caught:
        ingest(warehouse, [DATA / "faers" / "faers_ascii_2022Q4.zip"], load_dataset("faers"))
    assert "8,018 of 8,905 reports have no row in drug" in str(caught.value)
    assert "--allow-incomplete" in str(caught.value)


def test_each_report_of_the_vaers_years_has_a_vaccine_and_a_symptom() -> None:
    results, warehouse = take(sorted((DATA / "vaers").glob("*.zip")), "vaers")
    assert [result.required for result in results] == [(), (), ()]
    counts = [column for result in results for file in result.files for column in file.columns]
    assert all(column.unread == 0 for column in counts if column.table != "demo")
    assert max(column.share for column in counts) < 0.01
    warehouse.close()


def lines_of(path: Path) -> dict[str, int]:
    with zipfile.ZipFile(path) as archive:
        return {
            name: len(archive.read(name).splitlines())
            for name in archive.namelist()
            if name.lower().endswith(".txt")
        }


def test_every_line_of_the_faers_samples_is_loaded() -> None:
    paths = sorted((DATA / "faers").glob("*.zip"))
    results, warehouse = take(paths, "faers", incomplete=True)
    assert [r.required for r in results[:2]] == [(), ()]
    assert [(r.table, r.without_row, r.allowed) for r in results[2].required] == [
        ("drug", 8018, True), ("reac", 59, False),
    ]  # fmt: skip
    assert [r.quarter for r in results] == ["2004Q1", "2017Q2", "2022Q4"]
    for path, result in zip(paths, results, strict=True):
        expected = lines_of(path)
        for file in result.files:
            header = file.table != "deleted"
            assert file.records == expected[file.file] - header
            assert file.records == file.loaded + file.rejected
            assert file.rejected == (file.table == "deleted")
    assert warehouse.rows(
        "SELECT quarter, count(*), count(DISTINCT caseid) > 0 FROM raw_faers.demo "
        "GROUP BY ALL ORDER BY ALL"
    ) == [("2004Q1", 100, True), ("2017Q2", 100, True), ("2022Q4", 8905, True)]
    known = warehouse.value(
        "SELECT round(100 * count(*) FILTER (srsql_age IS NOT NULL AND srsql_sex IS NOT NULL "
        "AND srsql_wt IS NOT NULL) / count(*), 1) FROM raw_faers.demo WHERE quarter = '2022Q4'"
    )
    assert known == pytest.approx(27.7, abs=0.2)
    assert results[2].deleted_cases == 3624
    unknown = warehouse.value(
        "SELECT round(100 * count(*) FILTER (srsql_indi_pt IS NULL) / count(*)) "
        "FROM raw_faers.indi WHERE quarter = '2022Q4'"
    )
    assert unknown == pytest.approx(41, abs=1)
    warehouse.close()


def test_the_als_cohort_loads_over_all_its_quarters() -> None:
    results, warehouse = take([DATA / "faers_als"], "faers")
    assert len(results) == 43
    assert all(file.rejected == 0 and file.orphans == 0 for r in results for file in r.files)
    assert warehouse.rows("SELECT count(*), count(DISTINCT caseid) FROM raw_faers.demo") == [
        (2693, 2572)
    ]
    warehouse.close()


def test_the_vaers_years_load_as_pythons_csv_module_reads_them() -> None:
    csv.field_size_limit(1 << 30)
    paths = sorted((DATA / "vaers").glob("*.zip"))
    results, warehouse = take(paths, "vaers")
    assert [r.quarter for r in results] == ["2004", "2005", "2006"]
    for path, result in zip(paths, results, strict=True):
        for file in result.files:
            with zipfile.ZipFile(path) as archive:
                text = archive.read(file.file).decode("cp1252", "replace")
            records = list(csv.reader(io.StringIO(text, newline="")))
            assert (file.records, file.rejected) == (len(records) - 1, 0)
            if file.table == "demo":
                assert file.repaired > 0
                place = [name.lower() for name in records[0]].index("splttype")
                found = warehouse.rows(
                    "SELECT coalesce(splttype, '') FROM raw_vaers.demo WHERE quarter = ? "
                    "ORDER BY srsql_line",
                    [result.quarter],
                )
                assert [s for (s,) in found] == [record[place] for record in records[1:]]
    warehouse.close()
