"""One sequence numbers every release of a warehouse: our own, drafts, and those of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.files import copied
from support.foreign import dataset, table
from support.quarters import crowd

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ImportReleaseError, ReleaseError

OPTIONS: dict[str, Any] = {"model": "ms", "k": 3, "theta": "0.5", "seed": 1, "allow_linkable": True}
HEADER = "case_id age_low age_high sex adr disease"
ROWS = [(1, 30, 39, "F", "Rash", "Flu"), (2, 30, 39, "F", "Cough", "")]


@pytest.mark.thorough
def test_an_import_and_a_release_never_get_the_same_number(kept: Path, tmp_path: Path) -> None:
    other = dataset(tmp_path)
    foreign = table(tmp_path / "t.csv", HEADER, ROWS)
    broken = table(tmp_path / "broken.csv", HEADER, [(1, 39, 30, "F", "Rash", "")])
    quarters = {"2011Q3": crowd(12), "2011Q4": crowd(12, first=7, version=2)}
    with Engine(copied(kept / "numbers", tmp_path / "w.duckdb", quarters)) as engine:
        numbers = [
            engine.import_release(foreign, "2011Q1", dataset=other).release_id,
            engine.release("2011Q3", **OPTIONS, draft=True).release_id,
            engine.import_release(foreign, "2011Q2", dataset=other).release_id,
            engine.release("2011Q3", **OPTIONS, draft=True).release_id,  # the first is gone
        ]
        with pytest.raises(ImportReleaseError):
            engine.import_release(broken, "2011Q3", dataset=other)
        with pytest.raises(ReleaseError):
            engine.release("2011Q4", **OPTIONS | {"k": 1000})
        numbers += [
            engine.import_release(foreign, "2011Q1", dataset=other, supersede=True).release_id,
            engine.release("2011Q4", **OPTIONS).release_id,
            engine.release("2011Q4", **OPTIONS, supersede=True).release_id,
        ]
        assert numbers == sorted(set(numbers))
        assert engine.sql("SELECT release_id FROM srsql.release ORDER BY ALL") == [
            (number,) for number in numbers if number != numbers[1]
        ]
