"""The statements that signals compose for the dataset's columns, as stored texts."""

from __future__ import annotations

import pytest
from support.snapshots import check_snapshot

from srsql.engine.signals.cases import ORIGINAL, RELEASED, Scope, side_tables, wanted_pairs
from srsql.engine.signals.run import results_of_pairs, results_of_rules
from srsql.schemas import load_dataset

FAERS = load_dataset("faers")
NAMES = ("case", "box", "drug", "reaction")


def scope() -> Scope:
    assert FAERS.signals is not None
    return Scope(FAERS, FAERS.signals, "released", {"2011Q3": 1, "2011Q4": 2}, ("PS", "SS"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("side", [ORIGINAL, RELEASED])
def test_the_tables_of_a_side_are_filled_by_the_statements_that_are_stored(
    side: str, name: str
) -> None:
    tables = side_tables(scope(), side)
    assert tuple(tables) == NAMES
    check_snapshot(f"signals/{side}_{name}", tables[name].sql(dialect="duckdb"))


def test_the_results_are_read_by_the_statements_that_are_stored() -> None:
    for name, statement in {
        "wanted_pairs": wanted_pairs(1),
        "results_of_pairs": results_of_pairs((ORIGINAL, RELEASED)),
        "results_of_rules": results_of_rules((RELEASED,)),
    }.items():
        check_snapshot(f"signals/{name}", statement.sql(dialect="duckdb"))
