"""Two small quarters for releases over the lattice, and a warehouse with them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.quarters import Report, write_quarter

from srsql.engine.api.engine import Engine


def reports(seed: int, first: int = 1, count: int = 160) -> list[Report]:
    """Cases of few kinds, some with missing values, several terms, or a second report."""
    rng = random.Random(seed)
    made: list[Report] = []
    for case in range(first, first + count):
        home = {
            "age": rng.choice(["", "3", "16", "22", "35", "50", "50", "70", "70", "85"]),
            "sex": rng.choice(["M", "F", "F", ""]),
            "wt": str(rng.choice([52, 60, 60, 71, 80])),
        }
        terms = rng.sample(["Fever", "Rash", "Pain", "Nausea", "Cough"], rng.choice([1, 1, 2]))
        if case == first:
            terms = ["Only one has it"]
        made.append(Report(10 * case, case, **home, pt=tuple(terms), drugs=("A",), indi=("B",)))
        if case % 20 == 0:  # a second report that differs in age
            home["age"] = "44"
            made.append(Report(10 * case + 1, case, **home, pt=("Rash",), drugs=("A",)))
    made.append(Report(10 * (first + count), first + count, "50", "M", "60"))  # no term
    return made


@pytest.fixture(scope="session")
def lattice_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with two quarters."""
    folder = tmp_path_factory.mktemp("lattice")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q1", reports(1))], allow_incomplete=True)
        engine.ingest(
            [write_quarter(folder, "2011Q2", reports(2, first=140))], allow_incomplete=True
        )
    return folder / "w.duckdb"


@pytest.fixture
def lattice_engine(lattice_warehouse: Path, tmp_path: Path) -> Iterator[Engine]:
    """Nothing is released; a copy of the test's own."""
    path = tmp_path / "w.duckdb"
    path.write_bytes(lattice_warehouse.read_bytes())
    with Engine(path) as opened:
        yield opened
