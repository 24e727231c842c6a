"""The verifier's page without a browser: what its work says of artifacts, in Node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.artifacts import thresholds_of
from support.node import NODE, opened_in_node
from support.sets import write_rows, write_sets

from srsql import Engine

pytestmark = [pytest.mark.slow, pytest.mark.skipif(NODE is None, reason="no node on PATH")]
OPTIONS: dict[str, Any] = {"model": "ms", "k": 3, "seed": 7, "on_infeasible": "withhold"}


@pytest.fixture(scope="module")
def made(plain_pages: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Artifacts of two sets of quasi-identifiers: values with a threshold of 1, and none."""
    folder = tmp_path_factory.mktemp("node")
    dataset, rows = write_sets(folder), write_rows(folder / "rows", 1, 90)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([rows], dataset=str(dataset), period="2020")
        for series, theta in (("some", "frequency"), ("none", "1/2")):
            engine.release("2020", series=series, theta=theta, **OPTIONS, allow_linkable=True)
            engine.publish(
                "2020", folder / series, series=series, format="csv", allow_linkable=True
            )
    return folder


def test_thresholds_of_1_are_named_where_there_are_any(made: Path, tmp_path: Path) -> None:
    for series in ("some", "none"):
        free = [num == den for num, den in thresholds_of(made / series).values()]
        said = [s for s in opened_in_node(tmp_path, made / series)["unprotected"] if "of 1:" in s]
        due = f"{sum(free)} of {len(free)} values have a threshold of 1: everybody of a region may"
        assert [s.startswith(due) for s in said] == [True] * any(free)
        assert any(free) == (series == "some")
