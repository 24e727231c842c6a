"""`srsql init` of real archives: what it guesses beside what ships, and every record is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.real_data import DATA, needs

from srsql.engine.extras.first_dataset import write_first_dataset
from srsql.engine.ingest import IngestOptions, ingest
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import load_dataset

pytestmark = [pytest.mark.thorough, needs("faers", "vaers")]


@pytest.mark.parametrize(
    ("archive", "shipped", "period"),
    [
        ("faers/faers_ascii_2022Q4.zip", "faers", "2022Q4"),
        ("faers/faers_ascii_2017q2.zip", "faers", "2017Q2"),
        ("faers/aers_ascii_2004q1.zip", "faers", "2004Q1"),
        ("vaers/2004VAERSData.zip", "vaers", "2004"),
        ("vaers/2006VAERSData.zip", "vaers", "2006"),
    ],
)
def test_a_real_archive_is_declared_as_the_dataset_that_ships_and_loads_as_many_records(
    tmp_path: Path, archive: str, shipped: str, period: str
) -> None:
    made = write_first_dataset([DATA / archive], tmp_path / "first.toml")
    assert made.loads
    assert made.fill_in == []
    found, known = load_dataset(made.file), load_dataset(shipped)
    spelled = {"isr": "primaryid", "case": "caseid", "gndr_cod": "sex"}
    assert spelled.get(found.report_id, found.report_id) == known.report_id
    assert spelled.get(found.case_id, found.case_id) == known.case_id
    columns = {spelled.get(qid.column, qid.column) for qid in found.qid}
    assert columns >= {qid.column for qid in known.qid}
    assert {a.column for a in found.sensitive} == {a.column for a in known.sensitive}
    assert {a.column for a in found.quasi_sensitive} == {a.column for a in known.quasi_sensitive}
    loaded = []
    for dataset in (found, known):
        with Warehouse(":memory:") as warehouse:
            options = IngestOptions(allow_incomplete=True)
            (done,) = ingest(warehouse, [DATA / archive], dataset, options)
            assert done.quarter == period
            terms = [
                warehouse.value(f'SELECT count("{a.column}") FROM raw_{dataset.name}."{a.table}"')
                for a in sorted(dataset.sensitive, key=lambda a: a.column)
            ]
            reports = warehouse.value(
                f'SELECT count(*) FROM raw_{dataset.name}."{dataset.report_table}"'
            )
            loaded.append((reports, *terms))
    assert loaded[0] == loaded[1]
