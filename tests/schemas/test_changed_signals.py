"""A dataset schema that has data may say anew what signals count, and nothing else."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from srsql.engine.catalog.datasets import register_dataset, registered_dataset
from srsql.engine.errors import DatasetError
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, load_dataset


@pytest.fixture
def used(tmp_path: Path) -> Warehouse:
    """A warehouse that has data of the shipped schema as it was without [signals]."""
    warehouse = Warehouse(tmp_path / "w.duckdb")
    with warehouse.transaction():
        register_dataset(warehouse, without_signals(), "faers")
        warehouse.run(
            "INSERT INTO srsql.ingestion VALUES (1, 'faers', '2011Q4', '', '', '', false)"
        )
    return warehouse


def without_signals() -> Dataset:
    shipped = load_dataset("faers")
    text = shipped.text.partition("[signals]")[0]
    return shipped.model_copy(update={"text": text, "signals": None})


def test_what_signals_count_is_brought_up_to_date(used: Warehouse) -> None:
    shipped = load_dataset("faers")
    with used.transaction():
        register_dataset(used, shipped, "faers")
    assert registered_dataset(used, "faers").text == shipped.text
    used.close()


def test_another_domain_is_refused(used: Warehouse) -> None:
    shipped = load_dataset("faers")
    changed = shipped.model_copy(
        update={
            "text": shipped.text + "\n",
            "qid": tuple(
                qid.model_copy(update={"domain": (Decimal(0), Decimal(99))})
                if qid.name == "age"
                else qid
                for qid in shipped.qid
            ),
        }
    )
    with pytest.raises(DatasetError, match="registered with another schema"), used.transaction():
        register_dataset(used, changed, "faers")
    used.close()
