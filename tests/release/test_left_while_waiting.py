"""Cases that leave the data while they wait are not said to be told under other case ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.quarters import Report, crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.console.release import release_lines

ONE, TWO = "2026W52", "2026W53"
OPTIONS: dict[str, Any] = {
    "model": "ppms++", "k": 3, "theta": "0.5", "seed": 1, "max_delay": 2, "ids": "pseudonym",
}  # fmt: skip


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Two cases wait."""
    with Engine(tmp_path / "w.duckdb") as opened:
        bring(opened, ONE, crowd(2))
        bring(opened, TWO, crowd(3, 3))
        opened.release(ONE, **OPTIONS)
        yield opened


def bring(engine: Engine, label: str, reports: list[Report]) -> None:
    folder = Path(str(engine.warehouse.path)).parent / label
    engine.ingest([write_quarter(folder, label, reports)], replace=True)


def told_of_the_next(engine: Engine) -> list[str]:
    made = engine.release(TWO, **OPTIONS)
    assert made.manifest["cases"]["released"] == 4
    assert made.manifest["taken_in"] == 1
    assert "reported_otherwise" not in made.manifest
    assert not any("came again" in line for line in release_lines(made))
    return list(engine.explain(TWO, "1").why)


@pytest.mark.thorough
def test_a_case_that_is_forgotten_while_it_waits_came_again_nowhere(engine: Engine) -> None:
    engine.forget(["1"], reason="asked")
    assert "the case was forgotten on" in " ".join(told_of_the_next(engine))


@pytest.mark.thorough
def test_a_case_that_the_replaced_data_lack_came_again_nowhere(engine: Engine) -> None:
    bring(engine, ONE, crowd(1, 2))
    text = f"it waited since {ONE}, and what replaced the data of {ONE} has no report of it"
    assert text in told_of_the_next(engine)
    ((release_id,),) = engine.sql("SELECT release_id FROM srsql.release WHERE quarter = ?", [TWO])
    left = engine.sql("FROM srsql.left_while_waiting(?)", [release_id])
    assert left == [("1", ONE)]
