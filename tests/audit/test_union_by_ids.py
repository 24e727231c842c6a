"""What ids have to do with the union attack: without a join by id there is nothing to unite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.people import people
from support.quarters import write_quarter

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.slow

NAMES = ("Gout", "Asthma", "Migraine", "Acne")


def engine_with(folder: Path, ids: str) -> Engine:
    """Two quarters of the same twelve people, each of whom has another diagnosis in the second."""
    engine = Engine(folder / f"{ids}.duckdb")
    for n, quarter in enumerate(("2011Q1", "2011Q2")):
        reports = [
            replace(report, indi=(NAMES[(i + n) % 4],), pt=())
            for i, report in enumerate(people(range(1, 13), n + 1))
        ]
        engine.ingest([write_quarter(folder, quarter, reports)], allow_incomplete=True)
        engine.release(quarter, model="ms", k=3, theta="0.4", seed=1, ids=ids)
    return engine


@pytest.mark.parametrize(
    "ids", ["pseudonym", pytest.param("per-quarter", marks=pytest.mark.thorough)]
)
def test_values_are_united_where_ids_join_the_quarters_and_nowhere_else(
    tmp_path: Path, ids: str
) -> None:
    with engine_with(tmp_path, ids) as engine:
        rows = engine.audit(attacks=["l"]).releases
        assert all(row.dsg == 0 for row in rows if row.scope == "group")
        united = [row.union for row in rows if row.scope == "group"]
        if ids == "per-quarter":
            assert [row.union for row in rows] == [row.dsg for row in rows]
        else:
            assert all(count is not None and count > 0 for count in united)
        found = engine.attack("2011Q2", {})
        assert bool(found.union) == (ids == "pseudonym")
        told = {inference.term: inference.holders for inference in found.inferences}
        for inference in found.union:
            assert inference.holders > told.get(inference.term, 0)
