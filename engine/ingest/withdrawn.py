"""Lists of withdrawn cases: one id a line, no header, perhaps a trailing separator."""

from __future__ import annotations

from srsql.engine.ingest.extract import Extracted
from srsql.engine.ingest.records import stage_lines
from srsql.engine.warehouse.catalog import SPACE
from srsql.engine.warehouse.statements import statements
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas.model import Dataset


def load_withdrawn(
    warehouse: Warehouse, dataset: Dataset, extracted: Extracted, key: tuple[int, str, str]
) -> tuple[int, int]:
    """Take one list in; ``key`` is ingestion id, period and file. Lines, and ids among them."""
    ingestion, quarter, file = key
    stage_lines(warehouse, extracted)
    read, keep, reject = statements("srsql.schemas", "withdrawn_cases.sql")
    warehouse.run(read, {"ends": SPACE + '$,;"', "integer": dataset.id_type == "integer"})
    warehouse.run(keep, {"ingestion": ingestion, "dataset": dataset.name})
    warehouse.run(
        reject, {"ingestion": ingestion, "dataset": dataset.name, "quarter": quarter, "file": file}
    )
    loaded = warehouse.value(
        "SELECT count(*) FROM temp.main.srsql_withdrawn WHERE case_id IS NOT NULL"
    )
    warehouse.run("DROP TABLE temp.main.srsql_withdrawn")
    warehouse.run("DROP TABLE temp.main.srsql_line")
    return extracted.lines, int(loaded)
