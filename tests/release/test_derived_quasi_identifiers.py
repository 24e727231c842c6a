"""Quasi-identifiers that are made from other columns, where these are told apart from cases."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.ward import write_rows, write_ward

from srsql import Engine
from srsql.engine.errors import ReleaseError

QID = """[[qid]]
name = "taken"
kind = "categorical"
column = "many"
hierarchy = "many.csv"

[[sensitive]]"""


@pytest.mark.slow
@pytest.mark.parametrize("attributes", ["drug", pytest.param("all", marks=pytest.mark.thorough)])
def test_no_region_tells_the_number_of_drugs_that_are_told_apart(
    tmp_path: Path, attributes: str
) -> None:
    dataset = write_ward(tmp_path)
    text = dataset.read_text().replace("[[sensitive]]", QID, 1)
    dataset.write_text(text.replace(', "many"]', "]", 1))
    (tmp_path / "many.csv").write_text("node,parent\nAny,\n0-1,Any\n2-4,Any\n5 or more,Any\n")
    write_rows(tmp_path, random.Random(5), 200)
    options = {"k": 5, "theta": "0.9", "on_infeasible": "withhold", "seed": 1}
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([tmp_path / "rows"], dataset=str(dataset), period="2020", max_unread=1.0)
        with pytest.raises(ReleaseError, match=r"taken is made from taken[.]drug, and what"):
            engine.release("2020", series="apart", terms="disassociate",
                           term_attributes=attributes, **options)  # fmt: skip
        made = engine.release("2020", **options)
    assert "many: number of different taken.drug" in made.manifest["derived"]
