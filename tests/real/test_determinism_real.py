"""A real quarter, released twice: the same to the byte, whatever the number of threads."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.real_data import DATA, needs
from support.released import exported

from srsql.engine.api.engine import Engine

ARCHIVE = "faers/faers_ascii_2022Q4.zip"
pytestmark = [pytest.mark.thorough, needs(ARCHIVE)]
VIEWS = {"demo", "drug", "indi", "manifest", "outc", "reac"}


def test_a_real_quarter_is_the_same_with_one_thread_and_with_two(tmp_path: Path) -> None:
    found = []
    for threads in (1, 2):
        with Engine(tmp_path / f"{threads}.duckdb", threads=threads) as engine:
            engine.ingest([DATA / ARCHIVE], allow_incomplete=True)
            made = engine.release("2022Q4", seed=5, ids="original")
            found.append(exported(engine.con, made.schema, tmp_path / str(threads)))
    assert found[0].keys() == VIEWS
    assert found[0] == found[1]
